"""Which runs are the baseline of a check, and which are refused."""

import gzip
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memeval.analysis.comparing import compare_runs
from memeval.archive.ledger import Ledger
from memeval.archive.rows import inner_digest
from memeval.archive.runs import RunFolder
from memeval.leaderboard.baselines import check_run
from memeval.leaderboard.board import build_board
from memeval.leaderboard.measured import MeasuredRun
from memeval.leaderboard.regressions import check_metrics, drift_metrics, metrics_against, status_of
from memeval.leaderboard.releases import frozen, keep
from memeval.records.check import GateStatus, MetricStatus, RegressionCheck
from memeval.records.errors import BadInput
from memeval.records.grade import Grade
from memeval.records.ledger import LedgerEvent
from memeval.records.run import SystemKind
from memeval.records.settings import CheckSettings, CheckThresholds
from tests.support.measured import Bench
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


def decaying(results: Path, nights: int) -> list[RunFolder]:
    """Return accepted runs of a system that loses one more of 200 answers every night, in turn in each category."""
    track, folders = make_track(items=100), []
    for night in range(nights):
        right = {"kept": 90 - night // 2, "changed": 80 - (night + 1) // 2}
        started = f"2026-11-{1 + night:02}T10:00:00.000+00:00"
        folders.append(make_run(results, "acme", right, track=track, started=started, regraded=of_one_person))
    return folders


def of_one_person(grade: Grade) -> Grade:
    return grade.model_copy(update={"cluster": f"person-{grade.item_id[-3:]}"})


def failing(found: RegressionCheck, kind: str) -> list[str]:
    return [name for name in found.failing if name.endswith(f"({kind})")]


def test_twelve_nights_of_slow_decay_are_found_although_each_night_passes_against_the_last_five(results: Path) -> None:
    found = []
    for folder in decaying(results, 12):
        found.append(check(results, folder))
        decide(results, LedgerEvent.ACCEPTED, folder)
    assert all(metric.status is not MetricStatus.REGRESSION for each in found for metric in each.metrics)
    last = found[-1]
    assert last.status is GateStatus.REGRESSION
    assert failing(last, "drift") == ["composite (drift)", "changed (drift)"]
    assert failing(last, "best")[0] == "composite (best)"
    first_alarm = next(night for night, each in enumerate(found, start=1) if each.status is GateStatus.REGRESSION)
    assert first_alarm <= 11
    (line,) = (each for each in last.comparisons if each.kind == "drift")
    composite = line.metrics[0]
    assert (len(line.runs), line.runs[-1]) == (12, last.run_id)
    assert (composite.baseline_value, composite.current_value) == pytest.approx((0.85, 0.795), abs=0.002)


def test_a_check_sees_what_compare_sees(results: Path) -> None:
    *before, last = decaying(results, 12)
    for folder in before:
        decide(results, LedgerEvent.ACCEPTED, folder)
    (best,) = (each for each in check(results, last).comparisons if each.kind == "best")
    (pair,) = compare_runs([before[0], last]).pairs
    assert best.runs == (before[0].run.run_id,) and pair.overall is not None
    assert [(each.p, each.corrected) for each in best.metrics] == [
        (each.p, each.corrected) for each in (pair.overall, *pair.categories)
    ]
    assert best.level == pytest.approx(0.05 / 3 / 11), "one of three comparisons, and the best of eleven runs"


def test_a_run_is_compared_with_the_last_release(results: Path) -> None:
    *before, last = decaying(results, 12)
    for place, folder in enumerate(before):
        decide(results, LedgerEvent.ACCEPTED, folder)
        if place == 1:
            release, _new = frozen(build_board(before[:2], Ledger(results)), results, "2026.11", "0.1.0")
            keep(release, results)
    found = check(results, last, against_best=False, drift_runs=0)
    (only,) = found.comparisons
    assert (only.kind, only.release, only.runs) == ("release", "2026.11", (before[1].run.run_id,))
    assert only.level == found.level == 0.025
    assert failing(found, "release")[0] == "composite (release)"
    assert check(results, last, against_release=False, against_best=False, drift_runs=0).status is not found.status


def test_a_loss_that_was_accepted_is_not_reported_again(results: Path, make: Make) -> None:
    for day in range(1, 9):
        make(day, 45)
    lost = make(9, 20, accepted=False)
    assert check(results, lost).status is GateStatus.REGRESSION
    Ledger(results).append(LedgerEvent.ACCEPTED, lost, by="me", reason="regression accepted (changed): new model")
    for day in range(10, 19):
        found = check(results, make(day, 20))
    assert found.status is GateStatus.PASSED
    assert {run for each in found.comparisons for run in each.runs} <= {
        f"202611{day:02}T100000" + run[15:] for each in found.comparisons for run in each.runs for day in range(9, 19)
    }


def test_a_comparison_without_rows_is_left_out_and_said(results: Path) -> None:
    *before, last = decaying(results, 12)
    for folder in before:
        decide(results, LedgerEvent.ACCEPTED, folder)
    before[0].file("grades.jsonl").unlink()
    found = check(results, last)
    assert found.comparisons == ()
    assert found.notes == tuple(
        f"Not compared ({kind}): the rows of run {before[0].run.run_id} are not here." for kind in ("best", "drift")
    )


def test_a_named_baseline_is_the_only_comparison(results: Path) -> None:
    *before, last = decaying(results, 12)
    for folder in before:
        decide(results, LedgerEvent.ACCEPTED, folder)
    assert check(results, last, before[0].run.run_id).comparisons == ()


def test_stable_nights_raise_a_false_alarm_in_at_most_one_check_in_twenty(tmp_path: Path) -> None:
    """600 checks of systems whose every item is right with a chance of its own, the same every night."""
    bench, dice = Bench(tmp_path, items=30), random.Random(40)
    chances = [[dice.choice((0.1, 0.5, 0.9, 1.0)) for _ in range(30)] for _ in range(2)]

    def night() -> MeasuredRun:
        kept, changed = ([float(dice.random() < chance) for chance in row] for row in chances)
        return bench.run(kept, changed)

    failed, checks = 0, 0
    for _ in range(30):
        history = [night() for _ in range(8)]
        for _ in range(20):
            history.append(night())
            failed += is_alarm(history)
            checks += 1
    assert failed / checks <= 0.05


def is_alarm(history: list[MeasuredRun]) -> bool:
    """Return whether a check of the last run fails: against five runs, a release, the best run, and over all."""
    *before, current = history
    plan, limits = current.run.track.categories, CheckThresholds()
    level = 0.05 / 4
    best = max(before[:-5], key=lambda run: sum(item.score for item in run.items.values()))
    found = (
        check_metrics(current, before[-5:], limits, level),
        metrics_against(plan, current.items, before[2].items, limits, level),
        metrics_against(plan, current.items, best.items, limits, level / len(before)),
        drift_metrics(plan, [run.items for run in history[-21:]], limits, level),
    )
    return any(status_of(metrics) is GateStatus.REGRESSION for metrics in found)
