"""Caps: never passed, whatever comes back and in which order; and stopping at one is not the end."""

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.gateway.budget import Budget, Caps, most_output, most_tokens, parse_caps, price_of
from memeval.gateway.endpoints import Endpoint
from memeval.gateway.gateway import Gateway
from memeval.gateway.record import CallRecord
from memeval.gateway.stops import BudgetSpent, GatewayStopped
from memeval.records.call import Api, Call, Caller, ModelRequest, Phase
from memeval.records.errors import BadInput, ExitCode
from tests.gateway.asking import KEY, ask, new_gateway, pass_on, question
from tests.support.model_server import ModelServer

URL = "http://127.0.0.1/v1"
DEAR = "gpt-4"
"""A model at which a cap of a few cents is soon reached."""


def test_a_cap_is_never_exceeded_and_a_higher_cap_resumes(tmp_path: Path) -> None:
    for attempt in range(20):
        path = tmp_path / f"{attempt}.jsonl"
        with ModelServer(latency=0.002, seed=attempt, faults={"500": 0.1}) as server:
            with new_gateway(path, Budget({(None, "usd"): 0.05})) as gateway, pytest.raises(BudgetSpent) as raised:
                gateway.run(_everything(gateway, server))
            assert raised.value.exit_code is ExitCode.BUDGET
            assert "the cap of $0.05 for the run is reached" in str(raised.value)
            paid = sum(_price(server, row) for row in CallRecord(path).rows())
            assert 0.02 < paid <= 0.05
            assert len(server.answered) == len(list(CallRecord(path).rows())), "the server was paid for these, no more"
            if attempt:
                continue
            spent = CallRecord(path).rows()
            with new_gateway(path, _resumed({(None, "usd"): 5.0}, spent)) as gateway:
                calls = gateway.run(_everything(gateway, server))
            assert all(call.error is None for call in calls)
            assert set(server.answered.values()) == {1}


def _resumed(caps: Caps, spent: Iterable[Call]) -> Budget:
    budget = Budget(caps)
    budget.resume(spent)
    return budget


async def _everything(gateway: Gateway, server: ModelServer) -> list[Call]:
    endpoint = Endpoint(server.url, KEY)
    messages = ([{"role": "user", "content": f"Is {number} right? {'x' * 150}"}] for number in range(60))
    requests = (question(server.url, model=DEAR, messages=each) for each in messages)
    return await asyncio.gather(*(gateway.ask(each, endpoint, Caller.JUDGE, Phase.JUDGE) for each in requests))


def _price(server: ModelServer, call: Call) -> float:
    assert call.prompt_tokens is not None
    price = price_of(DEAR, call.prompt_tokens, call.completion_tokens or 0)
    assert price == call.cost_usd
    assert price is not None
    return price


@given(
    cap=st.integers(1, 3000),
    calls=st.lists(
        st.tuples(st.integers(1, 300), st.floats(0, 1) | st.none(), st.integers(0, 3)), min_size=1, max_size=30
    ),
    places=st.integers(1, 64),
)
def test_no_order_of_replies_exceeds_a_cap_or_deadlocks(
    cap: int, calls: list[tuple[int, float | None, int]], places: int
) -> None:
    async def play() -> None:
        budget, taken = Budget({(None, "tokens"): cap}), 0
        at_a_time = asyncio.Semaphore(places)

        async def one(output: int, share: float | None, turns: int) -> None:
            nonlocal taken
            async with at_a_time:
                hold = await budget.reserve(Phase.ASK, question(URL, max_tokens=output))
                for _turn in range(turns):
                    await asyncio.sleep(0)
                used = hold.tokens if share is None else int(hold.tokens * share)
                taken += used
                assert taken <= cap
                budget.settle(hold, None if share is None else used, None)

        ended = asyncio.gather(*(one(*call) for call in calls), return_exceptions=True)
        for outcome in await asyncio.wait_for(ended, 10):
            assert outcome is None or isinstance(outcome, BudgetSpent)
        with pytest.raises(BudgetSpent):
            await budget.reserve(Phase.ASK, question(URL, max_tokens=cap))

    asyncio.run(play())


@given(st.lists(st.text(max_size=40), max_size=5), st.integers(1, 500), st.integers(1, 4))
def test_the_reservation_bounds_every_tokenizer(texts: list[str], output: int, choices: int) -> None:
    messages = [{"role": "user", "content": text} for text in texts]
    request = ModelRequest(
        endpoint=URL,
        api=Api.CHAT,
        body={"model": "m", "messages": messages, "max_tokens": output, "n": choices},  # type: ignore[dict-item]
    )
    assert most_output(request) == output * choices
    one_a_byte = sum(len(text.encode()) + len("user") + 8 for text in texts)
    assert most_tokens(request) - most_output(request) >= one_a_byte


def test_embeddings_have_no_output() -> None:
    embedding = ModelRequest(endpoint=URL, api=Api.EMBEDDINGS, body={"model": "m", "input": ["word"] * 10})
    assert most_output(embedding) == 0
    assert most_tokens(embedding) >= 10


def test_a_call_waits_if_calls_in_flight_may_free_budget() -> None:
    async def play() -> None:
        request = question(URL)
        budget = Budget({(None, "tokens"): most_tokens(request) + 10})
        first = await budget.reserve(Phase.ASK, request)
        second = asyncio.create_task(budget.reserve(Phase.ASK, request))
        await asyncio.sleep(0.01)
        assert not second.done()
        budget.settle(first, 5, None)
        await second

    asyncio.run(play())


def test_a_call_that_may_be_billed_counts_in_full() -> None:
    async def play() -> None:
        request = question(URL)
        budget = Budget({(None, "tokens"): most_tokens(request) * 1.5})
        budget.settle(await budget.reserve(Phase.ASK, request), None, None)
        with pytest.raises(BudgetSpent):
            await budget.reserve(Phase.ASK, request)

    asyncio.run(play())


def test_tries_whose_reply_was_lost_count_against_the_cap() -> None:
    with ModelServer(faults={"dropped": 1.0}, most_faults=None) as server:
        room = most_tokens(question(server.url))
        with new_gateway(budget=Budget({(None, "tokens"): room * 2.5})) as gateway, pytest.raises(BudgetSpent):
            ask(gateway, server)
        assert server.requests == 2
    once = Budget({(None, "tokens"): room * 1.5})
    with ModelServer(faults={"500": 1.0}, most_faults=3) as server, new_gateway(budget=once) as gateway:
        assert ask(gateway, server).error is None, "what was refused was not billed"


def test_a_cap_of_a_phase_does_not_limit_other_phases() -> None:
    async def play() -> None:
        request = question(URL)
        budget = Budget({(Phase.JUDGE, "tokens"): 5})
        with pytest.raises(BudgetSpent, match="for the phase judge"):
            await budget.reserve(Phase.JUDGE, request)
        await budget.reserve(Phase.READ, request)
        await Budget({(Phase.JUDGE, "usd"): 5}).reserve(Phase.READ, question(URL, model="of-no-known-price"))

    asyncio.run(play())


def test_spending_before_a_resume_counts() -> None:
    with ModelServer() as server, new_gateway() as gateway:
        call = ask(gateway, server)

    async def play() -> None:
        room = most_tokens(call.request)
        used = (call.prompt_tokens or 0) + (call.completion_tokens or 0)
        await _resumed({(None, "tokens"): room + used}, [call]).reserve(Phase.JUDGE, call.request)
        with pytest.raises(BudgetSpent):
            await _resumed({(None, "tokens"): room + used - 1}, [call]).reserve(Phase.JUDGE, call.request)
        uncounted = call.model_copy(update={"prompt_tokens": None, "completion_tokens": None})
        with pytest.raises(BudgetSpent):
            await _resumed({(None, "tokens"): room + used}, [uncounted]).reserve(Phase.JUDGE, call.request)
        tried = uncounted.model_copy(update={"tries": 3})
        await _resumed({(None, "tokens"): 4 * room}, [tried]).reserve(Phase.JUDGE, call.request)
        with pytest.raises(BudgetSpent):
            await _resumed({(None, "tokens"): 4 * room - 1}, [tried]).reserve(Phase.JUDGE, call.request)

    asyncio.run(play())


@pytest.mark.parametrize("cap", [(None, "minutes"), (Phase.JUDGE, "usd"), (None, "tokens")])
def test_a_run_is_resumed_after_a_call_without_counts_and_limit(cap: tuple[Phase | None, str]) -> None:
    with ModelServer() as server, new_gateway() as gateway:
        request = ModelRequest(endpoint=server.url, api=Api.CHAT, body={"model": "m", "messages": []})
        call = pass_on(gateway, server, request).model_copy(update={"prompt_tokens": None, "cost_usd": None})
    _resumed({cap: 1e6}, [call]).check_time()


def test_a_cap_on_minutes_cancels_longer_calls() -> None:
    with (
        ModelServer(latency=5) as server,
        new_gateway(budget=Budget({(None, "minutes"): 0.3 / 60})) as gateway,
        pytest.raises(BudgetSpent, match="the time budget of the run is used up"),
    ):
        ask(gateway, server)


def test_dollars_cannot_be_capped_where_the_price_is_unknown() -> None:
    with ModelServer() as server, new_gateway(budget=Budget({(None, "usd"): 1.0})) as gateway:
        endpoint, request = Endpoint(server.url, KEY), question(server.url, model="my-own-model")
        with pytest.raises(
            GatewayStopped, match=r"'my-own-model' has no known price. Set a budget in tokens instead"
        ) as raised:
            gateway.call(request, endpoint, Caller.JUDGE, Phase.JUDGE)
    assert raised.value.exit_code is ExitCode.BAD_INPUT
    assert server.requests == 0


def test_a_model_without_a_price_is_unpriced_and_never_free() -> None:
    with ModelServer() as server, new_gateway() as gateway:
        priced = ask(gateway, server)
        assert gateway.spent_usd == priced.cost_usd
        assert priced.cost_usd is not None and priced.cost_usd > 0
        request = question(server.url, model="my-own-model")
        unpriced = gateway.call(request, Endpoint(server.url, KEY), Caller.JUDGE, Phase.JUDGE)
        assert unpriced.cost_usd is None
        assert gateway.spent_usd is None


@pytest.mark.parametrize("named", [{}, {"max_tokens": "many"}, {"max_tokens": -1}, {"max_tokens": None}])
def test_under_a_cap_a_system_request_gets_an_output_limit(named: dict[str, Any]) -> None:
    with ModelServer() as server:
        request = ModelRequest(endpoint=server.url, api=Api.CHAT, body={"model": "m", "messages": [], **named})
        with new_gateway(budget=Budget({(None, "tokens"): 1e6})) as gateway:
            capped = pass_on(gateway, server, request)
        with new_gateway() as gateway:
            free = pass_on(gateway, server, request)
        with new_gateway(budget=Budget({(Phase.JUDGE, "usd"): 1.0})) as gateway:
            assert pass_on(gateway, server, request).request == request, "another phase is capped"
    assert capped.request.body["max_tokens"] == server.bodies[0]["max_tokens"] == 4096
    assert capped.key == capped.request.key_in("s1", 0)
    assert free.request == request


def test_caps_are_read() -> None:
    assert parse_caps(["usd=1.5", "judge.usd=0.5", "tokens=1e6", " take_in.minutes = 30 "]) == {
        (None, "usd"): 1.5,
        (Phase.JUDGE, "usd"): 0.5,
        (None, "tokens"): 1e6,
        (Phase.INGEST, "minutes"): 30,
    }


@pytest.mark.parametrize(
    "text", ["", "usd", "usd=", "usd=much", "usd=nan", "usd=inf", "usd=-1", "usd=0", "euro=1", "nap.usd=1", "=1"]
)
def test_an_invalid_cap_and_one_that_is_given_twice_are_refused(text: str) -> None:
    with pytest.raises(BadInput, match="invalid budget"):
        parse_caps([text])
    with pytest.raises(BadInput, match="two budgets for"):
        parse_caps(["usd=1", "usd=2"])
