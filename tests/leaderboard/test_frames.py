"""Runs, categories and trends as data frames."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import memeval
from memeval.archive.ledger import Ledger
from memeval.archive.runs import sealed_runs
from memeval.leaderboard.board import build_board
from memeval.leaderboard.frame_columns import CATEGORIES, ITEMS, PANDAS, RUNS, TRENDS, names
from memeval.leaderboard.frame_index import FramesWarning
from memeval.leaderboard.frames import Frames
from memeval.records.errors import BadInput
from memeval.records.ledger import LedgerEvent, Runner
from tests.support.made_versions import REASON, make_history
from tests.support.runs import edit_head, make_run, make_track, write_rows

STORED = Path(__file__).parents[2] / "results"


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMEVAL_CACHE", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A folder with two runs of one system, the newer one made first, and a run of another system."""
    make_run(tmp_path, "acme", {"kept": 30, "changed": 20}, started="2026-11-03T10:00:00.000+00:00", version="1.1")
    make_run(tmp_path, "acme", {"kept": 20, "changed": 20}, started="2026-11-02T10:00:00.000+00:00")
    make_run(tmp_path, "other", {"kept": 1}, started="2026-11-01T12:00:00.000+02:00", errors=3)
    return tmp_path


def test_stored_scores_equal_the_boards() -> None:
    frames = Frames(STORED)
    board = build_board(sealed_runs(STORED)[::6], Ledger(STORED), compare_responses=False)
    runs = frames.runs.set_index("run_digest")
    assert len(runs) == len(sealed_runs(STORED)) > len(board.runs) > 9
    for row in board.runs:
        frame: Any = runs.loc[row.folder.digest]
        scores = row.run.scores
        assert _known(frame.composite) == scores.composite.value
        assert _known(frame.composite_low) == (scores.composite.interval and scores.composite.interval.low)
        assert frame.error_rate == row.error_rate
        assert (frame.answer_trust, frame.grade_trust) == (row.trust.answers.value, row.trust.grades.value)
        assert frame.accepted == row.accepted
        mine = frames.categories[frames.categories.run_id == row.run.run_id]
        assert [(each.category, _known(each.score), each.n) for each in mine.itertuples()] == [
            (each.name, each.tally.accuracy, each.tally.planned) for each in scores.categories
        ]


def test_runs_are_oldest_first_in_utc(results: Path) -> None:
    runs = Frames(results).runs
    assert runs.system.tolist() == ["other", "acme", "acme"]
    assert runs.started.tolist() == [pd.Timestamp(f"2026-11-0{day} 10:00", tz="UTC") for day in (1, 2, 3)]
    assert runs.errors.tolist() == [3, 0, 0]
    assert runs.path[0] == f"made-up/other/{runs.run_id[0]}"


def test_unknown_values_are_missing_and_never_zero(results: Path) -> None:
    runs = Frames(results).runs
    assert runs.prompt_tokens.isna().all()
    assert runs.configuration.isna().all() and not runs.mock.any()


def test_trends_number_the_versions_of_a_system(results: Path) -> None:
    trends = Frames(results).trends
    composite = trends[(trends.system == "acme") & (trends.measure == "composite")]
    assert composite.point.tolist() == [1, 2]
    assert composite.version.tolist() == ["1.0", "1.1"]
    assert composite.value.tolist() == [0.4, 0.5]
    kept = trends[(trends.system == "acme") & (trends.measure == "category_kept")]
    assert kept.value.tolist() == [0.4, 0.6]
    assert (kept.low < kept.value).all() and (kept.value < kept.high).all()


def test_a_version_that_did_not_run_has_rows_without_a_value(tmp_path: Path) -> None:
    make_history(tmp_path, "acme")
    trends = Frames(tmp_path).trends
    composite = trends[trends.measure == "composite"]
    assert composite.version.tolist() == ["0.9.0", "0.10.0", "1.0.0", "1.1.0"]
    assert composite.value.isna().tolist() == [True, False, False, False]
    assert composite.note.tolist()[0] == REASON and composite.run_id.isna().tolist()[0]
    assert composite.released.tolist() == ["2024-03-01", "2024-07-01", "2025-03-01", "2025-08-15"]
    ratio = trends[trends.measure == "search_ratio"]
    assert ratio.unit.unique().tolist() == ["times"] and ratio.value.tolist()[1] == pytest.approx(4.08, abs=0.01)


def test_runs_of_two_tracks_are_two_series(results: Path) -> None:
    make_run(results, "acme", {"kept": 5}, track=make_track(10), started="2026-11-04T10:00:00.000+00:00")
    trends = Frames(results).trends
    composite = trends[(trends.system == "acme") & (trends.measure == "composite")]
    assert sorted(composite.point.tolist()) == [1, 1, 2]


def test_a_control_and_a_system_of_the_same_name_are_two_series(tmp_path: Path) -> None:
    from memeval.records.run import SystemKind

    make_run(tmp_path, "no-memory")
    make_run(tmp_path / "copy", "no-memory", kind=SystemKind.CONTROL, started="2026-11-02T10:00:00.000+00:00")
    next((tmp_path / "copy").glob("*/*/*")).rename(tmp_path / "made-up" / "no-memory" / "second")
    trends = Frames(tmp_path).trends
    assert set(trends.point) == {1}
    assert set(trends.system_kind) == {"control", "submission"}


def test_the_ledger_decides_state_and_acceptance(results: Path) -> None:
    first, second = sealed_runs(results)[:2]
    ledger = Ledger(results)
    ledger.append(LedgerEvent.ACCEPTED, first, by="me", reason="checked", runner=Runner.MAINTAINER)
    ledger.append(LedgerEvent.INVALIDATED, second, by="me", reason="wrong data")
    runs = Frames(results).runs.set_index("path")
    one, two = (runs.loc[folder.path.relative_to(results).as_posix()] for folder in (first, second))
    assert (one.state, one.accepted, one.answer_trust) == ("current", True, "maintainer-run")
    assert (two.state, two.accepted) == ("invalidated", False)


def test_the_mean_of_a_complete_runs_items_is_its_accuracy(results: Path) -> None:
    frames = Frames(results)
    mean = frames.items.groupby("run_id").score.mean()
    assert mean.to_dict() == frames.runs.set_index("run_id").accuracy.to_dict()


def test_items_have_scores_errors_tokens_latency_and_slices(results: Path) -> None:
    items = Frames(results).items
    assert len(items) == 300
    last = items[items.system == "other"].iloc[-1]
    assert (last.item_id, last.state, last.score, last.error) == ("changed-049", "timeout", 0.0, True)
    assert pd.isna(last.ask_seconds)
    first = items.iloc[0]
    assert (first.item_id, first.category, first.score, first.error) == ("kept-000", "kept", 1.0, False)
    assert (first.ask_seconds, first.context_tokens, first["slice.difficulty"]) == (0.25, 7, "plain")


def test_a_number_that_no_column_can_hold_is_refused(tmp_path: Path) -> None:
    folder = make_run(tmp_path, "acme", track=make_track(1))
    rows = [row.model_copy(update={"context_tokens": 2**80}) for row in folder.responses()]
    digest = write_rows(folder.file("responses.jsonl"), rows)
    files = {name: each.data() for name, each in folder.run.files.items()}
    edit_head(folder, files=files | {"responses.jsonl": digest.data()})
    with pytest.raises(BadInput, match=r"context_tokens is 1\.21e\+24, which is too large"):
        Frames(tmp_path).items  # noqa: B018


def test_runs_categories_and_trends_need_no_rows(results: Path) -> None:
    for path in results.rglob("*.jsonl.gz"):
        path.unlink()
    frames = Frames(results)
    assert len(frames.runs) == 3
    assert len(frames.categories) == 6
    assert not frames.trends.empty
    with pytest.warns(FramesWarning) as said:
        assert frames.items.empty
    assert ["its rows are not here" in str(each.message) for each in said] == [False, True, True, True]
    assert "no archive is configured" in str(said[0].message)


def test_a_run_that_is_stored_twice_is_there_once(results: Path) -> None:
    folder = sealed_runs(results)[0]
    shutil.copytree(folder.path, folder.path.with_name("copy"))
    assert len(Frames(results).runs) == 3


def test_without_runs_every_column_is_there(tmp_path: Path) -> None:
    frames = Frames(tmp_path)
    for frame, columns in (
        (frames.runs, RUNS),
        (frames.categories, CATEGORIES),
        (frames.trends, TRENDS),
        (frames.items, ITEMS),
    ):
        assert list(frame.columns) == names(columns)
        assert frame.empty
        assert [str(each) for each in frame.dtypes] == [PANDAS[column.kind] for column in columns]


def test_a_folder_without_run_json_is_no_run(results: Path) -> None:
    sealed_runs(results)[0].path.joinpath("run.json").unlink()
    assert len(Frames(results).runs) == 2


def test_the_benchmark_of_a_run_may_be_unknown_to_memeval(results: Path) -> None:
    assert set(Frames(results).runs.benchmark) == {"made-up@1"}


@pytest.mark.parametrize("started", ["yesterday", "2026-13-01", ""])
def test_a_time_that_is_none_is_refused_with_its_file(results: Path, started: str) -> None:
    folder = sealed_runs(results)[0]
    timing = folder.run.timing.data() | {"started": started}
    edit_head(folder, timing=timing)
    with pytest.raises(BadInput, match=r"run\.json: .* is not a time\."):
        Frames(results).runs  # noqa: B018


def test_not_a_number_in_run_json_is_refused(results: Path) -> None:
    folder = sealed_runs(results)[0]
    edit_head(folder, cost={"usd": float("nan"), "reason": None})
    with pytest.raises(BadInput, match=r"run\.json"):
        Frames(results).runs  # noqa: B018


def test_a_run_of_another_track_than_it_says_is_refused(results: Path) -> None:
    edit_head(sealed_runs(results)[0], track_id="0123456789ab")
    with pytest.raises(BadInput, match="track_id is 0123456789ab"):
        Frames(results).runs  # noqa: B018


@pytest.mark.parametrize("wrong", [None, 5, b"results", ["results"]])
def test_something_else_than_a_folder_is_refused(wrong: object) -> None:
    with pytest.raises(BadInput, match="a folder belongs here"):
        memeval.frames(wrong)


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no such folder"):
        memeval.frames(tmp_path / "absent")


def test_importing_frames_does_not_load_pandas() -> None:
    script = "import sys, memeval.leaderboard.frames; assert not {'pandas', 'pyarrow'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)


def _known(value: Any) -> Any:
    return None if pd.isna(value) else value
