"""The public Python API: run a system, verify, reproduce and load runs, build a board."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder, find_run, sealed_runs
from memeval.benchmarks import all_benchmarks, find
from memeval.benchmarks.base import Benchmark, Parameters
from memeval.evaluation.plan import Exam
from memeval.evaluation.reproduction import Reproduction, reproduce_run
from memeval.evaluation.running import RunOptions, run_system
from memeval.evaluation.verification import Finding, runs_under, verify_results
from memeval.execution.progress import Progress
from memeval.leaderboard.board import Board, build_board
from memeval.leaderboard.releases import hold
from memeval.records.errors import BadInput
from memeval.systems.source import SystemSource, find_system


def run(
    system: str | Path | SystemSource,
    benchmark: str | Sequence[str] | None = None,
    *,
    data: Path | None = None,
    parameters: Parameters | None = None,
    options: RunOptions | None = None,
    repeat: int = 1,
    progress: Progress | None = None,
) -> list[RunFolder]:
    """Run a system on benchmarks and return the sealed runs, one a benchmark and repetition.

    A run that was finished before with the very same inputs is returned as it is; one that was interrupted goes on
    where it stopped.

    Args:
        system: a slug under ``submissions/``, a shipped control, a folder, or a ``.py`` file with an adapter class.
        benchmark: ids such as ``beliefs@1``; ``None`` for every benchmark whose data is here.
        data: a local copy of the benchmark's data; goes with one benchmark.
        parameters: seed and size of a generated benchmark.
        options: how it is run.
        repeat: how many times to run; each time after the first starts another run.
        progress: is told how it goes.

    Raises:
        BadInput: something asked for is not there, or the adapter cannot be loaded.
        CheckFailed: never; a run whose system fails is a run with errors.
    """
    if repeat < 1:
        raise BadInput(f"--repeat is {repeat}.", remedy="Give a number of at least 1.")
    options = options or RunOptions()
    source = system if isinstance(system, SystemSource) else find_system(str(system))
    benchmarks = _benchmarks(benchmark, data)
    if data is not None and len(benchmarks) != 1:
        raise BadInput("--data goes with one benchmark.", remedy="Name it with --benchmark.")
    folders = []
    for each in benchmarks:
        exam = Exam.open(each, data, parameters)
        for turn in range(repeat):
            folders.append(run_system(source, exam, replace(options, fresh=options.fresh or turn > 0), progress))
    return folders


def _benchmarks(named: str | Sequence[str] | None, data: Path | None) -> list[Benchmark]:
    if named is None:
        return [benchmark for benchmark in all_benchmarks() if benchmark.available(data)]
    return [find(name) for name in ([named] if isinstance(named, str) else named)]


def load_run(run: str | Path, results: Path = Path("results")) -> RunFolder:
    """Return a stored run, named by its folder or its id.

    Raises:
        BadInput: it is not there, or cannot be read.
    """
    return find_run(results, str(run))


def load_runs(named: str | Path, results: Path = Path("results")) -> list[RunFolder]:
    """Return the stored runs at or under a folder, or the one of an id.

    Raises:
        BadInput: there is neither such a folder nor such a run.
    """
    path = Path(named)
    return runs_under(path) if path.is_dir() else [find_run(results, str(named))]


def verify(path: str | Path, *, results: Path = Path("results")) -> list[Finding]:
    """Check every stored run at or under a path, and the ledger where there is one.

    Args:
        path: a run's folder or id, or a folder above runs.
        results: where an id is looked up.

    Raises:
        BadInput: there is no run.
    """
    place = Path(path) if Path(path).is_dir() else find_run(results, str(path)).path
    findings = verify_results(place)
    try:
        hold(place)
    except BadInput as error:
        if not any(finding.problem == error.problem for finding in findings):
            findings.append(Finding(error.where or str(place), error.problem, error.remedy or ""))
    return findings


def reproduce(
    run: str | Path | RunFolder, *, results: Path = Path("results"), data: Path | None = None
) -> Reproduction:
    """Grade a run's stored responses again, offline, and compare with what is stored; see :func:`reproduce_run`."""
    return reproduce_run(run if isinstance(run, RunFolder) else load_run(run, results), data)


def board(results: Path = Path("results")) -> Board:
    """Return the leaderboard of a results folder."""
    return build_board(sealed_runs(results), Ledger(results))


__all__ = [
    "Board",
    "Finding",
    "Reproduction",
    "RunFolder",
    "RunOptions",
    "board",
    "load_run",
    "load_runs",
    "reproduce",
    "run",
    "verify",
]
