"""Reads the questions of a user: text, options, rubric, and references to evidence."""

import re
from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from memeval.benchmarks.lifebench.keys import QuestionType, ScorePoint
from memeval.benchmarks.lifebench.released import QUESTIONS, UserFiles
from memeval.benchmarks.lifebench.texts import masked, without_event_ids
from memeval.records.base import misfit
from memeval.records.errors import BadInput

TYPES = {
    "Information Extraction": QuestionType.INFORMATION,
    "Multi-hop reasoning": QuestionType.MULTI_HOP,
    "Nondeclarative": QuestionType.NONDECLARATIVE,
    "Temporal and Knowledge Updating": QuestionType.TEMPORAL,
    "Unanswerable": QuestionType.UNANSWERABLE,
}

LETTERS = "ABCDEFGH"

_SHOWN = re.compile(r"^([A-H]): (.*)$", re.MULTILINE)

Reference = tuple[str, str]


class _Option(BaseModel):
    option: str
    content: str


class _Point(BaseModel):
    description: str
    score: float


class _Row(BaseModel):
    """A question as released; other keys are ignored."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    question: str
    answer: str
    question_type: Annotated[QuestionType, BeforeValidator(lambda name: TYPES.get(str(name), name))]
    ask_time: Annotated[str, Field(pattern=r"^\d{4}-(0[1-9]|1[0-2])(-\d\d)?$")]
    options: list[_Option] = []
    score_points: list[_Point] = []
    evidence: list[dict[str, Any]] = []


@dataclass(frozen=True)
class LifeBenchQuestion:
    question_id: str
    """The user and the index in the file: ``lumingqiang:12``."""
    text: str
    question_type: QuestionType
    answer: str
    month: str
    """Month after which it is asked: ``2025-03``."""
    options: tuple[str, ...]
    rubric: tuple[ScorePoint, ...]
    evidence: tuple[Reference, ...]
    """Distinct references to records, in the order of the file; some name no record."""

    @property
    def asked_at(self) -> str:
        """End of the last day of the month, ISO 8601 without a time zone."""
        year, month = map(int, self.month.split("-"))
        return f"{self.month}-{monthrange(year, month)[1]:02}T23:59:59"

    def with_options(self) -> str:
        if not self.options:
            return self.text
        shown = "\n".join(f"{letter}: {text}" for letter, text in zip(LETTERS, self.options, strict=False))
        return f"{self.text}\n{shown}\nReply with the letter of the right option. If several are right, name all."


def options_in(question: str) -> tuple[str, dict[str, str]]:
    """Return text and options by letter of :meth:`LifeBenchQuestion.with_options`; the text alone without options."""
    options = {found[1]: found[2] for found in _SHOWN.finditer(question)}
    return _SHOWN.split(question, maxsplit=1)[0].rstrip() if options else question, options


def read_questions(files: UserFiles) -> tuple[LifeBenchQuestion, ...]:
    """Read the questions of a user, in the order of the file.

    Raises ``BadInput``: the file or a question is invalid.
    """
    return tuple(_question(files, place, raw) for place, raw in enumerate(files.rows(QUESTIONS)))


def _question(files: UserFiles, place: int, raw: dict[str, Any]) -> LifeBenchQuestion:
    try:
        row = _Row.model_validate(raw)
    except ValidationError as error:
        raise _refused(files, place, misfit(_Row, error)) from None
    letters = [each.option for each in row.options]
    if letters != list(LETTERS[: len(letters)]):
        raise _refused(files, place, "the options are not lettered A, B, C and so on.")
    if letters and not set(row.answer.replace(" ", "").split(",")) <= set(letters):
        raise _refused(files, place, f"the answer {row.answer[:60]!r} is not a letter of its options.")
    return LifeBenchQuestion(
        question_id=f"{files.user}:{place}",
        text=masked(row.question),
        question_type=row.question_type,
        answer=masked(row.answer),
        month=row.ask_time[:7],
        options=tuple(masked(each.content) for each in row.options),
        rubric=tuple(
            ScorePoint(criterion=masked(without_event_ids(each.description)), points=each.score)
            for each in row.score_points
            if each.score > 0
        ),
        evidence=_references(row.evidence),
    )


def _references(evidence: Sequence[dict[str, Any]]) -> tuple[Reference, ...]:
    """Return the distinct references. Some entries are whole records, with ``phone_id`` and without ``id``."""
    named = ((str(each.get("type")), str(each.get("id", each.get("phone_id")))) for each in evidence)
    return tuple(dict.fromkeys(named))


def _refused(files: UserFiles, place: int, problem: str) -> BadInput:
    return BadInput(
        f"question {place} (counted from 0): {problem}",
        where=files.folder / QUESTIONS,
        remedy="Restore the released file.",
    )
