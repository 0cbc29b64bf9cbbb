"""Item statistics of stored runs: over ranked systems, with controls apart."""

from pathlib import Path

import pytest

from memeval import api
from memeval.archive.ledger import Ledger
from memeval.archive.rows import pack
from memeval.leaderboard.item_report import item_reports
from memeval.records.errors import BadInput
from memeval.records.items import ItemLine, ItemReport
from memeval.records.ledger import LedgerEvent
from memeval.records.run import SystemKind
from memeval.records.track import CategoryPlan
from tests.support.runs import make_run, make_track, write_rows

CONTROL = SystemKind.CONTROL


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Four systems, each of which gets more of the first items of the category ``kept``, and three controls."""
    for number, slug in enumerate(("weak", "fair", "good", "best")):
        make_run(tmp_path, slug, {"kept": 10 + 5 * number, "changed": 4})
    make_run(tmp_path, "no-memory", kind=CONTROL)
    make_run(tmp_path, "oracle", {"kept": 50, "changed": 30}, kind=CONTROL)
    make_run(tmp_path, "bm25", {"kept": 12}, kind=CONTROL)
    return tmp_path


def only(reports: list[ItemReport]) -> ItemReport:
    (report,) = reports
    return report


def lines(report: ItemReport) -> dict[str, ItemLine]:
    return {line.item_id: line for line in report.items}


def test_statistics_are_over_ranked_systems_and_controls_are_apart(results: Path) -> None:
    report = only(item_reports(results))
    assert report.systems == ("best", "good", "fair", "weak")
    assert set(report.controls) == {"no-memory", "oracle", "bm25"}
    found = lines(report)
    assert (found["kept-000"].difficulty, found["kept-012"].difficulty, found["kept-049"].difficulty) == (1, 0.75, 0)
    assert found["kept-000"].everyone and found["kept-049"].nobody
    assert (found["kept-049"].best_control, found["changed-049"].best_control) == (1, 0)
    assert found["kept-000"].discrimination is None
    assert (found["kept-012"].discrimination or 0) > 0.5


def test_a_control_of_one_benchmark_does_not_count(results: Path) -> None:
    make_run(results, "knows-the-answers", {"kept": 50, "changed": 50}, kind=CONTROL)
    report = only(item_reports(results))
    assert set(report.controls) == {"no-memory", "oracle", "bm25"}
    assert lines(report)["changed-049"].best_control == 0


def test_categories_add_up_their_items(results: Path) -> None:
    kept, changed = only(item_reports(results)).categories
    assert (kept.category, kept.items, kept.everyone, kept.nobody) == ("kept", 50, 10, 25)
    assert (changed.everyone, changed.nobody, changed.moving) == (4, 46, 0)
    assert kept.difficulty == pytest.approx(17.5 / 50)


def test_an_item_that_decides_a_place_is_counted(tmp_path: Path) -> None:
    make_run(tmp_path, "ahead", {"kept": 11, "changed": 10})
    make_run(tmp_path, "behind", {"kept": 10, "changed": 10})
    found = lines(only(item_reports(tmp_path)))
    assert found["kept-010"].moved == 1, "without it, both share the first place"
    assert found["kept-000"].moved == 0


def test_saturation_compares_the_headroom_with_what_is_detectable(results: Path) -> None:
    found = only(item_reports(results)).saturation
    assert (found.system, found.best, found.floor, found.ceiling, found.oracle) == ("best", 0.29, 0, 0.8, True)
    assert found.reached == pytest.approx(0.29 / 0.8)
    assert found.headroom == pytest.approx(0.51)
    assert found.detectable is not None
    assert found.saturated is False


def test_a_benchmark_with_hardly_any_headroom_is_saturated(tmp_path: Path) -> None:
    make_run(tmp_path, "acme", {"kept": 50, "changed": 49})
    make_run(tmp_path, "other", {"kept": 40, "changed": 49})
    found = only(item_reports(tmp_path)).saturation
    assert (found.floor, found.reached, found.ceiling, found.saturated) == (None, None, 1, True)


def test_without_a_gap_between_floor_and_ceiling_no_share_of_it_is_reached(tmp_path: Path) -> None:
    make_run(tmp_path, "acme", {"kept": 20})
    make_run(tmp_path, "no-memory", {"kept": 8}, kind=CONTROL)
    make_run(tmp_path, "oracle", {"kept": 12}, kind=CONTROL)
    found = only(item_reports(tmp_path)).saturation
    assert (found.reached, found.saturated) == (None, True)
    assert found.headroom == pytest.approx(-0.08)


@pytest.mark.parametrize("name", ["made-up", "made-up@1", make_track().id, None])
def test_a_benchmark_or_a_track_is_named(results: Path, name: str | None) -> None:
    make_run(results, "acme", {"kept": 9}, track=make_track(benchmark="other@1"))
    reports = api.items(name, results=results)
    assert [report.benchmark for report in reports] == ["made-up@1", *(["other@1"] if name is None else [])]


def test_one_system_has_difficulties_and_no_discrimination(tmp_path: Path) -> None:
    make_run(tmp_path, "acme", {"kept": 20})
    report = only(item_reports(tmp_path))
    assert {line.difficulty for line in report.items} == {0, 1}
    assert {line.discrimination for line in report.items} == {None}
    assert {line.best_control for line in report.items} == {None}


def test_a_category_of_one_item_has_statistics(tmp_path: Path) -> None:
    plan = (
        CategoryPlan(name="kept", weight=0.5, items=30, grader="judged@1"),
        CategoryPlan(name="changed", weight=0.5, items=1, grader="judged@1"),
    )
    for slug, right in (("one", 9), ("two", 10), ("three", 11)):
        make_run(tmp_path, slug, {"kept": right, "changed": right % 2}, track=make_track(categories=plan))
    report = only(item_reports(tmp_path))
    assert report.categories[1].detectable is None
    assert lines(report)["changed-000"].moved > 0


def test_invalidated_partial_and_failing_runs_are_left_out(results: Path) -> None:
    void = make_run(results, "void", {"kept": 40})
    Ledger(results).append(LedgerEvent.INVALIDATED, void, by="Ada", reason="wrong version")
    make_run(results, "partial", {"kept": 40}, done=80)
    make_run(results, "failing", {"kept": 40}, errors=9)
    assert only(item_reports(results)).systems == ("best", "good", "fair", "weak")


@pytest.mark.parametrize("name", ["absent", "made-up@2", "0123456789ab"])
def test_a_name_without_runs_is_refused(results: Path, name: str) -> None:
    with pytest.raises(BadInput, match=f"there is no run of '{name}' here"):
        item_reports(results, name)


def test_an_empty_folder_and_controls_alone_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there are no runs here"):
        item_reports(tmp_path)
    make_run(tmp_path, "bm25", {"kept": 12}, kind=CONTROL)
    with pytest.raises(BadInput, match="no ranked system has a run here"):
        item_reports(tmp_path)


@pytest.mark.parametrize("kind", [SystemKind.SUBMISSION, CONTROL])
def test_changed_grades_are_refused(results: Path, kind: SystemKind) -> None:
    folder = make_run(results, "forged" if kind is SystemKind.SUBMISSION else "first-stated", {"kept": 12}, kind=kind)
    grades = [grade.model_copy(update={"verdict": True}) for grade in folder.grades()]
    write_rows(folder.file("grades.jsonl"), grades)
    with pytest.raises(BadInput, match="does not match its digest"):
        item_reports(results)


def test_damaged_grades_are_refused(results: Path) -> None:
    folder = make_run(results, "damaged", {"kept": 12})
    data, _digest = pack(list(folder.grades()))
    folder.file("grades.jsonl").write_bytes(data[: len(data) // 2])
    with pytest.raises(BadInput, match=r"grades\.jsonl"):
        item_reports(results)
