"""Series of runs, and the trends of their measures."""

import random
from pathlib import Path

import pytest

from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder
from memeval.leaderboard.board import build_board
from memeval.leaderboard.releases import frozen
from memeval.leaderboard.series import History, LeftOut, history_of
from memeval.leaderboard.trend_measures import COMPOSITE, named_measure, run_measures
from memeval.leaderboard.trends import Trend, neighbour_tests, rank_trend, trend_of
from memeval.records.base import digest_of
from memeval.records.errors import BadInput
from memeval.records.ledger import LedgerEvent
from memeval.records.run import Run, SystemKind
from memeval.records.track import Track
from tests.support.runs import edit_head, make_run, make_track


def day(number: int, hour: int = 10) -> str:
    return f"2026-{1 + (number - 1) // 28:02}-{1 + (number - 1) % 28:02}T{hour:02}:00:00.000+00:00"


def history(results: Path, folders: list[RunFolder]) -> History:
    return history_of([folder.run for folder in folders], Ledger(results).entries())


def trend(found: History, measure: str = COMPOSITE) -> Trend:
    series = found.series[0]
    return trend_of(series, named_measure(measure, run_measures(series.runs)))


def scored(run: Run, number: int, value: float | None) -> Run:
    """Return a run of another day with another composite."""
    composite = run.scores.composite.model_copy(update={"value": value, "interval": None})
    return run.model_copy(
        update={
            "run_id": f"2026{number:04}T100000Z-00000000",
            "timing": run.timing.model_copy(update={"started": day(number)}),
            "scores": run.scores.model_copy(update={"composite": composite}),
        }
    )


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return make_run(tmp_path_factory.mktemp("one"), "acme", {"kept": 40, "changed": 30}).run


def test_points_are_in_order_of_time_with_value_interval_and_version(tmp_path: Path) -> None:
    later = make_run(tmp_path, "acme", {"kept": 40, "changed": 40}, started=day(2), version="1.1")
    earlier = make_run(tmp_path, "acme", {"kept": 30, "changed": 30}, started=day(1))
    points = trend(history(tmp_path, [later, earlier])).points
    assert [(point.at, point.label) for point in points] == [
        ("2026-01-01T10:00:00+00:00", "1.0"),
        ("2026-01-02T10:00:00+00:00", "1.1"),
    ]
    assert [point.value for point in points] == [pytest.approx(0.6), pytest.approx(0.8)]
    interval = later.run.scores.composite.interval
    assert interval is not None
    assert (points[1].reading.low, points[1].reading.high) == (interval.low, interval.high)


def test_every_measure_of_a_run_has_a_trend(tmp_path: Path) -> None:
    found = history(tmp_path, [make_run(tmp_path, "acme", {"kept": 40})])
    values = {each.name: trend(found, each.name).points[0].value for each in run_measures(found.series[0].runs)}
    assert values == {
        "composite": pytest.approx(0.4),
        "category_kept": pytest.approx(0.8),
        "category_changed": 0.0,
        "tokens_per_question": 7.0,
        "cost_usd": values["cost_usd"],
        "ask_p50_seconds": 0.25,
        "ask_p95_seconds": 0.25,
    }
    assert trend(found, "kept").measure.name == "category_kept"


def test_an_unknown_measure_is_refused_with_the_names_of_all(one: Run) -> None:
    with pytest.raises(BadInput, match=r"no measure 'speed'.*ask_p95_seconds"):
        named_measure("speed", run_measures([one]))


def test_a_new_judge_on_a_later_day_is_a_break_in_the_same_series(tmp_path: Path) -> None:
    other = make_track(judge="openai:some-model@1", judge_endpoint="https://api.openai.com/v1")
    folders = [make_run(tmp_path, "acme", started=day(1)), make_run(tmp_path, "acme", started=day(2), track=other)]
    [series] = history(tmp_path, folders).series
    [found] = trend(history(tmp_path, folders)).breaks
    assert (len(series.runs), found.index) == (2, 1)
    assert found.changes[0].sentence == "Judge changed from rules@3 to openai:some-model@1."
    assert not series.has_line


@pytest.mark.parametrize("days", [((1, 3), (2, 4)), ((1, 1), (1, 1))], ids=["in turns", "on one day"])
def test_readers_in_use_side_by_side_have_a_series_each(
    tmp_path: Path, days: tuple[tuple[int, int], tuple[int, int]]
) -> None:
    folders = [
        make_run(tmp_path, "acme", started=day(number, hour), track=make_track(reader=reader))
        for reader, numbers in zip(("native", "extractive@2"), days, strict=True)
        for hour, number in enumerate(numbers, start=1 if reader == "native" else 5)
    ]
    found = history(tmp_path, folders).series
    assert [len(series.runs) for series in found] == [2, 2]
    assert all(len({run.track_id for run in series.runs}) == 1 for series in found)


def test_two_versions_of_the_data_in_use_in_turns_have_a_line_each(tmp_path: Path) -> None:
    tracks = (make_track(), make_track(data_digest=digest_of("new data")))
    folders = [make_run(tmp_path, "acme", started=day(n), track=tracks[n % 2]) for n in range(1, 7)]
    found = history(tmp_path, folders).series
    assert [(len(series.runs), len({run.track_id for run in series.runs})) for series in found] == [(3, 1), (3, 1)]
    assert len({series.group for series in found}) == 1, "their chart is the same"


def test_new_data_on_the_same_day_go_on_in_the_series(tmp_path: Path) -> None:
    tracks = (make_track(), make_track(data_digest=digest_of("new data")))
    folders = [make_run(tmp_path, "acme", started=day(1, hour), track=tracks[hour // 12]) for hour in (9, 10, 13, 14)]
    [series] = history(tmp_path, folders).series
    assert len(series.runs) == 4


def test_two_readers_that_get_a_new_judge_go_on_each_in_its_own_series(tmp_path: Path) -> None:
    def track(reader: str, judge: str) -> Track:
        return make_track(reader=reader, judge=judge)

    folders = [
        make_run(tmp_path, "acme", started=day(number, hour), track=track(reader, judge))
        for number, judge in ((1, "rules@3"), (5, "openai:m@1"))
        for hour, reader in enumerate(("native", "extractive@2"))
    ]
    found = history(tmp_path, folders).series
    assert [[run.track.reader for run in series.runs] for series in found] == [
        ["native", "native"],
        ["extractive@2", "extractive@2"],
    ]


def test_a_control_and_a_submission_of_one_name_do_not_share_a_series(tmp_path: Path) -> None:
    folders = [make_run(tmp_path / kind, "bm25", kind=kind) for kind in (SystemKind.CONTROL, SystemKind.SUBMISSION)]
    assert [series.is_control for series in history(tmp_path, folders).series] == [False, True]


def test_runs_that_do_not_count_are_left_out_with_their_number(tmp_path: Path) -> None:
    good, bad, wrong, right = (make_run(tmp_path, "acme", started=day(number)) for number in (1, 2, 3, 4))
    partial = make_run(tmp_path, "acme", started=day(5), done=20)
    undated = edit_head(make_run(tmp_path, "acme", started=day(6)), timing=good.run.timing.data() | {"started": "soon"})
    ledger = Ledger(tmp_path)
    ledger.append(LedgerEvent.INVALIDATED, bad, by="m", reason="Leaked answers.")
    ledger.append(LedgerEvent.SUPERSEDED, wrong, by="m", reason="Wrong settings.", other=right)
    found = history(tmp_path, [good, bad, wrong, right, partial, undated])
    assert [run.run_id for run in found.series[0].runs] == [good.run.run_id, right.run.run_id]
    assert found.left_out == dict.fromkeys(LeftOut, 1)


@pytest.mark.parametrize("moment", ["soon", "", "0001-01-01T00:00:00+14:00", "9999-12-31T00:00:00", "1969-12-31"])
def test_a_start_that_no_axis_can_show_leaves_the_run_out(one: Run, moment: str) -> None:
    run = one.model_copy(update={"timing": one.timing.model_copy(update={"started": moment})})
    assert history_of([run]) == History((), {LeftOut.UNDATED: 1})


def test_a_run_superseded_on_another_track_stays_with_a_mark(tmp_path: Path) -> None:
    old = make_run(tmp_path, "acme", started=day(1))
    new = make_run(tmp_path, "acme", started=day(2), track=make_track(judge="rules@4"))
    Ledger(tmp_path).append(LedgerEvent.SUPERSEDED, old, by="m", reason="A better judge.", other=new)
    found = history(tmp_path, [old, new])
    assert [point.is_superseded for point in trend(found).points] == [True, False]
    assert found.left_out == {}


def test_a_price_list_breaks_dollars_and_nothing_else(one: Run) -> None:
    runs = [scored(one, number, 0.5).model_copy(update={"prices": f"prices {number}"}) for number in (1, 2)]
    found = history_of(runs)
    assert len(trend(found, "cost_usd").breaks) == 1
    assert trend(found).breaks == trend(found, "tokens_per_question").breaks == ()


def test_a_made_step_is_found_from_eight_points_on_and_not_over_a_break(one: Run) -> None:
    dice = random.Random(1)
    values = [0.7 + dice.gauss(0, 0.01) for _ in range(5)] + [0.6 + dice.gauss(0, 0.01) for _ in range(4)]
    runs = [scored(one, number, value) for number, value in enumerate(values, start=1)]
    [step] = trend(history_of(runs)).steps
    assert (step.index, round(step.before, 1), round(step.after, 1)) == (5, 0.7, 0.6)
    other = make_track(limits=one.track.limits.model_copy(update={"ask_seconds": 5.0}))
    moved = [*runs[:5], *(run.model_copy(update={"track": other, "track_id": other.id}) for run in runs[5:])]
    found = trend(history_of(moved))
    assert (len(found.breaks), found.steps) == (1, ())


@pytest.mark.parametrize("value", [None, float("nan"), float("inf")])
def test_a_missing_value_is_a_gap_with_a_reason(one: Run, value: float | None) -> None:
    found = trend(history_of([scored(one, number, value if number == 4 else 0.5) for number in range(1, 12)]))
    assert [point.value for point in found.points].count(None) == 1
    assert found.points[3].reading.note == "no score"
    assert (found.steps, found.breaks, len(found.values)) == ((), (), 10)


def test_neighbours_are_tested_like_in_compare(tmp_path: Path) -> None:
    folders = [
        make_run(tmp_path, "acme", {"kept": kept, "changed": 20}, started=day(number))
        for number, kept in enumerate((45, 45, 10), start=1)
    ]
    by_id = {folder.run.run_id: folder for folder in folders}
    same, drop = neighbour_tests(trend(history(tmp_path, folders)), by_id)
    assert (same.difference, same.reason) == (None, "Both runs have the same grades.")
    assert drop.difference is not None
    assert drop.difference.difference == pytest.approx(-0.35)
    assert drop.difference.corrected < 0.01
    assert (drop.before.run_id, drop.after.run_id) == (folders[1].run.run_id, folders[2].run.run_id)
    assert neighbour_tests(trend(history(tmp_path, folders)), {})[1].reason is not None


def test_damaged_rows_are_a_reason_and_no_crash(tmp_path: Path) -> None:
    folders = [make_run(tmp_path, "acme", {"kept": kept}, started=day(kept)) for kept in (1, 2)]
    folders[0].file("grades.jsonl").unlink()
    [test] = neighbour_tests(trend(history(tmp_path, folders)), {folder.run.run_id: folder for folder in folders})
    assert test.difference is None
    assert "rows of this run are missing" in (test.reason or "")


def test_eight_points_have_steps_and_no_tests_of_neighbours(one: Run) -> None:
    found = trend(history_of([scored(one, number, 0.5) for number in range(1, 9)]))
    assert neighbour_tests(found, {}) == ()


def test_ranks_over_releases_have_the_range_and_break_where_the_track_changes(tmp_path: Path) -> None:
    def board(number: int, judge: str) -> list[RunFolder]:
        track = make_track(judge=judge)
        return [
            make_run(tmp_path, slug, {"kept": kept, "changed": kept}, started=day(number), track=track)
            for slug, kept in (("acme", 50 - 40 * (number % 2)), ("borealis", 25))
        ]

    folders, releases = [], []
    for number, judge in ((1, "rules@3"), (2, "rules@3"), (3, "rules@4")):
        folders += board(number, judge)
        release, _new = frozen(build_board(folders, Ledger(tmp_path)), tmp_path, f"2026.{number}", "0.1.0")
        releases.append(release)
    acme = history(tmp_path, folders).series[0]
    found = rank_trend(acme, releases)
    assert [(point.label, point.value, point.reading.high) for point in found.points] == [
        ("2026.1", 2.0, 2.0),
        ("2026.2", 1.0, 1.0),
        ("2026.3", 2.0, 2.0),
    ]
    [only] = found.breaks
    assert (only.index, only.changes[0].sentence) == (2, "Judge changed from rules@3 to rules@4.")


def test_no_runs_have_no_series() -> None:
    assert history_of([]) == History((), {})
