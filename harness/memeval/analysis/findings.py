"""Findings: what a recount says about a published score."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

from memeval.records.errors import BadInput
from memeval.records.finding import (
    ClaimsFile,
    ClaimUnit,
    ClaimVerdict,
    CorrectionsFile,
    Finding,
    FindingsReport,
    Measure,
    PublishedClaim,
    Recipe,
    Recount,
    Recounts,
)
from memeval.toml import read_toml

CLAIMS, CORRECTIONS, RECOUNTS = "claims.toml", "corrections.toml", "recounts.json"
"""Files of the folder of findings."""


def findings_folder(results: Path) -> Path:
    """Return the folder of findings that belongs to a results folder."""
    return results.absolute().parent / "sources" / "findings"


def claim_verdict(claim: PublishedClaim, found: Recount | None) -> ClaimVerdict:
    """Return the verdict on a claim.

    A value holds if it is the recounted value within its printed digits, or within the margin that the claim states. It
    differs only if words link the claim to the counted file, and repository and commit are known.

    Args:
        claim: the claim.
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


def read_claims(folder: Path) -> ClaimsFile:
    """Return the claims in a folder of findings.

    Raises:
        BadInput: the file cannot be read or is not valid.
    """
    file = read_toml(folder / CLAIMS, 256_000)
    claims = file.record(ClaimsFile)
    ids: set[str] = set()
    for number, claim in enumerate(claims.claim):
        if claim.id in ids:
            raise BadInput(f"the id '{claim.id}' occurs twice.", where=file.place("claim", number, "id"))
        ids.add(claim.id)
        if claim.recount and (missing := _missing(claim.recount)):
            raise BadInput(
                f"the recount of '{claim.id}' has no {missing}.", where=file.place("claim", number, "recount")
            )
    for number, panel in enumerate(claims.panel):
        if len(panel.judges) < 2:
            raise BadInput("a panel needs two judges.", where=file.place("panel", number))
    return claims


def _missing(recipe: Recipe) -> str | None:
    """Return the name of a missing part of a recipe."""
    recall = recipe.measure is Measure.RECALL
    needed = ("files", "retrieved", "evidence") if recall else ("files", "values")
    return next((name for name in needed if not getattr(recipe, name)), None)


def read_findings(folder: Path) -> FindingsReport | None:
    """Return all findings of a folder; ``None`` if there is no such folder.

    Raises:
        BadInput: a file cannot be read or is not valid, or a claim was not counted from its present files.
    """
    if not folder.is_dir():
        return None
    claims = read_claims(folder)
    stored = _recounts(folder)
    corrections = read_toml(folder / CORRECTIONS, 256_000).record(CorrectionsFile).correction
    return FindingsReport(
        date=stored.date,
        version=stored.version,
        findings=tuple(_finding(claim, stored, folder) for claim in claims.claim),
        trials=stored.trials,
        corrections=tuple(sorted(corrections, key=lambda one: one.date, reverse=True)),
    )


def _recounts(folder: Path) -> Recounts:
    path = folder / RECOUNTS
    try:
        return Recounts.parse(path.read_bytes(), path)
    except OSError as error:
        raise BadInput(
            f"cannot be read ({error.strerror}).",
            where=path,
            remedy="Count the values: memeval sources findings --from FOLDER --keep",
        ) from None


def _finding(claim: PublishedClaim, stored: Recounts, folder: Path) -> Finding:
    found = stored.recounts.get(claim.id)
    counted = [count.digest for count in found.files] if found else []
    wanted = [file.digest for file in claim.recount.files] if claim.recount else []
    if counted != wanted:
        raise BadInput(
            f"the claim '{claim.id}' was not counted from the files in {CLAIMS}.",
            where=folder / RECOUNTS,
            remedy="Count again: memeval sources findings --from FOLDER --keep",
        )
    return Finding(claim=claim, recount=found, verdict=claim_verdict(claim, found))
