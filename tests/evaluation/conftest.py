"""What every test of evaluation may use: a server that judges, reached by the environment alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from memeval.evaluation import models, reproduction
from memeval.gateway.limits import GatewayOptions
from tests.evaluation.asking import PickyServer, benchmark_session


@pytest.fixture
def no_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take every key and every endpoint out of the environment."""
    for prefix in ("OPENAI", "MEMEVAL_JUDGE", "MEMEVAL_READER"):
        for name in ("BASE_URL", "API_KEY"):
            monkeypatch.delenv(f"{prefix}_{name}", raising=False)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let stored runs find the tiny benchmark, and failing calls be given up soon."""
    monkeypatch.setattr(reproduction, "find", lambda _name: benchmark_session().benchmark)

    def hasty(*given: Any, **named: Any) -> GatewayOptions:
        return replace(GatewayOptions(*given, **named), tries=2, first_wait_seconds=0.01, longest_wait_seconds=0.05)

    monkeypatch.setattr(models, "GatewayOptions", hasty)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, no_models: None, tiny: None) -> Iterator[PickyServer]:
    """A server that judges fairly; judges, readers and systems are sent to it."""
    with PickyServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server
