"""The public Python API: run systems, judge stored answers again, audit judges, verify, reproduce, build a board."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memeval.archive.runs import RunFolder, find_run, runs_under, sealed_runs
from memeval.benchmarks import all_benchmarks, find
from memeval.benchmarks.base import Benchmark, Parameters
from memeval.evaluation.models import ModelOptions
from memeval.evaluation.plan import Exam
from memeval.evaluation.running import RunOptions, run_system
from memeval.execution.progress import Progress
from memeval.records.base import Digest
from memeval.records.errors import BadInput, NotApplicable
from memeval.systems.output import visible
from memeval.systems.source import SystemSource, find_system

if TYPE_CHECKING:
    from memeval.archive.audits import AuditFolder, BridgeFolder
    from memeval.evaluation.auditing import AuditOptions
    from memeval.evaluation.estimate import Estimate
    from memeval.evaluation.exchange.importing import ImportOptions
    from memeval.evaluation.findings import Finding
    from memeval.evaluation.live import SuiteOptions
    from memeval.evaluation.matrix import MatrixRun
    from memeval.evaluation.rejudging import RejudgeOptions
    from memeval.evaluation.reproduction import Reproduction
    from memeval.leaderboard.board import Board
    from memeval.records.comparison import Comparison
    from memeval.records.conformance import Conformance
    from memeval.records.evalresult import EvalResult
    from memeval.records.failure import Failure

_ELSEWHERE = {
    "AuditFolder": "memeval.archive.audits",
    "AuditOptions": "memeval.evaluation.auditing",
    "Board": "memeval.leaderboard.board",
    "BridgeFolder": "memeval.archive.audits",
    "Comparison": "memeval.records.comparison",
    "Conformance": "memeval.records.conformance",
    "Estimate": "memeval.evaluation.estimate",
    "EvalResult": "memeval.records.evalresult",
    "Failure": "memeval.records.failure",
    "Finding": "memeval.evaluation.findings",
    "ImportOptions": "memeval.evaluation.exchange.importing",
    "MatrixRun": "memeval.evaluation.matrix",
    "RejudgeOptions": "memeval.evaluation.rejudging",
    "Reproduction": "memeval.evaluation.reproduction",
    "SuiteOptions": "memeval.evaluation.live",
}
"""Types of what the functions take and give, and where they live: loaded when they are first asked for."""


def __getattr__(name: str) -> Any:
    if name in _ELSEWHERE:
        return getattr(import_module(_ELSEWHERE[name]), name)
    raise AttributeError(f"module 'memeval.api' has no attribute {name!r}")


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
        benchmark: ids such as ``beliefs@1``; ``None`` for every benchmark whose data is here and that the system can
            take, without those that are run by name only.
        data: a local copy of the benchmark's data; goes with one benchmark.
        parameters: seed and size of a generated benchmark.
        options: how it is run.
        repeat: how many times to run; each time after the first starts another run.
        progress: is told how it goes.

    Raises:
        NotApplicable: the system lacks a method that a named benchmark needs, or can take none of all.
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
    folders: list[RunFolder] = []
    refused: NotApplicable | None = None
    for each in benchmarks:
        exam = _exam(each, data, parameters, options)
        try:
            for turn in range(repeat):
                folders.append(run_system(source, exam, replace(options, fresh=options.fresh or turn > 0), progress))
        except NotApplicable as lacking:
            if benchmark is not None:
                raise
            refused = lacking
            if progress is not None:
                progress.note(f"{each.info.id} not applicable: {lacking}")
    if refused is not None and not folders:
        raise refused
    return folders


def _exam(benchmark: Benchmark, data: Path | None, parameters: Parameters | None, options: RunOptions) -> Exam:
    """Open a benchmark in the way that a run asks for."""
    return Exam.open(benchmark, data, parameters, protocol=options.protocol, tier=options.tier, errata=options.errata)


def run_suite(
    system: object,
    suite: str | Path = "basic",
    bank_id: str = "eval-test",
    *,
    clean_after: bool = True,
    options: SuiteOptions | None = None,
    progress: Progress | None = None,
) -> EvalResult:
    """Run a suite on a live object in this process: retain, settle, recall, reflect, forget.

    The runner and the graders are those of :func:`run`, and the object is called as an adapter is (``retain``,
    ``recall``, ``reflect``, ``forget``, asynchronous or not, each with what it takes of ``bank`` or ``bank_id``,
    ``tags`` and the like). It is not held in and has no time limits; what it holds in other banks is left alone.

    Args:
        system: the object.
        suite: ``basic``, ``accuracy``, ``reflect`` or ``stress``, or the path of a suite in YAML.
        bank_id: the bank that the suite is run in; it must be empty. Further banks of a suite begin with its name.
        clean_after: whether the banks are forgotten in the end. Where that fails, the result says so in its notes.
        options: how; see :class:`SuiteOptions`.
        progress: is told how it goes.

    Raises:
        BadInput: there is no such suite, the bank holds something, or the object takes no banks.
        NotApplicable: the object lacks a method that the suite needs.
        GatewayStopped: the judge's endpoint, its key or a budget stopped it.
    """
    from memeval.evaluation import live

    return live.run_suite(system, suite, bank_id, clean_after=clean_after, options=options, progress=progress)


def check_conformance(
    system: str | Path | SystemSource, *, options: RunOptions | None = None, progress: Progress | None = None
) -> Conformance:
    """Find out, with planted facts, whether a system keeps to the adapter contract, and store what came of it.

    Args:
        system: a slug under ``submissions/``, a shipped control, a folder, or a ``.py`` file with an adapter class.
        options: where the report is stored, how models are used, how the system is held, and its limits.
        progress: is told what a person should know.

    Raises:
        BadInput: the system cannot be prepared or loaded.
    """
    from memeval.evaluation import conforming
    from memeval.execution.progress import Silent

    options = options or RunOptions()
    source = system if isinstance(system, SystemSource) else find_system(str(system))
    return conforming.check_conformance(
        source,
        options.results,
        progress or Silent(),
        setup=options.setup,
        models=options.models,
        limits=options.limits,
    )


def _benchmarks(named: str | Sequence[str] | None, data: Path | None) -> list[Benchmark]:
    if named is None:
        whole = [each for each in all_benchmarks() if not (each.info.by_name_only or each.info.brought)]
        return [benchmark for benchmark in whole if benchmark.available(data)]
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
    from memeval.evaluation.findings import Finding
    from memeval.evaluation.verification import verify_results
    from memeval.leaderboard.releases import hold

    place = Path(path) if Path(path).is_dir() else find_run(results, str(path)).path
    findings = verify_results(place)
    try:
        hold(place)
    except BadInput as error:
        if not any(finding.problem == error.problem for finding in findings):
            findings.append(Finding(error.where or str(place), error.problem, error.remedy or ""))
    return findings


def reproduce(
    run: str | Path | RunFolder,
    *,
    results: Path = Path("results"),
    data: Path | None = None,
    errata: Path | None = None,
) -> Reproduction:
    """Grade a run's stored responses again, offline, and compare with what is stored; see :func:`reproduce_run`."""
    from memeval.evaluation.reproduction import reproduce_run

    return reproduce_run(run if isinstance(run, RunFolder) else load_run(run, results), data, errata)


def rejudge(
    run: str | Path | RunFolder,
    judge: str,
    *,
    label: str | None = None,
    prompts: Path | None = None,
    data: Path | None = None,
    options: RejudgeOptions | None = None,
    progress: Progress | None = None,
) -> RunFolder:
    """Grade a stored run's responses under another judge: a new run on another track.

    Args:
        run: the run, by its folder or its id.
        judge: ``rules`` or ``openai:MODEL``.
        label: who serves a model judge whose endpoint is not its maker's.
        prompts: a folder with other prompts for a model judge.
        data: a local copy of the benchmark's data.
        options: how; see :class:`RejudgeOptions`.
        progress: is told how it goes.

    Raises:
        BadInput: something asked for is not there.
        GatewayStopped: the judge's endpoint, its key or a budget stopped it; the same call goes on.
    """
    from memeval.evaluation.judges import choose_judge
    from memeval.evaluation.rejudging import RejudgeOptions, rejudge_run

    options = options or RejudgeOptions()
    source = run if isinstance(run, RunFolder) else load_run(run, options.results)
    return rejudge_run(source, choose_judge(judge, label, prompts), options, data, progress)


def audit(
    judge: str,
    benchmark: str | Sequence[str] | None = None,
    *,
    label: str | None = None,
    prompts: Path | None = None,
    data: Path | None = None,
    options: AuditOptions | None = None,
    progress: Progress | None = None,
) -> list[AuditFolder]:
    """Measure a judge against calibration answers of benchmarks, and store its error rates.

    Args:
        judge: ``rules`` or ``openai:MODEL``.
        benchmark: ids such as ``beliefs@1``; ``None`` for every benchmark whose data is here.
        label: who serves a model judge whose endpoint is not its maker's; not needed for others.
        prompts: a folder with other prompts for a model judge.
        data: a local copy of the benchmark's data; goes with one benchmark.
        options: how; see :class:`AuditOptions`.
        progress: is told how it goes.

    Raises:
        BadInput: something asked for is not there.
        GatewayStopped: the judge's endpoint, its key or a budget stopped it; the same call goes on.
    """
    from memeval.evaluation.auditing import AuditOptions, audit_judge
    from memeval.evaluation.judges import choose_judge

    benchmarks = _benchmarks(benchmark, data)
    if data is not None and len(benchmarks) != 1:
        raise BadInput("--data goes with one benchmark.", remedy="Name it with --benchmark.")
    chosen = choose_judge(judge, label, prompts)
    return [audit_judge(chosen, Exam.open(each, data), options or AuditOptions(), progress) for each in benchmarks]


def bridge(
    old: str,
    new: str,
    runs: Sequence[str | Path | RunFolder] | None = None,
    *,
    label: str | None = None,
    prompts: Path | None = None,
    data: Path | None = None,
    options: RejudgeOptions | None = None,
    progress: Progress | None = None,
) -> list[BridgeFolder]:
    """Grade stored responses under the judge that takes over from another, and store how far the two agree.

    Args:
        old: the judge that is retired, with or without its version.
        new: the judge that takes over: ``rules`` or ``openai:MODEL``.
        runs: full runs that the old judge graded; ``None`` for all there are.
        label: who serves a new model judge whose endpoint is not its maker's.
        prompts: a folder with other prompts for the new judge.
        data: a local copy of the benchmark's data.
        options: how; see :class:`RejudgeOptions`.
        progress: is told how it goes.

    Returns:
        One bridge for each benchmark and data that there are runs on, and each set-up of the old judge.

    Raises:
        BadInput: something asked for is not there, or there is no such run.
        GatewayStopped: the new judge's endpoint, its key or a budget stopped it; the same call goes on.
    """
    from memeval.evaluation.bridging import bridge_judges, ground
    from memeval.evaluation.judges import choose_judge, is_judged_by
    from memeval.evaluation.rejudging import RejudgeOptions

    options = options or RejudgeOptions()
    given = sealed_runs(options.results) if runs is None else [_loaded(run, options.results) for run in runs]
    folders = [folder for folder in given if is_judged_by(folder.run.track, old) and folder.run.coverage.full]
    if not folders:
        raise BadInput(f"no full run here was judged by {visible(old)}.", remedy="Name it as the runs' track does.")
    chosen = choose_judge(new, label, prompts)
    grouped: dict[Digest, list[RunFolder]] = defaultdict(list)
    for folder in folders:
        grouped[ground(folder.run.track)].append(folder)
    return [bridge_judges(members, chosen, options, data, progress) for members in grouped.values()]


def estimate(
    system: str | Path | SystemSource,
    benchmark: str,
    *,
    data: Path | None = None,
    parameters: Parameters | None = None,
    options: RunOptions | None = None,
) -> Estimate:
    """Return what a run would take in model calls, tokens, dollars and hours; nothing is run and nothing is asked.

    Args:
        system: as :func:`run` takes it.
        benchmark: its id.
        data: a local copy of the benchmark's data.
        parameters: seed and size of a generated benchmark.
        options: how it would be run.

    Raises:
        BadInput: something asked for is not there.
    """
    from memeval.evaluation.estimate import estimate_run

    source = system if isinstance(system, SystemSource) else find_system(str(system))
    options = options or RunOptions()
    return estimate_run(source, _exam(find(benchmark), data, parameters, options), options)


def import_answers(
    file: str | Path,
    format: str,
    benchmark: str | None = None,
    *,
    data: Path | None = None,
    parameters: Parameters | None = None,
    protocol: str | None = None,
    system: str | None = None,
    judge: str = "rules",
    label: str | None = None,
    prompts: Path | None = None,
    options: ImportOptions | None = None,
    progress: Progress | None = None,
) -> RunFolder:
    """Grade answers that were made elsewhere, and seal a run of them; see :func:`import_file`.

    Args:
        file: the file of answers.
        format: its format, such as ``locomo``.
        benchmark: its id; ``None`` for the one that the format is of.
        data: a local copy of the benchmark's data.
        parameters: parameters of the benchmark.
        protocol: the way of grading.
        system: which of several systems' answers in the file; where there is one only, what that system is called.
        judge: ``rules`` or ``openai:MODEL``.
        label: who serves a model judge whose endpoint is not its maker's.
        prompts: a folder with other prompts for a model judge.
        options: where from, and where to.
        progress: is told how it goes.

    Raises:
        BadInput: something asked for is not there, or the file is not what it should be.
        GatewayStopped: the judge's endpoint, its key or a budget stopped it; the same call goes on.
    """
    from memeval.evaluation.exchange.formats import find_format
    from memeval.evaluation.exchange.importing import ImportOptions, exam_for, import_file
    from memeval.evaluation.exchange.reading import AnswerFile
    from memeval.evaluation.judges import choose_judge

    form, path = find_format(format), Path(file)
    read = AnswerFile.open(path, system)
    exam = exam_for(form, path, benchmark, data, parameters, protocol)
    chosen = choose_judge(judge, label, prompts)
    return import_file(read, form, exam, chosen, options or ImportOptions(), progress)


def export(
    run: str | Path | RunFolder,
    format: str,
    to: str | Path,
    *,
    results: Path = Path("results"),
    data: Path | None = None,
    force: bool = False,
) -> tuple[Path, ...]:
    """Write a stored run in someone else's format, and return the files; see :func:`export_run`."""
    from memeval.evaluation.exchange.exporting import export_run
    from memeval.evaluation.exchange.formats import find_format

    return export_run(_loaded(run, results), find_format(format), Path(to), data, force=force)


def compare(runs: Sequence[str | Path | RunFolder], *, results: Path = Path("results")) -> Comparison:
    """Hold stored runs against the first of them, item by item; see :func:`compare_runs`.

    Args:
        runs: at least two runs, by their folders or their ids: of one track, or over the very same responses.
        results: where ids are looked up.

    Raises:
        BadInput: there is no such run, or they cannot be compared.
    """
    from memeval.evaluation.comparing import compare_runs

    return compare_runs([_loaded(run, results) for run in runs])


def matrix(file: str | Path, *, options: RunOptions | None = None, progress: Progress | None = None) -> MatrixRun:
    """Run several systems through several benchmarks, as a file asks for it, and store the comparison.

    Args:
        file: a YAML file; see :func:`memeval.evaluation.matrix_file.read_matrix`.
        options: how the systems are run; readers and judge are the file's where it names any.
        progress: is told how it goes.

    Raises:
        BadInput: the file is not what it should be; all that is wrong with it is told.
    """
    from memeval.evaluation.matrix import run_matrix
    from memeval.evaluation.matrix_file import read_matrix

    return run_matrix(read_matrix(Path(file)), options or RunOptions(), progress)


def failures(
    run: str | Path | RunFolder, *, results: Path = Path("results"), data: Path | None = None
) -> list[Failure]:
    """Return why a run's items are not right, and what of their evidence was found.

    Args:
        run: the run, by its folder or its id.
        results: where an id is looked up.
        data: a local copy of the benchmark's data; needed only where the run was sealed without the analysis.

    Raises:
        BadInput: there is no such run; or it holds no analysis, and its data is not here.
    """
    from memeval.evaluation.failures import data_of, failures_of_run

    folder = _loaded(run, results)
    return failures_of_run(folder, lambda: data_of(folder.run, data))


def _loaded(run: str | Path | RunFolder, results: Path) -> RunFolder:
    return run if isinstance(run, RunFolder) else load_run(run, results)


def board(results: Path = Path("results")) -> Board:
    """Return the leaderboard of a results folder."""
    from memeval.archive.ledger import Ledger
    from memeval.leaderboard.board import build_board

    return build_board(sealed_runs(results), Ledger(results))


__all__ = [
    "AuditFolder",
    "AuditOptions",
    "Board",
    "BridgeFolder",
    "Comparison",
    "Estimate",
    "EvalResult",
    "Failure",
    "Finding",
    "ImportOptions",
    "MatrixRun",
    "ModelOptions",
    "RejudgeOptions",
    "Reproduction",
    "RunFolder",
    "RunOptions",
    "SuiteOptions",
    "audit",
    "board",
    "bridge",
    "compare",
    "estimate",
    "export",
    "import_answers",
    "load_run",
    "load_runs",
    "matrix",
    "rejudge",
    "reproduce",
    "run",
    "run_suite",
    "verify",
]
