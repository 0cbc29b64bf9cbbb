"""Findings: what the regraded files say about a published score."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path

from memeval.claims.store import file_name, stored_regraded, stored_rows
from memeval.claims.trials import judge_trials
from memeval.records.errors import BadInput
from memeval.records.finding import (
    ClaimsFile,
    ClaimUnit,
    ClaimVerdict,
    CorrectionsFile,
    CountedValue,
    FileCount,
    FindingsReport,
    PublishedClaim,
    Recipe,
    Recount,
    RecountedClaim,
)
from memeval.records.regraded import RegradedFile
from memeval.toml import read_toml

CLAIMS, CORRECTIONS = "claims.toml", "corrections.toml"
"""Files of the folder of findings."""

LARGEST = 256_000
"""Their maximum size, in bytes."""


def findings_folder(results: Path) -> Path:
    return results.absolute().parent / "sources" / "findings"


def read_findings(results: Path) -> FindingsReport | None:
    """Return all findings that belong to a results folder; ``None`` if there is no folder of findings.

    Every value is counted from the rows in ``imported`` of the results folder: no published file is needed.

    Raises:
        BadInput: a file cannot be read or is not valid, or a claim names a file or a judge that is not stored.
    """
    folder = findings_folder(results)
    if not folder.is_dir():
        return None
    claims = read_claims(folder)
    corrections = read_toml(folder / CORRECTIONS, LARGEST).record(CorrectionsFile).correction
    stored = {file_name(file): file for file in stored_regraded(results)}
    findings = tuple(_finding(claim, stored, folder / CLAIMS) for claim in claims.claim)
    tests = {name for claim in claims.claim if claim.test_set and claim.recount for name in claim.recount.files}
    return FindingsReport(
        findings=findings,
        trials=judge_trials(
            (file, stored_rows(results, file), name in tests) for name, file in stored.items() if file.figures.judges
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


def _finding(claim: PublishedClaim, stored: Mapping[str, RegradedFile], where: Path) -> RecountedClaim:
    found = None if claim.recount is None else recount(claim.id, claim.recount, stored, where)
    return RecountedClaim(claim=claim, recount=found, verdict=claim_verdict(claim, found))


def recount(name: str, recipe: Recipe, stored: Mapping[str, RegradedFile], where: object) -> Recount:
    """Count a value from regraded files. Raises ``BadInput`` if a file is not stored, or has no such value."""
    counts = []
    for file in recipe.files:
        if file not in stored:
            raise BadInput(
                f"the claim '{name}' names the file '{file}', which is not stored.",
                where=where,
                remedy="Correct the name, or import the file: memeval sources import.",
            )
        found = _count(recipe, stored[file])
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


def _count(recipe: Recipe, file: RegradedFile) -> FileCount | None:
    """Return the value of one file, over all its rows; ``None`` if it has none."""
    figures, counts = file.figures, file.counts
    names = (recipe.judge,) if recipe.value is CountedValue.JUDGE else tuple(figures.judges)
    value: float | None
    if recipe.value is CountedValue.RECALL:
        value, counted = figures.recall_of_all, figures.recall_rows + counts.unmatched_recall.rows
    elif recipe.value is CountedValue.SCORE:
        value = figures.scores_of_all.get(recipe.score, figures.scores.get(recipe.score))
        more = counts.unmatched_scores.get(recipe.score)
        counted = counts.matched + (more.rows if more else 0)
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
        counted=counted,
        signs=sum(sign.flagged for sign in file.signs),
    )


def _mean(values: Iterable[float]) -> float:
    known = list(values)
    return min(1.0, math.fsum(known) / len(known))


def claim_verdict(claim: PublishedClaim, found: Recount | None) -> ClaimVerdict:
    """Return the verdict on a claim.

    A value holds if it is the recounted value within its printed digits, or within the margin that the claim states. It
    differs only if words link the claim to the counted file, and repository and commit are known.

    Args:
        found: its recount; ``None`` if there is no file to count.
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
