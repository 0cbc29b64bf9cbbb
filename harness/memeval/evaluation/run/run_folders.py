"""Finds the folder of a run: a finished run to reuse, an unfinished run to resume, or a new folder."""

import shutil
import time
from datetime import UTC, datetime
from pathlib import Path

from memeval.archive.runs import RunFolder
from memeval.execution.journal import Journal
from memeval.execution.progress import Progress
from memeval.records.errors import BadInput
from memeval.records.journal import Plan
from memeval.records.run import Inputs
from memeval.records.track import differing_parts

OF_A_SYSTEM = frozenset({"submission_digest", "environment_digest"})
"""Inputs that change with the files of a system."""


def finished_runs(system_folder: Path, inputs: Inputs) -> list[RunFolder]:
    """Return the finished runs with the same inputs, oldest first.

    Removes their journals, which remain if a process was killed after it wrote the head.
    """
    folders = (RunFolder(head.parent) for head in sorted(system_folder.glob("*/run.json")))
    found = [folder for folder in folders if folder.run.fingerprint == inputs.fingerprint]
    for folder in found:
        shutil.rmtree(folder.path / "journal", ignore_errors=True)
    return found


def unfinished_runs(system_folder: Path) -> dict[Path, Plan]:
    """Return the unfinished runs with their plans, oldest first."""
    return {
        plan.parent.parent: Journal.plan(plan.parent.parent)
        for plan in sorted(system_folder.glob("*/journal/plan.json"))
        if not (plan.parent.parent / "run.json").exists()
    }


def find_run_folder(
    system_folder: Path, inputs: Inputs, *, replayed: bool, retry_errors: bool, progress: Progress
) -> tuple[Path | None, RunFolder | None]:
    """Find the run to reuse, resume or retry.

    ``replayed``: whether all model calls come from a record; such a run never reuses the run that it repeats. Returns
    the folder of the finished run to reuse or the unfinished run to resume, ``None`` to start a new run; and the
    finished run whose failed items are retried, if any. Raises ``BadInput`` if an unfinished run of this protocol and
    tier was started with other inputs, unless errors are retried and only the files of the system changed.
    """
    plans = {
        folder: plan
        for folder, plan in unfinished_runs(system_folder).items()
        if plan.answers_from is None and plan.imported is None and plan.replayed is replayed
        if (plan.inputs.track.protocol, plan.inputs.track.tier) == (inputs.track.protocol, inputs.track.tier)
    }
    same = [folder for folder, plan in plans.items() if plan.inputs.fingerprint == inputs.fingerprint]
    if same:
        return same[-1], None
    finished = (
        [] if replayed else [folder for folder in finished_runs(system_folder, inputs) if not folder.run.replayed]
    )
    if finished:
        if retry_errors and finished[-1].run.scores.overall.errors:
            return None, finished[-1]
        progress.note(f"{finished[-1].path}: this finished run has the same inputs; reused.")
        return finished[-1].path, None
    if plans:
        folder, plan = list(plans.items())[-1]
        parts = differing(plan.inputs, inputs)
        if retry_errors and OF_A_SYSTEM.issuperset(parts):
            progress.note(f"{folder}: this unfinished run is of the system before its files changed. A new run starts.")
            return None, None
        raise BadInput(
            f"an unfinished run was started with other inputs. Different: {', '.join(parts)}.",
            where=folder,
            remedy="Restore the inputs to resume it, or start a new run with --fresh.",
        )
    return None, None


def differing(one: Inputs, other: Inputs) -> list[str]:
    """Return the names of the parts in which the inputs of two runs differ, such as ``track.judge``."""
    return [
        *(f"track.{name}" for name in differing_parts(one.track, other.track)),
        *(name for name in Inputs.model_fields if name != "track" and getattr(one, name) != getattr(other, name)),
    ]


def start(system_folder: Path, plan: Plan) -> Path:
    """Create the folder of a new run.

    A run's id contains its start to the second, so a second run with the same inputs waits for the next second. So does
    a run of another system: the ledger, the site and the archive name a run by its id alone, and two controls in one
    file have the same inputs. ``plan``: the plan of the run; this function fills in its id and its start. Raises
    ``BadInput`` if the folder cannot be created.
    """
    while True:
        now = datetime.now(UTC)
        run_id = f"{now:%Y%m%dT%H%M%SZ}-{plan.inputs.fingerprint[:8]}"
        dated = plan.model_copy(update={"run_id": run_id, "started": now.isoformat(timespec="milliseconds")})
        if not any(system_folder.parent.glob(f"*/{run_id}")) and Journal.start(system_folder / run_id, dated):
            return system_folder / run_id
        time.sleep(1.0 - now.microsecond / 1e6)
