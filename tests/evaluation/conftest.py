"""Fixtures of the evaluation tests: a clean environment, the tiny benchmark, and a judge server."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from memeval.benchmarks import session
from memeval.evaluation.judge import judges
from memeval.evaluation.run import models
from memeval.evaluation.verify.checks import subject
from memeval.gateway.limits import GatewayOptions
from tests.evaluation.asking import PickyServer, benchmark_session


def without_models(patch: pytest.MonkeyPatch) -> None:
    """Remove all keys and endpoints from the environment."""
    for prefix in ("OPENAI", "MEMEVAL_JUDGE", "MEMEVAL_READER"):
        for name in ("BASE_URL", "API_KEY"):
            patch.delenv(f"{prefix}_{name}", raising=False)


def with_the_tiny_benchmark(patch: pytest.MonkeyPatch) -> None:
    """Register the tiny benchmark for stored runs, and shorten the retries of failing calls."""
    for module in (session, subject, judges):
        patch.setattr(module, "find", lambda _name: benchmark_session().benchmark)

    def hasty(*given: Any, **named: Any) -> GatewayOptions:
        return replace(GatewayOptions(*given, **named), tries=2, first_wait_seconds=0.01, longest_wait_seconds=0.05)

    patch.setattr(models, "GatewayOptions", hasty)


@pytest.fixture
def no_models(monkeypatch: pytest.MonkeyPatch) -> None:
    without_models(monkeypatch)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    with_the_tiny_benchmark(monkeypatch)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, no_models: None, tiny: None) -> Iterator[PickyServer]:
    """A fair judge server; the environment sends judges, readers and systems to it."""
    with PickyServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server
