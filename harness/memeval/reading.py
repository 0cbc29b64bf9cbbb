"""The interface of readers: their method, answer and error."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from memeval.records.base import Digest


@dataclass(frozen=True)
class ReaderAnswer:
    """A reader's answer to a question."""

    answer: str
    """The answer; blank if the context contains none."""
    key: Digest | None = None
    """Key of the model call with the answer; ``None`` without a model."""
    note: str | None = None
    """A sentence for the log, if any."""


class ReaderFailed(Exception):
    """A reader failed to answer; the text is a sentence.

    Attributes:
        key: key of the failed model call, if any.
    """

    def __init__(self, sentence: str, key: Digest | None = None) -> None:
        self.key = key
        super().__init__(sentence)


class Reader(Protocol):
    """Answers a question from context."""

    @property
    def name(self) -> str:
        """Name and version, such as ``extractive@2``; part of the track."""

    def read(self, question: str, timestamp: str | None, contexts: Sequence[str]) -> ReaderAnswer:
        """Answer a question.

        ``timestamp``: the time of the question, ISO 8601; ``None`` for now. ``contexts``: the contexts returned so far,
        the oldest first. Raises ``ReaderFailed`` if the reader failed to answer. Raises ``MemevalError`` if the run
        must stop.
        """
