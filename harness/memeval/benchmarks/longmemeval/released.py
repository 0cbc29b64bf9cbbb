"""The released files, read strictly: what is checked of every question, and what of it is kept at hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from memeval.benchmarks.large import Indexed, indexed
from memeval.benchmarks.longmemeval.replay import PublishedSession, iso, replay_order
from memeval.keys import LongMemEvalType
from memeval.records.base import Digest, Record, misfit, validated
from memeval.records.benchmark import Source
from memeval.records.errors import BadInput

LOCAL = "local"
"""What a copy is called that is none of the released files."""

OLDER: Digest = "sha256:08d8dad4be43ee2049a22ff5674eb86725d0ce5ff434cde2627e5e8e7e117894"
"""Digest of the release that the cleaned one replaced, by the pin of jeffs-brain/memory."""

PULL = "'memeval data pull longmemeval' fetches the released file."

KIND = "longmemeval@1"
"""Names what :class:`QuestionHeads` keeps of a question; changed with it, so that no older index is taken for it."""


def _not_blank(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("blank", "text belongs here, and it is blank")
    return text


def _answer(value: Any) -> str | int:
    if type(value) is int and abs(value) < 10**18:
        return value
    if type(value) is str:
        return _not_blank(value)
    raise PydanticCustomError("no_answer", "text or a whole number belongs here")


Text = Annotated[str, AfterValidator(_not_blank)]
Id = Annotated[str, StringConstraints(pattern=r"^[\w.:-]{1,100}$")]
Answer = Annotated[Any, AfterValidator(_answer)]
"""Text; in some questions the files have a whole number instead."""
QuestionType = Annotated[LongMemEvalType, Field(strict=False)]
Role = Literal["user", "assistant"]


class LongMemEvalTurn(TypedDict):
    """One thing said. Its content may be empty: some of the released ones are."""

    role: Role
    content: str
    has_answer: NotRequired[bool | None]


class LongMemEvalQuestion(BaseModel):
    """One question with its history. Keys it does not name are let be; none of them goes any further."""

    model_config = ConfigDict(strict=True, frozen=True, defer_build=True)

    question_id: Id
    question_type: QuestionType
    question: Text
    answer: Answer
    question_date: str
    haystack_session_ids: list[Text]
    haystack_dates: list[str]
    haystack_sessions: list[list[LongMemEvalTurn]]
    answer_session_ids: list[Text]

    def told(self) -> list[PublishedSession]:
        """Return its sessions, as listed."""
        return list(map(PublishedSession, self.haystack_session_ids, self.haystack_dates, self.haystack_sessions))


class QuestionHead(Record):
    """What stays at hand of a question: all that its key is made of, and nothing that was said."""

    question_id: str
    """The question's own id."""
    question_type: LongMemEvalType
    """Decides the category."""
    answer: str
    """The reference answer, as text."""
    whole_number: bool
    """Whether the file has it as a number."""
    evidence: tuple[str, ...]
    """Ordinals of the evidence sessions, in the order of replay."""
    evidence_turns: tuple[str, ...]
    """Ordinals of the turns that are marked as holding the answer."""
    dangling: tuple[str, ...]
    """Evidence that is none of the question's sessions, as the file calls it."""


@dataclass(frozen=True)
class LongMemEvalFile:
    """A file of questions, read and checked."""

    index: Indexed
    heads: tuple[QuestionHead, ...]
    file: str
    """Which of the released files it is, or ``local``."""


def read(path: Path, sources: tuple[Source, ...], wanted: str | None) -> LongMemEvalFile:
    """Read a file of questions.

    Args:
        path: the file.
        sources: the released files.
        wanted: which of them it must be, or ``local``; ``None`` where it may be any.

    Raises:
        BadInput: the file is missing, cut off, of another shape, repeats an id, is the older release, or is not the
            file that is wanted; or it is a local copy in which a question's evidence is not among its sessions.
    """
    index = indexed(path, QuestionHeads(path), kind=KIND, remedy=PULL)
    file = _file(index, sources, wanted)
    heads = tuple(validated(QuestionHead, kept, path) for kept in index.heads)
    if not heads:
        raise BadInput("the file holds no question.", where=path, remedy=PULL)
    repeated = [name for name, times in Counter(each.question_id for each in heads).items() if times > 1]
    if repeated:
        raise BadInput(f"the question id '{repeated[0]}' occurs more than once.", where=path, remedy=PULL)
    for number, each in enumerate(heads, 1):
        if file == LOCAL and each.dangling:
            raise BadInput(
                f"question {number} ('{each.question_id}'): its evidence {each.dangling[0]!r} is none of its sessions.",
                where=path,
                remedy="Put the session back, or leave the question out.",
            )
    return LongMemEvalFile(index, heads, file)


def _file(index: Indexed, sources: tuple[Source, ...], wanted: str | None) -> str:
    """Return which file it is, by its digest.

    Raises:
        BadInput: it is not the one that is wanted.
    """
    if index.digest == OLDER:
        raise BadInput(
            "this is the older release, in whose histories some sessions contradict the answers; scores on it cannot"
            " be compared with others.",
            where=index.path,
            remedy=PULL,
        )
    found = next((source.name for source in sources if source.digest == index.digest), LOCAL)
    if wanted in (None, found):
        return found
    if found != LOCAL:
        raise BadInput(f"this is the file '{found}', and '{wanted}' is asked for.", where=index.path, remedy=PULL)
    right = next(source for source in sources if source.name == wanted)
    raise BadInput(
        f"the file has the right shape but is not the released '{wanted}': its digest is {index.digest}, and the"
        f" released file's is {right.digest}.",
        where=index.path,
        remedy=f"{PULL} A copy of your own opens with --data and its own path; runs on it are never ranked.",
    )


class QuestionHeads:
    """Checks the questions of a file one after the other, and returns what stays at hand of each.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._number = path, 0

    def __call__(self, raw: Any) -> dict[str, Any]:
        """Return what stays at hand of the next question, as plain data.

        Args:
            raw: the question, as its JSON was parsed.

        Raises:
            BadInput: it is no question.
        """
        self._number += 1
        try:
            question = LongMemEvalQuestion.model_validate(raw)
        except ValidationError as error:
            raise self._refused(raw, misfit(LongMemEvalQuestion, error)) from None
        ids, dates = len(question.haystack_session_ids), len(question.haystack_dates)
        sessions = len(question.haystack_sessions)
        if not ids == dates == sessions:
            raise self._refused(raw, f"{sessions} sessions have {ids} ids and {dates} dates; each needs one of both.")
        return _kept(question).data()

    def _refused(self, raw: Any, problem: str) -> BadInput:
        name = raw.get("question_id") if isinstance(raw, dict) else None
        which = f" ({name[:100]!r})" if isinstance(name, str) else ""
        return BadInput(f"question {self._number}{which}: {problem}", where=self._path, remedy=PULL)


def _kept(question: LongMemEvalQuestion) -> QuestionHead:
    order = replay_order([iso(date) for date in question.haystack_dates])
    names: dict[str, str] = {}
    marked: list[str] = []
    for number, place in enumerate(order, 1):
        session = f"s{number:03}"
        names.setdefault(question.haystack_session_ids[place], session)
        for at, turn in enumerate(question.haystack_sessions[place], 1):
            if turn.get("has_answer"):
                marked.append(f"{session}:t{at:02}")
    evidence = dict.fromkeys(question.answer_session_ids)
    return QuestionHead(
        question_id=question.question_id,
        question_type=question.question_type,
        answer=str(question.answer),
        whole_number=isinstance(question.answer, int),
        evidence=tuple(ordinal for name, ordinal in names.items() if name in evidence),
        evidence_turns=tuple(marked),
        dangling=tuple(name for name in evidence if name not in names),
    )
