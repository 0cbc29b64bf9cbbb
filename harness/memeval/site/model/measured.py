"""What a track measures: the tab of the front page that it belongs to."""

from __future__ import annotations

from enum import StrEnum

from memeval.execution.readers import NATIVE
from memeval.leaderboard.board import PLUMBING
from memeval.records.track import Track
from memeval.site.model.content import BenchmarkView


class Measure(StrEnum):
    """What is measured, in the order of the tabs."""

    RETRIEVAL = "retrieval"
    """What systems find. A fixed reader answers from it, or it is graded itself."""
    ANSWERS = "answers"
    """The answers that systems write."""
    SUITES = "suites"
    """Short suites for developers, with texts to store and queries."""

    @property
    def heading(self) -> str:
        """Its name on tabs."""
        return {"retrieval": "Retrieval", "answers": "Written answers", "suites": "Test suites"}[self.value]

    @property
    def meaning(self) -> str:
        """What is measured, in a sentence or two."""
        return {
            "retrieval": "Systems only search. A fixed reader without an LLM answers from what they find, or the "
            "retrieved texts are graded.",
            "answers": "Systems write their answers themselves.",
            "suites": "Short tests of single functions, with texts to store and queries.",
        }[self.value]


def measure_of(benchmark: BenchmarkView, track: Track) -> Measure | None:
    """Return what a track measures; ``None`` for tracks that the front page leaves out.

    It leaves out tracks that only test the software, and those that grade what a system stores.
    """
    if track.parameters.get("label") == PLUMBING:
        return None
    if benchmark.info is not None and benchmark.info.suite is not None:
        return Measure.SUITES
    answers = benchmark.answers(track)
    if answers == "stored memories":
        return None
    return Measure.ANSWERS if track.reader == NATIVE and not answers.startswith("retrieval") else Measure.RETRIEVAL
