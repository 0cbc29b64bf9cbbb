"""Stops a run whose first items all fail with the same error: the others would fail too."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from memeval.execution.work import FinishedItems
from memeval.records.errors import CheckFailed
from memeval.records.response import Outcome, Response

FIRST_ITEMS = 25
"""A run stops if this many first items all fail with the same error."""

SYSTEM_ERRORS = frozenset((Outcome.TIMEOUT, Outcome.NOT_READY, Outcome.ADAPTER_ERROR))
"""Errors of the system itself, not of a reader's model."""

_VARIABLE_PARTS = re.compile(
    r"0x[0-9a-f]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b(?=[0-9a-f]*\d)[0-9a-f]{6,}\b|\d+", re.IGNORECASE
)
"""Parts that differ between two reports of the same error: numbers, addresses, ids."""


class StoppedEarly(CheckFailed):
    """The first items of a run all failed with the same error. Progress is saved, and the run can be resumed."""


class EarlyStop:
    """Watches the items of a run as they finish.

    Args:
        earlier: the rows of items that finished before and are not retried.
    """

    def __init__(self, planned: int, earlier: Iterable[Response], where: str) -> None:
        self._planned = planned
        self._where = where
        self._first: Response | None = None
        self._equal_errors = 0
        self._over = False
        by_item = sorted(earlier, key=lambda row: row.item_id)
        for _, rows in groupby(by_item, key=lambda row: row.item_id):
            self._count(list(rows))

    def watch(self, finished: Sequence[FinishedItems]) -> None:
        """Count finished items, in the order in which they finished.

        Raises:
            StoppedEarly: all of the first items failed with the same error, and more items are open.
        """
        for each in finished:
            for item_id in each.items:
                if self._over:
                    return
                self._count([row for row in each.responses if row.item_id == item_id])
                if FIRST_ITEMS <= self._equal_errors < self._planned:
                    self._stop()

    def _count(self, rows: Sequence[Response]) -> None:
        error = next((row for row in rows if row.outcome.is_error), None)
        if self._over or error is None or not _same(self._first or error, error):
            self._over, self._equal_errors = True, 0
            return
        self._first = self._first or error
        self._equal_errors += 1

    def _stop(self) -> None:
        assert self._first is not None  # noqa: S101 - set with the first counted error
        raise StoppedEarly(
            f"stopped: the first {self._equal_errors} items all failed with the same error. "
            f"First error: {_error_text(self._first)}",
            where=self._where,
            remedy="Fix the system and run the same command with --retry-errors. "
            "To run all items anyway, add --keep-going.",
        )


def shared_error(rows: Iterable[Response]) -> str | None:
    """Return the first error of a run whose items all failed with the same error; ``None`` for other runs."""
    watch = EarlyStop(0, rows, "")
    return _error_text(watch._first) if watch._first is not None and watch._equal_errors else None


def _error_text(row: Response) -> str:
    error = (row.error or row.outcome.value).strip()
    return error if error.endswith((".", "!", "?")) else f"{error}."


def _same(one: Response, other: Response) -> bool:
    """Return whether two errors of the system have the same kind and message, apart from numbers and ids."""
    kinds = {one.outcome, other.outcome}
    return len(kinds) == 1 and kinds <= SYSTEM_ERRORS and _shape(one) == _shape(other)


def _shape(row: Response) -> str:
    return _VARIABLE_PARTS.sub("#", row.error or "")
