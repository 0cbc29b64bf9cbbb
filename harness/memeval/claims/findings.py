"""Findings: what the regraded files say about published scores, and about the judges that gave them."""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import NamedTuple

from memeval.claims.embargo import NOTHING_WAITS, Embargo, same_files
from memeval.claims.figures import majority
from memeval.claims.store import file_name, stored_regraded, stored_rows
from memeval.records.errors import BadInput
from memeval.records.finding import (
    ClaimsFile,
    ClaimUnit,
    ClaimVerdict,
    CorrectionsFile,
    CountedValue,
    Evidence,
    FileCount,
    FindingsReport,
    JudgePair,
    JudgePanel,
    JudgeTrials,
    PassRate,
    PublishedClaim,
    Recipe,
    Recount,
    RecountedClaim,
    RepeatedVerdicts,
    VerdictsByOverlap,
)
from memeval.records.regraded import RegradedFile, RegradedRow
from memeval.records.source import SCALES, Scale
from memeval.statistics.agreement import cohen_kappa
from memeval.toml import read_toml

F1 = "f1"
"""The metric of a row that is compared with verdicts."""

WITHOUT_JUDGE = frozenset({Scale.CHOICE, Scale.HIT, Scale.RECALL, Scale.TOKEN_F1})
"""Scales that need no judge."""

IMPLIED = {
    CountedValue.JUDGE: Scale.YES_NO,
    CountedValue.JUDGES: Scale.YES_NO,
    CountedValue.RECALL: Scale.RECALL,
}
"""The scale of a counted value, if neither claim nor file says it."""

Judged = tuple[RegradedFile, Sequence[RegradedRow], bool]
"""A regraded file, its rows, and whether its answers were written to test a judge."""


def judge_trials(files: Iterable[Judged]) -> JudgeTrials:
    """Return what the verdicts in regraded files say about judges.

    Files with several named judges are panels. In the other files with three or more verdicts on each row, one judge
    was asked several times. Verdicts that share no row are left out.
    """
    repeated, panels, overlap = [], [], []
    for file, rows, is_test in files:
        judges = sorted(file.figures.judges)
        known = [name for name in judges if name in file.judges]
        is_panel = len({file.judges[name] for name in known}) > 1
        verdicts = _complete(rows, known if is_panel else judges)
        if verdicts and is_panel:
            panels.append(_panel(file, known, verdicts))
        elif verdicts and len(judges) > 2:
            repeated.append(_repeated(file, judges, verdicts, is_test))
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
    file: RegradedFile, judges: Sequence[str], verdicts: Sequence[Sequence[bool]], is_test: bool
) -> RepeatedVerdicts:
    return RepeatedVerdicts(
        name=file.label,
        judge=file.judges.get(judges[0]),
        test_set=is_test,
        each=tuple(_rate(column) for column in zip(*verdicts, strict=True)),
        majority=_rate([2 * sum(row) > len(row) for row in verdicts]),
        split=_split(verdicts),
    )


def _panel(file: RegradedFile, judges: Sequence[str], verdicts: Sequence[Sequence[bool]]) -> JudgePanel:
    models = [file.judges[judge] for judge in judges]
    names = [
        model if models.count(model) == 1 else f"{model} ({judge})" for model, judge in zip(models, judges, strict=True)
    ]
    columns = dict(zip(names, zip(*verdicts, strict=True), strict=True))
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
        f1_passed=_mean(passed) if passed else None,
        f1_failed=_mean(failed) if failed else None,
        passed_without_overlap=sum(f1 == 0 for f1 in passed),
        failed_with_match=sum(f1 == 1 for f1 in failed),
    )


CLAIMS, CORRECTIONS = "claims.toml", "corrections.toml"
"""Files of the folder of findings."""

LARGEST = 256_000
"""Their maximum size, in bytes."""


def findings_folder(results: Path) -> Path:
    return results.absolute().parent / "sources" / "findings"


def read_findings(results: Path, hidden: Embargo = NOTHING_WAITS) -> FindingsReport | None:
    """Return all findings that belong to a results folder; ``None`` if there is no folder of findings.

    Every value is counted from the rows in ``imported`` of the results folder: no published file is needed. ``hidden``:
    findings and files to leave out. Raises ``BadInput`` if a file cannot be read or is not valid, or a claim names a
    file or a judge that is not stored.
    """
    folder = findings_folder(results)
    if not folder.is_dir():
        return None
    claims = read_claims(folder)
    corrections = read_toml(folder / CORRECTIONS, LARGEST).record(CorrectionsFile).correction
    stored = {file_name(file): file for file in stored_regraded(results)}
    same = same_files(stored.values())

    @cache
    def row_numbers(name: str) -> _RowNumbers:
        file = stored[name]
        rows = stored_rows(results, file)
        answered = len({row.item_id for row in rows})
        of = file.planned or answered + len(file.counts.missing)
        return _RowNumbers(answered, of, Counter(score for row in rows for score in row.scores))

    findings = tuple(
        _finding(claim, stored, row_numbers, same, folder / CLAIMS)
        for claim in claims.claim
        if claim.id not in hidden.claims
    )
    tests = {name for claim in claims.claim if claim.test_set and claim.recount for name in claim.recount.files}
    return FindingsReport(
        findings=findings,
        trials=judge_trials(
            (file, stored_rows(results, file), name in tests)
            for name, file in stored.items()
            if file.figures.judges and name not in hidden.files
        ),
        corrections=tuple(sorted(corrections, key=lambda one: one.date, reverse=True)),
    )


def read_claims(folder: Path) -> ClaimsFile:
    """Return the claims in a folder of findings. Raises ``BadInput`` if the file cannot be read or is not valid."""
    file = read_toml(folder / CLAIMS, LARGEST)
    claims = file.record(ClaimsFile)
    ids: set[str] = set()
    for number, claim in enumerate(claims.claim):
        if claim.id in ids:
            raise BadInput(f"the id '{claim.id}' occurs twice.", where=file.place("claim", number, "id"))
        ids.add(claim.id)
    return claims


class _RowNumbers(NamedTuple):
    questions: int
    """Different questions in the rows of a file."""
    of: int
    """Questions of its benchmark or tier."""
    scores: Mapping[str, int]
    """Rows that have a score, by its name."""


def _finding(
    claim: PublishedClaim,
    stored: Mapping[str, RegradedFile],
    row_numbers: Callable[[str], _RowNumbers],
    same: Mapping[str, tuple[str, ...]],
    where: Path,
) -> RecountedClaim:
    found = None if claim.recount is None else recount(claim.id, claim.recount, stored, row_numbers, where)
    names = claim.recount.files if claim.recount else ()
    files = [stored[name] for name in names]
    scales = {file.scale for file in files if file.scale is not None}
    if len(scales | ({claim.scale} if claim.scale else set())) > 1:
        raise BadInput(
            f"the claim '{claim.id}' is on several scales: {', '.join(sorted(scales | {claim.scale or ''} - {''}))}.",
            where=where,
            remedy="Name one scale, and files on it.",
        )
    numbers = [row_numbers(name) for name in names]
    repeated = any(file.counts.matched > each.questions for file, each in zip(files, numbers, strict=True))
    verdict = claim_verdict(claim, found)
    implied = IMPLIED.get(claim.recount.value) if claim.recount else None
    scale = claim.scale or next(iter(scales), implied)
    return RecountedClaim(
        claim=claim,
        recount=found,
        verdict=verdict,
        scale=claim.metric if scale is None else SCALES[scale],
        questions=max((each.questions for each in numbers), default=claim.questions),
        of=max((each.of for each in numbers), default=claim.of),
        other_rows=max((file.counts.rows - file.counts.matched for file in files), default=0),
        judges=_judges(claim, files, scale),
        rule=_rule(claim.recount, files, repeated) if claim.recount else "",
        evidence=_evidence(verdict, files),
        same_files=tuple(sorted({other for name in names for other in same.get(name, ())})),
    )


def _judges(claim: PublishedClaim, files: Sequence[RegradedFile], scale: Scale | None) -> tuple[str, ...]:
    if claim.judge:
        return (claim.judge,)
    recipe = claim.recount
    if recipe is None or recipe.value is CountedValue.RECALL or scale in WITHOUT_JUDGE:
        return ()
    wanted = {CountedValue.JUDGE: recipe.judge, CountedValue.SCORE: recipe.score}.get(recipe.value)
    found = (model for file in files for name, model in file.judges.items() if wanted in (None, name))
    return tuple(dict.fromkeys(found))


def _rule(recipe: Recipe, files: Sequence[RegradedFile], repeated: bool) -> str:
    """Return how a value is counted, in words. ``repeated``: whether a file answers a question more than once."""
    name = recipe.judge if recipe.value is CountedValue.JUDGE else recipe.score
    votes = next((file.votes[name] for file in files if name in file.votes), None)
    words = {
        CountedValue.JUDGE: "share of rows with a right verdict",
        CountedValue.JUDGES: "mean of the judges’ shares of right rows",
        CountedValue.RECALL: "mean recall of the evidence that the file names",
        CountedValue.SCORE: f"mean of the score ‘{name}’ in the file",
    }[recipe.value]
    if votes == "majority":
        words = "share of rows that most votes call right"
    more = [f"mean of {len(files)} files"] if len(files) > 1 else []
    if repeated:
        more.append("repetitions averaged")
    return ", ".join([words, *more])


def _evidence(verdict: ClaimVerdict, files: Sequence[RegradedFile]) -> Evidence:
    if verdict is ClaimVerdict.FILE_ABSENT:
        return Evidence.ABSENT
    if verdict is ClaimVerdict.NOT_ATTRIBUTABLE:
        return Evidence.STATED
    graded = all(file.figures.rules is not None or file.figures.metrics for file in files)
    return Evidence.GRADED if graded else Evidence.COUNTED


def recount(
    name: str,
    recipe: Recipe,
    stored: Mapping[str, RegradedFile],
    row_numbers: Callable[[str], _RowNumbers],
    where: object,
) -> Recount:
    """Count a value from regraded files. Raises ``BadInput`` if a file is not stored, or has no such value."""
    counts = []
    for file in recipe.files:
        if file not in stored:
            raise BadInput(
                f"the claim '{name}' names the file '{file}', which is not stored.",
                where=where,
                remedy="Correct the name, or import the file: memeval sources import.",
            )
        found = _count(recipe, stored[file], row_numbers(file))
        if found is None:
            raise BadInput(
                f"'{file}' has no value '{recipe.value}' for the claim '{name}'.",
                where=where,
                remedy=f"Its judges: {', '.join(stored[file].figures.judges) or 'none'}.",
            )
        counts.append(found)
    return Recount(
        value=_mean(count.value for count in counts),
        files=tuple(counts),
        counted_at=max(stored[file].regraded_at for file in recipe.files),
    )


def _count(recipe: Recipe, file: RegradedFile, numbers: _RowNumbers) -> FileCount | None:
    """Return the value of one file, over all its rows; ``None`` if it has none."""
    figures, counts = file.figures, file.counts
    names = (recipe.judge,) if recipe.value is CountedValue.JUDGE else tuple(figures.judges)
    value: float | None
    if recipe.value is CountedValue.RECALL:
        value, counted = figures.recall_of_all, figures.recall_rows + counts.unmatched_recall.rows
    elif recipe.value is CountedValue.SCORE:
        value = figures.scores_of_all.get(recipe.score, figures.scores.get(recipe.score))
        more = counts.unmatched_scores.get(recipe.score)
        counted = numbers.scores.get(recipe.score, 0) + (more.rows if more else 0)
    elif not names or not figures.judges.keys() >= set(names):
        return None
    else:
        value = _mean(figures.judges_of_all.get(each, figures.judges[each].share) for each in names)
        others = counts.unmatched_verdicts.get(names[0])
        counted = figures.judges[names[0]].rows + (others.rows if others else 0)
    if value is None:
        return None
    return FileCount(
        name=file_name(file),
        value=value,
        rows=counts.rows,
        questions=numbers.questions,
        of=numbers.of,
        counted=counted,
        signs=sum(sign.flagged for sign in file.signs),
    )


def _mean(values: Iterable[float]) -> float:
    known = list(values)
    return min(1.0, math.fsum(known) / len(known))


def claim_verdict(claim: PublishedClaim, found: Recount | None) -> ClaimVerdict:
    """Return the verdict on a claim.

    A value holds if it is the recounted value within its printed digits, or within the margin that the claim states. It
    differs only if words link the claim to the counted file, and repository and commit are known. ``found``: its
    recount; ``None`` if there is no file to count.
    """
    if claim.absent:
        return ClaimVerdict.FILE_ABSENT
    if found is None:
        return ClaimVerdict.NOT_ATTRIBUTABLE
    if _equal(claim, found.value):
        return ClaimVerdict.HOLDS
    return ClaimVerdict.DIFFERS if claim.link and claim.commit else ClaimVerdict.NOT_ATTRIBUTABLE


def _equal(claim: PublishedClaim, value: float) -> bool:
    claimed = Decimal(claim.claimed)
    half = Decimal((0, (5,), int(claimed.as_tuple().exponent) - 1))
    counted = Decimal(repr(value)) * (100 if claim.unit is ClaimUnit.PERCENT else 1)
    tolerance = max(half, Decimal(claim.margin or 0))
    return abs(counted - claimed) <= tolerance
