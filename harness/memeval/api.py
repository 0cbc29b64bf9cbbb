"""The public Python API: run systems, regrade runs, audit judges, verify, reproduce, compare, build a board."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memeval.archive.runs import RunFolder, find_run, runs_under, sealed_runs
from memeval.benchmarks import all_benchmarks, find
from memeval.benchmarks.base import Benchmark, Parameters
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.plan.executing import PlannedRun, run_plan
from memeval.execution.progress import Progress
from memeval.options import AuditOptions, ImportOptions, ModelOptions, RegradeOptions, RunOptions, require_at_least
from memeval.records.errors import BadInput, NotApplicable
from memeval.systems.source import SystemSource, find_system

if TYPE_CHECKING:
    from memeval.archive.audits import AuditFolder
    from memeval.evaluation.plan.matrix import MatrixRun
    from memeval.evaluation.run.estimate import Estimate
    from memeval.evaluation.run.live import SuiteOptions
    from memeval.evaluation.verify.findings import Check, Finding
    from memeval.evaluation.verify.reproduce import Reproduction
    from memeval.leaderboard.board import Board
    from memeval.leaderboard.frames import Frames
    from memeval.records.check import RegressionCheck
    from memeval.records.comparison import Comparison
    from memeval.records.conformance import Conformance
    from memeval.records.evalresult import EvalResult
    from memeval.records.failure import Failure
    from memeval.records.items import ItemReport
    from memeval.records.overall import Overall
    from memeval.statistics.overall import Lead

_LAZY_TYPES = {
    "AuditFolder": "memeval.archive.audits",
    "Board": "memeval.leaderboard.board",
    "Check": "memeval.evaluation.verify.findings",
    "Comparison": "memeval.records.comparison",
    "Conformance": "memeval.records.conformance",
    "Estimate": "memeval.evaluation.run.estimate",
    "EvalResult": "memeval.records.evalresult",
    "Failure": "memeval.records.failure",
    "Finding": "memeval.evaluation.verify.findings",
    "Frames": "memeval.leaderboard.frames",
    "ItemReport": "memeval.records.items",
    "MatrixRun": "memeval.evaluation.plan.matrix",
    "RegressionCheck": "memeval.records.check",
    "Reproduction": "memeval.evaluation.verify.reproduce",
    "SuiteOptions": "memeval.evaluation.run.live",
}
"""Argument and return types by the module that defines them; loaded at first use."""


def __getattr__(name: str) -> Any:
    if name in _LAZY_TYPES:
        return getattr(import_module(_LAZY_TYPES[name]), name)
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
    """Run a system on benchmarks and return the sealed runs, one for each benchmark and repetition.

    A finished run with the same inputs is reused; an interrupted run resumes. If the system fails, the run has errors.

    Args:
        system: a slug under ``submissions/``, a shipped control, a folder, or a ``.py`` file with an adapter class.
        benchmark: ids such as ``beliefs@2``; ``None`` for every benchmark whose data is on this machine and that the
            system supports, except those that run by name only.
        data: your own copy of the benchmark's data; needs one benchmark.
        parameters: seed and size of a generated benchmark.
        repeat: number of runs; each after the first is a new run.

    Raises:
        NotApplicable: the system lacks a method that a named benchmark needs, or supports no benchmark at all.
        BadInput: an argument names nothing that exists, or the adapter does not load.
    """
    require_at_least("--repeat", repeat)
    options = options or RunOptions()
    source = _source(system)
    plan = [PlannedRun(source, each.info.id, data=data, parameters=parameters) for each in _benchmarks(benchmark, data)]
    folders: list[RunFolder] = []
    not_applicable: NotApplicable | None = None
    for outcome in run_plan(plan, options, progress, repeat=repeat, debug=True):
        if isinstance(outcome.error, NotApplicable) and benchmark is None:
            not_applicable = outcome.error
        elif outcome.error is not None:
            raise outcome.error
        folders += outcome.folders
    if not_applicable is not None and not folders:
        raise not_applicable
    return folders


def _source(system: str | Path | SystemSource) -> SystemSource:
    return system if isinstance(system, SystemSource) else find_system(str(system))


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

    Uses the runner and the graders of :func:`run`. The object has the methods of an adapter (``retain``, ``recall``,
    ``reflect``, ``forget``; sync or async; with any of ``bank`` or ``bank_id``, ``tags`` and so on). There is no
    sandbox and no time limit. Other banks stay unchanged.

    Args:
        suite: ``basic``, ``accuracy``, ``reflect`` or ``stress``, or the path of a suite in YAML.
        bank_id: bank for the suite; it must be empty. Names of further banks begin with it.
        clean_after: whether to forget the banks at the end. If that fails, the notes of the result say so.

    Raises:
        BadInput: the suite does not exist, the bank is not empty, or the object has no banks.
        NotApplicable: the object lacks a method that the suite needs.
        GatewayStopped: the judge's endpoint or key failed, or the budget is spent.
    """
    from memeval.evaluation.run import live

    return live.run_suite(system, suite, bank_id, clean_after=clean_after, options=options, progress=progress)


def check_conformance(
    system: str | Path | SystemSource, *, options: RunOptions | None = None, progress: Progress | None = None
) -> Conformance:
    """Check with planted facts whether a system follows the adapter contract, and store the report.

    Raises ``BadInput`` if the system does not install or load.
    """
    from memeval.evaluation.run import conforming

    options = options or RunOptions()
    source, results, setup = _source(system), options.results, options.setup
    return conforming.check_conformance(
        source, results, progress or Progress(), setup=setup, models=options.models, limits=options.limits
    )


def _benchmarks(ids: str | Sequence[str] | None, data: Path | None) -> list[Benchmark]:
    if ids is None:
        candidates = [each for each in all_benchmarks() if not (each.info.by_name_only or each.info.brought)]
        found = [benchmark for benchmark in candidates if benchmark.available(data)]
    else:
        found = [find(name) for name in ([ids] if isinstance(ids, str) else ids)]
    if data is not None and len(found) != 1:
        raise BadInput("--data needs one benchmark.", remedy="Name it with --benchmark.")
    return found


def load_run(run: str | Path, results: Path = Path("results")) -> RunFolder:
    """Return a run, by its folder, its id, or the address or folder of its page on a board. Missing rows are fetched.

    Raises ``BadInput`` if the run does not exist or is not readable.
    """
    from memeval.archive.published import is_published, published_run
    from memeval.archive.remote.automatic import fetch_missing

    if is_published(str(run)):
        return published_run(str(run))
    folder = find_run(results, str(run))
    fetch_missing([folder])  # what is still missing is an error where it is read
    return folder


def fetch_rows(named: str | Path, results: Path = Path("results")) -> list[str]:
    """Fetch rows that are only in the archive, for a run or all runs in a folder, into the cache.

    Returns a warning for each board or file whose rows are still missing. Raises ``BadInput`` if no such folder or run
    exists.
    """
    from memeval.archive.remote.automatic import fetch_missing

    return fetch_missing(load_runs(named, results))


def load_runs(named: str | Path, results: Path = Path("results")) -> list[RunFolder]:
    """Return the stored runs in a folder and its subfolders, or the run with an id.

    Raises ``BadInput`` if no such folder or run exists.
    """
    from memeval.archive.published import is_published, published_run

    path = Path(named)
    if is_published(str(named)):
        return [published_run(str(named))]
    return runs_under(path) if path.is_dir() else [find_run(results, str(named))]


def verify(path: str | Path, *, results: Path = Path("results"), signers: Path | None = None) -> list[Finding]:
    """Check every stored run in a folder and its subfolders, and the ledger and the releases if there are any.

    Returns the problems only. What could not be checked is in :func:`verify_checks`. ``signers``: file of the keys that
    may sign the ledger and releases; ``None`` for memeval's own. Raises ``BadInput`` if the path contains no run.
    """
    checks = verify_checks(path, results=results, signers=signers)
    return [finding for check in checks for finding in check.findings]


def verify_checks(
    path: str | Path, *, results: Path = Path("results"), signers: Path | None = None, jobs: int = 1
) -> list[Check]:
    """Check every stored run in a folder and its subfolders; see :func:`verify`.

    ``jobs``: number of processes. With more than one, a script needs ``if __name__ == "__main__":`` around its calls.
    Returns one result for each check of each run, and of what else is stored: ok, failed, or not checked with the
    reason. Raises ``BadInput`` if the path contains no run. Raises ``CheckFailed`` if a process was killed.
    """
    from memeval.archive.published import is_published
    from memeval.archive.signatures import signers_of
    from memeval.claims.store import regraded_checks
    from memeval.evaluation.verify.stored_results import checks_of_results
    from memeval.labels.store import label_checks
    from memeval.leaderboard.release_checks import check_results
    from memeval.leaderboard.traces import Traces

    folder = Path(path)
    if not folder.is_dir() or is_published(str(path)):
        folder = load_run(path, results).path
    traces = Traces() if (folder / "releases").is_dir() else None  # only the board of a release compares responses
    return [
        *checks_of_results(folder, traces, jobs),
        *regraded_checks(folder),
        *label_checks(folder),
        *check_results(folder, signers_of(signers), traces),
    ]


def reproduce(
    run: str | Path | RunFolder,
    *,
    results: Path = Path("results"),
    data: Path | None = None,
    errata: Path | None = None,
) -> Reproduction:
    """Regrade a run's stored answers offline, and compare with the stored grades; see :func:`reproduce_run`."""
    from memeval.evaluation.verify.reproduce import reproduce_run

    return reproduce_run(_loaded(run, results), data, errata)


def regrade(
    run: str | Path | RunFolder,
    judge: str,
    *,
    label: str | None = None,
    prompts: Path | None = None,
    data: Path | None = None,
    options: RegradeOptions | None = None,
    progress: Progress | None = None,
) -> RunFolder:
    """Grade a stored run's answers with another judge: a new run on another track.

    ``run``: the run, by its folder or its id. ``judge``: ``rules`` or ``openai:MODEL``. Raises ``BadInput`` if an
    argument names nothing that exists. Raises ``GatewayStopped`` if the judge's endpoint or key failed, or the budget
    is spent. The same call resumes.
    """
    from memeval.evaluation.judge.judges import choose_judge
    from memeval.evaluation.run.regrade import regrade_run

    options = options or RegradeOptions()
    source = _loaded(run, options.results)
    return regrade_run(source, choose_judge(judge, label, prompts), options, data, progress)


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

    ``benchmark``: ids such as ``beliefs@2``; ``None`` for every benchmark whose data is on this machine. ``label``: who
    serves the judge model, if not its maker. ``prompts``: folder with other prompts for a judge model. Raises
    ``BadInput`` if an argument names nothing that exists. Raises ``GatewayStopped`` if the judge's endpoint or key
    failed, or the budget is spent. The same call resumes.
    """
    from memeval.evaluation.judge.judges import choose_judge
    from memeval.evaluation.verify.audit import audit_judge

    benchmarks, chosen = _benchmarks(benchmark, data), choose_judge(judge, label, prompts)
    sessions = (BenchmarkSession.open(each, data) for each in benchmarks)
    return [audit_judge(chosen, session, options or AuditOptions(), progress) for session in sessions]


def estimate(
    system: str | Path | SystemSource,
    benchmark: str,
    *,
    data: Path | None = None,
    parameters: Parameters | None = None,
    options: RunOptions | None = None,
) -> Estimate:
    """Return the model calls, tokens, dollars and hours that a run would need, without running it.

    Raises ``BadInput`` if an argument names nothing that exists.
    """
    from memeval.evaluation.run.estimate import estimate_run

    source, options = _source(system), options or RunOptions()
    protocol, tier, errata = options.protocol, options.tier, options.errata
    session = BenchmarkSession.open(find(benchmark), data, parameters, protocol=protocol, tier=tier, errata=errata)
    return estimate_run(source, session, options)


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
    """Grade answers that were made elsewhere, and store them as a run; see :func:`import_file`.

    ``benchmark``: its id; ``None`` for the format's own benchmark. ``system``: system in the file, if it holds several;
    otherwise the system's name. Raises ``BadInput`` if an argument names nothing that exists, or the file is not valid.
    Raises ``GatewayStopped`` if the judge's endpoint or key failed, or the budget is spent. The same call resumes.
    """
    from memeval.benchmarks.formats.reading import AnswerFile
    from memeval.evaluation.imports.importing import import_file, open_benchmark_for
    from memeval.evaluation.judge.judges import choose_judge
    from memeval.exchange.formats import find_import_format

    answer_format, path = find_import_format(format), Path(file)
    answers = AnswerFile.open(path, system)
    benchmark_session = open_benchmark_for(answer_format, path, benchmark, data, parameters, protocol)
    chosen = choose_judge(judge, label, prompts)
    return import_file(answers, answer_format, benchmark_session, chosen, options or ImportOptions(), progress)


def export(
    run: str | Path | RunFolder,
    format: str,
    to: str | Path,
    *,
    results: Path = Path("results"),
    data: Path | None = None,
    force: bool = False,
) -> tuple[Path, ...]:
    """Write a stored run in the format of another program, and return the files; see :func:`export_run`."""
    from memeval.evaluation.imports.exporting import export_run
    from memeval.exchange.formats import find_export_format

    return export_run(_loaded(run, results), find_export_format(format), Path(to), data, force=force)


def compare(runs: Sequence[str | Path | RunFolder], *, results: Path = Path("results")) -> Comparison:
    """Compare stored runs with the first of them, item by item; see :func:`compare_runs`.

    ``runs``: two or more runs, by folder or id: of one track, or with the same answers. Raises ``BadInput`` if a run
    does not exist, or the runs are not comparable.
    """
    from memeval.analysis.comparing import compare_runs

    return compare_runs([_loaded(run, results) for run in runs])


def check(
    run: str | Path | RunFolder, baseline: str | None = None, *, results: Path = Path("results")
) -> RegressionCheck:
    """Compare a run with its baseline: the regression gate; see :func:`check_run`.

    The thresholds are those of ``memeval.toml`` next to the results folder. ``baseline``: ``last-N`` for the last N
    accepted runs of the same system on the same track, or a run by its folder or id; ``None`` for the setting. Raises
    ``BadInput`` if the baseline does not exist or is on another track, or a run is damaged or lacks rows.
    """
    from memeval.leaderboard.baselines import check_run
    from memeval.settings import read_settings

    return check_run(_loaded(run, results), results, read_settings(results.parent).check, baseline)


def matrix(file: str | Path, *, options: RunOptions | None = None, progress: Progress | None = None) -> MatrixRun:
    """Run many systems on many benchmarks, from one file, and store the comparison.

    ``file``: a TOML file; see :func:`memeval.evaluation.plan.reading.read_matrix`. ``options``: run options; readers
    and judge of the file take precedence. Raises ``BadInput`` if the file is not valid; the error lists every problem.
    """
    from memeval.evaluation.plan.matrix import run_matrix
    from memeval.evaluation.plan.reading import read_matrix

    return run_matrix(read_matrix(Path(file)), options or RunOptions(), progress)


def failures(
    run: str | Path | RunFolder, *, results: Path = Path("results"), data: Path | None = None
) -> list[Failure]:
    """Return why a run's answers are wrong, and which evidence was retrieved.

    ``data``: your own copy of the benchmark's data; only needed if the run was sealed without the analysis. Raises
    ``BadInput`` if the run does not exist; or it has no analysis, and its data is not on this machine.
    """
    from memeval.benchmarks.session import session_of_run
    from memeval.evaluation.verify.reproduce import failures_of_run

    folder = _loaded(run, results)
    return failures_of_run(folder, lambda: session_of_run(folder.run, data, with_errata=False))


def items(name: str | None = None, *, results: Path = Path("results")) -> list[ItemReport]:
    """Return the item statistics of each track that has ranked systems; see :func:`item_reports`.

    ``name``: a benchmark or the id of a track; ``None`` for all. Raises ``BadInput`` if there is no such run, no system
    is ranked, or grades are missing or damaged.
    """
    from memeval.leaderboard.item_report import item_reports

    return item_reports(results, name)


def _loaded(run: str | Path | RunFolder, results: Path) -> RunFolder:
    return run if isinstance(run, RunFolder) else load_run(run, results)


def board(results: Path = Path("results")) -> Board:
    from memeval.archive.ledger import Ledger
    from memeval.leaderboard.board import build_board

    return build_board(sealed_runs(results), Ledger(results))


def overall(suite: str, *, results: Path = Path("results"), suites: Path | None = None) -> Overall:
    """Return the overall index of all systems on a suite of benchmarks; see :mod:`memeval.leaderboard.overall`.

    ``suite``: name of the suite, such as ``retrieval@3``; without a version, the latest. ``suites``: your own file of
    suites; ``None`` for those of memeval. Raises ``BadInput`` if there is no such suite, or the file of suites or a run
    cannot be read.
    """
    from memeval.leaderboard.overall import overall as overall_of
    from memeval.leaderboard.suites import FILE, find_suite, read_suites

    return overall_of(board(results), find_suite(read_suites(suites or FILE), suite))


def lead(table: Overall, first: str, second: str) -> Lead:
    """Return under which share of all weightings a system leads another; see :func:`memeval.leaderboard.overall.lead`.

    Raises ``BadInput`` if a system has no index, or both are the same.
    """
    from memeval.leaderboard.overall import lead as lead_in

    return lead_in(table, first, second)


def frames(results: str | Path = "results", *, rebuild: bool = False) -> Frames:
    """Return all sealed runs of a results folder as pandas data frames; see :class:`memeval.leaderboard.frames.Frames`.

    ``rebuild``: whether to read all runs again, instead of using the index. Raises ``BadInput`` if there is no such
    folder.
    """
    from memeval.leaderboard.frames import Frames

    return Frames(results, rebuild=rebuild)


__all__ = [
    "AuditFolder",
    "AuditOptions",
    "Board",
    "Comparison",
    "Estimate",
    "EvalResult",
    "Failure",
    "Finding",
    "Frames",
    "ImportOptions",
    "ItemReport",
    "MatrixRun",
    "ModelOptions",
    "RegradeOptions",
    "RegressionCheck",
    "Reproduction",
    "RunFolder",
    "RunOptions",
    "SuiteOptions",
    "audit",
    "board",
    "check",
    "compare",
    "estimate",
    "export",
    "fetch_rows",
    "frames",
    "import_answers",
    "items",
    "load_run",
    "load_runs",
    "matrix",
    "regrade",
    "reproduce",
    "run",
    "run_suite",
    "verify",
]
