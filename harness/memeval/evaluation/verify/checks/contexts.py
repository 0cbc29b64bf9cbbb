"""Checks the stored contexts: their text, their tokens, and that a reader's answer has one."""

from collections.abc import Iterator

from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.verify.checks.subject import NoData, Subject
from memeval.evaluation.verify.findings import Check, Finding
from memeval.execution.contexts import TurnTexts, digest_of_text, texts_of
from memeval.execution.readers import NATIVE
from memeval.records.base import Digest
from memeval.records.response import Context, Outcome
from memeval.records.scenario import Scenario
from memeval.tokens import tokenizer_name

NAME = "contexts"


def check_contexts(subject: Subject) -> Check:
    """Check that every read answer has a context, that its text is stored, and count its tokens again."""
    findings = [*_named(subject)]
    session = subject.session
    if isinstance(session, NoData):
        needed = any(row.context_digest is not None or row.context_tokens is not None for row in subject.responses)
        return Check(NAME, tuple(findings), session.reason if needed else None)
    inputs = id(session), subject.run.redistribution, subject.digests["contexts.jsonl"].digest
    counts = subject.sessions.contexts.get(inputs)
    findings += _read(subject, session)
    if counts is None:
        counts = {}
        differing = [*_texts(subject, session, counts)]
        findings += differing
        if not differing:
            subject.sessions.contexts[inputs] = counts
    if subject.run.track.tokenizer != tokenizer_name():
        return Check(NAME, tuple(findings), f"tokens were counted by {subject.run.track.tokenizer}")
    return Check(NAME, (*findings, *_tokens(subject, counts)))


def _named(subject: Subject) -> Iterator[Finding]:
    """Check that every context that a response names is stored, and that only such a response has a count."""
    stored = {context.digest for context in subject.contexts}
    for where, row in subject.placed("responses.jsonl", subject.responses):
        if row.context_digest is not None and row.context_digest not in stored:
            yield Finding(where, "names a context that is not in contexts.jsonl.gz.")
        if (row.context_digest is None) is not (row.context_tokens is None):
            yield Finding(where, f"{row.question_id} has a context or a token count, but not both.")


def _read(subject: Subject, session: BenchmarkSession) -> Iterator[Finding]:
    """Check that each answer of a reader has a context.

    If the agent keeps the contexts of earlier questions, a reader can answer from those.
    """
    if subject.run.track.reader == NATIVE or subject.run.imported is not None:
        return
    keeps: dict[str, bool] = {}
    for where, row in subject.placed("responses.jsonl", subject.responses):
        if row.outcome is not Outcome.OK or row.context_digest is not None:
            continue
        if row.scenario_id not in keeps:
            scenario = session.scenarios.get(row.scenario_id)
            keeps[row.scenario_id] = scenario is not None and scenario.agent_keeps_context
        if not keeps[row.scenario_id]:
            yield Finding(where, f"{row.question_id} was read by {subject.run.track.reader}, but has no context.")


def _texts(subject: Subject, session: BenchmarkSession, counts: dict[Digest, int]) -> Iterator[Finding]:
    known = subject.sessions.counts
    for where, (context, texts) in subject.placed("contexts.jsonl", _with_texts(subject, session)):
        if texts is None or not _matches(context, texts):
            yield Finding(where, "does not match the text of its digest.")
            continue
        if context.digest not in known:
            known[context.digest] = texts.tokens(context)
        counts[context.digest] = known[context.digest]


def _tokens(subject: Subject, counts: dict[Digest, int]) -> Iterator[Finding]:
    for where, row in subject.placed("responses.jsonl", subject.responses):
        counted = None if row.context_digest is None else counts.get(row.context_digest)
        if counted is not None and counted != row.context_tokens:
            problem = f"{row.question_id} has {row.context_tokens} context tokens, but its context has {counted}."
            yield Finding(where, problem)


def _with_texts(subject: Subject, session: BenchmarkSession) -> Iterator[tuple[Context, TurnTexts | None]]:
    """Yield the contexts with the texts of their scenarios; ``None`` if the data has no such scenario."""
    scenario: Scenario | None = None
    for context in subject.with_text(session).contexts:
        if scenario is None or scenario.scenario_id != context.scenario_id:
            scenario = session.scenarios.get(context.scenario_id)
        yield context, None if scenario is None else texts_of(scenario)


def _matches(context: Context, texts: TurnTexts) -> bool:
    """Return whether the text of a context has its digest; false if it names a turn that does not exist."""
    try:
        return digest_of_text(texts.joined(context)) == context.digest
    except KeyError:
        return False
