"""What systems are shown, and what they are asked to search for."""

from __future__ import annotations

import hashlib

import pytest

from memeval.benchmarks.memorycd.keys import MemoryCDTask
from memeval.benchmarks.memorycd.metadata import Product
from memeval.benchmarks.memorycd.rendering import INSTRUCTIONS, UNKNOWN, candidates, query, remembered, work
from memeval.benchmarks.memorycd.users import Interaction

RATING, TITLE, REVIEW, RANKING = MemoryCDTask
LAMP = Product("Osmark desk lamp", 4.3, "Electronics", "['Bends.', 'Shines.']" + "d" * 400)
ITEM = Interaction("Electronics", 0, "B0AAAAAAA1", 4.0, "Bright enough", "w" * 250, 7.0, ("B0AAAAAAA2", "B0AAAAAAA1"))


def test_a_remembered_review_is_written_field_by_field() -> None:
    assert remembered(ITEM, LAMP, with_domain=True).split("\n") == [
        "Domain: Electronics",
        "  Title: Bright enough",
        "  Rating: 4.0/5",
        f"  Review: {'w' * 200}...",
        "  Product: Osmark desk lamp",
        "  Product Avg Rating: 4.3",
        "  Category: Electronics",
    ]


def test_what_is_missing_is_left_out_and_a_name_is_not_said_twice() -> None:
    short = Interaction("Books", 0, "", 5, "Osmark desk lamp", "w" * 200, 0)
    told = remembered(short, LAMP, with_domain=False).split("\n")
    assert told[:3] == ["Title: Osmark desk lamp", "  Rating: 5/5", f"  Review: {'w' * 200}"]
    assert told[3:] == ["  Product Avg Rating: 4.3", "  Category: Electronics"]
    assert remembered(Interaction("Books", 0, "", None, "", "", 0), None, with_domain=False) == ""


def target(task: MemoryCDTask, *, clean: bool = False, product: Product | None = LAMP) -> list[str]:
    shown = [("B0AAAAAAA2", None), ("B0AAAAAAA1", LAMP)]
    told = work(task, ITEM, product, shown if task is RANKING else [], clean)
    instruction, _, rest = told.partition("\n\n")
    assert instruction == INSTRUCTIONS[task] and instruction.startswith(f"[{task.value}] ")
    return rest.split("\n")


KNOWN = ["Product: Osmark desk lamp", "  Product Avg Rating: 4.3", "  Category: Electronics"]


def test_a_rating_is_asked_for_under_the_title_of_the_review_unless_it_is_clean() -> None:
    assert target(RATING) == ["Title: Bright enough", *("  " + each.strip() for each in KNOWN)]
    assert target(RATING, clean=True) == KNOWN
    assert target(RATING, clean=True, product=None) == [UNKNOWN]


def test_a_title_is_asked_for_with_the_whole_review_and_a_review_with_the_rating_alone() -> None:
    assert target(TITLE) == [*KNOWN, "  Rating: 4.0/5", f"  Review: {'w' * 250}"]
    assert target(REVIEW) == [*KNOWN, "  Rating: 4.0/5"]


def test_candidates_are_numbered_and_what_is_not_known_is_said() -> None:
    assert target(RANKING) == [
        "ID: B0AAAAAAA2",
        "  Number: 1",
        f"  Product: {UNKNOWN}",
        "ID: B0AAAAAAA1",
        "  Number: 2",
        *("  " + each.strip() for each in KNOWN),
        f"  Description: {LAMP.description[:200]}...",
    ]


@pytest.mark.parametrize(
    ("task", "clean", "words"),
    [
        (RATING, False, ["Bright enough", *LAMP.words]),
        (RATING, True, LAMP.words),
        (TITLE, False, ["w" * 250, *LAMP.words]),
        (REVIEW, False, LAMP.words),
        (RANKING, False, ["Bright enough", *LAMP.words]),
        (RANKING, True, ["Other", *LAMP.words]),
    ],
)
def test_the_memory_is_searched_for_what_the_released_code_searches_for(
    task: MemoryCDTask, clean: bool, words: list[str]
) -> None:
    shown = [("B0AAAAAAA2", Product(title="Other")), ("B0AAAAAAA3", None), ("B0AAAAAAA1", LAMP)]
    assert query(task, ITEM, LAMP, shown, clean) == " ".join(words)


def test_where_nothing_is_known_the_domain_is_searched_for() -> None:
    assert query(REVIEW, Interaction("Home_and_Kitchen", 0, "", 1, "t", "x", 0), None, [], False) == "Home and Kitchen"


def test_the_order_of_candidates_is_that_of_hashes() -> None:
    found = candidates("SYNTH1", ITEM, once=False)
    keyed = {each: hashlib.sha256(f"42:SYNTH1:Electronics:{each}".encode()).hexdigest() for each in found}
    assert list(found) == sorted(found, key=keyed.__getitem__)
    assert sorted(found) == ["B0AAAAAAA1", "B0AAAAAAA1", "B0AAAAAAA2"]
    assert candidates("SYNTH1", ITEM, once=True) == tuple(dict.fromkeys(found))
    orders = {candidates(f"SYNTH{number}", ITEM, once=True) for number in range(20)}
    assert len(orders) == 2
