"""LoCoMo results: a JSON list of conversations; each question has its released fields and predictions.

Field names and order: snap-research/LoCoMo, ``task_eval/evaluate_qa.py`` and ``task_eval/gpt_utils.py``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import Field

from memeval.benchmarks.formats.answers import UNKNOWN_VERSION, ImportedAnswer, ImportedAnswers, slug_of
from memeval.benchmarks.formats.reading import (
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
from memeval.benchmarks.locomo.keys import LocomoCategory, LocomoKey
from memeval.benchmarks.session import BenchmarkSession
from memeval.keys import ItemKey
from memeval.records.base import Share
from memeval.records.imported import Claim, Imported
from memeval.systems.output import visible

FORMAT = "locomo"
PREDICTION = "_prediction"
CATEGORIES = tuple(LocomoCategory)
"""Categories in the order of their numbers, from 1."""

_RETRIEVING = re.compile(r"(?P<model>.+)_(?P<mode>dialog|observation|summary)_top_(?P<k>[1-9]\d{0,5})")


class _Conversation(ForeignRecord):
    """One conversation of the file."""

    sample_id: Id
    qa: list[dict[str, Any]] = Field(max_length=100_000)


class _LocomoRowQuestion(ForeignRecord):
    """The question of a row; the predictions have other field names."""

    question: Text
    category: int | None = None
    evidence: list[str] | None = None


class _Predicted(ForeignRecord):
    """The prediction of one system in a row."""

    prediction: Text
    context: list[Id] | Id | None = None
    score: Share | None = None

    @property
    def sources(self) -> tuple[str, ...] | None:
        """Ids of retrieved items; one text may contain several, separated by commas."""
        if self.context is None:
            return None
        texts = [self.context] if isinstance(self.context, str) else self.context
        return tuple(one.strip() for each in texts for one in each.split(",") if one.strip())


def read(file: AnswerFile, benchmark_session: BenchmarkSession) -> ImportedAnswers:
    """Read predictions of one model; see :data:`memeval.benchmarks.exchange_format.Reader`."""
    conversations = [
        (where, fitted(_Conversation, value, where))
        for where, value in placed(listed(file.json(), file.path), file.path)
    ]
    once((where, conversation.sample_id) for where, conversation in conversations)
    columns = tuple(
        dict.fromkeys(
            name.removesuffix(PREDICTION)
            for _where, conversation in conversations
            for row in conversation.qa
            for name in row
            if name.endswith(PREDICTION) and name != PREDICTION
        )
    )
    column = _chosen(columns, file)
    rows = [
        each for where, conversation in conversations for each in _rows(where, conversation, column, benchmark_session)
    ]
    scores = [row.score for _question_id, row in rows if row.score is not None]
    retrieving = _RETRIEVING.fullmatch(column)
    name = column if len(columns) > 1 else file.system or column
    return ImportedAnswers(
        system=name,
        version=UNKNOWN_VERSION,
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
    """Return the column of the system to read."""
    if not columns:
        refuse(f"no question has a field that ends in '{PREDICTION}'.", file.path, "Name a file of predictions.")
    if len(columns) == 1:
        return columns[0]
    if file.system in columns:
        return str(file.system)
    names = visible(", ".join(columns[:20]))
    problem = "it has answers of several systems" if file.system is None else f"no system '{visible(file.system)}'"
    refuse(f"{problem}: {names}.", file.path, "Choose one with --system.")


def _rows(
    where: str, conversation: _Conversation, column: str, benchmark_session: BenchmarkSession
) -> Iterator[tuple[str, _Predicted]]:
    """Yield the predictions of a conversation with their question ids; rows without a prediction are skipped."""
    questions = [fitted(_LocomoRowQuestion, row, f"{where}, qa {number}") for number, row in enumerate(conversation.qa)]
    for number, (row, question_id) in enumerate(
        zip(conversation.qa, _matched(where, conversation.sample_id, questions, benchmark_session), strict=True)
    ):
        key = f"{column}{PREDICTION}"
        if key in row:
            fields = {
                "prediction": row[key],
                "context": row.get(f"{key}_context", row.get(f"{column}_context")),
                "score": row.get(f"{column}_f1"),
            }
            yield question_id, fitted(_Predicted, fields, f"{where}, qa {number}")


def _matched(
    where: str, sample_id: str, questions: Sequence[_LocomoRowQuestion], benchmark_session: BenchmarkSession
) -> list[str]:
    """Return the question id of each row: by its text, and by its position among rows of the same text.

    Some conversations repeat a question, so the text is ambiguous. Rows may be missing, so the position is, too. A row
    that matches no question gets an id that no question has.
    """
    scenario = benchmark_session.scenarios.get(sample_id)
    if scenario is None:
        return [f"{sample_id}:{number}" for number in range(len(questions))]
    keys = {key.item_id: key for key in benchmark_session.dataset.keys() if key.scenario_id == sample_id}  # noqa: SIM118
    known: dict[str, list[ItemKey]] = defaultdict(list)
    for ask in scenario.questions():
        known[bare_question(ask.question, keys[ask.question_id])].append(keys[ask.question_id])
    by_text: dict[str, list[int]] = defaultdict(list)
    for number, question in enumerate(questions):
        by_text[question.question].append(number)
    matches = [f"{sample_id}:?{number}" for number in range(len(questions))]
    for text, numbers in by_text.items():
        candidates = known.get(text, [])
        if candidates and len(numbers) > len(candidates):
            refuse(
                f"duplicate question in qa {numbers[len(candidates)]}.", where, "Keep one row per question in the file."
            )
        if len(numbers) < len(candidates):
            candidates = [_same_text_match(where, number, questions[number], candidates) for number in numbers]
        for number, key in zip(numbers, candidates, strict=False):
            matches[number] = key.item_id
    return matches


def _same_text_match(where: str, number: int, question: _LocomoRowQuestion, candidates: Sequence[ItemKey]) -> ItemKey:
    """Return the question of a row if several questions have its text and not all of them have a row."""
    at_position = [key for key in candidates if key.item_id.endswith(f":{number}")]
    fitting = [key for key in candidates if _fits(question, key.key)]
    if len(at_position) == 1 and (at_position[0] in fitting or not fitting):
        return at_position[0]
    if len(fitting) != 1:
        refuse(
            f"the question of qa {number} occurs {len(candidates)} times, so its match is ambiguous.",
            where,
            "Keep all questions of the released file in their order.",
        )
    return fitting[0]


def _fits(question: _LocomoRowQuestion, key: object) -> bool:
    if not isinstance(key, LocomoKey):
        return False
    same_category = question.category in (None, CATEGORIES.index(key.category) + 1)
    return same_category and (question.evidence is None or tuple(question.evidence) == key.evidence)


def bare_question(text: str, key: ItemKey) -> str:
    """Return a question as released: without the two options that a protocol may append."""
    offers = isinstance(key.key, LocomoKey) and key.key.options
    return text.rsplit("\n", 2)[0] if offers else text
