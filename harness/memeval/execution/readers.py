"""Readers: they answer from retrieved context, for systems that only retrieve."""

from collections.abc import Sequence

from memeval.execution.extractive.reader import ExtractiveReader
from memeval.reading import Reader, ReaderAnswer

NATIVE = "native"

OFFLINE = "extractive"
"""The name that selects a protocol's reader without a model."""


class NoReader:
    """Answers nothing: only the retrieved items are graded."""

    name = "none@1"

    def read(self, question: str, timestamp: str | None, contexts: Sequence[str]) -> ReaderAnswer:
        return ReaderAnswer("")


class ChunksReader:
    """Answers with the whole retrieved text, to grade whether it contains the answer."""

    name = "chunks@1"

    def read(self, question: str, timestamp: str | None, contexts: Sequence[str]) -> ReaderAnswer:
        return ReaderAnswer("\n\n".join(contexts))


READERS: tuple[Reader, ...] = (ExtractiveReader(), NoReader(), ChunksReader())
