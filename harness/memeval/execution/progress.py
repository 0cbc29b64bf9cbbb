"""Progress on standard error: items done, items per second, time left."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

SLOW = 0.5
"""Items per second below which seconds per item are shown: 0.0 items/s says nothing."""


class Progress:
    """What a run tells while it works; nothing is shown of it here."""

    def start(self, title: str, total: int, done: int) -> None:
        """A run or a stage of it starts, with its title, planned items, and items already on disk."""

    def advance(self, items: int, errors: int) -> None:
        """Items were written to disk; ``errors`` of them failed."""

    def spend(self, usd: float | None, made: int, cached: int) -> None:
        """Model calls so far: dollars (``None`` if unknown), calls sent, and recorded calls reused.

        Shown with the next :meth:`advance`.
        """

    def note(self, sentence: str) -> None:
        """A message for the user."""

    def stop(self) -> None:
        """The run ended."""

    @contextmanager
    def stage(self, title: str, total: int) -> Iterator[None]:
        """Show a stage of a run until the block ends; see :meth:`start`."""
        self.start(title, total, 0)
        try:
            yield
        finally:
            self.stop()


class Bar(Progress):
    """A progress bar on a terminal; otherwise a line every few seconds."""

    LINE_SECONDS = 10.0

    def __init__(self) -> None:
        self._bar: Any = None
        self._task: Any = None
        self._title = self._spent = ""
        self._total = self._done = self._errors = self._resumed_at = 0
        self._began = self._last_line = 0.0
        self._printed: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self, title: str, total: int, done: int) -> None:
        self.stop()
        self._spent = ""
        self._title, self._total, self._done, self._resumed_at, self._errors = title, total, done, done, 0
        self._began = self._last_line = time.monotonic()
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as RichProgress

            self._bar = RichProgress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[rate]}", markup=False),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task(title, total=total, completed=done, rate="")

    def advance(self, items: int, errors: int) -> None:
        self._done += items
        self._errors += errors
        if self._bar is not None:
            self._bar.update(self._task, advance=items, rate=self._rate())
        elif time.monotonic() - self._last_line >= self.LINE_SECONDS:
            self._last_line = time.monotonic()
            speed = self._speed()
            left = f", {(self._total - self._done) / speed:.0f} s left" if speed > 0 else ""
            print(f"{self._title}: {self._done}/{self._total} {self._rate()}{left}", file=sys.stderr)

    def spend(self, usd: float | None, made: int, cached: int) -> None:
        self._spent = spent_so_far(usd, made, cached)

    def note(self, sentence: str) -> None:
        """Print a message; one that was printed before is not repeated, such as a warning that every run gives."""
        if sentence in self._printed:
            return
        self._printed.add(sentence)
        if self._bar is not None:
            from memeval.systems.channel import visible

            shown = "\n".join(map(visible, sentence.splitlines()))
            self._bar.console.print(shown, markup=False, highlight=False)
        else:
            print(sentence, file=sys.stderr)

    def stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _speed(self) -> float:
        seconds = time.monotonic() - self._began
        return (self._done - self._resumed_at) / seconds if seconds > 0 else 0.0

    def _rate(self) -> str:
        errors = f", {self._errors} errors" if self._errors else ""
        speed = self._speed()
        rate = f"{1 / speed:.0f} s/item" if 0 < speed < SLOW else f"{speed:.1f} items/s"
        return f"{rate}{errors}{self._spent}"


def spent_so_far(usd: float | None, made: int, cached: int) -> str:
    """Return the cost of model calls, to append to a progress line; empty without calls."""
    if not made and not cached:
        return ""
    dollars = "price unknown" if usd is None else f"${usd:.4f}"
    return f", {dollars}, {made} calls" + (f", {cached} reused" if cached else "")
