"""Makes scenarios, which systems see, and answer keys, which they do not, from histories and queries."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property

from memeval.benchmarks.base import LoadedDataset
from memeval.benchmarks.vehiclemembench.keys import VehicleMemBenchKey
from memeval.benchmarks.vehiclemembench.released import Line, Release
from memeval.keys import ItemKey
from memeval.records.benchmark import Erratum, ErratumKind
from memeval.records.errors import BadInput
from memeval.records.scenario import Ask, Ingest, Scenario, Session, Task, Turn

PAUSE = timedelta(minutes=5)
"""A session ends where nobody speaks for longer."""

USUAL = 3
"""Number of people in most histories."""

RULE = """\
Reply with the calls that set the vehicle as the people want it now, one a line, such as name(level=3, zone="all"). \
Write nothing else. Call only these functions:"""


class History:
    """The lines of a history in sessions; sessions and minutes have ordinals in order of ingestion."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.speakers = frozenset(line.speaker for line in lines)
        self._lines: defaultdict[str, list[Line]] = defaultdict(list)
        for line in lines:
            self._lines[line.minute].append(line)
        self._sessions: list[list[str]] = []
        last = datetime.min
        for minute in self._lines:
            now = datetime.fromisoformat(minute)
            if now - last > PAUSE:
                self._sessions.append([])
            self._sessions[-1].append(minute)
            last = now

    @cached_property
    def located(self) -> Mapping[str, tuple[str, ...]]:
        """Return the ordinals of the turns by minute: ``s004:t03``, or ``s004:t03.1`` and so on for several."""
        found = {}
        for session, minutes in enumerate(self._sessions, 1):
            for place, minute in enumerate(minutes, 1):
                ordinal, many = f"s{session:03}:t{place:02}", len(self._lines[minute])
                parts = (f"{ordinal}.{part}" for part in range(1, many + 1))
                found[minute] = (ordinal,) if many == 1 else tuple(parts)
        return found

    def steps(self) -> Iterator[Ingest]:
        for number, minutes in enumerate(self._sessions, 1):
            turns = tuple(
                Turn(turn_id=turn_id, role="user", speaker=line.speaker, content=line.text)
                for minute in minutes
                for turn_id, line in zip(self.located[minute], self._lines[minute], strict=True)
            )
            session = Session(session_id=f"s{number:03}", date=iso(minutes[0]), turns=turns)
            yield Ingest(source_id=minutes[0], session=session)

    @property
    def asked_at(self) -> str:
        """Return the time of the queries: the last minute, ISO 8601 without a time zone."""
        return iso(self._sessions[-1][-1])


def iso(minute: str) -> str:
    return f"{minute.replace(' ', 'T')}:00"


class VehicleMemBenchDataset(LoadedDataset):
    """Histories, each a scenario with its queries at the end.

    ``calls``: whether queries ask for calls, and list the functions.
    """

    def __init__(self, release: Release, *, calls: bool = False) -> None:
        self.digest = release.digest
        self._release = release
        self.parameters = {}
        self._calls = calls

    @property
    def names(self) -> tuple[str, ...]:
        return self._release.histories

    def corrected(self, key: ItemKey, erratum: Erratum) -> ItemKey:
        """Return a key with other events.

        ``erratum``: a ``wrong_evidence`` with all minutes of the events ("2025-03-10 08:00"). Raises ``BadInput``: the
        entry names none, or one at which nobody speaks.
        """
        named = (erratum.corrected,) if isinstance(erratum.corrected, str) else erratum.corrected or ()
        located = History(self._release.lines(key.scenario_id)).located
        silent = next((each for each in named if each not in located), None)
        if erratum.kind is not ErratumKind.WRONG_EVIDENCE or not named:
            raise BadInput(f"the erratum of '{key.item_id}' names no evidence.", remedy="Use the action 'exclude'.")
        if silent is not None:
            raise BadInput(
                f"the erratum of '{key.item_id}' names {silent[:64]!r}, at which nobody speaks.",
                remedy="Give minutes of the history, such as '2025-03-10 08:00'.",
            )
        better = _with_events(key.key_as(VehicleMemBenchKey, "an erratum"), named, located)
        return key.model_copy(update={"key": better, "evidence": _sessions(better)})

    @cached_property
    def _functions(self) -> str:
        return "\n".join(self._release.functions())

    def keys_of(self, scenario_id: str) -> Iterator[ItemKey]:
        history = History(self._release.lines(scenario_id))
        for place, query in enumerate(self._release.queries(scenario_id)):
            key = _with_events(VehicleMemBenchKey(calls=query.calls), query.minutes, history.located)
            yield ItemKey(
                item_id=f"{scenario_id}:{place}",
                scenario_id=scenario_id,
                question_ids=(f"{scenario_id}:{place}",),
                category=query.category,
                cluster=scenario_id,
                slices={
                    "values": "in the query" if query.holds_values else "not in the query",
                    "people": "three" if len(history.speakers) == USUAL else "more",
                },
                evidence=_sessions(key),
                key=key,
            )

    def load(self, scenario_id: str) -> Scenario:
        history = History(self._release.lines(scenario_id))
        asks = (
            self._asked(f"{scenario_id}:{place}", query.text, history)
            for place, query in enumerate(self._release.queries(scenario_id))
        )
        return Scenario(scenario_id=scenario_id, steps=(*history.steps(), *asks))

    def _asked(self, question_id: str, text: str, history: History) -> Ask | Task:
        if not self._calls:
            return Ask(question_id=question_id, question=text, timestamp=history.asked_at)
        question = f"{text}\n\n{RULE}\n{self._functions}"
        return Task(question_id=question_id, question=question, query=text, timestamp=history.asked_at)


def _with_events(
    key: VehicleMemBenchKey, minutes: Iterable[str], located: Mapping[str, tuple[str, ...]]
) -> VehicleMemBenchKey:
    """Return a key with the events of some minutes; those at which nobody speaks are left out."""
    found = (located[minute] for minute in dict.fromkeys(minutes) if minute in located)
    return key.model_copy(update={"event_turns": tuple(turn for turns in found for turn in turns)})


def _sessions(key: VehicleMemBenchKey) -> tuple[str, ...] | None:
    return tuple(sorted({event.partition(":")[0] for event in key.events})) or None
