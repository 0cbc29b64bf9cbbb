"""A judge's errors on calibration answers: counts, shares, intervals."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from memeval.records.audit import Agreement, AuditLine, Probe, ProbeKind, Rate
from memeval.records.scores import Interval
from memeval.statistics.agreement import cohen_kappa
from memeval.statistics.intervals import wilson

Part = TypeVar("Part", str, ProbeKind)


@dataclass(frozen=True)
class AuditLines:
    """A judge's errors, in total, by category and by kind of probe."""

    overall: AuditLine
    categories: dict[str, AuditLine]
    kinds: dict[ProbeKind, AuditLine]


def audit_lines(probes: Sequence[Probe]) -> AuditLines:
    """Return a judge's errors in total, by category, and by kind of probe."""
    return AuditLines(
        overall=audit_line(probes),
        categories=_by(probes, lambda probe: probe.category),
        kinds=_by(probes, lambda probe: probe.kind),
    )


def audit_line(probes: Sequence[Probe]) -> AuditLine:
    """Return a judge's errors over some probes.

    A probe without a verdict counts in the denominators of both rates, but as neither accepted nor rejected.
    """
    wrong = [probe for probe in probes if not probe.expected]
    right = [probe for probe in probes if probe.expected]
    return AuditLine(
        false_accepts=rate(sum(probe.verdict is True for probe in wrong), len(wrong)),
        false_rejects=rate(sum(probe.verdict is False for probe in right), len(right)),
        unparsed=rate(sum(probe.verdict is None for probe in probes), len(probes)),
        agreement=agreement((probe.expected, probe.verdict) for probe in probes if probe.verdict is not None),
    )


def agreement(verdicts: Iterable[tuple[bool, bool]]) -> Agreement:
    table = [[0, 0], [0, 0]]
    for first, second in verdicts:
        table[first][second] += 1
    items = sum(map(sum, table))
    kappa = cohen_kappa(table)
    return Agreement(
        items=items,
        equal=rate(table[0][0] + table[1][1], items),
        kappa=kappa.value if kappa else None,
        kappa_low=kappa.low if kappa else None,
        kappa_high=kappa.high if kappa else None,
    )


def rate(count: int, of: int) -> Rate:
    """Return a share with its Wilson interval; both are ``None`` if ``of`` is 0."""
    if of == 0:
        return Rate(count=count, of=of, share=None, interval=None)
    low, high = wilson(count, of)
    return Rate(count=count, of=of, share=count / of, interval=Interval(low=low, high=high))


def _by(probes: Sequence[Probe], part: Callable[[Probe], Part]) -> dict[Part, AuditLine]:
    """Return the errors by part, in order of first appearance."""
    members: dict[Part, list[Probe]] = {}
    for probe in probes:
        members.setdefault(part(probe), []).append(probe)
    return {name: audit_line(found) for name, found in members.items()}
