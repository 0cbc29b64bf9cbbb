"""What the graders are worth, by the labels of a sample."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from memeval.claims.store import file_name
from memeval.labels.reading import final_labels
from memeval.records.label import (
    AnswerLabel,
    GraderErrors,
    LabelCount,
    LabelReport,
    LabelSample,
    RankAgreement,
    ReaderPair,
    Reading,
    ReadLabel,
    RulesComparison,
    RulesVerdicts,
    SampleRow,
    SampleShare,
    SystemWorth,
)
from memeval.records.regraded import RegradedFile
from memeval.statistics.agreement import cohen_kappa, kendall_tau
from memeval.statistics.correction import (
    DrawnRows,
    Estimate,
    SampledShare,
    corrected_share,
    equal_shares,
    sampled_share,
)

JUDGE = "judge"

ALPHA = 0.05
"""Shares differ if the p-value is below this."""

ALL = "all"

STYLES = ((6, "up to 6 words"), (25, "7 to 25 words"), (10**9, "more than 25 words"))

Labelled = tuple[SampleRow, AnswerLabel]

Part = Callable[[SampleRow], bool]
"""Whether a row is in a part of the sample, which may cut through strata."""

Verdict = Callable[[SampleRow], bool]

LABELS = tuple(AnswerLabel)


def style_of(row: SampleRow) -> str:
    return next(name for most, name in STYLES if row.words <= most)


def report(
    sample: LabelSample,
    rows: Sequence[SampleRow],
    readings: Sequence[tuple[Reading, Sequence[ReadLabel]]],
    files: Mapping[str, RegradedFile],
    versions: Sequence[RulesVerdicts] = (),
) -> LabelReport:
    final = final_labels(readings)
    labelled = _weighted(sample, [(row, final[row.label_id]) for row in rows if row.label_id in final])
    verdicts: dict[str, Verdict] = {sample.judge: lambda row: row.rules, JUDGE: lambda row: row.judge}
    errors = tuple(
        _errors(grader, name, part, labelled, verdict)
        for grader, verdict in verdicts.items()
        for name, part in _parts(labelled).items()
    )
    by_file = _by(labelled, lambda row: row.file)
    graders = {name: _Evidence(verdict, labelled) for name, verdict in verdicts.items()}
    graders |= {
        each.judge: _Evidence(_accepted(each), [row for row in labelled if row[0].cluster not in each.tuned_on])
        for each in versions
    }
    systems = sorted(
        (_system(files[name], members, graders) for name, members in by_file.items()),
        key=lambda each: -each.right.value,
    )
    orders = {
        "labels": [each.right.value for each in systems],
        "judge": [each.judge for each in systems],
        "rules": [each.rules for each in systems],
    }
    return LabelReport(
        sample=sample,
        readings=tuple(reading for reading, _labels in readings),
        pairs=tuple(_pairs(readings)),
        labelled=len(labelled),
        open=len(rows) - len(labelled),
        doubted=len({each.label_id for _reading, labels in readings for each in labels if each.doubt}),
        errors=errors,
        systems=tuple(systems),
        equal_rejects={grader: _equal(by_file, RIGHT, verdict) for grader, verdict in verdicts.items()},
        equal_accepts={grader: _equal(by_file, NOT_RIGHT, verdict) for grader, verdict in verdicts.items()},
        orders=tuple(
            RankAgreement(first=one, second=other, tau=kendall_tau(orders[one], orders[other]))
            for one, other in itertools.combinations(orders, 2)
            if len(systems) > 1
        ),
        versions=tuple(
            _comparison(sample, labelled, tuple(each for each in versions if each.tuned_on == tuned_on))
            for tuned_on in dict.fromkeys(each.tuned_on for each in versions)
        ),
    )


@dataclass(frozen=True)
class _Evidence:
    verdict: Verdict
    labelled: Sequence[Labelled]

    @cached_property
    def is_equal(self) -> bool:
        by_file = _by(self.labelled, lambda row: row.file)
        found = (_equal(by_file, of, self.verdict) for of in (RIGHT, NOT_RIGHT))
        return all(p is None or p >= ALPHA for p in found)

    def about(self, file: str) -> Sequence[Labelled]:
        """Return the rows whose errors hold for a file: all if files do not differ, else its own."""
        return self.labelled if self.is_equal else [each for each in self.labelled if each[0].file == file]


def _accepted(verdicts: RulesVerdicts) -> Verdict:
    accepted = frozenset(verdicts.accepted)
    return lambda row: row.label_id in accepted


def _comparison(
    sample: LabelSample, labelled: Sequence[Labelled], verdicts: tuple[RulesVerdicts, ...]
) -> RulesComparison:
    tuned_on = verdicts[0].tuned_on
    graders: dict[str, Verdict] = {
        sample.judge: lambda row: row.rules,
        **{each.judge: _accepted(each) for each in verdicts},
    }
    halves = [
        [each for each in labelled if (each[0].cluster in tuned_on) is tuned]  # each half is a sample of its own
        for tuned in (True, False)
    ]
    tuned, reported = (
        tuple(
            _errors(grader, name, part, half, verdict)
            for name, part in _parts(half, styles=False).items()
            for grader, verdict in graders.items()
        )
        for half in halves
    )
    by_file = _by(halves[1], lambda row: row.file)
    return RulesComparison(
        tuned_on=tuned_on,
        verdicts=verdicts,
        tuned=tuned,
        reported=reported,
        equal_rejects={grader: _equal(by_file, RIGHT, verdict) for grader, verdict in graders.items()},
        equal_accepts={grader: _equal(by_file, NOT_RIGHT, verdict) for grader, verdict in graders.items()},
    )


def _weighted(sample: LabelSample, labelled: Sequence[Labelled]) -> list[Labelled]:
    sizes = {(each.file, each.category, each.judge, each.rules): each.rows for each in sample.strata}
    numbers = Counter(_stratum(row) for row, _label in labelled)
    return [
        (row.model_copy(update={"probability": numbers[_stratum(row)] / sizes[_stratum(row)]}), label)
        for row, label in labelled
    ]


def _stratum(row: SampleRow) -> tuple[str, str, bool, bool]:
    return row.file, row.category, row.judge, row.rules


def _by(labelled: Iterable[Labelled], part: Callable[[SampleRow], str]) -> dict[str, list[Labelled]]:
    found: dict[str, list[Labelled]] = {}
    for row, label in labelled:
        found.setdefault(part(row), []).append((row, label))
    return dict(sorted(found.items()))


def _parts(labelled: Sequence[Labelled], *, styles: bool = True) -> dict[str, Part]:
    rows = [row for row, _label in labelled]
    found = {style_of(row) for row in rows} if styles else set()
    return {
        ALL: lambda row: True,
        **{name: _is(name, lambda row: row.category) for name in sorted({row.category for row in rows})},
        **{name: _is(name, style_of) for _most, name in STYLES if name in found},
        **{name: _is(name, lambda row: row.file) for name in sorted({row.file for row in rows})},
    }


def _is(name: str, of: Callable[[SampleRow], str]) -> Part:
    return lambda row: of(row) == name


def _share(
    members: Sequence[Labelled],
    of: frozenset[AnswerLabel],
    holds: Callable[[Labelled], bool],
    part: Part = lambda row: True,
) -> SampledShare | None:
    strata: dict[tuple[str, str, bool, bool], list[Labelled]] = {}
    for row, label in members:
        strata.setdefault(_stratum(row), []).append((row, label))
    return sampled_share(
        [
            DrawnRows(
                rows=round(len(each) / each[0][0].probability),
                counted=tuple(label in of and part(row) for row, label in each),
                hits=tuple(map(holds, each)),
            )
            for each in strata.values()
        ]
    )


RIGHT = frozenset({AnswerLabel.RIGHT})
NOT_RIGHT = frozenset({AnswerLabel.IMPRECISE, AnswerLabel.WRONG})
IMPRECISE = frozenset({AnswerLabel.IMPRECISE})
WRONG = frozenset({AnswerLabel.WRONG})
USEFUL = RIGHT | IMPRECISE
ANY = frozenset(AnswerLabel)


def _errors(grader: str, name: str, part: Part, labelled: Sequence[Labelled], verdict: Verdict) -> GraderErrors:
    inside = [(row, given) for row, given in labelled if part(row)]
    table = tuple(
        LabelCount(
            label=label,
            accepted=sum(verdict(row) for row, given in inside if given is label),
            rejected=sum(not verdict(row) for row, given in inside if given is label),
        )
        for label in LABELS
    )

    def accepted(of: frozenset[AnswerLabel]) -> SampleShare | None:
        return _stored(_share(labelled, of, lambda each: verdict(each[0]), part))

    def rejected(of: frozenset[AnswerLabel]) -> SampleShare | None:
        return _stored(_share(labelled, of, lambda each: not verdict(each[0]), part))

    return GraderErrors(
        grader=grader,
        part=name,
        table=table,
        false_accepts=accepted(NOT_RIGHT),
        false_rejects=rejected(RIGHT),
        wrong_accepted=accepted(WRONG),
        imprecise_accepted=accepted(IMPRECISE),
        useful_rejected=rejected(USEFUL),
    )


def _stored(share: SampledShare | None) -> SampleShare | None:
    return None if share is None else _record(share.estimate, share.rows)


def _record(estimate: Estimate, rows: int) -> SampleShare:
    low, high = max(0.0, min(estimate.low, estimate.value)), min(1.0, max(estimate.high, estimate.value))
    return SampleShare(value=round(estimate.value, 6), low=round(low, 6), high=round(high, 6), rows=rows)


def _system(file: RegradedFile, members: Sequence[Labelled], graders: Mapping[str, _Evidence]) -> SystemWorth:
    judged = file.figures.majority or next(iter(file.figures.judges.values()))
    rules = file.figures.rules
    if rules is None:
        raise ValueError(f"{file_name(file)} has no verdicts of the rules")
    right = _share(members, ANY, lambda each: each[1] is AnswerLabel.RIGHT)
    useful = _share(members, ANY, lambda each: each[1] is not AnswerLabel.WRONG)
    if right is None or useful is None:
        raise ValueError(f"{file_name(file)} has no labelled row")
    return SystemWorth(
        file=file_name(file),
        label=file.label,
        right=_record(right.estimate, right.rows),
        at_least_imprecise=_record(useful.estimate, useful.rows),
        judge=judged.share,
        rules=rules.share,
        corrected_judge=_corrected(judged.share, judged.rows, graders[JUDGE], file_name(file)),
        corrected_rules=_corrected(rules.share, rules.rows, graders.get(file.judge or ""), file_name(file)),
    )


def _corrected(share: float, rows: int, grader: _Evidence | None, file: str) -> SampleShare | None:
    if grader is None:
        return None
    members, verdict = grader.about(file), grader.verdict
    specificity = _share(members, NOT_RIGHT, lambda each: not verdict(each[0]))
    sensitivity = _share(members, RIGHT, lambda each: verdict(each[0]))
    if specificity is None or sensitivity is None:
        return None
    found = corrected_share(share, rows, specificity, sensitivity)
    return None if found is None else _record(found, len(members))


def _equal(by_file: Mapping[str, Sequence[Labelled]], of: frozenset[AnswerLabel], verdict: Verdict) -> float | None:
    shares = [_share(members, of, lambda each: verdict(each[0])) for members in by_file.values()]
    return equal_shares([share for share in shares if share is not None])


def _pairs(readings: Sequence[tuple[Reading, Sequence[ReadLabel]]]) -> Iterable[ReaderPair]:
    independent = [
        (reading.reader, {each.label_id: each.label for each in labels})
        for reading, labels in readings
        if not reading.decides
    ]
    for (first, one), (second, other) in itertools.combinations(independent, 2):
        common = sorted(one.keys() & other.keys())
        if not common:
            continue
        table = [[0] * len(LABELS) for _ in LABELS]
        for label_id in common:
            table[LABELS.index(one[label_id])][LABELS.index(other[label_id])] += 1
        kappa = cohen_kappa(table)
        yield ReaderPair(
            first=first,
            second=second,
            rows=len(common),
            equal=sum(table[place][place] for place in range(len(LABELS))),
            kappa=None if kappa is None else round(kappa.value, 6),
            low=None if kappa is None or kappa.low is None else round(kappa.low, 6),
            high=None if kappa is None or kappa.high is None else round(kappa.high, 6),
        )
