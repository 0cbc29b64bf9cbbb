"""Counting tokens with a vocabulary that comes in its package, so that no count needs a download."""

from __future__ import annotations

from functools import cache, lru_cache
from importlib.metadata import version
from typing import Any

CACHED_CHARACTERS = 64_000
"""Counts of longer texts are not kept, for with a count its text is kept."""


@cache
def _tokenizer() -> Any:
    # 0.7 s: loaded for the first context, not for systems that return none. What the package puts around the counter
    # makes lists of tokens, and refuses texts beyond a million characters or 200,000 tokens.
    from bpe_openai._bindings import tokenizer_for_encoding

    return tokenizer_for_encoding("o200k_base")


def tokenizer_name() -> str:
    """Return what tokens are counted with, as it goes into the track."""
    return f"o200k_base (bpe-openai {version('bpe-openai')})"


def count_tokens(text: str) -> int:
    """Return the number of tokens in ``text``."""
    return _kept_count(text) if len(text) <= CACHED_CHARACTERS else _count(text)


def _count(text: str) -> int:
    return int(_tokenizer().count(text))


_kept_count = lru_cache(maxsize=1024)(_count)
