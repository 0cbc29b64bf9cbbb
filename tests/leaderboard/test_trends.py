"""Series of runs, and the trends of their measures."""

import random
from pathlib import Path
from typing import Any

import pytest

from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder, sealed_runs
from memeval.leaderboard.board import build_board
from memeval.leaderboard.releases import frozen
from memeval.leaderboard.series import History, LeftOut, history_of
from memeval.leaderboard.trend_measures import COMPOSITE, named_measure, run_measures
from memeval.leaderboard.trends import Trend, neighbour_tests, rank_trend, trend_of
from memeval.records.base import digest_of
from memeval.records.errors import BadInput
from memeval.records.ledger import LedgerEvent
from memeval.records.run import Isolation, Run, SystemKind, TokenSource, View
from tests.support.runs import edit_head, make_run, make_track

ROOT = Path(__file__).parents[2]


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


def test_every_series_of_the_stored_runs_keeps_its_track_and_its_sessions() -> None:
    found = history_of([folder.run for folder in sealed_runs(ROOT / "results")], Ledger(ROOT / "results").entries())
    assert len(found.series) > 100
    for series in found.series:
        settings = {(run.track_id, run.system.view, run.track.tier, run.track.judge) for run in series.runs}
        assert len(settings) == 1, series.system


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
@pytest.mark.parametrize("days", [(1, 2, 3, 4), (1, 3, 2, 4)], ids=["one after the other", "in turns"])
def test_a_series_keeps_its_track(tmp_path: Path, other: dict[str, Any], days: tuple[int, ...]) -> None:
    tracks = (make_track(), make_track(), make_track(**other), make_track(**other))
    folders = [
        make_run(tmp_path, "acme", started=day(number), track=track) for number, track in zip(days, tracks, strict=True)
    ]
    found = history(tmp_path, folders).series
    assert [[run.track_id for run in series.runs] for series in found] == [[tracks[0].id] * 2, [tracks[2].id] * 2]
    assert len({series.group for series in found}) == 2, "they have a chart each"


def test_a_control_that_receives_other_sessions_has_another_series(one: Run) -> None:
    system = one.system.model_copy(update={"view": View.EVIDENCE})
    found = history_of([one, one.model_copy(update={"run_id": "20260102T100000Z-00000000", "system": system})]).series
    assert len({series.group for series in found}) == 2


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
    assert [[run.run_id in one.superseded for run in one.runs] for one in found.series] == [[True], [False]]
    assert [point.is_superseded for point in trend(found).points] == [True]
    assert found.left_out == {}


def test_prices_machines_and_token_counters_break_only_what_depends_on_them(one: Run) -> None:
    first = scored(one, 1, 0.5).model_copy(update={"prices": "prices 1"})
    counted = one.tokens.model_copy(update={"source": TokenSource.SELF_REPORTED})
    for changed, measures, sentence in (
        ({"prices": "prices 2"}, ["cost_usd"], "Price list changed from prices 1 to prices 2."),
        ({"prices": None}, [], ""),
        ({"tokens": counted}, ["tokens_per_question"], "Token counts changed from measured to self-reported."),
        (
            {"isolation": Isolation.SANDBOXED},
            ["ask_p50_seconds", "ask_p95_seconds"],
            "Isolation changed from not sandboxed to sandboxed.",
        ),
    ):
        found = history_of([first, scored(one, 2, 0.5).model_copy(update={"prices": "prices 1", **changed})])
        breaks = {each.name: trend(found, each.name).breaks for each in run_measures(found.series[0].runs)}
        assert [name for name, there in breaks.items() if there] == measures
        assert {text for there in breaks.values() for each in there for text in each.changes} == {sentence} - {""}


def test_a_made_step_is_found_from_eight_points_on_and_not_over_a_break(one: Run) -> None:
    dice = random.Random(1)
    values = [0.7 + dice.gauss(0, 0.01) for _ in range(5)] + [0.6 + dice.gauss(0, 0.01) for _ in range(4)]
    runs = [scored(one, number, value) for number, value in enumerate(values, start=1)]
    [step] = trend(history_of(runs)).steps
    assert (step.index, round(step.before, 1), round(step.after, 1)) == (5, 0.7, 0.6)
    timing = one.timing.model_copy(update={"concurrency": 8})
    times = [run.model_copy(update={"timing": timing}) if place > 4 else run for place, run in enumerate(runs)]
    started = [
        run.model_copy(update={"timing": run.timing.model_copy(update={"started": day(number)})})
        for number, run in enumerate(times, start=1)
    ]
    assert (len(trend(history_of(started), "ask_p50_seconds").breaks), trend(history_of(started)).breaks) == (1, ())


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
    assert drop.difference is not None and drop.difference.difference == pytest.approx(-0.35)
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


def test_ranks_over_releases_have_the_range(tmp_path: Path) -> None:
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
    ours, later = (one for one in history(tmp_path, folders).series if one.system == "acme")
    assert [
        [(point.label, point.value, point.reading.high) for point in rank_trend(one, releases).points]
        for one in (ours, later)
    ] == [[("2026.1", 2.0, 2.0), ("2026.2", 1.0, 1.0), ("2026.3", 1.0, 1.0)], [("2026.3", 2.0, 2.0)]]


def test_no_runs_have_no_series() -> None:
    assert history_of([]) == History((), {})
