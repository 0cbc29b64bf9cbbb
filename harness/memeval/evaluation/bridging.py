"""Bridges two judges: grades the same stored responses with both, and measures their agreement."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from memeval.archive.audits import BridgeFolder, stored_bridges, write_bridge
from memeval.archive.runs import RunFolder
from memeval.evaluation.judges import ChosenJudge, judged_graders
from memeval.evaluation.provenance import harness
from memeval.evaluation.rejudging import rejudge_run
from memeval.execution.progress import Progress
from memeval.grading.audit import bridge_line
from memeval.judging.prompting import is_judges
from memeval.options import RejudgeOptions
from memeval.records.audit import Bridge, BridgedRun
from memeval.records.base import Digest, digest_of
from memeval.records.errors import BadInput
from memeval.records.grade import Grade, GradeState
from memeval.records.track import Track

Pair = tuple[bool, bool]
"""The verdicts of the old and the new judge on one item."""


def ground(track: Track) -> Digest:
    """Return a digest that all runs of a bridge share: benchmark, data, judge and its prompts."""
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
    """Grade runs with a new judge, and store its agreement with the old judge.

    If a bridge of the same runs and judges exists, it is returned.

    Args:
        folders: runs on one benchmark and data, all graded by the old judge.
        options: the results folder, and limits of the new judge's calls.
        data: your own copy of the benchmark's data; ``None`` for memeval's copy.

    Returns:
        The stored bridge. The regraded runs are stored too.

    Raises:
        BadInput: there are no runs, or they differ in judge, benchmark or data, or the new judge graded them already.
        GatewayStopped: the new judge's endpoint or key failed, or the budget is spent. The same call resumes.
    """
    if not folders:
        raise BadInput("there is no run to regrade.", remedy="Run a system with the old judge first.")
    if len({ground(folder.run.track) for folder in folders}) > 1:
        raise BadInput("the runs differ in judge, benchmark or data.", remedy="Name runs of one track.")
    track = folders[0].run.track
    if new.on(track) == track:
        raise BadInput(f"{new.name} already graded the runs.", remedy="Name another new judge.")
    answers = {folder.run.files["responses.jsonl"].digest: folder for folder in folders}  # equal responses count once
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
    """Return the category and both verdicts of each item on which both judges gave a verdict."""
    new_verdicts = {grade.item_id: grade.verdict for grade in _verdicts(new)}
    return [
        (grade.category, (grade.verdict, verdict))
        for grade in _verdicts(old)
        if grade.verdict is not None and (verdict := new_verdicts.get(grade.item_id)) is not None
    ]


def _verdicts(folder: RunFolder) -> Iterator[Grade]:
    """Yield the grades with a verdict of the judge."""
    judged = judged_graders(folder.run.track)
    return (grade for grade in folder.grades() if grade.grader in judged and grade.state is GradeState.GRADED)


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
