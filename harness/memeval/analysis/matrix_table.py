"""Checks the promotion gates of a matrix, and writes it as text tables and as CSV."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from memeval.archive.rows import neutral
from memeval.grading.recall import DEPTHS
from memeval.records.benchmark import BenchmarkInfo, Direction, MetricInfo
from memeval.records.comparison import Difference
from memeval.records.evalresult import EvalMetrics
from memeval.records.matrix import CellState, ComparedTo, Gate, GateResult, Matrix, MatrixCell, MatrixPlan
from memeval.systems.channel import visible

FIGURES = frozenset(
    {name for name, field in EvalMetrics.model_fields.items() if field.annotation in (float | None, int | None)}
    | {f"recall_at_{depth}" for depth in DEPTHS}
    | {"cost_total_usd", "usd_per_item", "tokens_per_question", "error_rate"}
)
"""Names of the figures of a cell that do not depend on the benchmark."""

_MORE = frozenset(
    {"recall_precision", "recall_hit_rate", "recall_mrr", "recall_ndcg", "recall_coverage", "r_precision"}
    | {"reflect_accuracy", "reflect_completeness", "true_rejection_rate", "abstention_rate_adversarial"}
    | {f"recall_at_{depth}" for depth in DEPTHS}
)
"""Figures for which higher is better. Of all others, lower is better: counts, times, costs and rates of faults."""

EPSILON = 1e-9
"""Tolerance for rounding errors at a limit."""


def metric_names(info: BenchmarkInfo) -> frozenset[str]:
    """Return the metrics that a gate can use on a benchmark: composite, categories, metrics and figures."""
    categories = (*info.categories, *(each for protocol in info.protocols for each in protocol.categories))
    names = [*(category.name for category in categories), *(metric.name for metric in info.metrics)]
    return FIGURES | {"composite"} | {name for name in names if not name.endswith("@k")}


def gate_results(
    plan: MatrixPlan, cells: Sequence[MatrixCell], metrics: Mapping[str, MetricInfo]
) -> Iterator[GateResult]:
    """Yield the result of each gate for each of its cells; a cell without a run fails."""
    for index, gate in enumerate(plan.promotion_gates):
        for cell in cells:
            if gate.systems and cell.system not in gate.systems:
                continue
            if gate.benchmarks and plan.benchmarks[cell.benchmark].id not in gate.benchmarks:
                continue
            baseline = (cell.benchmark, cell.reader, plan.systems[0].id)
            first = next((c for c in cells if (c.benchmark, c.reader, c.system) == baseline), None)
            value = value_of(cell, gate.metric)
            passed, sentence = _gate_outcome(gate, cell, first, metrics)
            yield GateResult(
                gate=index,
                benchmark=cell.benchmark,
                reader=cell.reader,
                system=cell.system,
                value=value,
                passed=passed,
                sentence=f"{cell.system} on {plan.benchmarks[cell.benchmark].label}: {sentence}",
            )


def value_of(cell: MatrixCell, metric: str) -> float | None:
    """Return the value of a metric in a cell; ``None`` if the cell does not have it."""
    if cell.state is not CellState.DONE:
        return None
    if metric == "composite":
        return None if cell.composite is None else cell.composite.value
    return numbers_of(cell).get(metric)


def numbers_of(cell: MatrixCell) -> dict[str, float | None]:
    """Return all numbers of a cell except its composite, by name."""
    return {**cell.figures, **cell.metrics, **{category.name: category.share for category in cell.categories}}


def _gate_outcome(
    gate: Gate, cell: MatrixCell, first: MatrixCell | None, metrics: Mapping[str, MetricInfo]
) -> tuple[bool, str]:
    value = value_of(cell, gate.metric)
    if value is None:
        return False, f"there is no {gate.metric}."
    limits, passed = [], True
    if gate.minimum is not None:
        passed = passed and value >= gate.minimum - EPSILON
        limits.append(f"at least {gate.minimum:g}")
    if gate.maximum is not None:
        passed = passed and value <= gate.maximum + EPSILON
        limits.append(f"at most {gate.maximum:g}")
    if gate.drop is not None:
        known, before = metrics.get(gate.metric), None if first is None else value_of(first, gate.metric)
        lower_is_better = known.direction is Direction.LOWER if known else gate.metric in FIGURES - _MORE
        if before is None:
            passed, why = False, ""
        elif first is None or first.track_id != cell.track_id:
            passed, why = False, ", which is of another track"
        else:
            behind = value - before if lower_is_better else before - value
            passed, why = passed and behind <= gate.drop + EPSILON, f" ({before:.6g})"
        limits.append(f"no more than {gate.drop:g} behind the first{why}")
    return passed, f"{gate.metric} is {value:.6g}, and is to be {' and '.join(limits)}."


LABEL, COLUMN = 25, 20
"""Width in characters of the label column and of the other columns, as in Astrocyte's tables."""

ABSENT = "N/A"

CSV_COLUMNS = (
    *("benchmark", "protocol", "tier", "reader", "system", "state", "run", "track"),
    *("name", "value", "low", "high"),
    *("first", "difference", "difference_low", "difference_high", "p", "sign"),
)
"""The CSV columns: the cell, the number, and its difference from the first configuration."""

NOTHING = "Nothing to compare: no cell of the matrix has a run."


@dataclass(frozen=True)
class MatrixLine:
    label: str
    name: str
    """Name of the number in a cell."""
    form: str
    """How the number is written, as in :func:`format`."""
    tested: str | None = None
    """Name of its difference in the tests; ``None`` if it is not tested."""


QUALITY, MILLISECONDS, COUNT, SECONDS, DOLLARS = ".4f", ".1f", ",.0f", ".2f", ".4f"

SUITE = (
    MatrixLine("Recall precision", "recall_precision", QUALITY, "precision"),
    MatrixLine("Recall hit rate", "recall_hit_rate", QUALITY, "hit"),
    MatrixLine("Recall MRR", "recall_mrr", QUALITY, "mrr"),
    MatrixLine("Recall NDCG", "recall_ndcg", QUALITY, "ndcg"),
    MatrixLine("Retain p50 (ms)", "retain_latency_p50_ms", MILLISECONDS),
    MatrixLine("Retain p95 (ms)", "retain_latency_p95_ms", MILLISECONDS),
    MatrixLine("Recall p50 (ms)", "recall_latency_p50_ms", MILLISECONDS),
    MatrixLine("Recall p95 (ms)", "recall_latency_p95_ms", MILLISECONDS),
    MatrixLine("Reflect accuracy (native)", "reflect_accuracy", QUALITY),
    MatrixLine("Reflect p50 (ms)", "reflect_latency_p50_ms", MILLISECONDS),
    MatrixLine("Tokens used", "total_tokens_used", COUNT),
    MatrixLine("Duration (s)", "total_duration_seconds", SECONDS),
    MatrixLine("Recall@5", "recall_at_5", QUALITY, "recall@5"),
    MatrixLine("True rejection rate", "true_rejection_rate", QUALITY, "true_rejection"),
    MatrixLine("Cost (USD)", "cost_total_usd", DOLLARS),
)
"""The lines for a suite: first Astrocyte's, in its order, then memeval's."""

COMPOSITE = MatrixLine("Composite", "composite", QUALITY, "composite")

SUITE_ONLY = {"recall_precision", "reflect_accuracy", "true_rejection_rate"}

USAGE = (
    MatrixLine("Context tokens/question", "tokens_per_question", COUNT),
    MatrixLine("Question p50 (ms)", "e2e_per_question_p50_ms", MILLISECONDS),
    MatrixLine("Question p95 (ms)", "e2e_per_question_p95_ms", MILLISECONDS),
    MatrixLine("Duration (s)", "total_duration_seconds", SECONDS),
    MatrixLine("Cost (USD)", "cost_total_usd", DOLLARS),
    MatrixLine("Cost/item (USD)", "usd_per_item", DOLLARS),
)


def table_text(matrix: Matrix) -> str:
    """Return the tables of a matrix: one for each benchmark and reader, a column for each configuration.

    A number has ``▲``, ``▼`` or ``=`` if it was tested against the first configuration.
    """
    if not any(cell.state is CellState.DONE for cell in matrix.cells):
        return NOTHING
    blocks = ["\n".join(_block(matrix, cells)) for cells in _groups(matrix)]
    return "\n\n".join(blocks)


def csv_text(matrix: Matrix) -> str:
    """Return a matrix as CSV, with a line for each number of each cell."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for cell in matrix.cells:
        plan = matrix.plan.benchmarks[cell.benchmark]
        head = [plan.id, cell.protocol or plan.protocol, cell.tier or plan.tier, cell.answered_by or cell.reader]
        head += [cell.system, cell.state.value, cell.run, cell.track_id]
        tested = _tested(matrix, cell)
        first = next((t.first for t in matrix.tests if _is_of(cell, t.system, t.benchmark, t.reader)), None)
        for name, value, low, high in _numbers(cell):
            test = tested.get(name)
            comparison: list[object] = [None] * 6
            if test is not None:
                comparison = [first, test.difference, test.low, test.high, test.corrected, test.sign.value]
            writer.writerow([*map(neutral, head), name, value, low, high, *comparison])
        if cell.state is not CellState.DONE:
            writer.writerow([*map(neutral, head), "reason", neutral(cell.reason), *[None] * 8])
    return stream.getvalue()


def _numbers(cell: MatrixCell) -> Iterator[tuple[str, float | None, float | None, float | None]]:
    if cell.composite is not None:
        yield "composite", cell.composite.value, *cell.composite.ends
    for name, value in numbers_of(cell).items():
        yield name, value, None, None


def _groups(matrix: Matrix) -> Iterator[list[MatrixCell]]:
    for index in range(len(matrix.plan.benchmarks)):
        for reader in matrix.plan.readers or (None,):
            cells = [cell for cell in matrix.cells if (cell.benchmark, cell.reader) == (index, reader)]
            if cells:
                yield cells


def _block(matrix: Matrix, cells: Sequence[MatrixCell]) -> Iterator[str]:
    plan = matrix.plan.benchmarks[cells[0].benchmark]
    reader = f", reader {cells[0].reader}" if cells[0].reader else ""
    tested = {cell.system: _tested(matrix, cell) for cell in cells}
    rule = "-" * (LABEL + COLUMN * len(cells))
    yield visible(f"{plan.label}{reader}")
    yield rule
    yield _row("", [cell.system for cell in cells])
    yield _row("", [_if_done(cell, f"{cell.provider} {cell.version}") for cell in cells])
    yield _row("", [_if_done(cell, f"{cell.protocol} {cell.tier}") for cell in cells])
    yield rule
    before, after = _lines(cells)
    for line in (*before, COMPOSITE):
        yield _row(line.label, [_value(cell, line, tested[cell.system]) for cell in cells])
    yield _row("95 % interval", [_interval(cell) for cell in cells])
    for line in after:
        yield _row(line.label, [_value(cell, line, tested[cell.system]) for cell in cells])
    yield _row("Items without a verdict", [_if_done(cell, f"{cell.errors}/{cell.planned}") for cell in cells])
    yield rule
    for cell in cells:
        if cell.state is not CellState.DONE:
            yield visible(f"{cell.system} {cell.state}: {cell.reason}")


def _lines(cells: Sequence[MatrixCell]) -> tuple[Sequence[MatrixLine], Sequence[MatrixLine]]:
    """Return the lines above the composite, which only suites have, and the lines below it."""
    done = [cell for cell in cells if cell.state is CellState.DONE]
    names = dict.fromkeys(category.name for cell in done for category in cell.categories)
    if any(SUITE_ONLY & cell.figures.keys() for cell in done):
        return SUITE, [MatrixLine(name, name, QUALITY, name) for name in names]
    names |= dict.fromkeys(name for cell in done for name in cell.metrics)
    return (), (*(MatrixLine(name, name, QUALITY, name) for name in names), *USAGE)


def _value(cell: MatrixCell, line: MatrixLine, tested: Mapping[str, Difference]) -> str:
    value = value_of(cell, line.name)
    if value is None:
        return ABSENT
    difference = tested.get(line.tested or "")
    return format(value, line.form) + ("" if difference is None else f" {difference.sign}")


def _interval(cell: MatrixCell) -> str:
    interval = None if cell.composite is None else cell.composite.interval
    return ABSENT if interval is None else f"[{interval.low:.4f}, {interval.high:.4f}]"


def _if_done(cell: MatrixCell, text: str) -> str:
    return text if cell.state is CellState.DONE else ABSENT


def _tested(matrix: Matrix, cell: MatrixCell) -> dict[str, Difference]:
    """Return the differences of a cell from the first configuration on its track, by the name of the number."""
    for test in matrix.tests:
        if test.against is ComparedTo.FIRST and _is_of(cell, test.system, test.benchmark, test.reader):
            overall = () if test.overall is None else (test.overall,)
            return {each.name: each for each in (*overall, *test.others)}
    return {}


def _is_of(cell: MatrixCell, system: str, benchmark: int, reader: str | None) -> bool:
    return (cell.system, cell.benchmark, cell.reader) == (system, benchmark, reader)


def _row(label: str, values: Iterable[str]) -> str:
    return _cut(label, LABEL).ljust(LABEL) + "".join(_cut(value, COLUMN - 1).rjust(COLUMN) for value in values)


def _cut(text: str, width: int) -> str:
    text = visible(text)
    return text if len(text) <= width else text[: width - 1] + "…"


COST = "usd_per_item"


def best_for_their_cost(cells: Iterable[MatrixCell]) -> list[MatrixCell]:
    """Return the cells on the Pareto front: every cheaper cell scores less, and every better cell costs more.

    The cheapest is first. ``cells``: cells of one track. Cells without a score or a known cost are ignored.
    """
    placed = [
        (cost, score, cell)
        for cell in cells
        if (cost := value_of(cell, COST)) is not None and (score := value_of(cell, "composite")) is not None
    ]
    kept = frontier([(cost, score) for cost, score, _cell in placed])
    return [placed[place][2] for place in kept]


def frontier(points: Sequence[tuple[float, float]]) -> tuple[int, ...]:
    """Return the places of the points that no other point dominates, the cheapest first.

    Points are pairs of cost and score. A point dominates another if it costs no more, scores no less, and is better in
    one of the two. Equal points are all kept.
    """
    kept: list[int] = []
    for index in sorted(range(len(points)), key=lambda index: (points[index][0], -points[index][1])):
        cost, score = points[index]
        last = points[kept[-1]] if kept else None
        if last is None or score > last[1] or (cost, score) == last:
            kept.append(index)
    return tuple(kept)
