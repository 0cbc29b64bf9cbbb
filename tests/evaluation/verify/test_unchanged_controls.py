"""Controls that verification asks only the drawn questions: being asked changes nothing that they store."""

import copy
from typing import Any

import pytest

from memeval.evaluation.verify.checks.controls import UNCHANGED, _loaded
from memeval.systems.controls import CONTROLS

SESSIONS: list[dict[str, Any]] = [
    {
        "session_id": f"s{number:03}",
        "date": "2026-01-01",
        "turns": [
            {"turn_id": f"s{number:03}:t01", "role": "user", "content": f"Anna lives in town {number}. She likes tea."},
            {"turn_id": f"s{number:03}:t02", "role": "assistant", "content": "Good to know. Where is it?"},
        ],
    }
    for number in range(1, 6)
]
QUESTIONS = ("Where does Anna live?", "What does she like?", "What is a town?")


def _asked(system: Any, question: str) -> list[Any]:
    given = []
    if hasattr(system, "query"):
        given.append(system.query(question, "2026-01-09"))
    if hasattr(system, "search"):
        given.append(system.search(question, 10, "2026-01-09"))
    return given


def _ingested(slug: str) -> Any:
    system: Any = _loaded(CONTROLS[slug])
    for session in SESSIONS:
        system.ingest_session(copy.deepcopy(session), session["date"])
    return system


@pytest.mark.parametrize("slug", sorted(UNCHANGED))
def test_an_answer_of_the_control_does_not_depend_on_earlier_questions(slug: str) -> None:
    asked_before = _ingested(slug)
    stored = copy.deepcopy(vars(asked_before))
    first, second, last = (_asked(asked_before, question) for question in QUESTIONS)
    assert vars(asked_before) == stored
    assert (first, second) != ([], []) and last == _asked(_ingested(slug), QUESTIONS[-1])


def test_a_control_that_counts_its_questions_is_asked_all_of_them() -> None:
    system = _ingested("always-hedge-shrinking")
    stored = copy.deepcopy(vars(system))
    _asked(system, QUESTIONS[0])
    assert vars(system) != stored
    assert "always-hedge-shrinking" not in UNCHANGED
