"""The one-line summary of a run with too many errors: the first error and its remedy."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import pytest

from memeval.archive.runs import RunFolder
from memeval.cli.reporting import LONGEST_ERROR, first_error, remedy_for, shortened
from memeval.records.grade import Grade, GradeState


@dataclass
class GradedRun:
    """The grades of a run without responses, as a run folder gives them."""

    states: tuple[GradeState, ...]

    def grades(self) -> Iterator[Grade]:
        given: dict[str, Any] = {"category": "c", "cluster": "k", "slices": {}, "grader": "g@1", "verdict": None}
        for number, state in enumerate(self.states):
            yield Grade(item_id=f"i{number}", state=state, reason=f"{state} {number}.", **given)

    def responses(self) -> tuple[()]:
        return ()


def test_the_remedy_belongs_to_the_error_that_is_named() -> None:
    states = (GradeState.EMPTY, GradeState.ADAPTER_ERROR, GradeState.UNPARSED, GradeState.UNPARSED)
    folder = cast("RunFolder", GradedRun(states))
    assert first_error(folder) == "adapter_error 1"
    assert remedy_for(folder) == "Fix the system and run again."
    assert remedy_for(cast("RunFolder", GradedRun((GradeState.EMPTY,)))) == ""


PROBLEM = f"query raised ValueError: {'x' * 120} (adapter.py:7 in query)"


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        ("query raised KeyError: 'index'.", "query raised KeyError: 'index'"),
        (f"{PROBLEM}. Read the manual.", f"{PROBLEM}. Read the manual"),
        (f"{PROBLEM}. Run with --sandbox none, or make a submission folder.", f"{PROBLEM}. …"),
        ("y" * 300, f"{'y' * (LONGEST_ERROR - 2)} …"),
        (f"No. {'z' * 300}", f"No. {'z' * (LONGEST_ERROR - 6)} …"),
    ],
)
def test_a_long_error_is_cut_before_its_remedy_or_marked(error: str, shown: str) -> None:
    assert shortened(error) == shown
    assert len(shown) <= LONGEST_ERROR
