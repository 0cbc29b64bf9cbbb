"""Heads of GGUF files are read, and damaged ones refused in a sentence."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.local.gguf import gguf_metadata, template_digest
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from tests.support.tiny_model import TEMPLATE, gguf


def test_the_keys_of_a_file_are_read(tmp_path: Path) -> None:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(gguf())
    found = gguf_metadata(path)
    assert (found["general.architecture"], found["llama.block_count"], found["tokens"]) == ("llama", 2, None)
    assert template_digest(found) == digest_bytes(TEMPLATE.encode())


@pytest.mark.parametrize("template", [None, "", "  "])
def test_a_file_without_a_template_has_no_digest_of_one(tmp_path: Path, template: str | None) -> None:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(gguf(template=template))
    assert template_digest(gguf_metadata(path)) is None


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "not a GGUF file"),
        (b"PK\x03\x04 a zip", "not a GGUF file"),
        (gguf()[:40], "it ends within its head"),
        (b"GGUF\x09\x00\x00\x00" + bytes(16), "its version is 9"),
        (b"GGUF\x03\x00\x00\x00" + bytes(8) + b"\xff" * 8, "keys"),
        (b"GGUF\x03\x00\x00\x00" + bytes(8) + b"\x01" + bytes(7) + b"\xff" * 8, "a text of"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "other.gguf"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=problem):
        gguf_metadata(path)


@given(cut=st.integers(0, len(gguf()) - 1), place=st.integers(0, len(gguf()) - 1), byte=st.integers(0, 255))
def test_a_damaged_file_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, cut: int, place: int, byte: int
) -> None:
    whole = bytearray(gguf())
    whole[place] = byte
    path = tmp_path_factory.mktemp("gguf") / "damaged.gguf"
    path.write_bytes(whole[: max(cut, place)])
    try:
        assert isinstance(gguf_metadata(path), dict)
    except BadInput as error:
        assert error.problem.endswith((".", "file."))
