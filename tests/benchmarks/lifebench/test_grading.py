"""The graders, on a made-up user."""

from collections.abc import Sequence
from math import log2

import pytest

from memeval.benchmarks.lifebench.dataset import LifeBenchDataset
from memeval.benchmarks.lifebench.grading import (
    LifeBenchAbstention,
    LifeBenchChoice,
    LifeBenchRetrieval,
    LifeBenchRubric,
    letters_of,
)
from memeval.benchmarks.lifebench.keys import PointKey
from memeval.grading.base import Grader
from memeval.judging.base import Case, Ruling
from memeval.judging.prompting import Prompts
from memeval.judging.rules import RulesJudge
from memeval.records.grade import Grade, GradeState
from memeval.records.response import Outcome, Response, RetrievedItem, Timings
from tests.benchmarks.lifebench.samples import USER


class Verdicts:
    """A judge that knows its verdicts, in the order of the cases; ``None`` is no verdict."""

    name = "verdicts@1"

    def __init__(self, *verdicts: bool | None) -> None:
        self._verdicts = iter(verdicts)

    def rule(self, case: Case) -> Ruling:
        verdict = next(self._verdicts)
        state = GradeState.UNPARSED if verdict is None else GradeState.GRADED
        return Ruling(state, verdict, "It said so.")


def graded(
    grader: Grader,
    dataset: LifeBenchDataset,
    place: int,
    answer: str = "",
    sources: Sequence[Sequence[str]] | None = None,
    outcome: Outcome = Outcome.OK,
    judge: Verdicts | None = None,
) -> Grade:
    item = list(dataset.answer_keys())[place]
    found = None if sources is None else tuple(RetrievedItem(text="x", source_ids=tuple(each)) for each in sources)
    response = Response(
        item_id=item.item_id,
        scenario_id=USER,
        question_id=item.item_id,
        attempt=1,
        outcome=outcome,
        answer=answer,
        items=found,
        timings=Timings(started="2026-01-01T00:00:00Z"),
    )
    return grader.grade(item, dataset.scenario(USER), [response], judge or RulesJudge())


def test_records_and_days_are_measured_apart(dataset: LifeBenchDataset) -> None:
    grade = graded(LifeBenchRetrieval(), dataset, 3, sources=[["s001:t01"], ["s004:t02"], ["s004:t01"], ["s003:t01"]])
    assert grade.credit == 1.0 and grade.metrics["session_recall@1"] == 0.0
    assert grade.metrics["record_recall@5"] == 1.0, "one of two records with a doubled id is enough"
    assert grade.metrics["record_mrr"] == 0.5
    both = 1 / log2(3) + 1 / log2(4)
    assert grade.metrics["record_ndcg@5"] == pytest.approx(both / (1 + 1 / log2(3))), "the double takes no rank"
    assert not [name for name in grade.metrics if name.startswith("turn_")]


def test_the_turns_of_a_chat_are_one_record(dataset: LifeBenchDataset) -> None:
    grade = graded(LifeBenchRetrieval(), dataset, 1, sources=[["s004:t01"], ["s002:t01.3"], ["s002:t01.1"]])
    assert (grade.metrics["record_mrr"], grade.metrics["record_recall@5"]) == (0.5, 1.0)


def test_a_system_that_returns_days_has_no_record_metrics(dataset: LifeBenchDataset) -> None:
    grade = graded(LifeBenchRetrieval(), dataset, 0, sources=[["s002"]])
    assert grade.credit == 1.0 and grade.metrics["record_recall@5"] is None


def test_the_history_before_a_question_counts_for_depths_without_choice(dataset: LifeBenchDataset) -> None:
    grade = graded(LifeBenchRetrieval(), dataset, 0, sources=[])
    assert (grade.metrics["no_retrieval@1"], grade.metrics["no_retrieval@5"]) == (0.0, 1.0)
    assert grade.credit == 0.0


@pytest.mark.parametrize(
    ("answer", "letters"),
    [
        ("B", "B"),
        (" (b). ", "B"),
        ("A, C", "AC"),
        ("C and A", "AC"),
        ("**B**", "B"),
        ("It was warm.\nAnswer: B", "B"),
        ("Answer: A\nNo.\nanswer: C, D.", "CD"),
        ("**Answer:** B) b skis", "B"),
        ("B because of the wax", ""),
        ("Answer: A man waxed them", ""),
        ("The answer is B", ""),
        ("AB", ""),
        ("E9", ""),
        ("", ""),
    ],
)
def test_letters_are_the_whole_answer_or_marked(answer: str, letters: str) -> None:
    assert letters_of(answer) == frozenset(letters)


def test_the_letters_are_compared_as_a_set(dataset: LifeBenchDataset) -> None:
    assert graded(LifeBenchChoice(), dataset, 5, "C, A").verdict is True
    assert graded(LifeBenchChoice(), dataset, 5, "A").verdict is False
    assert graded(LifeBenchChoice(), dataset, 1, "B").metrics == {"always_b": 1.0, "unparsed": 0.0}


def test_an_answer_without_a_letter_is_wrong_and_no_error(dataset: LifeBenchDataset) -> None:
    grade = graded(LifeBenchChoice(), dataset, 5, "Either of them")
    assert (grade.state, grade.verdict) == (GradeState.GRADED, False)
    assert grade.metrics == {"always_b": 0.0, "unparsed": 1.0}


def test_abstaining_is_right_only_where_the_answer_is_missing(dataset: LifeBenchDataset) -> None:
    grader, unknown = LifeBenchAbstention(), "I do not know."
    assert graded(grader, dataset, 2, unknown).verdict is True
    assert graded(grader, dataset, 2, "300 yuan.").verdict is False
    assert graded(grader, dataset, 0, unknown).metrics == {"false_abstention": 1.0}
    assert graded(grader, dataset, 0, "At ten.").verdict is True


def test_a_rubric_earns_the_share_of_its_own_points(dataset: LifeBenchDataset) -> None:
    grade = graded(LifeBenchRubric(), dataset, 0, "At nine.", judge=Verdicts(True, False))
    assert (grade.credit, grade.alternates, grade.verdict) == (0.75, {"strict": False}, False)
    assert grade.reason == "6 of 8 points: 1 of 2 criteria are met."
    assert graded(LifeBenchRubric(), dataset, 0, "x", judge=Verdicts(True, True)).alternates == {"strict": True}


def test_a_criterion_without_a_verdict_leaves_the_item_without_a_grade(dataset: LifeBenchDataset) -> None:
    grade = graded(LifeBenchRubric(), dataset, 0, "At nine.", judge=Verdicts(True, None))
    assert (grade.state, grade.credit) == (GradeState.UNPARSED, None)


def test_the_judge_sees_one_criterion_without_ids_of_events(dataset: LifeBenchDataset) -> None:
    item = next(iter(dataset.answer_keys()))
    response = Response(
        item_id=item.item_id,
        scenario_id=USER,
        question_id=item.item_id,
        attempt=1,
        outcome=Outcome.OK,
        answer="At nine.",
        timings=Timings(started="2026-01-01T00:00:00Z"),
    )
    cases = LifeBenchRubric().cases(item, dataset.scenario(USER), [response])
    first, second = (Prompts().asking(case) for case in cases)
    assert isinstance(cases[0].key, PointKey)
    assert "Criterion: Names nine o'clock.\n" in first and "Names the train." not in first
    assert "Criterion: Names the train.\n" in second and "Event ID" not in first + second


def test_the_offline_rules_give_no_points_for_a_rubric(dataset: LifeBenchDataset) -> None:
    assert graded(LifeBenchRubric(), dataset, 0, "At nine.").credit == 0.0


@pytest.mark.parametrize("grader", [LifeBenchChoice(), LifeBenchAbstention(), LifeBenchRubric(), LifeBenchRetrieval()])
def test_a_failure_is_an_error_with_every_grader(dataset: LifeBenchDataset, grader: Grader) -> None:
    grade = graded(grader, dataset, 1, outcome=Outcome.TIMEOUT)
    assert (grade.state, grade.verdict, grade.credit) == (GradeState.TIMEOUT, None, None)


@pytest.mark.parametrize("grader", [LifeBenchChoice(), LifeBenchAbstention(), LifeBenchRubric()])
def test_a_blank_answer_is_wrong(dataset: LifeBenchDataset, grader: Grader) -> None:
    grade = graded(grader, dataset, 1, outcome=Outcome.EMPTY)
    assert grade.state is GradeState.EMPTY and not grade.verdict and not grade.credit
