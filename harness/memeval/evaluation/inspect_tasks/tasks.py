"""The tasks, the solver and the scorer, as Inspect finds them: the entry point names this module.

Written for inspect-ai 0.3.285.
"""

import asyncio
import json
import math
import site
from collections.abc import Callable
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser, ModelOutput
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, grouped, mean, metric, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from memeval.benchmarks import known_ids
from memeval.evaluation.inspect_tasks.answering import (
    Answered,
    TaskData,
    answer_scenario,
    answered_by,
    composite,
    graded,
    keys_of,
    questions_of,
    with_answer,
)
from memeval.execution.readers import NATIVE
from memeval.grading.scoring import headline
from memeval.keys import ItemKey
from memeval.records.response import Context, Response
from memeval.systems.source import find_system

PREFIX = "" if __file__.startswith((*site.getsitepackages(), site.getusersitepackages())) else "memeval/"
"""Inspect puts ``memeval/`` before the names of an installed package, but not of one that is installed as editable."""

STORED = "memeval"
"""Where the solver keeps what the system gave, in the store of a sample."""

DATA = "memeval"
"""The metadata of a sample that names its data."""


def benchmark_task(name: str, benchmark_id: str) -> Callable[..., Task]:
    """Register a benchmark as the task ``memeval/NAME``."""

    @task(name=f"{PREFIX}{name}")
    def benchmark(
        data: str | None = None,
        protocol: str | None = None,
        tier: str | None = None,
        system: str = "full-context",
        reader: str | None = None,
    ) -> Task:
        """Return the task.

        ``data``: your own copy of the data. ``protocol``, ``tier``: as of ``memeval run``. ``system``, ``reader``: see
        :func:`memory_system`.
        """
        named = TaskData.of(benchmark_id, data, protocol, tier)
        return Task(
            dataset=MemoryDataset([_sample(named, *each) for each in questions_of(named)], name=benchmark_id),
            solver=memory_system(system, reader),
            scorer=memeval_grade(),
            version=benchmark_id.partition("@")[2],
            metadata={"data_digest": named.session.dataset.digest},
        )

    registered: Callable[..., Task] = benchmark
    return registered


def _sample(data: TaskData, key: ItemKey, questions: list[str]) -> Sample:
    numbered = [f"{number}. {question}" for number, question in enumerate(questions, 1)]
    return Sample(
        id=key.item_id,
        input="\n".join(numbered if len(questions) > 1 else questions),
        target=list(key.key.references),
        metadata={"category": key.category, "cluster": key.cluster, DATA: vars(data)},
    )


@solver(name=f"{PREFIX}memory_system")
def memory_system(system: str = "full-context", reader: str | None = None) -> Solver:
    """Return a solver that asks a memory system.

    The system ingests the history of a scenario once, in a process of its own, and is asked all its questions. If it
    only retrieves, the model of the evaluation answers from what it returns.

    ``system``: what ``memeval run`` accepts: a control, a submission, a folder or a file. ``reader``: who answers:
    ``model``, ``native`` (the system) or ``extractive`` (memeval's offline reader); ``None`` for native if the system
    answers, else the model.
    """
    source = find_system(system)
    given: dict[tuple[int, str], Answered] = {}
    locks: dict[tuple[int, str], asyncio.Lock] = {}

    async def given_for(state: TaskState) -> Answered:
        data, item = TaskData(**state.metadata[DATA]), str(state.sample_id)
        async with locks.setdefault((state.epoch, keys_of(data)[item].scenario_id), asyncio.Lock()):
            if (state.epoch, item) not in given:
                found = await asyncio.to_thread(answer_scenario, data, source, reader, item)
                given.update({(state.epoch, each): answered for each, answered in found.items()})
        return given.pop((state.epoch, item))

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        answered = await given_for(state)
        rows = []
        for row in answered.responses:
            if row.question_id in answered.prompts:
                state.messages = [ChatMessageUser(content=answered.prompts[row.question_id])]
                state = await generate(state)
                row = with_answer(row, state.output.completion)
            rows.append(row)
        if not answered.prompts:
            state.output = ModelOutput.from_content(source.slug, "\n".join(row.answer for row in rows))
            state.messages.append(state.output.message)
        state.store.set(
            STORED,
            {
                "reader": answered.reader,
                "responses": [row.data() for row in rows],
                "contexts": [context.data() for context in answered.contexts],
            },
        )
        return state

    return solve


@metric(name=f"{PREFIX}composite")
def weighted() -> Metric:
    """Return the metric that weights the categories as memeval does, over the samples that were scored."""

    def compute(scores: list[SampleScore]) -> float:
        if not scores:
            return math.nan
        data = TaskData(**(scores[0].sample_metadata or {})[DATA])
        found = composite(data, {str(each.sample_id): each.score.as_float() for each in scores})
        return math.nan if found is None else found

    return compute


@scorer(
    name=f"{PREFIX}memeval_grade",
    metrics=[weighted(), mean(), stderr(), grouped(mean(), "category", all=False)],
)
def memeval_grade() -> Scorer:
    """Return a scorer that grades by memeval's rules, from 0 to 1. Errors and missing answers are 0."""

    async def score(state: TaskState, target: Target) -> Score:
        data, item = TaskData(**state.metadata[DATA]), str(state.sample_id)
        stored: dict[str, Any] | None = state.store.get(STORED)
        if stored is None:  # another solver than memeval's
            reader, responses, contexts = NATIVE, [answered_by(data, item, state.output.completion)], []
        else:
            reader = stored["reader"]
            responses = [Response.model_validate_json(json.dumps(row)) for row in stored["responses"]]
            contexts = [Context.model_validate_json(json.dumps(row)) for row in stored["contexts"]]
        grade = await asyncio.to_thread(graded, data, item, reader, responses, contexts)
        return Score(
            value=headline(grade) or 0.0,
            answer="\n".join(row.answer for row in responses),
            explanation=grade.reason,
            metadata={"state": grade.state.value, "metrics": dict(grade.metrics)},
        )

    return score


TASKS = {
    benchmark_id.partition("@")[0]: benchmark_task(benchmark_id.partition("@")[0], benchmark_id)
    for benchmark_id in known_ids()
}
"""The tasks by name. The last edition of a benchmark has its name."""
