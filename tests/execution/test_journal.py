"""The journal: rows on disk before they are counted, and nothing lost to a kill."""

import json
import os
import resource
import signal
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memeval.execution.contexts import TurnTexts
from memeval.execution.executor import Arrival, execute
from memeval.execution.journal import Journal
from memeval.execution.progress import Progress
from memeval.execution.steps import FinishedItems, ScenarioWork
from memeval.records.errors import BadInput
from memeval.records.response import Outcome, Response, Timings
from memeval.storage import checked_line
from tests.support.tiny import scenario


def response(question: str, answer: str = "Lima", attempt: int = 1) -> Response:
    return Response(
        item_id=question,
        scenario_id="tiny-000",
        question_id=question,
        attempt=attempt,
        outcome=Outcome.OK,
        answer=answer,
        timings=Timings(started="2025-01-01T00:00:00+00:00"),
    )


def finished(*rows: Response) -> FinishedItems:
    return FinishedItems(tuple(row.item_id for row in rows), rows, ())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "journal").mkdir()
    return tmp_path


def test_rows_are_read_when_the_journal_is_reopened(folder: Path) -> None:
    with Journal(folder) as journal:
        journal.write([finished(response("a")), finished(response("b", "Oslo"))])
    with Journal(folder) as journal:
        assert [row.answer for row in journal.responses.values()] == ["Lima", "Oslo"]


@pytest.mark.parametrize("cut", [1, 2, 17, 100])
def test_an_incomplete_last_row_is_removed(folder: Path, cut: int) -> None:
    with Journal(folder) as journal:
        journal.write([finished(response("a")), finished(response("b"))])
    path = folder / "journal" / "responses.jsonl"
    path.write_bytes(path.read_bytes()[:-cut])
    with Journal(folder) as journal:
        assert list(journal.responses) == [("a", 1)]
        journal.write([finished(response("b", "again"))])
    with Journal(folder) as journal:
        assert journal.responses["b", 1].answer == "again"
    assert path.read_bytes().endswith(b"\n")


@settings(max_examples=40)
@given(cut=st.integers(min_value=0, max_value=10_000))
def test_a_journal_cut_anywhere_keeps_its_whole_rows(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    folder = tmp_path_factory.mktemp("run")
    (folder / "journal").mkdir()
    with Journal(folder) as journal:
        journal.write([finished(response(name)) for name in "abcdef"])
    path = folder / "journal" / "responses.jsonl"
    kept = path.read_bytes()[:cut]
    path.write_bytes(kept)
    with Journal(folder) as journal:
        assert len(journal.responses) == kept.count(b"\n")


def test_a_damaged_row_in_the_middle_is_refused_by_line(folder: Path) -> None:
    with Journal(folder) as journal:
        journal.write([finished(response("a")), finished(response("b")), finished(response("c"))])
    path = folder / "journal" / "responses.jsonl"
    lines = path.read_bytes().split(b"\n")
    row = response("b").data()
    del row["item_id"]
    lines[1] = checked_line(json.dumps(row)).removesuffix(b"\n")
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(BadInput, match=r"responses\.jsonl:2: 'item_id' is missing"), Journal(folder):
        pass
    assert path.read_bytes() == b"\n".join(lines)


def test_a_second_process_is_refused_until_the_first_ends(folder: Path) -> None:
    with Journal(folder), pytest.raises(BadInput, match="another memeval process is running this run"), Journal(folder):
        pass
    with Journal(folder) as journal:
        journal.write([finished(response("a"))])


def test_every_attempt_stays_on_record(folder: Path) -> None:
    with Journal(folder) as journal:
        journal.write([finished(response("a", "first"))])
        journal.write([finished(response("a", "second", attempt=2))])
    with Journal(folder) as journal:
        assert {key: row.answer for key, row in journal.responses.items()} == {("a", 1): "first", ("a", 2): "second"}


def test_a_context_is_stored_once_however_often_it_comes(folder: Path) -> None:
    context = TurnTexts(scenario(0)).context("[2025-01-05] Ada: I have moved to Lima for good.\nand more")
    with Journal(folder) as journal:
        journal.write([FinishedItems(("a",), (response("a"),), (context, context))])
        journal.write([FinishedItems(("b",), (response("b"),), (context,))])
    lines = (folder / "journal" / "contexts.jsonl").read_bytes().splitlines()
    assert len(lines) == 1
    with Journal(folder) as journal:
        assert list(journal.contexts) == [context]


def test_rows_are_on_disk_when_they_count_and_contexts_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda number: flushed.append(Path(f"/proc/self/fd/{number}").readlink().name))
    read = TurnTexts(scenario(0)).context("read by hand", ())
    with Journal(folder) as journal:
        journal.write([FinishedItems(("a",), (response("a"),), (read,))])
        assert flushed == ["contexts.jsonl", "responses.jsonl"]


def test_a_row_whose_context_is_missing_is_asked_again(folder: Path) -> None:
    texts = TurnTexts(scenario(0))
    read, other = texts.context("read by hand", ()), texts.context("another", ())
    rows = [
        response(name).model_copy(update={"context_digest": each.digest}) for name, each in (("a", read), ("b", other))
    ]
    with Journal(folder) as journal:
        journal.write([FinishedItems(("a", "b"), tuple(rows), (read, other)), finished(response("c"))])
    path = folder / "journal" / "contexts.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[1:]))
    with Journal(folder) as journal:
        assert list(journal.responses) == [("b", 1), ("c", 1)]


def test_a_full_disk_leaves_no_part_of_a_row_and_keeps_those_before_it(folder: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Journal(folder) as journal:
        journal.write([finished(response("a"))])
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))
            with pytest.raises(BadInput, match="cannot be written"):
                journal.write([finished(response("b")), finished(response("c", "Lima" * 25_000))])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        journal.write([finished(response("d"))])
    with Journal(folder) as journal:
        assert list(journal.responses) == [("a", 1), ("b", 1), ("d", 1)]


class Interrupted:
    """An executor with one finished item, and Ctrl-C while memeval waits for others to store with it."""

    def start(self, works: Sequence[ScenarioWork], arrived: Callable[[Arrival], None]) -> None:
        arrived(finished(response("a")))
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()

    def stop(self) -> None:
        pass


def test_an_item_that_has_finished_is_stored_when_the_run_is_interrupted(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memeval.execution.executor.GATHER_SECONDS", 60.0)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a library may have taken it
    try:
        with Journal(folder) as journal, pytest.raises(KeyboardInterrupt):
            execute(Interrupted(), [], journal, Progress())
    finally:
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)
    with Journal(folder) as journal:
        assert list(journal.responses) == [("a", 1)]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "journal").write_text("a file where the folder belongs")
    with pytest.raises(BadInput, match="cannot be written"), Journal(tmp_path):
        pass
