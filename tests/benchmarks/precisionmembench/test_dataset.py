"""What systems see of the files, and what they never see."""

from __future__ import annotations

from memeval.benchmarks.precisionmembench.dataset import SEARCHES, TURNS
from memeval.benchmarks.precisionmembench.keys import BeliefSearchKey
from memeval.records.scenario import Recall, Retain, Step
from tests.benchmarks.precisionmembench.made import dataset, items


def key(name: str) -> BeliefSearchKey:
    found = items()[name].key
    assert isinstance(found, BeliefSearchKey)
    return found


def steps(scenario_id: str) -> tuple[Step, ...]:
    return tuple(dataset().scenario(scenario_id).steps)


def test_a_text_goes_to_the_bank_of_its_user_with_its_scope_and_an_ordinal() -> None:
    secret = steps(SEARCHES)[7]
    assert isinstance(secret, Retain)
    assert (secret.text_id, secret.bank, secret.tags) == ("s008", "other-user", ("garden",))
    assert secret.content == "secret Ida cares for secret."


def test_a_search_names_its_user_its_first_scope_and_its_budget() -> None:
    found = {step.question_id: step for step in steps(SEARCHES) if isinstance(step, Recall)}
    both, small, new = found["find-both"], found["small-budget"], found["new-user"]
    assert (both.bank, both.tags, both.k) == ("test-user", ("garden",), 20)
    assert (small.k, new.bank) == (1, "new-user")


def test_what_the_authors_code_does_not_send_is_neither_asked_nor_planned() -> None:
    asked = {step.question_id for step in steps(SEARCHES) if isinstance(step, Recall)}
    planned = {name for name, each in items().items() if each.scenario_id == SEARCHES}
    assert asked == planned
    assert asked.isdisjoint({"blank", "no-budget"})


def test_the_store_of_the_conversations_changes_after_two_turns() -> None:
    names = [each.text_id if isinstance(each, Retain) else "search" for each in steps(TURNS)[8:]]
    assert names == ["search", "s009", "search", "s010", "search"]
    changed = steps(TURNS)[11]
    assert isinstance(changed, Retain)
    assert changed.content == "roses rosa thorns petals Ida cares for roses. Shapes advice."


def test_a_new_text_of_a_belief_counts_as_the_belief() -> None:
    assert key("talk:1").updated == {}
    assert key("later:0").updated == {"s010": "s001"}
    assert key("later:0").expected == ("s001",)


def test_source_ids_map_to_the_first_text_of_a_belief() -> None:
    named = dataset().ordinals(TURNS)
    assert (named["roses"], named["hedge"]) == ("s001", "s009")
    assert "hedge" not in dataset().ordinals(SEARCHES)


def test_pinned_beliefs_are_those_in_force_and_take_room() -> None:
    assert key("find-roses").pinned == ("s003",)
    assert key("find-roses").room == 19
    assert (key("small-budget").pinned, key("small-budget").room) == (("s003",), 0)
    assert key("new-user").pinned == ()


def test_a_relation_adds_only_what_the_search_may_see() -> None:
    assert key("find-roses").expansions == {"s006": ("s001", "s005")}
    assert key("new-user").expansions == {"s006": ()}


def test_categories_say_what_a_result_is_worth() -> None:
    found = {name: each.category for name, each in items().items()}
    assert found == {
        "find-roses": "match",
        "find-both": "match",
        "find-relation": "match",
        "nothing": "no-match",
        "small-budget": "always-passed",
        "new-user": "always-passed",
        "isolated": "always-passed",
        "talk:0": "conversation",
        "talk:1": "conversation",
        "later:0": "conversation",
    }


def test_an_item_keeps_the_category_of_the_file_as_a_slice() -> None:
    assert items()["isolated"].slices == {"category": "Cross-user isolation"}
    assert items()["find-roses"].evidence == ("s001",)
    assert items()["nothing"].evidence is None
