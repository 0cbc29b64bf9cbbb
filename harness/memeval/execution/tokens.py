"""Counting context tokens with a vocabulary that comes in its package, so that no count needs a download."""

from __future__ import annotations

from functools import cache, lru_cache
from importlib.metadata import version
from typing import Any


@cache
def _encoding() -> Any:
    import bpe_openai  # 0.7 s: loaded for the first context, not for systems that return none

    return bpe_openai.get_encoding("o200k_base")


def tokenizer_name() -> str:
    """Return what tokens are counted with, as it goes into the track."""
    return f"o200k_base (bpe-openai {version('bpe-openai')})"


@lru_cache(maxsize=4096)
def count_tokens(text: str) -> int:
    """Return the number of tokens in ``text``."""
    return len(_encoding().encode_ordinary(text))
