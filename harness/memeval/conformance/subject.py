"""The system under check: its instances, what they are told, and what they bring up when they are asked."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple

from memeval.conformance.facts import PlantedFact, PlantedFacts, plain
from memeval.execution.model_access import ModelAccess, NoModelAccess, SystemInstance
from memeval.records.call import Phase
from memeval.records.scenario import Session, Turn
from memeval.systems.errors import SystemDied
from memeval.systems.messages import SystemReply, session_json
from memeval.systems.output import Log, visible
from memeval.systems.process import SystemProcess

SEARCH_ITEMS = 10
"""How many items are asked of ``search``, as in a run."""

QUOTED = 160
"""How many characters of outside text a sentence quotes."""


def quoted(text: str) -> str:
    """Return outside text as a sentence can hold it: one line, cut, in quotation marks."""
    return f"“{visible(text[:QUOTED])}{'…' if len(text) > QUOTED else ''}”"


class PlantedTurn(NamedTuple):
    """One turn of a session."""

    text: str
    role: str = "user"
    speaker: str | None = None


ACKNOWLEDGED = PlantedTurn("Thank you for telling me.", "assistant")
"""What an assistant says to a fact."""


@dataclass(frozen=True)
class Observation:
    """What a system gave for one question, by all the ways it can be asked."""

    question: str
    """What it was asked."""
    answer: str
    """Its answer; blank where it only searches."""
    items: tuple[str, ...]
    """Texts of the items it brought up, best first."""
    contexts: tuple[str, ...]
    """Contexts it handed over."""
    tokens: float | None = None
    """Tokens of context by its own account."""

    @classmethod
    def of(cls, question: str, *replies: SystemReply) -> Observation:
        """Return what came of a question."""
        counts = (reply.reported_tokens for reply in replies if reply.reported_tokens is not None)
        return cls(
            question,
            answer="\n".join(reply.answer for reply in replies if reply.answer),
            items=tuple(item.text for reply in replies for item in reply.items or ()),
            contexts=tuple(reply.context for reply in replies if reply.context is not None),
            tokens=next(counts, None),
        )

    def texts(self) -> Iterator[str]:
        """Yield all that it gave, what weighs most first."""
        yield self.answer
        yield from self.items
        yield from self.contexts

    def shows(self, word: str) -> bool:
        """Whether a word stands anywhere in it."""
        return any(plain(word) in plain(text) for text in self.texts())

    def answers(self, word: str) -> bool:
        """Whether a word stands in the answer."""
        return plain(word) in plain(self.answer)

    def first_of(self, *words: str) -> str | None:
        """Return the word that comes first; ``None`` where none comes at all."""
        for text in map(plain, self.texts()):
            places = [(text.find(plain(word)), word) for word in words if plain(word) in text]
            if places:
                return min(places)[1]
        return None

    def lines(self) -> list[str]:
        """Return what it brought up, line by line."""
        return [line for text in (*self.items, *self.contexts) for line in text.splitlines()]

    def names_year(self, day: date) -> bool:
        """Whether a day's year stands anywhere in it."""
        return any(re.search(rf"(?<!\d){day.year}(?!\d)", text) for text in self.texts())

    def same_as(self, other: Observation) -> bool:
        """Whether both are the same, word for word."""
        return (self.answer, self.items, self.contexts) == (other.answer, other.items, other.contexts)

    def __str__(self) -> str:
        parts = [f"the answer {quoted(self.answer)}"] if self.answer else []
        if self.items:
            others = f" and {len(self.items) - 1} more" if len(self.items) > 1 else ""
            parts.append(f"the item {quoted(self.items[0])}{others}")
        parts += [f"the context {quoted(context)}" for context in self.contexts if context and not self.items]
        return ", ".join(parts) or "nothing"


class CheckedMemory:
    """One instance of the system, driven as a run drives it.

    Args:
        instance: the instance; not started.
        subject: the system it is an instance of.
    """

    def __init__(self, instance: SystemInstance, subject: CheckedSystem) -> None:
        self.process: SystemProcess = instance.process
        self._endpoint: ModelAccess = instance.endpoint or NoModelAccess()
        self._subject = subject
        self._check = ""
        self._sessions = 0
        self._today = date.min

    def start(self) -> None:
        """Start its process, whether or not there is one.

        Raises:
            SystemFailure: it cannot be started, or the time for all checks is used up.
        """
        if self._subject.over:
            raise SystemDied("The system was ended, for the time of all checks is used up.")
        self.process.start()

    def clear(self, check: str | None = None) -> None:
        """Empty the memory; start the process where there is none.

        Args:
            check: what model calls are recorded under from now on; ``None`` leaves it as it is.
        """
        self._check = check or self._check
        self._endpoint.enter(f"conformance:{self._check}")
        self._endpoint.in_phase(Phase.INGEST)
        if not self.process.alive:
            self.start()
        self.process.reset()
        self._sessions, self._today = 0, date.min

    def can(self, method: str) -> bool:
        """Whether the system has a method."""
        return self.process.hello is not None and self.process.hello.can(method)

    def session(self, day: date, *said: PlantedTurn) -> Session:
        """Return the next session of this memory."""
        self._sessions += 1
        self._today = max(self._today, day)
        name = f"s{self._sessions:03d}"
        turns = tuple(
            Turn(turn_id=f"{name}:t{number:02d}", role=one.role, content=one.text, speaker=one.speaker)
            for number, one in enumerate(said, start=1)
        )
        return Session(session_id=name, date=day.isoformat(), turns=turns)

    def ingest(self, *sessions: Session) -> None:
        """Have sessions taken in, and wait until they can be asked for."""
        self._endpoint.in_phase(Phase.INGEST)
        self.process.ingest((session_json(session), session.date) for session in sessions)
        self.settle()

    def settle(self) -> None:
        """Wait until all that was taken in can be asked for."""
        self._endpoint.in_phase(Phase.SETTLE)
        self.process.settle()

    def tell(self, day: date, *facts: PlantedFact) -> None:
        """Have a session taken in for each fact, in which the user says it: the first on that day, others on the next.

        Args:
            day: the day of the first.
            facts: the facts.
        """
        days = (day + timedelta(days=number) for number in range(len(facts)))
        self.ingest(
            *(self.session(on, PlantedTurn(fact.said), ACKNOWLEDGED) for on, fact in zip(days, facts, strict=True))
        )

    def ask(self, question: str, at: date | None = None) -> Observation:
        """Put a question in all the ways that the system has.

        Args:
            question: its text.
            at: the day it is asked as of; ``None`` for the day after the last session.
        """
        at = at or self._today + timedelta(days=1)
        asked = searched = None
        if self.can("query"):
            self._endpoint.in_phase(Phase.ASK)
            asked = self.process.ask(question, at.isoformat())
        if self.can("search"):
            searched = self.search(question, SEARCH_ITEMS, at)
        return Observation.of(question, *(reply for reply in (asked, searched) if reply is not None))

    def search(self, question: str, k: int, at: date) -> SystemReply:
        """Have the memory searched for at most ``k`` items, as of a day."""
        self._endpoint.in_phase(Phase.SEARCH)
        return self.process.search(question, k, at.isoformat())

    def retain(
        self, content: str, day: date, *, source_id: str, bank: str | None = None, tags: tuple[str, ...] | None = None
    ) -> None:
        """Have a text taken in."""
        self._endpoint.in_phase(Phase.INGEST)
        self._today = max(self._today, day)
        self.process.retain(content, bank=bank, timestamp=day.isoformat(), tags=tags, source_id=source_id)

    def recall(
        self,
        query: str,
        *,
        bank: str,
        tags: tuple[str, ...] | None = None,
        since: date | None = None,
        until: date | None = None,
    ) -> Observation:
        """Have a bank searched, with filters."""
        self._endpoint.in_phase(Phase.SEARCH)
        found = self.process.recall(
            query,
            SEARCH_ITEMS,
            bank=bank,
            timestamp=(self._today + timedelta(days=1)).isoformat(),
            tags=tags,
            since=None if since is None else since.isoformat(),
            until=None if until is None else until.isoformat(),
        )
        return Observation.of(query, found)

    def forget(self, *, bank: str | None, ids: tuple[str, ...] | None, query: str | None) -> None:
        """Have something forgotten, and wait until it is."""
        self._endpoint.in_phase(Phase.INGEST)
        self.process.forget(bank=bank, ids=ids, query=query)
        self.settle()


class CheckedSystem:
    """A system under check, and the facts that are planted in it.

    Args:
        new_instance: makes an instance, not started, given what takes the lines it prints.
        seed: what the planted facts follow from.
        deterministic: whether the system says that a second identical run gives the same answers.
        log: takes what its instances print.
    """

    def __init__(
        self, new_instance: Callable[[Log], SystemInstance], seed: str, *, deterministic: bool, log: Log
    ) -> None:
        self._new_instance = new_instance
        self._seed = seed
        self._log = log
        self.deterministic = deterministic
        self.over = False
        """Whether the time for all checks is used up."""
        self.facts = PlantedFacts(seed)
        """Facts of the check that is being made."""
        self._check = ""
        self._open: list[CheckedMemory] = []
        self._shared: CheckedMemory | None = None

    def begin(self, check: str) -> None:
        """Make ready for a check: facts of its own, and model calls recorded under its name."""
        self._check = check
        self.facts = PlantedFacts(self._seed, check)

    def can(self, method: str) -> bool:
        """Whether the system has a method."""
        return (self._shared or self._start()).can(method)

    def memory(self) -> CheckedMemory:
        """Return the instance that checks share, emptied."""
        shared = self._shared or self._start()
        shared.clear(self._check)
        return shared

    @contextlib.contextmanager
    def another(self) -> Iterator[CheckedMemory]:
        """Lend a second instance, started for this and ended afterwards."""
        memory = self._made()
        try:
            memory.clear(self._check)
            yield memory
        finally:
            self._close(memory)

    def close_shared(self) -> None:
        """End the instance that checks share; the next check starts another."""
        if self._shared is not None:
            self._close(self._shared)
            self._shared = None

    def kill(self) -> None:
        """End all instances at once, and start no other; may be called from any thread."""
        self.over = True
        for memory in list(self._open):
            memory.process.kill()

    def _start(self) -> CheckedMemory:
        self._shared = self._made()
        self._shared.start()
        return self._shared

    def _made(self) -> CheckedMemory:
        memory = CheckedMemory(self._new_instance(self._log), self)
        self._open.append(memory)
        return memory

    def _close(self, memory: CheckedMemory) -> None:
        self._open.remove(memory)
        memory.process.close()
