"""Measures the times of a system beside a control, so that runs of different days and machines can be compared."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing

from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.models import Models
from memeval.evaluation.run.runtime import NewInstance, system_instances
from memeval.execution.preparation import prepare
from memeval.execution.runner import ScenarioRunner
from memeval.execution.setup import SystemSetup
from memeval.execution.steps import FinishedItems, ScenarioWork
from memeval.keys import ItemKey
from memeval.reading import Reader
from memeval.records.beside import BesideTimes, PairedSeconds
from memeval.records.response import Response
from memeval.records.run import View
from memeval.records.scenario import Ingest, Retain
from memeval.records.track import Limits
from memeval.systems.controls import all_controls
from memeval.systems.source import control_source

CONTROL = "bm25"
REPEATS = 5

MOST_QUESTIONS = 40
"""Further questions of the conversation are not asked."""

LEAST_QUESTIONS = 20
"""The shortest conversation with this many questions is measured, or else the one with most questions."""


def times_beside(
    new_instance: NewInstance,
    benchmark_session: BenchmarkSession,
    items: Sequence[ItemKey],
    reader: Reader | None,
    limits: Limits,
    setup: SystemSetup,
    models: Models,
    note: Callable[[str], None],
) -> BesideTimes | None:
    """Return the times of a system and of the control ``bm25`` on one conversation, measured in turns.

    ``new_instance``: creates instances of the system. ``items``: those of the run. ``reader``: the reader of the run.
    ``note``: receives a sentence if there are no times. Returns ``None`` if the system writes its answers itself or is
    called in banks, since the control only searches sessions; or if one of both failed.
    """
    if reader is None:
        note(f"No times beside {CONTROL}: it takes part only where a reader or a grader gets what a search found.")
        return None
    work = _conversation(benchmark_session, items)
    control = prepare(control_source(all_controls()[CONTROL]), setup, note)
    ingest: list[PairedSeconds] = []
    search: list[PairedSeconds] = []
    fastest: tuple[dict[str, float], dict[str, float]] = {}, {}
    with system_instances(control, limits, models) as new_control, ExitStack() as stack:
        runners = []
        for create in (new_instance, new_control):
            instance = create(lambda line: None)  # the run has the lines that the system prints
            stack.enter_context(closing(instance.process))
            process, search_items = instance.process, limits.search_items
            runners.append(ScenarioRunner(process, reader, search_items, endpoint=instance.endpoint))
        for number in range(1 + REPEATS):
            rows = _in_turns(runners, work, first=number % 2)
            if any(row.outcome.is_error for each in rows for row in each):
                note(f"No times beside {CONTROL}: a question of the measured conversation failed.")
                return None
            if number:  # the first time, both load what they need
                ingest.append(_pair(*map(_ingest_seconds, rows)))
                search.append(_pair(*(sum(map(_search_seconds, each)) for each in rows)))
                for shortest, responses in zip(fastest, rows, strict=True):
                    for row in responses:
                        shortest[row.question_id] = min(shortest.get(row.question_id, math.inf), _search_seconds(row))
    return BesideTimes(
        control=CONTROL,
        sessions=sum(isinstance(step, Ingest | Retain) for step in work.scenario.steps),
        questions=sum(len(questions) for questions in work.items.values()),
        ingest=tuple(ingest),
        search=tuple(search),
        fastest=tuple(_pair(seconds, fastest[1][question]) for question, seconds in fastest[0].items()),
        search_items=limits.search_items,
    )


def _conversation(benchmark_session: BenchmarkSession, items: Sequence[ItemKey]) -> ScenarioWork:
    questions = Counter[str]()
    for key in items:
        questions[key.scenario_id] += len(key.question_ids)
    long = [each for each in questions.items() if each[1] >= LEAST_QUESTIONS]
    chosen = min(long, key=lambda each: each[1]) if long else max(questions.items(), key=lambda each: each[1])
    wanted = [key for key in items if key.scenario_id == chosen[0]][:MOST_QUESTIONS]
    return benchmark_session.works(wanted, View.ALL, {})[0]


def _in_turns(runners: Sequence[ScenarioRunner], work: ScenarioWork, first: int) -> list[list[Response]]:
    """Run a conversation through both, item by item in turns; return their responses."""
    rows: list[list[Response]] = [[], []]
    passes: dict[int, Iterator[FinishedItems]] = {place: runners[place].run(work) for place in (first, 1 - first)}
    while passes:
        for place in list(passes):
            finished = next(passes[place], None)
            if finished is None:
                del passes[place]
            else:
                rows[place] += finished.responses
    return rows


def _ingest_seconds(rows: Sequence[Response]) -> float:
    times = [row.timings for row in rows]
    return sum((each.take_in_seconds or 0.0) + (each.settle_seconds or 0.0) for each in times)


def _search_seconds(row: Response) -> float:
    times = row.timings
    return (times.ask_seconds if times.search_seconds is None else times.search_seconds) or 0.0


def _pair(system: float, control: float) -> PairedSeconds:
    return PairedSeconds(system=round(system, 6), control=round(control, 6))
