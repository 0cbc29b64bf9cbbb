"""Counting tokens: the same as the package counts, and of any text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memeval.tokens import count_tokens


@settings(deadline=None)  # the first count loads the vocabulary
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_the_count_is_that_of_the_whole_encoding(text: str) -> None:
    import bpe_openai  # takes its time

    assert count_tokens(text) == len(bpe_openai.get_encoding("o200k_base").encode_ordinary(text))


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("hello world", 2), ("<|endoftext|>", 7)])
def test_known_counts(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


def test_a_context_of_the_largest_size_that_a_reply_may_have_is_counted() -> None:
    assert count_tokens(" dolor" * 600_000) == 600_000
