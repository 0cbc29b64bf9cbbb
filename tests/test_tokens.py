"""Counting tokens: the same as the package counts, and of any text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.tokens import begins_apart, count_tokens


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_the_count_is_that_of_the_whole_encoding(text: str) -> None:
    import bpe_openai  # takes its time

    assert count_tokens(text) == len(bpe_openai.get_encoding("o200k_base").encode_ordinary(text))


_ANY = st.text(st.characters(exclude_categories=["Cs"]))
_EDGES = st.text(st.sampled_from(" \t\r\n/\\.'abz9\x85\u2028\u00a0\u0301\u4e2d[("))


@given(st.one_of(_ANY, _EDGES), st.one_of(_ANY, _EDGES))
def test_a_line_that_begins_apart_adds_its_own_tokens(text: str, line: str) -> None:
    together = count_tokens(f"{text}\n{line}") == count_tokens(f"{text}\n") + count_tokens(line)
    assert together or not begins_apart(line)


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("hello world", 2), ("<|endoftext|>", 7)])
def test_known_counts(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


def test_a_context_of_the_largest_size_that_a_reply_may_have_is_counted() -> None:
    assert count_tokens(" dolor" * 600_000) == 600_000
