"""Needles as whole words, and anywhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.benchmarks.qa.keys import holds, holds_anywhere

TEXTS = st.text(alphabet="aAbW1 .-+é́ßß北", max_size=12)


@pytest.mark.parametrize(
    ("needle", "answer", "words", "anywhere"),
    [
        ("Paris", "It is PARIS.", True, True),
        ("Paris", "A comparison", False, True),
        ("Paris", "It is Lima.", False, False),
        ("100", "In 1100 or 1000", False, True),
        ("100", "At 100°", True, True),
        ("W", "a word", False, True),
        ("W", "Tungsten is W", True, True),
        ("w", "Tungsten is W", False, True),  # one or two characters are looked for as they are written
        ("Au", "a restaurant, au pair", False, True),
        ("Au", "(Au)", True, True),
        ("C++", "C++11 it is", True, True),  # its end is no letter, so nothing bounds it there
        ("+1", "x+1", True, True),
        ("+1", "x+12", False, True),
        ("New York", "in new york.", True, True),
        ("New York", "New Yorkers", False, True),
        ("café", "A cafe\u0301 by the sea", True, False),  # an accent written as a sign of its own
        ("cafe", "A cafe\u0301 by the sea", False, True),
        ("Straße", "STRASSE", True, False),
        ("CO₂", "it is CO₂.", True, True),
        ("北京", "首都是北京市", True, True),  # no signs between words
        ("北京", "北京。", True, True),
        ("snake_case", "a snake_case_name", True, True),  # an underscore is neither letter nor digit
        (" ", "a b", False, True),
        ("", "anything", False, False),
        ("x", "", False, False),
    ],
)
def test_a_needle_is_found_as_a_whole_word_or_anywhere(needle: str, answer: str, words: bool, anywhere: bool) -> None:
    assert (holds(answer, [needle]), holds_anywhere(answer, [needle])) == (words, anywhere)


def test_one_needle_is_enough_unless_all_are_required_and_blank_ones_are_ignored() -> None:
    assert holds("red and green", ["blue", "green"]) and not holds("red and green", ["blue", "green"], all_of=True)
    assert holds("red and green", ["green", "", "red"], all_of=True)
    assert not holds("red", []) and not holds("red", ["", " "], all_of=True) and not holds_anywhere("red", [""])


@given(TEXTS, TEXTS)
def test_separate_needles_are_found_and_found_needles_are_present(needle: str, answer: str) -> None:
    if needle.strip():
        assert holds(f"{answer}\n{needle}\n{answer}", [needle])
    if holds(answer, [needle]) and needle.isascii() and answer.isascii():
        assert holds_anywhere(answer, [needle])
