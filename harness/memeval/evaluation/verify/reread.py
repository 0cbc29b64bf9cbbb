"""Runs the offline readers of a run again: from the stored contexts, in the order of the questions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence

from memeval.archive.runs import RunFolder
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.judge.stored_texts import StoredTexts
from memeval.evaluation.run.readers import reader_named
from memeval.evaluation.verify.findings import Finding
from memeval.execution.model_reader import PREFIX
from memeval.execution.readers import NATIVE
from memeval.reading import Reader
from memeval.records.response import Outcome, Response
from memeval.records.scenario import Export, Question, Recall, Reflect, Scenario

SHOWN_CHARACTERS = 60
"""Characters of an answer in a finding."""

KNOWN_ANSWERS = 100_000
"""Maximum number of answers that stay in memory."""

KNOWN_CHARACTERS = 2_000
"""Longer answers are read again."""


def offline_reader(name: str) -> Reader | None:
    """Return the reader of a track if it needs no model; ``None`` if a system or a model answers.

    Raises:
        LookupError: this memeval has no such reader.
    """
    if name == NATIVE or name.startswith(PREFIX):
        return None
    reader = reader_named(name)
    if reader is None or reader.name != name:
        raise LookupError(name)
    return reader


def reread(
    folder: RunFolder, benchmark_session: BenchmarkSession, responses: Sequence[Response], texts: StoredTexts
) -> Iterator[Finding]:
    """Yield a finding for each stored answer that an offline reader does not give again.

    Args:
        responses: its responses with their full text, in plan order.
        texts: the texts of its contexts.
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
