"""Names of removed editions are explained in one sentence."""

from pathlib import Path
from typing import Any

import pytest

from memeval.benchmarks import all_benchmarks
from memeval.benchmarks.session import session_of_run
from memeval.conformance import SUITE
from memeval.evaluation.verify.verification import checks_of_run
from memeval.execution.readers import READERS
from memeval.leaderboard.releases import RANKS_METHOD
from memeval.records.errors import BadInput
from memeval.records.track import CategoryPlan
from memeval.removed import why_removed
from tests.support.runs import make_run, make_track


def graded_by(grader: str) -> dict[str, Any]:
    plans = (CategoryPlan(name=name, weight=0.5, items=50, grader=grader) for name in ("kept", "changed"))
    return {"categories": tuple(plans)}


def test_a_removed_edition_is_explained_with_its_reason_and_its_last_commit() -> None:
    sentence = why_removed("beliefs@1")
    assert sentence is not None and sentence.startswith("beliefs@1 was removed: ")
    assert sentence.endswith("The last commit with it is 1738e770.")


def test_an_edition_that_was_never_there_is_not_explained() -> None:
    assert why_removed("beliefs@7") is None


def test_what_memeval_has_is_not_called_removed() -> None:
    graders = {
        category.grader.name
        for benchmark in all_benchmarks()
        for protocol in benchmark.info.protocols
        for category in benchmark.table(protocol.name)
    }
    readers = {each.name for each in READERS} | {each.name for one in all_benchmarks() for each in one.readers}
    assert {"judged@1", "judged-doubt@1", "delta-efficiency@3"} <= graders
    assert [name for name in (*graders, *readers, RANKS_METHOD, SUITE) if why_removed(name)] == []


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("extractive@1", {"reader": "extractive@1"}),
        ("rules@2", {"judge": "rules@2"}),
        ("locomo-f1@1", graded_by("locomo-f1@1")),
        ("delta-efficiency@2", graded_by("delta-efficiency@2")),
    ],
)
def test_a_stored_run_of_a_removed_edition_is_refused_with_one_sentence(
    name: str, parts: dict[str, Any], tmp_path: Path
) -> None:
    folder = make_run(tmp_path, "acme", track=make_track(**parts))
    (finding,) = (finding for check in checks_of_run(folder) for finding in check.findings)
    assert str(finding).startswith(f"{folder.path / 'run.json'}: track: {name} was removed: ")
    with pytest.raises(BadInput, match=f"^{name} was removed: "):
        session_of_run(folder.run)
