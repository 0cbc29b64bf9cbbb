"""Reproduces a run offline: runs its reader again, regrades its responses, and compares with what is stored.

A model reader is not asked again: its answers are compared with its recorded replies.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memeval.analysis.failures import FAILURES, failures_of
from memeval.archive.runs import RunFolder
from memeval.benchmarks.session import BenchmarkSession, session_of_run
from memeval.evaluation.judge.grades import StoredTexts, grade_items
from memeval.evaluation.judge.judges import judge_of
from memeval.evaluation.run.readers import reader_named
from memeval.evaluation.verify.checks.calls import wrong_keys, wrong_readings
from memeval.evaluation.verify.checks.rows import wrong_failures
from memeval.evaluation.verify.findings import REMEDY, Finding
from memeval.evaluation.withhold.decoding import DecodedRun, decoded_run
from memeval.execution.contexts import Contexts, digest_of_text
from memeval.execution.model_reader import PREFIXES
from memeval.execution.readers import NATIVE
from memeval.gateway.stops import NotRecorded
from memeval.grading.scoring import score
from memeval.reading import Reader
from memeval.records.base import comparable_digest
from memeval.records.errors import BadInput
from memeval.records.failure import Failure
from memeval.records.grade import Grade
from memeval.records.response import Context, Outcome, Response
from memeval.records.scenario import Export, Question, Recall, Reflect, Scenario


@dataclass(frozen=True)
class Reproduction:
    run_id: str
    grades: int
    """Number of regraded items."""
    composite: float | None
    """The recomputed composite; ``None`` if the run has none."""
    findings: tuple[Finding, ...]
    """Differences from the stored run; empty if every byte is equal."""

    @property
    def equal(self) -> bool:
        return not self.findings


def reproduce_run(folder: RunFolder, data: Path | None = None, errata: Path | None = None) -> Reproduction:
    """Run a run's offline reader again, regrade its stored responses, and compare.

    ``errata``: the errata of its corrected scores, if they are not memeval's own. Raises ``BadInput`` if the run is not
    readable, or the data is missing or has another digest than the run's.
    """
    run = folder.run
    benchmark_session = session_of_run(run, data, errata)
    stored_responses = list(folder.responses())
    folder = decoded_run(folder, benchmark_session, {"responses.jsonl": stored_responses})
    responses = list(folder.responses()) if isinstance(folder, DecodedRun) else stored_responses
    contexts = list(folder.contexts())
    rows_digest = comparable_digest(stored_responses)
    texts = StoredTexts(benchmark_session, Contexts(contexts))
    stored = list(folder.grades())
    answered_ids, name = {row.item_id for row in responses}, benchmark_session.benchmark.info.id
    unknown = sorted(answered_ids - {key.item_id for key in benchmark_session.keys})
    items = [key for key in benchmark_session.keys if key.item_id in answered_ids]
    recorded = {call.key: call for call in sorted(folder.judgments(), key=lambda call: call.error is None)}
    judge = judge_of(run.track, folder.prompts()).recorded(recorded)
    try:
        grades = grade_items(benchmark_session, items, responses, judge, contexts, run.track.reader)
    except NotRecorded as error:
        finding = Finding(str(folder.file("judgments.jsonl")), error.problem)
        return Reproduction(run.run_id, 0, None, (finding,))
    try:
        scores = score(run.track.categories, grades)
    except (ValueError, OverflowError) as error:
        problem = f"the track's categories are not those of the benchmark: {error}."
        raise BadInput(problem, where=folder.path / "run.json", remedy=REMEDY) from None
    findings = [
        *(Finding(str(folder.file("responses.jsonl")), f"{each} is not an item of {name}.") for each in unknown),
        *_grade_differences(folder, stored, grades),
        *_context_differences(folder, contexts, texts),
        *reread(folder, benchmark_session, responses, texts),
        *wrong_readings(folder, folder.calls(), responses),
    ]
    if FAILURES in run.files:
        findings += wrong_failures(folder, benchmark_session, folder.failures(), responses, contexts, grades)
    if isinstance(folder, DecodedRun):  # verify cannot check them, because their text is withheld
        findings += wrong_keys(folder, "judgments.jsonl", folder.judgments())
        findings += wrong_keys(folder, "calls.jsonl", folder.calls())
    head = folder.path / "run.json"
    if run.responses_digest != rows_digest:
        problem = f"is {run.responses_digest}, but the responses give {rows_digest}."
        findings.append(Finding(f"{head}: responses_digest", problem))
    if scores != run.scores:
        was, now = run.scores.composite.value, scores.composite.value
        findings.append(Finding(f"{head}: scores", f"has a composite of {was}, but regrading gives {now}."))
    return Reproduction(run.run_id, len(grades), scores.composite.value, tuple(findings))


def _grade_differences(folder: RunFolder, stored: list[Grade], recomputed: list[Grade]) -> Iterator[Finding]:
    path = folder.file("grades.jsonl")
    if len(stored) != len(recomputed):
        yield Finding(str(path), f"has {len(stored)} grades, but regrading gives {len(recomputed)}.")
    for number, (was, now) in enumerate(zip(stored, recomputed, strict=False), start=1):
        if was.to_json() != now.to_json():
            gives = f"but regrading gives {now.item_id} {_description(now)}."
            yield Finding(f"{path}:{number}", f"{was.item_id} is stored as {_description(was)}, {gives}")


def _context_differences(folder: RunFolder, contexts: list[Context], texts: StoredTexts) -> Iterator[Finding]:
    path = folder.file("contexts.jsonl")
    for number, context in enumerate(contexts, start=1):
        text = texts.text(context)
        if text is None or digest_of_text(text) != context.digest:
            yield Finding(f"{path}:{number}", "does not match the text of its digest.")


def _description(grade: Grade) -> str:
    verdict = {True: "right", False: "wrong", None: "without a verdict"}[grade.verdict]
    return f"{verdict} ({grade.state})"


def failures_of_run(folder: RunFolder, benchmark_session: Callable[[], BenchmarkSession]) -> list[Failure]:
    """Return the failure analysis of a stored run, computed now if the run has none.

    ``benchmark_session``: opens the data of the run. Raises ``BadInput`` if the run is not readable; or it has no
    analysis, and its data is missing or has another digest.
    """
    if FAILURES in folder.run.files:
        return list(folder.failures())
    data = benchmark_session()
    decoded = decoded_run(folder, data)
    return failures_of(data, data.keys, decoded.responses(), decoded.contexts(), decoded.grades(), folder.run.track)


SHOWN_CHARACTERS = 60
"""Characters of an answer in a finding."""

KNOWN_ANSWERS = 100_000
"""Maximum number of answers that stay in memory."""

KNOWN_CHARACTERS = 2_000
"""Longer answers are read again."""


def offline_reader(name: str) -> Reader | None:
    """Return the reader of a track if it needs no model; ``None`` if a system or a model answers.

    Raises ``LookupError`` if this memeval has no such reader.
    """
    if name == NATIVE or name.startswith(PREFIXES):
        return None
    reader = reader_named(name)
    if reader is None or reader.name != name:
        raise LookupError(name)
    return reader


def reread(
    folder: RunFolder, benchmark_session: BenchmarkSession, responses: Sequence[Response], texts: StoredTexts
) -> Iterator[Finding]:
    """Yield a finding for each stored answer that an offline reader does not give again.

    ``responses``: its responses with their full text, in plan order.
    """
    try:
        reader = offline_reader(folder.run.track.reader)
    except LookupError as error:
        yield Finding(f"{folder.path / 'run.json'}: track.reader", f"this memeval has no reader {str(error)!r}.")
        return
    if reader is None:
        return
    path = folder.file("responses.jsonl")
    scenario: Scenario | None = None
    questions: Mapping[str, Question] = {}
    item_id, delivered = "", dict[int, list[str]]()
    for number, response in enumerate(responses, start=1):
        if scenario is None or scenario.scenario_id != response.scenario_id:
            scenario = benchmark_session.scenarios.get(response.scenario_id)
            questions = {} if scenario is None else {one.question_id: one for one in scenario.questions()}
        question = questions.get(response.question_id)
        if scenario is None or question is None:
            yield Finding(f"{path}:{number}", f"{response.question_id} is not a question of {response.scenario_id}.")
            continue
        if response.item_id != item_id:
            item_id, delivered = response.item_id, {}
        context = texts.context(response)
        if response.context_digest is not None and context is None:
            yield Finding(f"{path}:{number}", f"{response.question_id}: its context is missing or cannot be read.")
            continue
        so_far = delivered.setdefault(response.attempt, [])
        if context is not None:
            so_far.append(context)
        contexts = so_far if scenario.agent_keeps_context else [context or ""]
        if (problem := _difference(reader, question, response, contexts)) is not None:
            yield Finding(f"{path}:{number}", f"{response.question_id}: {problem}")


def _difference(reader: Reader, question: Question, response: Response, contexts: Sequence[str]) -> str | None:
    """Return how a stored answer differs from the reader's, as a sentence; ``None`` if they are equal."""
    if isinstance(question, Reflect):  # the system answers
        return None
    shows = isinstance(question, Recall | Export)
    failed = response.outcome.is_error
    answer = "" if shows or failed else _answer(reader, question, contexts)
    if response.answer != answer:
        return f"the answer is {_short(response.answer)}, but the reader {reader.name} gives {_short(answer)}."
    outcome = response.outcome if failed else Outcome.OK if shows or answer.strip() else Outcome.EMPTY
    if response.outcome is not outcome:
        return f"the outcome is '{response.outcome}', but the reader's answer makes it '{outcome}'."
    return None


_known: dict[bytes, str] = {}
"""Answers of readers, by the digest of all that they read: runs on the same data often retrieve the same contexts."""


def _answer(reader: Reader, question: Question, contexts: Sequence[str]) -> str:
    """Return the answer of an offline reader, which depends on nothing else."""
    digest = hashlib.sha256(repr((reader.name, question.question, question.timestamp, len(contexts))).encode())
    for context in contexts:
        text = context.encode(errors="surrogatepass")
        digest.update(b"%d:%b" % (len(text), text))
    read = digest.digest()
    answer = _known.get(read)
    if answer is None:
        answer = reader.read(question.question, question.timestamp, contexts).answer
        if len(_known) >= KNOWN_ANSWERS:
            _known.clear()
        if len(answer) <= KNOWN_CHARACTERS:
            _known[read] = answer
    return answer


def _short(text: str) -> str:
    return repr(text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…")
