"""The trial of a crash: texts are written, a fault ends all processes, and a new process must have the texts."""

import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from memeval.execution.trials.memory import (
    STORED,
    Sighting,
    StoredMemory,
    Written,
    codes_in,
    drawn,
    sentence,
    sighting,
)
from memeval.execution.trials.stage import Stage
from memeval.records.trials import Activity, Crash, CrashFault, CrashObservation
from memeval.systems.errors import SystemFailure
from memeval.systems.messages import FoundItem

IDLE_SECONDS = 1.0
"""The longest time without a call before a fault."""

MOST_WAITED = 5.0
"""The longest time that a fault is awaited during writes or searches, in seconds."""

NOTHING = Sighting(whole=0, half=0, renamed=False)

AFTERWARDS = 90_000
"""The number of the text that is written after the restart."""


@dataclass
class _Writes:
    """What was written in a trial, and what of it was acknowledged."""

    seed: int
    acknowledged: list[Written] = field(default_factory=list)
    in_flight: Written | None = None
    seconds: list[float] = field(default_factory=list)

    def write(self, memory: StoredMemory) -> None:
        self.in_flight = Written(self.seed, len(self.acknowledged))
        began = time.monotonic()
        memory.write(self.in_flight)
        self.seconds.append(time.monotonic() - began)
        self.acknowledged.append(self.in_flight)
        self.in_flight = None


def crash(trial: Crash, stage: Stage) -> CrashObservation:
    """Run a trial, and return what was observed. Raises SystemFailure: the system failed before the fault."""
    options = "commit=300" if trial.fault is CrashFault.LATE_CUT else ""
    with stage.disk(options) if trial.fault.is_cut else stage.plain() as ground:
        stage.put_stored(trial.stored, ground)
        memory = stage.start(ground)
        writes = _Writes(trial.seed)
        for _ in range(trial.writes):
            writes.write(memory)
        killed = _fault(trial, stage, memory, writes)
        ground.cut()
        old = [Written(STORED, number) for number in drawn(trial.seed, trial.stored, trial.probed)]
        return _observed(stage, writes, old, killed)


def _fault(trial: Crash, stage: Stage, memory: StoredMemory, writes: _Writes) -> int | None:
    """End all processes in the way and at the moment of the trial; return how many were killed."""
    system = stage.system
    if trial.fault is CrashFault.STOP:
        system.close()
        return None
    if trial.during is Activity.IDLE:
        time.sleep(trial.moment * IDLE_SECONDS)
        return system.crash()
    calls: Callable[[], object] = lambda: writes.write(memory)  # noqa: E731
    usual = statistics.median(writes.seconds)
    if trial.during is Activity.SEARCHING:
        began = time.monotonic()
        found = iter(range(10**9))
        calls = lambda: memory.find(writes.acknowledged[next(found) % len(writes.acknowledged)])  # noqa: E731
        calls()
        usual = time.monotonic() - began
    return _killed_while(calls, stage, min(2 * trial.moment * usual, MOST_WAITED))


def _killed_while(call: Callable[[], object], stage: Stage, seconds: float) -> int:
    """Call again and again until the processes are killed, so many seconds from now; return how many they were."""
    with _kill_after(stage, seconds) as (begun, killed):
        while True:
            try:
                call()
            except SystemFailure:
                if not begun.is_set():
                    raise
                break
    return killed[0]


@contextmanager
def _kill_after(stage: Stage, seconds: float) -> Iterator[tuple[threading.Event, list[int]]]:
    """Kill all processes from another thread; the event is set just before, and the list has their number after."""
    begun, killed = threading.Event(), list[int]()

    def kill() -> None:
        begun.set()
        killed.append(stage.system.crash())

    timer = threading.Timer(seconds, kill)
    timer.daemon = True
    timer.start()
    try:
        yield begun, killed
    finally:
        if not begun.is_set():
            timer.cancel()
        timer.join()


def _observed(stage: Stage, writes: _Writes, old: Sequence[Written], killed: int | None) -> CrashObservation:
    """Start the system again on its folder, and look for the texts."""
    wanted = [*writes.acknowledged, *old]
    look = _Look(wanted)
    began = time.monotonic()
    ready = None
    try:
        memory = stage.restart()
        look.see(memory, wanted[0])
        ready = time.monotonic() - began
        for written in wanted[1:]:
            look.see(memory, written)
        flight = None if writes.in_flight is None else memory.find(writes.in_flight)
        look.list(memory)
        later = Written(writes.seed, AFTERWARDS)
        memory.write(later)
        memory.system.settle()
        writable = memory.find(later).whole > 0
    except SystemFailure as failure:
        look.error = look.error or sentence(failure)
        flight, writable = None, False
    shown = [look.shown(each) for each in wanted]
    half = sum(not (seen.whole or listed.whole) and bool(seen.half or listed.half) for seen, listed in shown)
    return CrashObservation(
        acknowledged=len(writes.acknowledged),
        in_flight=int(writes.in_flight is not None),
        killed=killed,
        opened=ready is not None,
        ready_seconds=None if ready is None else round(ready, 3),
        probed=len(wanted),
        lost=sum(not (seen.whole or listed.whole) for seen, listed in shown),
        unfound=sum(not seen.whole and listed.whole > 0 for seen, listed in shown),
        doubled=sum(max(seen.whole, listed.whole) > 1 for seen, listed in shown),
        half=half + (flight is not None and flight.half > 0),
        renamed=sum(each.renamed for each in look.seen.values()),
        lists=look.listed is not None,
        kept_in_flight=None if flight is None else flight.whole > 0,
        writable=writable,
        error=look.error,
    )


class _Look:
    """What a search and a list show of some texts."""

    def __init__(self, wanted: Sequence[Written]) -> None:
        self.seen: dict[Written, Sighting] = {}
        self.listed: dict[Written, Sighting] | None = None
        self.error: str | None = None
        self._wanted = wanted

    def see(self, memory: StoredMemory, written: Written) -> None:
        """Search for a text. An error of one search is kept, and the next text is searched for."""
        try:
            self.seen[written] = memory.find(written)
        except SystemFailure as failure:
            if not memory.system.alive:
                raise
            self.error = self.error or sentence(failure)

    def list(self, memory: StoredMemory) -> None:
        items = memory.listed()
        if items is not None:
            by_code: dict[str, list[FoundItem]] = {}
            codes = {each.code for each in self._wanted}
            for item in items:
                for code in codes_in(item, codes):
                    by_code.setdefault(code, []).append(item)
            self.listed = {each: sighting(each, by_code.get(each.code, ())) for each in self._wanted}

    def shown(self, written: Written) -> tuple[Sighting, Sighting]:
        """Return how often a text is there, by search and by list."""
        return self.seen.get(written, NOTHING), (self.listed or {}).get(written, NOTHING)
