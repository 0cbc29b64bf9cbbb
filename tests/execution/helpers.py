"""Systems, readers and endpoints for tests of the execution side."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memeval.execution.runner import ScenarioRunner
from memeval.execution.steps import ScenarioWork
from memeval.reading import Reader, ReaderAnswer, ReaderFailed
from memeval.records.call import Phase
from memeval.records.response import Response
from memeval.records.track import Limits
from memeval.systems.child import Launch
from memeval.systems.process import SystemProcess
from tests.support.tiny import scenario
from tests.systems.helpers import PATIENT, write

NATIVE = """
import os, time

class Native:
    def __init__(self):
        self.told, self.asked = [], 0
    def reset(self):
        self.told = []
    def ingest_session(self, session, timestamp):
        self.told += [turn["content"] for turn in session["turns"]]
    def settle(self, timeout):
        return True
    def query(self, question, timestamp="now"):
        self.asked += 1
        {on_query}
        return self.told[0]
{more}
"""

SEARCHING = """
class Searching:
    def reset(self):
        self.told = []
    def ingest_session(self, session, timestamp):
        self.told += [turn["content"] for turn in session["turns"]]
    def search(self, query, k, timestamp="now"):
        return self.told[:k]
"""


def native(folder: Path, on_query: str = "pass", more: str = "", limits: Limits = PATIENT) -> SystemProcess:
    """Return a system that answers with the first thing it was told, not started; with code of the test's own."""
    return system(folder, NATIVE.format(on_query=on_query, more=more), limits)


def searching(folder: Path) -> SystemProcess:
    """Return a system that retrieves the first things it was told, not started."""
    return system(folder, SEARCHING)


def system(folder: Path, source: str, limits: Limits = PATIENT) -> SystemProcess:
    """Return a system from the source of its adapter, not started."""
    return SystemProcess(Launch(write(folder, source)), limits, lambda line: None)


def runner(process: SystemProcess, reader: Reader | None = None, **named: Any) -> ScenarioRunner:
    """Return what runs scenarios through a system, logs nothing and is never stopped unless a test says so."""
    return ScenarioRunner(process, reader, 10, named.pop("log", lambda *told: None), lambda: False, **named)


def rows_from(runs: ScenarioRunner, todo: ScenarioWork) -> list[Response]:
    return [row for finished in runs.run(todo) for row in finished.responses]


def work(number: int = 0, questions: int = 1, items: int = 1) -> ScenarioWork:
    """Return a scenario whose questions are dealt out to items in order, the same number to each."""
    made = scenario(number, questions)
    asked = [question.question_id for question in made.questions()]
    each = questions // items
    named = {f"item-{number}-{i}": tuple(asked[i * each : (i + 1) * each]) for i in range(items)}
    return ScenarioWork(scenario=made, items=named)


class Reads:
    """A reader that says what it was shown, and fails or stops on the questions it is told to."""

    name = "reads@1"

    def __init__(self, fails: frozenset[int] = frozenset(), stops: dict[int, Exception] | None = None) -> None:
        self.seen: list[tuple[str, ...]] = []
        self._fails = fails
        self._stops = stops or {}

    def read(self, question: str, timestamp: str | None, contexts: Sequence[str]) -> ReaderAnswer:
        self.seen.append(tuple(contexts))
        number = len(self.seen)
        if number in self._stops:
            raise self._stops[number]
        if number in self._fails:
            raise ReaderFailed("The model replied with a web page.", "sha256:" + "0" * 64)
        return ReaderAnswer(f"read {len(contexts)}", note="2 lines were not sent." if number == 1 else None)


class RecordingEndpoint:
    """Records scenarios and phases, and the calls of the system between them."""

    def __init__(self) -> None:
        self.recorded: list[str | Phase] = []

    def enter(self, scenario_id: str) -> None:
        self.recorded.append(scenario_id)

    def in_phase(self, phase: Phase) -> None:
        if self.recorded[-1] != phase:
            self.recorded.append(phase)
