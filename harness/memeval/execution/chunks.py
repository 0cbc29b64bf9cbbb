"""The reader that reads nothing: what was retrieved is the answer."""

from __future__ import annotations

from collections.abc import Sequence

from memeval.execution.reading import ReaderAnswer


class ChunksReader:
    """Answers with all that was retrieved, one after the other: what is asked is whether the answer is among it."""

    name = "chunks@1"

    def read(self, question: str, timestamp: str | None, contexts: Sequence[str]) -> ReaderAnswer:
        """Return the contexts, blank lines between them; see :class:`memeval.execution.reading.Reader`."""
        return ReaderAnswer("\n\n".join(contexts))
