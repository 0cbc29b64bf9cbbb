"""Scores that nobody can buy: real adapters that shape their contexts, or doubt everything."""

from pathlib import Path

import pytest

from memeval.archive.runs import RunFolder
from memeval.benchmarks import find
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.evaluation.verify.reproduce import reproduce_run
from memeval.evaluation.verify.verification import verify_run
from memeval.records.scores import CategoryScore, Tally
from memeval.systems.source import file_source
from tests.support.data import test_data

ADAPTERS = Path(__file__).parent / "bought"
DELTA = "delta-efficiency"


def sample() -> BenchmarkSession:
    return BenchmarkSession.open(find("deepmemeval@1"), test_data("deepmemeval/deepmemeval_sample.json"))


def run(adapter: str, session: BenchmarkSession, folder: Path) -> RunFolder:
    return run_system(file_source(ADAPTERS / f"{adapter}.py"), session, RunOptions(results=folder))


def category(run: RunFolder, name: str = DELTA) -> CategoryScore:
    return next(each for each in run.run.scores.categories if each.name == name)


def shares(tally: Tally) -> tuple[int, int]:
    return tally.correct, tally.done


@pytest.mark.parametrize("adapter", ["padded_contexts", "padded_results", "repeated_history"])
def test_shaped_contexts_earn_no_context_efficiency(adapter: str, tmp_path: Path) -> None:
    session = BenchmarkSession.open(find("beliefs@2"), parameters={"size": 3})
    found = run(adapter, session, tmp_path)
    assert shares(category(found, "context-efficiency").tally) == (0, 2)
    assert verify_run(found) == []
    assert reproduce_run(found).findings == ()


def test_a_context_that_the_system_reports_is_marked_and_never_a_measurement(tmp_path: Path) -> None:
    delta = category(run("padded_contexts", sample(), tmp_path))
    assert [(count.flag.value, count.items) for count in delta.flags] == [("self-reported-tokens", delta.tally.planned)]
    assert delta.metrics["efficiency"] is delta.metrics["checked_efficiency"] is None
    assert delta.metrics["reported_efficiency"] is not None
    assert (delta.metrics["early_coverage"] or 0.0) > 0.5


def test_doubt_before_every_answer_wins_the_published_score_and_not_the_corrected_one(tmp_path: Path) -> None:
    session = sample()
    plain, hedged = (run(name, session, tmp_path).run.scores for name in ("best_turn", "hedged_best_turn"))
    assert hedged.false_hedge_rate == 1.0
    assert hedged.composite.value == pytest.approx((plain.composite.value or 0.0) + 0.3)
    assert hedged.alternates["corrected"].value == plain.alternates["corrected"].value
