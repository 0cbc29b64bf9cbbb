"""Graders of trials. They read the observation that memeval wrote, as strict JSON, and need no judge."""

from collections.abc import Callable
from typing import Generic, TypeVar

from pydantic import ValidationError

from memeval.grading.base import Graded, ResponseGrader
from memeval.keys import ItemKey
from memeval.records.base import Record
from memeval.records.response import Response
from memeval.records.scenario import Scenario
from memeval.records.trials import CrashObservation

UNREADABLE = "The answer is not an observation."

Metrics = dict[str, float | None]

Judged = tuple[bool, str, Metrics]
"""Whether a trial passes, what was observed in sentences, and its metrics."""

Observed = TypeVar("Observed", bound=Record)


class TrialGrader(ResponseGrader, Generic[Observed]):
    """Grades trials by their observations.

    ``judged``: returns whether a trial passes, and why.
    """

    def __init__(self, name: str, kind: type[Observed], judged: Callable[[Observed], Judged]) -> None:
        self.name, self._kind, self._judged = name, kind, judged

    def graded(self, item: ItemKey, scenario: Scenario, response: Response) -> Graded:
        try:
            verdict, reason, metrics = self._judged(self._kind.model_validate_json(response.answer))
        except ValidationError:
            return Graded(UNREADABLE, verdict=False)
        return Graded(reason, verdict=verdict, metrics=metrics)


def judged_crash(seen: CrashObservation) -> Judged:
    """Return the judgment of a crash. Every acknowledged text must be there once and whole, and the store be usable."""
    return seen.is_whole, reason(seen), measures(seen)


def reason(seen: CrashObservation) -> str:
    """Return what is wrong after a crash, in sentences; one sentence if nothing is."""
    if not seen.opened:
        return "The system did not start again on its storage folder."
    counts = (
        (seen.lost, "lost"),
        (seen.unfound, "listed but not found"),
        (seen.doubled, "there twice"),
    )
    faults = [f"{count} of {seen.probed} acknowledged texts: {what}." for count, what in counts if count]
    if seen.half:
        faults.append(f"Texts of which only a part is there: {seen.half}.")
    if not seen.writable:
        faults.append("No further text could be stored and found.")
    return " ".join(faults) or f"All {seen.probed} acknowledged texts that were searched for are there."


def measures(seen: CrashObservation) -> dict[str, float | None]:
    return {
        "lost": (seen.probed if not seen.opened else seen.lost) / seen.probed,
        "loses_any": float(not seen.opened or seen.lost > 0),
        "unfound": seen.unfound / seen.probed,
        "doubled": seen.doubled / seen.probed,
        "half": float(seen.half > 0),
        "closed": float(not seen.opened),
        "in_flight_kept": None if seen.kept_in_flight is None else float(seen.kept_in_flight),
        "ready_seconds": seen.ready_seconds,
    }


CRASHES = TrialGrader("crashes@1", CrashObservation, judged_crash)
