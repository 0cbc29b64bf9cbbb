"""Fixtures of the evaluation tests: a clean environment, the tiny benchmark, and a judge server."""

from collections.abc import Iterator

import pytest

from tests.evaluation.asking import PickyServer, with_the_tiny_benchmark, without_models


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
