"""What a call costs, by a kept and dated list: the data in the package `genai-prices`, never updated by itself."""

from __future__ import annotations

from memeval.gateway.endpoints import maker_of

NEWEST = "2026-11-09"
"""The date of the newest price that was in force when the list was released; it changes with the pinned version."""


def price_list() -> str:
    """Return which list is used: package, version and date."""
    from importlib.metadata import version

    return f"genai-prices {version('genai-prices')} ({NEWEST})"


def price_of(model: str, prompt_tokens: int, completion_tokens: int = 0, cached_tokens: int = 0) -> float | None:
    """Return what a call costs in dollars; ``None`` where the list has no such model: never 0 for that.

    Args:
        model: the model asked for.
        prompt_tokens: tokens of the request.
        completion_tokens: tokens of the reply.
        cached_tokens: how many of the request's tokens the provider had in its cache, which some sell for less.
    """
    from genai_prices import Usage
    from genai_prices.data_snapshot import get_snapshot

    usage = Usage(input_tokens=prompt_tokens, output_tokens=completion_tokens, cache_read_tokens=cached_tokens)
    try:
        price = get_snapshot().calc(usage, model, maker_of(model), None, None)
    except (LookupError, ValueError):
        return None
    return float(price.total_price)
