"""Runs a matrix: every cell is an ordinary run, and the stored matrix is computed from the runs."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from pathlib import Path

from memeval.analysis.comparing import compare_runs, metrics_of
from memeval.analysis.matrix_table import gate_results
from memeval.analysis.suite_metrics import metrics_of_run
from memeval.archive.matrices import MatrixFolder, write_matrix
from memeval.archive.runs import RunFolder
from memeval.benchmarks import find
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.plan.executing import PlannedRun, run_plan
from memeval.evaluation.plan.reading import sources_of
from memeval.execution.progress import Progress
from memeval.grading.scoring import means
from memeval.options import RunOptions
from memeval.records.benchmark import MetricInfo
from memeval.records.errors import MemevalError, NotApplicable
from memeval.records.matrix import (
    CategoryShare,
    CellState,
    ComparedTo,
    Matrix,
    MatrixBenchmark,
    MatrixCell,
    MatrixPlan,
    Test,
)
from memeval.records.run import SystemIdentity
from memeval.systems.source import SystemSource


@dataclass(frozen=True)
class CellOutcome:
    benchmark: int
    """Index of the benchmark in the plan."""
    reader: str | None
    """The reader that the plan names; ``None`` for the default."""
    system: str
    folder: RunFolder | None = None
    error: MemevalError | None = None
    """Why there is no run."""


@dataclass(frozen=True)
class MatrixRun:
    folder: MatrixFolder
    outcomes: tuple[CellOutcome, ...]


def run_matrix(plan: MatrixPlan, options: RunOptions, progress: Progress | None = None) -> MatrixRun:
    """Run every cell of a matrix, one after another, and store the comparison.

    Every cell is an ordinary run, and is reused or resumed like one. A cell that fails does not stop the others.
    ``options``: run options; readers and judge of the plan take precedence. Raises ``BadInput`` if a system does not
    exist, a benchmark does not accept its parameters, or the results are not writable. Raises ``KeyboardInterrupt`` if
    interrupted; the same call resumes.
    """
    sources = sources_of(plan)
    _check_parameters(plan)
    cells = [
        (index, reader, system.id, source)
        for index, reader in product(range(len(plan.benchmarks)), plan.readers or (None,))
        for system, source in zip(plan.systems, sources, strict=True)
    ]
    planned = [_planned(plan.benchmarks[index], reader, source) for index, reader, _id, source in cells]
    options = replace(options, judge=plan.judge or options.judge)
    outcomes = [
        CellOutcome(index, reader, system, next(iter(made.folders), None), made.error)
        for (index, reader, system, _source), made in zip(cells, run_plan(planned, options, progress), strict=True)
    ]
    return MatrixRun(write_matrix(options.results, matrix_of(plan, outcomes, options.results)), tuple(outcomes))


def _planned(benchmark: MatrixBenchmark, reader: str | None, source: SystemSource) -> PlannedRun:
    file = None if benchmark.file is None else Path(benchmark.file)
    of_benchmark = (benchmark.protocol, benchmark.tier, reader, file, benchmark.parameters)
    return PlannedRun(source, benchmark.id, *of_benchmark, named=False)


def _check_parameters(plan: MatrixPlan) -> None:
    """Check the parameters of every benchmark before the first run.

    Missing data is not an error here: its cells fail later, and the other cells run. Raises ``BadInput`` if a benchmark
    does not accept its parameters.
    """
    for benchmark in plan.benchmarks:
        definition, file = find(benchmark.id), None if benchmark.file is None else Path(benchmark.file)
        if benchmark.parameters and definition.available(file):
            BenchmarkSession.open(
                definition, file, benchmark.parameters, protocol=benchmark.protocol, tier=benchmark.tier
            )


def matrix_of(plan: MatrixPlan, outcomes: Sequence[CellOutcome], results: Path) -> Matrix:
    """Return a matrix from its runs.

    Raises ``BadInput`` if a run is not readable, or runs of one track have different items.
    """
    metrics = {benchmark.id: metrics_of(benchmark.id) for benchmark in plan.benchmarks}
    cells = tuple(_cell(outcome, results, metrics[plan.benchmarks[outcome.benchmark].id]) for outcome in outcomes)
    all_metrics = {name: metric for known in metrics.values() for name, metric in known.items()}
    return Matrix(
        matrix_id=plan.matrix_id,
        plan=plan,
        cells=cells,
        tests=tuple(_tests(outcomes)),
        gates=tuple(gate_results(plan, cells, all_metrics)),
        warnings=tuple(_warnings(plan, outcomes)),
    )


def _cell(outcome: CellOutcome, results: Path, metrics: Mapping[str, MetricInfo]) -> MatrixCell:
    if outcome.folder is None:
        error = outcome.error
        return MatrixCell(
            benchmark=outcome.benchmark,
            reader=outcome.reader,
            system=outcome.system,
            state=CellState.NOT_APPLICABLE if isinstance(error, NotApplicable) else CellState.FAILED,
            # Without the paths of this machine.
            reason=None if error is None else " ".join(filter(None, (error.problem, error.remedy))),
        )
    run = outcome.folder.run
    return MatrixCell(
        benchmark=outcome.benchmark,
        reader=outcome.reader,
        system=outcome.system,
        state=CellState.DONE,
        run=outcome.folder.path.resolve().relative_to(results.resolve()).as_posix(),
        run_digest=outcome.folder.digest,
        provider=run.system.named.partition(":")[0],
        version=run.system.version,
        parameters=run.system.parameters,
        protocol=run.track.protocol,
        tier=run.track.tier,
        answered_by=run.track.reader,
        track_id=run.track_id,
        composite=run.scores.composite,
        planned=run.coverage.planned,
        done=run.coverage.done,
        errors=run.scores.overall.errors,
        categories=tuple(CategoryShare(name=each.name, share=each.tally.accuracy) for each in run.scores.categories),
        metrics=_metrics(outcome.folder, metrics),
        figures=_figures(outcome.folder),
    )


def _metrics(folder: RunFolder, metrics: Mapping[str, MetricInfo]) -> dict[str, float | None]:
    """Return the mean of each metric over the items that have it; the square root for metrics such as RMSE."""
    return {
        name: math.sqrt(max(0.0, mean)) if metrics[name].root else mean
        for name, mean in means(list(folder.grades())).items()
        if name in metrics and mean is not None
    }


def _figures(folder: RunFolder) -> dict[str, float | None]:
    """Return latencies, tokens, costs and the figures of a suite, if known."""
    figures = metrics_of_run(folder).data()
    figures |= {f"recall_at_{depth}": value for depth, value in (figures.pop("recall_at_k") or {}).items()}
    run = folder.run
    usd, done, tally = run.cost.usd, run.coverage.done, run.scores.overall
    figures["cost_total_usd"] = usd
    figures["usd_per_item"] = None if usd is None or not done else usd / done
    figures["tokens_per_question"] = run.tokens.per_question
    figures["error_rate"] = tally.errors / tally.planned if tally.planned else None
    return {name: float(value) for name, value in sorted(figures.items()) if isinstance(value, int | float)}


def _tests(outcomes: Sequence[CellOutcome]) -> Iterator[Test]:
    """Yield comparisons of each run with the first and the best run on its track."""
    tracks: dict[tuple[int, str | None, str], list[tuple[str, RunFolder]]] = defaultdict(list)
    for outcome in outcomes:
        if outcome.folder is not None and outcome.folder.file("grades.jsonl").exists():
            track = outcome.folder.run.track_id
            tracks[outcome.benchmark, outcome.reader, track].append((outcome.system, outcome.folder))
    for (benchmark, reader, _track), members in tracks.items():
        best = max(range(len(members)), key=lambda index: members[index][1].run.scores.composite.value or 0.0)
        for against, baseline in ((ComparedTo.FIRST, 0), (ComparedTo.BEST, best)):
            others = [member for index, member in enumerate(members) if index != baseline]
            if not others or (against is ComparedTo.BEST and best == 0):
                continue
            comparison = compare_runs([members[baseline][1], *(folder for _name, folder in others)])
            for (system, _folder), pair in zip(others, comparison.pairs, strict=True):
                yield Test(
                    benchmark=benchmark,
                    reader=reader,
                    against=against,
                    first=members[baseline][0],
                    system=system,
                    overall=pair.overall,
                    others=(*pair.categories, *pair.metrics),
                )


def _warnings(plan: MatrixPlan, outcomes: Sequence[CellOutcome]) -> Iterator[str]:
    done = [(outcome, outcome.folder.run) for outcome in outcomes if outcome.folder is not None]
    systems: dict[str, SystemIdentity] = {}
    for outcome, run in done:
        systems.setdefault(outcome.system, run.system)
    missing = object()
    differing: dict[str, list[str]] = defaultdict(list)
    for (one, first), (other, second) in combinations(systems.items(), 2):
        names = sorted(first.parameters.keys() | second.parameters.keys())
        keys = [key for key in names if first.parameters.get(key, missing) != second.parameters.get(key, missing)]
        if first.submission_digest == second.submission_digest and len(keys) > 1:
            differing[other].append(f"{one} ({', '.join(keys)})")
    for system, others in differing.items():
        yield (
            f"{system} differs in more than one key from {'; '.join(others)}: "
            "what differs in their scores has no single cause."
        )
    for index, benchmark in enumerate(plan.benchmarks):
        for reader in plan.readers or (None,):
            tracks: dict[str, list[str]] = defaultdict(list)
            for outcome, run in done:
                if (outcome.benchmark, outcome.reader) == (index, reader):
                    tracks[run.track_id].append(outcome.system)
            if len(tracks) > 1:
                groups = " | ".join(", ".join(members) for members in tracks.values())
                yield f"On {benchmark.label} the runs are of {len(tracks)} tracks, each compared by itself: {groups}."
