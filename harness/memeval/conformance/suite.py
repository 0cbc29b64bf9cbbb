"""The suite: the table of checks, and what makes them one after the other.

Five checks are mandatory: a system that fails one of them is refused, for its numbers would not be about memory at all.
Where a planted fact is not found, nothing measures what the system remembers. Where ``reset`` does not reset, or two
scenarios meet, answers come from another question's history, and may be right or wrong for that. Where odd or long text
is an error, a benchmark measures the error. Where dates, speakers, order or filters are not kept, numbers are lower or
depend on the order of questions, but they are the system's own: that is shown beside them. A bound on ``search`` is not
mandatory either, since a run cuts what goes beyond it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from memeval.conformance.check import Check, ContractViolation, MethodMissing
from memeval.conformance.checks import asking, calls, contents, foundations
from memeval.conformance.subject import CheckedSystem
from memeval.execution.model_access import SystemInstance
from memeval.records.conformance import CheckOutcome, ConformanceCheck
from memeval.systems.errors import SystemFailure
from memeval.systems.output import Log

SUITE = "conformance@1"
"""The suite and its version: another number wherever a system could fare otherwise than before."""

CHECKS = (
    Check(
        "planted-fact",
        "What was taken in is found as soon as settle returns.",
        foundations.planted_fact,
        mandatory=True,
        after=None,
    ),
    Check(
        "reset-resets",
        "After reset, nothing is left.",
        foundations.reset_resets,
        mandatory=True,
        after="planted-fact",
    ),
    Check(
        "isolation",
        "Two instances, and two scenarios in one, know nothing of each other.",
        foundations.isolation,
        mandatory=True,
        after="reset-resets",
    ),
    Check(
        "unicode-accepted",
        "Emoji, several scripts and control characters are no error.",
        foundations.unicode_accepted,
        mandatory=True,
    ),
    Check("long-accepted", "A message of 20,000 characters is no error.", foundations.long_accepted, mandatory=True),
    Check("event-time", "When something was said is kept and used.", contents.event_time),
    Check("assistant-kept", "What the assistant said is kept.", contents.assistant_kept),
    Check("second-speaker-kept", "What the second of two people said is kept.", contents.second_speaker_kept),
    Check(
        "people-apart",
        "What two people in one memory said is told apart.",
        contents.people_apart,
        after="second-speaker-kept",
    ),
    Check(
        "unicode-kept",
        "Words in other scripts come back as they were.",
        contents.unicode_kept,
        after="unicode-accepted",
    ),
    Check("long-kept", "All of a long message is found.", contents.long_kept, after="long-accepted"),
    Check("taken-in-twice", "A session that is taken in twice breaks nothing.", contents.taken_in_twice),
    Check("k-honoured", "Search brings up no more than it is asked for.", asking.k_honoured, needs=("search",)),
    Check("filters-honoured", "Banks, tags and times are filters.", calls.filters_honoured, needs=("retain", "recall")),
    Check("forget-forgets", "What was forgotten cannot be asked for in other words.", calls.forgets, needs=("forget",)),
    Check(
        "repeatable",
        "A second identical run gives the same, or the submission says that it does not.",
        asking.repeatable,
        can_be_declared=True,
    ),
    Check(
        "question-order", "Answers do not depend on the order of questions.", asking.question_order, after="repeatable"
    ),
    Check(
        "question-not-remembered", "What only a question mentions is not remembered.", asking.question_not_remembered
    ),
    Check(
        "context-tokens",
        "Tokens of context are reported for each question.",
        asking.context_tokens,
        needs=("get_context_tokens", "query"),
    ),
)
"""The checks, in their order."""


class CallCounts(NamedTuple):
    """How much is asked of a system."""

    processes: int
    """Processes that are started."""
    sessions: int
    """Sessions and texts that are taken in."""
    questions: int
    """Calls of ``query``, ``search`` and ``recall``."""


MOST_CALLS = CallCounts(processes=3, sessions=43, questions=98)
"""What the suite asks at most of a system that keeps to the contract; each may cost calls to models."""

SECONDS = 600.0
"""How long all checks may take together, unless said otherwise."""


def _ignore(_told: object) -> None:
    """Take no notice."""


def check_system(
    new_instance: Callable[[Log], SystemInstance],
    *,
    seed: str,
    deterministic: bool,
    seconds: float = SECONDS,
    log: Log = _ignore,
    told: Callable[[ConformanceCheck], None] = _ignore,
    stop: Callable[[], None] = lambda: None,
) -> tuple[ConformanceCheck, ...]:
    """Find out whether a system keeps to the contract, by facts that are planted in it.

    A check that the system fails, crashes in or takes too long for is followed by the next, with a fresh instance.

    Args:
        new_instance: makes an instance, not started, with its door; given what takes the lines it prints.
        seed: what the planted facts follow from: the submission's digest, so that no adapter knows them beforehand.
        deterministic: whether the submission says that a second identical run gives the same answers.
        seconds: how long all checks may take together; the system is then ended.
        log: takes what the system prints, line by line, from other threads.
        told: called with each check as it ends.
        stop: called after each check, before anything is made of it: it raises what stops the suite, a budget that is
            spent, say. A system that is refused its models fails through no fault of its own.

    Returns:
        All checks, in the order of :data:`CHECKS`.
    """
    subject = CheckedSystem(new_instance, f"{SUITE}/{seed}", deterministic=deterministic, log=log)
    made: dict[str, ConformanceCheck] = {}
    timer = threading.Timer(seconds, subject.kill)
    timer.daemon = True
    timer.start()
    try:
        for check in CHECKS:
            made[check.name] = _made(check, subject, made, seconds)
            stop()
            if made[check.name].outcome is CheckOutcome.FAILED:
                subject.close_shared()
            told(made[check.name])
    finally:
        timer.cancel()
        timer.join()
        subject.close_shared()
    return tuple(made.values())


def _made(check: Check, subject: CheckedSystem, made: dict[str, ConformanceCheck], seconds: float) -> ConformanceCheck:
    """Make a check, and return how it ended."""
    began = time.monotonic()
    remedy: str | None = None
    try:
        outcome, detail = CheckOutcome.PASSED, _seen(check, subject, made)
    except MethodMissing as lacking:
        outcome, detail = CheckOutcome.NOT_APPLICABLE, str(lacking)
    except ContractViolation as broken:
        declared = check.can_be_declared and not subject.deterministic
        outcome, detail = CheckOutcome.DECLARED if declared else CheckOutcome.FAILED, broken.seen
        remedy = None if declared else broken.remedy
    except SystemFailure as failure:
        outcome, detail = CheckOutcome.FAILED, failure.sentence
        remedy = None  # the sentence says what to do
    if outcome is CheckOutcome.FAILED and subject.over:
        detail = f"Not finished: the {seconds:g} s for all checks were used up."
        remedy = "Make `ingest_session`, `settle` and `query` faster."
    return ConformanceCheck(
        name=check.name,
        title=check.title,
        mandatory=check.mandatory,
        outcome=outcome,
        detail=detail,
        remedy=remedy,
        seconds=time.monotonic() - began,
    )


def _seen(check: Check, subject: CheckedSystem, made: dict[str, ConformanceCheck]) -> str:
    """Do what a check does, where it can be done, and return what was seen."""
    failed = _failed_before(check, made)
    if failed is not None:
        raise MethodMissing(f"Not looked at: it would say nothing of a system that does not pass {failed}.")
    subject.begin(check.name)
    missing = [method for method in check.needs if not subject.can(method)]
    if missing:
        raise MethodMissing(f"The system has no {missing[0]}.")
    return check.function(subject)


def _failed_before(check: Check, made: dict[str, ConformanceCheck]) -> str | None:
    """Return the check that was failed of those that a check comes after, directly or not."""
    after = check.after
    while after is not None and made[after].outcome is not CheckOutcome.FAILED:
        after = next(each.after for each in CHECKS if each.name == after)
    return after
