"""What every reader shares: the method it has, the answer it returns, and the error it raises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from memeval.records.base import Digest


@dataclass(frozen=True)
class ReaderAnswer:
    """What a reader made of a question."""

    answer: str
    """The answer; blank where the context holds none."""
    key: Digest | None = None
    """The model call in which it answered, by its key; ``None`` where no model was asked."""
    note: str | None = None
    """What the log should say of it, as a sentence."""


class ReaderFailed(Exception):
    """A reader came to no answer; the text is a sentence.

    Attributes:
        key: the model call that failed, by its key.
    """

    def __init__(self, sentence: str, key: Digest | None = None) -> None:
        self.key = key
        super().__init__(sentence)


class Reader(Protocol):
    """Answers a question from context."""

    @property
    def name(self) -> str:
        """Name and version, such as ``extractive@1``; part of the track."""

    def read(self, question: str, timestamp: str | None, contexts: Sequence[str]) -> ReaderAnswer:
        """Answer a question.

        Args:
            question: the question.
            timestamp: the time it is asked as of, ISO 8601; ``None`` for now.
            contexts: the context the asker has been given, oldest delivery first.

        Raises:
            ReaderFailed: it came to no answer.
            MemevalError: the run has to stop.
        """
