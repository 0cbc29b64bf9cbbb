"""Reads the released file. Question ids are positions in its lists, so they are valid for this file only."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from memeval.benchmarks.catalogue import load
from memeval.benchmarks.data import released_bytes
from memeval.records.base import Digest

FULL = load(__package__).sources[0]

_DATE_FORM = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True)
class LocomoTurn:
    dia_id: str
    """Number of the session and of the turn: ``D1:3``."""
    speaker: str
    text: str
    blip_caption: str | None
    """Caption of the shared image, written by a model. It may exist without an image address."""


@dataclass(frozen=True)
class LocomoQuestion:
    question: str
    category: int
    evidence: tuple[str, ...]
    answer: str | None
    adversarial_answer: str | None


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
    """Sessions in the order of their numbers. Dates without a session are ignored."""
    questions: tuple[LocomoQuestion, ...]


@dataclass(frozen=True)
class LocomoFile:
    digest: Digest
    conversations: tuple[RawConversation, ...]


def read(path: Path) -> LocomoFile:
    """Read the released file. Raises ``BadInput``: the file is missing, unreadable, or not the released one."""
    return LocomoFile(FULL.digest, parse(released_bytes(path, "locomo", FULL)))


def parse(data: bytes) -> tuple[RawConversation, ...]:
    return tuple(
        RawConversation(
            sample["sample_id"], _sessions(sample["conversation"]), tuple(_question(raw) for raw in sample["qa"])
        )
        for sample in from_json(data)
    )


def _sessions(conversation: dict[str, Any]) -> tuple[LocomoSession, ...]:
    numbers = (name.removeprefix("session_") for name in conversation)
    return tuple(
        LocomoSession(
            number,
            f"{datetime.strptime(conversation[f'session_{number}_date_time'], _DATE_FORM).isoformat()}Z",
            tuple(_turn(raw) for raw in conversation[f"session_{number}"]),
        )
        for number in sorted(int(number) for number in numbers if number.isdecimal())
    )


def _turn(raw: dict[str, Any]) -> LocomoTurn:
    return LocomoTurn(raw["dia_id"], raw["speaker"], raw["text"], raw.get("blip_caption"))


def _question(raw: dict[str, Any]) -> LocomoQuestion:
    """Return a question; six answers of the released file are numbers."""
    right, trap = (None if raw.get(name) is None else str(raw[name]) for name in ("answer", "adversarial_answer"))
    return LocomoQuestion(raw["question"], raw["category"], tuple(raw["evidence"]), right, trap)
