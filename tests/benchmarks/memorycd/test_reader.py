"""The habits reader: ratings, titles, reviews and rankings by rules, from reviews as they are rendered."""

import random
import re
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.benchmarks.memorycd.overlap import bleu, rouge, tokens
from memeval.benchmarks.memorycd.reader import HabitsReader, reviews_in
from memeval.evaluation.run.readers import reader_named


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
    assert " ".join(tokens("Running RUNS, won't naïve 5-star_x K9")) == "run run won t na ve 5 star x k9"


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


def review(stars: float | str, title: str, text: str = "Fine.", **more: str) -> str:
    """Return a review as it is rendered; synthetic."""
    fields = {"Title": title, "Rating": f"{stars}/5", "Review": text, **more}
    return "\n  ".join(f"{name.replace('_', ' ')}: {value}" for name, value in fields.items())


SHOES = review(5, "Great running shoes", "Light and quick on the road...", Product="Road shoes", Category="Sports")
KETTLE = review(1, "Leaks", "The kettle leaks on the table.", Product="Steel kettle", Category="Kitchen")
LAMP = review(4, "Bright lamp", "It lights the desk.", Product="Desk lamp", Category="Kitchen")
MEMORY = f"{SHOES}\n{KETTLE}\n{LAMP}"


def read(question: str, *contexts: str) -> str:
    return HabitsReader().read(question, None, contexts or (MEMORY,)).answer


def test_a_rating_leans_towards_those_of_similar_products() -> None:
    assert read("[rating] How many?\n\nProduct: Trail running shoes for the road\n  Category: Sports") == "4"
    assert read("[rating] How many?\n\nProduct: Kettle that leaks on the table\n  Category: Kitchen") == "3"


def test_without_anything_similar_a_rating_is_the_mean_and_halves_go_up() -> None:
    assert read("[rating] How many?\n\nProduct: Quantum", review(4, "a b"), review(5, "c d")) == "5"
    assert read("[rating] How many?\n\nProduct: Quantum", review(1, "a b"), review(2, "c d"), review(2, "e f")) == "2"
    assert read("[rating] How many?\n\nNothing is known about it.", review("4.0", "a b")) == "4"


def test_title_and_review_are_those_of_the_most_similar_review() -> None:
    asked = "Product: Trail shoes\n  Rating: 5/5\n  Review: So quick."
    assert read(f"[title] Which?\n\n{asked}") == "Great running shoes"
    assert read(f"[review] Which?\n\n{asked}") == "Light and quick on the road"


def test_of_equally_similar_reviews_the_nearest_rating_and_then_the_latest_decides() -> None:
    context = "\n".join(review(stars, title) for stars, title in ((5, "one"), (1, "two"), (1, "three")))
    assert read("[title] Which?\n\nProduct: Quantum\n  Rating: 2/5", context) == "three"
    assert read("[title] Which?\n\nProduct: Quantum\n  Rating: 4/5", context) == "one"
    assert read("[title] Which?\n\nProduct: Quantum", context) == "three"


CANDIDATES = "\n".join(
    f"ID: {item}\n  Number: {number}\n  Product: {product}\n  Product Avg Rating: {average}"
    for number, (item, product, average) in enumerate(
        [
            ("B00000000A", "Kettle that leaks", "4.0"),
            ("0316769487", "Quantum", "3.5"),
            ("B00000000C", "Quantum", "4.5"),
            ("B00000000D", "Road shoes", "1.0"),
            ("B00000000E", "Quantum", "4.5"),
        ],
        start=1,
    )
)


def test_candidates_come_by_what_is_like_something_liked_then_by_average_rating_then_as_shown() -> None:
    answer = read(f"[ranking] Order these, like B0EXAMPLE1.\n\n{CANDIDATES}")
    assert answer == "B00000000D, B00000000C, B00000000E, B00000000A, 0316769487"


def test_where_nothing_was_liked_average_ratings_decide() -> None:
    assert read(f"[ranking] Order.\n\n{CANDIDATES}", KETTLE).startswith("B00000000C, B00000000E, B00000000A")


@pytest.mark.parametrize("task", ["rating", "title", "review", "ranking"])
@pytest.mark.parametrize("context", ["", "  \n", "[2025-01-01] user: I moved to Lima.", "Title: no rating here"])
def test_a_context_without_reviews_gives_a_blank_answer(task: str, context: str) -> None:
    assert read(f"[{task}] Do it.\n\n{CANDIDATES}", context) == ""
    assert HabitsReader().read(f"[{task}] Do it.\n\n{CANDIDATES}", None, ()).answer == ""


def test_a_question_without_a_task_has_no_answer() -> None:
    assert read("Where has Ada moved to?") == ""
    assert read("[weather] Where?\n\nProduct: x") == ""


@pytest.mark.parametrize(
    "context",
    [
        f"[2025-01-05T10:00:00Z] user: {SHOES}\n[] user: {KETTLE}\n[2025-01-06] Ada: {LAMP}",
        f"{SHOES}\n\n{KETTLE}\n\n{LAMP}",
        f"{SHOES}\n{KETTLE}\n{LAMP}".replace("\n  ", "\n"),
        f"{SHOES}\n{KETTLE}\n{LAMP}".replace("Title", "  Title"),
        f"{SHOES}\n{KETTLE}\n{LAMP}\n{SHOES}",
    ],
    ids=["dated", "parted", "not indented", "all indented", "twice"],
)
def test_reviews_are_read_however_a_system_hands_them_on(context: str) -> None:
    for task in ("rating", "title", "ranking"):
        question = f"[{task}] Do.\n\n{CANDIDATES}"
        assert read(question, context) == read(question) != ""


def test_fields_belong_to_what_they_stand_below_and_unlabelled_lines_go_on() -> None:
    found = list(reviews_in(f"chatter\n[2025-01-05] user: {SHOES}\n and more\nDomain: Books\n  Title: x"))
    assert [dict(one) for one in found] == [
        {
            "Title": "Great running shoes",
            "Rating": "5/5",
            "Review": "Light and quick on the road...",
            "Product": "Road shoes",
            "Category": "Sports\nand more",
        },
        {"Domain": "Books", "Title": "x"},
    ]


@given(st.text(), st.lists(st.text() | st.text("Rating: 5/\n TleRvw[]#1.", max_size=80), max_size=3))
def test_any_text_is_read_without_failing_and_nothing_is_made_up(question: str, contexts: list[str]) -> None:
    answers = {
        task: HabitsReader().read(f"[{task}] Do.\n\nID: {question}", None, contexts).answer
        for task in ("rating", "title", "review", "ranking")
    }
    assert re.fullmatch(r"[0-9]*", answers["rating"])
    for task in ("title", "review"):
        assert all(line in "\n".join(contexts) for line in answers[task].split("\n"))
    assert all(one in question for one in answers["ranking"].split(", "))
    assert HabitsReader().read(question, None, contexts).answer == "" or question.lstrip().startswith("[")


def test_five_thousand_reviews_and_a_hundred_candidates_take_little_time() -> None:
    context = "\n".join(
        review(1 + n % 5, f"title {n % 97}", f"word{n} word{n % 13} and more words", Category="Books")
        for n in range(5000)
    )
    shown = "\n".join(f"ID: {number:010d}\n  Product: word{number} and more words" for number in range(100))
    began = time.monotonic()
    assert read("[rating] x\n\nProduct: word7 and more", context)
    assert read(f"[ranking] x\n\n{shown}", context).count(",") == 99
    assert time.monotonic() - began < 5


def test_a_hostile_context_takes_little_time() -> None:
    began = time.monotonic()
    read("[rating] x\n\nProduct: y", "Rating: 4/5\n" + "x\n" * 500_000, "[" * 1_000_000, "Title: " * 200_000)
    assert time.monotonic() - began < 5


def test_it_is_found_by_name() -> None:
    assert isinstance(reader_named("habits"), HabitsReader)
    assert isinstance(reader_named("habits@1"), HabitsReader)
