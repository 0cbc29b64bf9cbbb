"""Grading a store: what it keeps, and what it keeps that does not hold."""

import time
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memeval.grading.stored import HEADLINE, LONGEST, Claims, SelectedFacts, claimed, measures
from memeval.keys import StoredTopic, StoreKey
from memeval.records.grade import Grade, GradeState
from memeval.records.response import Outcome, RetrievedItem
from tests.grading.builders import NoJudge, fact, item, response, scenario

KEY = StoreKey(
    subjects=(
        StoredTopic(
            topic="drink",
            current=fact("Ada drinks cocoa.", "cocoa"),
            stale=(fact("Ada once announced yerba mate.", "yerba mate"), fact("Ada once drank rooibos.", "rooibos")),
            never=(fact("Ada drinks oolong.", "oolong"), fact("Ada drinks hot lemon water.", "hot lemon water")),
        ),
        StoredTopic(
            topic="breakfast",
            current=fact("Ada has miso soup.", "miso soup"),
            stale=(fact("Ada once had rye toast.", "rye toast"), fact("Ada once had shakshuka.", "shakshuka")),
            never=(fact("Ada has chia pudding.", "chia pudding"),),
        ),
        StoredTopic(topic="lunch", current=None, never=(fact("Ada lunches at Fig and Fennel.", "Fig and Fennel"),)),
    )
)
"""Synthetic."""

TRANSCRIPT = (
    "For context, I drink rooibos in the mornings.",
    "Decision made: starting next week I drink yerba mate.",
    "Scrap what I said the other day about yerba mate. I'm staying with rooibos.",
    "So much for rooibos. I drink cocoa in the mornings now.",
    "These days I have rye toast for breakfast.",
    "I gave up on rye toast, and now I have shakshuka for breakfast.",
    "It finally happened, I have miso soup for breakfast now.",
    "I have my lunch at Little Kiln.",
)


def grade(memories: Sequence[str]) -> Grade:
    return grade_of([RetrievedItem(text=memory) for memory in memories])


def grade_of(memories: Sequence[RetrievedItem]) -> Grade:
    row = response().model_copy(update={"items": tuple(memories)})
    return SelectedFacts().grade(item(KEY, category="stored-facts"), scenario(TRANSCRIPT), [row], NoJudge())


@pytest.mark.parametrize(
    ("memories", "f1", "missing", "stale", "duplicate", "invented"),
    [
        (("Ada drinks cocoa.", "Ada has miso soup for breakfast."), 1.0, 0.0, 0.0, 0.0, 0.0),
        (("Ada drinks cocoa.",), 2 / 3, 0.5, 0.0, 0.0, 0.0),
        (("Ada drinks rooibos.", "Ada has rye toast."), 0.0, 1.0, 0.5, 0.0, 0.0),
        (("Ada drinks cocoa.", "Cocoa it is, for Ada.", "Ada has MISO  soup."), 1.0, 0.0, 0.0, 0.5, 0.0),
        (("Ada drinks cocoa.", "Ada has miso soup.", "Ada drinks oolong."), 0.8, 0.0, 0.0, 0.0, 1 / 3),
        (TRANSCRIPT, 0.5, 0.0, 1.0, 1 / 6, 0.0),
        ((), 0.0, 1.0, 0.0, None, None),
        (("",), 0.0, 1.0, 0.0, None, None),
        (("Ada lunches at Little Kiln.",), 0.0, 1.0, 0.0, None, None),
    ],
    ids=["perfect", "half", "stale", "duplicated", "inventing", "every word", "empty", "blank", "open"],
)
def test_synthetic_stores_get_the_expected_metrics(
    memories: Sequence[str], f1: float, missing: float, stale: float, duplicate: float | None, invented: float | None
) -> None:
    row = grade(memories)
    assert row.state is GradeState.GRADED and row.verdict is None and row.credit == row.metrics[HEADLINE]
    expected = {"stored_f1": f1, "missing": missing, "stale": stale, "duplicate": duplicate, "invented": invented}
    expected[HEADLINE] = max(0.0, 1 - missing - stale) * (1 - (invented or 0.0))
    assert row.metrics == pytest.approx(expected)


@pytest.mark.parametrize(
    ("memory", "current", "stale"),
    [
        ("Ada used to drink rooibos and drinks cocoa now.", 1, 0),
        ("Ada gave up rooibos.", 0, 0),
        ("Formerly: rooibos. Ada drinks cocoa.", 1, 0),
        ("Previously, Ada drank rooibos.", 0, 0),
        ("Ada does not drink rooibos any more.", 0, 0),
        ("Forget yerba mate, that isn't happening. I drink rooibos, same as before.", 0, 1),
        ("I gave up on rye toast, and now I have shakshuka.", 0, 1),
        ("Ada once drank rooibos, and no longer does.", 0, 0),
        ("Ada drank rooibos, but stopped.", 0, 0),
        ("The zip gave up, so Ada drinks rooibos.", 0, 1),
        ("Ada no longer has to queue, and drinks cocoa.", 1, 0),
        ("Ada drinks rooibos; Ada drinks cocoa.", 1, 1),
        ("drink: rooibos, cocoa", 1, 1),
        ("Ada drinks cocoa and had rooibos earlier.", 1, 0),
        ("Ada once had rooibos.\nShe has a dog.\nIt barks.\nNow she drinks cocoa.", 1, 1),
        ("Ada used to drink cocoa.", 0, 0),
        ("Adaptogenic cocoabutter and rooibosen", 0, 0),
        ("ＣＯＣＯＡ and miso\u200b-soup", 2, 0),
    ],
)
def test_a_memory_claims_what_it_does_not_say_is_past(memory: str, current: int, stale: int) -> None:
    claims = claimed(KEY, [memory])
    assert (claims.current, claims.stale, claims.invented) == (current, stale, 0)


def test_unstated_facts_are_invented_in_every_wording() -> None:
    memories = ["Ada used to drink oolong, and drinks cocoa now.", "Fig & Fennel? Fig and Fennel!"]
    assert claimed(KEY, memories).invented == 2


def test_one_memory_that_says_a_fact_twice_is_no_duplicate() -> None:
    assert claimed(KEY, ["Ada drinks cocoa. Cocoa it is, for Ada."]) == Claims(1, 0, 0, 0)


def test_an_invented_fact_replaces_no_fact() -> None:
    claims = claimed(KEY, ["Ada had yerba mate before, and drinks hot lemon water now."])
    assert (claims.current, claims.stale, claims.invented) == (0, 1, 1)


def test_a_memory_that_is_a_turn_of_the_history_is_read_as_that_turn() -> None:
    graded = grade_of([RetrievedItem(turn_id="s004:t01"), RetrievedItem(turn_id="s001:t01", dated=True)])
    assert graded.metrics["missing"] == 0.5 and graded.metrics["stale"] == 0.25


@pytest.mark.parametrize("outcome", [Outcome.ADAPTER_ERROR, Outcome.TIMEOUT])
def test_a_store_that_was_not_shown_is_an_error_and_not_an_empty_one(outcome: Outcome) -> None:
    graded = SelectedFacts().grade(item(KEY), scenario(), [response(outcome=outcome)], NoJudge())
    assert graded.state.is_error and graded.credit is None and not graded.metrics


def test_an_item_without_its_response_is_refused() -> None:
    with pytest.raises(ValueError, match="one response"):
        SelectedFacts().grade(item(KEY), scenario(), [], NoJudge())


@pytest.mark.parametrize(
    "text",
    ["gave up " * 51_000, "cocoa rooibos " * 29_000, ",;" * 201_000, "\ufdfa" * 401_000],
    ids=["past", "values", "sentences", "a letter that is many"],
)
def test_a_huge_store_is_read_up_to_a_bound_and_in_time(text: str) -> None:
    started = time.process_time()
    row = grade([text, "Ada drinks cocoa."])
    assert time.process_time() - started < 5
    assert f"first {LONGEST:,} characters" in (row.reason or "")


def test_text_beyond_the_limit_is_not_read() -> None:
    last = "Ada drinks cocoa"
    before = ["x" * 999] * 399  # and an end of a sentence for each
    assert claimed(KEY, [*before, "x" * (999 - len(last) - 1), last]) == Claims(1, 0, 0, 0, whole=True)
    assert claimed(KEY, [*before, "x" * (999 - len(last)), last]) == Claims(0, 0, 0, 0, whole=False)
    assert claimed(KEY, [last, last + " " * LONGEST]) == Claims(1, 0, 0, 1, whole=False)


@given(st.lists(st.text(alphabet=st.sampled_from("cocoa rooibos.\n,;now\ud7ff\u202e<>&"), max_size=60), max_size=6))
def test_measures_are_shares_whatever_a_store_says(memories: list[str]) -> None:
    found = measures(KEY, claimed(KEY, memories))
    assert all(value is None or 0 <= value <= 1 for value in found.values())


@settings(max_examples=30)
@given(st.lists(st.sampled_from(TRANSCRIPT), max_size=8))
def test_the_order_of_memories_does_not_matter(memories: list[str]) -> None:
    assert claimed(KEY, memories) == claimed(KEY, memories[::-1])
