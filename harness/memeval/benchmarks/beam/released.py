"""Finds and reads the released files, plain or gzip, and compares them with the release."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from pydantic import Field, ValidationError
from pydantic_core import from_json

from memeval.benchmarks.beam.keys import Ability
from memeval.benchmarks.data import data_folder, git_object, packed_or_plain, unpacked
from memeval.records.base import Digest, Record, digest_of, misfit
from memeval.records.errors import BadInput

FOLDER = "beam"

SIZES = {"100k": "100K", "500k": "500K", "1m": "1M", "10m": "10M"}
"""Folders of the release, by tier."""

LARGEST_FILE_BYTES = 256 << 20
"""Largest accepted file, unpacked. The largest released chats have ten million tokens, about 50 MB."""

_PARENTS = ("", "chats", FOLDER, f"{FOLDER}/chats")
_RESTORE = "Restore the released file."
_QUESTIONS = ("probing_questions/probing_questions.json", "probing_questions.json")
_REFERENCES = ("answer", "ideal_response", "ideal_answer", "ideal_summary", "expected_compliance")

_DASHES = "--"

_MARK = "->->"
_MARKER = re.compile(r"\s*->->\s*\d+,(?:[^\n]*\Z|\s*(?:N/A|\d+)\)?)")
"""Where a message was planned: batch and bullet of the author's plan, at the end of most messages of the user. A marker
at the end of a message may be followed by a remark on the same line."""

R = TypeVar("R", bound=Record)
Text = Annotated[str, Field(pattern=r"\S")]
Unread = Annotated[Any, Field(default=None)]


class _Message(Record):
    role: Literal["user", "assistant"]
    id: int
    content: Text
    time_anchor: str | None = None
    index: Unread
    question_type: Unread


class _Batch(Record):
    batch_number: int
    turns: tuple[tuple[_Message, ...], ...]
    time_anchor: str | None = None


class _Chat(Record):
    batches: Annotated[tuple[_Batch, ...], Field(min_length=1)]


class _Question(Record):
    question: Text
    difficulty: str
    rubric: Annotated[tuple[Text, ...], Field(min_length=1)]
    reference: Text


class BeamMessage(NamedTuple):
    """A message of a chat, without the marker of the author's plan."""

    message_id: int
    role: str
    content: str


class BeamSession(NamedTuple):
    """The messages of a batch; of one of its days, if the batch has several."""

    name: str
    date: str
    """ISO 8601."""
    messages: tuple[BeamMessage, ...]


class BeamQuestion(NamedTuple):
    ability: Ability
    number: int
    """Place among the questions of its ability, from 1."""
    question: str
    difficulty: str
    rubric: tuple[str, ...]
    reference: str
    evidence: tuple[int, ...]
    """Ids of the messages with the evidence, each once; empty if the file names none."""


@cache
def released_chats() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Return the git object names (SHA-1) of the released chat and questions, by size and number of the chat."""
    return from_json((resources.files(__package__) / "released.json").read_bytes())  # type: ignore[no-any-return]


@dataclass(frozen=True)
class ChatFiles:
    """The files of one chat."""

    name: str
    chat: Path
    questions: Path
    objects: tuple[str, str]
    """Git object names of chat and questions."""

    def sessions(self) -> tuple[BeamSession, ...]:
        """Read the chat.

        Raises ``BadInput``: the file is invalid, changed since it was first read, has no dates, has ids that are not 0,
        1, 2, … in order, or a marker of the author's plan is left in a message.
        """
        return tuple(_sessions(self._loaded(self.chat, self.objects[0]), self.chat))

    def asked(self) -> tuple[BeamQuestion, ...]:
        """Read the questions. Raises ``BadInput``: the file is invalid, or changed since it was first read."""
        return tuple(_asked(self._loaded(self.questions, self.objects[1]), self.questions))

    def _loaded(self, file: Path, expected: str) -> Any:
        data = unpacked(file, LARGEST_FILE_BYTES, _RESTORE)
        if git_object(data) != expected:
            raise BadInput("the file changed during the run.", where=file, remedy="Start again.")
        if not data.strip():
            raise _wrong("the file is empty.", file)
        try:
            return from_json(data, allow_inf_nan=False)
        except ValueError as error:
            problem = "the file is truncated" if "EOF" in str(error) else "not valid JSON"
            raise _wrong(f"{problem} ({error}).", file) from None


def folder_of(size: str, path: Path | None) -> Path | None:
    """Return the folder of a size with a folder per chat; ``None`` if absent.

    ``path``: a folder with one folder per size, a folder above it, or a copy of the upstream repository; ``None`` for
    memeval's data folder.
    """
    root = data_folder() / FOLDER if path is None else path
    candidates = (root / parent / size for parent in _PARENTS)
    return next((each for each in candidates if each.is_dir()), None)


def missing(size: str, path: Path | None) -> list[str]:
    """Return which files of a size are not here, by chat and name (``7/chat.json``)."""
    folder = folder_of(size, path)
    names = (("chat.json",), _QUESTIONS)
    return [
        f"{chat}/{choices[0]}"
        for chat in released_chats()[size]
        for choices in names
        if folder is None or _found(folder / chat, choices) is None
    ]


def read_chats(size: str, path: Path | None, remedy: str) -> list[ChatFiles]:
    """Find all chats of a size, and compute the digests of their files.

    Raises ``BadInput``: files are missing or unreadable. ``remedy``: how to get the files, as a sentence.
    """
    folder, absent = folder_of(size, path), missing(size, path)
    if folder is None:
        raise BadInput(f"the chats of {size} are missing.", where=path, remedy=remedy)
    if absent:
        count = len(released_chats()[size])
        problem = f"{len(absent)} of the {2 * count} files of {size} are missing, the first is {absent[0]}."
        if any(each.endswith("/chat.json") and (folder / each).with_suffix(".pickle").exists() for each in absent):
            problem += " memeval never reads a chat.pickle: such a file can run code."
        raise BadInput(problem, where=folder, remedy=remedy)
    return [_chat_files(size, folder / chat) for chat in released_chats()[size]]


def released(size: str, chats: Sequence[ChatFiles]) -> bool:
    return {each.name: each.objects for each in chats} == {
        f"{size}-{number}": tuple(objects) for number, objects in released_chats()[size].items()
    }


def digest_of_chats(objects: Mapping[str, Sequence[str]]) -> Digest:
    """Return the digest of data. ``objects``: git object names of chat and questions, by name of the chat."""
    return digest_of({name: list(pair) for name, pair in objects.items()})


def _chat_files(size: str, folder: Path) -> ChatFiles:
    files = [_found(folder, names) for names in (("chat.json",), _QUESTIONS)]
    chat, questions = (file for file in files if file is not None)
    objects = tuple(git_object(unpacked(file, LARGEST_FILE_BYTES, _RESTORE)) for file in (chat, questions))
    return ChatFiles(f"{size}-{folder.name}", chat, questions, (objects[0], objects[1]))


def _found(folder: Path, names: Sequence[str]) -> Path | None:
    return next((file for name in names if (file := packed_or_plain(folder / name)) is not None), None)


def _sessions(data: Any, where: Path) -> Iterator[BeamSession]:
    """Yield the sessions of a chat: one per batch, or one per day if a batch has several dates."""
    day: date | None = None
    expected = 0
    for label, batch in _batches(data, where):
        day = _day(batch.time_anchor, label, where) or day
        parts: list[tuple[date, list[BeamMessage]]] = []
        for message in (each for turn in batch.turns for each in turn):
            day = _day(message.time_anchor, label, where) or day
            if day is None:
                raise _wrong(f"{label} has no date: no 'time_anchor' is before it.", where)
            if message.id != expected:
                raise _wrong(
                    f"{label}: the id of a message is {message.id}, expected {expected}. Ids must not restart.", where
                )
            expected += 1
            if not parts or parts[-1][0] != day:
                parts.append((day, []))
            parts[-1][1].append(BeamMessage(message.id, message.role, _unmarked(message, label, where)))
        for place, (at, messages) in enumerate(parts, 1):
            name = label if place == 1 else f"{label}, day {place}"
            yield BeamSession(name, at.isoformat(), tuple(messages))
    if not expected:
        raise _wrong("the chat has no messages.", where)


def _batches(data: Any, where: Path) -> Iterator[tuple[str, _Batch]]:
    """Yield the batches with their names. The longest chats are a list of plans, each an object with one list."""
    if not isinstance(data, list):
        raise _wrong("expected a list of batches.", where)
    plans = [each for each in data if isinstance(each, dict) and len(each) == 1]
    if not plans:
        yield from _numbered("", data, where)
    elif len(plans) < len(data):
        raise _wrong("expected only plans or only batches, found both.", where)
    for plan in plans:
        ((name, batches),) = plan.items()
        yield from _numbered(f"{name[:64]}, ", batches, where)


def _numbered(plan: str, batches: Any, where: Path) -> Iterator[tuple[str, _Batch]]:
    chat = _fitted(_Chat, {"batches": batches}, f"{plan}chat", where)
    for place, batch in enumerate(chat.batches, 1):
        yield f"{plan}batch {place}", batch


def _unmarked(message: _Message, label: str, where: Path) -> str:
    text = _MARKER.sub("", message.content)
    if _MARK in text:
        raise _wrong(
            f"{label}: a marker of the author's plan is left in message {message.id}, which gives answers away.", where
        )
    if not text.strip():
        raise _wrong(f"{label}: message {message.id} has no text.", where)
    return text


def _day(anchor: str | None, label: str, where: Path) -> date | None:
    if anchor is None:
        return None
    try:
        return datetime.strptime(anchor, "%B-%d-%Y").date()
    except ValueError:
        raise _wrong(f"{label}: 'time_anchor' is {anchor[:64]!r}, not a date such as 'March-15-2024'.", where) from None


def _asked(data: Any, where: Path) -> Iterator[BeamQuestion]:
    names = {ability.value.replace("-", "_"): ability for ability in Ability}
    if not isinstance(data, dict) or data.keys() != names.keys():
        raise _wrong("expected an object with the ten abilities of BEAM.", where)
    for name, ability in names.items():
        if not isinstance(data[name], list):
            raise _wrong(f"{name}: expected a list of questions.", where)
        for number, raw in enumerate(data[name], 1):
            yield _question(ability, number, raw, f"{name}, question {number}", where)


def _question(ability: Ability, number: int, raw: Any, label: str, where: Path) -> BeamQuestion:
    if not isinstance(raw, dict):
        raise _wrong(f"{label}: expected an object.", where)
    found = {key: raw[key] for key in ("question", "difficulty", "rubric") if key in raw}
    references = [raw[key] for key in _REFERENCES if key in raw]
    if len(references) != 1:
        raise _wrong(f"{label}: expected one of {', '.join(_REFERENCES)}, found {len(references)}.", where)
    fitted = _fitted(_Question, found | {"reference": references[0]}, label, where)
    evidence = tuple(dict.fromkeys(_ids(raw.get("source_chat_ids"), label, where)))
    return BeamQuestion(ability, number, fitted.question, fitted.difficulty, fitted.rubric, fitted.reference, evidence)


def _ids(value: Any, label: str, where: Path) -> Iterator[int]:
    """Yield the ids of evidence: a list, a list of lists, or an object of lists. One released list has a dash line."""
    if value is None or value == _DASHES:
        return
    if type(value) is int:
        yield value
        return
    if not isinstance(value, dict | list):
        raise _wrong(f"{label}: 'source_chat_ids' has something that is not a whole number.", where)
    for each in value.values() if isinstance(value, dict) else value:
        yield from _ids(each, label, where)


def _fitted(model: type[R], data: object, label: str, where: Path) -> R:
    try:
        return model.model_validate_json(json.dumps(data))
    except ValidationError as error:
        raise _wrong(f"{label}: {misfit(model, error)}", where) from None


def _wrong(problem: str, where: Path) -> BadInput:
    return BadInput(problem, where=where, remedy=_RESTORE)
