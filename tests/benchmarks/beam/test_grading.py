"""The graders, on made-up chats."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.benchmarks.beam.dataset import BeamDataset
from memeval.benchmarks.beam.grading import BeamNuggets, BeamRetrieval, cut, event_order, mean
from memeval.benchmarks.beam.keys import Asked, BeamKey, NuggetKey
from memeval.judging.base import Case, Judge, Ruling
from memeval.judging.rules import RulesJudge
from memeval.records.grade import Grade, GradeState
from memeval.records.response import Outcome, RetrievedItem
from tests.grading.builders import reply

ITEM = "100K-1:temporal-reasoning:1"
"""Its evidence is s003:t01 and s001:t01."""


def retrieved(dataset: BeamDataset, items: Sequence[RetrievedItem] | None, outcome: Outcome = Outcome.OK) -> Grade:
    item = next(key for key in dataset.answer_keys() if key.item_id == ITEM)
    response = reply(item, "", items, outcome)
    return BeamRetrieval().grade(item, dataset.scenario(item.scenario_id), [response], RulesJudge())


def named(*sources: str, text: str = "x") -> list[RetrievedItem]:
    return [RetrievedItem(text=text, source_ids=(source,)) for source in sources]


def test_recall_counts_evidence_among_the_first_messages(dataset: BeamDataset) -> None:
    grade = retrieved(dataset, named("s002:t01", "s001:t01", "s002:t02", "s001:t02", "s001:t03", "s003:t01"))
    found = grade.metrics
    assert [found[f"recall@{k}"] for k in (1, 3, 5, 10, 20)] == [0, 0.5, 0.5, 1, 1]
    assert [found[f"recall_all@{k}"] for k in (1, 3, 5, 10, 20)] == [0, 0, 0, 1, 1]
    assert found["mrr"] == 0.5 and grade.credit == 1
    assert grade.reason == "2 of 2 messages of evidence are among the first 10."


def test_a_session_takes_a_rank_for_each_of_its_messages(dataset: BeamDataset) -> None:
    found = retrieved(dataset, named("s001", "s003")).metrics
    assert (found["recall@1"], found["recall@3"], found["recall@5"]) == (0.5, 0.5, 1)


def test_a_message_counts_once_and_an_unknown_source_takes_a_rank(dataset: BeamDataset) -> None:
    found = retrieved(dataset, named("s009", "s001:t01", "s001:t01", "s003:t01")).metrics
    assert (found["recall@1"], found["recall@3"]) == (0, 1)


def test_recall_in_tokens_counts_texts_that_end_within_the_budget(dataset: BeamDataset) -> None:
    long = named("s001:t01", text="word " * 400)
    found = retrieved(dataset, [*long, *named("s003:t01", text="word " * 400)]).metrics
    assert (found["recall_500_tokens"], found["recall_2000_tokens"]) == (0.5, 1)
    assert (found["recall_all_500_tokens"], found["recall_all_2000_tokens"]) == (0, 1)
    first = retrieved(dataset, named("s001:t01", text="word " * 600)).metrics
    assert (first["recall_500_tokens"], first["recall_2000_tokens"]) == (0, 0.5)


@pytest.mark.parametrize("items", [None, []])
def test_nothing_retrieved_earns_nothing(dataset: BeamDataset, items: list[RetrievedItem] | None) -> None:
    grade = retrieved(dataset, items)
    assert grade.credit == 0 and grade.state is GradeState.GRADED
    assert grade.metrics["recall@20"] == 0 and grade.metrics["mrr"] == 0
    assert ("does not say" in (grade.reason or "")) is (items is None)


def test_an_error_is_an_error(dataset: BeamDataset) -> None:
    grade = retrieved(dataset, None, Outcome.TIMEOUT)
    assert grade.state is GradeState.TIMEOUT and grade.credit is None


class Verdicts:
    """A judge that finds its verdict by the key: whole and part by sentence, lines by sentence, and the answer."""

    name = "verdicts@1"

    def __init__(
        self, scores: Sequence[float | None], same: Sequence[tuple[str, str]] = (), whole: bool = False
    ) -> None:
        self.scores, self.same, self.whole = list(scores), set(same), whole

    def rule(self, case: Case) -> Ruling:
        key = case.key
        if isinstance(key, BeamKey):
            return Ruling(GradeState.GRADED, self.whole, "It said so.")
        assert isinstance(key, NuggetKey)
        if key.asked is Asked.SAME:
            return Ruling(GradeState.GRADED, (case.answer, key.criterion) in self.same, "It said so.")
        score = self.scores[RUBRIC.index(key.criterion)]
        if score is None:
            return Ruling(GradeState.UNPARSED, None, "It mumbled.")
        return Ruling(GradeState.GRADED, score >= (1 if key.asked is Asked.WHOLE else 0.5), "It said so.")


RUBRIC = ("The colour of the kayak", "The day of paddling", "Selling the oar")


def judged(dataset: BeamDataset, ability: str, answer: str, judge: Judge, rubric: tuple[str, ...] = RUBRIC) -> Grade:
    key = next(each for each in dataset.answer_keys() if each.item_id == f"100K-1:{ability}:1")
    item = key.model_copy(update={"key": key.key.model_copy(update={"rubric": rubric})})
    return BeamNuggets().grade(item, dataset.scenario(item.scenario_id), [reply(item, answer)], judge)


def test_the_four_scales_follow_from_the_same_verdicts(dataset: BeamDataset) -> None:
    """By hand, for verdicts 1, ½, 0 about three sentences; lines are about sentence 2, nothing, and sentence 1.

    Rubric: (1 + ½ + 0) / 3. Cut: (1 + 0 + 0) / 3. Order: the right one is e1, e2, e3, the answer's is e2, x, e1, and
    absent ones share rank 5. Ranks of e1, e2, e3, x: right 1, 2, 3, 5; answer 3, 1, 5, 2. Of the six pairs, e1-e3 and
    e2-e3 and e2-x are alike, e1-e2, e1-x and e3-x are not: τ = 0, scaled ½. Two of three events are found,
    and one line is false: precision and recall are 2/3, so F1 is 2/3, and τ × F1 is 1/3.
    """
    judge = Verdicts([1, 0.5, 0], [("Tuesdays", RUBRIC[1]), ("Green", RUBRIC[0])], whole=True)
    ordering = judged(dataset, "event-ordering", "Tuesdays\nHm.\nGreen", judge)
    assert ordering.credit == 0.5
    assert ordering.metrics == {
        "official": 0.5,
        "order_times_events": pytest.approx(1 / 3),
        "yes_no": 1,
        "tau": 0.5,
        "tau_times_f1": pytest.approx(1 / 3),
    }
    other = judged(dataset, "summarization", "Tuesdays\nHm.\nGreen", judge)
    assert other.credit == 0.5
    assert other.metrics == {"official": pytest.approx(1 / 3), "order_times_events": 0.5, "yes_no": 1}
    assert other.reason == "1.5 of 3 sentences of the rubric are met."


def test_one_sentence_without_a_verdict_leaves_the_question_ungraded(dataset: BeamDataset) -> None:
    grade = judged(dataset, "summarization", "Green.", Verdicts([1, None, 1]))
    assert grade.state is GradeState.UNPARSED and grade.credit is None and grade.verdict is None


def test_a_blank_answer_earns_nothing_and_asks_no_judge(dataset: BeamDataset) -> None:
    grade = judged(dataset, "event-ordering", " ", Verdicts([]))
    assert grade.state is GradeState.EMPTY and grade.credit == 0
    assert grade.metrics["yes_no"] == 0 and grade.metrics["tau_times_f1"] == 0


@pytest.mark.parametrize(
    ("rubric", "answer", "credit"),
    [
        (("LLM response should state: 8 weeks",), "It took 8 weeks.", 1),
        (("LLM response should state: 8 weeks",), "It took 9 weeks.", 0),
        (("LLM response should state: 8 weeks", "The response should mention: a kayak"), "8 weeks.", 0.5),
        (("Based on the provided chat, there is no information related to oars.",), "The chat does not say.", 1),
        (("Based on the provided chat, there is no information related to oars.",), "Two oars.", 0),
        (("LLM response should state: that the kayak was red before",), "It was red before.", None),
        (("LLM response should contain: a clear colour",), "Green.", None),
        (("A green kayak",), "A green kayak.", None),
    ],
)
def test_rules_read_short_facts_and_abstention_and_nothing_else(
    dataset: BeamDataset, rubric: tuple[str, ...], answer: str, credit: float | None
) -> None:
    grade = judged(dataset, "multi-session-reasoning", answer, RulesJudge(), rubric)
    assert grade.credit == credit
    assert grade.state is (GradeState.UNPARSED if credit is None else GradeState.GRADED)


@pytest.mark.parametrize(
    ("lines", "same", "tau", "f1"),
    [
        (["a", "b", "c"], {(0, 0), (1, 1), (2, 2)}, 1, 1),
        (["c", "b", "a"], {(0, 2), (1, 1), (2, 0)}, 0, 1),
        (["a", "a again"], {(0, 0), (1, 0)}, None, 0.4),
        (["", "x"], set(), None, 0),
    ],
)
def test_events_are_matched_once_and_other_lines_are_false(
    lines: list[str], same: set[tuple[int, int]], tau: float | None, f1: float
) -> None:
    found = event_order(lines, dict.fromkeys(same, True), 3)
    assert found[1] == pytest.approx(f1)
    if tau is not None:
        assert found[0] == tau


def test_one_unrelated_line_gets_points_by_order_alone() -> None:
    tau, f1 = event_order(["I do not know."], {}, 5)
    assert tau == pytest.approx((1 - 5 / math.sqrt(15 * 5)) / 2, abs=1e-12) == pytest.approx(0.2113, abs=1e-4)
    assert f1 == 0


@given(
    events=st.integers(1, 6),
    lines=st.lists(st.sampled_from(["", "a", "b", "c"]), min_size=1, max_size=6),
    data=st.data(),
)
def test_every_scale_is_a_share(events: int, lines: list[str], data: st.DataObject) -> None:
    pairs = [(line, event) for line in range(len(lines)) for event in range(events)]
    same = {pair: data.draw(st.booleans()) for pair in pairs}
    tau, f1 = event_order(lines, same, events)
    assert 0 <= f1 <= 1 and (tau is None or -1e-9 <= tau <= 1 + 1e-9)
    scores = data.draw(st.lists(st.sampled_from([0, 0.5, 1]), min_size=1, max_size=6))
    assert 0 <= cut(scores) <= mean(scores) <= 1
