"""Questions as released, and broken ones."""

from pathlib import Path
from typing import Any

import pytest

from memeval.benchmarks.lifebench.questions import LifeBenchQuestion, read_questions
from memeval.benchmarks.lifebench.released import read_user
from memeval.records.errors import BadInput
from tests.benchmarks.lifebench.samples import ROWS, USER, write_user


@pytest.fixture(scope="module")
def questions(small: Path) -> tuple[LifeBenchQuestion, ...]:
    return read_questions(read_user(small / "data_en", USER))


def test_references_are_distinct_and_ids_may_be_numbers_or_text(questions: tuple[LifeBenchQuestion, ...]) -> None:
    assert questions[0].evidence == (("sms", "7"), ("push", "1"), ("note", "99"))
    assert questions[3].evidence == (("note", "5"), ("call", "1"))
    assert questions[2].evidence == ()


def test_a_question_is_asked_at_the_end_of_its_month(questions: tuple[LifeBenchQuestion, ...]) -> None:
    assert questions[1].asked_at == "2025-02-28T23:59:59"
    assert questions[3].asked_at == "2025-03-31T23:59:59"


def test_options_follow_the_question_and_open_questions_have_none(questions: tuple[LifeBenchQuestion, ...]) -> None:
    shown = questions[1].with_options().splitlines()
    assert shown[:3] == ["What does she wax?", "A: a skis", "B: b skis"]
    assert questions[0].with_options() == questions[0].text


def test_a_rubric_has_its_points_and_no_ids_of_events(questions: tuple[LifeBenchQuestion, ...]) -> None:
    assert [(each.criterion, each.points) for each in questions[0].rubric] == [
        ("Names nine o'clock.", 6.0),
        ("Names the train.", 2.0),
    ]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"question": None}, "'question'"),
        ({"question_type": "Riddle"}, "unknown question type 'Riddle'"),
        ({"ask_time": "2025-13"}, "'ask_time' is '2025-13', not a month"),
        ({"answer": "E", "options": ROWS[1]["options"]}, "the answer 'E' is not a letter of its options"),
        ({"options": ROWS[1]["options"][1:]}, "the options are not lettered"),
        ({"evidence": "sms 7"}, "'evidence'"),
    ],
)
def test_a_broken_question_is_refused_by_its_index(tmp_path: Path, change: dict[str, Any], sentence: str) -> None:
    files = read_user(write_user(tmp_path, [ROWS[2], {**ROWS[0], **change}]) / "data_en", USER)
    with pytest.raises(BadInput) as caught:
        read_questions(files)
    assert sentence in str(caught.value) and "question 1 " in str(caught.value)
    assert "QA_clean.json" in str(caught.value)
