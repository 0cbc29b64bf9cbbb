"""LoCoMo's results: a JSON list of conversations, each question as released with predictions beside it.

Field names and order: snap-research/LoCoMo, ``task_eval/evaluate_qa.py`` and ``task_eval/gpt_utils.py``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import Field

from memeval.evaluation.exchange.answers import UNTOLD, ImportedAnswer, ImportedAnswers, slug_of
from memeval.evaluation.exchange.reading import (
    AnswerFile,
    ForeignRecord,
    Id,
    Text,
    fitted,
    listed,
    once,
    placed,
    refuse,
)
from memeval.evaluation.plan import BenchmarkSession
from memeval.keys import ItemKey, LocomoCategory, LocomoKey
from memeval.records.base import Share
from memeval.records.imported import Claim, Imported
from memeval.systems.output import visible

FORMAT = "locomo"
PREDICTION = "_prediction"
CATEGORIES = tuple(LocomoCategory)
"""In the order of their numbers, from 1."""

_RETRIEVING = re.compile(r"(?P<model>.+)_(?P<mode>dialog|observation|summary)_top_(?P<k>[1-9]\d{0,5})")


class _Conversation(ForeignRecord):
    """One conversation of the file."""

    sample_id: Id
    qa: list[dict[str, Any]] = Field(max_length=100_000)


class _LocomoRowQuestion(ForeignRecord):
    """What a row says of its question; the answers in it stand under names of their own."""

    question: Text
    category: int | None = None
    evidence: list[str] | None = None


class _Predicted(ForeignRecord):
    """What a row says for one system."""

    prediction: Text
    context: list[Id] | Id | None = None
    score: Share | None = None

    @property
    def sources(self) -> tuple[str, ...] | None:
        """Ids of what was retrieved; one text may hold several, set apart by commas."""
        if self.context is None:
            return None
        told = [self.context] if isinstance(self.context, str) else self.context
        return tuple(one.strip() for each in told for one in each.split(",") if one.strip())


def read(file: AnswerFile, benchmark_session: BenchmarkSession) -> ImportedAnswers:
    """Read predictions of one model; see :data:`memeval.evaluation.exchange.formats.Reader`."""
    told = [
        (where, fitted(_Conversation, value, where))
        for where, value in placed(listed(file.json(), file.path), file.path)
    ]
    once((where, conversation.sample_id) for where, conversation in told)
    columns = tuple(
        dict.fromkeys(
            name.removesuffix(PREDICTION)
            for _where, conversation in told
            for row in conversation.qa
            for name in row
            if name.endswith(PREDICTION) and name != PREDICTION
        )
    )
    column = _chosen(columns, file)
    rows = [each for where, conversation in told for each in _rows(where, conversation, column, benchmark_session)]
    scores = [row.score for _question_id, row in rows if row.score is not None]
    retrieving = _RETRIEVING.fullmatch(column)
    name = column if len(columns) > 1 else file.system or column
    return ImportedAnswers(
        system=name,
        version=UNTOLD,
        slug=slug_of(name, FORMAT),
        answers=tuple(ImportedAnswer(question_id, row.prediction, row.sources) for question_id, row in rows),
        imported=Imported(
            format=FORMAT,
            file=file.path.name,
            digest=file.digest,
            reader=retrieving["model"] if retrieving else None,
            limits={"rag_mode": retrieving["mode"], "top_k": int(retrieving["k"])} if retrieving else {},
            claims=(Claim(score=sum(scores) / len(scores), items=len(scores)),)
            if scores and len(scores) == len(rows)
            else (),
        ),
        column=column,
    )


def _chosen(columns: Sequence[str], file: AnswerFile) -> str:
    """Return whose answers are read."""
    if not columns:
        refuse(f"no question has a key that ends in '{PREDICTION}'.", file.path, "Name a file of predictions.")
    if len(columns) == 1:
        return columns[0]
    if file.system in columns:
        return str(file.system)
    names = visible(", ".join(columns[:20]))
    problem = "answers of several systems are in it" if file.system is None else f"no '{visible(file.system)}' is in it"
    refuse(f"{problem}: {names}.", file.path, "Name one of them with --system.")


def _rows(
    where: str, conversation: _Conversation, column: str, benchmark_session: BenchmarkSession
) -> Iterator[tuple[str, _Predicted]]:
    """Yield the predictions of a conversation with their questions; rows without one are passed over."""
    questions = [fitted(_LocomoRowQuestion, row, f"{where}, qa {number}") for number, row in enumerate(conversation.qa)]
    for number, (row, question_id) in enumerate(
        zip(conversation.qa, _matched(where, conversation.sample_id, questions, benchmark_session), strict=True)
    ):
        key = f"{column}{PREDICTION}"
        if key in row:
            said = {
                "prediction": row[key],
                "context": row.get(f"{key}_context", row.get(f"{column}_context")),
                "score": row.get(f"{column}_f1"),
            }
            yield question_id, fitted(_Predicted, said, f"{where}, qa {number}")


def _matched(
    where: str, sample_id: str, questions: Sequence[_LocomoRowQuestion], benchmark_session: BenchmarkSession
) -> list[str]:
    """Return the question that each row is about: by its text, and by its place among rows of the same text.

    Some conversations ask a thing twice, so the text alone is no name; rows may have been left out, so the place alone
    is none either. What is no question of the conversation gets an id that no question has.
    """
    scenario = benchmark_session.scenarios.get(sample_id)
    if scenario is None:
        return [f"{sample_id}:{number}" for number in range(len(questions))]
    keys = {key.item_id: key for key in benchmark_session.dataset.keys() if key.scenario_id == sample_id}  # noqa: SIM118
    known: dict[str, list[ItemKey]] = defaultdict(list)
    for ask in scenario.questions():
        known[bare_question(ask.question, keys[ask.question_id])].append(keys[ask.question_id])
    told: dict[str, list[int]] = defaultdict(list)
    for number, question in enumerate(questions):
        told[question.question].append(number)
    found = [f"{sample_id}:?{number}" for number in range(len(questions))]
    for text, numbers in told.items():
        here = known.get(text, [])
        if here and len(numbers) > len(here):
            refuse(f"qa {numbers[len(here)]} repeats a question.", where, "Leave one row a question in the file.")
        if len(numbers) < len(here):
            here = [_alike(where, number, questions[number], here) for number in numbers]
        for number, key in zip(numbers, here, strict=False):
            found[number] = key.item_id
    return found


def _alike(where: str, number: int, question: _LocomoRowQuestion, here: Sequence[ItemKey]) -> ItemKey:
    """Return the one of several questions with one text that a row is about, where not all of them have a row."""
    at_its_place = [key for key in here if key.item_id.endswith(f":{number}")]
    fitting = [key for key in here if _fits(question, key.key)]
    if len(at_its_place) == 1 and (at_its_place[0] in fitting or not fitting):
        return at_its_place[0]
    if len(fitting) != 1:
        refuse(
            f"the question of qa {number} is asked {len(here)} times, and which of them this is cannot be told.",
            where,
            "Keep all questions of the released file in their places.",
        )
    return fitting[0]


def _fits(question: _LocomoRowQuestion, key: object) -> bool:
    if not isinstance(key, LocomoKey):
        return False
    same_category = question.category in (None, CATEGORIES.index(key.category) + 1)
    return same_category and (question.evidence is None or tuple(question.evidence) == key.evidence)


def bare_question(text: str, key: ItemKey) -> str:
    """Return a question as released: without the two options that may stand below it when it is asked."""
    offers = isinstance(key.key, LocomoKey) and key.key.options
    return text.rsplit("\n", 2)[0] if offers else text
