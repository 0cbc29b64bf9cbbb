"""What a run holds of each item, beside what was asked and what a right answer is: what writers of formats start from.

The words of a benchmark that may not be published stand here only where its data is at hand, for whoever has the data
has the words. Without it there are ids, numbers and states alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from memeval.archive.runs import RunFolder
from memeval.evaluation.decoding import decoded_run
from memeval.evaluation.plan import BenchmarkSession
from memeval.execution.contexts import TurnTexts
from memeval.keys import (
    AnswerKey,
    BeliefKey,
    CascadeKey,
    DeltaKey,
    ItemKey,
    LocomoKey,
    LongMemEvalKey,
    MemoryCDKey,
    NoiseKey,
    QaKey,
    RecallKey,
    ReflectKey,
    StoreKey,
    TemporalKey,
    UncertaintyKey,
)
from memeval.records.call import Call, Caller
from memeval.records.grade import Grade
from memeval.records.response import Context, Outcome, Response, RetrievedItem
from memeval.records.scenario import Question, Scenario
from memeval.records.track import Redistribution

_ORDINAL = re.compile(r"s[0-9]{3,}(:t[0-9]{2,})?")

UNANSWERABLE = "No answer: the history does not say."
"""Stands as the reference of a question that has none."""


@dataclass(frozen=True)
class AnsweredQuestion:
    """A question and what came of it: its last attempt, which is the one that counts."""

    response: Response
    """The row."""
    attempts: int
    """How often it was tried."""
    ask: Question | None
    """What was asked; ``None`` where the data is not at hand."""
    read: Call | None
    """The call in which a model reader answered, if one did."""

    @property
    def seconds(self) -> float | None:
        """From the question to the answer, searching and reading included; ``None`` where it was never sent."""
        times = self.response.timings
        known = [each for each in (times.ask_seconds, times.search_seconds, times.read_seconds) if each is not None]
        return sum(known) if known else None

    @property
    def tokens(self) -> tuple[int, int] | None:
        """Tokens sent to and received from models, by the reader's call or the system's own account."""
        source = self.read or self.response.usage
        if source is None or source.prompt_tokens is None or source.completion_tokens is None:
            return None
        return source.prompt_tokens, source.completion_tokens


@dataclass(frozen=True)
class RunItem:
    """An item of a run."""

    grade: Grade
    """What it is worth."""
    answers: tuple[AnsweredQuestion, ...]
    """Its questions, in order."""
    key: ItemKey | None
    """What a right answer is; ``None`` where the data is not at hand."""
    scenario: Scenario | None
    """What it was asked of; ``None`` where the data is not at hand."""

    @property
    def outcome(self) -> Outcome | None:
        """The first outcome among its questions that is not ``ok``; ``None`` where no question has a row."""
        outcomes = [each.response.outcome for each in self.answers]
        return next((each for each in outcomes if each is not Outcome.OK), Outcome.OK if outcomes else None)


class RunItems:
    """The graded items of a run, in plan order.

    Args:
        folder: the run, with its rows.
        benchmark_session: the benchmark with its data open; ``None`` where it is not at hand.

    Raises:
        BadInput: the data is not that of the run, or (while iterating) the rows cannot be read.
    """

    def __init__(self, folder: RunFolder, benchmark_session: BenchmarkSession | None) -> None:
        self._folder = folder if benchmark_session is None else decoded_run(folder, benchmark_session)
        self._benchmark_session = benchmark_session
        self.words = benchmark_session is not None or folder.run.redistribution is Redistribution.FULL
        """Whether the words of answers may stand in what is written."""

    def __iter__(self) -> Iterator[RunItem]:
        rows: dict[str, dict[str, list[Response]]] = {}
        for response in self._folder.responses():
            rows.setdefault(response.item_id, {}).setdefault(response.question_id, []).append(response)
        reads = {call.key: call for call in self._folder.calls() if call.caller is Caller.READER}
        keys = {} if self._benchmark_session is None else {key.item_id: key for key in self._benchmark_session.keys}
        held: Scenario | None = None
        asks: dict[str, Question] = {}
        for grade in self._folder.grades():
            key = keys.get(grade.item_id)
            if (
                self._benchmark_session is not None
                and key is not None
                and (held is None or held.scenario_id != key.scenario_id)
            ):
                held = self._benchmark_session.scenarios[key.scenario_id]
                asks = {ask.question_id: ask for ask in held.questions()}
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
                scenario=held if key is not None else None,
            )

    def contexts(self) -> dict[str, Context]:
        """Return the contexts by digest."""
        return {context.digest: context for context in self._folder.contexts()}


def ordinals(item: RetrievedItem) -> tuple[str, ...]:
    """Return the sessions or turns that a retrieved item is said to come from.

    A system may write anything there; what is no ordinal, and might be words, is left out.
    """
    named = item.source_ids or ((item.turn_id,) if item.turn_id else ())
    return tuple(each for each in named if _ORDINAL.fullmatch(each))


def text_of_item(item: RetrievedItem, turns: TurnTexts | None) -> str | None:
    """Return the words of a retrieved item; ``None`` where they are a turn's and the data is not at hand.

    Args:
        item: the item as stored.
        turns: the turns of its scenario.
    """
    if item.turn_id is None:
        return item.text
    return _turn(item.turn_id, item.dated, turns)


def text_of_context(context: Context, turns: TurnTexts | None) -> str | None:
    """Return the words of a context; ``None`` where some are a turn's and the data is not at hand."""
    parts = [part.text if part.turn_id is None else _turn(part.turn_id, part.dated, turns) for part in context.parts]
    return None if None in parts else "\n".join(part for part in parts if part is not None)


def _turn(turn_id: str, dated: bool, turns: TurnTexts | None) -> str | None:
    if turns is None:
        return None
    try:
        return turns.text(RetrievedItem(turn_id=turn_id, dated=dated))
    except KeyError:
        return None


def references(key: AnswerKey) -> tuple[str, ...]:
    """Return what a right answer says, for people to read: one text, or one a fact."""
    match key:
        case BeliefKey():
            return (key.current.text,)
        case NoiseKey() | TemporalKey():
            return (key.reference.text,)
        case CascadeKey() | UncertaintyKey():
            return (key.reference,)
        case DeltaKey():
            return tuple(dict.fromkeys(fact.text for fact in chain.from_iterable(key.facts_by_turn)))
        case LocomoKey():
            return (UNANSWERABLE if key.answer is None else key.answer,)
        case LongMemEvalKey():
            return (key.answer,)
        case RecallKey():
            return key.keywords
        case ReflectKey():
            return tuple(point.text for point in key.points)
        case MemoryCDKey():
            return (next(str(told) for told in (key.rating, key.text, key.chosen, "") if told is not None),)
        case QaKey():
            return key.needles if key.reference is None else (key.reference,)
        case StoreKey():
            return tuple(fact.text for fact in key.current)
