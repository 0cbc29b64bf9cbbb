"""Small runs for tests of exports, one for each case of the writers."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from memeval.archive.runs import RunFolder, sealed_runs
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.grading.base import RuleGrader
from memeval.judging.base import Judge
from memeval.keys import ItemKey
from memeval.records.grade import Grade, GradeState
from memeval.records.response import Response
from memeval.records.scenario import Scenario
from memeval.records.track import Redistribution
from memeval.systems.source import file_source
from tests.support.adapters import plain_adapter
from tests.support.tiny import CITIES, TinyBenchmark

STORED = Path(__file__).parents[2] / "results"
"""The runs of this repository."""

WORDS = (*CITIES, "moved", "weather", "soup")
"""Words of the tiny benchmark."""

MISHAPS = (
    'if "(1)" in question: return "  "\n        if "(2)" in question: raise RuntimeError(f"no idea of {question}")'
)
"""Statements of an adapter that answers the first question of a scenario, blanks at the second, fails at the third."""

SEARCHING = """
class Searching:
    def reset(self):
        self.told = []

    def ingest_session(self, session, timestamp):
        self.told += [(turn["turn_id"], turn["content"]) for turn in session["turns"]]

    def search(self, query, k, timestamp=None):
        found = [{"text": text, "source_ids": [place], "score": 0.5} for place, text in self.told[:2]]
        return [*found, {"text": "=cmd('x') of my own", "source_ids": ["Lima, they say"]}]
"""
"""A system that only retrieves: two turns, and an item of its own whose source is made of words."""


class Measuring(RuleGrader):
    """A grader with credit 0.25 for all items; another rule excludes one item."""

    name = "measuring@1"

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        """See :class:`Grader`."""
        left_out = item.item_id == "tiny-001-q01"
        return Grade(
            item_id=item.item_id,
            category=item.category,
            cluster=item.cluster,
            slices=item.slices,
            grader=self.name,
            state=GradeState.GRADED,
            verdict=None,
            credit=0.25,
            alternates={"generous": None if left_out else 0.75},
            metrics={"recall@5": None if left_out else 0.5},
        )


def benchmark_session(questions: int = 1, redistribution: Redistribution = Redistribution.FULL) -> BenchmarkSession:
    """Return a tiny benchmark of four scenarios, open."""
    return BenchmarkSession.open(TinyBenchmark(4, questions, redistribution))


def measured_exam() -> BenchmarkSession:
    """Return the tiny benchmark with a grader that measures."""
    benchmark = TinyBenchmark(4)
    benchmark.categories = tuple(replace(category, grader=Measuring()) for category in benchmark.categories)
    return BenchmarkSession.open(benchmark)


def answered(folder: Path, asked: BenchmarkSession, on_query: str = "pass", **more: Any) -> RunFolder:
    """Return a run of a system that repeats the first turn.

    Args:
        folder: where it all lies.
        asked: what it is asked.
        on_query: a statement in its ``query``.
        more: options of the run.
    """
    source = file_source(plain_adapter(folder, on_query=on_query))
    return run_system(source, asked, RunOptions(results=folder / "results", **more))


def searched(folder: Path, asked: BenchmarkSession) -> RunFolder:
    """Return a run of a system that only retrieves."""
    path = folder / "searching.py"
    path.write_text(SEARCHING, encoding="utf-8")
    return run_system(file_source(path), asked, RunOptions(results=folder / "results"))


def stored(slug: str) -> RunFolder:
    """Return a run of this repository on ``beliefs@2``."""
    return next(run for run in sealed_runs(STORED) if run.run.system.slug == slug and "beliefs" in run.path.parts)
