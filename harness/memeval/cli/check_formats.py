"""The result of ``memeval check`` as a text table, as GitHub annotations, and as a Markdown job summary."""

from collections.abc import Iterator, Sequence

from memeval.cli.shared import aligned
from memeval.evaluation.submit.proposed_results import harmless
from memeval.leaderboard.regressions import points_of
from memeval.records.check import (
    CheckedMetric,
    GateComparison,
    GateStatus,
    MetricStatus,
    RegressionCheck,
    Severity,
    Unit,
)
from memeval.systems.channel import visible

HEADINGS = ("", "baseline", "this run", "change", "limit", "p", "result")
NUMBERS = range(1, len(HEADINGS) - 1)
"""The columns of numbers, aligned right."""

FAILING = (MetricStatus.REGRESSION, MetricStatus.MISSING)
WARNING = (MetricStatus.WITHIN_NOISE, MetricStatus.WARNING)

_SHOWN = 200
"""Longest name of a category in an annotation, in characters."""


def text_of(check: RegressionCheck) -> Iterator[str]:
    yield f"{check.system} {check.version}, run {check.run_id}, on {check.benchmark}, protocol {check.protocol}"
    yield from _baseline_lines(check)
    if check.metrics:
        yield from aligned([HEADINGS, *(_cells(metric, check) for metric in check.metrics)], NUMBERS)
        yield from (f"  {metric.metric}: {metric.note}" for metric in check.metrics if metric.note)
        yield _method(check)
    for each in check.comparisons:
        yield comparison_of(each)
        yield from aligned([HEADINGS, *(_cells(metric, check) for metric in each.metrics)], NUMBERS)
        yield _method_of(each)
    yield verdict_of(check)


def verdict_of(check: RegressionCheck) -> str:
    if check.status is GateStatus.NO_BASELINE:
        return "No baseline: nothing was compared. Accept a run, or name one with --baseline."
    if check.status is GateStatus.PASSED:
        return "Passed: no metric passed its limit."
    if check.failing:
        return f"Regression: {', '.join(check.failing)}."
    warned = [metric.metric for metric in all_metrics(check) if metric.status in WARNING]
    return f"Warning: {', '.join(dict.fromkeys(warned))} passed a limit, but no regression is proven."


def all_metrics(check: RegressionCheck) -> list[CheckedMetric]:
    return [*check.metrics, *(metric for each in check.comparisons for metric in each.metrics)]


def comparison_of(comparison: GateComparison) -> str:
    if comparison.kind == "release":
        return f"release {comparison.release}: run {comparison.runs[0]}"
    if comparison.kind == "best":
        return f"best accepted run: {comparison.runs[0]}"
    return f"drift: line through {len(comparison.runs)} runs, from {comparison.runs[0]} to this run"


def sentence_of(metric: CheckedMetric, check: RegressionCheck) -> str:
    """Return a metric's result as a sentence: from, to, limit and test."""
    if metric.status is MetricStatus.MISSING:
        return f"{metric.metric} is missing. The baseline has {formatted(metric.baseline_value, metric.unit)}."
    before, now = (formatted(value, metric.unit) for value in (metric.baseline_value, metric.current_value))
    verb = "fell" if (metric.delta or 0.0) < 0 else "rose"
    head = f"{metric.metric} {verb} from {before} to {now} ({change_of(metric)}). Limit: {limit_of(metric, check)}."
    if metric.p is None:
        return head + (f" {metric.note}" if metric.note else "")
    noise = ", within noise" if metric.status is MetricStatus.WITHIN_NOISE else ""
    return f"{head} One-sided paired test: {_p_value(metric)}{noise}."


def annotations_of(check: RegressionCheck) -> Iterator[str]:
    """Yield GitHub workflow commands: an error per regression, a warning per warning, else a notice."""
    title = f"memeval check: {visible(check.system)}"
    for metric in all_metrics(check):
        if metric.status in (*FAILING, *WARNING):
            level = "error" if metric.status in FAILING else "warning"
            yield annotation(level, f"{title}: {metric.status}", sentence_of(metric, check))
    if check.status in (GateStatus.NO_BASELINE, GateStatus.PASSED):
        yield annotation("notice", title, verdict_of(check))


def summary_of(check: RegressionCheck) -> str:
    """Return the result as Markdown. Names come from outside: they hold no link, mention or markup."""
    lines = [
        f"### memeval check: {check.status}",
        "",
        f"{harmless(check.system)} {harmless(check.version)}, run {harmless(check.run_id)}, on "
        f"{harmless(check.benchmark)}, protocol {harmless(check.protocol)}",
        "",
        *(f"{harmless(line)}  " for line in _baseline_lines(check)),
        "",
    ]
    if check.metrics:
        lines += _rows(check.metrics, check)
        lines += ["", *(f"- {harmless(m.metric)}: {harmless(m.note)}" for m in check.metrics if m.note)]
        lines += ["", _method(check)]
    for each in check.comparisons:
        lines += ["", harmless(comparison_of(each)), "", *_rows(each.metrics, check), "", _method_of(each)]
    return "\n".join([*lines, "", harmless(verdict_of(check)), ""])


def _rows(metrics: Sequence[CheckedMetric], check: RegressionCheck) -> Iterator[str]:
    for row in (("metric", *HEADINGS[1:]), ("---", *("---:" for _ in HEADINGS[1:-1]), "---")):
        yield f"| {' | '.join(row)} |"
    for metric in metrics:
        name, *cells = _cells(metric, check)
        signs = {**dict.fromkeys(FAILING, "✗ "), **dict.fromkeys(WARNING, "! ")}
        cells[-1] = signs.get(metric.status, "") + cells[-1]
        yield f"| {harmless(name)} | {' | '.join(cells)} |"


def formatted(value: float | None, unit: Unit) -> str:
    """Return a value with its unit; a dash for ``None``."""
    if value is None:
        return "–"
    if unit is Unit.SHARE:
        return f"{100 * value:.1f}"
    if unit is Unit.DOLLARS:
        return f"${value:.6f}"
    return f"{value:,.1f}" if unit is Unit.TOKENS else f"{1000 * value:,.1f} ms"


def change_of(metric: CheckedMetric) -> str:
    """Return a difference: in points for shares, and in percent."""
    if metric.delta is None:
        return "–"
    percent = "" if metric.delta_percent is None else f"{metric.delta_percent:+.1f} %"
    if metric.unit is not Unit.SHARE:
        return percent or "–"
    points = f"{100 * metric.delta:+.1f} points"
    return f"{points}, {percent}" if percent else points


def limit_of(metric: CheckedMetric, check: RegressionCheck) -> str:
    thresholds = check.thresholds
    points = points_of(metric.group, thresholds)
    relative = f"{thresholds.relative_percent:g} %"
    return relative if points is None else f"{points:g} points or {relative}"


def _cells(metric: CheckedMetric, check: RegressionCheck) -> tuple[str, ...]:
    critical = f" ({Severity.CRITICAL})" if metric.severity is Severity.CRITICAL else ""
    return (
        metric.metric,
        formatted(metric.baseline_value, metric.unit),
        formatted(metric.current_value, metric.unit),
        change_of(metric),
        limit_of(metric, check),
        _p_value(metric).removeprefix("p = ").removeprefix("p "),
        f"{metric.status}{critical}",
    )


def _p_value(metric: CheckedMetric) -> str:
    p = metric.p if metric.corrected is None else metric.corrected
    return "–" if p is None else "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def _baseline_lines(check: RegressionCheck) -> Iterator[str]:
    if (baseline := check.baseline) is not None:
        count = len(baseline.runs)
        if baseline.kind == "run":
            yield f"baseline: run {baseline.runs[0]}"
        else:
            runs = f"{count} accepted runs" if count > 1 else "1 accepted run"
            thin = f", thin: {baseline.kind.removeprefix('last-')} are asked for" if baseline.thin else ""
            yield f"baseline: mean of {runs}, {baseline.runs[-1]} to {baseline.runs[0]}{thin}"
    yield from check.notes


def _method(check: RegressionCheck) -> str:
    return (
        f"p: one-sided paired test over the same items, corrected for {check.tests} tests (step-down max-T). "
        f"A loss counts if p < {check.level:.4g}."
    )


def _method_of(comparison: GateComparison) -> str:
    test = "one-sided paired test" if comparison.kind == "drift" else "two-sided paired test of memeval compare"
    tests = len(comparison.metrics)
    return f"p: {test}, corrected for {tests} tests (step-down max-T). A loss counts if p < {comparison.level:.4g}."


def annotation(level: str, title: str, message: str) -> str:
    """Return a workflow command, escaped as GitHub's toolkit does: no text ends the command or starts another."""
    message = _escaped(visible(message[: 10 * _SHOWN]))
    return f"::{level} title={_escaped(title[:_SHOWN]).replace(':', '%3A').replace(',', '%2C')}::{message}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
