"""The loop over a plan: what it yields, what its runs share, and what a failure does to the others."""

from functools import partial
from pathlib import Path

import pytest

from memeval.benchmarks.base import Dataset, Parameters
from memeval.evaluation.plan.executing import PlannedRun, RunState, run_plan
from memeval.options import RunOptions
from memeval.records.errors import CheckFailed
from tests.support.registered import register
from tests.support.tiny import Faulty, Named, Notes, Torn


class Counting(Named):
    times = 0

    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> Dataset:  # type: ignore[override]
        type(self).times += 1
        return super().open(path, parameters)


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Only the benchmarks of this module, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    Counting.times = 0
    register(
        monkeypatch,
        {name: partial(kind, name) for name, kind in {"tiny@1": Counting, "torn@1": Torn, "faulty@1": Faulty}.items()},
        only=True,
    )


def test_runs_on_the_same_data_that_follow_each_other_open_it_once() -> None:
    plan = [PlannedRun(system, "tiny@1") for system in ("no-memory", "always-hedge", "echo-question")]
    states = [outcome.state for outcome in run_plan(plan, RunOptions())]
    assert (states, Counting.times) == ([RunState.DONE] * 3, 1)


def test_a_failure_does_not_stop_the_others_and_is_noted_where_it_happens() -> None:
    systems = (("no-such", "tiny@1"), ("no-memory", "torn@1"), ("no-memory", "faulty@1"), ("no-memory", "tiny@1"))
    progress = Notes()
    outcomes = list(run_plan([PlannedRun(*each) for each in systems], RunOptions(), progress))
    assert [outcome.state for outcome in outcomes] == [RunState.FAILED] * 3 + [RunState.DONE]
    assert isinstance(outcomes[2].error, CheckFailed) and "unexpected KeyError: 'a slip'." in str(outcomes[2].error)
    assert [note for note in progress.said if note[1:3] == "/4"] == [
        f"{number}/4 {system} on {benchmark}" for number, (system, benchmark) in enumerate(systems, 1)
    ]
    assert "failed: the data is torn. Fetch it again." in progress.said


def test_an_error_in_code_is_raised_for_who_looks_for_it() -> None:
    with pytest.raises(KeyError):
        list(run_plan([PlannedRun("no-memory", "faulty@1")], RunOptions(), debug=True))


def test_a_system_without_a_needed_method_is_not_applicable_with_few_words() -> None:
    (outcome,) = run_plan([PlannedRun("bm25", "tiny@1", reader="native")], RunOptions())
    assert outcome.state is RunState.NOT_APPLICABLE
    assert outcome.short == "bm25 has no method 'query'. The reader 'native' needs it."


def test_what_the_plan_names_comes_before_the_options() -> None:
    planned = PlannedRun("no-memory", "tiny@1", reader="extractive")
    (outcome,) = run_plan([planned], RunOptions(reader="native"), repeat=2)
    assert [folder.run.track.reader.partition("@")[0] for folder in outcome.folders] == ["extractive"] * 2
    assert len({folder.run.run_id for folder in outcome.folders}) == 2
