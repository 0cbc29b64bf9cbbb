"""Reproducing a run: its stored responses graded again, offline, and compared with what is stored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

from memeval.archive.runs import RunFolder
from memeval.benchmarks import find
from memeval.evaluation.decoding import DecodedRun, decoded_run
from memeval.evaluation.failure_analysis import FAILURES, failures_of
from memeval.evaluation.findings import Finding
from memeval.evaluation.grades import grade_items
from memeval.evaluation.judges import judge_of
from memeval.evaluation.plan import BenchmarkSession
from memeval.evaluation.verification import misplaced
from memeval.execution.contexts import TurnTexts, digest_of_text
from memeval.gateway.replies import text_of
from memeval.gateway.stops import NotRecorded
from memeval.grading.scoring import score
from memeval.records.base import digest_of
from memeval.records.call import Caller
from memeval.records.errors import BadInput
from memeval.records.grade import Grade
from memeval.records.response import Outcome, Response
from memeval.records.run import Run


@dataclass(frozen=True)
class Reproduction:
    """The result of grading a run again."""

    run_id: str
    grades: int
    """Items graded again."""
    composite: float | None
    """The new composite; ``None`` where there is none."""
    findings: tuple[Finding, ...]
    """Where it differs from what is stored; empty where every byte is equal."""

    @property
    def equal(self) -> bool:
        """Whether the grades have equal bytes and the scores are equal."""
        return not self.findings


def reproduce_run(folder: RunFolder, data: Path | None = None, errata: Path | None = None) -> Reproduction:
    """Grade a run's stored responses again and compare.

    Args:
        folder: the run.
        data: a local copy of the benchmark's data; ``None`` for the copy memeval keeps, or generates.
        errata: the errata that its corrected scores follow, where they are not those that memeval ships.

    Raises:
        BadInput: the benchmark's data is not here, or is not the data of the run; or the run cannot be read.
    """
    run = folder.run
    benchmark_session = session_of_run(run, data, errata)
    folder = decoded_run(folder, benchmark_session)
    responses = list(folder.responses())
    stored = list(folder.grades())
    answered = {row.item_id for row in responses}
    items = [key for key in benchmark_session.keys if key.item_id in answered]
    recorded = {call.key: call for call in sorted(folder.judgments(), key=lambda call: call.error is None)}
    judge = judge_of(run.track, folder.prompts()).recorded(recorded)
    try:
        again = grade_items(benchmark_session, items, responses, judge)
    except NotRecorded as error:
        finding = Finding(str(folder.file("judgments.jsonl")), error.problem)
        return Reproduction(run.run_id, 0, None, (finding,))
    try:
        scores = score(run.track.categories, again)
    except (ValueError, OverflowError) as error:
        raise BadInput(
            f"the track's categories are not those of the benchmark: {error}.",
            where=folder.path / "run.json",
            remedy="Restore the file, or record a new run.",
        ) from None
    findings = [
        *_unknown_questions(folder, answered, benchmark_session),
        *_differences(folder, stored, again),
        *_contexts(folder, benchmark_session),
        *_causes(folder, benchmark_session, again),
        *_read(folder, responses),
        *_keys(folder),
    ]
    if scores != run.scores:
        findings.append(
            Finding(
                f"{folder.path / 'run.json'}: scores",
                f"hold a composite of {run.scores.composite.value}, but grading again gives {scores.composite.value}.",
            )
        )
    return Reproduction(run.run_id, len(again), scores.composite.value, tuple(findings))


def session_of_run(run: Run, data: Path | None = None, errata: Path | None = None) -> BenchmarkSession:
    """Open the very data a run was made on, to be asked and graded in the same way.

    Raises:
        BadInput: it is not here, or its digest or that of the errata is another.
    """
    track = run.track
    benchmark_session = BenchmarkSession.open(
        find(track.benchmark),
        data,
        track.parameters or None,
        protocol=track.protocol,
        tier=track.tier,
        errata=errata,
        shipped_errata=track.errata is not None,
    )
    if benchmark_session.dataset.digest != track.data_digest:
        raise BadInput(
            f"run {run.run_id} used data {track.data_digest}, but this data is {benchmark_session.dataset.digest}.",
            remedy="Name the right data with --data, or use the memeval version that the run names.",
        )
    here = None if benchmark_session.errata is None else digest_of(benchmark_session.errata.data())
    if here != track.errata:
        raise BadInput(
            f"run {run.run_id} was corrected by errata {track.errata}, and those here are {here}.",
            remedy="Name the right errata with --errata.",
        )
    return replace(benchmark_session, stored=track)


def _unknown_questions(folder: RunFolder, answered: set[str], benchmark_session: BenchmarkSession) -> Iterator[Finding]:
    for item_id in sorted(answered - {key.item_id for key in benchmark_session.keys}):
        yield Finding(
            str(folder.file("responses.jsonl")), f"{item_id} is no item of {benchmark_session.benchmark.info.id}."
        )


def _differences(folder: RunFolder, stored: list[Grade], again: list[Grade]) -> Iterator[Finding]:
    """Compare grades row by row, as the bytes they are stored as."""
    path = folder.file("grades.jsonl")
    if len(stored) != len(again):
        yield Finding(str(path), f"has {len(stored)} grades, but grading again gives {len(again)}.")
    for number, (was, now) in enumerate(zip(stored, again, strict=False), start=1):
        if was.to_json() != now.to_json():
            yield Finding(
                f"{path}:{number}",
                f"{was.item_id} is stored as {_say(was)}, but grading again gives {now.item_id} {_say(now)}.",
            )


def _contexts(folder: RunFolder, benchmark_session: BenchmarkSession) -> Iterator[Finding]:
    """Check that every stored context spells out the text that its digest names."""
    path = folder.file("contexts.jsonl")
    texts: TurnTexts | None = None
    for number, context in enumerate(folder.contexts(), start=1):
        if texts is None or texts.scenario_id != context.scenario_id:
            scenario = benchmark_session.scenarios.get(context.scenario_id)
            texts = None if scenario is None else TurnTexts(scenario)
        try:
            text = None if texts is None else "\n".join(map(texts.text, context.parts))
        except KeyError:
            text = None
        if text is None or digest_of_text(text) != context.digest:
            yield Finding(f"{path}:{number}", "does not match the text of its digest.")


def _causes(folder: RunFolder, benchmark_session: BenchmarkSession, grades: list[Grade]) -> Iterator[Finding]:
    """Compare the stored failure analysis, where there is one, with what follows from the rows."""
    if FAILURES not in folder.run.files:
        return
    stored = list(folder.failures())
    again = failures_of(
        benchmark_session, benchmark_session.keys, folder.responses(), folder.contexts(), grades, folder.run.track
    )
    for number, (was, now) in enumerate(zip_longest(stored, again), start=1):
        if was != now:
            name = (was or now).item_id
            yield Finding(
                f"{folder.file(FAILURES)}:{number}", f"{name}: the failure analysis differs from the stored one."
            )


def _read(folder: RunFolder, responses: list[Response]) -> Iterator[Finding]:
    """Check that every answer of a model reader is what the model replied."""
    said = {call.key: text_of(call) for call in folder.calls() if call.caller is Caller.READER}
    path = folder.file("responses.jsonl")
    for number, response in enumerate(responses, start=1):
        if response.reader_key is None or response.outcome is Outcome.READER_ERROR:
            continue
        if said.get(response.reader_key) != response.answer:
            yield Finding(f"{path}:{number}", f"{response.question_id}: the answer differs from the reader's reply.")


def _keys(folder: RunFolder) -> Iterator[Finding]:
    """Check that model calls stand under their keys, where ``verify`` cannot for want of words."""
    if isinstance(folder, DecodedRun):
        yield from misplaced(folder, "judgments.jsonl", folder.judgments())
        yield from misplaced(folder, "calls.jsonl", folder.calls())


def _say(grade: Grade) -> str:
    verdict = {True: "right", False: "wrong", None: "without a verdict"}[grade.verdict]
    return f"{verdict} ({grade.state})"
