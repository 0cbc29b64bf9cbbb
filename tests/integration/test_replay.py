"""Runs from the record alone, and what a run would take, said before anything is asked."""

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from memeval.archive.runs import RunFolder, sealed_runs
from memeval.evaluation.verify.verification import verify_run
from memeval.records.call import Call, Caller
from memeval.records.errors import ExitCode
from memeval.records.run import FileDigest
from tests.integration.test_model_systems import MODEL, SMALL, adapter
from tests.support.calling import Said
from tests.support.commands import memeval
from tests.support.model_server import ModelServer
from tests.support.runs import edit_head, write_rows

JUDGE = ("--judge", f"openai:{MODEL}", "--judge-label", "loopback")
READER = ("--reader", f"openai:{MODEL}")


def varied(body: dict[str, object]) -> str:
    """Answer a judge with yes or no, and everyone else with a text that hangs on what was asked."""
    text = str(body["messages"])
    return ("no", "yes")[len(text) % 2] if body["max_tokens"] == 10 else f"{len(text)} signs"


@dataclass(frozen=True)
class Recorded:
    """Two runs on record, of a system that asks models and of one that is read by one; and where they were asked."""

    place: Path
    url: str
    asking: str
    read: str

    def run(self, *words: str) -> RunFolder:
        (folder,) = (folder for folder in sealed_runs(self.place / "results") if folder.run.run_id in words)
        return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """Make both runs; the server is gone afterwards."""
    place = tmp_path_factory.mktemp("recorded")
    adapter(place)
    with ModelServer(answer=varied) as server:
        asking = call(place, server.url, *ASKING, *JUDGE)
        read = call(place, server.url, "bm25", *READER, *JUDGE)
    return Recorded(place, server.url, finished(place, asking).run.run_id, finished(place, read).run.run_id)


ASKING = ("asking.py", "--model", MODEL)


@pytest.fixture
def runs(made: Recorded, tmp_path: Path) -> Recorded:
    """The same, in a folder of the test's own, with no record but that of the runs themselves."""
    shutil.copytree(made.place, tmp_path / "copy", ignore=shutil.ignore_patterns(".record"))
    return Recorded(tmp_path / "copy", made.url, made.asking, made.read)


def call(where: Path, url: str | None, *words: str) -> Said:
    return memeval("run", *words, *SMALL, where=where, **({} if url is None else {"OPENAI_BASE_URL": url}))


def finished(where: Path, said: Said) -> RunFolder:
    assert said.code == ExitCode.DONE, said.err
    return RunFolder(where / said.folder)


@pytest.mark.parametrize("name", ["asking", "read"])
def test_a_run_from_the_record_needs_no_server_and_gives_equal_answers_and_grades(runs: Recorded, name: str) -> None:
    first = runs.run(getattr(runs, name))
    words = ASKING if name == "asking" else ("bm25", *READER)
    again = finished(runs.place, call(runs.place, runs.url, *words, *JUDGE, "--replay", first.run.run_id))
    assert again.path != first.path
    assert again.run.replayed and not first.run.replayed
    assert again.run.fingerprint == first.run.fingerprint
    assert [row.comparable() for row in again.responses()] == [row.comparable() for row in first.responses()]
    assert [grade.to_json() for grade in again.grades()] == [grade.to_json() for grade in first.grades()]
    assert verify_run(again) == []
    assert {phase: usage.calls for phase, usage in again.run.usage.items()} == dict.fromkeys(first.run.usage, 0)
    assert {phase: usage.cached for phase, usage in again.run.usage.items()} == {
        phase: usage.calls for phase, usage in first.run.usage.items()
    }


@pytest.mark.parametrize(
    ("name", "caller"), [("asking", Caller.SYSTEM), ("asking", Caller.JUDGE), ("read", Caller.READER)]
)
def test_a_call_that_is_missing_from_the_record_is_named(runs: Recorded, name: str, caller: Caller) -> None:
    first = runs.run(getattr(runs, name))
    file = "judgments.jsonl" if caller is Caller.JUDGE else "calls.jsonl"
    calls = list(first.judgments() if caller is Caller.JUDGE else first.calls())
    lost = calls.pop(len(calls) // 2)
    rewrite(first, file, calls)
    words = ASKING if name == "asking" else ("bm25", *READER)
    said = call(runs.place, runs.url, *words, *JUDGE, "--replay", first.run.run_id)
    assert said.code == ExitCode.BAD_INPUT and f"the record holds no call of the {caller}" in said.err
    assert lost.request.model in said.err and lost.request.key in said.err
    assert said.out == ""
    assert len(sealed_runs(runs.place / "results")) == 2


def rewrite(folder: RunFolder, name: str, calls: Sequence[Call]) -> None:
    """Store other calls in a sealed run, with the digest that its head says of them."""
    digest: FileDigest = write_rows(folder.file(name), list(calls))
    edit_head(folder, files=folder.run.data()["files"] | {name: digest.data()})


def test_what_a_run_would_take_is_said_and_nothing_is_run_or_asked(tmp_path: Path) -> None:
    with ModelServer(answer=varied) as server:
        said = call(tmp_path, server.url, "bm25", *READER, *JUDGE, "--estimate")
    assert said.code == ExitCode.DONE, said.err
    assert server.requests == 0
    assert not (tmp_path / "results").exists()
    assert all(0 not in estimated(said.out, phase)[:4] for phase in ("judge", "read"))
    assert "genai-prices" in said.out


def estimated(text: str, phase: str) -> tuple[float, ...]:
    """Return calls, tokens in and out, dollars and time of a phase, as an estimate says them."""
    found = re.search(
        rf"^  {phase} .*: (\d+) calls .*at most (\d+) \+ (\d+) tokens, at most \$([\d.]+), about ([\d.]+) (?:h|min)",
        text,
        re.M,
    )
    assert found, text
    return tuple(map(float, found.groups()))


def test_a_model_without_a_known_price_is_called_unpriced_and_never_free(tmp_path: Path) -> None:
    judge = ("--judge", "openai:of-our-own", "--judge-label", "loopback")
    said = call(tmp_path, "http://127.0.0.1:9/v1", "always-hedge", *judge, "--estimate")
    assert said.code == ExitCode.DONE, said.err
    assert "unpriced (no price known for of-our-own)" in said.out and "$" not in said.out


def test_an_estimate_says_what_the_calls_of_a_system_cost_in_its_last_run(runs: Recorded) -> None:
    said = call(runs.place, runs.url, *ASKING, "--estimate")
    calls = sum(1 for _ in runs.run(runs.asking).calls())
    assert f"{runs.asking} made {calls}, for $" in said.out
