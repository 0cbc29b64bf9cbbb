"""A history of a given length: where each session stands, and what it says, without making those before it."""

from __future__ import annotations

import zlib
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import overload

from memeval.benchmarks.beliefs.history import DraftSession
from memeval.benchmarks.beliefs.long.filler import Filler
from memeval.benchmarks.beliefs.long.lives import LongLife, session
from memeval.keys import ItemKey
from memeval.records.scenario import Ingest, Question, Scenario, Session, Step, Steps

WAKING = (7 * 3600, 16 * 3600)
"""The second of the day at which people begin to talk, and for how many seconds they do."""

MARGIN = timedelta(days=10)
"""How long a history goes on before and after all that it is asked about."""


@dataclass(frozen=True, slots=True)
class _Placed:
    """A session that questions rest on, with its place."""

    life: LongLife
    told: DraftSession
    second: int
    """Waking seconds since the history's first day."""


class LongHistory(Steps):
    """The steps of a history: sessions in order of time, then all questions.

    Sessions between those that matter are spread evenly over the whole time. Each has a stretch of its own and stands
    somewhere within it, so that its place and its time follow from its number.

    Args:
        scenario_id: the scenario's id.
        lives: whose history it is.
        filler: what it is filled with.
        fillers: how many sessions of that it has.
    """

    def __init__(self, scenario_id: str, lives: Sequence[LongLife], filler: Filler, fillers: int) -> None:
        self.scenario_id, self._lives, self._filler, self._fillers = scenario_id, lives, filler, fillers
        self._first = min(life.told[0].on for life in lives) - MARGIN
        days = (max(life.told[-1].on for life in lives) + MARGIN - self._first).days
        self._gap = days * WAKING[1] // max(1, fillers)
        placed = (_Placed(life, told, self._second(life, told)) for life in lives for told in life.told)
        self._placed = sorted(placed, key=lambda each: each.second)
        self._taken = {each.second for each in self._placed}
        self._places = [number + self._before(each.second) for number, each in enumerate(self._placed)]
        self._asks = tuple(item.ask for life in lives for item in life.items)
        self._sessions = len(self._placed) + fillers

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
        """See :meth:`Steps.session`."""
        return self._step(self._place_of(session_id)).session

    def questions(self) -> tuple[Question, ...]:
        """See :meth:`Steps.questions`."""
        return self._asks

    def only(self, session_ids: frozenset[str]) -> tuple[Step, ...]:
        """See :meth:`Steps.only`."""
        return (*(self._step(self._place_of(each)) for each in sorted(session_ids)), *self._asks)

    @property
    def sessions(self) -> int:
        """How many sessions there are."""
        return self._sessions

    def source_id(self, place: int) -> str:
        """Return the benchmark's own id of the session at a place."""
        return f"{self.scenario_id}:{ordinal(place)}"

    def times(self) -> Iterator[int]:
        """Yield when each session takes place, in waking seconds since the first day."""
        return (self._found(place)[0] for place in range(self._sessions))

    def scenario(self) -> Scenario:
        """Return the history as systems see it."""
        return Scenario.streamed(self.scenario_id, self)

    def keys(self) -> Iterator[ItemKey]:
        """Yield the keys of its questions, in their order."""
        for life in self._lives:
            place_of = {
                each.told.on: place for place, each in zip(self._places, self._placed, strict=True) if each.life is life
            }
            for item in life.items:
                yield ItemKey(
                    item_id=item.item_id,
                    scenario_id=self.scenario_id,
                    question_ids=(item.ask.question_id,),
                    category=item.category,
                    cluster=life.life.person.slug,
                    slices=item.slices,
                    evidence=tuple(map(ordinal, sorted(place_of[day] for day in item.rests_on))),
                    key=item.key,
                )

    def _found(self, place: int) -> tuple[int, _Placed | int]:
        """Return the time of the session at a place, and the session, or its number among those that only fill."""
        number = bisect_left(self._places, place)
        if number < len(self._places) and self._places[number] == place:
            return self._placed[number].second, self._placed[number]
        return self._time(place - number), place - number

    def _step(self, place: int) -> Ingest:
        second, found = self._found(place)
        life, lines = self._filler.session(found) if isinstance(found, int) else (found.life, found.told.lines)
        day, clock = divmod(second, WAKING[1])
        clock += WAKING[0]
        on = (self._first + timedelta(days=day)).isoformat()
        when = f"{on}T{clock // 3600:02d}:{clock // 60 % 60:02d}:{clock % 60:02d}"
        return Ingest(session=session(ordinal(place), when, lines, life.life), source_id=self.source_id(place))

    def _place_of(self, session_id: str) -> int:
        number = session_id[1:]
        if session_id[:1] == "s" and number.isascii() and number.isdecimal():
            place = int(number) - 1
            if 0 <= place < self._sessions and ordinal(place) == session_id:
                return place
        raise KeyError(session_id)

    def _second(self, life: LongLife, told: DraftSession) -> int:
        """Return when a session that matters takes place: on its day, at an hour that is its own at every size."""
        clock = zlib.crc32(f"{life.life.person.slug}/{told.on}".encode()) % WAKING[1]
        return (told.on - self._first).days * WAKING[1] + clock

    def _time(self, number: int) -> int:
        """Return when the session of a number that only fills takes place, never at the time of one that matters."""
        start, within = number * self._gap, zlib.crc32(b"%d" % number) % self._gap
        while start + within in self._taken:
            within = (within + 1) % self._gap
        return start + within

    def _before(self, second: int) -> int:
        """Return how many of the sessions that only fill come before a time."""
        if not self._fillers:
            return 0
        number = second // self._gap
        if number >= self._fillers:
            return self._fillers
        return number + (self._time(number) < second)


def ordinal(place: int) -> str:
    """Return the id of the session at a place, counted from 0."""
    return f"s{place + 1:06d}"
