"""From one judge to the next: the same stored responses under both, and how far the two agree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from memeval.archive.audits import BridgeFolder, stored_bridges, write_bridge
from memeval.archive.runs import RunFolder
from memeval.evaluation.judges import ChosenJudge
from memeval.evaluation.provenance import harness
from memeval.evaluation.rejudging import RejudgeOptions, rejudge_run
from memeval.execution.progress import Progress
from memeval.grading.audit import bridge_line
from memeval.grading.judged import JUDGED
from memeval.judging.prompting import is_judges
from memeval.records.audit import Bridge, BridgedRun
from memeval.records.base import Digest, digest_of
from memeval.records.errors import BadInput
from memeval.records.grade import Grade, GradeState
from memeval.records.track import Track

Pair = tuple[bool, bool]
"""What the old judge said of an item, and what the new one said."""


def ground(track: Track) -> Digest:
    """Return what runs that are bridged together have in common: benchmark, data, the judge to its last prompt."""
    judge = [track.judge, track.judge_endpoint, track.judge_label]
    prompts = {name: digest for name, digest in track.prompts.items() if is_judges(name)}
    return digest_of([track.benchmark, track.data_digest, judge, prompts])


def bridge_judges(
    folders: Sequence[RunFolder],
    new: ChosenJudge,
    options: RejudgeOptions,
    data: Path | None = None,
    progress: Progress | None = None,
) -> BridgeFolder:
    """Grade runs under the judge that takes over, and store how far it agrees with the one that graded them.

    The same runs under the same judges are bridged once; after that, what is stored is returned.

    Args:
        folders: runs on one benchmark and data, all graded by the judge that is retired.
        new: the judge that takes over.
        options: how it is asked, and where the results lie.
        data: a local copy of the benchmark's data; ``None`` for the copy memeval keeps, or generates.
        progress: is told how it goes.

    Returns:
        The stored bridge. The runs under the new judge are stored as well.

    Raises:
        BadInput: there are no runs, or they have no judge, no benchmark or no data in common; or the judge that takes
            over is the one that graded them.
        GatewayStopped: the new judge's endpoint, its key or a budget stopped it; the same call goes on.
    """
    if not folders:
        raise BadInput("there is no run to grade under both judges.", remedy="Run a system under the old judge first.")
    if len({ground(folder.run.track) for folder in folders}) > 1:
        raise BadInput("the runs have no judge, no benchmark or no data in common.", remedy="Name runs of one track.")
    track = folders[0].run.track
    if new.on(track) == track:
        raise BadInput(f"the runs were graded by {new.name} as it is.", remedy="Name another judge to take over.")
    answers = {folder.run.files["responses.jsonl"].digest: folder for folder in folders}  # no answer counts twice
    started = datetime.now(UTC)
    pairs: dict[str, list[Pair]] = defaultdict(list)
    bridged = []
    for folder in answers.values():
        again = rejudge_run(folder, new, replace(options, fresh=False), data, progress)
        for category, pair in _pairs(folder, again):
            pairs[category].append(pair)
        bridged.append(_bridged(folder, again))
    runs = [[run.old_digest, run.new_digest] for run in bridged]
    identity = digest_of([track.benchmark, track.judge, new.name, runs])[7:15]
    for stored in stored_bridges(options.results):
        if stored.bridge.bridge_id.endswith(f"-{identity}"):
            return stored
    return write_bridge(
        options.results,
        Bridge(
            bridge_id=f"{started:%Y%m%dT%H%M%SZ}-{identity}",
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
    return grade.grader in JUDGED and grade.state is GradeState.GRADED


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
