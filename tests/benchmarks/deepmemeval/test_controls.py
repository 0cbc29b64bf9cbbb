"""The arithmetic of simple strategies on the released data, through the real graders and scores."""

import time
from collections.abc import Callable

import pytest

from memeval.benchmarks.base import Dataset
from memeval.benchmarks.deepmemeval import DeepMemEvalBenchmark
from memeval.grading.base import RunGrader
from memeval.grading.scoring import score
from memeval.judging.rules import RulesJudge
from memeval.keys import BeliefKey, CascadeKey, DeltaKey, ItemKey, NoiseKey, TemporalKey, UncertaintyKey
from memeval.records.grade import Flag, FlagCount, Grade
from memeval.records.response import Response
from memeval.records.scenario import Scenario
from memeval.records.scores import Scores
from tests.grading.builders import reply

Answer = Callable[[ItemKey, Scenario, int], str]
Tokens = Callable[[int], float | None]

HEDGE = "I am not certain about that; it may have changed."


def shrinking(turn: int) -> float:
    return 1000.0 if turn < 5 else 100.0


def responses(key: ItemKey, scenario: Scenario, answer: Answer, tokens: Tokens) -> list[Response]:
    return [
        reply(key, answer(key, scenario, turn), question=turn, reported=tokens(turn))
        for turn in range(len(key.question_ids))
    ]


def run(dataset: Dataset, answer: Answer, tokens: Tokens = lambda turn: 1000.0) -> Scores:
    benchmark, judge = DeepMemEvalBenchmark(), RulesJudge()
    graders = {category.name: category.grader for category in benchmark.categories}
    keys, scenarios = list(dataset.answer_keys()), list(dataset.scenarios())
    grades = [
        graders[key.category].grade(key, scenario, responses(key, scenario, answer, tokens), judge)
        for key, scenario in zip(keys, scenarios, strict=True)
    ]
    for grader in {grader.name: grader for grader in graders.values()}.values():
        if isinstance(grader, RunGrader):
            grades = grader.settled(grades)
    return score(benchmark.plan(keys), grades)


def correct(scores: Scores) -> list[int]:
    """Return the right answers in belief, cascade, noise, temporal, delta, uncertainty."""
    return [category.tally.correct for category in scores.categories]


def gold(key: ItemKey, scenario: Scenario, turn: int) -> str:
    match key.key:
        case BeliefKey(current=fact) | NoiseKey(reference=fact) | TemporalKey(reference=fact):
            return fact.text
        case CascadeKey(reference=reference) | UncertaintyKey(reference=reference):
            return reference
        case DeltaKey(facts_by_turn=facts_by_turn):
            return ". ".join(fact.text for fact in facts_by_turn[turn])
        case _:
            raise AssertionError(key.key.kind)


def stale(key: ItemKey, scenario: Scenario, turn: int) -> str:
    match key.key:
        case BeliefKey(stale=facts) | TemporalKey(others=facts):
            return facts[-1].text
        case CascadeKey(dependent=fact) | UncertaintyKey(dependent=fact):
            return fact.text
        case _:
            return "Something else."


def test_hedging_always_wins_the_two_categories_of_doubt_and_nothing_else(dataset: Dataset) -> None:
    scores = run(dataset, lambda key, scenario, turn: HEDGE)
    assert correct(scores) == [0, 80, 0, 0, 0, 80]
    assert scores.composite.value == pytest.approx(0.30)
    assert scores.overall.accuracy == pytest.approx(0.32)
    assert scores.false_hedge_rate == 1.0
    assert scores.alternates["corrected"].value == 0.0


def test_hedging_on_half_of_all_answers_wins_nothing_in_the_corrected_score(dataset: Dataset) -> None:
    def half(key: ItemKey, scenario: Scenario, turn: int) -> str:
        return HEDGE if sum(map(ord, key.item_id)) % 2 else stale(key, scenario, turn)

    scores = run(dataset, half)
    doubt = [scores.categories[1], scores.categories[5]]
    assert all(category.tally.correct > 20 for category in doubt)
    assert [category.alternates["corrected"].correct for category in doubt] == [0, 0]


def test_a_few_false_hedges_cost_no_doubt_that_is_right(dataset: Dataset) -> None:
    def careful(key: ItemKey, scenario: Scenario, turn: int) -> str:
        return HEDGE if sum(map(ord, key.item_id)) % 3 == 0 else gold(key, scenario, turn)

    scores = run(dataset, careful)
    assert scores.false_hedge_rate == pytest.approx(1 / 3, abs=0.1)
    assert [scores.categories[n].alternates["corrected"].correct for n in (1, 5)] == [80, 80]


def test_a_shrinking_counter_adds_ten_points_as_published_and_none_gated(dataset: Dataset) -> None:
    scores = run(dataset, lambda key, scenario, turn: HEDGE, shrinking)
    assert correct(scores) == [0, 80, 0, 0, 80, 80]
    assert scores.composite.value == pytest.approx(0.40)
    assert scores.overall.accuracy == pytest.approx(0.48)
    assert scores.alternates["gated"].value == pytest.approx(0.30)
    assert scores.alternates["corrected"].value == 0.0


def test_the_released_answers_are_all_right_and_hedge_only_where_they_should(dataset: Dataset) -> None:
    scores = run(dataset, gold, shrinking)
    assert correct(scores) == [100, 80, 80, 80, 80, 80]
    assert scores.composite.value == pytest.approx(1.0)
    # Their token counts are self-reported here, which earns a tenth only as published.
    assert scores.alternates["gated"].value == scores.alternates["corrected"].value == pytest.approx(0.9)
    assert scores.false_hedge_rate == 0.0
    flags = [[(count.flag.value, count.items) for count in category.flags] for category in scores.categories]
    assert flags == [[], [("hedged", 80)], [], [], [("self-reported-tokens", 80)], [("hedged", 80)]]


def echo(key: ItemKey, scenario: Scenario, turn: int) -> str:
    return scenario.questions()[turn].question


@pytest.mark.parametrize("answer", [stale, echo], ids=["past answers", "the question given back"])
def test_what_is_no_answer_wins_nothing(dataset: Dataset, answer: Answer) -> None:
    assert correct(run(dataset, answer)) == [0, 0, 0, 0, 0, 0]


def test_silence_wins_the_published_delta_alone_and_is_no_error(dataset: Dataset) -> None:
    scores = run(dataset, lambda key, scenario, turn: "", shrinking)
    assert correct(scores) == [0, 0, 0, 0, 80, 0]
    assert scores.composite.value == pytest.approx(0.1)
    assert scores.alternates["gated"].value == 0.0
    assert scores.states == {"graded": 80, "empty": 420, "skipped": 0}
    assert scores.overall.errors == 0


def test_the_whole_history_as_an_answer_wins_nothing_in_noise(dataset: Dataset) -> None:
    def dump(key: ItemKey, scenario: Scenario, turn: int) -> str:
        return "\n".join(turn.content for session in scenario.sessions() for turn in session.turns)

    scores = run(dataset, dump)
    assert correct(scores) == [0, 0, 0, 0, 0, 0]
    assert scores.categories[2].flags[0] == FlagCount(flag=Flag.CONTEXT_DUMP, items=80)


def test_the_evidence_as_an_answer_is_right(dataset: Dataset) -> None:
    def evidence(key: ItemKey, scenario: Scenario, turn: int) -> str:
        kept = scenario.only(frozenset(key.evidence or ()))
        return " ".join(turn.content for session in kept.sessions() for turn in session.turns) or "Nothing."

    # In seven belief scenarios the session itself names the oldest tool, as what the current one is a fork of.
    assert correct(run(dataset, evidence))[:3] == [93, 0, 80]


def test_clustering_widens_the_interval_of_a_system_that_knows_some_people(dataset: Dataset) -> None:
    def some(key: ItemKey, scenario: Scenario, turn: int) -> str:
        return gold(key, scenario, turn) if int(key.cluster[1:]) % 2 else stale(key, scenario, turn)

    scores = run(dataset, some)
    interval = scores.composite.interval
    assert interval is not None and scores.overall.interval is not None
    assert interval.high - interval.low > 2 * (scores.overall.interval.high - scores.overall.interval.low)


def test_grading_and_scoring_are_a_small_part_of_a_run(dataset: Dataset) -> None:
    benchmark, judge = DeepMemEvalBenchmark(), RulesJudge()
    graders = {category.name: category.grader for category in benchmark.categories}
    keys, scenarios = list(dataset.answer_keys()), list(dataset.scenarios())
    given = [responses(k, s, gold, shrinking) for k, s in zip(keys, scenarios, strict=True)]

    def once() -> float:
        start = time.process_time()
        grades: list[Grade] = [
            graders[k.category].grade(k, s, r, judge) for k, s, r in zip(keys, scenarios, given, strict=True)
        ]
        score(benchmark.plan(keys), grades)
        return time.process_time() - start

    # 0.1 s on a plain laptop core; the limit leaves room for a busy machine.
    assert min(once() for _ in range(3)) < 0.5
