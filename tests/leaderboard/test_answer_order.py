"""The order of systems by answers and by retrieval: which tables are compared, over which items, with which weights."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memeval.archive.ledger import Ledger
from memeval.archive.runs import sealed_runs
from memeval.leaderboard.answer_order import ComparedOrders, compared_orders
from memeval.leaderboard.board import build_board
from memeval.records.benchmark import ProtocolInfo
from memeval.records.grade import Grade
from memeval.records.run import SystemKind
from tests.site.factory import ITEMS, FakeBenchmark, Made, make_run

JUDGE = ProtocolInfo(name="judge", title="Judge", summary="A judge.", headline="accuracy")
RETRIEVAL = ProtocolInfo(name="retrieval", title="Retrieval", summary="Evidence.", headline="recall", reader="none")
SYSTEMS = ("one", "two", "three", "four", "five")


def graded(right: int) -> Callable[[int, Grade], Grade]:
    """Return grades of which the first ``right`` of each category are right."""
    return lambda number, grade: grade.model_copy(update={"verdict": number % ITEMS < right})


def compared(
    folder: Path, answers: dict[str, int], retrieval: dict[str, int], controls: tuple[str, ...] = ()
) -> ComparedOrders | None:
    """Return the comparison of made systems, each with its right items of thirty in both categories."""
    for protocol, reader, right in ((JUDGE, "extractive@2", answers), (RETRIEVAL, "none@1", retrieval)):
        for slug, count in right.items():
            kind = SystemKind.CONTROL if slug in controls else SystemKind.SUBMISSION
            benchmark = FakeBenchmark(told={"protocols": (protocol,)})
            make_run(folder, Made(slug, slug, reader=reader, kind=kind, grades=graded(count)), benchmark)
    board = build_board(sealed_runs(folder), Ledger(folder), compare_responses=False)
    return next(compared_orders(board.tables), None)


def test_equal_orders_agree_and_opposite_ones_do_not(tmp_path: Path) -> None:
    up, down = dict(zip(SYSTEMS, (2, 8, 14, 20, 26), strict=True)), dict(zip(SYSTEMS, (26, 20, 14, 8, 2), strict=True))
    for folder, other, tau in (("equal", up, 1.0), ("opposite", down, -1.0)):
        found = compared(tmp_path / folder, up, other)
        assert found is not None and found.agreement is not None
        assert found.agreement.tau == pytest.approx(tau)
        assert found.items == 2 * ITEMS
        assert [each.row.run.system.slug for each in found.systems] == list(reversed(SYSTEMS))
        assert found.systems[0].answers == pytest.approx(26 / ITEMS)


def test_a_system_without_any_evidence_and_one_that_has_one_table_alone_are_left_out(tmp_path: Path) -> None:
    answers = dict(zip((*SYSTEMS, "silent", "alone"), (2, 8, 14, 20, 26, 9, 9), strict=True))
    found = compared(tmp_path, answers, {slug: 0 if slug == "silent" else 5 for slug in answers if slug != "alone"})
    assert found is not None and {each.row.run.system.slug for each in found.systems} == set(SYSTEMS)
    assert found.agreement is None  # all find the same


def test_controls_that_know_the_benchmark_are_left_out(tmp_path: Path) -> None:
    right = dict(zip((*SYSTEMS, "bm25", "solver"), (2, 8, 14, 20, 26, 9, 9), strict=True))
    found = compared(tmp_path, right, right, ("bm25", "solver"))
    assert found is not None and {each.row.run.system.slug for each in found.systems} == {*SYSTEMS, "bm25"}


def test_few_systems_are_no_order(tmp_path: Path) -> None:
    right = dict(zip(SYSTEMS[:3], (2, 8, 14), strict=True))
    assert compared(tmp_path, right, right) is None
