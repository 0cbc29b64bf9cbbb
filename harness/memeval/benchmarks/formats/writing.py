"""What export formats share: a run's items with their keys, and JSON as the official programs write it.

For a benchmark whose text may not be published, text is included only if its data is available on this machine.
Without the data, items contain ids, numbers and states only.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memeval.archive.runs import RunFolder
from memeval.benchmarks import find
from memeval.benchmarks.session import BenchmarkSession
from memeval.execution.contexts import Contexts, TurnTexts
from memeval.keys import ItemKey
from memeval.records.call import Call, Caller
from memeval.records.errors import BadInput
from memeval.records.grade import Grade
from memeval.records.response import Context, Outcome, Response, RetrievedItem
from memeval.records.scenario import Question, Scenario
from memeval.records.track import Redistribution

_ORDINAL = re.compile(r"s[0-9]{3,}(:t[0-9]{2,})?")


@dataclass(frozen=True)
class AnsweredQuestion:
    response: Response
    attempts: int
    ask: Question | None
    read: Call | None
    """The model reader's call; ``None`` if there was none."""

    @property
    def seconds(self) -> float | None:
        """Seconds from question to answer, including search and reader; ``None`` if the question was never sent."""
        times = self.response.timings
        known = [each for each in (times.ask_seconds, times.search_seconds, times.read_seconds) if each is not None]
        return sum(known) if known else None

    @property
    def tokens(self) -> tuple[int, int] | None:
        """Tokens sent to and received from models, from the reader's call or self-reported; ``None`` if unknown."""
        source = self.read or self.response.usage
        if source is None or source.prompt_tokens is None or source.completion_tokens is None:
            return None
        return source.prompt_tokens, source.completion_tokens


@dataclass(frozen=True)
class RunItem:
    grade: Grade
    answers: tuple[AnsweredQuestion, ...]
    key: ItemKey | None
    scenario: Scenario | None

    @property
    def outcome(self) -> Outcome | None:
        """The first outcome that is not ``ok``, else ``ok``; ``None`` if no question has a response."""
        outcomes = [each.response.outcome for each in self.answers]
        return next((each for each in outcomes if each is not Outcome.OK), Outcome.OK if outcomes else None)


class RunItems:
    """The graded items of a run, in plan order.

    Raises ``BadInput``: while iterating, the rows cannot be read. ``folder``: the run, with the full text of its rows
    if the data is available. ``benchmark_session``: the benchmark, opened on its data; ``None`` if the data is not
    available.
    """

    def __init__(self, folder: RunFolder, benchmark_session: BenchmarkSession | None) -> None:
        self._folder = folder
        self._benchmark_session = benchmark_session
        self.words = benchmark_session is not None or folder.run.redistribution is Redistribution.FULL

    def __iter__(self) -> Iterator[RunItem]:
        rows: dict[str, dict[str, list[Response]]] = {}
        for response in self._folder.responses():
            rows.setdefault(response.item_id, {}).setdefault(response.question_id, []).append(response)
        reads = {call.key: call for call in self._folder.calls() if call.caller is Caller.READER}
        keys = {} if self._benchmark_session is None else {key.item_id: key for key in self._benchmark_session.keys}
        scenario: Scenario | None = None
        asks: dict[str, Question] = {}
        for grade in self._folder.grades():
            key = keys.get(grade.item_id)
            if (
                self._benchmark_session is not None
                and key is not None
                and (scenario is None or scenario.scenario_id != key.scenario_id)
            ):
                scenario = self._benchmark_session.scenarios[key.scenario_id]
                asks = {ask.question_id: ask for ask in scenario.questions()}
            yield RunItem(
                grade=grade,
                answers=tuple(
                    AnsweredQuestion(
                        response=(last := max(tries, key=lambda row: row.attempt)),
                        attempts=len(tries),
                        ask=asks.get(question) if key is not None else None,
                        read=reads.get(last.reader_key or ""),
                    )
                    for question, tries in rows.get(grade.item_id, {}).items()
                ),
                key=key,
                scenario=scenario if key is not None else None,
            )

    def contexts(self) -> Contexts:
        return Contexts(self._folder.contexts())


def ordinals(item: RetrievedItem) -> tuple[str, ...]:
    """Return the sessions or turns that the system names as sources of a retrieved item.

    A system can write anything there. Only ordinals are returned, because other values could be text.
    """
    sources = item.source_ids or ((item.turn_id,) if item.turn_id else ())
    return tuple(each for each in sources if _ORDINAL.fullmatch(each))


def text_of_item(item: RetrievedItem, turns: TurnTexts | None) -> str | None:
    """Return the text of a retrieved item; ``None`` if it is a turn's and the data is not available."""
    if item.turn_id is None:
        return item.text
    return _turn(item.turn_id, item.dated, turns)


def text_of_context(context: Context, turns: TurnTexts | None) -> str | None:
    """Return the text of a context; ``None`` if it contains a turn whose scenario is not available."""
    if turns is not None and turns.scenario_id != context.scenario_id:
        turns = None
    parts = [part.text if part.turn_id is None else _turn(part.turn_id, part.dated, turns) for part in context.parts]
    return None if None in parts else "\n".join(part for part in parts if part is not None)


def _turn(turn_id: str, dated: bool, turns: TurnTexts | None) -> str | None:
    if turns is None:
        return None
    try:
        return turns.text(RetrievedItem(turn_id=turn_id, dated=dated))
    except KeyError:
        return None


_SHORT = {"gpt-4o-2024-08-06": "gpt-4o", "gpt-4o-mini-2024-07-18": "gpt-4o-mini"}
"""Short names of judges, from LongMemEval's ``evaluate_qa.py`` and DeepMemEval's ``evaluate.py``."""


def require_session(run: RunFolder, benchmark_session: BenchmarkSession | None) -> BenchmarkSession:
    """Return the benchmark session, for formats that need the data.

    Raises ``BadInput``: the benchmark's data is not available.
    """
    if benchmark_session is None:
        raise BadInput(
            f"this format needs the data of {run.run.track.benchmark}, which is not available.",
            where=run.path,
            remedy=f"Name it with --data. {find(run.run.track.benchmark).remedy()}",
        )
    return benchmark_session


def write_json(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value, indent=2, allow_nan=False), encoding="utf-8")
    return path


def write_lines(path: Path, values: Iterable[Any]) -> Path:
    with path.open("w", encoding="utf-8") as stream:
        for value in values:
            stream.write(json.dumps(value, allow_nan=False) + "\n")
    return path


def sources_of(items: Iterable[RetrievedItem]) -> list[str]:
    return [source for item in items for source in (item.source_ids or ([item.turn_id] if item.turn_id else []))]


def judge_model(judge: str) -> str:
    """Return a judge's model name as in official files: without memeval's prefix and version.

    ``judge``: the judge with its version, such as ``openai:gpt-4o-2024-08-06@1``.
    """
    name = judge.rpartition("@")[0] or judge
    return name.partition(":")[2] or name


def file_name(model: str) -> str:
    """Return a judge's name for official file names: the short name, if there is one.

    ``model``: the model, as :func:`judge_model` gives it.
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "-", _SHORT.get(model, model))
