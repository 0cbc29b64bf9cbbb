"""Requests, gateways and records for tests of the gateway."""

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from memeval.gateway.budget import Budget
from memeval.gateway.endpoints import Endpoint
from memeval.gateway.gateway import Gateway, GatewayOptions
from memeval.gateway.record import CallRecord
from memeval.records.call import Api, Call, Caller, ModelRequest, Phase
from tests.support.model_server import ModelServer

KEY = "sk-very-secret-key-0123456789"
MODEL = "gpt-4o-mini-2024-07-18"
QUICK: dict[str, Any] = {"first_wait_seconds": 0.01, "longest_wait_seconds": 0.2, "timeout_seconds": 5}
"""Options that keep tests short."""


def question(url: str, number: int = 0, **fields: Any) -> ModelRequest:
    body: dict[str, Any] = {
        "model": MODEL,
        "max_tokens": 10,
        "messages": [{"role": "user", "content": f"Is {number} right?"}],
    }
    return ModelRequest(endpoint=url, api=Api.CHAT, body=body | fields)


def options(concurrency: int = 64, **fields: Any) -> GatewayOptions:
    """Return options that keep tests short."""
    return GatewayOptions(concurrency=dict.fromkeys(Caller, concurrency), **QUICK | fields)


def new_gateway(record: CallRecord | Path | None = None, budget: Budget | None = None, **fields: Any) -> Gateway:
    """Return a gateway with a record, in memory where none is named."""
    shared = record if isinstance(record, CallRecord) else CallRecord(record)
    return Gateway(shared, options(**fields), budget)


def ask_all(gateway: Gateway, server: ModelServer, numbers: Iterable[int], key: str | None = KEY) -> list[Call]:
    """Ask all questions at once, as a judge, and return the calls in order."""
    endpoint = Endpoint(server.url, key)

    async def everything() -> list[Call]:
        asked = (gateway.ask(question(server.url, number), endpoint, Caller.JUDGE, Phase.JUDGE) for number in numbers)
        return await asyncio.gather(*asked)

    return gateway.run(everything())


def ask(gateway: Gateway, server: ModelServer, number: int = 0, key: str | None = KEY) -> Call:
    """Ask one question, as a judge."""
    return ask_all(gateway, server, [number], key)[0]


def pass_on(
    gateway: Gateway,
    server: ModelServer,
    request: ModelRequest | int = 0,
    scenario: str | None = "s1",
    ordinal: int = 0,
) -> Call:
    """Pass a request of the system on, or a question by its number."""
    asked = question(server.url, request) if isinstance(request, int) else request
    return gateway.run(gateway.pass_on(asked, Endpoint(server.url, KEY), Phase.ASK, scenario, ordinal))
