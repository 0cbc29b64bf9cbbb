"""Stopping a run of a broken system: its first items all fail with the same error, and so would the rest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from memeval.execution.work import FinishedItems
from memeval.records.errors import CheckFailed
from memeval.records.response import Outcome, Response

FIRST_ITEMS = 25
"""How many items have to fail alike, before any other comes to an end, for a run to stop."""

OF_THE_SYSTEM = frozenset((Outcome.TIMEOUT, Outcome.NOT_READY, Outcome.ADAPTER_ERROR))
"""Errors of the system itself; one of a reader's model says nothing of it."""

_VARIES = re.compile(
    r"0x[0-9a-f]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b(?=[0-9a-f]*\d)[0-9a-f]{6,}\b|\d+", re.IGNORECASE
)
"""What differs between two reports of the same error: numbers, addresses, ids."""


class StoppedEarly(CheckFailed):
    """The first items of a run all failed alike. What is done is on disk, and the run can be resumed."""


class EarlyStop:
    """Watches the items of a run as they finish.

    Args:
        planned: how many items the run has.
        earlier: the rows of items that were finished before, and are not tried again.
        where: the run, in words.
    """

    def __init__(self, planned: int, earlier: Iterable[Response], where: str) -> None:
        self._planned = planned
        self._where = where
        self._first: Response | None = None
        self._alike = 0
        self._over = False
        by_item = sorted(earlier, key=lambda row: row.item_id)
        for _, rows in groupby(by_item, key=lambda row: row.item_id):
            self._count(list(rows))

    def watch(self, finished: Sequence[FinishedItems]) -> None:
        """Take note of items, in the order in which they finished.

        Raises:
            StoppedEarly: enough of them failed alike, none did otherwise, and there are more to come.
        """
        for each in finished:
            for item_id in each.items:
                if self._over:
                    return
                self._count([row for row in each.responses if row.item_id == item_id])
                if FIRST_ITEMS <= self._alike < self._planned:
                    self._stop()

    def _count(self, rows: Sequence[Response]) -> None:
        """Count an item by its first error."""
        error = next((row for row in rows if row.outcome.is_error), None)
        if self._over or error is None or not _same(self._first or error, error):
            self._over, self._alike = True, 0
            return
        self._first = self._first or error
        self._alike += 1

    def _stop(self) -> None:
        assert self._first is not None  # noqa: S101 - there is one as soon as one is counted
        raise StoppedEarly(
            f"stopped: the first {self._alike} items all failed with the same error. First error: {_said(self._first)}",
            where=self._where,
            remedy="Fix the system and run the same command with --retry-errors. "
            "To run all items anyway, add --keep-going.",
        )


def shared_error(rows: Iterable[Response]) -> str | None:
    """Return the first error of a run all of whose items failed alike; ``None`` for any other run.

    Args:
        rows: the last attempt of each question.
    """
    watch = EarlyStop(0, rows, "")
    return _said(watch._first) if watch._first is not None and watch._alike else None


def _said(row: Response) -> str:
    """Return the error of a row, as a sentence."""
    error = (row.error or row.outcome.value).strip()
    return error if error.endswith((".", "!", "?")) else f"{error}."


def _same(one: Response, other: Response) -> bool:
    """Whether two errors are the same kind of error of the system, with the same message but for numbers and ids."""
    kinds = {one.outcome, other.outcome}
    return len(kinds) == 1 and kinds <= OF_THE_SYSTEM and _shape(one) == _shape(other)


def _shape(row: Response) -> str:
    return _VARIES.sub("#", row.error or "")
