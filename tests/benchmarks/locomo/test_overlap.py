"""Token F1, by the values of LoCoMo's own code with nltk 3.10.4."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.benchmarks.locomo.grading import f1, multi_f1, normalised


@pytest.mark.parametrize(
    ("answer", "reference", "value"),
    [
        ("The quick, brown fox", "a quick brown foxes", 1.0),
        ("", "x", 0),
        ("", "", 0),
        ("the", "a", 0),
        ("Caroline's dog", "carolines dogs", 1.0),
        ("well-being", "well being", 0),
        ("andes the And", "andes", 1.0),
        ("running runs ran", "run", 0.5),
        ("\u201cCharlotte\u2019s Web\u201d", "Charlotte's Web", 0),
        ("7 May 2023", "May 7th, 2023", 0.6666666666666666),
        ("7 May 2023", "May 7, 2023", 1.0),
        ("yesterday", "The day before", 0),
        ("Adoption agencies", "adoption agency", 1.0),
        # Not the spec's: words that are said twice, and the last bit of the formula in terms of P and R.
        ("ha ha ha", "ha ha", 0.8),
        ("q", "q w x y z", 0.33333333333333337),
    ],
)
def test_golden_values_of_f1(answer: str, reference: str, value: float) -> None:
    assert f1(answer, reference) == value


@pytest.mark.parametrize(
    ("answer", "reference", "value"),
    [
        ("a, b, c", "c, d", 0.5),
        ("", "x, y", 0),
        ("pottery, camping", "pottery, camping, painting, swimming", 0.5),
        ("x,,y", "x,y", 1.0),
        ("x", "x,,y", 0.3333333333333333),
        ("dogs", "Dog, cat", 0.5),
    ],
)
def test_golden_values_of_multi_f1(answer: str, reference: str, value: float) -> None:
    assert multi_f1(answer, reference) == value


@pytest.mark.parametrize("parts", [1, 2, 3, 5, 7, 8, 9, 10, 16, 17, 23, 128])
def test_the_mean_over_parts_is_numpys_to_the_bit(parts: int) -> None:
    """LoCoMo's code uses NumPy, whose order of addition determines the last bit and so the rounding."""
    words = [f"q{number}" for number in range(parts)]
    answer = ",".join(f"{word}{' x' * (2 * number % 11)}" for number, word in enumerate(words))
    reference = ",".join(f"{word}{' z' * (2 * number % 4)}" for number, word in enumerate(words))
    best = [max(f1(part, other) for part in answer.split(",")) for other in reference.split(",")]
    assert multi_f1(answer, reference) == float(np.mean(best))


def test_what_normalising_takes_away_and_what_it_leaves() -> None:
    assert normalised(" The A1,000  dogs\u2014AND an Ox! ") == "a1000 dogs\u2014 ox"
    assert normalised("band sand an-d") == "band sand"
    assert normalised("cat\u2014the\u2014dog") == "cat\u2014 \u2014dog"


def test_a_word_ends_where_unicode_says_and_not_where_re_does() -> None:
    """A combining mark belongs to its word: this is a word of its own, and not the article with something behind it."""
    assert normalised("a\u0301 b") == "a\u0301 b"


@given(st.text(), st.text())
def test_f1_is_a_share_and_the_same_both_ways(one: str, other: str) -> None:
    assert 0 <= f1(one, other) <= 1
    assert f1(one, other) == pytest.approx(f1(other, one))
    assert f1(one, one) in (0, 1)
    assert multi_f1(one.replace(",", ""), other.replace(",", "")) == f1(one, other)


def test_a_long_list_takes_no_long_time() -> None:
    assert multi_f1("x," * 200_000 + "y", "x, y, z") == pytest.approx(2 / 3)
