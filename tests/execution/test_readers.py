"""The readers that need no model, by name."""

import pytest

from memeval.evaluation.run.readers import choose_reader, reader_named
from memeval.execution.extractive.reader import ExtractiveReader
from memeval.records.benchmark import ProtocolInfo
from memeval.records.errors import BadInput


def test_a_reader_is_found_with_or_without_its_version() -> None:
    assert reader_named("extractive") is reader_named("extractive@2")
    assert isinstance(reader_named("extractive"), ExtractiveReader)
    assert reader_named("extractive@1") is reader_named("extractive@9") is None


def test_a_removed_reader_is_refused_with_the_reason() -> None:
    protocol = ProtocolInfo(name="judge", title="", summary="", headline="")
    readers = r"Readers: native, extractive, local:NAME, openai:MODEL\.$"
    with pytest.raises(BadInput, match=rf"^extractive@1 was removed: .*{readers}"):
        choose_reader("extractive@1", ("search",), "acme", lambda _model: ExtractiveReader(), protocol)


@pytest.mark.parametrize("asked", ["none", "none@1"])
def test_a_protocols_own_reader_may_be_named_with_its_version(asked: str) -> None:
    protocol = ProtocolInfo(name="retrieval", title="", summary="", headline="", reader="none")
    reader = choose_reader(asked, ("search",), "acme", lambda _model: ExtractiveReader(), protocol)
    assert reader is not None and reader.name == "none@1"
    with pytest.raises(BadInput, match="this protocol needs the reader 'none'"):
        choose_reader("chunks@1", ("search",), "acme", lambda _model: ExtractiveReader(), protocol)


def test_the_chunks_reader_answers_with_the_retrieved_text() -> None:
    reader = reader_named("chunks")
    assert reader is not None and reader.name == "chunks@1"
    assert reader.read("Where?", None, ["one\ntwo", "three"]).answer == "one\ntwo\n\nthree"
    assert reader.read("Where?", "2025-01-01", [""]).answer == ""
