"""A board ranks what can be compared, shows what cannot with its reason, and leaves nothing out."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memeval.analysis.comparing import compare_runs
from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder
from memeval.leaderboard.board import Board, BoardRow, BoardTable, RankStatus, build_board
from memeval.leaderboard.marks import MarkName
from memeval.leaderboard.measured import read_measured
from memeval.leaderboard.regressions import check_metrics
from memeval.records.call import Phase
from memeval.records.comparison import Sign
from memeval.records.errors import BadInput
from memeval.records.grade import Grade
from memeval.records.ledger import GradeTrust, LedgerEvent
from memeval.records.run import Percentiles, SystemKind, Tokens, TokenSource
from memeval.records.settings import CheckSettings
from memeval.records.track import CategoryPlan
from memeval.statistics.ranks import RankRange
from tests.support.runs import edit_head, make_run, make_track, write_rows

CONTROL = SystemKind.CONTROL
EARLIER, LATER = "2026-11-01T10:00:00.000+00:00", "2026-11-05T10:00:00.000+00:00"


def board_of(*folders: RunFolder, ledger: Ledger | None = None) -> Board:
    return build_board([RunFolder(folder.path) for folder in folders], ledger or Ledger(Path("no-ledger")))


def only_table(board: Board) -> BoardTable:
    (table,) = board.tables
    return table


def row_of(board: Board, slug: str) -> BoardRow:
    (row,) = (row for row in only_table(board).rows if row.run.system.slug == slug)
    return row


def places(board: Board) -> dict[str, tuple[int, int] | None]:
    return {
        row.run.system.slug: None if row.rank is None else (row.rank.best, row.rank.worst)
        for table in board.tables
        for row in table.rows
    }


def test_a_full_run_of_a_system_is_ranked(tmp_path: Path) -> None:
    row = row_of(board_of(make_run(tmp_path, "acme", {"kept": 40, "changed": 30})), "acme")
    assert row.standing is RankStatus.RANKED
    assert row.rank == RankRange(1, 1)
    assert row.run.scores.composite.value == pytest.approx(0.7)


@pytest.mark.parametrize(("errors", "standing"), [(2, RankStatus.RANKED), (3, RankStatus.OVER_ERROR_GATE)])
def test_two_percent_of_errors_are_ranked_and_more_are_not(tmp_path: Path, errors: int, standing: RankStatus) -> None:
    row = row_of(board_of(make_run(tmp_path, "acme", {"kept": 40}, errors=errors)), "acme")
    assert row.error_rate == errors / 100
    assert row.standing is standing
    assert (row.rank is None) == (standing is not RankStatus.RANKED)


@pytest.mark.parametrize("items", [25, 75, 175, 350, 575, 1150])
def test_the_gate_stands_at_exactly_two_percent_of_any_number_of_items(tmp_path: Path, items: int) -> None:
    gate = 2 * items // 50
    for errors, standing in ((gate, RankStatus.RANKED), (gate + 1, RankStatus.OVER_ERROR_GATE)):
        run = make_run(tmp_path / str(errors), "acme", track=make_track(items), errors=errors)
        assert row_of(board_of(run), "acme").standing is standing


UNUSED = CategoryPlan(name="unused", weight=0.1, items=0, grader="judged@1")


@pytest.mark.parametrize(
    ("told", "standing"),
    [
        *(({"done": done}, RankStatus.PARTIAL) for done in (0, 1, 99)),
        ({"done": 50, "kind": CONTROL}, RankStatus.PARTIAL),
        ({"track": make_track(categories=(*make_track().categories, UNUSED))}, RankStatus.NO_COMPOSITE),
    ],
)
def test_a_run_without_a_composite_is_shown_and_not_ranked(
    tmp_path: Path, told: dict[str, Any], standing: RankStatus
) -> None:
    row = row_of(board_of(make_run(tmp_path, "acme", {"kept": 50}, **told)), "acme")
    assert (row.standing, row.rank, row.run.scores.composite.value) == (standing, None, None)


@pytest.mark.parametrize(
    ("source", "total", "ingested", "standing"),
    [
        ("measured", 0.0, 12, RankStatus.NOTHING_FOUND),
        ("measured", 0.0, 0, RankStatus.RANKED),
        ("measured", 5.0, 12, RankStatus.RANKED),
        ("self-reported", 0.0, 12, RankStatus.RANKED),
        ("none", None, 12, RankStatus.RANKED),
    ],
)
def test_a_system_that_ingests_and_finds_nothing_is_not_ranked(
    tmp_path: Path, source: str, total: float | None, ingested: int, standing: RankStatus
) -> None:
    folder = make_run(tmp_path, "acme", {"kept": 50})
    tokens = Tokens(source=TokenSource(source), per_question=total, total=total)
    times = Percentiles(calls=ingested, p50=1.0, p95=1.0, total=1.0)
    timing = folder.run.timing.model_copy(update={"phases": {Phase.INGEST: times}})
    folder = edit_head(folder, tokens=tokens.data(), timing=timing.data())
    assert row_of(board_of(folder), "acme").standing is standing
    assert (folder.run.ingested_in_vain is None) == (standing is RankStatus.RANKED)


def test_a_control_is_shown_and_not_ranked_whatever_it_scores(tmp_path: Path) -> None:
    best = make_run(tmp_path, "full-context", {"kept": 50, "changed": 50}, kind=CONTROL)
    failing = make_run(tmp_path, "always-error", kind=CONTROL, errors=100)
    board = board_of(best, failing, make_run(tmp_path, "acme", {"kept": 10}))
    assert places(board) == {"full-context": None, "acme": (1, 1), "always-error": None}
    assert row_of(board, "full-context").standing is row_of(board, "always-error").standing is RankStatus.CONTROL


@pytest.mark.parametrize(
    ("judge", "endpoint", "label", "standing"),
    [
        ("model@1", "https://judge.example/v1", None, RankStatus.UNLABELLED_JUDGE),
        ("model@1", "https://judge.example/v1", "Acme's own", RankStatus.RANKED),
        ("model@1", "https://judge.example/v1", "Plumbing & Sons", RankStatus.RANKED),
        ("openai:gpt-4o-2024-08-06@1", "https://api.openai.com/v1", None, RankStatus.RANKED),
        ("openai:claude-3-5-sonnet@1", "https://api.openai.com/v1", None, RankStatus.UNLABELLED_JUDGE),
        ("openai:claude-3-5-sonnet@1", "https://api.anthropic.com/v1", None, RankStatus.RANKED),
        ("openai:gpt-4o-2024-08-06@1", "https://api.openai.com.example/v1", None, RankStatus.UNLABELLED_JUDGE),
    ],
)
def test_a_judge_elsewhere_needs_a_label(
    tmp_path: Path, judge: str, endpoint: str, label: str | None, standing: RankStatus
) -> None:
    track = make_track(judge=judge, judge_endpoint=endpoint, judge_label=label)
    assert row_of(board_of(make_run(tmp_path, "acme", track=track)), "acme").standing is standing


@pytest.mark.parametrize("label", ["plumbing", "Plumbing", " PLUMBING\n"])
@pytest.mark.parametrize("endpoint", ["http://127.0.0.1:8000/v1", "https://api.openai.com/v1"])
def test_what_only_exercised_the_machinery_is_shown_and_never_ranked(tmp_path: Path, label: str, endpoint: str) -> None:
    track = make_track(judge="openai:gpt-4o-2024-08-06@1", judge_endpoint=endpoint, judge_label=label)
    best = {"kept": 50, "changed": 50}
    board = board_of(
        make_run(tmp_path, "acme", best, track=track), make_run(tmp_path, "no-memory", track=track, kind=CONTROL)
    )
    assert places(board) == {"acme": None, "no-memory": None}
    assert {row.standing for row in only_table(board).rows} == {RankStatus.PLUMBING}


@pytest.mark.parametrize("label", [None, "plumbing"])
@pytest.mark.parametrize(
    ("event", "standing"),
    [(LedgerEvent.INVALIDATED, RankStatus.INVALIDATED), (LedgerEvent.SUPERSEDED, RankStatus.SUPERSEDED)],
)
def test_a_run_that_no_longer_counts_leaves_the_table(
    tmp_path: Path, event: LedgerEvent, standing: RankStatus, label: str | None
) -> None:
    track = make_track(judge_label=label)
    older, newer = (
        make_run(tmp_path, "acme", {"kept": right}, track=track, started=started)
        for right, started in ((10, EARLIER), (50, LATER))
    )
    ledger = Ledger(tmp_path)
    ledger.append(event, newer, by="Ada", reason="it read the answers")
    board = board_of(older, newer, ledger=ledger)
    assert row_of(board, "acme").run == older.run
    assert [(row.run.run_id, row.standing) for row in board.runs] == [
        (newer.run.run_id, standing),
        (older.run.run_id, RankStatus.PLUMBING if label else RankStatus.RANKED),
    ]
    assert board.runs[0].rank is None
    assert [entry.reason for entry in board.runs[0].entries] == ["it read the answers"]


def test_a_track_whose_only_run_was_invalidated_keeps_its_empty_table(tmp_path: Path) -> None:
    run, ledger = make_run(tmp_path, "acme"), Ledger(tmp_path)
    ledger.append(LedgerEvent.INVALIDATED, run, by="Ada", reason="because")
    board = board_of(run, ledger=ledger)
    assert only_table(board).rows == ()
    assert [row.standing for row in board.runs] == [RankStatus.INVALIDATED]


def test_an_edit_of_its_head_does_not_bring_an_invalidated_run_back(tmp_path: Path) -> None:
    run, ledger = make_run(tmp_path, "acme"), Ledger(tmp_path)
    ledger.append(LedgerEvent.REPRODUCED, run, by="Ada", reason="equal")
    ledger.append(LedgerEvent.INVALIDATED, run, by="Ada", reason="because")
    (before,) = board_of(run, ledger=ledger).runs
    (after,) = board_of(edit_head(run, seeds={"edited": 1}), ledger=ledger).runs
    assert before.standing is after.standing is RankStatus.INVALIDATED
    assert (before.trust.grades, after.trust.grades) == (GradeTrust.RECOMPUTED, GradeTrust.CLAIMED)


@pytest.mark.parametrize("gone", ["grades", "responses contexts grades log"])
def test_a_run_whose_rows_are_elsewhere_is_shown_and_not_ranked(tmp_path: Path, gone: str) -> None:
    far, near = make_run(tmp_path, "far", {"kept": 50, "changed": 50}), make_run(tmp_path, "near", {"kept": 10})
    for name in gone.split():
        far.file(f"{name}.jsonl").unlink()
    board = board_of(far, near)
    assert places(board) == {"far": None, "near": (1, 1)}
    row = row_of(board, "far")
    assert row.standing is RankStatus.ROWS_ELSEWHERE
    assert row.standing.value == "rows in the archive"
    assert row.run.scores.composite.value == 1.0


def test_a_control_needs_no_rows(tmp_path: Path) -> None:
    run = make_run(tmp_path, "no-memory", kind=CONTROL)
    run.file("grades.jsonl").unlink()
    assert row_of(board_of(run), "no-memory").standing is RankStatus.CONTROL


def test_the_latest_run_stands_for_a_system_even_where_it_is_worse(tmp_path: Path) -> None:
    older = make_run(tmp_path, "acme", {"kept": 50})
    newer = make_run(tmp_path, "acme", {"kept": 1}, started=LATER)
    for folders in ((older, newer), (newer, older)):
        board = board_of(*folders)
        assert row_of(board, "acme").run == newer.run
        assert [row.run.run_id for row in board.runs] == [newer.run.run_id, older.run.run_id]
        assert board.of_system("acme") == board.runs


def test_a_partial_run_never_takes_the_place_of_a_full_one(tmp_path: Path) -> None:
    full = make_run(tmp_path, "acme", {"kept": 30})
    partial = make_run(tmp_path, "acme", {"kept": 50}, started=LATER, done=99)
    latest = make_run(tmp_path, "acme", {"kept": 50}, started="2026-11-06T10:00:00+00:00", done=98)
    assert row_of(board_of(full, partial, latest), "acme").run == full.run
    assert row_of(board_of(partial, latest), "acme").run == latest.run


def test_a_full_run_takes_the_place_of_an_earlier_partial_one(tmp_path: Path) -> None:
    partial = make_run(tmp_path, "acme", {"kept": 50}, done=99)
    full = make_run(tmp_path, "acme", {"kept": 30}, started=LATER)
    assert row_of(board_of(partial, full), "acme").run == full.run


def test_a_submission_that_bears_a_controls_name_neither_hides_it_nor_moves_the_floor(tmp_path: Path) -> None:
    control = make_run(tmp_path / "shipped", "no-memory", {"kept": 10}, kind=CONTROL)
    pretender = make_run(tmp_path, "no-memory", {"kept": 50, "changed": 50}, started=LATER)
    board = board_of(control, pretender)
    assert [(row.run.system.kind, row.rank, row.gap) for row in only_table(board).rows] == [
        (SystemKind.SUBMISSION, RankRange(1, 1), pytest.approx(0.9)),
        (CONTROL, None, 0.0),
    ]


def test_the_gap_is_over_the_best_control_that_knows_nothing(tmp_path: Path) -> None:
    board = board_of(
        make_run(tmp_path, "no-memory", {"kept": 5}, kind=CONTROL),
        make_run(tmp_path, "always-hedge", {"changed": 20}, kind=CONTROL),
        make_run(tmp_path, "full-context", {"kept": 45}, kind=CONTROL),
        make_run(tmp_path, "acme", {"kept": 40, "changed": 10}),
        make_run(tmp_path, "worse", {"kept": 10}),
    )
    gaps = {row.run.system.slug: row.gap for row in only_table(board).rows}
    assert gaps == {
        "no-memory": pytest.approx(-0.15),
        "always-hedge": 0.0,
        "full-context": pytest.approx(0.25),
        "acme": pytest.approx(0.3),
        "worse": pytest.approx(-0.1),
    }


def test_there_is_no_gap_without_a_floor_or_without_a_composite(tmp_path: Path) -> None:
    acme = make_run(tmp_path, "acme", {"kept": 40})
    partial_floor = make_run(tmp_path, "no-memory", {"kept": 5}, kind=CONTROL, done=60)
    assert row_of(board_of(acme, partial_floor), "acme").gap is None
    floor = make_run(tmp_path, "echo-question", {"kept": 5}, kind=CONTROL)
    partial = make_run(tmp_path, "late", {"kept": 5}, done=60)
    board = board_of(acme, floor, partial)
    assert row_of(board, "acme").gap == pytest.approx(0.35)
    assert row_of(board, "late").gap is None


def many(results: Path) -> list[RunFolder]:
    """Return runs of five systems in two groups that their items tell apart, and of a control."""
    right = {"first": 47, "second": 46, "third": 45, "fourth": 12, "fifth": 11}
    runs = [make_run(results, slug, {"kept": n, "changed": n}) for slug, n in right.items()]
    return [*runs, make_run(results, "no-memory", {"kept": 20, "changed": 20}, kind=CONTROL)]


def test_systems_share_the_ranks_that_their_items_cannot_tell_apart(tmp_path: Path) -> None:
    found = places(board_of(*many(tmp_path)))
    assert found == {
        **dict.fromkeys(("first", "second", "third"), (1, 3)),
        "no-memory": None,
        **dict.fromkeys(("fourth", "fifth"), (4, 5)),
    }
    assert [*found] == ["first", "second", "third", "no-memory", "fourth", "fifth"], "by composite, controls among them"


@pytest.mark.parametrize("seed", range(5))
def test_the_order_in_which_runs_are_found_changes_nothing(tmp_path: Path, seed: int) -> None:
    runs = many(tmp_path)
    shuffled = random.Random(seed).sample(runs, len(runs))
    assert shuffled != runs
    one, other = board_of(*runs), board_of(*shuffled)
    assert places(one) == places(other)
    assert [row.run for row in only_table(one).rows] == [row.run for row in only_table(other).rows]
    assert [row.run for row in one.runs] == [row.run for row in other.runs]


def test_pairs_meet_item_by_item_in_whatever_order_their_rows_lie(tmp_path: Path) -> None:
    straight = [make_run(tmp_path / "1", slug, {"kept": n}) for slug, n in (("acme", 30), ("zeta", 18))]
    mixed = [straight[0], make_run(tmp_path / "2", "zeta", {"kept": 18}, shuffled=True)]
    assert [g.item_id for g in mixed[1].grades()] != [g.item_id for g in straight[1].grades()]
    assert places(board_of(*straight)) == places(board_of(*mixed)) == {"acme": (1, 1), "zeta": (2, 2)}


def test_an_error_is_a_wrong_answer_when_runs_are_compared(tmp_path: Path) -> None:
    track = make_track(500)
    sound = make_run(tmp_path, "sound", {"kept": 250}, track=track)
    shaky = make_run(tmp_path, "shaky", {"kept": 250}, track=track, errors=20)
    assert row_of(board_of(sound, shaky), "shaky").error_rate == 0.02
    assert places(board_of(sound, shaky)) == {"sound": (1, 2), "shaky": (1, 2)}


def test_rows_without_a_composite_stand_last_and_equal_ones_by_name(tmp_path: Path) -> None:
    board = board_of(
        make_run(tmp_path, "aardvark", {"kept": 50, "changed": 49}, done=99),
        make_run(tmp_path, "zeta", {"kept": 10}),
        make_run(tmp_path, "acme", {"kept": 10}),
        make_run(tmp_path, "nothing-right"),
    )
    slugs = [row.run.system.slug for row in only_table(board).rows]
    assert slugs == ["acme", "zeta", "nothing-right", "aardvark"]


@pytest.mark.parametrize("apart", [0, 200])
def test_a_category_without_weight_tells_no_two_systems_apart(tmp_path: Path, apart: int) -> None:
    """Items that do not count must not add certainty: three of the six that do differ, so p is 2 / 2³."""
    plan = (
        CategoryPlan(name="kept", weight=1.0, items=6, grader="judged@1"),
        CategoryPlan(name="apart", weight=0.0, items=apart, grader="judged@1"),
    )
    track = make_track(categories=plan)
    runs = [make_run(tmp_path, slug, {"kept": right}, track=track) for slug, right in (("acme", 6), ("blue", 3))]
    assert places(board_of(*runs)) == {"acme": (1, 2), "blue": (1, 2)}
    (pair,) = compare_runs(runs).pairs
    assert pair.overall is not None and pair.overall.sign is Sign.EVEN
    assert pair.overall.p == pytest.approx(0.25, abs=0.01)


def test_ranks_are_given_only_within_a_track(tmp_path: Path) -> None:
    other = make_track(judge="rules@4")
    better = make_run(tmp_path, "acme", {"kept": 50, "changed": 50})
    worse = make_run(tmp_path, "zeta", {"kept": 1}, track=other, started=LATER)
    again = make_run(tmp_path, "acme", {"kept": 2}, track=other, started="2026-11-06T10:00:00+00:00")
    board = board_of(better, worse)
    assert places(board) == {"acme": (1, 1), "zeta": (1, 1)}
    assert {table.track.id for table in board.tables} == {make_track().id, other.id}
    both = board_of(better, worse, again)
    found = {t.track.judge: [(r.run.system.slug, r.run.run_id) for r in t.rows] for t in both.tables}
    assert found == {
        "rules@3": [("acme", better.run.run_id)],
        "rules@4": [("acme", again.run.run_id), ("zeta", worse.run.run_id)],
    }
    assert both.systems() == ("acme", "zeta")
    assert [row.run.run_id for row in both.of_system("acme")] == [again.run.run_id, better.run.run_id]


def test_the_tables_of_a_benchmark_start_with_systems_that_answer_themselves(tmp_path: Path) -> None:
    tracks = [
        make_track(benchmark="beta@1"),
        make_track(reader="extractive@2"),
        make_track(),
        make_track(benchmark="alpha@1", reader="extractive@2"),
    ]
    board = board_of(*(make_run(tmp_path, "acme", track=track) for track in tracks))
    assert [(table.track.benchmark, table.track.reader) for table in board.tables] == [
        ("alpha@1", "extractive@2"),
        ("beta@1", "native"),
        ("made-up@1", "native"),
        ("made-up@1", "extractive@2"),
    ]


def test_every_run_carries_the_rank_of_its_row(tmp_path: Path) -> None:
    board = board_of(*many(tmp_path))
    assert {row.run.run_id: row for row in board.runs} == {row.run.run_id: row for row in only_table(board).rows}


def test_two_runs_with_one_id_are_two_rows(tmp_path: Path) -> None:
    run = make_run(tmp_path, "acme", {"kept": 40})
    system = run.run.system.data() | {"slug": "twin"}
    twin = RunFolder(run.path.parents[1] / "twin" / run.path.name)
    twin.path.mkdir(parents=True)
    for path in run.path.iterdir():
        (twin.path / path.name).write_bytes(path.read_bytes())
    board = board_of(run, edit_head(twin, system=system))
    assert sorted(row.run.system.slug for row in board.runs) == ["acme", "twin"]
    assert places(board) == {"acme": (1, 1), "twin": None}, "the twin has the responses of acme"


def test_an_empty_results_folder_has_an_empty_board() -> None:
    assert board_of() == Board(tables=(), runs=(), ledger=())


def rewrite_grades(folder: RunFolder, **changes: Any) -> None:
    """Change the first grade of a run by hand."""
    first, *rest = folder.grades()
    write_rows(folder.file("grades.jsonl"), [first.model_copy(update=changes), *rest])


@pytest.mark.parametrize(
    "changes",
    [
        {"item_id": "kept-000b"},
        {"item_id": "kept-999"},
        {"cluster": "person-9"},
        {"category": "changed"},
        {"category": "unheard-of"},
    ],
)
def test_runs_that_were_graded_on_other_items_are_not_compared(tmp_path: Path, changes: dict[str, str]) -> None:
    one, other = make_run(tmp_path, "acme", {"kept": 40}), make_run(tmp_path, "zeta", {"kept": 10})
    rewrite_grades(other, **changes)
    with pytest.raises(BadInput, match="the graded items differ from those of the track or of") as refused:
        board_of(one, other)
    assert str(refused.value).startswith(f"{tmp_path / 'made-up'}")
    assert "Run memeval verify on the run" in str(refused.value)


def test_a_lone_run_that_lacks_a_grade_it_claims_is_not_ranked_on_the_rest(tmp_path: Path) -> None:
    run = make_run(tmp_path, "acme", {"kept": 40})
    write_rows(run.file("grades.jsonl"), list(run.grades())[1:])
    with pytest.raises(BadInput, match=r"grades\.jsonl\.gz: the graded items differ from those"):
        board_of(run)


def test_a_run_cannot_name_a_track_that_its_parts_do_not_make(tmp_path: Path) -> None:
    run = make_run(tmp_path, "acme", track=make_track(judge="easy@1"))
    real, wanted = run.run.track_id, make_track().id
    with pytest.raises(BadInput, match=f"track_id is {wanted}, but the track's parts give {real}"):
        board_of(edit_head(run, track_id=wanted))


def test_a_damaged_ledger_stops_the_board(tmp_path: Path) -> None:
    run = make_run(tmp_path, "acme")
    (tmp_path / "ledger.jsonl").write_text("{}\n")
    with pytest.raises(BadInput, match=r"ledger\.jsonl:1: LedgerEntry without a schema_version"):
        board_of(run, ledger=Ledger(tmp_path))


def test_a_row_cannot_be_given_a_rank_in_place(tmp_path: Path) -> None:
    row = row_of(board_of(make_run(tmp_path, "acme")), "acme")
    with pytest.raises(AttributeError, match="rank"):
        row.rank = RankRange(1, 1)  # type: ignore[misc]
    assert replace(row, rank=None).rank is None


def test_each_ranked_row_is_compared_with_the_best_simple_baseline(tmp_path: Path) -> None:
    board = board_of(
        make_run(tmp_path, "acme", {"kept": 50, "changed": 45}),
        make_run(tmp_path, "blue", {"kept": 20, "changed": 18}),
        make_run(tmp_path, "bm25", {"kept": 20, "changed": 20}, kind=CONTROL),
        make_run(tmp_path, "no-memory", {"kept": 3}, kind=CONTROL),
        make_run(tmp_path, "full-context", {"kept": 50, "changed": 50}, kind=CONTROL),
    )
    table = only_table(board)
    assert table.baseline is not None and table.baseline.system.slug == "bm25"
    acme, blue = row_of(board, "acme"), row_of(board, "blue")
    assert acme.against_baseline is not None and blue.against_baseline is not None
    assert acme.against_baseline.apart and acme.against_baseline.difference == pytest.approx(0.55)
    assert not blue.against_baseline.apart
    assert row_of(board, "bm25").against_baseline is None
    assert (acme.place, acme.ranked, acme.baseline) == (1, 2, "bm25")


def test_a_control_of_one_benchmark_is_shown_without_a_rank_and_nothing_is_compared_with_it(tmp_path: Path) -> None:
    board = board_of(
        make_run(tmp_path, "acme", {"kept": 50, "changed": 50}),
        make_run(tmp_path, "bm25", {"kept": 20, "changed": 20}, kind=CONTROL),
        make_run(tmp_path, "knows-the-answers", {"kept": 50, "changed": 50}, kind=CONTROL),
    )
    table = only_table(board)
    assert table.baseline is not None and table.baseline.system.slug == "bm25"
    assert row_of(board, "knows-the-answers").rank is None
    assert row_of(board, "acme").baseline == "bm25"
    assert MarkName.HARDLY_ANY_ERRORS in [mark.name for mark in row_of(board, "acme").marks]


def test_without_a_control_no_row_is_compared_with_a_baseline(tmp_path: Path) -> None:
    board = board_of(make_run(tmp_path, "acme", {"kept": 50}), make_run(tmp_path, "blue", {"kept": 20}))
    assert only_table(board).baseline is None
    assert all(row.against_baseline is None for row in only_table(board).rows)


def test_the_baseline_takes_no_rank_from_a_system(tmp_path: Path) -> None:
    board = board_of(
        make_run(tmp_path, "acme", {"kept": 30}), make_run(tmp_path, "bm25", {"kept": 50, "changed": 50}, kind=CONTROL)
    )
    assert places(board) == {"acme": (1, 1), "bm25": None}
    test = row_of(board, "acme").against_baseline
    assert test is not None and test.apart and test.difference < 0


def test_equal_scores_share_a_place_by_score(tmp_path: Path) -> None:
    runs = [make_run(tmp_path, slug, {"kept": kept}) for slug, kept in (("a", 30), ("b", 30), ("c", 20))]
    board = board_of(*runs)
    assert [row_of(board, slug).place for slug in "abc"] == [1, 1, 3]


def test_two_runs_have_the_same_p_value_on_the_board_in_a_comparison_and_in_the_check(tmp_path: Path) -> None:
    """One engine: the board tests a table, a comparison two runs, and the check one side of a run and its baseline."""
    shapes = {"a": {"kept": 40, "changed": 30}, "b": {"kept": 33, "changed": 28}, "c": {"kept": 20, "changed": 31}}
    runs = {slug: make_run(tmp_path, slug, right) for slug, right in shapes.items()}
    tests = only_table(board_of(*runs.values())).tests
    assert tests is not None and tests.names == ("composite", "kept", "changed")
    for one, two in (("a", "b"), ("c", "a")):
        (pair,) = compare_runs([runs[two], runs[one]]).pairs
        (reverse, _third) = compare_runs([runs[one], runs[two], runs[({*runs} - {one, two}).pop()]]).pairs
        assert pair.overall is not None and reverse.overall is not None
        checked = {
            metric.metric: metric
            for metric in check_metrics(read_measured(runs[one]), [read_measured(runs[two])], CheckSettings())
        }
        for name, difference, back in zip(
            tests.names, (pair.overall, *pair.categories), (reverse.overall, *reverse.categories), strict=True
        ):
            found = tests.pair(runs[one].path, runs[two].path, name)
            assert found.p == difference.p == back.p
            assert found.difference == pytest.approx(difference.difference)
            one_sided = checked[name].p
            assert one_sided is not None
            if found.difference < 0:
                assert found.p == 2 * one_sided


def test_a_run_is_not_compared_with_itself(tmp_path: Path) -> None:
    run = make_run(tmp_path, "acme", {"kept": 30})
    tests = only_table(board_of(run)).tests
    assert tests is not None
    with pytest.raises(ValueError, match="itself"):
        tests.pair(run.path, run.path)


def test_a_tie_against_intervals_that_do_not_overlap_has_its_reason(tmp_path: Path) -> None:
    def one_of_four(grade: Grade) -> Grade:
        return grade.model_copy(update={"cluster": f"person-{int(grade.item_id[-3:]) % 4}"})

    folders = [
        make_run(tmp_path, slug, {"kept": right, "changed": right}, regraded=one_of_four)
        for slug, right in (("acme", 50), ("blue", 5), ("cyan", 4))
    ]
    (table,) = build_board(folders, Ledger(tmp_path)).tables
    assert [row.rank for row in table.rows] == [RankRange(1, 3)] * 3
    assert [(tie.higher, tie.lower) for tie in table.tied_apart] == [("acme", "blue"), ("acme", "cyan")]
    assert table.tied_apart[0].reason == (
        "Their difference alone has p = 0.12. Corrected for all tests of the table, it has p = 0.12, and only p below "
        "0.05 separates two systems."
    )
