"""The conformance suite: the table of checks, and the function that runs them in order.

Five checks are mandatory. A system that fails one of them is refused, because its scores would not measure its memory:

- If a planted fact is not found, no score measures what the system remembers.
- If ``reset`` leaves data behind, or two scenarios share data, answers come from the history of another question.
- If unusual or long text raises an error, a benchmark measures the error.

The other checks are shown beside the scores. A system that loses dates, speakers or filters scores lower, but the
scores are its own. The limit of ``search`` is not mandatory, because a run cuts additional items.
"""

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from memeval.conformance.check import ContractCheck, ContractViolation, MethodMissing
from memeval.conformance.checks import asking, calls, contents, foundations
from memeval.conformance.subject import CheckedSystem
from memeval.execution.secrets import redact
from memeval.execution.steps import SystemInstance
from memeval.records.conformance import CheckOutcome, ConformanceCheck
from memeval.systems.channel import Log
from memeval.systems.errors import SystemFailure

_mandatory = partial(ContractCheck, mandatory=True)
_of_banks = partial(ContractCheck, needs=("retain", "recall"))
_of_deletion = partial(ContractCheck, needs=("retain", "recall", "forget"), after="forget-forgets")

CHECKS = (
    _mandatory(
        "planted-fact", "Ingested facts are found as soon as settle returns.", foundations.planted_fact, after=None
    ),
    _mandatory("reset-resets", "After reset, the memory is empty.", foundations.reset_resets, after="planted-fact"),
    _mandatory("isolation", "Instances and scenarios share no data.", foundations.isolation, after="reset-resets"),
    _mandatory(
        "unicode-accepted",
        "Emoji, several scripts and control characters cause no error.",
        foundations.unicode_accepted,
    ),
    _mandatory("long-accepted", "A message of 20,000 characters causes no error.", foundations.long_accepted),
    ContractCheck("event-time", "Dates of sessions are stored and used.", contents.event_time),
    ContractCheck("assistant-kept", "Statements of the assistant are stored.", contents.assistant_kept),
    ContractCheck("second-speaker-kept", "Statements of both speakers are stored.", contents.second_speaker_kept),
    ContractCheck(
        "people-apart",
        "Statements of two speakers are not confused.",
        contents.people_apart,
        after="second-speaker-kept",
    ),
    ContractCheck(
        "unicode-kept",
        "Words in other scripts are returned unchanged.",
        contents.unicode_kept,
        after="unicode-accepted",
    ),
    ContractCheck("long-kept", "Every part of a long message is found.", contents.long_kept, after="long-accepted"),
    ContractCheck("taken-in-twice", "Ingesting a session twice causes no error.", contents.taken_in_twice),
    ContractCheck("k-honoured", "search returns at most k items.", asking.k_honoured, needs=("search",)),
    _of_banks("filters-honoured", "recall filters by bank, tags and time.", calls.filters_honoured),
    ContractCheck(
        "forget-forgets", "A forgotten fact is not found, not even by a paraphrase.", calls.forgets, needs=("forget",)
    ),
    ContractCheck(
        "repeatable",
        "Two identical runs give equal replies, or the submission declares otherwise.",
        asking.repeatable,
        can_be_declared=True,
    ),
    ContractCheck(
        "question-order", "Answers do not depend on the order of questions.", asking.question_order, after="repeatable"
    ),
    ContractCheck("question-not-remembered", "Questions are not stored.", asking.question_not_remembered),
    ContractCheck(
        "context-tokens",
        "Context tokens are reported for each question.",
        asking.context_tokens,
        needs=("get_context_tokens", "query"),
    ),
    _of_banks("banks-apart", "Banks with similar names are kept apart.", calls.banks_apart),
    _of_deletion(
        "forget-keeps-others",
        "A deletion by id removes nothing else, and the text can be told again.",
        calls.forget_keeps_others,
    ),
    _of_deletion("forget-bank", "A forgotten bank is empty, and other banks are not.", calls.forget_bank),
    ContractCheck(
        "export-forgets",
        "An export does not contain what was forgotten.",
        calls.export_forgets,
        needs=("retain", "forget", "export_memories"),
        after="forget-forgets",
    ),
    ContractCheck(
        "questions-together",
        "Questions asked at the same time get the same answers as one by one.",
        asking.questions_together,
        after="question-order",
    ),
    ContractCheck("sources-named", "Retrieved items name the session or text that they are from.", calls.sources_named),
    ContractCheck(
        "storage-survives",
        "After a clean stop and a start on its storage folder, a system has its memories.",
        contents.survives_restart,
        needs=("storage",),
        is_extra=True,
    ),
)

SUITE = "conformance@2"
"""The suite and its version. The version changes when the result of any system could change."""


class CallCounts(NamedTuple):
    processes: int
    sessions: int
    questions: int
    """Calls of ``query``, ``search`` and ``recall``."""


MOST_CALLS = CallCounts(processes=3, sessions=63, questions=135)
"""The most calls that a conforming system without a storage folder receives. Each may cost model calls."""

SECONDS = 600.0
"""Default time limit for all checks together."""


def check_system(
    new_instance: Callable[[Log], SystemInstance],
    *,
    seed: str,
    deterministic: bool,
    seconds: float = SECONDS,
    stop: Callable[[], None] = lambda: None,
) -> tuple[ConformanceCheck, ...]:
    """Check with planted facts whether a system fulfils the adapter contract.

    After a failed check, a crash or a timeout, the next check gets a new instance.

    Args:
        new_instance: makes an instance that is not started; its argument is given the printed lines, which none reads.
        seed: the seed of the planted facts: the submission's digest, so that no adapter knows them in advance.
        deterministic: whether the submission declares that identical runs give equal answers.
        seconds: time limit for all checks together; the system is then killed.
        stop: called after each check, before its result is used. It raises an exception to stop the suite, for
            example when a budget is spent: the system then failed because its model calls were refused.

    Returns:
        All checks, in the order of :data:`CHECKS`; an extra one only if the system has what it needs.
    """
    subject = CheckedSystem(new_instance, f"{SUITE}/{seed}", deterministic=deterministic)
    results: dict[str, ConformanceCheck] = {}
    timer = threading.Timer(seconds, subject.kill)
    timer.daemon = True
    timer.start()
    try:
        for check in CHECKS:
            if check.is_extra and not _applies(check, subject):
                continue
            result = results[check.name] = _run_check(check, subject, results, seconds)
            stop()
            if result.outcome is CheckOutcome.FAILED:
                subject.close_shared()
    finally:
        timer.cancel()
        timer.join()
        subject.close_shared()
    return tuple(results.values())


def _applies(check: ContractCheck, subject: CheckedSystem) -> bool:
    """Whether a system has what an extra check needs. One that does not start has nothing; earlier checks say why."""
    try:
        return all(map(subject.can, check.needs))
    except SystemFailure:
        return False


def _run_check(
    check: ContractCheck, subject: CheckedSystem, results: dict[str, ConformanceCheck], seconds: float
) -> ConformanceCheck:
    began = time.monotonic()
    remedy: str | None = None
    try:
        outcome, detail = CheckOutcome.PASSED, _observation(check, subject, results)
    except MethodMissing as missing:
        outcome, detail = CheckOutcome.NOT_APPLICABLE, str(missing)
    except ContractViolation as violation:
        declared = check.can_be_declared and not subject.deterministic
        outcome, detail = CheckOutcome.DECLARED if declared else CheckOutcome.FAILED, violation.problem
        remedy = None if declared else violation.remedy
    except SystemFailure as failure:
        outcome, detail = CheckOutcome.FAILED, failure.sentence
        remedy = None  # the sentence says what to do
    if outcome is CheckOutcome.FAILED and subject.over:
        detail = f"Not finished: the limit of {seconds:g} s for all checks is used up."
        remedy = "Make `ingest_session`, `settle` and `query` faster."
    return ConformanceCheck(
        name=check.name,
        title=check.title,
        mandatory=check.mandatory,
        outcome=outcome,
        detail=redact(detail),
        remedy=remedy,
        seconds=time.monotonic() - began,
    )


def _observation(check: ContractCheck, subject: CheckedSystem, results: dict[str, ConformanceCheck]) -> str:
    failed = _failed_before(check, results)
    if failed is not None:
        raise MethodMissing(f"Not checked, because the check {failed} failed.")
    subject.begin(check.name)
    missing = [method for method in check.needs if not subject.can(method)]
    if missing:
        raise MethodMissing(f"The system has no method {missing[0]}.")
    return check.function(subject)


def _failed_before(check: ContractCheck, results: dict[str, ConformanceCheck]) -> str | None:
    after = check.after
    while after is not None and results[after].outcome is not CheckOutcome.FAILED:
        after = next(other.after for other in CHECKS if other.name == after)
    return after
