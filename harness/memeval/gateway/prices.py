"""The cost of calls, by the dated price list in the package `genai-prices`, which is never updated at run time."""

from __future__ import annotations

from functools import cache

from memeval.gateway.endpoints import maker_of

NEWEST = "2026-11-09"
"""The date of the newest price in the list; it changes with the pinned version of the package."""

PRICE_LISTS: tuple[str, ...] = ("genai-prices 0.2.3 (2026-11-09)",)
"""The names of all price lists that memeval ever had. A new list is added, and none is removed."""


@cache
def price_list() -> str:
    """Return the name of the price list: package, version and date."""
    from importlib.metadata import version

    return f"genai-prices {version('genai-prices')} ({NEWEST})"


def price_of(model: str, prompt_tokens: int, completion_tokens: int = 0, cached_tokens: int = 0) -> float | None:
    """Return the cost of a call in US dollars; ``None``, never 0, if the list has no such model.

    Args:
        cached_tokens: tokens of the request that the provider had in its cache; some providers charge less for them.
    """
    from genai_prices import Usage
    from genai_prices.data_snapshot import get_snapshot

    usage = Usage(input_tokens=prompt_tokens, output_tokens=completion_tokens, cache_read_tokens=cached_tokens)
    try:
        price = get_snapshot().calc(usage, model, maker_of(model), None, None)
    except (LookupError, ValueError):
        return None
    return float(price.total_price)
