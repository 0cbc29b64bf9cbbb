"""Runs the trials of a scenario, one after the other, and makes a response of what was observed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from memeval.execution.answers import outcome_of
from memeval.execution.journal import utc_now
from memeval.execution.secrets import redact
from memeval.execution.steps import FinishedItems, ScenarioWork
from memeval.execution.trials.apart import apart
from memeval.execution.trials.crash import crash
from memeval.execution.trials.disk_faults import disk_fault
from memeval.execution.trials.freshness import freshness
from memeval.execution.trials.growth import growth
from memeval.execution.trials.stage import Stage, StoredFolders
from memeval.records.base import Record
from memeval.records.response import Outcome, Response, Timings
from memeval.records.trials import Crash, Trial
from memeval.records.trials_of_disks import DiskFault
from memeval.records.trials_of_use import Apart, Freshness, Growth
from memeval.systems.errors import SystemFailure
from memeval.systems.process import SystemProcess

TRIALS: dict[type[Trial], Callable[[Any, Stage], Record]] = {
    Crash: crash,
    DiskFault: disk_fault,
    Freshness: freshness,
    Apart: apart,
    Growth: growth,
}
"""The function of each kind of trial; it returns the observation, and raises SystemFailure if the trial cannot be."""


class TrialRunner:
    """Runs trials through one instance of a system.

    ``stopped``: whether the run was interrupted; the trial that runs then has no response. ``log``: receives an event,
    a sentence and the scenario's id. ``folders``: storage folders that other runners share; ``None`` for its own.
    """

    def __init__(
        self,
        system: SystemProcess,
        stopped: Callable[[], bool],
        log: Callable[[str, str, str], None],
        folders: StoredFolders | None = None,
    ) -> None:
        self._stage = Stage(system, folders, stopped)
        self._stopped, self._log = stopped, log

    def run(self, work: ScenarioWork) -> Iterator[FinishedItems]:
        """Yield the items of a scenario as they finish. A trial that cannot be done fails with the system's error."""
        item_of = {question: item for item, questions in work.items.items() for question in questions}
        for step in work.scenario.steps:
            if not isinstance(step, Trial) or step.question_id not in item_of or self._stopped():
                continue
            response = self._response(step, item_of[step.question_id], work)
            if self._stopped():
                return
            yield FinishedItems((response.item_id,), (response,), ())

    def close(self) -> None:
        self._stage.close()

    def _response(self, step: Trial, item_id: str, work: ScenarioWork) -> Response:
        started, began = utc_now(), time.monotonic()
        outcome, answer, error = Outcome.OK, "", None
        try:
            answer = TRIALS[type(step)](step, self._stage).to_json()
        except SystemFailure as failure:
            outcome, error = outcome_of(failure), redact(str(failure))
        finally:
            self._stage.system.close()
        seconds = time.monotonic() - began
        self._log("trial", f"{step.question_id}: {seconds:.1f} s", work.scenario.scenario_id)
        return Response(
            item_id=item_id,
            scenario_id=work.scenario.scenario_id,
            question_id=step.question_id,
            attempt=work.attempt,
            outcome=outcome,
            answer=answer,
            error=error,
            timings=Timings(started=started),
        )
