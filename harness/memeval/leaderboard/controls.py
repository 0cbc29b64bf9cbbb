"""The controls that systems are compared with."""

from __future__ import annotations

from memeval.records.run import Run, SystemKind
from memeval.systems.controls import CONTROLS, all_controls


def is_general_control(run: Run) -> bool:
    """Return whether a run is of a control for every benchmark, or of one that declares that it is simple.

    Another control of one benchmark may know its sentences or answers, so it is shown, and nothing is compared with it.
    """
    slug = run.system.slug
    if run.system.kind is not SystemKind.CONTROL:
        return False
    return slug in CONTROLS or (slug in all_controls() and all_controls()[slug].is_simple)
