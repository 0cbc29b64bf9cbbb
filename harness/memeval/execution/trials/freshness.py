"""The trial of freshness: how long after its acknowledgement a change shows in a search."""

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from memeval.execution.trials.memory import STORED, StoredMemory, Written, another, drawn, sentence
from memeval.execution.trials.stage import Stage
from memeval.records.trials_of_use import Change, Freshness, FreshnessObservation, Onlooker
from memeval.systems.errors import AdapterMisbehaved, SystemFailure

FIRST_PAUSE, LONGEST_PAUSE = 0.005, 0.5
"""Pauses between searches for changes that do not show yet, in seconds; each is twice the one before."""


@dataclass(frozen=True)
class _Awaited:
    """A change that a search must show."""

    there: Written | None
    """The text that must be found; ``None`` after a deletion."""
    gone: Written | None
    """The text that must no longer be found; ``None`` for a new text."""
    since: float
    """When it was acknowledged, by the monotonic clock."""

    def shows(self, memory: StoredMemory) -> bool:
        is_there = self.there is None or memory.find(self.there).whole > 0
        return is_there and (self.gone is None or memory.find(self.gone).whole == 0)


@dataclass
class _Seen:
    at_once: int = 0
    lags: list[float] = field(default_factory=list)
    waiting: list[_Awaited] = field(default_factory=list)
    never: int = 0
    error: str | None = None


def freshness(trial: Freshness, stage: Stage) -> FreshnessObservation:
    """Run a trial. Raises SystemFailure: the system cannot make such a change, or failed before the first one."""
    with stage.plain() as ground:
        stage.put_stored(trial.stored, ground)
        writer = stage.start(ground)
        if trial.change is not Change.ADDED and not writer.system.adapter.can("forget"):
            raise AdapterMisbehaved("The system has no forget, which trials of updates and deletions need.")
        seen, awaited, opened = _Seen(), list[_Awaited](), True
        try:
            with _looker(trial, stage, writer) as looker:
                for awaited_one in _until_one_fails(_changes(trial, writer), seen):
                    awaited.append(awaited_one)
                    if looker is not None:
                        _look_once(looker, awaited_one, seen)
                if looker is None:
                    stage.system.close()
                    looker = stage.restart()
                    awaited = [_Awaited(each.there, each.gone, time.monotonic()) for each in awaited]
                    for each in awaited:
                        _look_once(looker, each, seen)
                _look_on(looker, trial.seconds, seen)
        except _Refused as refused:
            opened, seen.error = False, refused.sentence
        except SystemFailure as failure:
            seen.error = seen.error or sentence(failure)
        return FreshnessObservation(
            acknowledged=len(awaited),
            opened=opened,
            at_once=seen.at_once,
            lags=tuple(sorted(round(lag, 4) for lag in seen.lags)),
            never=seen.never,
            error=seen.error,
        )


class _Refused(Exception):
    """The second process did not start on the folder."""

    def __init__(self, failure: SystemFailure) -> None:
        super().__init__(str(failure))
        self.sentence = sentence(failure)


@contextmanager
def _looker(trial: Freshness, stage: Stage, writer: StoredMemory) -> Iterator[StoredMemory | None]:
    """Yield the process that looks at each change at once; ``None`` if it is started afterwards."""
    if trial.onlooker is not Onlooker.OTHER:
        yield writer if trial.onlooker is Onlooker.WRITER else None
        return
    with ExitStack() as stack:
        try:
            looker = stack.enter_context(another(stage.system, stage.system.storage))
            looker.find(Written(trial.seed, 0))  # as a process does that is in use
        except SystemFailure as failure:
            raise _Refused(failure) from failure
        yield looker


def _changes(trial: Freshness, writer: StoredMemory) -> Iterator[_Awaited]:
    """Make the changes one by one, and yield what must show of each."""
    if trial.change is Change.ADDED:
        for number in range(trial.changes):
            new = Written(trial.seed, number)
            writer.write(new)
            yield _Awaited(new, None, time.monotonic())
        return
    for number in drawn(trial.seed, trial.stored, trial.changes):
        old = Written(STORED, number)
        writer.system.forget(ids=[old.id])
        if trial.change is Change.DELETED:
            yield _Awaited(None, old, time.monotonic())
            continue
        new = Written(trial.seed, number)
        writer.write(new, name=old.id)
        yield _Awaited(new, old, time.monotonic())


def _until_one_fails(changes: Iterator[_Awaited], seen: _Seen) -> Iterator[_Awaited]:
    """Yield changes up to the first that fails: those that were acknowledged are looked for all the same."""
    try:
        yield from changes
    except SystemFailure as failure:
        seen.error = sentence(failure)


def _look_once(looker: StoredMemory, awaited: _Awaited, seen: _Seen) -> None:
    if awaited.shows(looker):
        seen.at_once += 1
    else:
        seen.waiting.append(awaited)


def _look_on(looker: StoredMemory, seconds: float, seen: _Seen) -> None:
    """Search for what did not show at once, until each has been looked for as long as the trial says."""
    pause = FIRST_PAUSE
    waiting: Sequence[_Awaited] = seen.waiting
    while waiting:
        time.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)
        left = []
        for each in waiting:
            shows = each.shows(looker)
            lag = time.monotonic() - each.since
            if shows:
                seen.lags.append(lag)
            elif lag < seconds:
                left.append(each)
            else:
                seen.never += 1
        waiting = left
