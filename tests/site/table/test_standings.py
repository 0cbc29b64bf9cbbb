"""What pages say about ranks, ties and the best simple baseline, and the warnings beside the names of systems."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder
from memeval.leaderboard.board import BoardTable, build_board
from memeval.records.run import SystemKind
from memeval.records.track import Track
from memeval.site.table.flags import marks
from memeval.site.table.standings import BASELINE, RANK, rank_text, reader_ceiling, ties, verdict
from memeval.statistics.flips import PValues
from memeval.statistics.ranks import RankRange
from tests.site.factory import Made
from tests.site.reading import site_of
from tests.support.runs import make_run, make_track


def table_of(*folders: RunFolder) -> BoardTable:
    (table,) = build_board([RunFolder(folder.path) for folder in folders], Ledger(Path("no-ledger"))).tables
    return table


@pytest.fixture
def bm25(tmp_path: Path) -> RunFolder:
    return make_run(tmp_path, "bm25", {"kept": 20}, kind=SystemKind.CONTROL)


def said(table: BoardTable) -> str:
    found = verdict(table)
    assert found is not None
    return found.striptags()


def named(table: BoardTable, name: str) -> BoardTable:
    """Return a table whose first system has another name."""
    first, *others = table.rows
    system = first.run.system.model_copy(update={"name": name})
    return replace(table, rows=(replace(first, run=first.run.model_copy(update={"system": system})), *others))


def test_one_entry_has_no_rank_to_win(tmp_path: Path, bm25: RunFolder) -> None:
    table = table_of(make_run(tmp_path, "acme", {"kept": 45}), bm25)
    assert rank_text(table.rows[0]) == "only entry"
    assert said(table) == (
        "Acme is the only ranked system. It is significantly better than the best simple baseline, Bm25."
    )


def test_a_leader_and_a_loser_to_the_baseline_are_named(tmp_path: Path) -> None:
    table = table_of(
        make_run(tmp_path, "acme", {"kept": 50, "changed": 45}),
        make_run(tmp_path, "blue", {"kept": 5}),
        make_run(tmp_path, "bm25", {"kept": 40}, kind=SystemKind.CONTROL),
    )
    assert said(table) == (
        "Acme scores significantly more than all others. 1 of 2 is significantly better than the best simple baseline, "
        "Bm25."
    )
    notes = {row.run.system.slug: BASELINE.read(row).note for row in table.rows}
    assert notes == {"acme": "better than BM25", "blue": "worse than BM25", "bm25": None}


def test_a_leader_that_does_not_beat_everyone_is_not_said_to(tmp_path: Path) -> None:
    table = table_of(*(make_run(tmp_path, slug, {"kept": 30}) for slug in "abc"))
    ranks = (RankRange(1, 2), RankRange(2, 3), RankRange(2, 3))
    rows = tuple(replace(row, rank=rank) for row, rank in zip(table.rows, ranks, strict=True))
    assert said(replace(table, rows=rows)).startswith("A leads, but not significantly over every other system.")


def test_tied_systems_are_said_to_be_tied_and_keep_their_place_by_score(tmp_path: Path) -> None:
    table = table_of(*(make_run(tmp_path, slug, {"kept": 30 + number}) for number, slug in enumerate("abc")))
    assert said(table) == (
        "All 3 systems share first place: their differences may be chance. No simple baseline ran here."
    )
    assert [(RANK.read(row).text, RANK.read(row).note) for row in table.rows] == [
        ("1–3", "no. 1 by score"),
        ("1–3", "no. 2 by score"),
        ("1–3", "no. 3 by score"),
    ]
    assert BASELINE.read(table.rows[0]).note == "no such baseline"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("Words and vectors", "Words and vectors, and B share first place among 3:"),
        ("Haystack, BM25 retriever", "Haystack, BM25 retriever; and B share first place"),
    ],
)
def test_a_name_with_and_is_set_off_by_a_comma_and_one_with_commas_by_a_semicolon(
    tmp_path: Path, name: str, sentence: str
) -> None:
    table = table_of(*(make_run(tmp_path, slug, {"kept": kept}) for slug, kept in (("a", 31), ("b", 30), ("c", 0))))
    assert said(named(table, name)).startswith(sentence)


def test_two_systems_are_called_both_or_neither(tmp_path: Path, bm25: RunFolder) -> None:
    table = table_of(make_run(tmp_path, "acme", {"kept": 21}), make_run(tmp_path, "blue", {"kept": 20}), bm25)
    assert said(table).startswith(
        "Both systems share first place: their difference may be chance. Neither is significantly"
    )
    better = table_of(make_run(tmp_path, "rust", {"kept": 50}), make_run(tmp_path, "teal", {"kept": 50}), bm25)
    assert " Both are significantly better than the best simple baseline, Bm25." in said(better)


def test_a_table_without_ranked_runs_has_no_verdict(bm25: RunFolder) -> None:
    assert verdict(table_of(bm25)) is None


def test_of_many_leaders_three_are_named_and_the_others_counted(tmp_path: Path) -> None:
    runs = [make_run(tmp_path, slug, {"kept": 50}) for slug in "abcdef"]
    table = table_of(*runs, make_run(tmp_path, "last", {"kept": 1}))
    names = [row.run.system.name for row in table.rows[:3]]
    assert said(table).startswith(f"{', '.join(names)} and 3 more share first place among 7: ")


def test_a_name_in_a_verdict_is_isolated_and_escaped(tmp_path: Path) -> None:
    table = table_of(make_run(tmp_path, "acme", {"kept": 45}))
    found = verdict(named(table, "<b>\u05d6\u05d9"))
    assert found is not None and found.startswith("<bdi>&lt;b&gt;\u05d6\u05d9</bdi> is the only ranked system.")


def oracle(results: Path, correct: int, track: Track, **told: Any) -> RunFolder:
    return make_run(results, "oracle", {"kept": correct}, track=track, kind=SystemKind.CONTROL, **told)


@pytest.mark.parametrize("reader", ["extractive@2", "openai:gpt-4o-2024-08-06"])
def test_the_reader_of_a_table_has_a_ceiling_that_the_evidence_alone_shows(tmp_path: Path, reader: str) -> None:
    track = make_track(reader=reader)
    table = table_of(make_run(tmp_path, "acme", {"kept": 45}, track=track), oracle(tmp_path, 40, track))
    found = reader_ceiling(table)
    assert found is not None and found.striptags() == (
        "With only the evidence, the score here is 40.0 % (control Oracle). "
        "What is missing to 100 % is not lost by a memory."
    )


def test_no_ceiling_is_invented(tmp_path: Path) -> None:
    track = make_track(reader="extractive@2")
    acme = make_run(tmp_path, "acme", {"kept": 45}, track=track)
    assert reader_ceiling(table_of(acme, make_run(tmp_path, "bm25", track=track, kind=SystemKind.CONTROL))) is None
    named_like_it = make_run(tmp_path, "oracle", {"kept": 50}, track=track)
    assert reader_ceiling(table_of(acme, named_like_it)) is None, "anyone can use the slug of a control"
    partial = oracle(tmp_path / "partial", 40, track, done=60)
    assert reader_ceiling(table_of(acme, partial)) is None
    for reader in ("native", "none@1"):
        own = make_track(reader=reader)
        assert reader_ceiling(table_of(oracle(tmp_path / reader, 40, own))) is None


def test_a_tie_against_intervals_that_do_not_overlap_has_its_reason(tmp_path: Path) -> None:
    table = table_of(make_run(tmp_path, "acme", {"kept": 48}), make_run(tmp_path, "blue", {"kept": 5}))
    assert table.tests is not None and ties(table) == [], "a test separates them"
    tested = table.tests.tested
    weak = PValues(np.full_like(tested.p, 0.01), np.full_like(tested.p, 0.2))
    assert ties(replace(table, tests=replace(table.tests, tested=weak))) == [
        "Acme and Blue are tied although their intervals do not overlap. Their difference alone has p = 0.01. "
        "Corrected for all tests of the table, it has p = 0.2, and only p below 0.05 separates two systems."
    ]


@pytest.mark.parametrize(("bm25", "found"), [(0.9, ["below file search"]), (0.2, [])])
def test_no_warning_repeats_the_test_against_the_best_baseline(tmp_path: Path, bm25: float, found: list[str]) -> None:
    made = (
        Made("acme", "Acme", 0.3),
        Made("bm25", "BM25", bm25, SystemKind.CONTROL),
        Made("file-grep", "Text files and grep", 0.7, SystemKind.CONTROL),
    )
    site = site_of(tmp_path, *made)
    (table,) = site.board.tables
    row = next(each for each in table.rows if each.run.system.slug == "acme")
    assert [mark.name for mark in marks(site, table, row)] == found
