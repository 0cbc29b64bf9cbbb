"""Histories of a given length: the same lives and questions, with more or less between them."""

from __future__ import annotations

from datetime import date, datetime
from itertools import pairwise

import pytest

from memeval.benchmarks.beliefs import BeliefsBenchmark
from memeval.benchmarks.beliefs.checks import check_key, states
from memeval.benchmarks.beliefs.history import Made
from memeval.benchmarks.beliefs.long import EACH, SIZES, filler
from memeval.benchmarks.beliefs.long.filler import Filler
from memeval.benchmarks.beliefs.long.history import LongHistory
from memeval.benchmarks.beliefs.long.lives import lives
from memeval.benchmarks.beliefs.long.source import LongBeliefs
from memeval.benchmarks.beliefs.long.survey import histories
from memeval.benchmarks.beliefs.long.vocabulary import WORDS
from memeval.benchmarks.beliefs.vocabulary import BY_ID
from memeval.benchmarks.session import BenchmarkSession
from memeval.keys import ItemKey
from memeval.records.errors import BadInput
from memeval.records.scenario import Ask, Ingest, Scenario
from memeval.tokens import count_tokens

BENCHMARK = BeliefsBenchmark()

FILLERS = {"10k": (44,) * 10, "100k": (880,) * 10, "1m": (9_200,) * 10, "10m": (91_765,)}
"""About as many sessions as fill the histories of each tier."""


def of(tier: str) -> tuple[LongHistory, ...]:
    """The histories of a tier, about as long as they are."""
    return histories(LongBeliefs(42, tier), FILLERS[tier])


def found(history: LongHistory, key: ItemKey) -> list[tuple[str, list[str]]]:
    """What a key rests on: when it was said, and what."""
    sessions = [history.session(name) for name in key.evidence or ()]
    return [(each.date, [turn.content for turn in each.turns]) for each in sessions]


@pytest.fixture(scope="module")
def small() -> tuple[LongHistory, ...]:
    """The histories of the smallest tier."""
    return of("10k")


def test_questions_keys_and_what_they_rest_on_are_the_same_at_every_size() -> None:
    seen = []
    for tier in SIZES:
        asked = {}
        for history in of(tier):
            questions = {ask.question_id: ask for ask in history.questions()}
            for key in history.keys():  # noqa: SIM118 - no dictionary
                plain = key.model_copy(update={"scenario_id": "", "evidence": ()})
                asked[key.item_id] = (plain, questions[key.question_ids[0]], found(history, key))
        seen.append(asked)
    assert len(seen[0]) == 100
    assert seen[0] == seen[1] == seen[2] == seen[3]


def test_every_key_is_right_about_the_whole_of_its_history() -> None:
    for history in histories(LongBeliefs(7, "10k"), FILLERS["10k"]):
        held = tuple(history)
        taken = tuple(step for step in held if isinstance(step, Ingest))
        asks = {step.question_id: step for step in held if isinstance(step, Ask)}
        for key in history.keys():  # noqa: SIM118 - no dictionary
            scenario = Scenario(scenario_id=key.scenario_id, steps=(*taken, asks[key.question_ids[0]]))
            check_key(Made(scenario, key))


def test_questions_name_people_in_full_and_are_asked_after_all_that_is_said(small: tuple[LongHistory, ...]) -> None:
    names = {life.life.person.name for life in lives(42)}
    assert len(names) == 10
    for history in (*small, *of("10m")):
        *_, last = (session.date for session in (history[history.sessions - 1].session,))  # type: ignore[union-attr]
        for ask, key in zip(history.questions(), history.keys(), strict=True):
            assert sum(name in ask.question for name in names) == 1
            past = key.slices.get("asked") == "explicit-date"
            assert past or date.fromisoformat(ask.timestamp or "") > datetime.fromisoformat(last).date()


@pytest.mark.parametrize("tier", list(SIZES))
def test_sessions_come_in_order_of_time_and_those_that_matter_stand_all_over(tier: str) -> None:
    for history in of(tier)[:2]:
        assert all(before < after for before, after in pairwise(history.times()))
        places = sorted(int(name[1:]) for key in history.keys() for name in key.evidence or ())  # noqa: SIM118
        shares = [place / history.sessions for place in places]
        assert shares[0] < 0.2 and shares[-1] > 0.7
        assert all(later - earlier < 0.25 for earlier, later in pairwise(shares))


def test_any_session_is_what_it_is_on_the_way_through(small: tuple[LongHistory, ...]) -> None:
    walked = list(small[0])
    assert len(walked) == len(small[0])
    assert [small[0][place] for place in range(len(small[0]))] == walked == list(small[0][:])
    assert small[0][-1] == walked[-1]
    for step in walked[: small[0].sessions]:
        assert isinstance(step, Ingest)
        assert small[0].session(step.session.session_id) == step.session
    with pytest.raises(IndexError):
        small[0][len(walked)]


def test_a_session_deep_in_a_long_history_is_made_without_those_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    (history,) = of("10m")
    made: list[int] = []
    plain = Filler.session

    def counted(self: Filler, number: int) -> object:
        made.append(number)
        return plain(self, number)

    monkeypatch.setattr(Filler, "session", counted)
    assert history.session("s080000").session_id == "s080000"
    assert len(made) <= 1


@pytest.mark.parametrize("name", ["", "s", "s1", "s000000", "s999999", "x000001", "s00000١", "s-00001", "s000001 "])
def test_a_session_that_is_not_there_is_a_key_error(small: tuple[LongHistory, ...], name: str) -> None:
    with pytest.raises(KeyError):
        small[0].session(name)
    with pytest.raises(KeyError):
        small[0].scenario().turn(f"{name}:t01")


def test_another_seed_has_other_people_and_other_questions() -> None:
    ours, theirs = ({item.ask.question for life in lives(seed) for item in life.items} for seed in (42, 7))
    assert ours.isdisjoint(theirs)


def test_evidence_alone_is_an_ordinary_scenario(small: tuple[LongHistory, ...]) -> None:
    key = next(small[0].keys())
    alone = small[0].scenario().only(frozenset(key.evidence or ()))
    assert not alone.is_streamed
    assert [session.session_id for session in alone.sessions()] == list(key.evidence or ())
    assert alone.questions() == small[0].questions()
    assert small[0].scenario().only(frozenset()).steps == small[0].questions()


def test_a_session_of_a_number_is_the_same_in_a_history_of_any_size(small: tuple[LongHistory, ...]) -> None:
    def said(history: LongHistory) -> list[list[str]]:
        named = {name for key in history.keys() for name in key.evidence or ()}  # noqa: SIM118 - no dictionary
        steps = (step for step in history[:120] if isinstance(step, Ingest))
        return [[t.content for t in step.session.turns] for step in steps if step.session.session_id not in named]

    smaller, larger = said(small[0]), said(of("100k")[0])
    assert sum(one in larger for one in smaller) >= 40


def test_what_fills_a_history_varies_and_speaks_of_what_is_asked_about() -> None:
    life = lives(42)[0]
    talk = [" ".join(line.text for line in Filler(42, "01", (life,)).session(number)[1]) for number in range(200)]
    assert len(set(talk)) == len(talk)
    assert len({word for text in talk for word in text.split()}) > 1_500
    wrong = {phrase.lower() for item in life.items for fact in item.wrong for phrase in fact.phrases}
    named = [text for text in talk if any(phrase in text.lower() for phrase in wrong)]
    assert len(named) >= 5, "others have the values that keys name as wrong"


def test_no_word_of_the_details_is_a_value_of_any_topic() -> None:
    pools = (
        WORDS.details,
        WORDS.remarks,
        WORDS.adjectives,
        WORDS.nouns,
        WORDS.spots,
        WORDS.days,
        WORDS.numbers,
        *filler.KINS.values(),
    )
    words = "\n".join(word for pool in pools for word in pool)
    phrases = {phrase for topic in BY_ID.values() for value in topic.values for phrase in value.phrases}
    assert not states(phrases, words)
    ends = (*WORDS.last, *WORDS.places)
    names = {f"{a}{b}{c}".lower() for a in WORDS.first for b in WORDS.middle for c in ends}
    assert names.isdisjoint(phrase.lower() for phrase in phrases)


def test_a_tier_has_a_hundred_items_of_five_categories_that_count_the_same() -> None:
    benchmark_session = BenchmarkSession.open(BENCHMARK, tier="10k")
    plan = BENCHMARK.plan(benchmark_session.keys, benchmark_session.protocol, benchmark_session.tier)
    assert [(line.items, line.weight, line.shared) for line in plan] == [(EACH, 0.2, True)] * 5
    assert "delta-efficiency" not in benchmark_session.graders
    assert dict(benchmark_session.dataset.parameters) == {"seed": 42}
    assert {tier.name: tier.items for tier in BENCHMARK.info.tiers if tier.name in SIZES} == dict.fromkeys(SIZES, 100)


def test_what_the_source_calls_a_session_is_known_without_making_it(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = BenchmarkSession.open(BENCHMARK, tier="10k").dataset
    first = next(dataset.scenarios())
    walked = {step.source_id: step.session.session_id for step in first.steps if isinstance(step, Ingest)}
    monkeypatch.setattr(LongHistory, "_step", None)
    assert dataset.ordinals(first.scenario_id) == walked
    with pytest.raises(KeyError):
        dataset.ordinals("nobody's")


def test_every_history_of_the_smallest_tier_is_within_a_hundredth_of_its_size() -> None:
    benchmark_session = BenchmarkSession.open(BENCHMARK, tier="10k")
    for scenario in benchmark_session.dataset.scenarios():
        tokens = sum(count_tokens(turn.content) for each in scenario.each_session() for turn in each.turns)
        assert abs(tokens - SIZES["10k"]) <= SIZES["10k"] / 100


@pytest.mark.parametrize(
    ("parameters", "protocol", "words"),
    [
        ({"size": 100}, None, "no parameter 'size' in the tier '10k'"),
        ({"seed": -1}, None, "0 or more"),
        ({"seed": "x"}, None, "whole number"),
        ({"sead": 1}, None, "no parameter 'sead'"),
        (None, "shared", "no tier '10k' under the protocol 'shared'"),
    ],
)
def test_what_a_tier_cannot_be_opened_with_is_refused(
    parameters: dict[str, str | int] | None, protocol: str | None, words: str
) -> None:
    with pytest.raises(BadInput, match=words):
        BenchmarkSession.open(BENCHMARK, parameters=parameters, protocol=protocol, tier="10k")


def test_a_tier_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(BadInput, match="no tier '5k'") as refused:
        BenchmarkSession.open(BENCHMARK, tier="5k")
    assert "10k, 100k, 1m, 10m" in str(refused.value)
