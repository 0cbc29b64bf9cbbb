"""Checks the results folder of a pull request: it may add runs, and nothing else may change."""

from __future__ import annotations

import filecmp
import os
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from memeval.evaluation.verify.findings import Finding
from memeval.records.errors import BadInput

CONFORMANCE, SOURCES = "conformance", "sources"
"""Folders of conformance reports and of archived submissions."""

_RESERVED = {
    "ledger.jsonl": "Only a maintainer adds lines to the ledger, after the merge.",
    "releases": "Only a maintainer freezes releases.",
    "audits": "Only a maintainer adds audits.",
}
"""What a pull request may neither add nor change, by its first part; and why."""

_UNDO = "Undo the change."


def check_proposed(base: Path, proposed: Path) -> tuple[list[str], list[Finding]]:
    """Compare the results folder of a pull request with that of the branch it is for.

    Nothing of either folder is executed, and no link is followed.

    Args:
        base: the results folder of the base branch.
        proposed: the results folder of the pull request, merged into the base branch.

    Returns:
        The folders of the new runs, relative to ``proposed``; and the problems, by path.

    Raises:
        BadInput: one of them is no folder.
    """
    for folder in (base, proposed):
        if folder.is_symlink() or not folder.is_dir():
            raise BadInput("there is no results folder here.", where=folder, remedy="Name a folder of results.")
    before, after = _files(base), _files(proposed)
    findings = [
        Finding(str(proposed / name), "was removed.", f"{_UNDO} {_reason(name)}")
        for name in before
        if name not in after
    ]
    runs: set[str] = set()
    for name, is_plain in after.items():
        where = str(proposed / name)
        if not is_plain:
            findings.append(Finding(where, "is not a plain file.", "Replace it with the file itself, or remove it."))
        elif name not in before:
            run = _new_run(name, base)
            if run is not None:
                runs.add(run)
            elif not _is_new_report(name, base):
                findings.append(Finding(where, "does not belong to a new run.", f"Remove it. {_reason(name)}"))
        elif not filecmp.cmp(base / name, proposed / name, shallow=False):
            findings.append(Finding(where, "was changed.", f"{_UNDO} {_reason(name)}"))
    return sorted(runs), sorted(findings, key=lambda finding: finding.where)


def _files(folder: Path) -> dict[str, bool]:
    """Return the path of every file and link in a folder, and whether it is a plain file."""
    return {path.relative_to(folder).as_posix(): stat.S_ISREG(path.lstat().st_mode) for path in _walk(folder)}


def _walk(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        inner = Path(parent)
        yield from (inner / name for name in names)
        yield from (inner / name for name in folders if (inner / name).is_symlink())


def _new_run(name: str, base: Path) -> str | None:
    """Return the folder ``<benchmark>/<slug>/<run_id>`` of a file, if the base branch does not have it."""
    parts = PurePosixPath(name).parts
    if len(parts) != 4 or parts[0] in (*_RESERVED, CONFORMANCE, SOURCES):
        return None
    run = "/".join(parts[:3])
    return None if (base / run).exists() else run


def _is_new_report(name: str, base: Path) -> bool:
    """Return whether a file is a new conformance report, or belongs to a newly archived submission."""
    parts = PurePosixPath(name).parts
    if parts[0] == CONFORMANCE:
        return len(parts) == 3 and parts[2].endswith(".json")
    return parts[0] == SOURCES and len(parts) > 3 and not (base / "/".join(parts[:3])).exists()


def _reason(name: str) -> str:
    """Return why a file may not change."""
    reserved = _RESERVED.get(PurePosixPath(name).parts[0])
    return reserved or "A stored file is never edited: a correction is a new run."
