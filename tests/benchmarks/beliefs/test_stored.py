"""One life told from beginning to end, and the key of what should be kept of it."""

from __future__ import annotations

import pytest

from memeval.benchmarks.beliefs import BeliefsBenchmark
from memeval.benchmarks.beliefs.checks import states, text_of
from memeval.benchmarks.beliefs.plan import plan
from memeval.benchmarks.beliefs.stored import CATEGORY, stored
from memeval.benchmarks.beliefs.timeline import Act, DependentStatus
from memeval.benchmarks.beliefs.world import Life, live
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.readers import choose_reader
from memeval.grading.stored import claimed, measures
from memeval.keys import ItemKey, StoreKey
from memeval.reading import Reader
from memeval.records.errors import NotApplicable
from memeval.records.scenario import Export, Scenario

SEED, SIZE = 7, 60

GOLDEN = "sha256:a1d501372da3fadbbdcae2edf13db27d7cde7a8f100c163c346a191b1b620ac4"
"""Golden: our own generator at seed 7 and size 60."""

Told = tuple[Life, Scenario, StoreKey]


def key_of(item: ItemKey) -> StoreKey:
    assert isinstance(item.key, StoreKey)
    return item.key


@pytest.fixture(scope="module")
def lives() -> list[Told]:
    scenarios, keys = stored(SEED, SIZE)
    people = [live(SEED, cast) for cast in plan(SEED, SIZE)]
    return [(life, each, key_of(key)) for life, each, key in zip(people, scenarios, keys, strict=True)]


def benchmark_session() -> BenchmarkSession:
    return BenchmarkSession.open(BeliefsBenchmark(), None, {"seed": SEED, "size": SIZE}, protocol="stored")


def test_the_data_is_what_it_was() -> None:
    assert benchmark_session().dataset.digest == GOLDEN
    stored.cache_clear()
    assert benchmark_session().dataset.digest == GOLDEN


def test_a_life_is_told_whole_and_then_the_store_is_looked_at(lives: list[Told]) -> None:
    for life, scenario, _ in lives:
        days = [session.date for session in scenario.sessions()]
        assert days == sorted(set(days))
        assert {event.on.isoformat() for event in life.timeline.events} <= set(days)
        (export,) = scenario.questions()
        assert isinstance(export, Export) and scenario.steps[-1] is export and (export.timestamp or "") > days[-1]


def test_the_key_follows_from_the_timeline(lives: list[Told]) -> None:
    opened = 0
    for life, scenario, key in lives[:3]:
        said = text_of(scenario)
        own = {event.topic for event in life.timeline.events if event.about is None}
        assert [subject.topic for subject in key.subjects] == sorted(own)
        for subject in key.subjects:
            states_of = life.timeline.states(subject.topic)
            if life.timeline.standing(subject.topic) is DependentStatus.UNREVISITED:
                assert subject.current is None
                opened += 1
            else:
                assert subject.current is not None and subject.current.phrases == states_of[-1].value.phrases
            gone = [event.value.phrases for event in life.timeline.taken_back(subject.topic)]
            assert [fact.phrases for fact in subject.stale] == gone + [s.value.phrases for s in states_of[:-1]]
            assert not any(states(fact.phrases, said) for fact in subject.never)
    assert opened


def test_daydreams_and_other_peoples_facts_are_in_no_key(lives: list[Told]) -> None:
    left_out = 0
    for life, _, key in lives:
        known = {fact.phrases for fact in (*key.current, *key.stale, *key.never)}
        for event in life.timeline.events:
            if event.act is Act.MUSE or event.about is not None:
                assert event.value.phrases not in known
                left_out += 1
    assert left_out


def test_a_store_of_every_word_misses_and_invents_nothing_and_is_as_stale_as_can_be(lives: list[Told]) -> None:
    for _, scenario, key in lives:
        turns = [turn.content for session in scenario.sessions() for turn in session.turns]
        whole = ["\n".join(turns)]
        for store in (turns, whole):
            found = measures(key, claimed(key, store))
            assert (found["missing"], found["stale"], found["invented"]) == (0.0, 1.0, 0.0)
        assert found["duplicate"] == 0.0


def test_the_facts_that_hold_are_a_perfect_store(lives: list[Told]) -> None:
    for _, _, key in lives:
        found = measures(key, claimed(key, [fact.text for fact in key.current]))
        assert found == {"stored_f1": 1.0, "missing": 0.0, "stale": 0.0, "duplicate": 0.0, "invented": 0.0}


def test_the_plan_is_one_category_and_a_person_an_item(lives: list[Told]) -> None:
    opened = benchmark_session()
    (line,) = opened.benchmark.plan(opened.keys, "stored")
    assert (line.name, line.items, line.weight, line.grader) == (CATEGORY, len(lives), 1.0, "stored-facts@1")
    assert len({key.cluster for key in opened.keys}) == len(lives)


def no_model(name: str) -> Reader:
    raise AssertionError(f"nobody asked for {name}")


def test_a_system_that_cannot_show_its_store_is_not_asked() -> None:
    protocol = benchmark_session().protocol_info
    assert choose_reader(None, ["search", "export_memories"], "acme", no_model, protocol) is None
    with pytest.raises(NotApplicable, match="no 'export_memories', which the protocol 'stored' needs"):
        choose_reader(None, ["query", "search"], "acme", no_model, protocol)
