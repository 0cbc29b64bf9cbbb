"""Two looks at one system are paired where nothing but the one thing differs."""

from pathlib import Path
from typing import Any

import pytest

from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder
from memeval.leaderboard.board import Board, build_board
from memeval.leaderboard.pairing import apart_and_shared, old_and_fresh
from memeval.records.base import digest_of
from memeval.records.track import CategoryPlan, Track
from tests.support.runs import make_run, make_track

KNOWN, FRESH = "made-up@1", "made-up-fresh@1"


def board_of(*folders: RunFolder) -> Board:
    return build_board([RunFolder(folder.path) for folder in folders], Ledger(Path("no-ledger")))


def known(**parts: Any) -> Track:
    return make_track(**{"benchmark": KNOWN, "parameters": {"seed": 42, "size": 100}} | parts)


def fresh(**parts: Any) -> Track:
    usual = {"benchmark": FRESH, "parameters": {"seed": 7, "size": 100}, "data_digest": digest_of("other made-up data")}
    return make_track(**usual | parts)


def test_each_system_is_held_against_itself_on_the_fresh_seed_best_first(tmp_path: Path) -> None:
    board = board_of(
        make_run(tmp_path / "1", "tuned", {"kept": 50, "changed": 50}, track=known()),
        make_run(tmp_path / "2", "tuned", {"kept": 30}, track=fresh()),
        make_run(tmp_path / "3", "honest", {"kept": 40}, track=known()),
        make_run(tmp_path / "4", "honest", {"kept": 41}, track=fresh(), version="1.1"),
        make_run(tmp_path / "5", "only-old", {"kept": 40}, track=known()),
        make_run(tmp_path / "6", "only-new", {"kept": 40}, track=fresh()),
    )
    pairs = old_and_fresh(board, KNOWN, FRESH)
    assert [(pair.system, pair.same_version) for pair in pairs] == [("honest", False), ("tuned", True)]
    assert [pair.difference for pair in pairs] == pytest.approx([0.01, -0.7])
    assert [pair.first_value for pair in pairs] == pytest.approx([0.4, 1.0])


@pytest.mark.parametrize(
    "parts",
    [
        {"parameters": {"seed": 7, "size": 200}},
        {"parameters": {"seed": 7}},
        {"reader": "extractive@2"},
        {"protocol": "shared"},
        {"tier": "small"},
        {"judge": "openai:made-up"},
    ],
    ids=lambda parts: next(iter(parts)),
)
def test_runs_that_differ_in_more_than_the_seed_are_not_paired(tmp_path: Path, parts: dict[str, Any]) -> None:
    first = make_run(tmp_path / "1", "acme", {"kept": 40}, track=known())
    assert len(old_and_fresh(board_of(first, make_run(tmp_path / "2", "acme", track=fresh())), KNOWN, FRESH)) == 1
    other = make_run(tmp_path / "3", "acme", {"kept": 40}, track=fresh(**parts))
    assert old_and_fresh(board_of(first, other), KNOWN, FRESH) == ()


def test_a_run_without_a_composite_is_not_paired(tmp_path: Path) -> None:
    whole = make_run(tmp_path / "1", "acme", {"kept": 40}, track=known())
    partial = make_run(tmp_path / "2", "acme", {"kept": 40}, track=fresh(), done=20)
    assert old_and_fresh(board_of(whole, partial), KNOWN, FRESH) == ()


def test_memories_apart_are_scored_over_what_the_shared_one_is_asked(tmp_path: Path) -> None:
    """By hand: apart, kept 40/50 and changed 10/50, and the third category is not asked of the shared memory."""

    def lines(*weights: tuple[str, float]) -> tuple[CategoryPlan, ...]:
        return tuple(CategoryPlan(name=name, weight=w, items=50, grader="judged@1") for name, w in weights)

    apart = known(protocol="retrieval", categories=lines(("kept", 0.6), ("changed", 0.2), ("saved", 0.2)))
    shared = known(protocol="shared", categories=lines(("kept", 0.75), ("changed", 0.25)), data_digest=digest_of("x"))
    board = board_of(
        make_run(tmp_path / "1", "acme", {"kept": 40, "changed": 10, "saved": 50}, track=apart),
        make_run(tmp_path / "2", "acme", {"kept": 20, "changed": 10}, track=shared),
    )
    (pair,) = apart_and_shared(board, KNOWN)
    assert pair.first_value == pytest.approx(0.75 * 0.8 + 0.25 * 0.2)
    assert pair.second_value == pytest.approx(0.75 * 0.4 + 0.25 * 0.2)
    assert pair.difference == pytest.approx(-0.3)
    assert apart_and_shared(board, "beliefs@2") == ()
