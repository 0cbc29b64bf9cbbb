"""Published answers, graded again: lines of the table and addresses of the pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from memeval.records.finding import ClaimVerdict, FindingsReport, Measure, PublishedClaim
from memeval.records.regraded import RegradedFile


@dataclass(frozen=True)
class RegradedLine:
    """A file of published answers."""

    file: RegradedFile
    place: int | None
    """Place by the share that the rules call right, among the files of its group with its answer model, from 1; files
    with equal shares have equal places. ``None`` outside a group, and where the rules judge nothing."""
    among: int
    """Number of these files."""
    claims: tuple[PublishedClaim, ...] = ()
    """Published scores that are linked to this file or hold in it, and are counted from no other."""

    @property
    def flags(self) -> int:
        """Number of signs of a broken run."""
        return sum(sign.flagged for sign in self.file.signs)

    @property
    def graded(self) -> bool:
        """Whether the file has answers or verdicts, not only retrieved ids."""
        return bool(self.file.figures.judges) or self.file.figures.rules is not None


def regraded_url(file: RegradedFile) -> str:
    """Return the address of the page of a file."""
    return f"imported/{file.source}/{file.file}/"


def regraded_lines(
    files: Iterable[RegradedFile], report: FindingsReport | None = None
) -> Mapping[str, list[RegradedLine]]:
    """Return the lines of the tables, each sorted by source and file.

    Args:
        files: the regraded files.
        report: the findings, for the claimed scores.

    Returns:
        Lines by heading: benchmark, and whether answers or retrieved ids are graded.
    """
    known = sorted(files, key=lambda file: (_heading(file), file.title.lower(), file.file))
    claims: dict[frozenset[str], list[PublishedClaim]] = {}
    for finding in report.findings if report else ():
        recipe = finding.claim.recount
        attributable = finding.verdict in (ClaimVerdict.HOLDS, ClaimVerdict.DIFFERS)
        if attributable and recipe and len(recipe.files) == 1 and recipe.measure is Measure.MEAN:
            claims.setdefault(frozenset({recipe.files[0].digest}), []).append(finding.claim)
    groups: dict[tuple[object, ...], list[float]] = {}
    for file in known:
        if file.figures.rules is not None and _group(file) is not None:
            groups.setdefault(_group(file) or (), []).append(file.figures.rules.share)
    lines: dict[str, list[RegradedLine]] = {}
    for file in known:
        shares = groups.get(_group(file) or (), [])
        rules = file.figures.rules
        ranked = rules is not None and len(shares) > 1
        place = 1 + sum(share > rules.share for share in shares) if ranked and rules else None
        stated = tuple(claims.get(frozenset(file.parts.values()), ())) if file.figures.judges else ()
        lines.setdefault(_heading(file), []).append(RegradedLine(file, place, len(shares), stated))
    return lines


def _heading(file: RegradedFile) -> str:
    return f"{file.benchmark}: " + ("answers" if RegradedLine(file, None, 0).graded else "retrieval only")


def _group(file: RegradedFile) -> tuple[object, ...] | None:
    """Return what files must share to be ranked among themselves; ``None`` if a file is ranked with no other."""
    if file.group is None or file.answer_model is None:
        return None
    return file.source, file.group, file.answer_model, file.benchmark, file.protocol, file.tier, file.data_digest
