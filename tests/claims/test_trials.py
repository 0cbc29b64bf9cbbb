"""Published verdicts are compared on the same answers: of one judge, of several judges, and with token F1."""

import pytest

from memeval.claims.findings import judge_trials
from memeval.claims.summaries import Regraded
from memeval.records.finding import JudgeTrials
from tests.claims.conftest import BY_ID, ROWS, Grade


def trials_of(done: Regraded, *, is_test: bool = False) -> JudgeTrials:
    return judge_trials([(done.summary, done.rows, is_test)])


THREE = {**BY_ID, "verdicts": {"a": "a", "b": "b", "c": "c"}}


def voted(*votes: str) -> list[dict[str, object]]:
    """Return the rows with three verdicts each, such as ``110``."""
    return [
        {"id": row["id"], "said": row["said"], **dict(zip("abc", each, strict=True))}
        for row, each in zip(ROWS, votes, strict=False)
    ]


def test_three_verdicts_of_one_judge_are_counted_with_answers_that_are_not_unanimous(graded: Grade) -> None:
    (found,) = trials_of(graded(voted("111", "110", "000", "001"), THREE), is_test=True).repeated
    assert [each.passed for each in found.each] == [2, 2, 2]
    assert (found.majority.passed, found.majority.of, found.split) == (2, 4, 2)
    assert found.test_set and found.judge is None


def test_an_answer_with_an_unreadable_verdict_is_left_out(graded: Grade) -> None:
    (found,) = trials_of(graded(voted("111", "11?", "000", "001"), THREE)).repeated
    assert (found.majority.of, found.split) == (3, 1)


def test_named_judges_are_a_panel_and_compared_in_pairs(graded: Grade) -> None:
    done = graded(voted("111", "110", "000", "011"), THREE, judges={"a": "model-a", "b": "model-b", "c": "model-c"})
    found = trials_of(done)
    assert not found.repeated
    (panel,) = found.panels
    assert {name: rate.passed for name, rate in panel.judges.items()} == {"model-a": 2, "model-b": 3, "model-c": 2}
    assert [(pair.first, pair.second, pair.equal) for pair in panel.pairs] == [
        ("model-a", "model-b", 3),
        ("model-a", "model-c", 2),
        ("model-b", "model-c", 3),
    ]
    assert panel.pairs[0].kappa == pytest.approx(0.5)
    assert panel.split == 2


def test_one_judge_under_three_names_is_no_panel(graded: Grade) -> None:
    done = graded(voted("111", "110"), THREE, judges=dict.fromkeys("abc", "model"))
    found = trials_of(done)
    assert (len(found.panels), found.repeated[0].judge) == (0, "model")


@pytest.mark.parametrize("judges", [{}, {"a": "model-a", "b": "model-b", "c": "model-c"}], ids=["repeated", "panel"])
def test_verdicts_that_share_no_answer_are_left_out(graded: Grade, judges: dict[str, str]) -> None:
    found = trials_of(graded(voted("1??", "?1?", "??1"), THREE, judges=judges))
    assert (found.repeated, found.panels) == ((), ())


def test_two_verdicts_of_one_judge_beside_another_judge_stay_two(graded: Grade) -> None:
    done = graded(voted("111", "110", "000", "011"), THREE, judges={"a": "model", "b": "model", "c": "other"})
    (panel,) = trials_of(done).panels
    assert {name: rate.passed for name, rate in panel.judges.items()} == {"model (a)": 2, "model (b)": 3, "other": 2}
    assert len(panel.pairs) == 3


def test_verdicts_stand_beside_the_f1_of_the_same_answers(graded: Grade) -> None:
    done = graded(ROWS, BY_ID)
    values = (1.0, 0.5, 0.0, 1.0)
    rows = [row.model_copy(update={"metrics": {"f1": f1}}) for row, f1 in zip(done.rows, values, strict=True)]
    (found,) = judge_trials([(done.summary, rows, False)]).overlap
    assert (found.passed.passed, found.passed.of) == (3, 4)
    assert (found.f1_passed, found.f1_failed) == (0.5, 1.0)
    assert (found.passed_without_overlap, found.failed_with_match) == (1, 1)
    assert not judge_trials([(done.summary, rows, True)]).overlap, "answers written to test a judge are no system"
