"""Where a run goes on: the finished run to reuse, the unfinished one to resume, or a new folder."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

from memeval.archive.runs import RunFolder
from memeval.execution.journal import Journal
from memeval.execution.progress import Progress
from memeval.records.errors import BadInput
from memeval.records.journal import Plan
from memeval.records.run import Inputs
from memeval.records.track import Track


def finished_runs(place: Path, inputs: Inputs) -> list[RunFolder]:
    """Return the finished runs of the very same inputs, oldest first.

    Args:
        place: the folder of a system's runs on a benchmark.
        inputs: what decides the answers.
    """
    folders = (RunFolder(head.parent) for head in sorted(place.glob("*/run.json")))
    return [folder for folder in folders if folder.run.fingerprint == inputs.fingerprint]


def unfinished_runs(place: Path) -> dict[Path, Plan]:
    """Return the unfinished runs with their plans, oldest first."""
    return {
        plan.parent.parent: Journal.plan(plan.parent.parent)
        for plan in sorted(place.glob("*/journal/plan.json"))
        if not (plan.parent.parent / "run.json").exists()
    }


def find_run_folder(
    place: Path, inputs: Inputs, *, replayed: bool, retry_errors: bool, progress: Progress
) -> tuple[Path | None, RunFolder | None]:
    """Find where a run of a system goes on.

    Args:
        place: the folder of the system's runs on the benchmark.
        inputs: what decides the answers.
        replayed: whether all model calls come from a record; such a run stands beside the one it repeats.
        retry_errors: whether failed items are tried again.
        progress: is told what a person should know.

    Returns:
        The folder of the finished run to reuse or the unfinished run to resume, ``None`` to start another; and, where
        that tries the failed items of a finished run again, the finished run.

    Raises:
        BadInput: an unfinished run is here that was started with other inputs.
    """
    plans = {
        folder: plan
        for folder, plan in unfinished_runs(place).items()
        if plan.answers_from is None and plan.imported is None and plan.replayed is replayed
    }
    same = [folder for folder, plan in plans.items() if plan.inputs.fingerprint == inputs.fingerprint]
    if same:
        return same[-1], None
    finished = [] if replayed else [folder for folder in finished_runs(place, inputs) if not folder.run.replayed]
    if finished:
        if retry_errors and finished[-1].run.scores.overall.errors:
            return None, finished[-1]
        progress.note(f"{finished[-1].path}: finished before with the very same inputs; reused.")
        return finished[-1].path, None
    if plans:
        folder, plan = list(plans.items())[-1]
        parts = ", ".join(differing(plan.inputs, inputs))
        raise BadInput(
            f"an unfinished run is here that was started with other inputs; what differs: {parts}.",
            where=folder,
            remedy="Restore them to resume it, or start another run with --fresh.",
        )
    return None, None


def differing(one: Inputs, other: Inputs) -> list[str]:
    """Return the names of the parts in which the inputs of two runs differ, such as ``track.judge``."""
    return [
        *(f"track.{name}" for name in differing_parts(one.track, other.track)),
        *(name for name in Inputs.model_fields if name != "track" and getattr(one, name) != getattr(other, name)),
    ]


def differing_parts(one: Track, other: Track) -> list[str]:
    """Return the names of the parts in which two tracks differ."""
    return [name for name in Track.model_fields if getattr(one, name) != getattr(other, name)]


def start(place: Path, plan: Plan) -> Path:
    """Make the folder of a new run; a run's id holds its start to the second, so twins wait for the next one.

    Args:
        place: the folder of the system's runs on the benchmark.
        plan: what the run sets out to do; its id and its start are filled in here.

    Raises:
        BadInput: it cannot be made.
    """
    while True:
        now = datetime.now(UTC)
        run_id = f"{now:%Y%m%dT%H%M%SZ}-{plan.inputs.fingerprint[:8]}"
        dated = plan.model_copy(update={"run_id": run_id, "started": now.isoformat(timespec="milliseconds")})
        if Journal.start(place / run_id, dated):
            return place / run_id
        time.sleep(1.0 - now.microsecond / 1e6)
