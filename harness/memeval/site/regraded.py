"""Published answers, graded again: lines of the table and addresses of the pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

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

    @property
    def flags(self) -> int:
        """Number of signs of a broken run."""
        return sum(sign.flagged for sign in self.file.signs)

    @property
    def unmatched(self) -> int:
        """Rows without an item."""
        return sum(len(rows) for rows in self.file.counts.unmatched.values())


def regraded_url(file: RegradedFile) -> str:
    """Return the address of the page of a file."""
    return f"imported/{file.source}/{file.file}/"


def regraded_lines(files: Iterable[RegradedFile]) -> Mapping[str, list[RegradedLine]]:
    """Return the lines of the table by benchmark, each sorted by source and file."""
    known = sorted(files, key=lambda file: (file.benchmark, file.title.lower(), file.file))
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
        lines.setdefault(file.benchmark, []).append(RegradedLine(file, place, len(shares)))
    return lines


def _group(file: RegradedFile) -> tuple[object, ...] | None:
    """Return what files must share to be ranked among themselves; ``None`` if a file is ranked with no other."""
    if file.group is None or file.answer_model is None:
        return None
    return file.source, file.group, file.answer_model, file.benchmark, file.protocol, file.tier, file.data_digest
