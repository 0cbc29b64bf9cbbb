"""The graders, on made-up chats."""

from collections.abc import Sequence

import pytest

from memeval.benchmarks.beam.dataset import BeamDataset
from memeval.benchmarks.beam.grading import BeamRetrieval
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
