"""What published verdicts say about the judges that gave them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence

from memeval.claims.figures import majority
from memeval.records.finding import (
    JudgePair,
    JudgePanel,
    JudgeTrials,
    PassRate,
    RepeatedVerdicts,
    VerdictsByOverlap,
)
from memeval.records.regraded import RegradedFile, RegradedRow
from memeval.statistics.agreement import cohen_kappa

F1 = "f1"
"""The metric of a row that is compared with verdicts."""

Judged = tuple[RegradedFile, Sequence[RegradedRow], bool]
"""A regraded file, its rows, and whether its answers were written to test a judge."""


def judge_trials(files: Iterable[Judged]) -> JudgeTrials:
    """Return what the verdicts in regraded files say about judges.

    Files with several named judges are panels. In the other files with three or more verdicts on each row, one judge
    was asked several times.
    """
    repeated, panels, overlap = [], [], []
    for file, rows, is_test in files:
        judges = sorted(file.figures.judges)
        known = [name for name in judges if name in file.judges]
        if len({file.judges[name] for name in known}) > 1:
            panels.append(_panel(file, rows, known))
        elif len(judges) > 2:
            repeated.append(_repeated(file, rows, judges, is_test))
        if judges and not is_test and any(F1 in row.metrics for row in rows):
            overlap.append(_overlap(file, rows, judges))
    return JudgeTrials(repeated=tuple(repeated), panels=tuple(panels), overlap=tuple(overlap))


def _rate(verdicts: Sequence[bool]) -> PassRate:
    return PassRate(passed=sum(verdicts), of=len(verdicts))


def _complete(rows: Sequence[RegradedRow], judges: Sequence[str]) -> list[tuple[bool, ...]]:
    """Return the verdicts of all judges on each row that has them all."""
    found = (tuple(row.verdicts.get(judge) for judge in judges) for row in rows)
    return [tuple(bool(each) for each in verdicts) for verdicts in found if None not in verdicts]


def _split(verdicts: Iterable[Sequence[bool]]) -> int:
    return sum(any(each) and not all(each) for each in verdicts)


def _repeated(
    file: RegradedFile, rows: Sequence[RegradedRow], judges: Sequence[str], is_test: bool
) -> RepeatedVerdicts:
    verdicts = _complete(rows, judges)
    return RepeatedVerdicts(
        name=file.label,
        judge=file.judges.get(judges[0]),
        test_set=is_test,
        each=tuple(_rate(column) for column in zip(*verdicts, strict=True)),
        majority=_rate([2 * sum(row) > len(row) for row in verdicts]),
        split=_split(verdicts),
    )


def _panel(file: RegradedFile, rows: Sequence[RegradedRow], judges: Sequence[str]) -> JudgePanel:
    verdicts = _complete(rows, judges)
    columns = {file.judges[judge]: column for judge, column in zip(judges, zip(*verdicts, strict=True), strict=True)}
    return JudgePanel(
        name=file.label,
        judges={judge: _rate(column) for judge, column in columns.items()},
        pairs=tuple(
            _pair(one, other, columns[one], columns[other]) for one, other in itertools.combinations(columns, 2)
        ),
        split=_split(verdicts),
    )


def _pair(first: str, second: str, one: Sequence[bool], other: Sequence[bool]) -> JudgePair:
    table = [[0, 0], [0, 0]]
    for a, b in zip(one, other, strict=True):
        table[a][b] += 1
    kappa = cohen_kappa(table)
    equal = table[0][0] + table[1][1]
    return JudgePair(first=first, second=second, equal=equal, of=len(one), kappa=kappa.value if kappa else None)


def _overlap(file: RegradedFile, rows: Sequence[RegradedRow], judges: Sequence[str]) -> VerdictsByOverlap:
    """Compare the verdict of the only judge, or of most judges, with the token F1 of the same answers."""
    pairs = [
        (verdict, row.metrics[F1])
        for row in rows
        if F1 in row.metrics
        and (verdict := row.verdicts.get(judges[0]) if len(judges) == 1 else majority(row)) is not None
    ]
    passed, failed = ([f1 for verdict, f1 in pairs if verdict is kind] for kind in (True, False))
    return VerdictsByOverlap(
        name=file.label,
        passed=_rate([verdict for verdict, _f1 in pairs]),
        f1_passed=_mean(passed),
        f1_failed=_mean(failed),
        passed_without_overlap=sum(f1 == 0 for f1 in passed),
        failed_with_match=sum(f1 == 1 for f1 in failed),
    )


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
