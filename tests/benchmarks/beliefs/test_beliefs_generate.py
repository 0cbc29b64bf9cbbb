"""What every generation holds to, whatever its seed and size."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter, defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memeval.benchmarks.beliefs.checks import BrokenRule, check, states, text_of
from memeval.benchmarks.beliefs.generate import generate
from memeval.benchmarks.beliefs.history import Made
from memeval.benchmarks.beliefs.plan import WEIGHTS, counts, people
from memeval.benchmarks.beliefs.streams import deck, shares, stream
from memeval.keys import BeliefKey, CascadeKey, DeltaKey, Fact, NoiseKey, Stance, TemporalKey, UncertaintyKey
from memeval.records.scenario import Ingest


def default() -> tuple[Made, ...]:
    """The generation that a run takes unless told otherwise; made where it is first asked for, as it takes a while."""
    return generate(42, 500)


def of(category: str) -> list[Made]:
    """The default generation's items of one category."""
    return [item for item in default() if item.key.category == category]


def sliced(category: str, name: str) -> Counter[str]:
    """How many items of a category each value of a slice has."""
    return Counter(item.key.slices[name] for item in of(category))


def with_key(item: Made, **change: object) -> Made:
    """The item with another key."""
    key = item.key.key.model_copy(update=change)
    return Made(item.scenario, item.key.model_copy(update={"key": key}))


@given(seed=st.integers(0, 10**9), size=st.integers(1, 45))
@settings(max_examples=10)
def test_any_seed_and_size_gives_items_that_pass_all_checks(seed: int, size: int) -> None:
    items = generate.__wrapped__(seed, size)
    assert len(items) == size


@pytest.mark.parametrize("seed", [0, 7])
def test_other_seeds_pass_all_checks_at_full_size(seed: int) -> None:
    assert len(generate.__wrapped__(seed, 500)) == 500


def test_the_default_has_the_counts_of_the_table() -> None:
    found = Counter(item.key.category for item in default())
    assert found == {name: items for name, (items, _) in WEIGHTS.items()}


@given(st.integers(1, 5000))
def test_sizes_are_shared_out_by_largest_remainder(size: int) -> None:
    found = counts(size)
    assert sum(found.values()) == size
    assert all(abs(found[name] - size * items / 500) < 1 for name, (items, _) in WEIGHTS.items())


def test_half_of_the_items_in_doubt_are_control_twins() -> None:
    for category in ("cascade-propagation", "uncertainty-abstention"):
        assert sliced(category, "twin") == {"changed": 40, "reconfirmed": 20, "unchanged": 20}
        assert set(sliced(category, "depth")) == {"1", "2", "3"}
        for item in of(category):
            assert isinstance(item.key.key, CascadeKey | UncertaintyKey)
            assert (item.key.key.stance is Stance.DOUBT) == (item.key.slices["twin"] == "changed")


def test_every_kind_of_announcement_depth_and_question_occurs() -> None:
    assert set(sliced("belief-update", "announced")) == {"direct", "indirect", "retracted", "hypothetical"}
    assert set(sliced("belief-update", "depth")) == {"2", "3", "4", "5"}
    assert set(sliced("temporal-belief", "asked")) == {"explicit-date", "before", "after", "when", "current"}
    assert sliced("noise-resistance", "noise") == {"light": 40, "heavy": 40}
    assert sliced("noise-resistance", "position") == {"early": 40, "late": 40}
    for category in WEIGHTS:
        assert set(sliced(category, "difficulty")) == {"easy", "medium", "hard"}


def test_the_position_of_a_signal_is_where_its_slice_says() -> None:
    for item in of("noise-resistance"):
        sessions = [session.session_id for session in item.scenario.sessions()]
        (signal,) = item.key.evidence or ()
        place = sessions.index(signal) / len(sessions)
        assert (place < 0.4) if item.key.slices["position"] == "early" else (place > 0.6)


def test_other_people_give_their_own_answers_before_and_after_the_signal() -> None:
    for item in of("noise-resistance"):
        assert isinstance(item.key.key, NoiseKey)
        (signal,) = item.key.evidence or ()
        told = {
            session.session_id < signal
            for session in item.scenario.sessions()
            for turn in session.turns
            for fact in item.key.key.distractors
            if states(fact.phrases, turn.content)
        }
        assert told == {True, False}


def test_the_last_value_that_is_mentioned_is_often_not_the_current_one() -> None:
    wrong = 0
    for item in of("belief-update"):
        assert isinstance(item.key.key, BeliefKey)
        last: Fact | None = None
        for session in item.scenario.sessions():
            for turn in session.turns:
                for fact in (*item.key.key.stale, item.key.key.current):
                    if states(fact.phrases, turn.content):
                        last = fact
        wrong += last is not item.key.key.current
    assert wrong >= 30


def test_the_asked_time_of_an_explicit_date_is_the_middle_of_a_month() -> None:
    for item in of("temporal-belief"):
        (ask,) = item.scenario.questions()
        last = item.scenario.sessions()[-1].date
        if item.key.slices["asked"] == "explicit-date":
            assert (ask.timestamp or "").endswith("-15")
        else:
            assert (ask.timestamp or "") > last


def test_a_value_named_in_a_question_is_not_held_against_the_answer() -> None:
    for item in of("temporal-belief"):
        assert isinstance(item.key.key, TemporalKey)
        (ask,) = item.scenario.questions()
        for other in item.key.key.others:
            assert not states(other.phrases, ask.question)


def test_news_is_told_between_questions_and_only_after_the_fifth() -> None:
    for item in of("delta-efficiency"):
        assert isinstance(item.key.key, DeltaKey)
        assert item.scenario.agent_keeps_context
        asked = news = 0
        for step in item.scenario.steps:
            if not isinstance(step, Ingest):
                asked += 1
            elif asked:
                assert 5 <= asked < 20
                news += 1
        assert asked == 20
        assert news == int(item.key.slices["news"]) >= 2


def test_an_updated_fact_replaces_the_old_one_in_later_questions() -> None:
    replaced = 0
    for item in of("delta-efficiency"):
        assert isinstance(item.key.key, DeltaKey)
        first, last = item.key.key.facts_by_turn[0], item.key.key.facts_by_turn[-1]
        early = {fact.text for fact in first}
        replaced += any(fact.text not in early for fact in last)
    assert replaced > 0


def test_items_of_one_person_share_a_cluster_and_there_are_many_people() -> None:
    per_person = Counter(item.key.cluster for item in default())
    assert 50 <= len(per_person) <= 60
    assert max(per_person.values()) <= 12


def test_the_person_is_named_in_every_question_and_in_the_talk() -> None:
    for item in default():
        first = item.scenario.sessions()[0].turns[0].speaker or ""
        name = first.split()[0]
        assert all(name in ask.question for ask in item.scenario.questions())
        assert states((name,), text_of(item.scenario))


def test_hardly_any_turn_of_a_user_is_repeated_over_histories() -> None:
    heard: dict[str, set[str]] = defaultdict(set)
    for item in default():
        for session in item.scenario.sessions():
            for turn in session.turns:
                if turn.role == "user":
                    heard[turn.content].add(item.scenario.scenario_id)
    shares_heard = sorted(len(where) / len(default()) for where in heard.values())
    assert shares_heard[-1] < 0.2
    assert sum(1 for share in shares_heard if share <= 0.01) / len(shares_heard) > 0.75


def test_no_template_slot_is_left_open_and_every_turn_says_something() -> None:
    for item in default():
        for session in item.scenario.sessions():
            assert 4 <= len(session.turns) <= 10
            for turn in session.turns:
                assert "{" not in turn.content
                assert turn.content.strip()
                assert turn.content[0].isupper() or turn.content[0].isdigit()


def test_the_corpus_stays_small() -> None:
    assert sum(len(item.scenario.to_json().encode()) for item in default()) < 6_500_000


def test_ids_that_systems_see_say_nothing_of_the_category() -> None:
    for item in default():
        for session in item.scenario.sessions():
            assert session.session_id[0] == "s"
            assert session.session_id[1:].isdigit()
            expected = [f"{session.session_id}:t{i:02d}" for i in range(1, len(session.turns) + 1)]
            assert [turn.turn_id for turn in session.turns] == expected


def test_two_processes_with_different_hash_seeds_generate_equal_bytes() -> None:
    code = (
        "from memeval.benchmarks.beliefs import BeliefsBenchmark;"
        "print(BeliefsBenchmark().open(parameters={'seed': 5, 'size': 60}).digest)"
    )
    digests = set()
    for hash_seed in ("0", "1", "4242"):
        env = {**os.environ, "PYTHONHASHSEED": hash_seed}
        done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
        digests.add(done.stdout)
    assert len(digests) == 1


def test_a_gold_that_is_also_stale_is_refused() -> None:
    (item,) = generate(3, 1)
    assert isinstance(item.key.key, BeliefKey)
    with pytest.raises(BrokenRule, match="overlap"):
        check([with_key(item, stale=(item.key.key.current,))], 1)


def test_a_gold_that_nobody_said_is_refused() -> None:
    (item,) = generate(3, 1)
    with pytest.raises(BrokenRule, match="derived"):
        check([with_key(item, current=Fact(text="?", phrases=("quicksilver",)))], 1)


def test_a_question_that_says_its_answer_is_refused() -> None:
    (item,) = generate(3, 1)
    assert isinstance(item.key.key, BeliefKey)
    ask = item.scenario.questions()[0]
    told = ask.model_copy(update={"question": f"Is it {item.key.key.current.phrases[0]}?"})
    steps = (*item.scenario.steps[:-1], told)
    with pytest.raises(BrokenRule, match="says the answer"):
        check([Made(item.scenario.model_copy(update={"steps": steps}), item.key)], 1)


def test_inverted_dates_are_refused() -> None:
    (item,) = generate(3, 1)
    first, second, *rest = item.scenario.steps
    scenario = item.scenario.model_copy(update={"steps": (second, first, *rest)})
    with pytest.raises(BrokenRule, match="inverted"):
        check([Made(scenario, item.key)], 1)


def test_a_clone_is_refused() -> None:
    items = generate(3, 2)
    with pytest.raises(BrokenRule):
        check([items[0], items[0]], 2)


def test_full_names_are_unique_in_the_largest_cast() -> None:
    cast = people(1, 600)
    assert len({person.name for person in cast}) == len({person.slug for person in cast}) == 600


def test_a_deck_deals_exact_shares() -> None:
    dealt = deck(stream("test"), 10, {"a": 1, "b": 1, "c": 2})
    assert Counter(dealt) == dict(zip("abc", shares(10, [1, 1, 2]), strict=True))
