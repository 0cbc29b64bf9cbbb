"""Graders of trials. They read the observation that memeval wrote, as strict JSON, and need no judge."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from pydantic import ValidationError

from memeval.grading.base import RuleGrader, first_failure, only, row
from memeval.judging.base import Judge
from memeval.keys import ItemKey
from memeval.records.base import Record
from memeval.records.grade import Grade, GradeState
from memeval.records.response import Response
from memeval.records.scenario import Scenario
from memeval.records.trials import CrashObservation

UNREADABLE = "The answer is not an observation."

Metrics = dict[str, float | None]


Judged = tuple[bool, str, Metrics]
"""Whether a trial passes, what was observed in sentences, and its metrics."""

Observed = TypeVar("Observed", bound=Record)


def graded_trial(
    item: ItemKey, responses: Sequence[Response], name: str, kind: type[Observed], judged: Callable[[Observed], Judged]
) -> Grade:
    """Grade one trial by its observation."""
    response = only(item, responses, name)
    failure = first_failure([response] if response.outcome.is_error else [])
    if failure is not None:
        return row(item, name, failure[0], verdict=None, reason=failure[1], answerable=False)
    try:
        verdict, reason, metrics = judged(kind.model_validate_json(response.answer))
    except ValidationError:
        return row(item, name, GradeState.GRADED, verdict=False, reason=UNREADABLE, answerable=False)
    return row(item, name, GradeState.GRADED, verdict=verdict, reason=reason, answerable=False, metrics=metrics)


class Crashes(RuleGrader):
    """Passes a trial after which every acknowledged text is there once and whole, and the store can be used."""

    name = "crashes@1"

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        """Grade one trial; see :class:`memeval.grading.base.Grader`. The judge is not used."""
        return graded_trial(
            item, responses, self.name, CrashObservation, lambda seen: (seen.is_whole, reason(seen), measures(seen))
        )


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
