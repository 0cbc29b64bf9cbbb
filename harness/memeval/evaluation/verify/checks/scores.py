"""Computes the fields of the head again that follow from the rows."""

from __future__ import annotations

from collections.abc import Iterator

from memeval.evaluation.run import summary
from memeval.evaluation.run.seal import cost, coverage
from memeval.evaluation.verify.checks.subject import Subject
from memeval.evaluation.verify.findings import Check, Finding
from memeval.grading.scoring import score
from memeval.records.scores import Scores

NAME = "scores"


def check_scores(subject: Subject) -> Check:
    """Compute scores, coverage, tokens, durations, usage and cost again from the rows."""
    return Check(NAME, tuple(_sums(subject)))


def _sums(subject: Subject) -> Iterator[Finding]:
    """Check the fields of the head that are computed from the rows."""
    run, responses, grades, judgments = subject.run, subject.responses, subject.grades, subject.judgments
    try:
        scores = _scores(subject)
    except (ValueError, OverflowError) as error:
        yield Finding(f"{subject.head}: track.categories", f"do not match the grades: {error}.")
        return
    usage = summary.usage(run.run_id, responses, subject.calls, judgments)
    recomputed: dict[str, tuple[object, object]] = {
        "scores": (run.scores, scores),
        "coverage": (
            run.coverage,
            coverage(run.coverage.limit, run.track.planned, responses, grades),
        ),
        "tokens": (run.tokens, summary.tokens(responses)),
        "timing.phases": (run.timing.phases, summary.phases(responses, judgments)),
        "usage": (run.usage, usage),
        "crashes": (run.crashes, summary.crashes(subject.log)),
        "responses_digest": (run.responses_digest, subject.responses_digest),
    }
    if run.usage or usage:
        recomputed["cost"] = (run.cost, cost(run.system, usage))
    for name, (stated, computed) in recomputed.items():
        if stated != computed:
            where, was, now = _first_difference(name, _plain(stated), _plain(computed))
            yield Finding(f"{subject.head}: {where}", f"is {was}, but the rows give {now}.")


def _scores(subject: Subject) -> Scores:
    """Return the scores of the grades, which are computed once for runs with equal plans and equal grades."""
    plan, known = subject.run.track.categories, subject.sessions.scores
    inputs = plan, subject.digests["grades.jsonl"].digest
    if inputs not in known:
        known[inputs] = score(plan, subject.grades)
    return known[inputs]


def _plain(value: object) -> object:
    from pydantic import TypeAdapter

    return TypeAdapter(object).dump_python(value, mode="json")


def _first_difference(name: str, one: object, other: object) -> tuple[str, object, object]:
    """Return the path and the two values of the first difference between two trees of plain data."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys()):
            if one.get(key) != other.get(key):
                return _first_difference(f"{name}.{key}", one.get(key), other.get(key))
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (left, right) in enumerate(zip(one, other, strict=True)):
            if left != right:
                return _first_difference(f"{name}[{index}]", left, right)
    return name, one, other
