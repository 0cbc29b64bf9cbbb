"""ROUGE and BLEU: the golden values of rouge-score 0.1.2 and NLTK 3.10.4, and equality with both packages."""

from __future__ import annotations

import random
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.benchmarks.memorycd.overlap import bleu, rouge, tokens


@pytest.mark.parametrize(
    ("prediction", "reference", "one", "four"),
    [
        ("great product love it", "great product", 0.5, 0.16990442448471224),
        ("great", "great", 1.0, 0.1778279410038923),
        ("great product", "great product", 1.0, 0.316227766016838),
        ("the cat sat on the mat", "the cat is on the mat", 0.8333333333333334, 0.25406637407730737),
        ("", "x", 0.0, 0.0),
        ("foo", "bar", 0.0, 0.0),
        ("Great", "great", 0.0, 0.0),
        ("x", "", 0.0, 0.0),
    ],
)
def test_bleu_has_its_golden_values(prediction: str, reference: str, one: float, four: float) -> None:
    assert bleu(reference, prediction, 1) == pytest.approx(one, abs=1e-15)
    assert bleu(reference, prediction, 4) == pytest.approx(four, abs=1e-15)


@pytest.mark.parametrize(
    ("reference", "prediction", "one", "longest"),
    [
        ("Loved these running shoes!", "love this running shoe", 0.75, 0.75),
        ("Great value for money", "great money", 0.6666666666666666, 0.6666666666666666),
        ("a b c", "c b a", 1.0, 0.3333333333333333),
        ("anything", "", 0.0, 0.0),
        ("", "anything", 0.0, 0.0),
        ("!?", "!?", 0.0, 0.0),
    ],
)
def test_rouge_has_its_golden_values(reference: str, prediction: str, one: float, longest: float) -> None:
    found = rouge(reference, prediction)
    assert (found.rouge1, found.rouge_l) == (one, longest)


def test_words_are_ascii_letters_and_digits_stemmed_from_four_letters() -> None:
    assert tokens("Running RUNS, won't naïve 5-star_x K9") == [
        "run",
        "run",
        "won",
        "t",
        "na",
        "ve",
        "5",
        "star",
        "x",
        "k9",
    ]


WORDS = [
    *("great", "product", "loves", "Loved", "loving", "these", "running", "shoes", "shoe", "value", "for", "the", "a"),
    *("works", "Works,", "won't", "İstanbul", "K9", "naïve", "5", "stars!!", "well-made", "yyy", "relational", "😀"),
    *("", "\u00a0", "_x_", "Ünder"),
]


def _text(dice: random.Random) -> str:
    words = (dice.choice(WORDS) for _ in range(dice.choice([0, 1, 2, 3, 5, 8, 20, 60])))
    return dice.choice([" ", "  ", "\n"]).join(words)


def test_three_hundred_made_up_pairs_measure_as_both_packages_measure_them() -> None:
    scorer = pytest.importorskip("rouge_score.rouge_scorer").RougeScorer(["rouge1", "rougeL"], use_stemmer=True)
    theirs = pytest.importorskip("nltk.translate.bleu_score")
    smoothed = theirs.SmoothingFunction().method1
    dice = random.Random(20261122)
    shared = 0
    for _ in range(300):
        reference = _text(dice)
        prediction = reference if dice.random() < 0.1 else _text(dice)
        mine, wanted = rouge(reference, prediction), scorer.score(reference, prediction)
        assert mine.rouge1 == pytest.approx(wanted["rouge1"].fmeasure, abs=1e-10)
        assert mine.rouge_l == pytest.approx(wanted["rougeL"].fmeasure, abs=1e-10)
        for orders, weights in ((1, (1, 0, 0, 0)), (4, (0.25,) * 4)):
            there = theirs.sentence_bleu(
                [reference.split()], prediction.split(), weights=weights, smoothing_function=smoothed
            )
            assert bleu(reference, prediction, orders) == pytest.approx(there, abs=1e-10)
        shared += mine.rouge_l > 0
    assert shared > 100


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_two_texts_measure_between_nothing_and_one(reference: str, prediction: str) -> None:
    found = rouge(reference, prediction)
    assert 0.0 <= found.rouge_l <= found.rouge1 <= 1.0
    for orders in (1, 4):
        assert 0.0 <= bleu(reference, prediction, orders) <= 1.0


@given(st.lists(st.sampled_from("abcd"), max_size=30), st.lists(st.sampled_from("abcde"), max_size=30))
def test_the_longest_common_subsequence_is_that_of_the_usual_table(wanted: list[str], given_: list[str]) -> None:
    table = [[0] * (len(given_) + 1) for _ in range(len(wanted) + 1)]
    for i, one in enumerate(wanted, 1):
        for j, other in enumerate(given_, 1):
            table[i][j] = table[i - 1][j - 1] + 1 if one == other else max(table[i - 1][j], table[i][j - 1])
    total = len(wanted) + len(given_)
    expected = 2 * table[-1][-1] / total if total else 0.0
    assert rouge(" ".join(wanted), " ".join(given_)).rouge_l == pytest.approx(expected, abs=1e-12)


def test_a_hostile_answer_of_megabytes_is_measured_in_no_time() -> None:
    reference, answer = "a b c d e " * 200, "x b a " * 200_000 + "y" * 1_000_000
    began = time.process_time()
    assert 0 < rouge(reference, answer).rouge_l < 0.01
    assert bleu(reference, answer, 4) < 0.01
    assert time.process_time() - began < 8


def test_measuring_loads_neither_nltk_nor_what_nltk_loads() -> None:
    code = (
        "import sys\n"
        "from memeval.benchmarks.memorycd.grading import text_metrics\n"
        "assert text_metrics('Loved these shoes', 'loving this shoe')['rouge1'] > 0\n"
        "assert not {'nltk', 'scipy', 'pandas', 'absl', 'rouge_score'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
