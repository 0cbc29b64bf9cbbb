"""How fast calls go: places, rates, pauses, waits between tries."""

from __future__ import annotations

import asyncio

import pytest

from memeval.gateway.endpoints import Endpoint
from memeval.gateway.gateway import Gateway, GatewayOptions
from memeval.gateway.limits import DOWN_AFTER, Lane
from memeval.gateway.record import CallRecord
from memeval.gateway.stops import GatewayStopped
from memeval.records.call import Caller, Phase
from tests.gateway.asking import KEY, ask, ask_all, gateway, options, question
from tests.support.model_server import ModelServer


def test_no_more_calls_are_in_flight_than_there_are_places() -> None:
    with ModelServer(latency=0.01) as server, gateway(concurrency=7) as door:
        ask_all(door, server, range(60))
    assert server.most_in_flight == 7


def test_callers_have_places_of_their_own() -> None:
    with ModelServer(latency=0.05) as server:
        endpoint = Endpoint(server.url, KEY)
        few = GatewayOptions(concurrency={Caller.JUDGE: 2, Caller.READER: 3})
        with Gateway(CallRecord(None), few) as door:

            async def both() -> None:
                asked = [
                    door.ask(question(server.url, number), endpoint, caller, Phase.JUDGE)
                    for caller, numbers in ((Caller.JUDGE, range(10)), (Caller.READER, range(10, 20)))
                    for number in numbers
                ]
                await asyncio.gather(*asked)

            door.run(both())
    assert server.most_in_flight == 5


def test_requests_a_minute_are_spread_evenly() -> None:
    with ModelServer() as server, gateway(requests_per_minute=60 / 0.02) as door:
        ask_all(door, server, range(16))
    assert server.times[-1] - server.times[0] >= 15 * 0.02 * 0.9


def test_tokens_a_minute_hold_back_what_would_pass_them() -> None:
    with ModelServer() as server, gateway(tokens_per_minute=60_000) as door:
        endpoint = Endpoint(server.url, KEY)

        async def for_a_while() -> int:
            large = [question(server.url, number, max_tokens=29_000) for number in range(3)]
            asked = [asyncio.create_task(door.ask(each, endpoint, Caller.JUDGE, Phase.JUDGE)) for each in large]
            answered, _waiting = await asyncio.wait(asked, timeout=0.5)
            return len(answered)

        assert door.run(for_a_while()) == 2
    assert server.requests == 2


def test_an_endpoint_that_asks_to_wait_is_left_alone_by_all_callers() -> None:
    noted: list[str] = []
    with ModelServer(faults={"429": 1.0}, most_faults=1, retry_after=1.0) as server:
        with Gateway(CallRecord(None), options(concurrency=1, longest_wait_seconds=5), note=noted.append) as door:
            ask(door, server, 1)
        assert server.times[1] - server.times[0] >= 1.0
        server.retry_after = 0.3
        with Gateway(CallRecord(None), options(longest_wait_seconds=5)) as door:
            first = server.requests
            server.most_faults = 1
            ask_all(door, server, range(10, 20))
        retried = server.times[first + 10]
        assert retried - server.times[first] >= 0.3
    assert noted == [f"The endpoint {server.url} asks to wait 1 s."]


def test_an_endpoint_may_not_ask_for_longer_than_is_allowed() -> None:
    with ModelServer(faults={"429": 1.0}, most_faults=1, retry_after=3600) as server, gateway() as door:
        assert ask(door, server).tries == 2


@pytest.mark.parametrize("header", ["soon", "-5", "nan", "inf", "Thu, 32 Foo", ""])
def test_a_wait_that_makes_no_sense_is_not_waited_for(header: str) -> None:
    with ModelServer(faults={"429": 1.0}, most_faults=1) as server, gateway() as door:
        server.retry_after = header  # type: ignore[assignment]
        assert ask(door, server).error is None


def test_waiting_and_service_are_told_apart() -> None:
    with ModelServer(latency=0.1) as server, gateway(concurrency=1) as door:
        calls = ask_all(door, server, range(4))
    waits = [call.queued_seconds or 0.0 for call in calls]
    services = [call.seconds or 0.0 for call in calls]
    assert min(services) >= 0.1
    for place in (1, 2, 3):
        assert waits[place] >= sum(services[:place]) / 2, "a call may begin to wait a little after the others"
    assert waits[0] < sum(services[1:])
    with ModelServer(faults={"500": 1.0}, most_faults=2, latency=0.05) as server, gateway() as door:
        tried = ask(door, server)
    assert tried.tries == 3
    assert tried.queued_seconds is not None
    assert tried.queued_seconds >= 0.1, "the two tries before the last"


def test_so_many_calls_given_up_in_a_row_stop_the_run() -> None:
    with ModelServer(faults={"500": 1.0}, most_faults=None) as server, gateway(concurrency=1, tries=1) as door:
        with pytest.raises(GatewayStopped, match=r"no usable reply to calls in a row.* status 500"):
            ask_all(door, server, range(20))
        assert server.requests == DOWN_AFTER


def test_calls_in_doubt_have_failed_once_another_succeeds() -> None:
    async def play() -> None:
        lane = Lane()
        for _call in range(DOWN_AFTER + 2):
            lane.enter()
        doubted = [asyncio.create_task(lane.down()) for _call in range(DOWN_AFTER - 1)]
        await asyncio.sleep(0)
        assert not any(doubt.done() for doubt in doubted)
        lane.answered()
        assert await asyncio.gather(*doubted) == [False] * (DOWN_AFTER - 1)
        doubted = [asyncio.create_task(lane.down()) for _call in range(DOWN_AFTER)]
        assert await asyncio.gather(*doubted) == [True] * DOWN_AFTER

    asyncio.run(play())


def test_a_call_alone_is_not_kept_in_doubt() -> None:
    async def play() -> None:
        lane = Lane()
        lane.answered()
        lane.enter()
        assert await asyncio.wait_for(lane.down(), 1) is None
        lane.enter()
        doubt = asyncio.create_task(lane.down())
        await asyncio.sleep(0)
        lane.leave()
        assert await asyncio.wait_for(doubt, 1) is None

    asyncio.run(play())
