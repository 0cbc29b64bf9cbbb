"""Which runs are the baseline of a check, and which are refused."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memeval.archive.ledger import Ledger
from memeval.archive.rows import inner_digest
from memeval.archive.runs import RunFolder
from memeval.leaderboard.baselines import check_run
from memeval.records.check import GateStatus, RegressionCheck
from memeval.records.errors import BadInput
from memeval.records.ledger import LedgerEvent
from memeval.records.run import SystemKind
from memeval.records.settings import CheckSettings
from tests.support.runs import edit_head, make_run, make_track

Make = Callable[..., RunFolder]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return tmp_path / "results"


@pytest.fixture
def make(results: Path) -> Make:
    """Make a run of a day of November, and accept it unless ``accepted`` is false."""

    def run(day: int, right: int = 40, slug: str = "acme", *, accepted: bool = True, **more: Any) -> RunFolder:
        told = {"started": f"2026-11-{day:02}T10:00:00.000+00:00"} | more
        folder = make_run(results, slug, {"kept": 50, "changed": right}, **told)
        if accepted:
            decide(results, LedgerEvent.ACCEPTED, folder)
        return folder

    return run


def decide(results: Path, event: LedgerEvent, folder: RunFolder, other: RunFolder | None = None) -> None:
    Ledger(results).append(event, folder, by="me", reason="a test", other=other)


def check(results: Path, folder: RunFolder, baseline: str | None = None, **settings: Any) -> RegressionCheck:
    return check_run(RunFolder(folder.path), results, CheckSettings(**settings), baseline)


def days(found: RegressionCheck) -> list[int]:
    assert found.baseline is not None
    return [int(name[6:8]) for name in found.baseline.runs]


def test_the_baseline_is_the_last_five_accepted_runs_before_the_run(results: Path, make: Make) -> None:
    for day in range(1, 8):
        make(day)
    make(8, accepted=False)
    run = make(9)
    make(10)
    found = check(results, run)
    assert days(found) == [7, 6, 5, 4, 3]
    assert found.baseline is not None and not found.baseline.thin
    assert days(check(results, run, "last-2")) == [7, 6]
    assert days(check(results, run, baseline_runs=3)) == [7, 6, 5]


def test_fewer_than_five_runs_are_used_and_marked_thin(results: Path, make: Make) -> None:
    make(1)
    found = check(results, make(2, accepted=False))
    assert days(found) == [1] and found.baseline is not None and found.baseline.thin


def test_without_an_accepted_run_there_is_no_baseline(results: Path, make: Make) -> None:
    make(1, accepted=False)
    found = check(results, make(2, accepted=False))
    assert (found.status, found.baseline, found.metrics) == (GateStatus.NO_BASELINE, None, ())


def test_runs_that_do_not_count_are_never_a_baseline(results: Path, make: Make) -> None:
    invalid, old, new = make(1), make(2), make(3)
    decide(results, LedgerEvent.INVALIDATED, invalid)
    decide(results, LedgerEvent.SUPERSEDED, old, new)
    make(4, slug="other")
    make(5, kind=SystemKind.CONTROL)
    make(6, errors=10)
    make(7, done=80)
    assert days(check(results, make(9))) == [3]


def test_accepted_runs_of_another_track_are_named_with_the_parts_that_differ(results: Path, make: Make) -> None:
    make(1, track=make_track(judge="openai:other", tier="small"))
    found = check(results, make(2))
    assert found.status is GateStatus.NO_BASELINE
    assert len(found.notes) == 1 and "Different: tier, judge." in found.notes[0]


def test_a_named_run_of_another_track_is_refused_with_the_parts_that_differ(results: Path, make: Make) -> None:
    other = make(1, track=make_track(items=40, judge="openai:other"))
    with pytest.raises(BadInput, match=r"is on another track. Different: categories, judge\. Name a run"):
        check(results, make(2), other.run.run_id)


def test_a_named_run_need_not_be_accepted_but_that_is_said(results: Path, make: Make) -> None:
    found = check(results, make(2), make(1, accepted=False, slug="other").run.run_id)
    assert found.baseline is not None and found.baseline.kind == "run"
    assert found.notes == ("The baseline run is not accepted.", "The baseline run is of another system, other.")


def test_an_invalidated_run_and_the_run_itself_are_refused_as_baseline(results: Path, make: Make) -> None:
    invalid, run = make(1), make(2)
    decide(results, LedgerEvent.INVALIDATED, invalid)
    with pytest.raises(BadInput, match="is invalidated"):
        check(results, run, invalid.run.run_id)
    with pytest.raises(BadInput, match="is its own baseline"):
        check(results, run, run.run.run_id)
    with pytest.raises(BadInput, match="no finished run last-x"):
        check(results, run, "last-x")


def test_a_run_that_was_changed_after_it_was_accepted_is_refused(results: Path, make: Make) -> None:
    edit_head(make(1), replayed=True)
    with pytest.raises(BadInput, match="was changed after the run was accepted"):
        check(results, make(2))


@pytest.mark.parametrize("name", ["grades.jsonl", "responses.jsonl"])
@pytest.mark.parametrize("damaged", ["baseline", "run"])
def test_rows_that_do_not_match_their_digest_are_refused(results: Path, make: Make, name: str, damaged: str) -> None:
    baseline, run = make(1, 30), make(2, accepted=False)
    path = (baseline if damaged == "baseline" else run).file(name)
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()).replace(b'"verdict":false', b'"verdict":true ')))
    if name == "responses.jsonl":
        path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()).replace(b"0.25", b"0.01")))
    with pytest.raises(BadInput, match=f"{name}.gz does not match its digest"):
        check(results, run)


def test_missing_rows_are_refused(results: Path, make: Make) -> None:
    make(1).file("grades.jsonl").unlink()
    with pytest.raises(BadInput, match=r"grades.jsonl of this run is missing.*archive pull"):
        check(results, make(2))


def test_a_score_that_is_not_a_number_is_refused_with_its_line(results: Path, make: Make) -> None:
    run = make(1, accepted=False)
    path = run.file("grades.jsonl")
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()).replace(b'"value":null', b'"value":NaN', 1)))
    files = {name: digest.data() for name, digest in run.run.files.items()}
    forged = edit_head(run, files=files | {"grades.jsonl": inner_digest(path).data()})
    with pytest.raises(BadInput, match=r"grades.jsonl.gz:1: 'value'"):
        check(results, forged)


def test_a_forged_track_id_is_refused(results: Path, make: Make) -> None:
    run = make(1, accepted=False)
    with pytest.raises(BadInput, match="but the track's parts give"):
        check(results, edit_head(run, track_id="0" * 12))
