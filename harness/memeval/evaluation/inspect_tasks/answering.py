"""What a system gives for the items of a scenario, with the prompts for a model that answers; and its grades."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from memeval.benchmarks import find
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.judge.grades import grade_items
from memeval.evaluation.run.models import models_for
from memeval.evaluation.run.readers import choose_reader
from memeval.evaluation.run.runtime import system_instances
from memeval.execution.journal import utc_now
from memeval.execution.model_reader import PREFIXES, filled_prompt, fitted, prompt_text
from memeval.execution.preparation import prepare
from memeval.execution.readers import NATIVE
from memeval.execution.runner import ScenarioRunner
from memeval.execution.setup import SystemSetup
from memeval.grading.scoring import counting
from memeval.judging.rules import RulesJudge
from memeval.keys import ItemKey
from memeval.options import RESULTS, ModelOptions
from memeval.reading import Reader, ReaderAnswer
from memeval.records.benchmark import BenchmarkInfo
from memeval.records.grade import Grade
from memeval.records.response import Context, Outcome, Response, Timings
from memeval.records.track import Limits
from memeval.systems.source import SystemSource, start_system

MODEL = "model"
"""The name of the reader that leaves answers to the model of the evaluation."""


@dataclass(frozen=True)
class TaskData:
    """Names the data of a task."""

    benchmark: str
    protocol: str
    tier: str
    path: str | None = None
    """Your own copy of the data; ``None`` for generated or downloaded data."""

    @classmethod
    def of(cls, benchmark: str, path: str | None, protocol: str | None, tier: str | None) -> "TaskData":
        """Name the data of a benchmark. ``protocol``: ``None`` for the first one in which a model can answer.

        Raises ``BadInput`` if the benchmark, the protocol or the tier does not exist, or its data is not there.
        """
        session = _opened(benchmark, path, protocol or answered_protocol(find(benchmark).info), tier)
        return cls(session.benchmark.info.id, session.protocol, session.tier, path)

    @property
    def session(self) -> BenchmarkSession:
        """The data, which is opened once."""
        return _opened(self.benchmark, self.path, self.protocol, self.tier)


@cache
def _opened(benchmark: str, path: str | None, protocol: str, tier: str | None) -> BenchmarkSession:
    return BenchmarkSession.open(find(benchmark), None if path is None else Path(path), protocol=protocol, tier=tier)


@cache
def keys_of(data: TaskData) -> Mapping[str, ItemKey]:
    """Return the keys by item."""
    return {key.item_id: key for key in data.session.keys}


def answered_protocol(info: BenchmarkInfo) -> str:
    """Return the first protocol that supports every reader, else the first one."""
    return next((each.name for each in info.protocols if each.reader is None), info.protocols[0].name)


@dataclass(frozen=True)
class Answered:
    """What a system gave for one item."""

    reader: str
    """Name of the reader; ``native`` if the system answered."""
    responses: tuple[Response, ...]
    contexts: tuple[Context, ...]
    prompts: Mapping[str, str]
    """The prompt for each question that the model of the evaluation answers."""


class LeftToModel:
    """A reader that keeps the contexts of questions, so that the model of the evaluation can answer them later."""

    name = f"{PREFIXES[0]}{MODEL}"

    def __init__(self, tokens: int) -> None:
        self._tokens, self._text = tokens, prompt_text()
        self.prompts: list[str] = []

    def read(self, question: str, timestamp: str | None, contexts: Sequence[str]) -> ReaderAnswer:
        """Return the place of the prompt for a question in ``prompts``."""
        self.prompts.append(filled_prompt(self._text, question, timestamp, fitted(contexts, self._tokens).text))
        return ReaderAnswer(str(len(self.prompts) - 1))


def answer_scenario(data: TaskData, source: SystemSource, reader: str | None, item_id: str) -> dict[str, Answered]:
    """Run a system on the scenario of an item, and return what it gave for each item of the scenario.

    ``reader``: ``model``, ``native`` or ``extractive``; ``None`` for native if the system answers, else the model.
    Raises ``BadInput`` if the system does not load, or the reader does not exist. Raises ``NotApplicable`` if the
    system lacks a method that the protocol needs.
    """
    session, limits, models = data.session, Limits(), ModelOptions()
    scenario = keys_of(data)[item_id].scenario_id
    keys = [key for key in session.keys if key.scenario_id == scenario]
    prepared = prepare(source, SystemSetup(), _ignore)
    pays = bool(source.declared_models)
    found: dict[str, Answered] = {}
    with (
        models_for(RESULTS, models, _ignore, on_disk=pays) as gateway,
        system_instances(prepared, limits, gateway) as new_instance,
    ):
        instance = new_instance(_ignore)
        with closing(instance.process):
            adapter = start_system(prepared.source, instance.process)
            chosen = _reader(session, reader, adapter.capabilities, source.slug, limits)
            items = session.protocol_info.search_items or limits.search_items
            runner = ScenarioRunner(instance.process, chosen, items, endpoint=instance.endpoint)
            for work in session.works(keys, source.view, {}):
                for finished in runner.run(work):
                    for item in finished.items:
                        rows = tuple(row for row in finished.responses if row.item_id == item)
                        found[item] = _answered(rows, finished.contexts, chosen)
    return found


def _ignore(line: str) -> None:
    """Take no notice of a message."""


def _reader(
    session: BenchmarkSession, asked: str | None, capabilities: Sequence[str], slug: str, limits: Limits
) -> Reader | None:
    fixed = session.protocol_info.reader is not None
    if asked is None and not fixed and "query" not in capabilities:
        asked = MODEL
    name = LeftToModel.name if asked == MODEL else asked
    return choose_reader(name, capabilities, slug, lambda _: LeftToModel(limits.reader_tokens), session.protocol_info)


def _answered(rows: tuple[Response, ...], contexts: Sequence[Context], reader: Reader | None) -> Answered:
    digests = {row.context_digest for row in rows}
    prompts = {}
    if isinstance(reader, LeftToModel):
        prompts = {
            row.question_id: reader.prompts[int(row.answer)] for row in rows if row.timings.read_seconds is not None
        }
    return Answered(
        reader=NATIVE if reader is None else reader.name,
        responses=rows,
        contexts=tuple(context for context in contexts if context.digest in digests),
        prompts=prompts,
    )


def with_answer(row: Response, answer: str) -> Response:
    """Return a response with the answer of the model."""
    outcome = Outcome.OK if answer.strip() else Outcome.EMPTY
    return row.model_copy(update={"answer": answer, "outcome": outcome})


def answered_by(data: TaskData, item_id: str, answer: str) -> Response:
    """Return the response of another solver than memeval's, which gives one answer to an item."""
    key = keys_of(data)[item_id]
    row = Response(
        item_id=item_id,
        scenario_id=key.scenario_id,
        question_id=key.question_ids[-1],
        outcome=Outcome.OK,
        answer="",
        timings=Timings(started=utc_now()),
    )
    return with_answer(row, answer)


def graded(
    data: TaskData, item_id: str, reader: str, responses: Sequence[Response], contexts: Sequence[Context]
) -> Grade:
    """Grade an item by rules. Raises ``BadInput`` if a question of the item has no response."""
    found = grade_items(data.session, [keys_of(data)[item_id]], responses, RulesJudge(), contexts, reader)
    return found[0]


def composite(data: TaskData, credits: Mapping[str, float]) -> float | None:
    """Return the composite over some items: ``Σ weight · mean credit`` of the categories.

    ``credits``: the credit of each item, from 0 to 1. Returns ``None`` if a category with weight has no item.
    """
    keys = keys_of(data)
    plan = data.session.benchmark.plan([keys[item] for item in credits], data.protocol, data.tier)
    counted = counting(plan)
    if not counted or not all(category.items for category in counted):
        return None
    of = {
        category.name: math.fsum(c for item, c in credits.items() if keys[item].category == category.name)
        for category in counted
    }
    return math.fsum(category.weight * of[category.name] / category.items for category in counted)


def questions_of(data: TaskData) -> Iterator[tuple[ItemKey, list[str]]]:
    """Yield each item with its questions, in plan order."""
    session = data.session
    texts: dict[str, str] = {}
    for scenario_id in dict.fromkeys(key.scenario_id for key in session.keys):
        texts |= {each.question_id: each.question for each in session.scenarios[scenario_id].questions()}
    for key in session.keys:
        yield key, [texts[question_id] for question_id in key.question_ids]
