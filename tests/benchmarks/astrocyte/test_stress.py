"""The stress suite: counts, growth, walls between banks, and paraphrases that share few words."""

import re
from collections import Counter

import pytest

from memeval.benchmarks.astrocyte import StressSuite
from memeval.benchmarks.astrocyte.stress import WORDS
from memeval.benchmarks.base import Dataset
from memeval.keys import ItemKey, RecallKey
from memeval.records.scenario import Recall, Retain, Scenario

COMMON = frozenset("a the that of on in for we was what which who where did by should be".split())  # noqa: SIM905


@pytest.fixture(scope="module")
def data() -> Dataset:
    return StressSuite().open()


@pytest.fixture(scope="module")
def scenario(data: Dataset) -> Scenario:
    (only,) = data.scenarios()
    return only


@pytest.fixture(scope="module")
def keys(data: Dataset) -> list[ItemKey]:
    return list(data.answer_keys())


def texts(scenario: Scenario) -> dict[str, Retain]:
    return {step.text_id: step for step in scenario.steps if isinstance(step, Retain)}


def searches(scenario: Scenario) -> dict[str, Recall]:
    return {step.question_id: step for step in scenario.steps if isinstance(step, Recall)}


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+", text.lower())) - COMMON


def test_the_counts_are_those_of_the_specification(scenario: Scenario, keys: list[ItemKey]) -> None:
    assert Counter(text.bank for text in texts(scenario).values()) == {f"bank-{n:02}": 100 for n in range(1, 11)}
    assert Counter(key.category for key in keys) == {"exact": 200, "paraphrase": 200, "negative": 100}
    cells = Counter((key.slices["bank size"], key.slices["in flight"]) for key in keys)
    assert {size for size, _ in cells} == {"10", "25", "50", "100"}
    assert {flight for _, flight in cells} == {"1", "4", "16"}
    assert len(cells) == 12 and all(40 <= count <= 43 for count in cells.values())
    assert len({(bank, word) for bank, word in ((t.bank, t.content) for t in texts(scenario).values())}) == 950
    again = [key for key in keys if isinstance(key.key, RecallKey) and key.key.alike]
    assert again and all(key.key.alike == (key.evidence,) for key in again if isinstance(key.key, RecallKey))


def test_one_text_in_twenty_stands_there_again_in_slightly_other_words(scenario: Scenario) -> None:
    firsts = {(text.bank, text.content) for text in texts(scenario).values()}
    near = [
        text
        for text in texts(scenario).values()
        if any(text.bank == bank and content != text.content and content in text.content for bank, content in firsts)
    ]
    assert len(near) == 50


def test_a_search_comes_when_its_bank_has_the_size_that_its_slice_says(scenario: Scenario, keys: list[ItemKey]) -> None:
    held: Counter[str | None] = Counter()
    slices = {key.item_id: key.slices for key in keys}
    there: set[str] = set()
    relevant = {key.item_id: key.evidence or () for key in keys}
    for step in scenario.steps:
        if isinstance(step, Retain):
            held[step.bank] += 1
            there.add(step.text_id)
        elif isinstance(step, Recall):
            assert set(held.values()) == {int(slices[step.question_id]["bank size"])}
            assert step.in_flight == int(slices[step.question_id]["in flight"])
            assert set(relevant[step.question_id]) <= there


def test_what_is_relevant_is_in_the_searched_bank_and_is_all_that_is_said_of_its_thing(
    scenario: Scenario, keys: list[ItemKey]
) -> None:
    held = texts(scenario)
    asked = searches(scenario)
    names = [f"{kind} {thing}" for kind, _ in WORDS.kinds for thing, _ in WORDS.things]
    for key in keys:
        search = asked[key.item_id]
        about = {name for name in names if name in search.question}
        size = int(key.slices["bank size"])
        bank = [text for text in held.values() if text.bank == search.bank][:size]
        if key.category == "negative":
            assert key.evidence is None
            assert not any(name in text.content for name in about for text in bank)
            continue
        assert key.evidence is not None
        assert {held[name].bank for name in key.evidence} == {search.bank}
        about = about or {name for name in names if name in held[key.evidence[0]].content}
        assert key.evidence == tuple(text.text_id for text in bank if any(name in text.content for name in about))


def test_exact_searches_use_the_texts_words_and_paraphrases_none_that_tell_anything(
    scenario: Scenario, keys: list[ItemKey]
) -> None:
    held, asked = texts(scenario), searches(scenario)
    for key in keys:
        if key.evidence is None:
            continue
        shared = words(asked[key.item_id].question) & words(held[key.evidence[0]].content)
        if key.category == "paraphrase":
            assert not shared, (asked[key.item_id].question, held[key.evidence[0]].content)
        else:
            assert words(asked[key.item_id].question) == shared


def test_the_vocabulary_tells_things_apart() -> None:
    for pairs in (WORDS.kinds, WORDS.things):
        plain, other = zip(*pairs, strict=True)
        assert len(set(plain)) == len(set(other)) == len(pairs)
        assert not set(plain) & set(other)
    assert all(len(saying.values) == len(set(saying.values)) for saying in WORDS.sayings)


def test_banks_hold_the_same_things_with_other_values(scenario: Scenario) -> None:
    things: dict[str, set[tuple[str | None, str]]] = {}
    for text in texts(scenario).values():
        for kind, _ in WORDS.kinds:
            for thing, _ in WORDS.things:
                if f" {kind} {thing}" in text.content:
                    things.setdefault(f"{kind} {thing}", set()).add((text.bank, text.content))
    assert len(things) == sum(len({bank for bank, _ in said}) > 1 for said in things.values()) == 135


def test_it_can_be_made_smaller(data: Dataset) -> None:
    assert data.parameters == {"seed": 42, "retains": 1000, "banks": 10, "recalls": 500}
    assert StressSuite().open(None, {"seed": "42", "retains": 1000}).digest == data.digest
    small = StressSuite().open(None, {"retains": 40, "banks": 2, "recalls": 60})
    (made,) = small.scenarios()
    assert len(texts(made)) == 40 and len(searches(made)) == len(list(small.answer_keys())) == 60
    assert {key.slices["bank size"] for key in small.answer_keys()} == {"2", "5", "10", "20"}
