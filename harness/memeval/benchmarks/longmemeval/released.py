"""Reads the released files strictly, keeps a summary of every question in memory, and makes steps from sessions."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NotRequired

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from memeval.benchmarks.data import refuse_repeats
from memeval.benchmarks.large import Indexed, indexed
from memeval.benchmarks.longmemeval.grading import MARK, UNMARKED
from memeval.benchmarks.longmemeval.keys import LongMemEvalType
from memeval.records.base import Digest, Record, misfit, validated
from memeval.records.benchmark import Source
from memeval.records.errors import BadInput
from memeval.records.scenario import Ask, Ingest, Scenario

_WRITTEN = re.compile(
    r"\s*(?P<year>\d{4})(?P<mark>[-/])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})(?:\s*\([^()]*\))?(?:\s+|[Tt])"
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,]\d{1,9})?)?"
    r"(?:\s*(?P<zone>[Zz]|[+-]\d{2}:?\d{2}))?\s*",
    re.ASCII,
)
"""A time as the released files write it, or as ISO 8601 does: year first, with any precision from the minute on."""


class PublishedSession(NamedTuple):
    source_id: str
    date: str
    turns: Sequence[Mapping[str, Any]]
    """Each with ``role`` and ``content``; other fields are dropped."""


def iso(written: str) -> str:
    """Return a time such as ``2023/05/30 (Tue) 23:40`` or ``2023-05-30T23:40`` in ISO 8601, in UTC, to the second.

    The released files have no time zones. The weekday is ignored. Empty if the time is invalid, or could be another.
    """
    found = _WRITTEN.fullmatch(written)
    if found is None:
        return ""
    parts = [int(found[name] or 0) for name in ("year", "month", "day", "hour", "minute", "second")]
    zone = (found["zone"] or "Z").upper().replace("Z", "+00:00")
    try:
        offset = datetime.strptime(zone.replace(":", ""), "%z").utcoffset() or timedelta()
        return (datetime(*parts) - offset).isoformat(timespec="seconds") + "Z"  # type: ignore[arg-type]
    except (ValueError, OverflowError):
        return ""


def unreadable(dates: Iterable[str]) -> str | None:
    """Return the first time that is neither blank nor readable; ``None`` if absent."""
    return next((date for date in dates if date.strip() and not iso(date)), None)


def replay_order(dates: Sequence[str]) -> list[int]:
    """Return the indexes of sessions in order of ingestion: by time; in the listed order at equal times.

    ``dates``: time of each session in ISO 8601; a session without a time (empty) keeps its position.
    """
    by_time = iter(sorted((place for place, date in enumerate(dates) if date), key=lambda place: dates[place]))
    return [next(by_time) if date else place for place, date in enumerate(dates)]


def scenario_of(scenario_id: str, sessions: Sequence[PublishedSession], asks: Iterable[Ask]) -> Scenario:
    """Return a scenario: sessions in order of replay with their ordinals, then the questions.

    Validates plain data once, because histories have hundreds of turns: building each record takes twice as long.
    """
    dates = [iso(session.date) for session in sessions]
    steps = []
    for number, place in enumerate(replay_order(dates), 1):
        name = f"s{number:03}"
        turns = [
            {"turn_id": f"{name}:t{at:02}", "role": turn["role"], "content": turn["content"]}
            for at, turn in enumerate(sessions[place].turns, 1)
        ]
        session = {"session_id": name, "date": dates[place], "turns": tuple(turns)}
        steps.append({"step": "take_in", "session": session, "source_id": sessions[place].source_id})
    return Scenario.model_validate({"scenario_id": scenario_id, "steps": (*steps, *asks)})


def ordinals_of(scenario: Scenario) -> dict[str, str]:
    """Map the session and turn ids of the source to ordinals.

    A turn id is ``<session id>_<number of the turn, from 1>``. The released evaluation writes ``noans`` instead of
    ``answer`` in ids without evidence, so the mapping has this form too. The ids of the file come last, so that they
    win if the mapping is inverted. If a session appears twice, its id means the first. If a session and a turn have the
    same id, it means the session.
    """
    ingested = [step for step in scenario.steps if isinstance(step, Ingest)]
    named: dict[str, str] = {}
    for step in ingested:
        named.setdefault(step.source_id, step.session.session_id)
    for step in ingested:
        for place, turn in enumerate(step.session.turns, 1):
            named.setdefault(f"{step.source_id}_{place}", turn.turn_id)
    return {name.replace(MARK, UNMARKED): ordinal for name, ordinal in named.items()} | named


LOCAL = "local"

OLDER: Digest = "sha256:08d8dad4be43ee2049a22ff5674eb86725d0ce5ff434cde2627e5e8e7e117894"
"""Digest of the release before the cleaned one, as pinned by jeffs-brain/memory."""

PULL = "Download the released file: memeval data pull longmemeval."

KIND = "longmemeval@2"
"""Version of the summaries of :class:`QuestionHeads`; a change of their fields needs a new one for stored indexes."""


def _not_blank(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("blank", "must not be blank")
    return text


def _answer(value: Any) -> str | int:
    if type(value) is int and abs(value) < 10**18:
        return value
    if type(value) is str:
        return _not_blank(value)
    raise PydanticCustomError("no_answer", "must be text or a whole number")


Text = Annotated[str, AfterValidator(_not_blank)]
Id = Annotated[str, StringConstraints(pattern=r"^[\w.:-]{1,100}$")]
Answer = Annotated[Any, AfterValidator(_answer)]
QuestionType = Annotated[LongMemEvalType, Field(strict=False)]
Role = Literal["user", "assistant"]


class LongMemEvalTurn(TypedDict):
    """One turn. Its content may be empty, as in some released turns."""

    role: Role
    content: str
    has_answer: NotRequired[bool | None]


class LongMemEvalQuestion(BaseModel):
    """One question with its history. Other keys are ignored and dropped."""

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

    def sessions(self) -> list[PublishedSession]:
        return list(map(PublishedSession, self.haystack_session_ids, self.haystack_dates, self.haystack_sessions))


class QuestionHead(Record):
    """Summary of a question that stays in memory: the data of its answer key, without the history."""

    question_id: str
    question_type: LongMemEvalType
    answer: str
    whole_number: bool
    evidence: tuple[str, ...]
    """Ordinals of the evidence sessions, in the order of replay."""
    evidence_turns: tuple[str, ...]
    """Ordinals of the turns marked with ``has_answer``."""
    dangling: tuple[str, ...]
    """Source ids of evidence that is not among the sessions of the question."""
    bad_time: str | None = None
    """A time of the question or of its sessions that cannot be read."""


@dataclass(frozen=True)
class LongMemEvalFile:
    index: Indexed
    heads: tuple[QuestionHead, ...]
    file: str


def read(path: Path, sources: tuple[Source, ...], wanted: str | None) -> LongMemEvalFile:
    """Read a file of questions.

    Raises ``BadInput``: the file is missing, truncated, invalid, repeats an id, is the older release, or is not the
    expected file; or in a local copy, the evidence of a question is not among its sessions, or a time cannot be read.
    ``wanted``: name of the expected file, or ``local``; ``None`` for any.
    """
    index = indexed(path, QuestionHeads(path), kind=KIND, remedy=PULL)
    file = _file(index, sources, wanted)
    heads = tuple(validated(QuestionHead, kept, path) for kept in index.heads)
    if not heads:
        raise BadInput("the file has no questions.", where=path, remedy=PULL)
    refuse_repeats((each.question_id for each in heads), "the question id", path, PULL)
    for number, each in enumerate(heads, 1):
        if file == LOCAL and each.dangling:
            raise BadInput(
                f"question {number} ('{each.question_id}'): evidence {each.dangling[0]!r} is not among its sessions.",
                where=path,
                remedy="Add the session, or remove the question.",
            )
        if file == LOCAL and each.bad_time is not None:
            raise BadInput(
                f"question {number} ('{each.question_id}'): the time {each.bad_time[:100]!r} cannot be read.",
                where=path,
                remedy="Write times as 2023/05/30 (Tue) 23:40 or 2023-05-30T23:40. Leave unknown times blank.",
            )
    return LongMemEvalFile(index, heads, file)


def _file(index: Indexed, sources: tuple[Source, ...], wanted: str | None) -> str:
    """Return the name of the file, by its digest.

    Raises ``BadInput``: it is not the expected file, or it is the older release.
    """
    if index.digest == OLDER:
        raise BadInput(
            "this is the older release. Some of its sessions contradict the answers, so its scores are not comparable.",
            where=index.path,
            remedy=PULL,
        )
    found = next((source.name for source in sources if source.digest == index.digest), LOCAL)
    if wanted in (None, found):
        return found
    if found != LOCAL:
        raise BadInput(f"this is the file '{found}', not '{wanted}'.", where=index.path, remedy=PULL)
    right = next(source for source in sources if source.name == wanted)
    raise BadInput(
        f"the format is valid, but this is not the released '{wanted}': its digest is {index.digest}, expected"
        f" {right.digest}.",
        where=index.path,
        remedy=f"{PULL} To use your own copy, pass --data PATH and leave 'file' out. Its runs are never ranked.",
    )


class QuestionHeads:
    def __init__(self, path: Path) -> None:
        self._path, self._number = path, 0

    def __call__(self, raw: Any) -> dict[str, Any]:
        """Return the summary of the next question, as plain data. Raises ``BadInput``: the question is invalid."""
        self._number += 1
        try:
            question = LongMemEvalQuestion.model_validate(raw)
        except ValidationError as error:
            raise self._refused(raw, misfit(LongMemEvalQuestion, error)) from None
        ids, dates = len(question.haystack_session_ids), len(question.haystack_dates)
        sessions = len(question.haystack_sessions)
        if not ids == dates == sessions:
            raise self._refused(raw, f"{sessions} sessions have {ids} ids and {dates} dates; each session needs both.")
        return _summary(question).data()

    def _refused(self, raw: Any, problem: str) -> BadInput:
        name = raw.get("question_id") if isinstance(raw, dict) else None
        which = f" ({name[:100]!r})" if isinstance(name, str) else ""
        return BadInput(f"question {self._number}{which}: {problem}", where=self._path, remedy=PULL)


def _summary(question: LongMemEvalQuestion) -> QuestionHead:
    order = replay_order([iso(date) for date in question.haystack_dates])
    names: dict[str, str] = {}
    firsts: dict[str, int] = {}
    marked: dict[str, None] = {}
    for number, place in enumerate(order, 1):
        name = question.haystack_session_ids[place]
        session = names.setdefault(name, f"s{number:03}")
        first = question.haystack_sessions[firsts.setdefault(name, place)]
        for at, turn in enumerate(question.haystack_sessions[place], 1):
            if turn.get("has_answer"):
                own = at > len(first)
                marked[f"s{number:03}:t{at:02}" if own else f"{session}:t{at:02}"] = None
    evidence = dict.fromkeys(question.answer_session_ids)
    return QuestionHead(
        question_id=question.question_id,
        question_type=question.question_type,
        answer=str(question.answer),
        whole_number=isinstance(question.answer, int),
        evidence=tuple(ordinal for name, ordinal in names.items() if name in evidence),
        evidence_turns=tuple(marked),
        dangling=tuple(name for name in evidence if name not in names),
        bad_time=unreadable((question.question_date, *question.haystack_dates)),
    )
