"""Adversarial questions with two options: one is the trap, the other says that it was not mentioned.

LoCoMo chooses the order of the options at random. Here the id of the question decides, so that runs are repeatable.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from memeval.benchmarks.locomo.keys import LocomoKey
from memeval.grading.base import Grader
from memeval.judging.base import Case, Judge
from memeval.keys import ItemKey
from memeval.records.grade import Grade
from memeval.records.response import Response
from memeval.records.scenario import Scenario

NOT_MENTIONED = "Not mentioned in the conversation"
"""The correct option. The rule of the category looks for these words."""


def options_of(question_id: str, trap: str) -> tuple[str, str]:
    """Return the options of a question, (a) first."""
    right_first = hashlib.sha256(question_id.encode()).digest()[0] % 2 == 0
    return (NOT_MENTIONED, trap) if right_first else (trap, NOT_MENTIONED)


def with_options(question: str, options: tuple[str, ...]) -> str:
    """Return a question with its options; unchanged if there are none."""
    if not options:
        return question
    first, second = options
    return f"{question}\nOne of these two is right: (a) {first} (b) {second}\nAnswer with (a) or (b)."


def chosen(answer: str, options: tuple[str, ...]) -> str:
    """Return the option that an answer names, by the rule of LoCoMo (``task_eval/gpt_utils.py``).

    ``a`` and ``(a)`` name the first option. Any other answer of one or three characters names the second. A longer
    answer is returned in lower case.
    """
    text = answer.strip().lower()
    if len(text) not in (1, 3):
        return text
    first, second = options
    return first if text in ("a", "(a)") else second


class Chosen:
    """Replaces an option letter by the text of the option, then grades it.

    Args:
        inner: grades the text.
    """

    def __init__(self, inner: Grader) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        """Name and version of the inner grader."""
        return self._inner.name

    @property
    def asks_judge(self) -> bool:
        """Whether the inner grader does."""
        return self._inner.asks_judge

    def cases(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response]) -> Sequence[Case]:
        """Return the cases for a judge; see :class:`memeval.grading.base.Grader`."""
        return self._inner.cases(item, scenario, _with_option_texts(item, responses))

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        """Grade one item; see :class:`memeval.grading.base.Grader`."""
        return self._inner.grade(item, scenario, _with_option_texts(item, responses), judge)


def _with_option_texts(item: ItemKey, responses: Sequence[Response]) -> Sequence[Response]:
    if not (isinstance(item.key, LocomoKey) and item.key.options):
        return responses
    options = item.key.options
    return [each.model_copy(update={"answer": chosen(each.answer, options)}) for each in responses]
