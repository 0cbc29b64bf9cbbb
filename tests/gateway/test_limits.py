"""How fast calls go: places, rates, pauses, waits between tries."""

import asyncio
import itertools

import pytest

from memeval.gateway.endpoints import Endpoint
from memeval.gateway.gateway import Gateway, GatewayOptions
from memeval.gateway.limits import DOWN_AFTER, Lane
from memeval.gateway.record import CallRecord
from memeval.gateway.stops import GatewayStopped
from memeval.records.call import Caller, Phase
from tests.gateway.asking import KEY, ask, ask_all, new_gateway, options, question
from tests.support.model_server import ModelServer


def test_calls_in_flight_never_exceed_the_concurrency() -> None:
    with ModelServer(latency=0.1) as server, new_gateway(concurrency=7) as gateway:
        ask_all(gateway, server, range(28))
    assert server.most_in_flight == 7


def test_every_caller_has_its_own_concurrency() -> None:
    with ModelServer(latency=0.05) as server:
        endpoint = Endpoint(server.url, KEY)
        few = GatewayOptions(concurrency={Caller.JUDGE: 2, Caller.READER: 3})
        with Gateway(CallRecord(None), few) as gateway:

            async def both() -> None:
                asked = [
                    gateway.ask(question(server.url, number), endpoint, caller, Phase.JUDGE)
                    for caller, numbers in ((Caller.JUDGE, range(10)), (Caller.READER, range(10, 20)))
                    for number in numbers
                ]
                await asyncio.gather(*asked)

            gateway.run(both())
    assert server.most_in_flight == 5


def test_requests_a_minute_are_spread_evenly() -> None:
    with ModelServer() as server, new_gateway(requests_per_minute=60 / 0.02) as gateway:
        ask_all(gateway, server, range(16))
    assert server.times[-1] - server.times[0] >= 15 * 0.02 * 0.9


def test_tokens_per_minute_delay_calls() -> None:
    with ModelServer() as server, new_gateway(tokens_per_minute=60_000) as gateway:
        endpoint = Endpoint(server.url, KEY)

        async def for_a_while() -> int:
            large = [question(server.url, number, max_tokens=29_000) for number in range(3)]
            asked = [asyncio.create_task(gateway.ask(each, endpoint, Caller.JUDGE, Phase.JUDGE)) for each in large]
            for answer in itertools.islice(asyncio.as_completed(asked), 2):
                await answer
            answered, _waiting = await asyncio.wait(asked, timeout=0.3)
            return len(answered)

        assert gateway.run(for_a_while()) == 2
    assert server.requests == 2


def test_all_callers_wait_for_a_paused_endpoint() -> None:
    noted: list[str] = []
    with ModelServer(faults={"429": 1.0}, most_faults=1, retry_after=1.0) as server:
        with Gateway(CallRecord(None), options(concurrency=1, longest_wait_seconds=5), note=noted.append) as gateway:
            ask(gateway, server, 1)
        assert server.times[1] - server.times[0] >= 1.0
        server.retry_after = 0.3
        with Gateway(CallRecord(None), options(longest_wait_seconds=5)) as gateway:
            first = server.requests
            server.most_faults = 1
            ask_all(gateway, server, range(10, 20))
        retried = server.times[first + 10]
        assert retried - server.times[first] >= 0.3
    assert noted == [f"The endpoint {server.url} asks to wait 1 s."]


def test_a_pause_has_a_maximum() -> None:
    with ModelServer(faults={"429": 1.0}, most_faults=1, retry_after=3600) as server, new_gateway() as gateway:
        assert ask(gateway, server).tries == 2


@pytest.mark.parametrize(
    "header", ["soon", "-5", "nan", "1e999", "Thu, 32 Foo", f"Mon, 01 Jan {'9' * 20} 00:00:00 +0000", ""]
)
def test_an_invalid_pause_is_ignored(header: str) -> None:
    with ModelServer(faults={"429": 1.0}, most_faults=1) as server, new_gateway() as gateway:
        server.retry_after = header  # type: ignore[assignment]
        assert ask(gateway, server).error is None


def test_waiting_and_service_are_recorded_separately() -> None:
    with ModelServer(latency=0.1) as server, new_gateway(concurrency=1) as gateway:
        calls = ask_all(gateway, server, range(4))
    waits = [call.queued_seconds or 0.0 for call in calls]
    services = [call.seconds or 0.0 for call in calls]
    assert min(services) >= 0.1
    for place in (1, 2, 3):
        assert waits[place] >= sum(services[:place]) / 2, "a call may begin to wait a little after the others"
    assert waits[0] < sum(services[1:])
    with ModelServer(faults={"500": 1.0}, most_faults=2, latency=0.05) as server, new_gateway() as gateway:
        tried = ask(gateway, server)
    assert tried.tries == 3
    assert tried.queued_seconds is not None
    assert tried.queued_seconds >= 0.1, "the two tries before the last"


def test_failed_calls_in_a_row_stop_the_run() -> None:
    with ModelServer(faults={"500": 1.0}, most_faults=None) as server, new_gateway(concurrency=1, tries=1) as gateway:
        with pytest.raises(GatewayStopped, match=r"failed several times in a row.* status 500"):
            ask_all(gateway, server, range(20))
        assert server.requests == DOWN_AFTER


def test_undecided_calls_fail_once_another_succeeds() -> None:
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


def test_a_single_call_does_not_stay_undecided() -> None:
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
