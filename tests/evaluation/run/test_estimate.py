"""Estimates are upper bounds of real runs, call no model, write nothing, and name unknown costs."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memeval.archive.runs import RunFolder
from memeval.benchmarks import find
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.estimate import ASSUMED_SECONDS, Estimate, EstimatePart, estimate_run
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.records.call import Phase
from memeval.records.errors import BadInput
from memeval.systems.source import SystemSource, file_source, find_system
from tests.evaluation.asking import (
    PickyServer,
    asking_system,
    benchmark_session,
    by_rules,
    fair,
    files_under,
    options,
    said_to,
    searching_system,
)
from tests.support.adapters import plain_adapter


def part(estimate: Estimate, phase: Phase) -> EstimatePart:
    (found,) = (each for each in estimate.parts if each.phase is phase)
    return found


def is_at_least(estimated: EstimatePart, run: RunFolder) -> bool:
    """Return whether an estimate is at least the usage of a run."""
    took = run.run.usage[estimated.phase]
    assert took.prompt_tokens is not None
    assert took.completion_tokens is not None
    assert took.usd is not None
    assert estimated.usd is not None
    return (
        estimated.calls >= took.calls
        and estimated.prompt_tokens >= took.prompt_tokens
        and estimated.completion_tokens >= took.completion_tokens
        and estimated.usd >= took.usd
    )


def test_it_asks_and_writes_nothing_and_is_no_less_than_the_run_then_takes(tmp_path: Path, server: PickyServer) -> None:
    server.answer = lambda body: fair(body) if "----- answer " in said_to(body) else "In Lima, or Oslo." * 20
    chosen = options(tmp_path, reader="openai:gpt-4o-mini")
    source = searching_system(tmp_path)
    estimate = estimate_run(source, benchmark_session(), chosen)
    assert [each.phase for each in estimate.parts] == [Phase.READ, Phase.JUDGE]
    assert (estimate.items, estimate.questions) == (4, 4)
    assert (server.requests, [*files_under(tmp_path)]) == (0, ["searching.py"])
    assert not (tmp_path / "results").exists()
    run = run_system(source, benchmark_session(), chosen)
    assert is_at_least(part(estimate, Phase.READ), run)
    assert is_at_least(part(estimate, Phase.JUDGE), run)
    assert part(estimate, Phase.JUDGE).calls == part(estimate, Phase.READ).calls == 4


def test_judgments_on_record_are_counted_and_cost_nothing(tmp_path: Path, server: PickyServer) -> None:
    source = file_source(plain_adapter(tmp_path))
    run_system(source, benchmark_session(), options(tmp_path, limit=2))
    run = run_system(source, benchmark_session(), by_rules(tmp_path))
    half = part(estimate_run(source, benchmark_session(), options(tmp_path)), Phase.JUDGE)
    assert (half.calls, half.recorded) == (4, 2)
    asked = server.requests
    run_system(source, benchmark_session(), options(tmp_path))
    assert server.requests - asked == half.calls - half.recorded
    whole = part(estimate_run(source, benchmark_session(), options(tmp_path)), Phase.JUDGE)
    assert (whole.calls, whole.recorded) == (4, 4)
    assert (whole.prompt_tokens, whole.completion_tokens, whole.usd, whole.hours) == (0, 0, 0.0, 0.0)
    assert run.run.usage == {}


@pytest.mark.parametrize("on_query", ["raise OSError('down')", "return ' '"])
def test_what_failed_or_was_blank_may_be_judged_this_time(tmp_path: Path, server: PickyServer, on_query: str) -> None:
    mark = tmp_path / "mended"
    if_down = f"if not os.path.exists({str(mark)!r}): {on_query}"
    source = file_source(plain_adapter(tmp_path, on_query=if_down))
    run_system(source, benchmark_session(), options(tmp_path))
    assert server.requests == 0
    estimate = estimate_run(source, benchmark_session(), options(tmp_path))
    mark.touch()
    again = run_system(source, benchmark_session(), options(tmp_path, fresh=True))
    assert server.requests == 4
    assert is_at_least(part(estimate, Phase.JUDGE), again)


def test_seconds_come_from_a_stored_run_or_are_said_to_be_assumed(tmp_path: Path, server: PickyServer) -> None:
    source = file_source(plain_adapter(tmp_path))
    before = part(estimate_run(source, benchmark_session(), options(tmp_path)), Phase.JUDGE)
    assert (before.seconds_per_call, before.basis) == (ASSUMED_SECONDS, "assumed")
    assert before.hours == pytest.approx(4 * ASSUMED_SECONDS / 16 / 3600)
    run = run_system(source, benchmark_session(), options(tmp_path))
    other = part(estimate_run(source, benchmark_session(), options(tmp_path, judge="openai:gpt-4o-mini")), Phase.JUDGE)
    service = run.run.usage[Phase.JUDGE].service
    assert service is not None and other.seconds_per_call == service.p50
    assert other.basis == f"median of run {run.run.run_id}"


def test_a_model_without_a_known_price_has_none(tmp_path: Path, server: PickyServer) -> None:
    estimate = estimate_run(
        find_system("always-hedge"), benchmark_session(), options(tmp_path, judge="openai:home-made")
    )
    assert part(estimate, Phase.JUDGE).usd is None
    assert estimate.prices is not None


def test_without_models_there_is_nothing_to_price(tmp_path: Path, server: PickyServer) -> None:
    estimate = estimate_run(find_system("no-memory"), benchmark_session(), by_rules(tmp_path))
    assert (estimate.parts, estimate.unknown, estimate.prices) == ((), (), None)


def test_a_systems_own_calls_are_said_to_be_unknown(tmp_path: Path, server: PickyServer) -> None:
    server.answer = lambda body: fair(body) if "----- answer " in said_to(body) else "Lima."
    source: SystemSource = asking_system(tmp_path)
    (sentence,) = estimate_run(source, benchmark_session(), options(tmp_path)).unknown
    assert sentence == "The system's own calls to small are unknown before its first run."
    run = run_system(source, benchmark_session(), options(tmp_path))
    (sentence,) = estimate_run(source, benchmark_session(), options(tmp_path)).unknown
    assert sentence.endswith(f"are unknown. Run {run.run.run_id} made 4, for an unknown price.")
    (sentence,) = estimate_run(replace(source, slug="other"), benchmark_session(), options(tmp_path)).unknown
    assert sentence.endswith("are unknown before its first run.")


def test_four_items_are_too_few_to_show_a_difference(tmp_path: Path, server: PickyServer) -> None:
    estimate = estimate_run(find_system("no-memory"), benchmark_session(), options(tmp_path))
    assert (estimate.clusters, estimate.detectable) == (4, None)


def test_the_difference_that_a_tier_could_show_does_not_depend_on_a_limit(tmp_path: Path) -> None:
    chosen = RunOptions(results=tmp_path / "results", limit=2)
    estimate = estimate_run(find_system("bm25"), BenchmarkSession.open(find("astrocyte-accuracy")), chosen)
    assert (estimate.items, estimate.clusters) == (2, 58)
    assert estimate.detectable == pytest.approx(0.14, abs=0.02)


@pytest.mark.parametrize("bad", [{"judge": "gpt"}, {"judge_label": None}, {"reader": "openai:"}, {"limit": 0}])
def test_what_cannot_be_run_cannot_be_estimated(tmp_path: Path, server: PickyServer, bad: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        estimate_run(find_system("full-context"), benchmark_session(), options(tmp_path, **bad))
