"""Retrieval by the minute of events, and calls as sets."""

from pathlib import Path

import pytest

from memeval.benchmarks.vehiclemembench.dataset import VehicleMemBenchDataset
from memeval.benchmarks.vehiclemembench.grading import CallSet, EventRetrieval
from memeval.judging.rules import RulesJudge
from memeval.keys import ItemKey
from memeval.records.grade import Grade, GradeState
from memeval.records.response import Outcome, RetrievedItem
from tests.benchmarks.vehiclemembench.made import dataset
from tests.grading.builders import reply


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> VehicleMemBenchDataset:
    return dataset(tmp_path_factory.mktemp("vehiclemembench"))


def item(made: VehicleMemBenchDataset, name: str) -> ItemKey:
    return next(each for each in made.answer_keys() if each.item_id == name)


def found(made: VehicleMemBenchDataset, *sources: str, name: str = "1:0") -> Grade:
    asked = item(made, name)
    items = tuple(RetrievedItem(text="a line", source_ids=(source,)) for source in sources)
    return EventRetrieval().grade(asked, made.scenario(asked.scenario_id), [reply(asked, items=items)], RulesJudge())


def test_any_line_of_the_minute_is_enough(made: VehicleMemBenchDataset) -> None:
    for line in ("s001:t01.1", "s001:t01.2"):
        grade = found(made, line, "s003:t01")
        assert (grade.credit, grade.metrics["event_recall_all@5"]) == (1, 1)
        assert grade.reason == "2 of 2 events are among the first 10 minutes."


def test_lines_of_one_minute_take_one_rank(made: VehicleMemBenchDataset) -> None:
    grade = found(made, "s001:t01.1", "s001:t01.2", "s003:t01")
    assert (grade.metrics["event_precision@5"], grade.metrics["event_recall@1"]) == (2 / 5, 1 / 2)


def test_a_session_takes_as_many_ranks_as_it_has_minutes(made: VehicleMemBenchDataset) -> None:
    assert found(made, "s001").metrics["event_mrr"] == 1
    late = found(made, "s002", "s001", "s003")
    assert late.metrics["event_mrr"] == 1 / 2
    assert late.metrics["event_recall_all@5"] == 1, "the event of s003 is the fourth minute"


def test_an_unknown_source_takes_a_rank_and_nothing_is_nothing(made: VehicleMemBenchDataset) -> None:
    assert found(made, "s009:t01", "s001:t01.1").metrics["event_recall@1"] == 0
    assert found(made).credit == 0


def test_a_silent_system_gets_nothing_and_an_error_is_an_error(made: VehicleMemBenchDataset) -> None:
    asked = item(made, "1:0")
    silent = EventRetrieval().grade(asked, made.scenario("1"), [reply(asked, "text")], RulesJudge())
    assert (silent.credit, silent.reason) == (0, "The system does not say what it retrieved.")
    failed = EventRetrieval().grade(asked, made.scenario("1"), [reply(asked, outcome=Outcome.TIMEOUT)], RulesJudge())
    assert (failed.state, failed.credit) == (GradeState.TIMEOUT, None)


def test_an_item_without_an_event_cannot_be_graded(made: VehicleMemBenchDataset) -> None:
    with pytest.raises(ValueError, match="1:2: event-retrieval@1 cannot grade"):
        found(made, name="1:2")


def said(made: VehicleMemBenchDataset, answer: str, outcome: Outcome | None = None) -> Grade:
    asked = item(made, "2:0")
    return CallSet().grade(asked, made.scenario("2"), [reply(asked, answer, outcome=outcome)], RulesJudge())


@pytest.mark.parametrize(
    "answer",
    [
        'radio_set(on=true, name="nine")\nradio_louder()',
        "[radio_louder(), radio_set(name='nine', on=True)]",
        '```\nradio_louder()\nradio_louder()\nradio_set(on=true, name="nine")\n```',
    ],
)
def test_the_same_calls_in_any_order_are_right(made: VehicleMemBenchDataset, answer: str) -> None:
    grade = said(made, answer)
    assert (grade.verdict, grade.metrics) == (True, {"argument_f1": 1, "same_functions": 1, "unparsed": 0})


@pytest.mark.parametrize(
    ("answer", "f1", "same"),
    [
        ('radio_set(on=true, name="nine")', 4 / 5, 0),
        ('radio_set(on=true, name="Nine")\nradio_louder()', 2 / 3, 1),
        ('radio_set(on="true", name="nine")\nradio_louder()', 2 / 3, 1),
        ('radio_set(on=true, name="nine")\nradio_louder()\nwheel_off()', 6 / 7, 0),
    ],
)
def test_other_calls_are_wrong_with_a_share_of_their_arguments(
    made: VehicleMemBenchDataset, answer: str, f1: float, same: int
) -> None:
    grade = said(made, answer)
    assert (grade.verdict, grade.metrics["same_functions"]) == (False, same)
    assert grade.metrics["argument_f1"] == pytest.approx(f1)


def test_what_is_no_list_of_calls_is_wrong_with_the_reason(made: VehicleMemBenchDataset) -> None:
    grade = said(made, "radio_set(on=not_(x=1))")
    assert (grade.state, grade.verdict, grade.metrics["unparsed"]) == (GradeState.GRADED, False, 1)
    assert str(grade.reason).startswith("Call 1 has a value that is not a number")


def test_a_blank_answer_is_wrong_and_a_failure_is_an_error(made: VehicleMemBenchDataset) -> None:
    assert said(made, "").verdict is False
    assert said(made, "", Outcome.ADAPTER_ERROR).verdict is None


def test_the_reference_is_right(made: VehicleMemBenchDataset, tmp_path: Path) -> None:
    for asked in dataset(tmp_path).answer_keys():
        (reference,) = asked.key.references
        grade = CallSet().grade(asked, made.scenario(asked.scenario_id), [reply(asked, reference)], RulesJudge())
        assert grade.verdict is True
