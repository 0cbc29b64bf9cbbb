"""The generated data of beliefs@2: counts, equal bytes, and keys that follow from the sessions."""

from collections import Counter
from itertools import pairwise

import pytest

from memeval.benchmarks import find
from memeval.benchmarks.base import Dataset
from memeval.benchmarks.beliefs.benchmark import RETRIEVAL
from memeval.benchmarks.beliefs.keys import EvidenceKey, Kind
from memeval.benchmarks.beliefs.lives import CONTEXT, counts
from memeval.benchmarks.kit.checks import says
from memeval.keys import ItemKey
from memeval.records.errors import BadInput
from memeval.records.scenario import Scenario

SIZE = 40


@pytest.fixture(scope="module")
def data() -> Dataset:
    return find("beliefs@2").opened(None, {"size": SIZE}, RETRIEVAL, "full")


@pytest.fixture(scope="module")
def keys(data: Dataset) -> list[ItemKey]:
    return list(data.answer_keys())


def turns_of(scenario: Scenario) -> dict[str, str]:
    return {turn.turn_id: turn.content for session in scenario.each_session() for turn in session.turns}


def evidence(key: ItemKey) -> EvidenceKey:
    assert isinstance(key.key, EvidenceKey)
    return key.key


def test_every_person_has_one_history_and_the_planned_items(data: Dataset, keys: list[ItemKey]) -> None:
    assert Counter(key.category for key in keys) == counts(SIZE)
    assert len(list(data.scenarios())) == SIZE == len({key.cluster for key in keys})
    assert max(Counter(key.cluster for key in keys).values()) <= 12


def test_the_catalogue_states_the_counts_of_the_full_tier() -> None:
    benchmark = find("beliefs@2")
    assert {each.name: each.items for each in benchmark.info.categories} == counts(260)
    assert benchmark.info.tiers[0].items == sum(counts(260).values())
    assert sum(each.weight or 0 for each in benchmark.info.categories) == pytest.approx(1)


def test_each_expected_and_misleading_turn_states_its_value(data: Dataset, keys: list[ItemKey]) -> None:
    for key in keys:
        said = turns_of(data.scenario(key.scenario_id))
        for value in (*evidence(key).expected, *evidence(key).misleading):
            assert all(says(value.phrases, said[turn]) for turn in value.turns), key.item_id


def test_a_current_value_is_stated_after_every_stale_one(keys: list[ItemKey]) -> None:
    seen = 0
    for key in keys:
        if key.category != "belief-update":
            continue
        (part,) = evidence(key).expected
        stale = [turn for value in evidence(key).misleading if value.why is Kind.STALE for turn in value.turns]
        assert max(part.turns) > max(stale)
        seen += 1
    assert seen == counts(SIZE)["belief-update"]


def test_only_questions_that_name_the_fact_contain_an_expected_value(data: Dataset, keys: list[ItemKey]) -> None:
    for key in keys:
        (ask,) = [ask for ask in data.scenario(key.scenario_id).questions() if ask.question_id == key.question_ids[0]]
        first = evidence(key).expected[0]
        if key.category != "uncertainty-abstention" and key.slices.get("asked") != "began":
            assert not says(first.phrases, ask.question), key.item_id


def test_questions_come_after_all_sessions_in_an_order_without_categories(data: Dataset, keys: list[ItemKey]) -> None:
    orders = set()
    for scenario in data.scenarios():
        sessions = [session.date for session in scenario.each_session()]
        asked = [ask.timestamp or "" for ask in scenario.questions()]
        assert all(a < b for a, b in pairwise([*sessions, *asked]))
        orders.add(tuple(key.category for key in keys if key.scenario_id == scenario.scenario_id))
    assert len(orders) > SIZE / 2


def test_every_trap_is_exercised(keys: list[ItemKey]) -> None:
    assert {value.why for key in keys for value in evidence(key).misleading} == set(Kind)
    assert {key.slices["said"] for key in keys} == {"direct", "indirect", "corrected", "elliptic", "third-person"}
    assert {key.slices["asked"] for key in keys if "asked" in key.slices} == {"month", "before", "after", "began"}
    assert {key.slices["twin"] for key in keys if "twin" in key.slices} == {"changed", "reconfirmed", "unchanged"}


def test_both_protocols_ask_the_same_questions_with_other_keys(data: Dataset, keys: list[ItemKey]) -> None:
    answers = find("beliefs@2").opened(None, {"size": SIZE}, "judge", "full")
    assert [s.to_json() for s in answers.scenarios()] == [s.to_json() for s in data.scenarios()]
    for searched, answered in zip(keys, answers.answer_keys(), strict=True):
        assert searched.item_id == answered.item_id and searched.evidence == answered.evidence
        assert isinstance(answered.key, EvidenceKey) == (answered.category == CONTEXT)
    assert answers.digest != data.digest


@pytest.mark.parametrize("protocol", [RETRIEVAL, "judge"])
def test_the_quick_tier_has_the_first_people_of_the_full_tier(protocol: str) -> None:
    benchmark = find("beliefs@2")
    quick, full = (benchmark.opened(None, None, protocol, tier) for tier in ("quick", "full"))
    names, keys = set(quick.scenario_ids()), list(quick.answer_keys())
    assert list(quick.scenarios()) == [each for each in full.scenarios() if each.scenario_id in names]
    assert keys == [each for each in iter(full.answer_keys()) if each.scenario_id in names]
    (tier,) = [each for each in benchmark.info.tiers if each.name == "quick"]
    assert (tier.clusters, tier.items) == (len(names), len(keys)) == (20, 230)
    planned = {each.name: each.items for each in benchmark.table(protocol, "quick")}
    assert planned == counts(20) == Counter(key.category for key in keys)


@pytest.mark.parametrize("protocol", ["shared", "stored"])
def test_other_protocols_have_no_quick_tier(protocol: str) -> None:
    with pytest.raises(BadInput, match=f"no tier 'quick' under the protocol '{protocol}'. Use the protocol"):
        find("beliefs@2").opened(None, None, protocol, "quick")
