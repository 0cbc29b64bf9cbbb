"""Promotion gates: limits that a configuration of a matrix must meet."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from memeval.grading.recall import DEPTHS
from memeval.records.benchmark import BenchmarkInfo, Direction, MetricInfo
from memeval.records.evalresult import EvalMetrics
from memeval.records.matrix import CellState, Gate, GateResult, MatrixCell, MatrixPlan

_LESS = re.compile(r"error_rate|.*_(ms|usd|seconds|used)|usd_per_item|.*hallucination.*|.*leak.*|false_positive.*")
"""Figures for which lower is better."""

FIGURES = frozenset(
    {name for name, field in EvalMetrics.model_fields.items() if field.annotation in (float | None, int | None)}
    | {f"recall_at_{depth}" for depth in DEPTHS}
    | {"cost_total_usd", "usd_per_item", "tokens_per_question", "error_rate"}
)
"""Names of the figures of a cell that do not depend on the benchmark."""

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
            passed, sentence = _gate_outcome(
                gate, value, None if first is None else value_of(first, gate.metric), metrics
            )
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
    gate: Gate, value: float | None, first: float | None, metrics: Mapping[str, MetricInfo]
) -> tuple[bool, str]:
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
        known = metrics.get(gate.metric)
        lower_is_better = known.direction is Direction.LOWER if known else bool(_LESS.fullmatch(gate.metric))
        behind = None if first is None else (value - first if lower_is_better else first - value)
        passed = passed and behind is not None and behind <= gate.drop + EPSILON
        limits.append(f"no more than {gate.drop:g} behind the first" + ("" if behind is None else f" ({first:.6g})"))
    return passed, f"{gate.metric} is {value:.6g}, and is to be {' and '.join(limits)}."
