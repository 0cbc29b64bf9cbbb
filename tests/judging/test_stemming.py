"""NLTK's stemmer, and that nothing else of NLTK comes with it."""

import subprocess
import sys

import pytest

from memeval.judging.stemming import stem


@pytest.mark.parametrize(
    ("word", "stemmed"),
    [
        ("running", "run"),
        ("agencies", "agenc"),
        ("dying", "die"),  # NLTK's extensions: the original has "dy"
        ("flies", "fli"),
        ("enjoy", "enjoy"),  # and "enjoi"
        ("generously", "gener"),  # Snowball's English has "generous"
        ("as", "as"),
        ("", ""),
    ],
)
def test_words_are_stemmed_as_nltk_does_by_default(word: str, stemmed: str) -> None:
    assert stem(word) == stemmed


def test_a_word_of_any_length_is_stemmed_fast() -> None:
    assert stem("y" * 1_000_000).startswith("yyy")
    assert stem("ing" * 100_000) == "ing" * 99_999


def test_grading_by_token_f1_loads_neither_the_rest_of_nltk_nor_what_it_would_load() -> None:
    code = (
        "import sys; from memeval.benchmarks.locomo.grading import f1; assert f1('dogs ran', 'a dog runs') == 0.5;"
        "print(sorted({name.partition('.')[0] for name in sys.modules} & {'nltk', 'numpy', 'pandas', 'scipy'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
