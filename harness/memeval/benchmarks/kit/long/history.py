"""A history of a given length, with random access to its sessions, and what it is generated from."""

import zlib
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Protocol, TypeVar, overload

from memeval.benchmarks.kit.long import SHARED, SIZES
from memeval.benchmarks.kit.people import Person
from memeval.benchmarks.kit.talk import DraftSession, DraftTurn, session
from memeval.keys import ItemKey
from memeval.records.scenario import Ask, Ingest, Question, Scenario, Session, Step, Steps

WAKING = (7 * 3600, 16 * 3600)
"""Second of the day at which sessions can start, and length of that period in seconds."""

MARGIN = timedelta(days=10)
"""Time before the first and after the last relevant session."""

LOOKED_UP = 500
"""Maximum number of sessions of a history that are kept after they were looked up: several runs name the same ones."""


class HistoryLife(Protocol):
    @property
    def person(self) -> Person:
        """The person."""

    @property
    def drafts(self) -> Sequence[DraftSession]:
        """The relevant sessions, in order of days; no two share a day."""

    @property
    def asks(self) -> Sequence[Ask]:
        """The questions."""

    @property
    def guarded(self) -> frozenset[str]:
        """Phrases that no filler session may state."""

    def keys(self, scenario_id: str, ordinals: Mapping[date, str]) -> Iterator[ItemKey]:
        """Yield the keys of the questions."""


class FillerSessions(Protocol):
    def session(self, number: int) -> tuple[HistoryLife, Sequence[DraftTurn]]:
        """Return the life and the turns of a session."""


@dataclass(frozen=True, slots=True)
class _Placed:
    life: HistoryLife
    draft: DraftSession
    second: int
    """Waking seconds since the history's first day."""


class LongHistory(Steps):
    """The steps of a history: sessions in order of time, then all questions.

    Filler sessions are spread evenly over the whole time. Each has its own interval and a time in it, so that its
    position and time follow from its number.
    """

    def __init__(self, scenario_id: str, lives: Sequence[HistoryLife], filler: FillerSessions, fillers: int) -> None:
        self.scenario_id, self._lives, self._filler, self._fillers = scenario_id, lives, filler, fillers
        self._first = min(life.drafts[0].on for life in lives) - MARGIN
        days = (max(life.drafts[-1].on for life in lives) + MARGIN - self._first).days
        self._gap = days * WAKING[1] // max(1, fillers)
        placed = (_Placed(life, draft, self._second(life, draft)) for life in lives for draft in life.drafts)
        self._placed = sorted(placed, key=lambda each: each.second)
        self._taken = {each.second for each in self._placed}
        self._places = [number + self._before(each.second) for number, each in enumerate(self._placed)]
        self._asks = tuple(ask for life in lives for ask in life.asks)
        self._sessions = len(self._placed) + fillers
        self._looked_up: dict[str, Session] = {}

    def __len__(self) -> int:
        return self._sessions + len(self._asks)

    @overload
    def __getitem__(self, place: int) -> Step: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Step]: ...

    def __getitem__(self, place: int | slice) -> Step | Sequence[Step]:
        if isinstance(place, slice):
            return tuple(self[i] for i in range(*place.indices(len(self))))
        at = range(len(self))[place]
        return self._asks[at - self._sessions] if at >= self._sessions else self._step(at)

    def __iter__(self) -> Iterator[Step]:
        for place in range(self._sessions):
            yield self._step(place)
        yield from self._asks

    def session(self, session_id: str) -> Session:
        if session_id not in self._looked_up:
            if len(self._looked_up) >= LOOKED_UP:
                self._looked_up.clear()
            self._looked_up[session_id] = self._step(self._place_of(session_id)).session
        return self._looked_up[session_id]

    def questions(self) -> tuple[Question, ...]:
        return self._asks

    def only(self, session_ids: frozenset[str]) -> tuple[Step, ...]:
        return (*(self._step(self._place_of(each)) for each in sorted(session_ids)), *self._asks)

    @property
    def sessions(self) -> int:
        return self._sessions

    def source_id(self, place: int) -> str:
        return f"{self.scenario_id}:{ordinal(place)}"

    def times(self) -> Iterator[int]:
        """Yield the time of each session, in waking seconds since the first day."""
        return (self._found(place)[0] for place in range(self._sessions))

    def scenario(self) -> Scenario:
        return Scenario.streamed(self.scenario_id, self)

    def answer_keys(self) -> Iterator[ItemKey]:
        for life in self._lives:
            ordinals = {
                each.draft.on: ordinal(place)
                for place, each in zip(self._places, self._placed, strict=True)
                if each.life is life
            }
            yield from life.keys(self.scenario_id, ordinals)

    def _found(self, place: int) -> tuple[int, _Placed | int]:
        """Return the time of the session at a position, and the session if relevant, else its filler number."""
        number = bisect_left(self._places, place)
        if number < len(self._places) and self._places[number] == place:
            return self._placed[number].second, self._placed[number]
        return self._time(place - number), place - number

    def _step(self, place: int) -> Ingest:
        second, found = self._found(place)
        life, lines = self._filler.session(found) if isinstance(found, int) else (found.life, found.draft.lines)
        day, clock = divmod(second, WAKING[1])
        clock += WAKING[0]
        on = (self._first + timedelta(days=day)).isoformat()
        when = f"{on}T{clock // 3600:02d}:{clock // 60 % 60:02d}:{clock % 60:02d}"
        return Ingest(session=session(ordinal(place), when, lines, life.person), source_id=self.source_id(place))

    def _place_of(self, session_id: str) -> int:
        number = session_id[1:]
        if session_id[:1] == "s" and number.isascii() and number.isdecimal():
            place = int(number) - 1
            if 0 <= place < self._sessions and ordinal(place) == session_id:
                return place
        raise KeyError(session_id)

    def _second(self, life: HistoryLife, draft: DraftSession) -> int:
        """Return the time of a relevant session: on its day, at the same second at every size."""
        clock = zlib.crc32(f"{life.person.slug}/{draft.on}".encode()) % WAKING[1]
        return (draft.on - self._first).days * WAKING[1] + clock

    def _time(self, number: int) -> int:
        """Return the time of a filler session by its number, never at the time of a relevant one."""
        start, within = number * self._gap, zlib.crc32(b"%d" % number) % self._gap
        while start + within in self._taken:
            within = (within + 1) % self._gap
        return start + within

    def _before(self, second: int) -> int:
        if not self._fillers:
            return 0
        number = second // self._gap
        if number >= self._fillers:
            return self._fillers
        return number + (self._time(number) < second)


def ordinal(place: int) -> str:
    return f"s{place + 1:06d}"


L = TypeVar("L")

Part = tuple[str, Sequence[HistoryLife], FillerSessions]


class LongSource(ABC):
    prefix: str
    folder: str
    """Folder of stored surveys, in the folder `surveys` of the cache."""
    included: str
    """Folder of the surveys that memeval includes, in the package memeval."""
    code: tuple[str, ...]
    """Folders of the benchmark with the code and the words that determine a history, in the package memeval."""

    def __init__(self, seed: int, tier: str) -> None:
        self.seed, self.tier = seed, tier

    @property
    def size(self) -> int:
        return SIZES[self.tier]

    @property
    def is_shared(self) -> bool:
        return self.size >= SHARED

    def groups(self, lives: Sequence[L]) -> Iterator[tuple[str, Sequence[L]]]:
        if self.is_shared:
            yield "all", lives
            return
        for number, life in enumerate(lives, start=1):
            yield f"{number:02d}", (life,)

    @abstractmethod
    def parts(self) -> Iterator[Part]:
        """Yield the histories of the tier."""
