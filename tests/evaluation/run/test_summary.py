"""Sums over a run's rows, against values computed by hand."""

import random
from typing import Any

import pytest

from memeval.evaluation.run import summary
from memeval.records.call import Api, Call, Caller, ModelRequest, Phase, PhaseUsage, Seconds, UsageSource
from memeval.records.response import Outcome, ReportedUsage, Response, Timings
from memeval.records.run import Percentiles
from tests.support.audits import make_call

RUN, EARLIER = "20260102T000000Z-00000000", "20260101T000000Z-00000000"


def call(number: int, caller: Caller = Caller.JUDGE, phase: Phase = Phase.JUDGE, **parts: Any) -> Call:
    """Return an answered call of this run with ten prompt tokens and one completion token."""
    request = ModelRequest(endpoint="http://127.0.0.1:1/v1", api=Api.CHAT, body={"model": "m", "n": number})
    costs = {"prompt_tokens": 10, "completion_tokens": 1, "cost_usd": 0.1}
    times = {"seconds": float(number), "queued_seconds": number / 10}
    return make_call(
        request, **{"caller": caller, "phase": phase, "run_id": RUN, "model": "m-1", **costs, **times, **parts}
    )


def response(number: int = 0, usage: ReportedUsage | None = None, **seconds: Any) -> Response:
    return Response(
        item_id=f"i{number}",
        scenario_id="s",
        question_id=f"q{number}",
        outcome=Outcome.OK,
        answer="Lima",
        usage=usage,
        timings=Timings(started="2026-01-02T00:00:00.000+00:00", **seconds),
    )


def failed(number: int, **parts: Any) -> Call:
    nothing = dict.fromkeys(("reply", "model", "prompt_tokens", "completion_tokens", "cost_usd"))
    return call(number, **{**nothing, "error": "The reply is empty.", **parts})


def test_every_phase_has_its_seconds_and_one_that_did_not_occur_is_left_out() -> None:
    rows = [response(n, search_seconds=float(n), read_seconds=0.5, take_in_seconds=2.0) for n in (3, 1, 2)]
    judgments = [call(4), call(2), failed(9, seconds=None)]
    assert summary.phases(rows, judgments) == {
        Phase.INGEST: Percentiles(calls=3, p50=2.0, p95=2.0, total=6.0),
        Phase.SEARCH: Percentiles(calls=3, p50=2.0, p95=3.0, total=6.0),
        Phase.READ: Percentiles(calls=3, p50=0.5, p95=0.5, total=1.5),
        Phase.JUDGE: Percentiles(calls=2, p50=2.0, p95=4.0, total=6.0),
    }


def test_seconds_are_rounded_to_six_digits() -> None:
    (found,) = summary.phases([response(ask_seconds=1 / 3), response(1, ask_seconds=1 / 3)]).values()
    assert found == Percentiles(calls=2, p50=0.333333, p95=0.333333, total=0.666667)


def test_paid_and_recorded_calls_and_service_and_queue_times_are_separate() -> None:
    judgments = [call(n) for n in range(1, 21)]
    judgments += [call(50, run_id=EARLIER, cost_usd=0.25, model="m-0"), call(51, run_id=None, cost_usd=0.5)]
    judgments += [failed(30)]
    assert summary.usage(RUN, [], [], judgments) == {
        Phase.JUDGE: PhaseUsage(
            source=UsageSource.MEASURED,
            calls=21,
            failed=1,
            cached=2,
            prompt_tokens=200,
            completion_tokens=20,
            usd=2.0,
            unpriced=0,
            models=("m-0", "m-1"),
            cached_usd=0.75,
            service=Seconds(p50=11.0, p95=20.0),
            queue=Seconds(p50=1.1, p95=2.0),
        )
    }


def test_a_call_without_a_known_price_makes_the_cost_unknown_not_zero() -> None:
    judgments = [call(1), call(2, cost_usd=None), call(3, run_id=EARLIER), call(4, run_id=EARLIER, cost_usd=None)]
    found = summary.usage(RUN, [], [], judgments)[Phase.JUDGE]
    assert (found.usd, found.unpriced, found.cached_usd) == (None, 1, None)


def test_a_failed_call_is_not_unpriced_but_what_it_cost_counts() -> None:
    found = summary.usage(RUN, [], [], [call(1), failed(2), failed(3, cost_usd=0.02)])[Phase.JUDGE]
    assert (found.usd, found.unpriced, found.failed) == (0.12, 0, 2)
    counted = failed(4, prompt_tokens=10, completion_tokens=1)
    found = summary.usage(RUN, [], [], [call(1), counted])[Phase.JUDGE]
    assert (found.usd, found.unpriced, found.failed) == (None, 1, 1), "it was billed, at an unknown price"


def test_a_run_answered_from_the_record_alone_cost_nothing() -> None:
    found = summary.usage(RUN, [], [], [call(1, run_id=EARLIER)])[Phase.JUDGE]
    assert (found.calls, found.cached, found.usd, found.cached_usd) == (0, 1, 0.0, 0.1)
    assert (found.prompt_tokens, found.service, found.queue) == (None, None, None)


def test_tokens_that_nobody_counted_are_unknown() -> None:
    found = summary.usage(RUN, [], [], [call(1, prompt_tokens=None, completion_tokens=None)])[Phase.JUDGE]
    assert (found.prompt_tokens, found.completion_tokens) == (None, None)


def test_system_calls_are_counted_by_phase_and_carried_over_calls_separately() -> None:
    calls = [
        call(1, Caller.READER, Phase.READ),
        call(2, Caller.SYSTEM, Phase.INGEST, run_id=EARLIER),
        call(3, Caller.SYSTEM, Phase.ASK),
        call(4, Caller.SYSTEM, Phase.ASK),
    ]
    found = summary.usage(RUN, [], calls, [])
    assert [(phase, part.calls, part.cached) for phase, part in found.items()] == [
        (Phase.INGEST, 0, 1),
        (Phase.ASK, 2, 0),
        (Phase.READ, 1, 0),
    ]


@pytest.mark.parametrize(
    ("seconds", "phase"), [({"ask_seconds": 1.0}, Phase.ASK), ({"search_seconds": 1.0}, Phase.SEARCH)]
)
def test_self_reported_usage_counts_only_without_measured_calls(seconds: dict[str, float], phase: Phase) -> None:
    said = [
        ReportedUsage(prompt_tokens=100, completion_tokens=3, cost_usd=0.1),
        ReportedUsage(prompt_tokens=50, cost_usd=0.2),
    ]
    rows = [response(n, usage, **seconds) for n, usage in enumerate([*said, None])]
    read = call(1, Caller.READER, Phase.READ)
    found = summary.usage(RUN, rows, [read], [])
    assert list(found) == [phase, Phase.READ]
    assert found[phase] == PhaseUsage(
        source=UsageSource.SELF_REPORTED, calls=0, prompt_tokens=150, completion_tokens=3, usd=0.3
    )
    measured = summary.usage(RUN, rows, [call(1, Caller.SYSTEM, Phase.INGEST)], [])
    assert list(measured) == [Phase.INGEST], "what the gateway measured is not counted twice"


def test_incomplete_self_reported_costs_are_unknown() -> None:
    rows = [response(0, ReportedUsage(cost_usd=0.1)), response(1, ReportedUsage(prompt_tokens=5))]
    assert summary.usage(RUN, rows, [], [])[Phase.ASK].usd is None


def test_sums_do_not_hang_on_the_order_of_rows() -> None:
    rows = [response(n, ReportedUsage(cost_usd=0.1 * n), ask_seconds=0.1 * n) for n in range(50)]
    judgments = [call(n, cost_usd=0.1 * n) for n in range(50)]
    expected = summary.phases(rows, judgments), summary.usage(RUN, rows, [], judgments)
    for seed in range(20):
        random.Random(seed).shuffle(rows)
        random.Random(seed).shuffle(judgments)
        assert (summary.phases(rows, judgments), summary.usage(RUN, rows, [], judgments)) == expected
