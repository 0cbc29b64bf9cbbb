"""Prices come from a pinned list, and never from the network."""

import datetime
import subprocess
import sys

import pytest

from memeval.gateway.budget import NEWEST, price_list, price_of


def test_known_models_have_the_makers_price_and_unknown_ones_none() -> None:
    # OpenAI's price list, November 2026: gpt-4o-mini $0.15 and $0.60 a million, cached at half;
    # text-embedding-3-small $0.02.
    assert price_of("gpt-4o-mini-2024-07-18", 1_000_000, 1_000_000) == pytest.approx(0.75)
    assert price_of("gpt-4o-mini", 1_000_000, 0, 1_000_000) == pytest.approx(0.075)
    assert price_of("text-embedding-3-small", 1_000_000) == pytest.approx(0.02)
    assert price_of("claude-sonnet-4-5", 1000, 10) == pytest.approx(0.00315)
    for unknown in ("", "my-own-model", "smollm2", "gpt-", "text-embedding-x", "gemma-3-4b-it", "whisper-1"):
        assert price_of(unknown, 1000, 10) is None


def test_the_list_is_named_with_the_date_of_its_newest_price() -> None:
    from genai_prices import data, types

    released = datetime.date.fromisoformat(NEWEST)
    starts = {
        step.constraint.start_date
        for provider in data.providers
        for model in provider.models
        if isinstance(model.prices, list)
        for step in model.prices
        if isinstance(step.constraint, types.StartDateConstraint)
    }
    assert released in starts
    assert price_list() == f"genai-prices 0.2.3 ({NEWEST})", "another list: give NEWEST its date"


def test_prices_are_found_without_a_connection_or_a_thread() -> None:
    spied = (
        "import sys, threading; sys.addaudithook(lambda event, _: event.startswith('socket.') and sys.exit(event));"
        "from memeval.gateway.budget import price_of; assert price_of('gpt-4o', 10, 10);"
        "assert threading.active_count() == 1"
    )
    done = subprocess.run([sys.executable, "-c", spied], capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr
