"""The released DeepMemEval data, whole, through the command line."""

from pathlib import Path

import pytest

from memeval.archive.runs import RunFolder, sealed_runs
from tests.support.adapters import plain_adapter
from tests.support.commands import memeval
from tests.support.data import test_data


def run(system: str, folder: Path) -> RunFolder:
    """Run a system on the released data by the command line, and return the sealed run."""
    data = test_data("deepmemeval/deepmemeval_500.json")
    assert memeval("run", system, "--benchmark", "deepmemeval@1", "--data", str(data), where=folder).code == 0
    (found,) = sealed_runs(folder / "results")
    return found


def test_a_four_method_adapter_gives_500_items_from_2020_responses(tmp_path: Path) -> None:
    folder = run(str(plain_adapter(tmp_path)), tmp_path)
    assert sum(1 for _ in folder.responses()) == 2020
    assert folder.run.coverage.full
    assert (folder.run.coverage.planned, folder.run.coverage.done) == (500, 500)
    assert folder.run.scores.overall.errors == 0
    assert folder.run.tokens.source == "self-reported"
    assert [(c.name, c.tally.planned) for c in folder.run.scores.categories] == [
        ("belief-update", 100),
        ("cascade-propagation", 80),
        ("noise-resistance", 80),
        ("temporal-belief", 80),
        ("delta-efficiency", 80),
        ("uncertainty-abstention", 80),
    ]
    data = test_data("deepmemeval/deepmemeval_500.json")
    assert memeval("reproduce", str(folder.path), "--data", str(data), where=tmp_path).code == 0


@pytest.mark.parametrize(
    ("control", "published", "gated", "raw"),
    [("always-hedge", 0.30, 0.30, 160), ("always-hedge-shrinking", 0.40, 0.30, 240), ("no-memory", 0.0, 0.0, 0)],
)
def test_hedging_pays_as_published_unless_gated(
    tmp_path: Path, control: str, published: float, gated: float, raw: int
) -> None:
    scores = run(control, tmp_path).run.scores
    assert scores.composite.value == pytest.approx(published, abs=1e-12)
    assert scores.alternates["gated"].value == pytest.approx(gated, abs=1e-12)
    assert scores.overall.correct == raw


def test_an_always_failing_system_is_all_errors_and_a_control_exits_0(tmp_path: Path) -> None:
    scores = run("always-error", tmp_path).run.scores
    assert scores.overall.errors == 500
    assert scores.overall.graded_accuracy is None
