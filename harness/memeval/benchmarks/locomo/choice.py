"""The two-option form of adversarial questions: one option is the trap, the other that nothing was said of it.

LoCoMo tosses a coin for the order of the options; here the question's id decides, so that a run can be repeated.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from memeval.grading.base import Grader
from memeval.judging.base import Case, Judge
from memeval.keys import ItemKey, LocomoKey
from memeval.records.grade import Grade
from memeval.records.response import Response
from memeval.records.scenario import Scenario

NOT_MENTIONED = "Not mentioned in the conversation"
"""The right option: the rule of the category looks for these words."""


def options_of(question_id: str, trap: str) -> tuple[str, str]:
    """Return the options of a question, (a) first."""
    right_first = hashlib.sha256(question_id.encode()).digest()[0] % 2 == 0
    return (NOT_MENTIONED, trap) if right_first else (trap, NOT_MENTIONED)


def with_options(question: str, options: tuple[str, ...]) -> str:
    """Return a question as it is asked with its options; as it is where there are none."""
    if not options:
        return question
    first, second = options
    return f"{question}\nOne of these two is right: (a) {first} (b) {second}\nAnswer with (a) or (b)."


def chosen(answer: str, options: tuple[str, ...]) -> str:
    """Return the option that an answer names, as LoCoMo reads it (``task_eval/gpt_utils.py``).

    An answer of one character names (a) if it is an a, one of three if it is ``(a)``, and else (b), whatever it says.
    Any other stands for itself, in lower case.
    """
    said = answer.strip().lower()
    if len(said) not in (1, 3):
        return said
    first, second = options
    return first if said in ("a", "(a)") else second


class Chosen:
    """Grades an option as the answer that it stands for.

    Args:
        inner: who grades the answer.
    """

    def __init__(self, inner: Grader) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        """Name and version of who grades the answer."""
        return self._inner.name

    def cases(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response]) -> Sequence[Case]:
        """Return what a judge is asked; see :class:`memeval.grading.base.Grader`."""
        return self._inner.cases(item, scenario, _spelt_out(item, responses))

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        """Grade one item; see :class:`memeval.grading.base.Grader`."""
        return self._inner.grade(item, scenario, _spelt_out(item, responses), judge)


def _spelt_out(item: ItemKey, responses: Sequence[Response]) -> Sequence[Response]:
    if not (isinstance(item.key, LocomoKey) and item.key.options):
        return responses
    options = item.key.options
    return [each.model_copy(update={"answer": chosen(each.answer, options)}) for each in responses]
