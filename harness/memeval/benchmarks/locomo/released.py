"""Reads the released file and reports what is wrong with a copy."""

import io
import json
import re
import zipfile
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BeforeValidator, Field, ValidationError
from pydantic_core import from_json

from memeval.benchmarks.data import file_bytes, refuse_repeats
from memeval.records.base import Digest, Record, digest_bytes, misfit
from memeval.records.errors import BadInput, did_you_mean

FULL_BYTES = 2_805_274

FULL_DIGEST = "sha256:79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4"
"""Digest of the released file. Question ids are positions in its lists, so they are valid for this file only."""

LARGEST = 16_000_000
"""Largest accepted file, in bytes."""

_REPLACE = "Use the released file: `memeval data pull locomo` downloads it."
_NEEDED = {"sample_id", "conversation", "qa"}
_ZIP_MAGIC = b"PK\x03\x04"
_OLDER = (
    "the older release: one file per conversation, without conversation ids. Its text is the same, but memeval uses the"
    " question ids of locomo10.json."
)
_SESSION = re.compile(r"session_([1-9]\d{0,3})")
_DATE = re.compile(r"session_([1-9]\d{0,3})_date_time")
_DATE_FORM = "%I:%M %p on %d %B, %Y"

R = TypeVar("R", bound=Record)


def _as_text(value: object) -> object:
    """Return a whole number as text: six answers of the released file are numbers."""
    return str(value) if type(value) is int else value


Text = Annotated[str, Field(pattern=r"\S")]
Answer = Annotated[Text, BeforeValidator(_as_text)]
Unread = Annotated[Any, Field(default=None)]


class LocomoTurn(Record):
    dia_id: Annotated[str, Field(pattern=r"^D[1-9]\d{0,3}:[1-9]\d{0,3}$")]
    """Number of the session and of the turn: ``D1:3``."""
    speaker: Text
    text: Text
    blip_caption: Text | None = None
    """Caption of the shared image, written by a model. It may exist without an image address."""
    img_url: Unread
    query: Unread
    redownload: Annotated[Any, Field(default=None, alias="re-download")]


class RawTurns(Record):
    turns: Annotated[tuple[LocomoTurn, ...], Field(min_length=1)]


class LocomoQuestion(Record):
    question: Text
    category: Literal[1, 2, 3, 4, 5]
    evidence: tuple[str, ...]
    answer: Answer | None = None
    adversarial_answer: Answer | None = None


class _RawSample(Record):
    sample_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
    conversation: dict[str, Any]
    qa: Annotated[tuple[LocomoQuestion, ...], Field(min_length=1)]
    observation: Unread
    session_summary: Unread
    event_summary: Unread


@dataclass(frozen=True)
class LocomoSession:
    number: int
    date: str
    """Time, ISO 8601. The file has no time zones; times are read as UTC."""
    turns: tuple[LocomoTurn, ...]


@dataclass(frozen=True)
class RawConversation:
    sample_id: str
    sessions: tuple[LocomoSession, ...]
    questions: tuple[LocomoQuestion, ...]


@dataclass(frozen=True)
class LocomoFile:
    digest: Digest
    conversations: tuple[RawConversation, ...]


def read(path: Path) -> LocomoFile:
    """Read the released file.

    Raises ``BadInput``: the file is missing, unreadable, truncated, too large, of another format, repeats an id, or is
    not the released file.
    """
    data = file_bytes(path, LARGEST, _REPLACE)
    if data.startswith(_ZIP_MAGIC):
        raise _wrong(path, f"this is {_OLDER}" if _is_older(data) else "this is a ZIP archive.")
    conversations = parse(data, path)
    digest = digest_bytes(data)
    if digest != FULL_DIGEST:
        raise _wrong(
            path,
            f"the format is valid, but this is not the released file: its digest is {digest}, expected"
            f" {FULL_DIGEST}. Question ids are valid for that file only.",
        )
    return LocomoFile(digest, conversations)


def parse(data: bytes, path: Path) -> tuple[RawConversation, ...]:
    """Read bytes in the released format, without a check of the digest.

    Raises ``BadInput``: the format is invalid, or an id repeats.
    """
    samples = _loaded(data, path)
    if not isinstance(samples, list):
        raise _wrong(path, _not_a_list(samples))
    if samples and not (isinstance(samples[0], dict) and _NEEDED & samples[0].keys()):
        raise _wrong(path, "not a file of LoCoMo: its first entry has neither a conversation nor questions.")
    conversations = tuple(_conversation(sample, number, path) for number, sample in enumerate(samples, 1))
    refuse_repeats((each.sample_id for each in conversations), "the conversation id", path, _REPLACE)
    return conversations


def _is_older(archive: bytes) -> bool:
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            return any("/locomo10_v2/" in name for name in opened.namelist())
    except (zipfile.BadZipFile, NotImplementedError, ValueError):
        return False


def _loaded(data: bytes, path: Path) -> Any:
    if not data.strip():
        raise _wrong(path, "the file is empty.")
    try:
        data.decode()
        return from_json(data.removeprefix(BOM_UTF8), allow_inf_nan=False)
    except UnicodeDecodeError as error:
        problem = f"the file is not UTF-8, at byte {error.start:,}."
        truncated = error.reason == "unexpected end of data"
    except ValueError as error:
        problem = f"not valid JSON ({error})."
        truncated = "EOF" in str(error)
    if truncated and len(data) < FULL_BYTES:
        problem = f"the file is truncated: it has {len(data):,} bytes, expected {FULL_BYTES:,}."
    raise _wrong(path, problem)


def _not_a_list(data: object) -> str:
    if isinstance(data, dict) and "qa" in data:
        return f"expected a list of conversations, but this is one conversation, as in {_OLDER}"
    return "expected a list of conversations."


def _conversation(sample: object, number: int, path: Path) -> RawConversation:
    label = f"conversation {number}"
    if not isinstance(sample, dict):
        raise _wrong(path, f"{label}: expected an object.")
    if isinstance(name := sample.get("sample_id"), str):
        label += f" ({name[:64]!r})"
    raw = _fitted(_RawSample, sample, label, path)
    for index, question in enumerate(raw.qa):
        if (question.adversarial_answer if question.category == 5 else question.answer) is None:
            missing = "adversarial_answer" if question.category == 5 else "answer"
            raise _wrong(path, f"{label}: 'qa.{index}.{missing}' is missing.")
    speakers = _speakers(raw.conversation, label, path)
    sessions = tuple(_sessions(raw.conversation, label, path))
    if not sessions:
        raise _wrong(path, f"{label} has no sessions.")
    turns = [turn for session in sessions for turn in session.turns]
    refuse_repeats((turn.dia_id for turn in turns), f"{label}: the turn id", path, _REPLACE)
    unknown = next((turn for turn in turns if turn.speaker not in speakers), None)
    if unknown is not None:
        raise _wrong(path, f"{label}: the speaker of {unknown.dia_id} is neither 'speaker_a' nor 'speaker_b'.")
    return RawConversation(raw.sample_id, sessions, raw.qa)


def _speakers(conversation: Mapping[str, Any], label: str, path: Path) -> tuple[str, ...]:
    known = ("speaker_a", "speaker_b")
    for key in conversation:
        if key not in known and not _SESSION.fullmatch(key) and not _DATE.fullmatch(key):
            number = re.search(r"[1-9]\d{0,3}", key)
            session = f"session_{number[0] if number else 1}"
            hint = did_you_mean(key[:64], [*known, session, f"{session}_date_time"])
            raise _wrong(path, f"{label}: unknown key {'conversation.' + key[:64]!r}. {hint}".rstrip())
    for key in known:
        if not isinstance(conversation.get(key), str):
            raise _wrong(path, f"{label}: 'conversation.{key}' is missing or is not text.")
    return tuple(conversation[key] for key in known)


def _sessions(conversation: Mapping[str, Any], label: str, path: Path) -> Iterator[LocomoSession]:
    """Yield the sessions in the order of their numbers; ignore dates without a session."""
    for number in sorted(int(match[1]) for match in map(_SESSION.fullmatch, conversation) if match):
        key = f"session_{number}"
        if f"{key}_date_time" not in conversation:
            raise _wrong(path, f"{label}: '{key}_date_time' is missing, the date of {key}.")
        turns = _fitted(RawTurns, {"turns": conversation[key]}, f"{label}, {key}", path).turns
        elsewhere = next((turn.dia_id for turn in turns if not turn.dia_id.startswith(f"D{number}:")), None)
        if elsewhere is not None:
            raise _wrong(path, f"{label}: {key} has a turn of another session ({elsewhere}).")
        date = conversation[f"{key}_date_time"]
        try:
            moment = datetime.strptime(date, _DATE_FORM)
        except (TypeError, ValueError):
            raise _wrong(
                path, f"{label}: '{key}_date_time' is {str(date)[:64]!r}, not a time such as '1:56 pm on 8 May, 2023'."
            ) from None
        yield LocomoSession(number, f"{moment.isoformat()}Z", turns)


def _fitted(model: type[R], data: object, label: str, path: Path) -> R:
    try:
        return model.model_validate_json(json.dumps(data))
    except ValidationError as error:
        raise _wrong(path, f"{label}: {misfit(model, error)}") from None


def _wrong(path: Path, problem: str) -> BadInput:
    return BadInput(problem, where=path, remedy=_REPLACE)
