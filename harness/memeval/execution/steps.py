"""The work of a run: scenarios with open items, and their steps, read one by one: long histories stay out of memory."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from memeval.records.call import Phase
from memeval.records.response import Context, Response
from memeval.records.scenario import Forget, Ingest, Question, Recall, Retain, Scenario, Step
from memeval.systems.messages import session_json
from memeval.systems.process import SystemProcess

Change = Ingest | Retain | Forget


class Lookahead:
    """Reads the steps of a scenario: in turn what to ingest and forget, and the questions that follow it.

    ``wanted``: the ids of the questions to ask; others are skipped.
    """

    def __init__(self, steps: Iterable[Step], wanted: Mapping[str, object]) -> None:
        self._steps = (step for step in steps if not isinstance(step, Question) or step.question_id in wanted)
        self._next: Step | None = next(self._steps, None)

    def to_ingest(self) -> Iterator[Change]:
        """Yield the sessions and texts to ingest, and what to forget, before the next question."""
        while isinstance(self._next, Ingest | Retain | Forget):
            yield self._next
            self._next = next(self._steps, None)

    def questions(self) -> list[Question]:
        """Return the questions before the next session or text; concurrent searches are returned apart from others."""
        found: list[Question] = []
        while isinstance(self._next, Question) and (not found or _in_flight(found[0]) == _in_flight(self._next)):
            found.append(self._next)
            self._next = next(self._steps, None)
        return found


class CountedChanges:
    """Steps that change the memory, counted as they are read."""

    def __init__(self, steps: Iterator[Change]) -> None:
        self._steps = steps
        self._returned: Change | None = None
        self.ingested = 0
        self.forgotten = 0

    def __iter__(self) -> Iterator[Change]:
        return self

    def __next__(self) -> Change:
        returned, self._returned = self._returned, None
        if returned is not None:
            return returned
        step = next(self._steps)
        if isinstance(step, Forget):
            self.forgotten += 1
        else:
            self.ingested += 1
        return step

    def texts(self, first: Retain) -> Iterator[Retain]:
        """Yield texts that are written at the same time: ``first`` and those that follow with the same number."""
        yield first
        while (step := next(self, None)) is not None:
            if not isinstance(step, Retain) or step.in_flight != first.in_flight:
                self._returned = step
                return
            yield step

    def sessions(self, first: Ingest | Retain, *, stop_at_texts: bool) -> Iterator[tuple[bytes, str]]:
        """Yield sessions as JSON with their dates: ``first`` and those that follow, up to what is to be forgotten.

        ``stop_at_texts``: whether to stop before a text, which then comes next.
        """
        step: Change | None = first
        while step is not None:
            if isinstance(step, Forget) or (stop_at_texts and step is not first and isinstance(step, Retain)):
                self._returned = step
                return
            yield session_json(step.session), step.session.date
            step = next(self, None)


def _in_flight(step: Question) -> int:
    return step.in_flight if isinstance(step, Recall) else 1


@dataclass(frozen=True)
class ScenarioWork:
    scenario: Scenario
    items: Mapping[str, tuple[str, ...]]
    attempt: int = 1
    counts_ingestion: bool = True
    """Whether rows say how long ingestion took: they do in one slice of a scenario only, since each ingests it."""


@dataclass(frozen=True)
class FinishedItems:
    items: tuple[str, ...]
    responses: tuple[Response, ...]
    contexts: tuple[Context, ...]


class ModelAccess(Protocol):
    """The model endpoint of one system instance. It records calls under the current scenario and phase."""

    def enter(self, scenario_id: str) -> None:
        """A pass over a scenario starts."""

    def in_phase(self, phase: Phase) -> None:
        """Calls from now on belong to a phase."""


class NoModelAccess:
    """The endpoint of a system without models: it does nothing."""

    def enter(self, scenario_id: str) -> None:
        """See :class:`ModelAccess`."""

    def in_phase(self, phase: Phase) -> None:
        """See :class:`ModelAccess`."""


@dataclass(frozen=True)
class SystemInstance:
    process: SystemProcess
    endpoint: ModelAccess | None = None
