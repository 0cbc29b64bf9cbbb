"""Checks that the verdicts of a model judge follow from its recorded replies."""

from __future__ import annotations

from collections.abc import Iterator

from memeval.evaluation.judge.judges import judged_graders
from memeval.evaluation.verify.checks.calls import wrong_keys
from memeval.evaluation.verify.checks.subject import Subject
from memeval.evaluation.verify.findings import Check, Finding
from memeval.evaluation.withhold.encoding import has_verdict
from memeval.gateway.replies import text_of
from memeval.records.call import Caller, Phase
from memeval.records.grade import GradeState
from memeval.records.track import Redistribution

NAME = "judgments"

_RULED = (GradeState.GRADED, GradeState.UNPARSED, GradeState.JUDGE_ERROR)
"""The possible states of a judged answer."""


def check_judgments(subject: Subject) -> Check:
    """Check the keys of the judge's calls, its prompts, and that each verdict has a recorded reply and matches it.

    If the benchmark's text is withheld, the keys need the data, and ``reproduce`` checks them.
    """
    findings = [*_judgments(subject), *_prompts(subject)]
    if subject.run.redistribution is Redistribution.FULL:
        findings += wrong_keys(subject.folder, "judgments.jsonl", subject.judgments)
    elif subject.judgments:
        return Check(NAME, tuple(findings), "the requests are withheld; memeval reproduce checks them with the data")
    return Check(NAME, tuple(findings))


def _judgments(subject: Subject) -> Iterator[Finding]:
    """Check that each verdict of a model judge has a stored judgment, and matches its reply."""
    run, judgments = subject.run, subject.judgments
    replies = {call.key: text_of(call) for call in sorted(judgments, key=lambda call: call.error is None)}
    model = run.track.judge.partition(":")[2].rpartition("@")[0]
    judged = judged_graders(run.track) if run.track.judge_endpoint is not None else frozenset()
    for number, call in enumerate(judgments, start=1):
        asked = (call.caller, call.phase, call.request.endpoint, call.request.model)
        if asked != (Caller.JUDGE, Phase.JUDGE, run.track.judge_endpoint, model):
            yield Finding(subject.where("judgments.jsonl", number), "is not a call to the judge of the track.")
    for number, grade in enumerate(subject.grades, start=1):
        where = subject.where("grades.jsonl", number)
        if grade.judgment_key is None:
            if grade.grader in judged and grade.state in _RULED:
                yield Finding(where, f"{grade.item_id} has no judgment, but its judge is a model.")
        elif grade.judgment_key not in replies:
            yield Finding(where, f"{grade.item_id} names a judgment that is missing from judgments.jsonl.gz.")
        elif not has_verdict(replies[grade.judgment_key], grade.verdict, run.redistribution):
            yield Finding(where, f"{grade.item_id}: the verdict does not match the judge's reply.")


def _prompts(subject: Subject) -> Iterator[Finding]:
    """Check that the stored prompts are the prompts of the track."""
    path, stated = subject.folder.file("prompts.jsonl"), subject.run.track.prompts
    for number, prompt in enumerate(subject.prompts, start=1):
        if prompt.digest != stated.get(prompt.name):
            yield Finding(f"{path}:{number}", f"the prompt {prompt.name!r} is not the prompt of the track.")
    for name in sorted(stated.keys() - {prompt.name for prompt in subject.prompts}):
        yield Finding(str(path), f"the prompt {name!r} of the track is missing.")
