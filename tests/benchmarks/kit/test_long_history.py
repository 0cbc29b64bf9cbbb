"""Histories of a given length: random access, order of time, and sessions that no size changes."""

from __future__ import annotations

from itertools import pairwise

import pytest

from memeval.benchmarks.beliefs import BeliefsBenchmark
from memeval.benchmarks.beliefs.long.filler import Filler, LongBeliefs
from memeval.benchmarks.beliefs.wording.editions import wording
from memeval.benchmarks.kit.long import SIZES
from memeval.benchmarks.kit.long.history import LongHistory
from memeval.benchmarks.kit.long.survey import histories
from memeval.benchmarks.session import BenchmarkSession
from memeval.records.errors import BadInput
from memeval.records.scenario import Ingest
from memeval.tokens import count_tokens

BENCHMARK = BeliefsBenchmark()

FILLERS = {"10k": (22,) * 10, "100k": (640,) * 10, "1m": (6_830,) * 10, "10m": (68_300,)}
"""About as many sessions as fill the histories of each tier."""


def of(tier: str) -> tuple[LongHistory, ...]:
    """The histories of a tier, about as long as they are."""
    return histories(LongBeliefs(42, tier, "retrieval", wording("full"), searched=True), FILLERS[tier])


@pytest.fixture(scope="module")
def small() -> tuple[LongHistory, ...]:
    """The histories of the smallest tier."""
    return of("10k")


@pytest.mark.parametrize("tier", list(SIZES))
def test_sessions_come_in_order_of_time_and_those_that_matter_stand_all_over(tier: str) -> None:
    for history in of(tier)[:2]:
        assert all(before < after for before, after in pairwise(history.times()))
        places = sorted(int(name[1:]) for key in history.answer_keys() for name in key.evidence or ())
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
    assert history.session("s060000").session_id == "s060000"
    assert len(made) <= 1


@pytest.mark.parametrize("name", ["", "s", "s1", "s000000", "s999999", "x000001", "s00000١", "s-00001", "s000001 "])
def test_a_session_that_is_not_there_is_a_key_error(small: tuple[LongHistory, ...], name: str) -> None:
    with pytest.raises(KeyError):
        small[0].session(name)
    with pytest.raises(KeyError):
        small[0].scenario().turn(f"{name}:t01")


def test_evidence_alone_is_an_ordinary_scenario(small: tuple[LongHistory, ...]) -> None:
    key = next(small[0].answer_keys())
    alone = small[0].scenario().only(frozenset(key.evidence or ()))
    assert not alone.is_streamed
    assert [session.session_id for session in alone.sessions()] == list(key.evidence or ())
    assert alone.questions() == small[0].questions()
    assert small[0].scenario().only(frozenset()).steps == small[0].questions()


def test_a_session_of_a_number_is_the_same_in_a_history_of_any_size(small: tuple[LongHistory, ...]) -> None:
    def said(history: LongHistory) -> list[list[str]]:
        named = {name for key in history.answer_keys() for name in key.evidence or ()}
        steps = (step for step in history[:120] if isinstance(step, Ingest))
        return [[t.content for t in step.session.turns] for step in steps if step.session.session_id not in named]

    smaller, larger = said(small[0]), said(of("100k")[0])
    assert sum(one in larger for one in smaller) >= 20


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


def test_a_tier_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(BadInput, match="no tier '5k'") as refused:
        BenchmarkSession.open(BENCHMARK, tier="5k")
    assert "10k, 100k, 1m, 10m" in str(refused.value)
