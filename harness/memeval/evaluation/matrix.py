"""Run a matrix: every cell is an ordinary run, and the record of the matrix follows from the runs."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from memeval.archive.matrices import MatrixFolder, files_of, write_matrix
from memeval.archive.runs import RunFolder
from memeval.benchmarks import find
from memeval.evaluation.comparing import compare_runs, metrics_of
from memeval.evaluation.findings import Finding
from memeval.evaluation.matrix_file import sources_of
from memeval.evaluation.matrix_gates import gate_results
from memeval.evaluation.plan import BenchmarkSession
from memeval.evaluation.running import RunOptions, run_system
from memeval.evaluation.suite_metrics import metrics_of_run
from memeval.execution.progress import Progress, Silent
from memeval.records.benchmark import MetricInfo
from memeval.records.errors import BadInput, MemevalError, NotApplicable
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
from memeval.systems.source import SystemSource

AGAIN = "Make the matrix again with memeval matrix, or restore what is missing."


@dataclass(frozen=True)
class CellOutcome:
    """The result of one cell."""

    benchmark: int
    """The benchmark, by its place in the plan."""
    reader: str | None
    """The reader asked for."""
    system: str
    """The configuration."""
    folder: RunFolder | None = None
    """Its run."""
    error: MemevalError | None = None
    """Why there is none."""


@dataclass(frozen=True)
class MatrixRun:
    """A matrix that was run."""

    folder: MatrixFolder
    """Where it is stored."""
    outcomes: tuple[CellOutcome, ...]
    """The result of each cell."""


def run_matrix(plan: MatrixPlan, options: RunOptions, progress: Progress | None = None) -> MatrixRun:
    """Run every cell of a matrix, one after another, and store the comparison.

    Every cell is an ordinary run, and is reused or resumed like one. A cell that fails does not stop the others.

    Args:
        plan: what is asked for.
        options: how the systems are run; readers and judge are the plan's where it names any.
        progress: receives the progress.

    Raises:
        BadInput: a system is not there, a benchmark does not take its parameters, or the results cannot be written.
        KeyboardInterrupt: interrupted; the same call resumes.
    """
    progress = progress or Silent()
    sources = sources_of(plan)
    _check_parameters(plan)
    outcomes: list[CellOutcome] = []
    for place, benchmark in enumerate(plan.benchmarks):
        outcomes += _on(place, benchmark, plan, sources, options, progress)
    return MatrixRun(write_matrix(options.results, matrix_of(plan, outcomes, options.results)), tuple(outcomes))


def _check_parameters(plan: MatrixPlan) -> None:
    """Open every benchmark that is given parameters, so that what it does not take is found before the first run.

    Data that is not here is no fault of the plan: its cells fail, and the others are run.

    Raises:
        BadInput: a benchmark does not take its parameters.
    """
    for benchmark in plan.benchmarks:
        found, file = find(benchmark.id), None if benchmark.file is None else Path(benchmark.file)
        if benchmark.parameters and found.available(file):
            BenchmarkSession.open(found, file, benchmark.parameters, protocol=benchmark.protocol, tier=benchmark.tier)


def _on(
    place: int,
    benchmark: MatrixBenchmark,
    plan: MatrixPlan,
    sources: Sequence[SystemSource],
    options: RunOptions,
    progress: Progress,
) -> Iterator[CellOutcome]:
    """Yield what comes of all cells of one benchmark, whose data is opened once: all have the very same items."""
    options = replace(options, protocol=benchmark.protocol, tier=benchmark.tier, judge=plan.judge or options.judge)
    opened: BenchmarkSession | MemevalError
    try:
        opened = BenchmarkSession.open(
            find(benchmark.id),
            None if benchmark.file is None else Path(benchmark.file),
            benchmark.parameters,
            protocol=benchmark.protocol,
            tier=benchmark.tier,
            errata=options.errata,
        )
    except MemevalError as error:
        opened = error
    for reader in plan.readers or (None,):
        for system, source in zip(plan.systems, sources, strict=True):
            outcome = CellOutcome(place, reader, system.id)
            try:
                if isinstance(opened, MemevalError):
                    raise opened
                folder = run_system(source, opened, replace(options, reader=reader or options.reader), progress)
                outcome = replace(outcome, folder=folder)
            except MemevalError as error:
                progress.note(f"{system.id} on {benchmark.label}: {error}")
                outcome = replace(outcome, error=error)
            yield outcome


def matrix_of(plan: MatrixPlan, outcomes: Sequence[CellOutcome], results: Path) -> Matrix:
    """Return a matrix from its runs.

    Args:
        plan: what was asked for.
        outcomes: what came of each cell, in the plan's order.
        results: the folder that the runs lie in.

    Raises:
        BadInput: a run cannot be read, or runs of one track have different items.
    """
    metrics = {benchmark.id: metrics_of(benchmark.id) for benchmark in plan.benchmarks}
    cells = tuple(_cell(outcome, results, metrics[plan.benchmarks[outcome.benchmark].id]) for outcome in outcomes)
    every = {name: metric for known in metrics.values() for name, metric in known.items()}
    return Matrix(
        matrix_id=plan.matrix_id,
        plan=plan,
        cells=cells,
        tests=tuple(_tests(outcomes)),
        gates=tuple(gate_results(plan, cells, every)),
        warnings=tuple(_warnings(plan, outcomes)),
    )


def _cell(outcome: CellOutcome, results: Path, metrics: Mapping[str, MetricInfo]) -> MatrixCell:
    cell = MatrixCell(benchmark=outcome.benchmark, reader=outcome.reader, system=outcome.system, state=CellState.FAILED)
    if outcome.folder is None:
        state = CellState.NOT_APPLICABLE if isinstance(outcome.error, NotApplicable) else CellState.FAILED
        return cell.model_copy(
            update={"state": state, "reason": None if outcome.error is None else _told(outcome.error)}
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
        metrics=_means(outcome.folder, metrics),
        figures=_figures(outcome.folder),
    )


def _told(error: MemevalError) -> str:
    """Return why there is no run, without the places of this machine."""
    return error.problem if error.remedy is None else f"{error.problem} {error.remedy}"


def _means(folder: RunFolder, metrics: Mapping[str, MetricInfo]) -> dict[str, float | None]:
    """Return what was measured beside the headline, over all items that have it; roots where they are told so."""
    values: dict[str, list[float]] = defaultdict(list)
    for grade in folder.grades():
        for name, value in grade.metrics.items():
            if name in metrics and value is not None:
                values[name].append(value)
    means = {name: math.fsum(found) / len(found) for name, found in sorted(values.items())}
    return {name: math.sqrt(max(0.0, mean)) if metrics[name].root else mean for name, mean in means.items()}


def _figures(folder: RunFolder) -> dict[str, float | None]:
    """Return latencies, tokens, dollars and the figures of a suite, as far as there are any."""
    told = metrics_of_run(folder).data()
    told |= {f"recall_at_{depth}": value for depth, value in (told.pop("recall_at_k") or {}).items()}
    run = folder.run
    told["cost_total_usd"] = run.cost.usd
    told["usd_per_item"] = None if run.cost.usd is None or not run.coverage.done else run.cost.usd / run.coverage.done
    told["tokens_per_question"] = run.tokens.per_question
    tally = run.scores.overall
    told["error_rate"] = tally.errors / tally.planned if tally.planned else None
    return {name: float(value) for name, value in sorted(told.items()) if isinstance(value, int | float)}


def _tests(outcomes: Sequence[CellOutcome]) -> Iterator[Test]:
    """Yield each run against the first and the best of those on its track."""
    tracks: dict[tuple[int, str | None, str], list[tuple[str, RunFolder]]] = defaultdict(list)
    for outcome in outcomes:
        if outcome.folder is not None and outcome.folder.file("grades.jsonl").exists():
            track = outcome.folder.run.track_id
            tracks[outcome.benchmark, outcome.reader, track].append((outcome.system, outcome.folder))
    for (benchmark, reader, _track), members in tracks.items():
        best = max(range(len(members)), key=lambda place: members[place][1].run.scores.composite.value or 0.0)
        for against, head in ((ComparedTo.FIRST, 0), (ComparedTo.BEST, best)):
            others = [member for place, member in enumerate(members) if place != head]
            if not others or (against is ComparedTo.BEST and best == 0):
                continue
            comparison = compare_runs([members[head][1], *(folder for _name, folder in others)])
            for (system, _folder), pair in zip(others, comparison.pairs, strict=True):
                yield Test(
                    benchmark=benchmark,
                    reader=reader,
                    against=against,
                    first=members[head][0],
                    system=system,
                    overall=pair.overall,
                    others=(*pair.categories, *pair.metrics),
                )


def _warnings(plan: MatrixPlan, outcomes: Sequence[CellOutcome]) -> Iterator[str]:
    """Yield what a reader of the table should know: causes that cannot be told apart, and runs on other tracks."""
    ran: dict[str, RunFolder] = {}
    for outcome in outcomes:
        if outcome.folder is not None:
            ran.setdefault(outcome.system, outcome.folder)
    apart: dict[str, list[str]] = defaultdict(list)
    for (one, first), (other, second) in combinations(ran.items(), 2):
        systems = first.run.system, second.run.system
        keys = _differing_keys(systems[0].parameters, systems[1].parameters)
        if systems[0].submission_digest == systems[1].submission_digest and len(keys) > 1:
            apart[other].append(f"{one} ({', '.join(keys)})")
    for system, others in apart.items():
        yield (
            f"{system} differs in more than one key from {'; '.join(others)}: "
            "what differs in their scores has no single cause."
        )
    for place, benchmark in enumerate(plan.benchmarks):
        for reader in plan.readers or (None,):
            mine = [o for o in outcomes if (o.benchmark, o.reader) == (place, reader) and o.folder is not None]
            tracks: dict[str, list[str]] = defaultdict(list)
            for outcome in mine:
                if outcome.folder is not None:
                    tracks[outcome.folder.run.track_id].append(outcome.system)
            if len(tracks) > 1:
                groups = " | ".join(", ".join(members) for members in tracks.values())
                yield f"On {benchmark.label} the runs are of {len(tracks)} tracks, each compared by itself: {groups}."


def _differing_keys(one: Mapping[str, object], other: Mapping[str, object]) -> list[str]:
    nothing = object()
    return sorted(key for key in one.keys() | other.keys() if one.get(key, nothing) != other.get(key, nothing))


def verify_matrix(stored: MatrixFolder, results: Path) -> list[Finding]:
    """Check a stored matrix against the runs it is made of.

    Args:
        stored: the matrix.
        results: the folder that the runs lie in.

    Returns:
        What does not hold; empty where all does.
    """
    try:
        matrix = stored.matrix
        outcomes = [_outcome(cell, results) for cell in matrix.cells]
        if lost := [finding for cell in matrix.cells if (finding := _lost(cell, stored, results)) is not None]:
            return lost
        again = matrix_of(matrix.plan, outcomes, results)
    except MemevalError as error:
        return [Finding(error.where or str(stored.path), error.problem, error.remedy or AGAIN)]
    if stored.path.name != matrix.plan.matrix_id:
        return [Finding(str(stored.path), f"the matrix belongs in {matrix.plan.matrix_id}.", "Move the folder back.")]
    made = files_of(again)
    return [
        Finding(str(stored.path / name), "differs from what its runs give.", AGAIN)
        for name, data in made.items()
        if _bytes(stored.path / name) != data
    ]


def _lost(cell: MatrixCell, stored: MatrixFolder, results: Path) -> Finding | None:
    """Return what is wrong with a cell's run: it is gone, or is another one."""
    if cell.run is None:
        return None
    folder = RunFolder(results / cell.run)
    if not (folder.path / "run.json").is_file():
        return Finding(str(stored.path), f"needs the run {cell.run}, which is missing.", "Restore the run.")
    if folder.digest != cell.run_digest:
        return Finding(str(stored.path), f"needs the run {cell.run}, whose run.json has changed since.")
    return None


def _outcome(cell: MatrixCell, results: Path) -> CellOutcome:
    """Return what came of a cell, as the run that it names says.

    Raises:
        BadInput: it names a place outside the results.
    """
    if cell.run is not None:
        parts = Path(cell.run).parts
        if len(parts) != 3 or ".." in parts or Path(cell.run).is_absolute():
            raise BadInput(f"a cell names {cell.run!r}, which is not a run in this results folder.", remedy=AGAIN)
        return CellOutcome(cell.benchmark, cell.reader, cell.system, RunFolder(results / cell.run))
    kind: Callable[[str], MemevalError] = NotApplicable if cell.state is CellState.NOT_APPLICABLE else MemevalError
    return CellOutcome(
        cell.benchmark, cell.reader, cell.system, error=None if cell.reason is None else kind(cell.reason)
    )


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
