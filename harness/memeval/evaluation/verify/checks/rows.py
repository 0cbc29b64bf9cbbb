"""Checks responses, grades and failures against the benchmark, and computes what follows from them again."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from pydantic_core import to_jsonable_python

from memeval.analysis.failures import FAILURES, failures_of
from memeval.archive.runs import RunFolder
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run import summary
from memeval.evaluation.run.seal import cost, coverage
from memeval.evaluation.verify.checks.subject import NoData, Subject
from memeval.evaluation.verify.findings import Check, Finding
from memeval.grading.base import last_attempts
from memeval.grading.scoring import score
from memeval.records.failure import Failure
from memeval.records.grade import Grade, GradeState
from memeval.records.response import Context, Outcome, Response

NAME = "rows"


def check_rows(subject: Subject) -> Check:
    """Check that responses, grades and failures are those of the planned items, in their order."""
    findings = [*_attempts(subject), *_graded(subject)]
    session = subject.session
    if isinstance(session, NoData):
        return Check(NAME, tuple(findings), session.reason)
    findings += [*_asked(subject, session), *_planned(subject, session)]
    if not findings:
        findings += _failures(subject, session)
    return Check(NAME, tuple(findings))


def _attempts(subject: Subject) -> Iterator[Finding]:
    """Check that no attempt has two rows, and that an item has another attempt only after an error."""
    seen: set[tuple[str, int]] = set()
    first: dict[tuple[str, int], str] = {}
    failed: set[tuple[str, int]] = set()
    for where, response in subject.placed("responses.jsonl", subject.responses):
        if (response.question_id, response.attempt) in seen:
            yield Finding(where, f"{response.question_id} has two rows for attempt {response.attempt}.")
        seen.add((response.question_id, response.attempt))
        if response.outcome.is_error:
            failed.add((response.item_id, response.attempt))
        first.setdefault((response.item_id, response.attempt), where)
    for (item_id, attempt), where in first.items():
        if attempt > 1 and (item_id, attempt - 1) not in failed:
            yield Finding(where, f"{item_id} has attempt {attempt}, but attempt {attempt - 1} is not an error.")


def _graded(subject: Subject) -> Iterator[Finding]:
    graders = {plan.name: plan.grader for plan in subject.run.track.categories}
    by_item: dict[str, list[Response]] = defaultdict(list)
    for response in subject.responses:
        by_item[response.item_id].append(response)
    graded: set[str] = set()
    for where, grade in subject.placed("grades.jsonl", subject.grades):
        if grade.item_id in graded:
            yield Finding(where, f"{grade.item_id} is graded twice.")
        graded.add(grade.item_id)
        if graders.get(grade.category, grade.grader) != grade.grader:
            problem = f"{grade.item_id} was graded by {grade.grader}, but the track has {graders[grade.category]}."
            yield Finding(where, problem)
        rows = by_item.get(grade.item_id)
        if rows is None:
            yield Finding(where, f"{grade.item_id} has a grade but no response.")
            continue
        outcomes = (row.outcome for row in last_attempts(rows).values())
        outcome = next((each for each in outcomes if each is not Outcome.OK), Outcome.OK)
        if not _is_consistent(grade, outcome):
            problem = f"{grade.item_id} is '{grade.state}', but the outcome of its responses is '{outcome}'."
            yield Finding(where, problem)
    for item_id in by_item.keys() - graded:
        yield Finding(str(subject.folder.file("grades.jsonl")), f"{item_id} has responses but no grade.")


def _is_consistent(grade: Grade, outcome: Outcome) -> bool:
    has_no_result = grade.verdict is None and grade.credit is None
    if outcome.is_error:
        return grade.state.value == outcome.value and has_no_result
    if has_no_result != grade.state.is_error:
        return False
    return grade.state in (GradeState.GRADED, GradeState.EMPTY, GradeState.UNPARSED, GradeState.JUDGE_ERROR)


def _asked(subject: Subject, session: BenchmarkSession) -> Iterator[Finding]:
    """Check that each response is to a planned question, and that the rows are in plan order."""
    planned = ((key, question) for key in session.keys for question in key.question_ids)
    places = {question: (position, key) for position, (key, question) in enumerate(planned)}
    previous = (-1, 0)
    for where, response in subject.placed("responses.jsonl", subject.responses):
        if response.question_id not in places:
            yield Finding(where, f"{response.question_id} is not a question of {session.benchmark.info.id}.")
            continue
        position, key = places[response.question_id]
        stated, expected = (response.item_id, response.scenario_id), (key.item_id, key.scenario_id)
        if stated != expected:
            problem = f"{response.question_id} is of {'/'.join(stated)}, but its item is {'/'.join(expected)}."
            yield Finding(where, problem)
        if (position, response.attempt) < previous:
            yield Finding(where, f"{response.question_id} is not in plan order.")
            return
        previous = (position, response.attempt)


def _planned(subject: Subject, session: BenchmarkSession) -> Iterator[Finding]:
    """Check that each grade is of a planned item, with its category, cluster and slices, and in plan order."""
    places = {key.item_id: (position, key) for position, key in enumerate(session.keys)}
    previous = -1
    for where, grade in subject.placed("grades.jsonl", subject.grades):
        if grade.item_id not in places:
            yield Finding(where, f"{grade.item_id} is not an item of {session.benchmark.info.id}.")
            continue
        position, key = places[grade.item_id]
        for field in ("category", "cluster", "slices"):
            stated, expected = getattr(grade, field), getattr(key, field)
            if stated != expected:
                yield Finding(where, f"{grade.item_id} has the {field} {stated}, but its key has {expected}.")
        if position < previous:
            yield Finding(where, f"{grade.item_id} is not in plan order.")
            return
        previous = position


def _failures(subject: Subject, session: BenchmarkSession) -> Iterator[Finding]:
    run = subject.run
    if FAILURES not in run.files:
        yield Finding(f"{subject.head}: files", f"does not list {FAILURES}.")
        return
    stored = subject.failures()
    rows = subject.responses_digest, *(subject.digests[name].digest for name in ("contexts.jsonl", "grades.jsonl"))
    inputs = run.track.digest, *rows, stored.digest.digest
    if inputs in subject.sessions.analysed:
        return
    full = subject.with_text(session)
    differing = [*wrong_failures(subject.folder, session, stored.rows, full.responses, full.contexts, full.grades)]
    yield from differing
    if not differing:
        subject.sessions.analysed.add(inputs)


def wrong_failures(
    folder: RunFolder,
    session: BenchmarkSession,
    stored: Iterable[Failure],
    responses: Sequence[Response],
    contexts: Sequence[Context],
    grades: Sequence[Grade],
) -> Iterator[Finding]:
    """Yield a finding for each row of a stored failure analysis that differs from the recomputed one.

    ``responses``, ``contexts``, ``grades``: the rows to analyse again, with their full text.
    """
    recomputed = failures_of(session, session.keys, responses, contexts, grades, folder.run.track)
    path = folder.file(FAILURES)
    for number, (was, now) in enumerate(zip_longest(stored, recomputed), start=1):
        if was != now:
            problem = f"{(was or now).item_id}: the failure analysis differs from the recomputed one."
            yield Finding(f"{path}:{number}", problem)


SCORES = "scores"


def check_scores(subject: Subject) -> Check:
    run, responses, grades, judgments = subject.run, subject.responses, subject.grades, subject.judgments
    known, inputs = subject.sessions.scores, (run.track.categories, subject.digests["grades.jsonl"].digest)
    try:
        if inputs not in known:
            known[inputs] = score(run.track.categories, grades)
    except (ValueError, OverflowError) as error:
        return Check(SCORES, (Finding(f"{subject.head}: track.categories", f"do not match the grades: {error}."),))
    usage = summary.usage(run.run_id, responses, subject.calls, judgments)
    recomputed: dict[str, tuple[object, object]] = {
        "scores": (run.scores, known[inputs]),
        "coverage": (run.coverage, coverage(run.coverage.limit, run.track.planned, responses, grades)),
        "tokens": (run.tokens, summary.tokens(responses)),
        "timing.phases": (run.timing.phases, summary.phases(responses, judgments)),
        "usage": (run.usage, usage),
        "crashes": (run.crashes, summary.crashes(subject.log)),
        "responses_digest": (run.responses_digest, subject.responses_digest),
    }
    if run.usage or usage:
        recomputed["cost"] = (run.cost, cost(run.system, usage))
    findings = []
    for name, (stated, computed) in recomputed.items():
        if stated != computed:
            where, was, now = _first_difference(name, *map(to_jsonable_python, (stated, computed)))
            findings.append(Finding(f"{subject.head}: {where}", f"is {was}, but the rows give {now}."))
    return Check(SCORES, tuple(findings))


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
