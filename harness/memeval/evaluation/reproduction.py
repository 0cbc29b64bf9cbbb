"""Reproduces a run: regrades its stored responses offline, and compares with the stored grades and scores."""

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
from memeval.evaluation.verification import wrong_keys
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
    """The result of regrading a run."""

    run_id: str
    grades: int
    """Number of regraded items."""
    composite: float | None
    """The recomputed composite; ``None`` if the run has none."""
    findings: tuple[Finding, ...]
    """Differences from the stored run; empty if every byte is equal."""

    @property
    def equal(self) -> bool:
        """Whether the run was reproduced without differences."""
        return not self.findings


def reproduce_run(folder: RunFolder, data: Path | None = None, errata: Path | None = None) -> Reproduction:
    """Regrade a run's stored responses and compare.

    Args:
        folder: the run.
        data: your own copy of the benchmark's data; ``None`` for memeval's copy.
        errata: the errata of its corrected scores, if they are not memeval's own.

    Raises:
        BadInput: the run is not readable, or the data is missing or has another digest than the run's.
    """
    run = folder.run
    benchmark_session = session_of_run(run, data, errata)
    folder = decoded_run(folder, benchmark_session)
    responses = list(folder.responses())
    stored = list(folder.grades())
    answered_ids = {row.item_id for row in responses}
    items = [key for key in benchmark_session.keys if key.item_id in answered_ids]
    recorded = {call.key: call for call in sorted(folder.judgments(), key=lambda call: call.error is None)}
    judge = judge_of(run.track, folder.prompts()).recorded(recorded)
    try:
        grades = grade_items(benchmark_session, items, responses, judge, folder.contexts(), run.track.reader)
    except NotRecorded as error:
        finding = Finding(str(folder.file("judgments.jsonl")), error.problem)
        return Reproduction(run.run_id, 0, None, (finding,))
    try:
        scores = score(run.track.categories, grades)
    except (ValueError, OverflowError) as error:
        raise BadInput(
            f"the track's categories are not those of the benchmark: {error}.",
            where=folder.path / "run.json",
            remedy="Restore the file, or record a new run.",
        ) from None
    findings = [
        *_unknown_items(folder, answered_ids, benchmark_session),
        *_grade_differences(folder, stored, grades),
        *_context_differences(folder, benchmark_session),
        *_failure_differences(folder, benchmark_session, grades),
        *_reader_differences(folder, responses),
        *_key_differences(folder),
    ]
    if scores != run.scores:
        findings.append(
            Finding(
                f"{folder.path / 'run.json'}: scores",
                f"has a composite of {run.scores.composite.value}, but regrading gives {scores.composite.value}.",
            )
        )
    return Reproduction(run.run_id, len(grades), scores.composite.value, tuple(findings))


def session_of_run(run: Run, data: Path | None = None, errata: Path | None = None) -> BenchmarkSession:
    """Open the data of a run, with its protocol, tier and errata.

    Raises:
        BadInput: the data is missing, or the data or the errata have another digest than the run's.
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
            remedy="Name the right data with --data, or use the memeval version of the run.",
        )
    errata_digest = None if benchmark_session.errata is None else digest_of(benchmark_session.errata.data())
    if errata_digest != track.errata:
        raise BadInput(
            f"run {run.run_id} used errata {track.errata}, but these errata are {errata_digest}.",
            remedy="Name the right errata with --errata.",
        )
    return replace(benchmark_session, stored=track)


def _unknown_items(folder: RunFolder, answered_ids: set[str], benchmark_session: BenchmarkSession) -> Iterator[Finding]:
    for item_id in sorted(answered_ids - {key.item_id for key in benchmark_session.keys}):
        yield Finding(
            str(folder.file("responses.jsonl")), f"{item_id} is not an item of {benchmark_session.benchmark.info.id}."
        )


def _grade_differences(folder: RunFolder, stored: list[Grade], recomputed: list[Grade]) -> Iterator[Finding]:
    """Compare the stored bytes of each grade."""
    path = folder.file("grades.jsonl")
    if len(stored) != len(recomputed):
        yield Finding(str(path), f"has {len(stored)} grades, but regrading gives {len(recomputed)}.")
    for number, (was, now) in enumerate(zip(stored, recomputed, strict=False), start=1):
        if was.to_json() != now.to_json():
            yield Finding(
                f"{path}:{number}",
                f"{was.item_id} is stored as {_description(was)}, "
                f"but regrading gives {now.item_id} {_description(now)}.",
            )


def _context_differences(folder: RunFolder, benchmark_session: BenchmarkSession) -> Iterator[Finding]:
    """Check that the text of every stored context matches its digest."""
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


def _failure_differences(
    folder: RunFolder, benchmark_session: BenchmarkSession, grades: list[Grade]
) -> Iterator[Finding]:
    """Compare the stored failure analysis, if any, with a recomputed one."""
    if FAILURES not in folder.run.files:
        return
    stored = list(folder.failures())
    recomputed = failures_of(
        benchmark_session, benchmark_session.keys, folder.responses(), folder.contexts(), grades, folder.run.track
    )
    for number, (was, now) in enumerate(zip_longest(stored, recomputed), start=1):
        if was != now:
            item_id = (was or now).item_id
            yield Finding(
                f"{folder.file(FAILURES)}:{number}", f"{item_id}: the failure analysis differs from the stored one."
            )


def _reader_differences(folder: RunFolder, responses: list[Response]) -> Iterator[Finding]:
    """Check that every answer of a model reader matches the model's reply."""
    replies = {call.key: text_of(call) for call in folder.calls() if call.caller is Caller.READER}
    path = folder.file("responses.jsonl")
    for number, response in enumerate(responses, start=1):
        if response.reader_key is None or response.outcome is Outcome.READER_ERROR:
            continue
        if replies.get(response.reader_key) != response.answer:
            yield Finding(f"{path}:{number}", f"{response.question_id}: the answer differs from the reader's reply.")


def _key_differences(folder: RunFolder) -> Iterator[Finding]:
    """Check the keys of model calls if ``verify`` cannot, because their text is withheld."""
    if isinstance(folder, DecodedRun):
        yield from wrong_keys(folder, "judgments.jsonl", folder.judgments())
        yield from wrong_keys(folder, "calls.jsonl", folder.calls())


def _description(grade: Grade) -> str:
    verdict = {True: "right", False: "wrong", None: "without a verdict"}[grade.verdict]
    return f"{verdict} ({grade.state})"
