"""The strict reading of a judge's yes or no, beside the substring reading of the original."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.judging.base import parse_strict, parse_substring

# The table of the DeepMemEval specification, section 8, and more of its kind.
GOLDEN = [
    ("Yes", True, True),
    ("**yes**", True, True),
    ("YES.", True, True),
    ("No", False, False),
    ("No.", False, False),
    ("No, the user said that yesterday", False, True),
    ("Yesterday", None, True),
    ("Not sure", None, False),
    ("Yes and no", None, True),
    ("The answer is yes", None, True),
    ("", None, False),
    ("   \n", None, False),
    ('"Yes."', True, True),
    ("(yes)", True, True),
    ("[No]!", False, False),
    ("**Yes**.", True, True),
    ("`no`;", False, False),
    ("_Yes_:", True, True),
    ("Yes, it does", True, True),
    ("no - it says Jenkins", False, False),
    ("No, yes would be wrong", None, True),
    ("yes/no", None, True),
    ("Yes, I know", True, True),
    ("Yeah", None, False),
    ("Nope", None, False),
    ("None", None, False),
    ("42", None, False),
]


@pytest.mark.parametrize(("reply", "strict", "substring"), GOLDEN)
def test_replies_are_read_as_the_table_says(reply: str, strict: bool | None, substring: bool) -> None:
    assert parse_strict(reply) is strict
    assert parse_substring(reply) is substring


@given(st.text())
def test_any_reply_is_a_verdict_or_none(reply: str) -> None:
    assert parse_strict(reply) in (True, False, None)


@given(st.text())
def test_a_strict_yes_holds_the_letters_of_yes(reply: str) -> None:
    if parse_strict(reply):
        assert parse_substring(reply)


@given(
    st.sampled_from(["yes", "No", "YES", "no"]),
    st.text("*_`\"'()[] \n", max_size=6),
    st.text("*_`\"'()[] \n.!,:;", max_size=6),
)
def test_punctuation_around_a_bare_word_is_ignored(word: str, before: str, after: str) -> None:
    assert parse_strict(before + word + after) is (word.lower() == "yes")


@given(st.text())
def test_a_reply_with_both_words_is_never_a_verdict(rest: str) -> None:
    assert parse_strict(f"yes no {rest}") is None
    assert parse_strict(f"no {rest} yes") is None
