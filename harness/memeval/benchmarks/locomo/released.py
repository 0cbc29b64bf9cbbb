"""Reading the released file: its shape, and a sentence for everything that is wrong with a copy of it."""

from __future__ import annotations

import difflib
import io
import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BeforeValidator, Field, ValidationError
from pydantic_core import from_json

from memeval.records.base import Digest, Record, digest_bytes, misfit
from memeval.records.errors import BadInput

FULL_BYTES = 2_805_274
"""Size of the released file."""

FULL_DIGEST = "sha256:79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4"
"""Digest of the released file; question ids count places in its lists, and so are its alone."""

LARGEST = 16_000_000
"""A file of more bytes is not read: it is no LoCoMo."""

_PULL = "Fetch it with `memeval data pull locomo`, or name a copy with --data."
_NEEDED = {"sample_id", "conversation", "qa"}
_ZIP_MAGIC = b"PK\x03\x04"
_OLDER = (
    "the older release, which has a file for each conversation and no conversation ids. It says the same, but memeval's"
    " question ids are those of locomo10.json."
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
"""What the file holds and memeval has no use for."""


class LocomoTurn(Record):
    """One thing said."""

    dia_id: Annotated[str, Field(pattern=r"^D[1-9]\d{0,3}:[1-9]\d{0,3}$")]
    """The session's number and the turn's: ``D1:3``."""
    speaker: Text
    text: Text
    blip_caption: Text | None = None
    """What a model saw in the image that is shared; there may be one where the image's address is gone."""
    img_url: Unread
    query: Unread
    redownload: Annotated[Any, Field(default=None, alias="re-download")]


class RawTurns(Record):
    """What is said in a session."""

    turns: Annotated[tuple[LocomoTurn, ...], Field(min_length=1)]


class LocomoQuestion(Record):
    """One question."""

    question: Text
    category: Literal[1, 2, 3, 4, 5]
    evidence: tuple[str, ...]
    """Ids of turns; some strings of the released file are none."""
    answer: Answer | None = None
    adversarial_answer: Answer | None = None


class _RawSample(Record):
    """One conversation of the file, all but what is said in it."""

    sample_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
    conversation: dict[str, Any]
    qa: Annotated[tuple[LocomoQuestion, ...], Field(min_length=1)]
    observation: Unread
    session_summary: Unread
    event_summary: Unread


@dataclass(frozen=True)
class LocomoSession:
    """One session."""

    number: int
    """Its number in the file; the numbers give the order."""
    date: str
    """When it takes place, as ISO 8601. The file names no zone; times are taken as UTC."""
    turns: tuple[LocomoTurn, ...]


@dataclass(frozen=True)
class RawConversation:
    """One conversation with its questions."""

    sample_id: str
    sessions: tuple[LocomoSession, ...]
    """In the order of their numbers."""
    questions: tuple[LocomoQuestion, ...]


@dataclass(frozen=True)
class LocomoFile:
    """A released file, read and checked."""

    digest: Digest
    conversations: tuple[RawConversation, ...]


def read(path: Path) -> LocomoFile:
    """Read the released file.

    Raises:
        BadInput: the file is missing, cannot be read, is cut off, too large, another file, or of another shape, repeats
            an id, or is not the released one.
    """
    data = _bytes(path)
    conversations = parse(data, path)
    digest = digest_bytes(data)
    if digest != FULL_DIGEST:
        raise _wrong(
            path,
            f"the file has the right shape but is not the released one: its digest is {digest}, and the released"
            f" file's is {FULL_DIGEST}. Question ids hold for that file alone.",
        )
    return LocomoFile(digest, conversations)


def parse(data: bytes, path: Path) -> tuple[RawConversation, ...]:
    """Read bytes in the released shape, whether or not they are the released ones.

    Args:
        data: the file's bytes.
        path: where they are from, for refusals.

    Raises:
        BadInput: they have another shape, or repeat an id.
    """
    samples = _loaded(data, path)
    if not isinstance(samples, list):
        raise _wrong(path, _no_list(samples))
    if samples and not (isinstance(samples[0], dict) and _NEEDED & samples[0].keys()):
        raise _wrong(path, "this is another file: its first entry has neither a conversation nor questions.")
    conversations = tuple(_conversation(sample, number, path) for number, sample in enumerate(samples, 1))
    _refuse_repeated((each.sample_id for each in conversations), "the conversation id", path)
    return conversations


def _bytes(path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file():
            raise _wrong(path, "this is no file.")
        with path.open("rb") as stream:
            data = stream.read(LARGEST + 1)
    except FileNotFoundError:
        raise _wrong(path, "there is no such file.") from None
    except OSError as error:
        raise _wrong(path, f"the file cannot be read ({error.strerror}).") from None
    if len(data) > LARGEST:
        raise _wrong(path, f"the file has more than {LARGEST:,} bytes, and the released one has {FULL_BYTES:,}.")
    if data.startswith(_ZIP_MAGIC):
        raise _wrong(path, f"this is {_OLDER}" if _is_older(data) else "this is a ZIP archive.")
    return data


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
        return from_json(data, allow_inf_nan=False)
    except UnicodeDecodeError as error:
        problem = f"the file is not UTF-8: byte {error.start:,} is no part of any letter."
        cut = error.reason == "unexpected end of data"
    except ValueError as error:
        problem = f"not valid JSON ({error})."
        cut = "EOF" in str(error)
    if cut and len(data) < FULL_BYTES:
        problem = f"the file is cut off: it ends after {len(data):,} bytes, and the released file has {FULL_BYTES:,}."
    raise _wrong(path, problem)


def _no_list(data: object) -> str:
    if isinstance(data, dict) and "qa" in data:
        return f"this is one conversation and not the list of all; so is each file of {_OLDER}"
    return "expected a list of conversations."


def _conversation(sample: object, number: int, path: Path) -> RawConversation:
    place = f"conversation {number}"
    if not isinstance(sample, dict):
        raise _wrong(path, f"{place}: a table of names and values belongs here.")
    if isinstance(name := sample.get("sample_id"), str):
        place += f" ({name[:64]!r})"
    raw = _fitted(_RawSample, sample, place, path)
    for index, question in enumerate(raw.qa):
        if (question.adversarial_answer if question.category == 5 else question.answer) is None:
            missing = "adversarial_answer" if question.category == 5 else "answer"
            raise _wrong(path, f"{place}: 'qa.{index}.{missing}' is missing.")
    speakers = _speakers(raw.conversation, place, path)
    sessions = tuple(_sessions(raw.conversation, place, path))
    if not sessions:
        raise _wrong(path, f"{place}: there is no session in it.")
    turns = [turn for session in sessions for turn in session.turns]
    _refuse_repeated((turn.dia_id for turn in turns), f"{place}: the turn id", path)
    stranger = next((turn for turn in turns if turn.speaker not in speakers), None)
    if stranger is not None:
        raise _wrong(path, f"{place}: {stranger.dia_id} is said by neither 'speaker_a' nor 'speaker_b'.")
    return RawConversation(raw.sample_id, sessions, raw.qa)


def _speakers(conversation: Mapping[str, Any], place: str, path: Path) -> tuple[str, ...]:
    """Return the two people, and refuse a key that is neither theirs nor a session's nor a date's."""
    known = ("speaker_a", "speaker_b")
    for key in conversation:
        if key not in known and not _SESSION.fullmatch(key) and not _DATE.fullmatch(key):
            number = re.search(r"[1-9]\d{0,3}", key)
            session = f"session_{number[0] if number else 1}"
            near = difflib.get_close_matches(key[:64], [*known, session, f"{session}_date_time"], n=1)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            raise _wrong(path, f"{place}: unknown key {'conversation.' + key[:64]!r}.{hint}")
    for key in known:
        if not isinstance(conversation.get(key), str):
            raise _wrong(path, f"{place}: 'conversation.{key}' is missing or is no text.")
    return tuple(conversation[key] for key in known)


def _sessions(conversation: Mapping[str, Any], place: str, path: Path) -> Iterator[LocomoSession]:
    """Yield the sessions in the order of their numbers; dates of sessions that there are not are left alone."""
    for number in sorted(int(match[1]) for match in map(_SESSION.fullmatch, conversation) if match):
        key = f"session_{number}"
        if f"{key}_date_time" not in conversation:
            raise _wrong(path, f"{place}: {key} has no date: '{key}_date_time' is missing.")
        turns = _fitted(RawTurns, {"turns": conversation[key]}, f"{place}, {key}", path).turns
        elsewhere = next((turn.dia_id for turn in turns if not turn.dia_id.startswith(f"D{number}:")), None)
        if elsewhere is not None:
            raise _wrong(path, f"{place}: {elsewhere} stands in {key}.")
        date = conversation[f"{key}_date_time"]
        try:
            moment = datetime.strptime(date, _DATE_FORM)
        except (TypeError, ValueError):
            raise _wrong(
                path,
                f"{place}: '{key}_date_time' is {str(date)[:64]!r}, which is no time such as '1:56 pm on 8 May, 2023'.",
            ) from None
        yield LocomoSession(number, f"{moment.isoformat()}Z", turns)


def _fitted(model: type[R], data: object, place: str, path: Path) -> R:
    try:
        return model.model_validate_json(json.dumps(data))
    except ValidationError as error:
        raise _wrong(path, f"{place}: {misfit(model, error)}") from None


def _refuse_repeated(names: Iterable[str], what: str, path: Path) -> None:
    repeated = next((name for name, times in Counter(names).items() if times > 1), None)
    if repeated is not None:
        raise _wrong(path, f"{what} {repeated!r} occurs more than once.")


def _wrong(path: Path, problem: str) -> BadInput:
    return BadInput(problem, where=path, remedy=_PULL)
