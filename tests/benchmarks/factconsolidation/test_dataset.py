"""Scenarios and keys of a made-up list of facts."""

import json

import pytest

from memeval.benchmarks.base import Dataset
from memeval.benchmarks.factconsolidation import FactConsolidationBenchmark
from memeval.benchmarks.factconsolidation.dataset import RULE, FactConsolidationDataset, ordinal_of
from memeval.benchmarks.factconsolidation.keys import FactConsolidationKey
from memeval.keys import ItemKey
from memeval.records.benchmark import Erratum, ErratumAction, ErratumKind
from memeval.records.errors import BadInput
from memeval.records.scenario import Ask, Task
from tests.benchmarks.factconsolidation.made import FACTS, SINGLE, dataset


def keys_of(made: Dataset) -> dict[str, ItemKey]:
    return {item.item_id: item for item in made.answer_keys()}


def key(name: str) -> FactConsolidationKey:
    return keys_of(dataset())[name].key_as(FactConsolidationKey, "a test")


def test_facts_are_ingested_in_order_ten_in_a_session_one_session_a_day() -> None:
    sessions = dataset().scenario("6k").sessions()
    assert [(each.session_id, each.date, len(each.turns)) for each in sessions] == [
        ("s001", "2020-01-01", 10),
        ("s002", "2020-01-02", 2),
    ]
    turns = [turn for session in sessions for turn in session.turns]
    assert [turn.content for turn in turns] == [f"{place}. {fact}" for place, fact in enumerate(FACTS)]
    assert [turn.turn_id for turn in turns] == [ordinal_of(place) for place in range(len(FACTS))]
    assert [*dataset().ordinals("6k")] == ["0-9", "10-11"]


def test_questions_come_after_all_facts_on_the_next_day() -> None:
    asks = dataset().scenario("6k").questions()
    assert [ask.question_id for ask in asks] == ["sh-6k:0", "sh-6k:1", "sh-6k:2", "sh-6k:3", "mh-6k:0"]
    assert {ask.timestamp for ask in asks} == {"2020-01-03"}
    assert all(isinstance(ask, Ask) for ask in asks) and asks[0].question == SINGLE[0][0]


def test_only_the_protocol_answers_states_the_rule_and_searches_without_it() -> None:
    (first, *_) = dataset(answers=True).scenario("6k").questions()
    assert isinstance(first, Task)
    assert (first.query, first.question) == (SINGLE[0][0], f"{SINGLE[0][0]}\n{RULE}")
    assert dataset().digest == dataset(answers=True).digest


def test_the_newest_fact_is_the_evidence_and_older_ones_are_stale() -> None:
    found = key("sh-6k:0")
    assert (found.newest, found.stale, found.relevant_turns) == ("s002:t01", ("s001:t01",), ("s002:t01",))
    assert (found.right.text, found.traps) == ("Petra Lund", ("Odo Brand",))
    assert keys_of(dataset())["sh-6k:0"].evidence == ("s002",)


def test_the_newest_fact_counts_even_where_the_released_answer_is_an_older_one() -> None:
    found = key("sh-6k:2")
    assert (found.newest, found.stale, found.right.text) == ("s002:t02", ("s001:t03",), "Ines Holt")


def test_categories_say_what_a_question_can_show() -> None:
    items = keys_of(dataset())
    assert {name: item.category for name, item in items.items()} == {
        "sh-6k:0": "updated",
        "sh-6k:1": "unchanged",
        "sh-6k:2": "updated",
        "sh-6k:3": "unchanged",
        "mh-6k:0": "multi-hop",
    }
    assert {item.cluster for item in items.values()} == set(items)
    assert {item.slices["facts"] for item in items.values()} == {"6k"}


def test_retrieval_asks_only_what_matches_a_fact() -> None:
    benchmark, items = FactConsolidationBenchmark(), tuple(dataset().answer_keys())
    assert [item.item_id for item in benchmark.asked(items, "retrieval")] == ["sh-6k:0", "sh-6k:1", "sh-6k:2"]
    assert benchmark.asked(items, "answers") == items
    assert benchmark.sampled(items, "6k") == benchmark.sampled(items, "full") == items
    assert benchmark.sampled(items, "32k") == ()
    plan = benchmark.plan(benchmark.asked(items, "retrieval"), "retrieval")
    assert {each.name: each.weight for each in plan} == {"updated": 1, "unchanged": 0}


def test_no_key_and_no_name_of_the_source_reaches_a_system() -> None:
    scenario = dataset().scenario("6k")
    received = json.dumps([session.data() for session in scenario.sessions()])
    assert not [hidden for hidden in ("sh-6k", "factconsolidation", "updated", "never") if hidden in received]


def erratum(corrected: str | None, kind: ErratumKind = ErratumKind.WRONG_ANSWER) -> Erratum:
    return Erratum(id="sh-6k:2", kind=kind, action=ErratumAction.REPLACE, corrected=corrected, note="Replaced.")


def test_an_erratum_names_the_right_fact_by_its_number() -> None:
    item = keys_of(dataset())["sh-6k:2"]
    better = dataset().corrected(item, erratum("11")).key_as(FactConsolidationKey, "a test")
    assert (better.right.text, better.traps, better.newest) == ("Odo Brand", ("Ines Holt",), "s002:t02")


@pytest.mark.parametrize(
    "wrong",
    [*map(erratum, ("5", "99", "9" * 5000, "-1", None)), erratum("11", ErratumKind.WRONG_EVIDENCE)],
)
def test_an_erratum_without_a_fact_about_the_same_thing_is_refused(wrong: Erratum) -> None:
    with pytest.raises(BadInput, match="the erratum of 'sh-6k:2' names no fact about the same thing"):
        dataset().corrected(keys_of(dataset())["sh-6k:2"], wrong)


def test_scenarios_are_opened_once() -> None:
    made: FactConsolidationDataset = dataset()
    assert made.scenario("6k") is made.scenario("6k")
    assert [*made.scenario_ids()] == [scenario.scenario_id for scenario in made.scenarios()]
    with pytest.raises(KeyError):
        made.scenario("7k")
