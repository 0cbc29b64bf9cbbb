"""Checks that the clocks of a run are consistent: the stamp of its id, its start, its rows, its end, and today."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from memeval.evaluation.verify.checks.subject import Subject
from memeval.evaluation.verify.findings import Check, Finding
from memeval.records.errors import MemevalError

NAME = "clocks"

SKEW = timedelta(minutes=5)
"""Allowed difference of clocks: of two machines, or before and after a clock was set."""

CARRIED_OVER = "carried over"
"""The event of a run that starts with the rows of another run, to retry its errors."""

FIRST_YEAR = 2000
"""Times of earlier years are not times of a run."""

REMEDY = "Restore the run, or record a new run."


def check_clocks(subject: Subject) -> Check:
    """Check that the run id has the time of the start, and that start, rows and log, end and today follow in order.

    Rows of an earlier run keep their clocks: they must equal the rows of that run, if it is here.
    """
    timing = subject.run.timing
    started, ended = utc_time(timing.started), utc_time(timing.ended)
    if started is None or ended is None:
        field, text = ("started", timing.started) if started is None else ("ended", timing.ended)
        return Check(
            NAME, (Finding(f"{subject.head}: timing.{field}", f"is {text!r}, which is not a UTC time.", REMEDY),)
        )
    findings = [*_head(subject, started, ended), *_log(subject, started, ended)]
    earlier = _earlier_run(subject)
    if earlier is None:
        return Check(NAME, (*findings, *_rows(subject, started, ended)))
    source = subject.other_run(earlier)
    if source is None:
        return Check(NAME, tuple(findings), _absent(subject, earlier, started, ended))
    try:
        theirs, own = source.run.system, subject.run.system
        if (theirs.slug, theirs.submission_digest) != (own.slug, own.submission_digest):
            problem = f"run {earlier}, which made the answers, is of {source.run.system.slug}."
            findings.append(Finding(f"{subject.head}: system", problem, REMEDY))
        rows = {row.to_json() for row in source.responses()}
    except MemevalError as error:
        return Check(NAME, tuple(findings), f"run {earlier} cannot be read ({error.problem.rstrip('.')})")
    return Check(NAME, (*findings, *_rows(subject, started, ended, rows)))


def _absent(subject: Subject, earlier: str, started: datetime, ended: datetime) -> str:
    """Return why the clocks of rows of an earlier run, which is not here, cannot be checked."""
    if subject.run.answers_from is not None:
        return f"run {earlier}, which made the answers, is not here"
    inside = [_is_within(row.timings.started, started, ended) for row in subject.responses]
    carried = f"{inside.count(False):,} of its {len(inside):,} answers"
    return f"{carried} are from run {earlier}, whose failed questions it asked again; that run is not here"


def _head(subject: Subject, started: datetime, ended: datetime) -> Iterator[Finding]:
    run = subject.run
    stamp = run.run_id.partition("-")[0]
    if stamp.removesuffix("Z") != f"{started:%Y%m%dT%H%M%S}":
        yield Finding(
            f"{subject.head}: run_id", f"begins with {stamp}, but the run started {run.timing.started}.", REMEDY
        )
    if ended < started:
        problem = f"is {run.timing.ended}, before the start {run.timing.started}."
        yield Finding(f"{subject.head}: timing.ended", problem, REMEDY)
    if max(started, ended) > datetime.now(UTC) + SKEW:
        yield Finding(f"{subject.head}: timing", "is in the future.", "Set the clock, or record a new run.")


def _log(subject: Subject, started: datetime, ended: datetime) -> Iterator[Finding]:
    run_id = subject.run.run_id
    for name, times in (
        ("log.jsonl", [line.at for line in subject.log]),
        ("judgments.jsonl", [call.at if call.run_id == run_id else None for call in subject.judgments]),
        ("calls.jsonl", [call.at if call.run_id == run_id else None for call in subject.calls]),
    ):
        for where, at in subject.placed(name, times):
            if at is not None and not _is_within(at, started, ended):
                yield Finding(where, f"is of {at!r}, outside the run.", REMEDY)
                break


def _rows(
    subject: Subject, started: datetime, ended: datetime, earlier: set[str] | frozenset[str] = frozenset()
) -> Iterator[Finding]:
    """Check that the questions were asked during the run, except for the rows of an earlier run.

    If another judge graded the answers of an earlier run, every row must be of that run.
    """
    source = subject.run.answers_from
    if subject.run.imported is not None:
        return
    for where, row in subject.placed("responses.jsonl", subject.responses):
        if source is not None and row.to_json() not in earlier:
            yield Finding(where, f"{row.question_id} is not a row of run {source}, which made the answers.", REMEDY)
            return
        if source is None and not _is_within(row.timings.started, started, ended) and row.to_json() not in earlier:
            yield Finding(where, f"{row.question_id} was asked {row.timings.started!r}, outside the run.", REMEDY)
            return


def _earlier_run(subject: Subject) -> str | None:
    """Return the id of the run that made the answers, or some of them; ``None`` if this run made all."""
    if subject.run.answers_from is not None:
        return subject.run.answers_from
    details = [line.detail or "" for line in subject.log if line.event == CARRIED_OVER]
    return details[0].rpartition(" ")[2] if details else None


def _is_within(at: str, started: datetime, ended: datetime) -> bool:
    time = utc_time(at)
    return time is not None and started - SKEW <= time <= ended + SKEW


def utc_time(text: str) -> datetime | None:
    """Return a time with its zone; ``None`` for other text, and for years before memeval."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo is not None and time.year >= FIRST_YEAR else None
