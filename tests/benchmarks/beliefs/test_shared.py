"""Everyone's history in one memory: the same questions, and keys that stay right in company."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest

from memeval.benchmarks.beliefs import BeliefsBenchmark
from memeval.benchmarks.beliefs.checks import BrokenRule, states, text_of
from memeval.benchmarks.beliefs.generate import generate
from memeval.benchmarks.beliefs.history import Made
from memeval.benchmarks.beliefs.plan import counts
from memeval.benchmarks.beliefs.shared import SCENARIO, check_company, shared
from memeval.benchmarks.session import BenchmarkSession
from memeval.keys import BeliefKey, ItemKey, NoiseKey
from memeval.records.run import View
from memeval.records.scenario import Ingest, Question, Scenario

SEED, SIZE = 7, 60
BENCHMARK = BeliefsBenchmark()

GOLDEN = "sha256:4236e06d644b89f85d93e929eb64fd094f4269eb1bbf3c285393e608b428e08b"
"""Golden: our own generator at seed 7 and size 60."""


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return shared(SEED, SIZE)[0][0]


@pytest.fixture(scope="module")
def keys() -> dict[str, ItemKey]:
    return {key.item_id: key for key in shared(SEED, SIZE)[1]}


@pytest.fixture(scope="module")
def alone() -> dict[str, Made]:
    return {item.key.item_id: item for item in generate(SEED, SIZE)}


def benchmark_session(protocol: str = "shared") -> BenchmarkSession:
    return BenchmarkSession.open(BENCHMARK, None, {"seed": SEED, "size": SIZE}, protocol=protocol)


def test_the_data_is_what_it_was() -> None:
    assert benchmark_session().dataset.digest == GOLDEN
    shared.cache_clear()
    assert benchmark_session().dataset.digest == GOLDEN


def test_every_item_but_those_of_delta_efficiency_is_asked_in_one_scenario(
    scenario: Scenario, keys: dict[str, ItemKey]
) -> None:
    assert Counter(key.category for key in keys.values()) == {
        name: count for name, count in counts(SIZE).items() if name != "delta-efficiency"
    }
    assert {key.scenario_id for key in keys.values()} == {scenario.scenario_id} == {SCENARIO}
    asked = [question.question_id for question in scenario.questions()]
    assert sorted(asked) == sorted(question for key in keys.values() for question in key.question_ids)


def test_questions_keys_and_words_are_those_of_the_separate_memories(
    scenario: Scenario, keys: dict[str, ItemKey], alone: dict[str, Made]
) -> None:
    asked = {question.question_id: question for question in scenario.questions()}
    for name, key in keys.items():
        (question,) = alone[name].scenario.questions()
        assert asked[question.question_id] == question
        assert key.key == alone[name].key.key and key.slices == alone[name].key.slices
        told = text_of(alone[name].scenario.only(frozenset(alone[name].key.evidence or ())))
        assert told and text_of(scenario.only(frozenset(key.evidence or ()))) == told


def test_time_runs_forward_and_ids_are_ordinals(scenario: Scenario) -> None:
    sessions = scenario.sessions()
    assert [session.session_id for session in sessions] == [f"s{i:03d}" for i in range(1, len(sessions) + 1)]
    assert all(a.date <= b.date for a, b in pairwise(sessions))
    assert all(turn.turn_id.startswith(f"{s.session_id}:t") for s in sessions for turn in s.turns)
    sources = [step.source_id for step in scenario.steps if isinstance(step, Ingest)]
    assert len(set(sources)) == len(sources)


def test_a_question_comes_soon_after_what_it_needs_and_never_before(
    scenario: Scenario, keys: dict[str, ItemKey], alone: dict[str, Made]
) -> None:
    of_question = {key.question_ids[0]: key for key in keys.values()}
    today = ""
    seen: set[str] = set()
    for step in scenario.steps:
        if isinstance(step, Question):
            key = of_question[step.question_id]
            assert set(key.evidence or ()) <= seen
            last = alone[key.item_id].scenario.sessions()[-1].date
            assert last <= today
            assert (step.timestamp or "") >= today or key.slices["asked"] == "explicit-date"
        elif isinstance(step, Ingest):
            seen.add(step.session.session_id)
            today = step.session.date


def test_questions_stand_between_the_sessions(scenario: Scenario) -> None:
    kinds = ["ask" if isinstance(step, Question) else "told" for step in scenario.steps]
    assert sum(a != b for a, b in pairwise(kinds)) > len(scenario.questions())


def test_an_event_is_told_once(scenario: Scenario, alone: dict[str, Made]) -> None:
    told = Counter((item.key.cluster, each.on) for item in alone.values() for each in item.drafts if each.event)
    assert max(told.values()) > 1, "several items tell the same event, or nothing is shown here"
    items = [item for item in alone.values() if item.key.category != "delta-efficiency"]
    events = {(item.key.cluster, each.event) for item in items for each in item.drafts if each.event}
    chatter = sum(each.event is None for item in items for each in item.drafts)
    assert len(scenario.sessions()) == len(events) + chatter


def test_nobody_else_of_the_same_name_says_what_is_asked(scenario: Scenario, keys: dict[str, ItemKey]) -> None:
    of_speaker: dict[str, list[str]] = {}
    for session in scenario.sessions():
        speaker = next(turn.speaker or "" for turn in session.turns if turn.role == "user")
        of_speaker.setdefault(speaker, []).append(session.session_id)
    for key in keys.values():
        gold = (
            key.key.current
            if isinstance(key.key, BeliefKey)
            else key.key.reference
            if isinstance(key.key, NoiseKey)
            else None
        )
        if gold is None:
            continue
        (speaker,) = (name for name in of_speaker if name.lower().replace(" ", "-") == key.cluster)
        others = frozenset(of_speaker[speaker]) - frozenset(key.evidence or ())
        assert not states(gold.phrases, text_of(scenario.only(others))), key.item_id


def test_first_names_that_two_people_share_are_spelt_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memeval.benchmarks.beliefs.plan.SHE", ("Amina", "Freya", "Keiko"))
    monkeypatch.setattr("memeval.benchmarks.beliefs.plan.HE", ("Emeka",))
    (scenario,), keys = shared(271828, 54)
    names = {next(t.speaker or "" for t in s.turns if t.role == "user") for s in scenario.sessions()}
    firsts = Counter(name.partition(" ")[0] for name in names)
    twice = {first for first, times in firsts.items() if times > 1}
    assert twice, "nobody shares a first name, and nothing is shown here"
    person = {key.question_ids[0]: key.cluster for key in keys}
    spelt = 0
    for question in scenario.questions():
        (name,) = (name for name in names if name.lower().replace(" ", "-") == person[question.question_id])
        first = name.partition(" ")[0]
        assert first in question.question
        if first in twice:
            assert name in question.question
            spelt += 1
    assert spelt


def test_a_memory_in_which_one_item_gives_away_another_is_refused(alone: dict[str, Made]) -> None:
    items = [item for item in alone.values() if isinstance(item.key.key, BeliefKey)]
    check_company(items)
    one = items[0]
    other = next(item for item in items if item.key.cluster != one.key.cluster)
    meddling = replace(other, key=other.key.model_copy(update={"cluster": one.key.cluster, "item_id": "x"}))
    telling = replace(meddling, scenario=one.scenario, drafts=tuple(replace(draft, event=None) for draft in one.drafts))
    with pytest.raises(BrokenRule, match="is said in another item"):
        check_company([one, telling])
    moved = (draft.event and replace(draft.event, on=draft.event.on + timedelta(days=1)) for draft in one.drafts)
    later = tuple(replace(draft, event=event) for draft, event in zip(one.drafts, moved, strict=True))
    with pytest.raises(BrokenRule, match="says more about its topic"):
        check_company([one, replace(telling, drafts=later)])
    stranger = replace(one, key=one.key.model_copy(update={"cluster": "somebody-else"}))
    with pytest.raises(BrokenRule, match="share a name"):
        check_company([one, stranger])


def test_the_weights_are_shared_out_anew() -> None:
    opened = benchmark_session()
    plan = opened.benchmark.plan(opened.keys, "shared")
    assert [line.name for line in plan] == [name for name in counts(SIZE) if name != "delta-efficiency"]
    assert sum(line.weight for line in plan) == pytest.approx(1)
    assert [line.weight for line in plan] == pytest.approx([0.25 / 0.9, 0.15 / 0.9, 0.2 / 0.9, 0.15 / 0.9, 0.15 / 0.9])


def test_the_evidence_control_is_shown_an_items_own_sessions() -> None:
    opened = benchmark_session()
    work = opened.works(opened.keys[:1], View.EVIDENCE, {})[0]
    assert [session.session_id for session in work.scenario.sessions()] == list(opened.keys[0].evidence or ())


@pytest.mark.parametrize("size", [1, 9])
def test_small_generations_can_be_shared(size: int) -> None:
    (scenario,), keys = shared(SEED, size)
    assert len(scenario.questions()) == len(keys) == sum(counts(size).values()) - counts(size)["delta-efficiency"]
