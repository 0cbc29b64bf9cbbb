"""Verify detects edited runs; reproduce regrades a run to the same bytes."""

import gzip
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder
from memeval.benchmarks import session
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.evaluation.verify.checks import subject
from memeval.evaluation.verify.reproduce import reproduce_run
from memeval.evaluation.verify.verification import verify_run
from memeval.records.errors import BadInput
from memeval.records.ledger import LedgerEvent
from memeval.systems.source import find_system
from tests.evaluation.verify.by_hand import edit_head, edit_rows
from tests.support.runs import problems_in
from tests.support.tiny import TinyBenchmark

Json = dict[str, Any]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run of the recency control, with contexts, that no test edits."""
    options = RunOptions(results=tmp_path_factory.mktemp("finished") / "results")
    return run_system(find_system("full-context"), BenchmarkSession.open(TinyBenchmark()), options).path


@pytest.fixture
def stored(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in (session, subject):
        monkeypatch.setattr(module, "find", lambda name: TinyBenchmark())
    return copied(finished, tmp_path)


def copied(run: Path, folder: Path) -> Path:
    """Copy the results that hold a run, and return the folder of the run there."""
    results = run.parents[2]
    return shutil.copytree(results, folder / "results") / run.relative_to(results)


def findings(folder: Path) -> str:
    return "\n".join(map(str, verify_run(RunFolder(folder))))


def flip(rows: list[Json]) -> None:
    rows[2]["verdict"] = not rows[2]["verdict"]


def test_an_untouched_run_holds_and_reproduces_to_the_byte(stored: Path) -> None:
    assert findings(stored) == ""
    outcome = reproduce_run(RunFolder(stored))
    assert outcome.equal
    assert outcome.grades == 8
    assert outcome.composite == RunFolder(stored).run.scores.composite.value


def test_a_flipped_verdict_is_caught_by_the_digest_and_behind_a_forged_one_by_the_scores(stored: Path) -> None:
    edit_rows(stored / "run.json", "grades.jsonl", flip)
    assert "grades.jsonl.gz: does not match its digest" in findings(stored)
    edit_rows(stored / "run.json", "grades.jsonl", lambda rows: rows, forge=True)
    found = findings(stored)
    assert "digest" not in found and "run.json: scores." in found and "but the rows give" in found


def test_regrading_detects_a_consistent_forgery(stored: Path) -> None:
    edit_rows(stored / "run.json", "grades.jsonl", flip, forge=True)
    from memeval.grading.scoring import score

    run = RunFolder(stored)
    again = score(run.run.track.categories, list(run.grades())).data()
    edit_head(stored / "run.json", lambda head: head.update(scores=again))
    assert "the failure analysis differs from the recomputed one" in findings(stored)
    outcome = reproduce_run(RunFolder(stored))
    assert not outcome.equal
    assert "grades.jsonl.gz:3" in str(outcome.findings[0])


@pytest.mark.parametrize("name", ["responses.jsonl", "grades.jsonl", "contexts.jsonl"])
def test_a_removed_row_is_caught_with_and_without_a_forged_digest(stored: Path, name: str) -> None:
    edit_rows(stored / "run.json", name, lambda rows: rows[1:])
    assert f"{name}.gz: has 7 rows, but run.json says 8" in findings(stored)
    edit_rows(stored / "run.json", name, lambda rows: rows, forge=True)
    assert findings(stored) != ""


def test_a_changed_score_is_caught_and_named(stored: Path) -> None:
    edit_head(stored / "run.json", lambda head: head["scores"]["composite"].update(value=0.99))
    assert "run.json: scores.composite.value: is 0.99, but the rows give" in findings(stored)


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda head: head["track"].update(reader="oracle"), "track_id"),
        (lambda head: head["system"].update(submission_digest="sha256:" + "0" * 64), "fingerprint"),
        (lambda head: head["system"].update(slug="other"), "belongs in"),
        (lambda head: head["coverage"].update(done=9), "coverage.done"),
        (lambda head: head["tokens"].update(total=1.0), "tokens.total"),
        (lambda head: head["files"].pop("grades.jsonl"), "does not list grades.jsonl"),
        (lambda head: head.update(colour="red"), "unknown key 'colour'"),
        (lambda head: head.update(schema_version=99), "Update memeval"),
        (lambda head: head.pop("scores"), "'scores' is missing"),
        (lambda head: head["track"].update(categories=[]), "which is not planned"),
        (lambda head: head["track"]["categories"][0].update(items=10**400), "track.categories"),
    ],
)
def test_an_edited_head_is_caught_and_the_field_named(stored: Path, edit: Callable[[Json], object], said: str) -> None:
    edit_head(stored / "run.json", edit)
    assert said in findings(stored)


@pytest.mark.parametrize(
    "damage", [b"", b"not gzip", gzip.compress(b"{}\n", mtime=0)[:-4], gzip.compress(b"\xff\xfe\n", mtime=0)]
)
def test_a_damaged_file_is_named(stored: Path, damage: bytes) -> None:
    (stored / "responses.jsonl.gz").write_bytes(damage)
    assert "responses.jsonl.gz" in findings(stored)


def test_a_run_behind_a_link_is_verified_like_any_other(stored: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    stored.rename(elsewhere)
    stored.symlink_to(elsewhere)
    for above in (stored.parent, stored.parents[1], stored.parents[2]):
        assert "the run belongs in" in "".join(map(str, problems_in(above)))


def test_a_head_that_cannot_be_read_is_a_finding(stored: Path) -> None:
    (stored / "run.json").unlink()
    (stored / "run.json").mkdir()
    found = problems_in(stored.parents[2])
    assert [each.problem for each in found] == ["is not a regular file of at most 64,000,000 bytes."]


def test_a_file_that_does_not_belong_is_named(stored: Path) -> None:
    (stored / "notes.txt").write_text("hello", encoding="utf-8")
    assert "notes.txt: does not belong to the run" in findings(stored)


def test_a_changed_context_is_caught_by_reproduce(stored: Path) -> None:
    def alter(rows: list[Json]) -> None:
        rows[0]["parts"][0] = {"turn_id": None, "dated": False, "text": "something else"}

    edit_rows(stored / "run.json", "contexts.jsonl", alter, forge=True)
    assert "contexts.jsonl.gz:1" in str(reproduce_run(RunFolder(stored)).findings)


def test_other_data_than_the_runs_is_refused(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "find", lambda name: TinyBenchmark(scenarios=9))
    with pytest.raises(BadInput, match="used data sha256:"):
        reproduce_run(RunFolder(stored))


def test_the_ledger_is_checked_against_its_runs(stored: Path) -> None:
    results = stored.parents[2]
    Ledger(results).append(LedgerEvent.ACCEPTED, RunFolder(stored), by="tester", reason="a test")
    assert problems_in(results) == []
    edit_head(stored / "run.json", lambda head: head["harness"].update(version="0"))
    assert "ledger.jsonl:1: names run" in str(problems_in(results)[0])
    stored.rename(stored.with_name("elsewhere"))
    assert "which is missing" in "\n".join(map(str, problems_in(results)))
