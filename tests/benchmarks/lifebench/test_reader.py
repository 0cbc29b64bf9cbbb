"""The options reader."""

import pytest

from memeval.benchmarks.lifebench.keys import QuestionType
from memeval.benchmarks.lifebench.questions import LifeBenchQuestion, options_in
from memeval.benchmarks.lifebench.reader import OptionsReader

QUESTION = LifeBenchQuestion(
    question_id="x:0",
    text="Which wax did she buy\nfor the skis?",
    question_type=QuestionType.INFORMATION,
    answer="B",
    month="2025-01",
    options=("Red wax", "Blue wax for cold days", "Green soap", "Blue soap"),
    rubric=(),
    evidence=(),
)

CONTEXT = """\
[2025-01-02] Hu Lan: note | title: Soap | content: Green soap is on the list.
[2025-01-03] Hu Lan: push | content: You have bought blue wax, for the skis on cold days."""


def test_options_are_read_back_from_the_shown_question() -> None:
    text, options = options_in(QUESTION.with_options())
    assert text == QUESTION.text
    assert tuple(options.values()) == QUESTION.options and "".join(options) == "ABCD"
    assert options_in(QUESTION.text) == (QUESTION.text, {})


def test_the_option_with_the_best_passage_wins() -> None:
    assert OptionsReader().read(QUESTION.with_options(), None, [CONTEXT]).answer == "B"


def test_of_equal_options_the_first_wins() -> None:
    assert OptionsReader().read(QUESTION.with_options(), None, ["[2025-01-02] Bo: Hello."]).answer == "A"


@pytest.mark.parametrize(("question", "contexts"), [(QUESTION.with_options(), ["", " "]), (QUESTION.text, [CONTEXT])])
def test_without_context_or_options_the_answer_is_blank(question: str, contexts: list[str]) -> None:
    assert OptionsReader().read(question, None, contexts).answer == ""
