"""The reader whose answer is the retrieved text."""

from __future__ import annotations

from collections.abc import Sequence

from memeval.execution.reading import ReaderAnswer


class ChunksReader:
    """Answers with the whole retrieved text, to grade whether it contains the answer."""

    name = "chunks@1"

    def read(self, question: str, timestamp: str | None, contexts: Sequence[str]) -> ReaderAnswer:
        """Return the contexts, separated by blank lines; see :class:`memeval.execution.reading.Reader`."""
        return ReaderAnswer("\n\n".join(contexts))
