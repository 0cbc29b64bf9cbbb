"""Histories of versions, and the trends of their measures."""

from pathlib import Path
from typing import Any

import pytest

from memeval.archive.histories import stored_histories
from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder, history_runs, sealed_runs
from memeval.leaderboard.series import History, LeftOut, VersionSeries, history_of
from memeval.leaderboard.trends import (
    COMPOSITE,
    INGEST_RATIO,
    SEARCH_RATIO,
    ScoreChanges,
    Trend,
    named_measure,
    run_measures,
    trend_of,
)
from memeval.records.base import digest_of
from memeval.records.errors import BadInput
from memeval.records.ledger import LedgerEvent
from memeval.records.run import Run, SystemKind, TokenSource, View
from tests.support.made_versions import REASON, VERSIONS, Made, clustered, make_history, product_of
from tests.support.runs import edit_head, make_run, make_track

ROOT = Path(__file__).parents[2]


def history(results: Path) -> History:
    folders = [*sealed_runs(results), *history_runs(results)]
    return history_of([folder.run for folder in folders], Ledger(results).entries(), stored_histories(results))


def only(results: Path) -> VersionSeries:
    [series] = history(results).series
    return series


def trend(series: VersionSeries, measure: str = COMPOSITE) -> Trend:
    return trend_of(series, named_measure(measure, run_measures(series.runs)))


def changes(results: Path) -> ScoreChanges:
    folders = {folder.run.run_id: folder for folder in history_runs(results)}
    return ScoreChanges(only(results), folders.get)


def day(number: int) -> str:
    return f"2026-11-{number:02}T10:00:00.000+00:00"


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return make_run(tmp_path_factory.mktemp("one"), "acme", {"kept": 40, "changed": 30}).run


def test_every_series_of_the_stored_runs_keeps_its_track_and_its_sessions() -> None:
    found = history(ROOT / "results")
    assert len(found.series) > 100
    for series in found.series:
        runs = [run for point in series.points for run in point.runs]
        settings = {(run.track_id, run.system.view, run.track.tier, run.track.judge) for run in runs}
        assert len(settings) == 1, series.system
        versions = [point.version for point in series.points]
        assert len(set(versions)) == len(versions), series.system
        for point in series.points:
            assert {
                (run.system.product.version if run.system.product else None) or run.system.version for run in point.runs
            } <= {point.version}
            assert (point.gap is None) is bool(point.runs)


def test_versions_are_in_the_order_of_their_numbers_with_release_value_and_gap(tmp_path: Path) -> None:
    make_history(tmp_path, "acme", tuple(reversed(VERSIONS)))
    points = trend(only(tmp_path)).points
    assert [(point.at.version, point.at.released) for point in points] == [each[:2] for each in VERSIONS]
    assert [point.value for point in points] == [None, pytest.approx(0.4), pytest.approx(0.9), pytest.approx(0.9)]
    assert points[0].at.gap == points[0].reading.note == REASON
    interval = points[1].at.runs[0].scores.composite.interval
    assert interval is not None
    assert (points[1].reading.low, points[1].reading.high) == (interval.low, interval.high)


def test_versions_that_are_no_numbers_keep_the_order_of_their_history(tmp_path: Path) -> None:
    named = [
        Made("spring", "2024-03-01", 20),
        Made("autumn", "2024-09-01", None),
        Made("2025-winter", "2025-01-01", 30),
    ]
    make_history(tmp_path, "acme", named)
    assert [point.version for point in only(tmp_path).points] == ["spring", "autumn", "2025-winter"]


def test_without_dates_a_history_has_an_order_only(tmp_path: Path) -> None:
    make_history(tmp_path, "acme", [each._replace(released=None) for each in VERSIONS])
    series = only(tmp_path)
    assert not series.is_dated
    assert [point.version for point in series.points] == [each.version for each in VERSIONS]


def test_a_run_of_a_known_version_on_a_later_day_is_no_version_of_its_own(tmp_path: Path) -> None:
    made = make_history(tmp_path, "acme")
    nightly = make_run(
        tmp_path, "acme", {"kept": 1}, started=day(20), product=product_of("acme", "1.1.0"), regraded=clustered
    )
    series = only(tmp_path)
    assert [len(point.runs) for point in series.points] == [0, 1, 1, 2]
    last = series.points[-1]
    assert last.run is not None and last.run.run_id == made[-1].run.run_id, "the run of the history counts"
    assert last.runs[1].run_id == nightly.run.run_id


def test_systems_without_a_history_have_their_versions_too(tmp_path: Path) -> None:
    for number, version in enumerate(("1.0", "1.1", "1.1"), start=1):
        make_run(tmp_path, "acme", {"kept": 10 * number}, started=day(number), version=version)
    points = only(tmp_path).points
    assert [(point.version, len(point.runs)) for point in points] == [("1.0", 1), ("1.1", 2)]
    assert points[1].run is not None and points[1].run.scores.composite.value == pytest.approx(0.3), "the newest counts"


def test_another_package_is_another_history(tmp_path: Path) -> None:
    make_history(tmp_path, "acme")
    make_run(tmp_path, "acme", product=product_of("other", "7.0"))
    assert [len(series.points) for series in history(tmp_path).series] in ([4, 1], [1, 4])


@pytest.mark.parametrize(
    "other",
    [
        {"judge": "openai:some-model@1", "judge_endpoint": "https://api.openai.com/v1"},
        {"reader": "extractive@2"},
        {"tier": "small"},
        {"protocol": "retrieval"},
        {"benchmark": "made-up@2"},
        {"data_digest": digest_of("new data")},
    ],
    ids=lambda other: next(iter(other)),
)
def test_a_series_keeps_its_track(tmp_path: Path, other: dict[str, Any]) -> None:
    tracks = (make_track(), make_track(**other))
    for number in range(4):
        make_run(tmp_path, "acme", started=day(1 + number), version=f"1.{number}", track=tracks[number % 2])
    found = history(tmp_path).series
    assert sorted(tuple(run.track_id for run in series.runs) for series in found) == sorted(
        (track.id, track.id) for track in tracks
    )


def test_a_gap_belongs_to_the_tracks_that_were_planned(tmp_path: Path) -> None:
    make_history(tmp_path, "acme")
    make_run(tmp_path, "acme", product=product_of("acme", "1.1.0"), track=make_track(tier="small"))
    by_tier = {series.track.tier: series for series in history(tmp_path).series}
    assert [point.version for point in by_tier["small"].points] == ["0.9.0", "1.1.0"], "0.9.0 runs on no track"
    assert len(by_tier["full"].points) == 4


def test_a_control_that_receives_other_sessions_has_another_series(one: Run) -> None:
    system = one.system.model_copy(update={"view": View.EVIDENCE})
    found = history_of([one, one.model_copy(update={"run_id": "20260102T100000Z-00000000", "system": system})]).series
    assert len(found) == 2


def test_a_control_and_a_submission_of_one_name_do_not_share_a_series(tmp_path: Path) -> None:
    folders = [make_run(tmp_path / kind, "bm25", kind=kind) for kind in (SystemKind.CONTROL, SystemKind.SUBMISSION)]
    found = history_of([folder.run for folder in folders]).series
    assert [series.is_control for series in found] == [False, True]


def test_runs_that_do_not_count_are_left_out_with_their_number(tmp_path: Path) -> None:
    good, bad, wrong, right = (make_run(tmp_path, "acme", started=day(number)) for number in (1, 2, 3, 4))
    make_run(tmp_path, "acme", started=day(5), done=20)
    edit_head(make_run(tmp_path, "acme", started=day(6)), timing=good.run.timing.data() | {"started": "soon"})
    ledger = Ledger(tmp_path)
    ledger.append(LedgerEvent.INVALIDATED, bad, by="m", reason="Leaked answers.")
    ledger.append(LedgerEvent.SUPERSEDED, wrong, by="m", reason="Wrong settings.", other=right)
    found = history(tmp_path)
    assert [run.run_id for run in found.series[0].points[0].runs] == [right.run.run_id, good.run.run_id]
    assert found.left_out == dict.fromkeys(LeftOut, 1)


@pytest.mark.parametrize("moment", ["soon", "", "0001-01-01T00:00:00+14:00", "9999-12-31T00:00:00", "1969-12-31"])
def test_a_start_that_is_no_time_leaves_the_run_out(one: Run, moment: str) -> None:
    run = one.model_copy(update={"timing": one.timing.model_copy(update={"started": moment})})
    assert history_of([run]) == History((), {LeftOut.UNDATED: 1})


def test_every_measure_of_a_run_has_a_trend_and_none_is_an_absolute_time(tmp_path: Path) -> None:
    make_history(tmp_path, "acme", VERSIONS[1:])
    series = only(tmp_path)
    values = {each.name: trend(series, each.name).points[0].value for each in run_measures(series.runs)}
    assert values == {
        "composite": pytest.approx(0.4),
        "category_kept": pytest.approx(0.4),
        "category_changed": pytest.approx(0.4),
        "tokens_per_question": 7.0,
        "cost_usd": values["cost_usd"],
        "search_ratio": pytest.approx(2.04, abs=0.01),
        "ingest_ratio": pytest.approx(2.04, abs=0.01),
    }
    assert trend(series, "kept").measure.name == "category_kept"


def test_a_run_without_times_beside_a_control_has_no_ratio(tmp_path: Path) -> None:
    make_history(tmp_path, "acme", VERSIONS[1:], ratio=None)
    points = trend(only(tmp_path), SEARCH_RATIO).points
    assert {(point.value, point.reading.note) for point in points} == {(None, "no times beside a control")}


def test_an_unknown_measure_is_refused_with_the_names_of_all(one: Run) -> None:
    with pytest.raises(BadInput, match=r"no measure 'speed'.*ingest_ratio"):
        named_measure("speed", run_measures([one]))


def test_another_source_of_token_counts_breaks_the_tokens_alone(tmp_path: Path) -> None:
    folders = make_history(tmp_path, "acme", VERSIONS[1:])
    edit_head(folders[2], tokens=folders[2].run.tokens.data() | {"source": TokenSource.SELF_REPORTED.value})
    series = only(tmp_path)
    [found] = trend(series, "tokens_per_question").breaks
    assert (found.index, found.changes) == (2, ("Token counts changed from measured to self-reported.",))
    assert trend(series, "tokens_per_question").parts == (range(2), range(2, 3))
    assert trend(series).breaks == ()


def test_a_step_has_its_version_its_size_and_both_runs(tmp_path: Path) -> None:
    folders = make_history(tmp_path, "acme")
    [found] = changes(tmp_path).steps
    assert (found.before.run_id, found.after.run_id) == (folders[0].run.run_id, folders[1].run.run_id)
    assert found.step.before == pytest.approx(0.4)
    assert found.step.after == pytest.approx(0.9)
    assert found.step.p < 0.05


def test_versions_with_the_same_grades_have_no_step_and_need_no_rows(tmp_path: Path) -> None:
    folders = make_history(tmp_path, "acme", [Made(f"1.{number}", None, 30) for number in range(4)])
    for folder in folders:
        (folder.path / "grades.jsonl.gz").write_bytes(b"unreadable")
    found = changes(tmp_path)
    assert found.are_equal and found.steps == ()
    assert {test.reason for test in found.tests} == {"Both versions have the same grades."}


def test_each_version_is_tested_against_the_one_before_and_the_last_against_the_first(tmp_path: Path) -> None:
    make_history(tmp_path, "acme")
    found = changes(tmp_path)
    tested, equal = found.tests
    assert tested.difference is not None and tested.difference.difference == pytest.approx(0.5)
    assert (equal.difference, equal.reason) == (None, "Both versions have the same grades.")
    assert found.whole is not None and found.whole.difference == pytest.approx(0.5)
    assert found.whole.low is not None and 0 < found.whole.low < 0.5


def test_without_the_rows_of_a_run_there_is_no_test(tmp_path: Path) -> None:
    folders = make_history(tmp_path, "acme")
    (folders[0].path / "grades.jsonl.gz").unlink()
    found = changes(tmp_path)
    assert (found.steps, found.whole) == ((), None)
    assert found.tests[0].reason == "The rows of a run are not here."


def test_runs_of_other_items_have_no_step(tmp_path: Path) -> None:
    folders = make_history(tmp_path, "acme", VERSIONS[1:])
    other = make_run(tmp_path / "other", "acme", {"kept": 3})
    (folders[2].path / "grades.jsonl.gz").write_bytes((other.path / "grades.jsonl.gz").read_bytes())
    series = only(tmp_path)
    by_id = {folder.run.run_id: RunFolder(folder.path) for folder in folders}
    assert ScoreChanges(series, by_id.get).steps == ()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"fastest": [{"system": 1.0, "control": 1.0}]},
            "The time that counts changed from that of all questions to that of each question, the shortest.",
        ),
        ({"search_items": 50}, "The number of texts that a search returns changed from 10 to 50."),
    ],
)
def test_another_way_to_count_the_search_time_breaks_its_ratio_alone(
    tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    folders = make_history(tmp_path, "acme", VERSIONS[1:])
    beside = folders[2].run.beside
    assert beside is not None
    edit_head(folders[2], beside=beside.data() | change)
    series = only(tmp_path)
    [found] = trend(series, SEARCH_RATIO).breaks
    assert (found.index, found.changes) == (2, (said,))
    assert trend(series, INGEST_RATIO).breaks == trend(series).breaks == ()
