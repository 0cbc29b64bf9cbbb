"""The checked system: its instances, the facts they ingest, and their replies to questions."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from memeval.conformance.facts import PlantedFact, PlantedFacts, normalized
from memeval.execution.steps import ModelAccess, NoModelAccess, SystemInstance
from memeval.records.call import Phase
from memeval.records.scenario import Session, Turn
from memeval.systems.channel import Log, visible
from memeval.systems.errors import SystemDied, SystemFailure
from memeval.systems.messages import SystemReply, session_json
from memeval.systems.process import SystemProcess
from memeval.systems.questions import EndedInFlight, Flight, PreparedCall, ask_call, search_call

SEARCH_ITEMS = 10
"""How many items ``search`` is asked for, as in a run."""

QUOTED = 160
"""How many characters of a system's text a message quotes."""


def quoted(text: str) -> str:
    """Return text from outside as one line in quotation marks, cut to ``QUOTED`` characters."""
    return f"“{visible(text[:QUOTED])}{'…' if len(text) > QUOTED else ''}”"


class PlantedTurn(NamedTuple):
    text: str
    role: str = "user"
    speaker: str | None = None


ACKNOWLEDGED = PlantedTurn("Thank you for telling me.", "assistant")


@dataclass(frozen=True)
class Observation:
    """All replies of a system to one question: from ``query``, ``search`` or both."""

    question: str
    answer: str
    """The answer; blank if the system only searches."""
    items: tuple[str, ...]
    """Texts of the retrieved items, best first."""
    contexts: tuple[str, ...]
    tokens: float | None = None
    """Self-reported context tokens; ``None`` if not reported."""
    sources: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def of(cls, question: str, *replies: SystemReply) -> Observation:
        counts = (reply.reported_tokens for reply in replies if reply.reported_tokens is not None)
        return cls(
            question,
            answer="\n".join(reply.answer for reply in replies if reply.answer),
            items=tuple(item.text for reply in replies for item in reply.items or ()),
            contexts=tuple(reply.context for reply in replies if reply.context is not None),
            tokens=next(counts, None),
            sources=tuple(item.source_ids for reply in replies for item in reply.items or ()),
        )

    def texts(self) -> Iterator[str]:
        """Yield all returned texts, the answer first."""
        yield self.answer
        yield from self.items
        yield from self.contexts

    def shows(self, word: str) -> bool:
        return any(normalized(word) in normalized(text) for text in self.texts())

    def sources_of(self, word: str) -> tuple[str, ...] | None:
        """Return the source ids of the first item with a word; ``None`` if no item has it."""
        for text, sources in zip(self.items, self.sources, strict=True):
            if normalized(word) in normalized(text):
                return sources
        return None

    def answers(self, word: str) -> bool:
        return normalized(word) in normalized(self.answer)

    def first_of(self, *words: str) -> str | None:
        """Return the word that occurs first; ``None`` if none occurs."""
        for text in map(normalized, self.texts()):
            positions = [(text.find(normalized(word)), word) for word in words if normalized(word) in text]
            if positions:
                return min(positions)[1]
        return None

    def lines(self) -> list[str]:
        return [line for text in (*self.items, *self.contexts) for line in text.splitlines()]

    def names_year(self, day: date) -> bool:
        """Whether the year of ``day`` occurs in any returned text."""
        return any(re.search(rf"(?<!\d){day.year}(?!\d)", text) for text in self.texts())

    def same_as(self, other: Observation) -> bool:
        return (self.answer, self.items, self.contexts) == (other.answer, other.items, other.contexts)

    def __str__(self) -> str:
        parts = [f"the answer {quoted(self.answer)}"] if self.answer else []
        if self.items:
            others = f" and {len(self.items) - 1} more" if len(self.items) > 1 else ""
            parts.append(f"the item {quoted(self.items[0])}{others}")
        parts += [f"the context {quoted(context)}" for context in self.contexts if context and not self.items]
        return ", ".join(parts) or "nothing"


class CheckedMemory:
    """One instance of the system, called as in a run. ``instance``: the instance; not started."""

    def __init__(self, instance: SystemInstance, subject: CheckedSystem) -> None:
        self.process: SystemProcess = instance.process
        self._model_access: ModelAccess = instance.endpoint or NoModelAccess()
        self._subject = subject
        self._check = ""
        self._sessions = 0
        self._today = date.min

    def start(self) -> None:
        """Start the process, or start it again.

        Raises SystemFailure: the process cannot be started, or the time for all checks is used up.
        """
        if self._subject.over:
            raise SystemDied("The system was stopped: the time for all checks is used up.")
        self.process.start()

    def clear(self, check: str | None = None) -> None:
        """Empty the memory; start the process if it is not running.

        ``check``: the name under which model calls are recorded from now on; ``None`` keeps the current name.
        """
        self._check = check or self._check
        self._model_access.enter(f"conformance:{self._check}")
        self._model_access.in_phase(Phase.INGEST)
        if not self.process.alive:
            self.start()
        self.process.reset()
        self._sessions, self._today = 0, date.min

    def can(self, method: str) -> bool:
        return self.process.adapter.can(method)

    def session(self, day: date, *planted: PlantedTurn) -> Session:
        self._sessions += 1
        self._today = max(self._today, day)
        name = f"s{self._sessions:03d}"
        turns = tuple(
            Turn(turn_id=f"{name}:t{number:02d}", role=turn.role, content=turn.text, speaker=turn.speaker)
            for number, turn in enumerate(planted, start=1)
        )
        return Session(session_id=name, date=day.isoformat(), turns=turns)

    def ingest(self, *sessions: Session) -> None:
        """Ingest sessions, and wait until the system can answer questions about them."""
        self._model_access.in_phase(Phase.INGEST)
        self.process.ingest((session_json(session), session.date) for session in sessions)
        self.settle()

    def settle(self) -> None:
        self._model_access.in_phase(Phase.SETTLE)
        self.process.settle()

    def ingest_facts(self, day: date, *facts: PlantedFact) -> None:
        days = (day + timedelta(days=number) for number in range(len(facts)))
        self.ingest(
            *(self.session(on, PlantedTurn(fact.statement), ACKNOWLEDGED) for on, fact in zip(days, facts, strict=True))
        )

    def ask(self, question: str, at: date | None = None) -> Observation:
        """Ask a question with ``query`` and ``search``, as far as the system has them.

        ``at``: the day of the question; ``None`` for the day after the last session.
        """
        at = at or self._today + timedelta(days=1)
        asked = searched = None
        if self.can("query"):
            self._model_access.in_phase(Phase.ASK)
            asked = self.process.ask(question, at.isoformat())
        if self.can("search"):
            searched = self.search(question, SEARCH_ITEMS, at)
        return Observation.of(question, *(reply for reply in (asked, searched) if reply is not None))

    def ask_together(self, questions: Sequence[str]) -> list[Observation]:
        """Ask several questions at the same time, each with ``query`` and then with ``search``.

        Raises SystemFailure: the first failure of a question.
        """
        at = (self._today + timedelta(days=1)).isoformat()
        replies = []
        if self.can("query"):
            self._model_access.in_phase(Phase.ASK)
            replies.append(self._replies([ask_call(question, at) for question in questions]))
        if self.can("search"):
            self._model_access.in_phase(Phase.SEARCH)
            replies.append(self._replies([search_call(question, SEARCH_ITEMS, at) for question in questions]))
        return [Observation.of(question, *(given[n] for given in replies)) for n, question in enumerate(questions)]

    def _replies(self, calls: Sequence[PreparedCall]) -> list[SystemReply]:
        try:
            results = dict(self.process.replies_to(calls, Flight(self.process.adapter.questions_at_once)))
        except EndedInFlight as ended:
            raise ended.failure from None
        replies = []
        for _place, result in sorted(results.items(), key=itemgetter(0)):
            if isinstance(result, SystemFailure):
                raise result
            replies.append(result)
        return replies

    def search(self, question: str, k: int, at: date) -> SystemReply:
        self._model_access.in_phase(Phase.SEARCH)
        return self.process.search(question, k, at.isoformat())

    def retain(
        self, content: str, day: date, *, source_id: str, bank: str | None = None, tags: tuple[str, ...] | None = None
    ) -> None:
        self._model_access.in_phase(Phase.INGEST)
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
        self._model_access.in_phase(Phase.SEARCH)
        reply = self.process.recall(
            query,
            SEARCH_ITEMS,
            bank=bank,
            timestamp=(self._today + timedelta(days=1)).isoformat(),
            tags=tags,
            since=None if since is None else since.isoformat(),
            until=None if until is None else until.isoformat(),
        )
        return Observation.of(query, reply)

    def export(self) -> Observation:
        self._model_access.in_phase(Phase.SEARCH)
        return Observation("", "", tuple(item.text for item in self.process.export()), ())

    def forget(self, *, bank: str | None, ids: tuple[str, ...] | None, query: str | None) -> None:
        """Call ``forget``, and wait until the system has settled."""
        self._model_access.in_phase(Phase.INGEST)
        self.process.forget(bank=bank, ids=ids, query=query)
        self.settle()


class CheckedSystem:
    """The checked system, and the facts that are planted in it.

    ``new_instance``: makes an instance that is not started; its argument is given the printed lines, which none reads.
    ``deterministic``: whether the system declares that identical runs give equal answers.
    """

    def __init__(self, new_instance: Callable[[Log], SystemInstance], seed: str, *, deterministic: bool) -> None:
        self._new_instance = new_instance
        self._seed = seed
        self.deterministic = deterministic
        self.over = False
        """Whether the time for all checks is used up."""
        self.facts = PlantedFacts(seed)
        self._check = ""
        self._open: list[CheckedMemory] = []
        self._shared: CheckedMemory | None = None

    def begin(self, check: str) -> None:
        """Prepare a check: it gets its own facts, and its name is recorded with model calls."""
        self._check = check
        self.facts = PlantedFacts(self._seed, check)

    def can(self, method: str) -> bool:
        return (self._shared or self._start()).can(method)

    def memory(self) -> CheckedMemory:
        shared = self._shared or self._start()
        shared.clear(self._check)
        return shared

    @contextlib.contextmanager
    def another(self, storage: Path | None = None) -> Iterator[CheckedMemory]:
        """Start another instance. ``storage``: its storage folder; ``None`` for one that ends with the process."""
        memory = self._new_memory()
        memory.process.storage = storage
        try:
            memory.clear(self._check)
            yield memory
        finally:
            self._close(memory)

    def close_shared(self) -> None:
        """Close the shared instance; the next check starts another."""
        if self._shared is not None:
            self._close(self._shared)
            self._shared = None

    def kill(self) -> None:
        """Kill all instances and start no other. May be called from any thread."""
        self.over = True
        for memory in list(self._open):
            memory.process.kill()

    def _start(self) -> CheckedMemory:
        self._shared = self._new_memory()
        self._shared.start()
        return self._shared

    def _new_memory(self) -> CheckedMemory:
        memory = CheckedMemory(self._new_instance(lambda line: None), self)
        self._open.append(memory)
        return memory

    def _close(self, memory: CheckedMemory) -> None:
        self._open.remove(memory)
        memory.process.close()
