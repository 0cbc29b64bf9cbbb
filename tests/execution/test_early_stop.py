"""When a run of a broken system stops."""

from collections.abc import Iterable

import pytest

from memeval.execution.executor import FIRST_ITEMS, EarlyStop, StoppedEarly, shared_error
from memeval.execution.steps import FinishedItems
from memeval.records.errors import ExitCode
from memeval.records.response import Outcome, Response, Timings

LOST = "The server ended with exit code 1 during POST /ask."


def row(number: int, error: str | None = LOST, outcome: Outcome = Outcome.ADAPTER_ERROR) -> Response:
    return Response(
        item_id=f"item-{number}",
        scenario_id="scenario",
        question_id=f"question-{number}",
        attempt=1,
        outcome=outcome if error else Outcome.OK,
        answer="" if error else "Lima",
        error=error,
        timings=Timings(started="2026-01-02T00:00:00Z"),
    )


def finished(rows: Iterable[Response]) -> list[FinishedItems]:
    return [FinishedItems((each.item_id,), (each,), ()) for each in rows]


def test_equal_errors_of_the_first_items_stop_a_run_with_the_first_error() -> None:
    watch = EarlyStop(100, [], "acme on tiny@1")
    watch.watch(finished(row(number) for number in range(FIRST_ITEMS - 1)))
    with pytest.raises(StoppedEarly, match=rf"^acme on tiny@1: stopped: the first {FIRST_ITEMS} items all") as stop:
        watch.watch(finished([row(99)]))
    assert f"First error: {LOST}" in str(stop.value) and "--retry-errors" in str(stop.value)
    assert "--keep-going" in str(stop.value)
    assert stop.value.exit_code is ExitCode.CHECK_FAILED


@pytest.mark.parametrize(
    "error",
    [
        "query raised KeyError: {n}.",
        "<Memory object at 0x7f{n:04x}a0>",
        "No such row 5f0c6f6e-9d1e-4b8a-8a4d-e2b7c1d9{n:04x}.",
        "no session s{n:03d}:t01 (request {n:06x}a1).",
    ],
)
def test_errors_that_differ_only_in_numbers_and_ids_are_equal(error: str) -> None:
    with pytest.raises(StoppedEarly):
        EarlyStop(100, [], "").watch(finished(row(n, error.format(n=n * 37)) for n in range(FIRST_ITEMS)))


@pytest.mark.parametrize(
    "other",
    [
        row(7, None),
        row(7, "query raised ValueError: empty."),
        row(7, LOST, Outcome.TIMEOUT),
        row(7, "The model's endpoint is not there.", Outcome.READER_ERROR),
    ],
    ids=["answered", "another error", "another kind", "a reader's"],
)
def test_one_item_with_another_result_disables_the_early_stop(other: Response) -> None:
    watch = EarlyStop(100, [], "")
    watch.watch(finished([*(row(number) for number in range(5)), other, *(row(number) for number in range(10, 60))]))


def test_errors_of_a_readers_model_never_stop_a_run() -> None:
    rows = [row(number, "The model replied with a web page.", Outcome.READER_ERROR) for number in range(60)]
    EarlyStop(100, [], "").watch(finished(rows))


def test_a_finished_run_is_not_stopped() -> None:
    EarlyStop(FIRST_ITEMS, [], "").watch(finished(row(number) for number in range(FIRST_ITEMS)))


def test_items_on_disk_count() -> None:
    failed = [row(number) for number in range(FIRST_ITEMS)]
    with pytest.raises(StoppedEarly, match=f"the first {FIRST_ITEMS + 1} items"):
        EarlyStop(100, failed, "").watch(finished([row(99)]))
    EarlyStop(100, [row(0, None)], "").watch(finished(failed))


def test_an_item_fails_by_its_first_error() -> None:
    rows = tuple(row(1, error).model_copy(update={"question_id": f"q{error}"}) for error in (None, "One.", "Two."))
    assert shared_error([*rows, row(2, "One.")]) == "One."
    assert shared_error([*rows, row(2, "Two.")]) is None
    assert shared_error([]) is None
