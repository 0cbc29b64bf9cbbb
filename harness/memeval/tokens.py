"""Token counts with a packaged vocabulary, without a download."""

from functools import cache, lru_cache
from importlib.machinery import PathFinder
from importlib.metadata import version
from importlib.util import module_from_spec
from typing import Any

CACHED_CHARACTERS = 64_000
"""Maximum length of a cached text, in characters. A cached count keeps its text in memory."""

LONG_CHARACTERS = 2_000_000
"""Longer texts are never cached. Of texts between the two lengths, only the last count is kept: a system may return one
context for many questions in a row."""


@cache
def _tokenizer() -> Any:
    # Use the package's inner counter: the outer one reads two vocabularies for lists first (0.6 s), and rejects texts
    # over a million characters or 200,000 tokens.
    package = PathFinder.find_spec("bpe_openai")
    found = PathFinder.find_spec("_bindings", package.submodule_search_locations if package else ())
    if found is None or found.loader is None:
        raise ModuleNotFoundError(
            "The package bpe-openai is missing or has changed. Install memeval again.", name="bpe_openai"
        )
    counter = module_from_spec(found)
    found.loader.exec_module(counter)
    return counter.tokenizer_for_encoding("o200k_base")


def tokenizer_name() -> str:
    return f"o200k_base (bpe-openai {version('bpe-openai')})"


def count_tokens(text: str) -> int:
    if len(text) <= CACHED_CHARACTERS:
        return _kept_count(text)
    return _last_count(text) if len(text) <= LONG_CHARACTERS else _count(text)


def begins_apart(line: str) -> bool:
    """Return whether the tokens before a line do not depend on it.

    Then the tokens of a text that ends in a newline, and those of the line after it, add up to the tokens of both: the
    tokenizer ends a piece at a newline, unless white space or a slash follows it.
    """
    return bool(line) and line[0] != "/" and not line[0].isspace()


def _count(text: str) -> int:
    return int(_tokenizer().count(text))


_kept_count = lru_cache(maxsize=1024)(_count)
_last_count = lru_cache(maxsize=1)(_count)
