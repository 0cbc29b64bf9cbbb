"""The check *times*: a run ends after it started."""

from __future__ import annotations

from datetime import datetime

from memeval.evaluation.verify.checks.subject import Subject
from memeval.evaluation.verify.findings import Check, Finding


def times(subject: Subject) -> Check:
    timing = subject.run.timing
    if datetime.fromisoformat(timing.ended) < datetime.fromisoformat(timing.started):
        return Check("", (Finding(subject.head, f"the run ended at {timing.ended}, before it started."),))
    return Check("")
