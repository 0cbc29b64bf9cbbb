"""The newest fact above the older one, and the official match of answers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.benchmarks.factconsolidation.grading import DEPTHS, FactMatch, NewestFact, measures, normalised
from memeval.judging.rules import RulesJudge
from memeval.keys import ItemKey
from memeval.records.grade import Grade, GradeState
from memeval.records.response import Outcome, Response, RetrievedItem
from tests.benchmarks.factconsolidation.made import dataset
from tests.grading.builders import reply

MADE = dataset()
ITEMS = {item.item_id: item for item in MADE.answer_keys()}
UPDATED, ONCE, NEWEST, OLDER = ITEMS["sh-6k:0"], ITEMS["sh-6k:1"], "s002:t01", "s001:t01"


def found(*sources: str, item: ItemKey = UPDATED) -> Grade:
    items = tuple(RetrievedItem(text="a fact", source_ids=(source,)) for source in sources)
    return graded(reply(item, items=items), item)


def graded(response: Response, item: ItemKey = UPDATED) -> Grade:
    return NewestFact().grade(item, MADE.scenario("6k"), [response], RulesJudge())


def test_the_newest_fact_alone_or_above_the_older_one_is_right() -> None:
    for sources in ((NEWEST,), (NEWEST, OLDER), ("s001:t02", NEWEST)):
        grade = found(*sources)
        assert (grade.credit, grade.state, grade.metrics["stale_first"]) == (1, GradeState.GRADED, 0)


def test_the_older_fact_above_the_newest_is_wrong_although_both_are_found() -> None:
    grade = found(OLDER, NEWEST)
    assert (grade.credit, grade.metrics["found@5"], grade.metrics["stale_first"]) == (0, 1, 1)
    assert grade.reason == "An older fact comes first."


def test_the_newest_fact_below_the_fifth_is_too_low() -> None:
    grade = found("s001:t02", "s001:t03", "s001:t04", "s001:t05", "s001:t06", NEWEST)
    assert (grade.credit, grade.metrics["newest@5"], grade.metrics["newest@10"]) == (0, 0, 1)
    assert grade.reason == "The newest fact is not among the first 5."


def test_a_session_takes_as_many_ranks_as_it_has_facts() -> None:
    assert found("s002").credit == 1
    assert found("s001", "s002").metrics["newest@10"] == 0, "it holds the older fact"
    once = found("s001", item=ONCE)
    assert (once.metrics["newest@5"], once.metrics["newest@10"]) == (0, 1), "its fact is the sixth"


def test_unknown_sources_take_ranks() -> None:
    assert found("s009:t09", NEWEST).metrics["newest@1"] == 0


def test_a_fact_that_is_stated_once_has_no_older_one() -> None:
    assert found("s001:t06", item=ONCE).metrics["stale_first"] is None


def test_nothing_retrieved_and_nothing_said_are_wrong_and_an_error_is_an_error() -> None:
    assert found().credit == 0
    silent = graded(reply(UPDATED, "text"))
    assert (silent.credit, silent.reason) == (0, "The system does not say what it retrieved.")
    failed = graded(reply(UPDATED, outcome=Outcome.TIMEOUT))
    assert (failed.state, failed.credit) == (GradeState.TIMEOUT, None)


def test_an_item_without_a_fact_cannot_be_graded() -> None:
    with pytest.raises(ValueError, match="mh-6k:0: newest-fact@1 cannot grade"):
        found(item=ITEMS["mh-6k:0"])


@given(st.permutations([NEWEST, OLDER, *"abcdefghijklmnopqrstuvwxyz"]), st.integers(0, 28))
def test_more_depth_never_loses_a_fact_and_order_only_takes_away(order: list[str], size: int) -> None:
    values = measures(order[:size], NEWEST, (OLDER,))
    for kind in ("found", "newest"):
        at = [values[f"{kind}@{k}"] or 0 for k in DEPTHS]
        assert at == sorted(at)
    assert all((values[f"newest@{k}"] or 0) <= (values[f"found@{k}"] or 0) for k in DEPTHS)
    assert not (values["stale_first"] and values["newest@20"])


def said(answer: str, item: ItemKey = UPDATED, outcome: Outcome = Outcome.OK) -> Grade:
    return FactMatch().grade(item, MADE.scenario("6k"), [reply(item, answer, outcome=outcome)], RulesJudge())


@pytest.mark.parametrize("answer", ["Petra Lund", "It is PETRA  LUND!", "the Petra a Lund", "Petra Lund's sister"])
def test_an_answer_that_contains_the_expected_words_is_right(answer: str) -> None:
    assert said(answer).verdict is True


@pytest.mark.parametrize("answer", ["Odo Brand", "Petra", "Lund Petra", "Petra-Lund", "nobody"])
def test_another_answer_is_wrong(answer: str) -> None:
    grade = said(answer)
    assert (grade.verdict, grade.alternates) == (False, {"one-value": False})


def test_naming_both_values_passes_the_official_rule_and_not_the_strict_one() -> None:
    grade = said("Odo Brand, and later Petra Lund.")
    assert (grade.verdict, grade.alternates, grade.metrics) == (True, {"one-value": False}, {"states_other": 1})
    assert said("Petra Lund").metrics == {"states_other": 0}
    assert said("Sorrel Bay", ONCE).metrics == {}


def test_blank_answers_are_wrong_and_failures_are_errors() -> None:
    assert said("", outcome=Outcome.EMPTY).verdict is False
    assert said("", outcome=Outcome.ADAPTER_ERROR).verdict is None


def test_text_is_normalised_as_the_authors_do() -> None:
    assert normalised("The  U.S.A., an 'island'\u2019s\nA-frame") == "usa island\u2019s aframe"
    assert normalised("Theatre banana") == "theatre banana"
    assert normalised(" the, A. ") == ""
