"""What should be stored of a history of beliefs@2, and what a store of every word earns."""

from __future__ import annotations

from statistics import mean

import pytest

from memeval.benchmarks import find
from memeval.benchmarks.beliefs.generate import MadeLife, generate
from memeval.benchmarks.beliefs.protocols import stored
from memeval.benchmarks.beliefs.wording.editions import wording
from memeval.benchmarks.kit.checks import says, text_of
from memeval.benchmarks.session import BenchmarkSession
from memeval.grading.stored import claimed, measures
from memeval.keys import StoreKey
from memeval.records.scenario import Export, Scenario

SEED, SIZE = 7, 12

Told = tuple[MadeLife, Scenario, StoreKey]


@pytest.fixture(scope="module")
def told() -> list[Told]:
    vocabulary = wording("full")
    scenarios, items = stored(SEED, SIZE, vocabulary)
    keys = [item.key for item in items if isinstance(item.key, StoreKey)]
    return list(zip(generate(SEED, SIZE, vocabulary), scenarios, keys, strict=True))


def selection(key: StoreKey, memories: list[str]) -> dict[str, float | None]:
    return measures(key, claimed(key, memories))


def test_the_sessions_are_those_of_the_other_protocols_and_then_the_store_is_exported(told: list[Told]) -> None:
    for life, scenario, _ in told:
        assert scenario.sessions() == life.scenario.sessions()
        assert isinstance(scenario.steps[-1], Export)
        assert scenario.questions()[0].timestamp == life.scenario.questions()[0].timestamp


def test_the_key_has_what_holds_on_the_day_of_the_export(told: list[Told]) -> None:
    for life, scenario, key in told:
        said = text_of(scenario)
        right = {made.evidence.reference for made in life.items if made.need.category == "belief-update"}
        assert right <= {fact.text for fact in key.current}
        assert all(says(fact.phrases, said) for fact in (*key.current, *key.stale))
        assert not any(says(fact.phrases, said) for fact in key.never)
        doubtful = [made for made in life.items if made.slices.get("twin") == "changed"]
        topics = {life.life.focus[made.need.item_id].id for made in doubtful}
        assert topics <= {subject.topic for subject in key.subjects if subject.current is None}


def test_a_store_of_every_word_selects_nothing_although_its_f1_is_two_thirds(told: list[Told]) -> None:
    found = [selection(key, [t.content for s in each.sessions() for t in s.turns]) for _, each, key in told]
    assert mean(each["selection"] or 0.0 for each in found) < 0.02
    assert 0.6 < mean(each["stored_f1"] or 0.0 for each in found) < 0.75


def test_current_facts_alone_are_perfect_and_an_empty_store_earns_nothing(told: list[Told]) -> None:
    for _, _, key in told:
        assert selection(key, [fact.text for fact in key.current])["selection"] == 1
        assert selection(key, [])["selection"] == 0
        stale = [fact.phrases[0] for fact in key.stale]
        assert selection(key, stale)["selection"] == 0
        invented = [fact.phrases[0] for fact in key.never]
        assert 0 < (selection(key, [*(fact.text for fact in key.current), *invented])["selection"] or 0) < 1


def test_forgetting_the_oldest_third_earns_more_than_keeping_all(told: list[Told]) -> None:
    def kept(each: Scenario) -> list[str]:
        turns = [turn.content for session in each.sessions() for turn in session.turns]
        return turns[len(turns) // 3 :]

    assert mean(selection(key, kept(each))["selection"] or 0.0 for _, each, key in told) > 0.2


def test_the_plan_is_one_category_with_a_person_an_item() -> None:
    opened = BenchmarkSession.open(find("beliefs@2"), None, {"seed": SEED, "size": SIZE}, protocol="stored")
    (line,) = opened.benchmark.plan(opened.keys, "stored")
    assert (line.items, line.weight, line.grader) == (SIZE, 1.0, "selected-facts@1")
