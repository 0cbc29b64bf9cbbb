"""The graders of beliefs@2: what a search earns, and what it cannot buy."""

from statistics import mean
from typing import Any

import pytest

from memeval.benchmarks import find
from memeval.benchmarks.beliefs.generate import MadeLife, generate
from memeval.benchmarks.beliefs.grading import ExpectedTurns, LeanContext, smallest
from memeval.benchmarks.beliefs.keys import EvidenceKey, Kind, MisleadingValue, StatedValue
from memeval.benchmarks.beliefs.protocols import stored
from memeval.benchmarks.beliefs.wording.editions import wording
from memeval.benchmarks.kit.checks import says, text_of
from memeval.benchmarks.session import BenchmarkSession
from memeval.grading.base import DeliveredContexts
from memeval.grading.evidence import TurnIndex
from memeval.grading.stored import claimed, measures
from memeval.judging.rules import RulesJudge
from memeval.keys import BeliefKey, ItemKey, StoreKey
from memeval.records.grade import Flag, Grade, GradeState
from memeval.records.response import Outcome, Response, RetrievedItem
from memeval.records.scenario import Ask, Export, Ingest, Scenario, Session, Turn
from tests.grading.builders import fact, reply

SAID = (
    "I cycle to work on a folding bike.",
    "My sister Dana goes by ferry.",
    "Guess what, I take the tram now.",
    "One day I'd love to go by balloon.",
    "The rain never stops in this town.",
)


def scenario() -> Scenario:
    steps: list[Any] = []
    for number, text in enumerate(SAID, start=1):
        turn = Turn(turn_id=f"s{number:03d}:t01", role="user", content=text, speaker="Ada Lund")
        session = Session(session_id=f"s{number:03d}", date=f"2025-01-0{number}", turns=(turn,))
        steps.append(Ingest(session=session, source_id=str(number)))
    steps.append(Ask(question_id="q", question="How does Ada get to work?", timestamp="2025-02-01"))
    return Scenario(scenario_id="ada", steps=tuple(steps))


def stated(phrase: str, number: int) -> StatedValue:
    return StatedValue(phrases=(phrase,), turns=(f"s{number:03d}:t01",))


def misleading(phrase: str, number: int, why: Kind) -> MisleadingValue:
    return MisleadingValue(phrases=(phrase,), turns=(f"s{number:03d}:t01",), why=why)


KEY = EvidenceKey(
    expected=(stated("tram", 3),),
    misleading=(
        misleading("folding bike", 1, Kind.STALE),
        misleading("ferry", 2, Kind.OTHER_PERSON),
        misleading("balloon", 4, Kind.HYPOTHETICAL),
    ),
    reference="Ada takes the tram.",
)


def item(key: EvidenceKey = KEY) -> ItemKey:
    return ItemKey(
        item_id="q", scenario_id="ada", question_ids=("q",), category="belief-update", cluster="ada", key=key,
        evidence=("s003",),
    )  # fmt: skip


def found(*numbers: int) -> tuple[RetrievedItem, ...]:
    return tuple(RetrievedItem(turn_id=f"s{n:03d}:t01", source_ids=(f"s{n:03d}:t01",)) for n in numbers)


def text(words: str, *sources: str) -> RetrievedItem:
    return RetrievedItem(text=words, source_ids=sources)


def response(items: tuple[RetrievedItem, ...] | None, outcome: Outcome = Outcome.OK) -> Response:
    return reply(item(), "", items, outcome)


def graded(*items: RetrievedItem, key: EvidenceKey = KEY) -> Grade:
    return ExpectedTurns().grade(item(key), scenario(), [response(items)], RulesJudge())


def test_the_expected_turn_alone_earns_everything() -> None:
    grade = graded(*found(3))
    assert grade.credit == 1
    assert (grade.metrics["recall@1"], grade.metrics["ndcg@10"], grade.metrics["stale_first"]) == (1, 1, 0)


@pytest.mark.parametrize(
    ("order", "credit"),
    [((1, 3), 1 / 2), ((1, 2, 3), 1 / 3), ((4, 2, 1, 3), 1 / 4), ((3, 1, 2, 4), 1), ((5, 3), 1), ((1, 1, 3), 1 / 2)],
)
def test_each_misleading_value_before_it_lowers_the_credit(order: tuple[int, ...], credit: float) -> None:
    assert graded(*found(*order)).credit == pytest.approx(credit)


def test_turns_joined_into_one_text_count_in_their_order() -> None:
    assert graded(text("First the folding bike. Then the tram.", "s001", "s003")).credit == 1 / 2
    assert graded(text("The tram, not the folding bike.", "s001", "s003")).credit == 1
    assert graded(text("The ferry. The folding bike. The tram.", "s001", "s002", "s003")).credit == pytest.approx(1 / 3)


def test_a_turn_that_gives_up_one_value_for_another_is_no_worse_for_naming_both() -> None:
    both = KEY.model_copy(update={"expected": (stated("tram", 3),), "misleading": (misleading("rain", 5, Kind.STALE),)})
    spoken = next(each for each in scenario().each_session() if each.session_id == "s003").turns[0].content
    named = KEY.model_copy(update={"misleading": (misleading(spoken.split()[0], 1, Kind.STALE),)})
    assert graded(*found(3), key=both).credit == graded(*found(3), key=named).credit == 1


def test_the_rates_name_what_came_first() -> None:
    metrics = graded(*found(1, 4, 3, 2)).metrics
    assert (metrics["stale_first"], metrics["hypothetical_first"], metrics["other_person_first"]) == (1, 1, 0)
    assert metrics["dropped_first"] is None


def test_nothing_found_earns_nothing() -> None:
    assert graded().credit == 0
    assert graded(*found(5)).credit == 0
    assert ExpectedTurns().grade(item(), scenario(), [response(None)], RulesJudge()).credit == 0


def test_evidence_after_the_budget_earns_nothing_and_counts_for_recall() -> None:
    for words, recalls in ((300, (1, 1)), (501, (0, 1)), (2001, (0, 0))):
        grade = graded(text("water " * words, "s005:t01"), *found(3))
        metrics = grade.metrics["recall_500_tokens"], grade.metrics["recall_2000_tokens"]
        assert (grade.credit, metrics) == (0, recalls)


def test_the_budget_is_a_multiple_of_the_smallest_sufficient_evidence() -> None:
    short = graded(text("water " * 4, "s005:t01"), *found(3))
    assert short.credit == 1


def test_a_paraphrase_counts_if_it_states_the_value_and_names_its_session() -> None:
    assert graded(text("Ada commutes by tram.", "s003")).credit == 1
    assert graded(text("Ada commutes by tram.")).credit == 1


def test_naming_sources_without_their_text_earns_nothing() -> None:
    everything = tuple(f"s{n:03d}:t01" for n in range(1, 6))
    assert graded(text("Ada commutes.", *everything)).credit == 0


def test_a_text_from_another_session_is_not_the_evidence() -> None:
    assert graded(text("The tram is loud.", "s005:t01")).credit == 0


def test_sources_that_do_not_exist_count_as_not_named() -> None:
    assert graded(text("Ada commutes by tram.", "s999:t01", "nowhere")).credit == 1
    assert graded(text("Ada commutes by balloon.", "s999:t01"), *found(3)).credit == 0.5
    unknown = RetrievedItem(turn_id="s999:t07", source_ids=("s999:t07",))
    assert graded(unknown).credit == 0
    assert graded(unknown, *found(3)).credit == 1


def test_fewer_texts_than_asked_for_count_at_every_depth() -> None:
    grade = graded(*found(3, 1, 2, 4, 5))
    assert grade.metrics["recall@10"] == grade.metrics["ndcg@10"] == 1


def test_of_two_parts_each_counts_half() -> None:
    key = KEY.model_copy(update={"expected": (stated("tram", 3), stated("rain", 5)), "misleading": ()})
    assert graded(*found(3), key=key).credit == 0.5
    assert graded(*found(3, 5), key=key).credit == 1
    one = graded(text("tram, and rain", "s003", "s005"), key=key)
    assert (one.credit, one.metrics["ndcg@10"]) == (1, 1)


def test_a_failure_has_no_credit() -> None:
    grade = ExpectedTurns().grade(item(), scenario(), [response(None, Outcome.TIMEOUT)], RulesJudge())
    assert (grade.state, grade.credit) == (GradeState.TIMEOUT, None)


def lean(*items: RetrievedItem, contexts: tuple[str | None, ...] = (), read: bool = False) -> Grade:
    given = response(items or None)
    return LeanContext().grade_delivered(item(), scenario(), [given], DeliveredContexts(contexts, read))


def test_a_context_with_the_fact_and_little_else_is_efficient() -> None:
    assert lean(*found(3)).credit == 1
    assert lean(contexts=("Ada takes the tram.",), read=True).credit == 1


def test_padding_shaping_and_self_reports_earn_nothing() -> None:
    least = smallest(KEY, TurnIndex(scenario()))
    padded = "Ada takes the tram. " + "water " * 4 * least
    assert lean(contexts=(padded,), read=True).credit == 0
    assert lean(*found(3), text("water " * 4 * least)).credit == 0
    assert lean(contexts=("",), read=True).credit == 0
    assert lean(*found(5)).credit == 0
    reported = lean(contexts=("Ada takes the tram.",), read=False)
    assert (reported.credit, reported.flags) == (0, (Flag.SELF_REPORTED_TOKENS,))


def test_a_key_of_another_benchmark_is_refused() -> None:
    other = item().model_copy(update={"key": BeliefKey(current=fact("tram"), stale=())})
    with pytest.raises(TypeError, match="cannot use keys of kind"):
        ExpectedTurns().grade(other, scenario(), [response(())], RulesJudge())


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
