"""Counting tokens with a vocabulary that comes in its package, so that no count needs a download."""

from __future__ import annotations

from functools import cache, lru_cache
from importlib.machinery import PathFinder
from importlib.metadata import version
from importlib.util import module_from_spec
from typing import Any

CACHED_CHARACTERS = 64_000
"""Counts of longer texts are not kept, for with a count its text is kept."""


@cache
def _tokenizer() -> Any:
    # What the package puts around its counter is passed by: it first reads two vocabularies for lists (0.6 s), and it
    # refuses texts beyond a million characters or 200,000 tokens.
    package = PathFinder.find_spec("bpe_openai")
    found = PathFinder.find_spec("_bindings", package.submodule_search_locations if package else ())
    if found is None or found.loader is None:
        raise ModuleNotFoundError("The package bpe-openai is not here, or not as it was.", name="bpe_openai")
    counter = module_from_spec(found)
    found.loader.exec_module(counter)
    return counter.tokenizer_for_encoding("o200k_base")


def tokenizer_name() -> str:
    """Return what tokens are counted with, as it goes into the track."""
    return f"o200k_base (bpe-openai {version('bpe-openai')})"


def count_tokens(text: str) -> int:
    """Return the number of tokens in ``text``."""
    return _kept_count(text) if len(text) <= CACHED_CHARACTERS else _count(text)


def _count(text: str) -> int:
    return int(_tokenizer().count(text))


_kept_count = lru_cache(maxsize=1024)(_count)
