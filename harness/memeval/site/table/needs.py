"""What readers filter systems by, beside their scores: where a system runs, and what it needs."""

from __future__ import annotations

from dataclasses import dataclass

from memeval.records.run import Run, SystemKind
from memeval.records.submission import Submission


@dataclass(frozen=True)
class Needs:
    """What a system needs, as far as its run and its submission say."""

    local: bool
    """Whether it needs no network host. Imported answers were made elsewhere: nobody knows where."""
    keyless: bool
    """Whether it needs neither a host nor a model."""
    open: bool
    """Whether its licence is open. Controls have the licence of memeval."""


def needs(run: Run, submission: Submission | None) -> Needs:
    """Return what the system of a run needs.

    Args:
        submission: the system's submission; ``None`` without one.
    """
    here = run.imported is None and not run.system.hosts
    return Needs(here, here and not run.system.declared_models, _is_open(run, submission))


def _is_open(run: Run, submission: Submission | None) -> bool:
    if run.system.kind is SystemKind.CONTROL:
        return True
    licence = (submission.licence or "").lower() if submission else ""
    return bool(licence) and "proprietary" not in licence and not licence.startswith("licenseref")
