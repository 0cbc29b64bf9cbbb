"""The controls that systems are compared with."""

from __future__ import annotations

from memeval.records.run import Run, SystemKind
from memeval.systems.controls import CONTROLS


def is_general_control(run: Run) -> bool:
    """Return whether a run is of a control for every benchmark.

    A control of one benchmark may know its sentences or answers, so it is shown, and nothing is compared with it.
    """
    return run.system.kind is SystemKind.CONTROL and run.system.slug in CONTROLS
