"""Running a deterministic system again on drawn items."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memeval.archive.runs import RunFolder
from memeval.archive.sources import source_path
from memeval.archive.trust import holds
from memeval.benchmarks import session
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.evaluation.verify.rerun import rerun, source_of_run
from memeval.execution.setup import SystemSetup
from memeval.records.errors import BadInput, CheckFailed
from memeval.records.ledger import Sample
from memeval.records.run import SystemKind
from memeval.systems.sandbox import SandboxMode
from memeval.systems.source import SystemSource, find_system, folder_source
from tests.evaluation.asking import searching_system
from tests.support.adapters import plain_adapter
from tests.support.forging import Forger
from tests.support.runs import make_run
from tests.support.tiny import TinyBenchmark

SCENARIOS = 24
SETUP = SystemSetup(sandbox=SandboxMode.NONE)


@pytest.fixture(autouse=True)
def benchmark(monkeypatch: pytest.MonkeyPatch, no_models: None) -> TinyBenchmark:
    benchmark = TinyBenchmark(SCENARIOS, questions=2)
    monkeypatch.setattr(session, "find", lambda _name: benchmark)
    return benchmark


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A run of the plain system, which is not edited."""
    folder = tmp_path_factory.mktemp("rerunning")
    return ran(folder, TinyBenchmark(SCENARIOS, questions=2), find_system(str(plain_adapter(folder))))


def ran(folder: Path, benchmark: TinyBenchmark, source: SystemSource) -> RunFolder:
    options = RunOptions(results=folder / "results", setup=SETUP, concurrency=1)
    return run_system(source, BenchmarkSession.open(benchmark), options)


def again(run: RunFolder, folder: Path, **more: Any) -> Any:
    source = more.pop("source", None) or source_of_run(run.run, folder / "results", str(plain_adapter(folder)))
    return rerun(run, source, setup=SETUP, **more)


def test_a_deterministic_system_gives_its_answers_again(tmp_path: Path, plain: RunFolder) -> None:
    found = again(plain, tmp_path)
    assert (found.sample, found.sandboxed) == (Sample(asked=25, agreed=25), False)
    assert again(plain, tmp_path, items=500).sample.asked == 2 * SCENARIOS


def test_answers_that_the_system_does_not_give_are_found(tmp_path: Path, plain: RunFolder) -> None:
    forger = Forger.of(plain, tmp_path / "forged")
    for row in forger.responses[::2]:
        row["answer"] = "What the key says."
    forger.regrade()
    sample = again(forger.seal(), tmp_path).sample
    assert 5 < len(sample.differing) < 20
    assert not holds(sample)


def test_an_offline_reader_answers_again(tmp_path: Path, benchmark: TinyBenchmark) -> None:
    source = searching_system(tmp_path)
    run = ran(tmp_path, benchmark, source)
    assert run.run.track.reader != "native"
    assert again(run, tmp_path, source=source).sample.agreed == 25


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"deterministic": False}, "does not declare that a second run gives equal answers"),
        ({"kind": SystemKind.IMPORTED}, "are imported: there is no system to run"),
    ],
)
def test_a_system_that_may_answer_otherwise_or_is_not_there_is_not_run_again(
    tmp_path: Path, plain: RunFolder, changed: dict[str, Any], problem: str
) -> None:
    forger = Forger.of(plain, tmp_path / "forged")
    forger.system.update(changed)
    with pytest.raises(BadInput, match=problem):
        again(forger.seal(), tmp_path)


def test_a_system_that_is_gone_or_changed_is_refused(tmp_path: Path, plain: RunFolder) -> None:
    with pytest.raises(BadInput, match="is not here"):
        source_of_run(plain.run, tmp_path / "results")
    other = plain_adapter(tmp_path, on_query="return 'another program'")
    with pytest.raises(BadInput, match=r"with digest sha256:\w+…, but this one has"):
        source_of_run(plain.run, tmp_path, str(other))


def test_an_archived_submission_is_found_by_its_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path("submissions/notebook").absolute()
    digest = folder_source(folder).submission_digest
    run = make_run(tmp_path / "results", "notebook").run
    run = run.model_copy(update={"system": run.system.model_copy(update={"submission_digest": digest})})
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match="is not here"):
        source_of_run(run, tmp_path / "results")
    archived = source_path(tmp_path / "results", "notebook", digest, (folder / "submission.toml").read_bytes())
    shutil.copytree(folder, archived)
    assert source_of_run(run, tmp_path / "results").submission_digest == digest
    (archived / "adapter.py").write_text("class Other: ...\n")
    with pytest.raises(BadInput, match="but this one has"):
        source_of_run(run, tmp_path / "results")


def test_other_data_is_refused(tmp_path: Path, plain: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "find", lambda _name: TinyBenchmark(3))
    with pytest.raises(BadInput, match="used data"):
        again(plain, tmp_path)


def test_a_second_run_that_fails_is_no_sample(tmp_path: Path, plain: RunFolder) -> None:
    failing = find_system(str(plain_adapter(tmp_path, on_query="raise RuntimeError('no')")))
    failing = replace(failing, submission_digest=plain.run.system.submission_digest)
    with pytest.raises(CheckFailed, match="the second run failed on 25 of 25 drawn items"):
        again(plain, tmp_path, source=failing)
