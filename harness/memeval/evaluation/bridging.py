"""From one judge to the next: the same stored responses under both, and how far the two agree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from memeval.archive.audits import BridgeFolder, write_bridge
from memeval.archive.runs import RunFolder
from memeval.evaluation.judges import ChosenJudge
from memeval.evaluation.provenance import harness
from memeval.evaluation.rejudging import RejudgeOptions, rejudge_run
from memeval.execution.progress import Progress
from memeval.grading.audit import bridge_line
from memeval.grading.judged import Judged
from memeval.records.audit import Bridge, BridgedRun
from memeval.records.base import digest_of
from memeval.records.errors import BadInput
from memeval.records.grade import Grade, GradeState

Pair = tuple[bool, bool]
"""What the old judge said of an item, and what the new one said."""


def bridge_judges(
    folders: Sequence[RunFolder],
    new: ChosenJudge,
    options: RejudgeOptions,
    data: Path | None = None,
    progress: Progress | None = None,
) -> BridgeFolder:
    """Grade runs under the judge that takes over, and store how far it agrees with the one that graded them.

    Args:
        folders: runs on one benchmark and data, all graded by the judge that is retired.
        new: the judge that takes over.
        options: how it is asked, and where the results lie.
        data: a local copy of the benchmark's data; ``None`` for the copy memeval keeps, or generates.
        progress: is told how it goes.

    Returns:
        The stored bridge. The runs under the new judge are stored as well.

    Raises:
        BadInput: there are no runs, or they have no judge, no benchmark or no data in common.
        GatewayStopped: the new judge's endpoint, its key or a budget stopped it; the same call goes on.
    """
    if not folders:
        raise BadInput("there is no run to grade under both judges.", remedy="Run a system under the old judge first.")
    tracks = {(folder.run.track.benchmark, folder.run.track.data_digest, folder.run.track.judge) for folder in folders}
    if len(tracks) > 1:
        raise BadInput("the runs have no judge, no benchmark or no data in common.", remedy="Name runs of one track.")
    started = datetime.now(UTC)
    pairs: dict[str, list[Pair]] = defaultdict(list)
    bridged = []
    for folder in folders:
        again = rejudge_run(folder, new, replace(options, fresh=False), data, progress)
        for category, pair in _pairs(folder, again):
            pairs[category].append(pair)
        bridged.append(_bridged(folder, again))
    track = folders[0].run.track
    identity = [track.benchmark, track.judge, new.name, [[run.old_digest, run.new_digest] for run in bridged]]
    return write_bridge(
        options.results,
        Bridge(
            bridge_id=f"{started:%Y%m%dT%H%M%SZ}-{digest_of(identity)[7:15]}",
            benchmark=track.benchmark,
            old=track.judge,
            new=new.name,
            new_endpoint=new.endpoint,
            runs=tuple(bridged),
            overall=bridge_line([pair for members in pairs.values() for pair in members]),
            categories={category: bridge_line(members) for category, members in pairs.items()},
            started=started.isoformat(timespec="milliseconds"),
            harness=harness(),
        ),
    )


def _pairs(old: RunFolder, new: RunFolder) -> list[tuple[str, Pair]]:
    """Return category and verdicts of the items that both judges ruled on; what no judge is asked about is left out."""
    theirs = {grade.item_id: grade.verdict for grade in new.grades() if _is_ruled(grade)}
    return [
        (grade.category, (grade.verdict, verdict))
        for grade in old.grades()
        if _is_ruled(grade) and grade.verdict is not None and (verdict := theirs.get(grade.item_id)) is not None
    ]


def _is_ruled(grade: Grade) -> bool:
    return grade.grader == Judged.name and grade.state is GradeState.GRADED


def _bridged(old: RunFolder, new: RunFolder) -> BridgedRun:
    return BridgedRun(
        system=old.run.system.slug,
        old_run_id=old.run.run_id,
        old_digest=old.digest,
        new_run_id=new.run.run_id,
        new_digest=new.digest,
        old_composite=old.run.scores.composite.value,
        new_composite=new.run.scores.composite.value,
    )
