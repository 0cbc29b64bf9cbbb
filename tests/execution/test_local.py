"""Many scenarios at once, and many questions: what is stored, in which order, and what progress is told."""

import ast
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memeval.execution.executor import execute
from memeval.execution.journal import Journal
from memeval.execution.local import LocalExecutor
from memeval.execution.progress import Progress
from memeval.execution.steps import ScenarioWork, SystemInstance
from memeval.gateway.stops import BudgetSpent
from memeval.reading import Reader, ReaderAnswer
from memeval.records.call import Phase
from memeval.records.response import Outcome, Response
from memeval.records.scenario import Ask, Retain
from memeval.systems.questions import Flight, Slots
from tests.execution.helpers import RecordingEndpoint, native, rows_from, runner, searching, system, work
from tests.systems.helpers import PATIENT


class Told(Progress):
    """Progress that writes down what it is told."""

    def __init__(self) -> None:
        self.spent: list[tuple[float | None, int, int]] = []
        self.items = 0

    def advance(self, items: int, errors: int) -> None:
        self.items += items

    def spend(self, usd: float | None, made: int, cached: int) -> None:
        self.spent.append((usd, made, cached))


def run(
    folder: Path,
    make: Callable[[], SystemInstance],
    scenarios: range,
    *,
    check: Callable[[], None] = lambda: None,
    progress: Progress | None = None,
    spent: Callable[[], tuple[float | None, int, int]] | None = None,
) -> None:
    """Run scenarios of four questions in two items, four at once, into the journal of a folder."""
    (folder / "journal").mkdir(exist_ok=True)
    first = make()
    first.process.start()
    with Journal(folder) as journal:
        executor = LocalExecutor(first, lambda log: make(), None, 10, 4, check=check)
        works = [work(number, questions=4, items=2) for number in scenarios]
        execute(executor, works, journal, progress or Progress(), spent=spent)


def stored(folder: Path) -> list[Response]:
    """Return the rows of a folder's journal."""
    with Journal(folder) as journal:
        return list(journal.responses.values())


def test_what_the_first_instance_prints_is_in_the_log(tmp_path: Path) -> None:
    run(tmp_path, lambda: SystemInstance(native(tmp_path, "print('a line of the system')")), range(1))
    with Journal(tmp_path) as journal:
        printed = [line.detail for line in journal.log_lines if line.event == "printed"]
    assert printed and set(printed) == {"a line of the system"}


def test_a_stop_stores_whole_items_and_nothing_that_it_made_systems_do(tmp_path: Path) -> None:
    stopped = tmp_path / "stopped"
    on_query = (
        f"if self.asked == 7: open({str(stopped)!r}, 'w').close()\n"
        f"        if os.path.exists({str(stopped)!r}): raise RuntimeError('402 Payment Required')\n"
        "        time.sleep(0.01)"
    )

    def check() -> None:
        if stopped.exists():
            raise BudgetSpent("The budget is spent.")

    with pytest.raises(BudgetSpent):
        run(tmp_path, lambda: SystemInstance(native(tmp_path, on_query)), range(40), check=check)
    rows = stored(tmp_path)
    assert rows and len(rows) < 160
    assert {row.outcome for row in rows} == {Outcome.OK}
    items = [row.item_id for row in rows]
    assert all(items.count(item) == 2 for item in items)


def test_finished_items_are_stored_when_another_scenario_stops_the_run(tmp_path: Path) -> None:
    midway = tmp_path / "midway"
    on_query = (
        f"if '(2)' in question and 'Lima' in self.told[0]: open({str(midway)!r}, 'w').close(); time.sleep(60)\n"
        f"        while 'Lima' not in self.told[0] and not os.path.exists({str(midway)!r}): time.sleep(0.01)"
    )

    def check() -> None:
        if midway.exists():
            raise BudgetSpent("The budget is spent.")

    with pytest.raises(BudgetSpent):
        run(tmp_path, lambda: SystemInstance(native(tmp_path, on_query)), range(2), check=check)
    assert [(row.item_id, row.outcome) for row in stored(tmp_path)] == [("item-0-0", Outcome.OK)] * 2


def test_every_instance_has_its_own_endpoint(tmp_path: Path) -> None:
    endpoints: list[RecordingEndpoint] = []

    def make() -> SystemInstance:
        endpoints.append(RecordingEndpoint())
        return SystemInstance(native(tmp_path, "time.sleep(0.1)"), endpoints[-1])

    run(tmp_path, make, range(8))
    once = [Phase.INGEST, Phase.SETTLE, Phase.ASK]
    entered = [each for endpoint in endpoints for each in endpoint.recorded if not isinstance(each, Phase)]
    assert sorted(entered) == [f"tiny-{number:03}" for number in range(8)]
    assert len(endpoints) > 1
    for endpoint in endpoints:
        assert [each for each in endpoint.recorded if isinstance(each, Phase)] == once * (len(endpoint.recorded) // 4)


def test_progress_receives_the_cost_before_the_items(tmp_path: Path) -> None:
    told = Told()
    run(tmp_path, lambda: SystemInstance(native(tmp_path)), range(3), progress=told, spent=lambda: (0.5, 3, told.items))
    assert told.items == 6
    assert told.spent[0] == (0.5, 3, 0)


MANY = """
import os, time

class Many:
    questions_at_once = {at_once}
    def reset(self):
        self.told = []
        with open({log!r}, "a") as log: log.write("reset\\n")
    def ingest_session(self, session, timestamp):
        self.told += [turn["content"] for turn in session["turns"]]
    def query(self, question, timestamp="now"):
        number = int(question.split("(")[1].split(")")[0])
        fault = {faults!r}.get(number)
        if fault == "raises":
            raise RuntimeError(f"no answer to {{number}}")
        if fault == "dies":
            os._exit(3)
        if fault == "hangs":
            time.sleep(60)
        if fault == "number":
            return 5
        time.sleep(0.01 * (number % 3))
        return f"{{self.told[0]}} {{number}}"
"""


def rows_of(
    folder: Path, at_once: int, concurrency: int, faults: dict[int, str], works: Sequence[ScenarioWork]
) -> tuple[dict[str, Any], int]:
    """Run scenarios; return the comparable rows by question, and how often a memory was emptied."""
    folder.mkdir(exist_ok=True)
    (folder / "journal").mkdir()
    log = folder / "log"
    limits = PATIENT.model_copy(update={"ask_seconds": 1.0 if "hangs" in faults.values() else 60.0})

    def make() -> SystemInstance:
        return SystemInstance(system(folder, MANY.format(at_once=at_once, faults=faults, log=str(log)), limits))

    first = make()
    first.process.start()
    with Journal(folder) as journal:
        execute(LocalExecutor(first, lambda log: make(), None, 10, concurrency), works, journal, Progress())
        rows = {row.question_id: row.comparable() for row in journal.responses.values()}
    return dict(sorted(rows.items())), log.read_text().count("reset")


FAULTS: dict[str, dict[int, str]] = {
    "none": {},
    "exceptions": {2: "raises", 9: "raises"},
    "a crash": {4: "dies"},
    "crashes": {4: "dies", 6: "dies", 19: "dies"},
    "a wrong value": {3: "number"},
    "questions that never end": {1: "hangs", 5: "hangs"},
    "all": {0: "dies", 3: "hangs", 7: "raises", 11: "number", 12: "dies"},
}


@pytest.mark.parametrize("faults", FAULTS.values(), ids=FAULTS.keys())
def test_rows_are_those_of_questions_asked_one_by_one(tmp_path: Path, faults: dict[int, str]) -> None:
    works = [work(number, questions=20, items=20) for number in range(2)]
    alone, _ = rows_of(tmp_path / "alone", 1, 1, faults, works)
    together, _ = rows_of(tmp_path / "together", 6, 8, faults, works)
    for rows in (alone, together):  # where a thread stood when its process was ended is no part of the question
        for row in rows.values():
            row["error"] = (row["error"] or "").partition(" (adapter.py")[0]
    assert len(alone) == 40
    assert together == alone


def test_each_history_is_ingested_once(tmp_path: Path) -> None:
    works = [work(number, questions=30, items=30) for number in range(5)]
    rows, resets = rows_of(tmp_path / "run", 8, 16, {}, works)
    assert (len(rows), resets) == (150, 5)


def test_questions_of_one_item_are_asked_one_after_the_other(tmp_path: Path) -> None:
    source = """
import time, threading
class Counts:
    questions_at_once = 8
    def reset(self): self.now = 0
    def ingest_session(self, session, timestamp): pass
    def query(self, question, timestamp="now"):
        self.now += 1
        time.sleep(0.02)
        most, self.now = self.now, self.now - 1
        return str(most)
"""
    with system(tmp_path, source) as process:
        runs = runner(process, flight=Flight(8))
        whole, apart = (rows_from(runs, work(questions=6, items=items)) for items in (1, 6))
    assert [row.answer for row in whole] == ["1"] * 6
    assert [row.question_id for row in whole] == [f"tiny-000:q{number:02}" for number in range(1, 7)]
    assert max(int(row.answer) for row in apart) > 1


def test_an_item_is_there_before_the_next_question_is_asked(tmp_path: Path) -> None:
    with system(tmp_path, MANY.format(at_once=1, faults={1: "hangs"}, log=str(tmp_path / "log"))) as process:
        finished = next(runner(process).run(work(questions=2, items=2)))
    assert finished.items == ("item-0-0",)


TOGETHER = """
import threading, time
class Texts:
    texts_together = {together}
    def reset(self): self.told, self.now = [], 0
    def retain(self, content, source_id=""):
        self.now += 1
        time.sleep(0.05)
        most, self.now = self.now, self.now - 1
        self.told.append((source_id, most))
    def query(self, question, timestamp="now"):
        return repr(sorted(self.told))
"""


@pytest.mark.parametrize("together", [True, False])
def test_texts_are_written_together_only_as_the_scenario_says_and_the_system_can(
    tmp_path: Path, together: bool
) -> None:
    numbers = [1, 3, 3, 3, 2, 2, 1]
    texts = [
        Retain(text_id=f"s{place:03}", content=f"text {place}", source_id=f"t{place}", in_flight=number)
        for place, number in enumerate(numbers, 1)
    ]
    asked = work(questions=1, items=1)
    question = next(step for step in asked.scenario.steps if isinstance(step, Ask))
    changed = replace(asked, scenario=asked.scenario.model_copy(update={"steps": (*texts, question)}))
    with system(tmp_path, TOGETHER.format(together=together)) as process:
        (row,) = rows_from(runner(process), changed)
    told = dict(ast.literal_eval(row.answer))
    assert list(told) == [f"s{place:03}" for place in range(1, 8)]
    most = [told["s001"], max(told[f"s00{n}"] for n in (2, 3, 4)), max(told["s005"], told["s006"]), told["s007"]]
    assert most == ([1, 3, 2, 1] if together else [1, 1, 1, 1])
    assert len(row.timings.retain_seconds) == 7


class Slow:
    """A reader that waits until several questions are with it."""

    name = "slow@1"

    def __init__(self, together: int) -> None:
        self._barrier = threading.Barrier(together, timeout=20)

    def read(self, question: str, timestamp: str | None, contexts: Sequence[str]) -> ReaderAnswer:
        self._barrier.wait()
        return ReaderAnswer(question)


def test_the_reader_works_while_the_system_is_asked_further_questions(tmp_path: Path) -> None:
    first = SystemInstance(searching(tmp_path))
    first.process.start()
    (tmp_path / "journal").mkdir()
    reader: Reader = Slow(4)
    with Journal(tmp_path) as journal:
        executor = LocalExecutor(first, lambda log: first, reader, 10, 1, readings=4)
        execute(executor, [work(questions=8, items=8)], journal, Progress())
        rows: list[Response] = list(journal.responses.values())
    assert [row.outcome for row in rows] == [Outcome.OK] * 8
    assert all(row.answer.endswith(f"({int(row.question_id[-2:]) - 1})") for row in rows)


def test_a_slot_that_is_given_back_is_taken_again() -> None:
    slots = Slots(1)
    assert slots.take(wait=True) and not slots.take(wait=False)
    slots.give_back(1)
    assert slots.take(wait=False)
    slots.open()
    assert slots.take(wait=False), "a run that ends lets nobody wait"
