"""Checks the recorded model calls of a run: keys, replies, prices, who paid for them, and a judge's verdicts."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from memeval.archive.runs import RunFolder
from memeval.evaluation.judge.judges import judged_graders
from memeval.evaluation.verify.checks.subject import Subject
from memeval.evaluation.verify.findings import Check, Finding
from memeval.evaluation.withhold.encoding import has_verdict
from memeval.gateway.budget import PRICE_LISTS, price_list
from memeval.gateway.replies import UnusableReply, read_call, text_of
from memeval.records.call import Call, Caller, Phase
from memeval.records.errors import MemevalError
from memeval.records.grade import GradeState
from memeval.records.response import Outcome, Response
from memeval.records.track import Redistribution

NAME, JUDGMENTS = "calls", "judgments"

WITHHELD = "the requests are withheld; memeval reproduce checks them with the data"
"""Why the keys of calls are not checked."""


def check_calls(subject: Subject) -> Check:
    """Check keys, tokens and prices of all model calls, the reader's answers, and declared hosts.

    Prices are computed again if the run used the current price list. A call that another run paid for must be stored
    there.
    """
    run = subject.run
    is_full = run.redistribution is Redistribution.FULL
    readings = wrong_readings(subject.folder, subject.calls, subject.responses, with_text=is_full)
    findings = [*_prices(subject), *_replies(subject), *readings, *_traffic(subject)]
    if is_full:
        findings += wrong_keys(subject.folder, "calls.jsonl", subject.calls)
    paid, reasons = _payers(subject)
    if subject.calls and not is_full:
        reasons.append(WITHHELD)
    if run.prices not in (None, price_list()):
        reasons.append(f"the prices of {run.prices} are not here")
    return Check(NAME, (*findings, *paid), "; ".join(reasons) or None)


def _prices(subject: Subject) -> Iterator[Finding]:
    """Check that the price list is one that memeval had, and that there is one if there are calls."""
    run, has_calls = subject.run, bool(subject.calls or subject.judgments)
    if has_calls is (run.prices is None):
        calls = "model calls" if has_calls else "no model call"
        yield Finding(f"{subject.head}: prices", f"is {run.prices}, but the run has {calls}.")
    elif run.prices is not None and run.prices not in (*PRICE_LISTS, price_list()):
        yield Finding(f"{subject.head}: prices", f"is {run.prices!r}, which is not a price list of memeval.")


def _replies(subject: Subject) -> Iterator[Finding]:
    run = subject.run
    priced = run.prices == price_list()
    for where, call in subject.placed_calls():
        if (field := _wrong_field(call, priced and call.run_id == run.run_id)) is not None:
            yield Finding(where, f"has a '{field}' that does not match its reply.")


def _wrong_field(call: Call, priced: bool) -> str | None:
    """Return the first field that does not match the reply; ``None`` if all match or there is no usable reply."""
    if call.error is not None or call.reply is None:
        return None
    try:
        reply = read_call(call)
    except UnusableReply:
        return "reply"
    fields = ("model", "fingerprint", "ended_early", "prompt_tokens", "completion_tokens")
    wrong = next((field for field in fields if getattr(call, field) != getattr(reply, field)), None)
    if wrong is None and priced and call.cost_usd != reply.price(call.request.model):
        return "cost_usd"
    return wrong


def wrong_readings(
    folder: RunFolder, calls: Iterable[Call], responses: Iterable[Response], *, with_text: bool = True
) -> Iterator[Finding]:
    """Yield a finding for each answer whose reader's call is missing, or has another reply.

    ``calls``, ``responses``: the rows of the run. ``with_text``: whether they have their full text; otherwise only the
    keys are compared.
    """
    replies = {call.key: text_of(call) for call in calls if call.caller is Caller.READER}
    path = folder.file("responses.jsonl")
    for number, response in enumerate(responses, start=1):
        if response.reader_key is None:
            continue
        where, is_answered = f"{path}:{number}", response.outcome is not Outcome.READER_ERROR
        if response.reader_key not in replies:
            yield Finding(where, f"{response.question_id} names a reader call that is missing from calls.jsonl.gz.")
        elif with_text and is_answered and replies[response.reader_key] != response.answer:
            yield Finding(where, f"{response.question_id}: the answer differs from the reader's reply.")


def _payers(subject: Subject) -> tuple[list[Finding], list[str]]:
    """Check that the calls of other runs are stored there. Returns the problems, and why calls were not checked."""
    run, findings, absent = subject.run, list[Finding](), list[str]()
    by_payer: dict[str | None, list[tuple[str, Call]]] = defaultdict(list)
    for where, call in subject.placed_calls():
        if call.run_id != run.run_id:
            by_payer[call.run_id].append((where, call))
    for payer, rows in by_payer.items():
        other = None if payer is None else subject.other_run(payer)
        if other is None:
            paid_calls = "1 call was" if len(rows) == 1 else f"{len(rows):,} calls were"
            absent.append(f"{paid_calls} paid for by {f'run {payer}, which is not here' if payer else 'no run'}")
            continue
        try:
            stored = {_paid(call) for call in (*other.judgments(), *other.calls())}
        except MemevalError as error:
            absent.append(f"run {payer} cannot be read ({error.problem.rstrip('.')})")
            continue
        findings += [
            Finding(where, f"was paid for by run {payer}, which has no such call.")
            for where, call in rows
            if _paid(call) not in stored
        ]
    return findings, absent


def _paid(call: Call) -> tuple[object, ...]:
    return call.key, call.at, call.run_id, call.prompt_tokens, call.completion_tokens, call.cost_usd, call.seconds


def wrong_keys(folder: RunFolder, name: str, calls: Iterable[Call]) -> Iterator[Finding]:
    """Yield a finding for each model call whose key does not match its request.

    ``calls``: its rows, with their full text.
    """
    for number, call in enumerate(calls, start=1):
        key: str | None = call.request.key
        if call.caller is Caller.SYSTEM:
            key = None if call.ordinal is None else call.request.key_in(call.scenario_id or "", call.ordinal)
        if call.key != key:
            yield Finding(f"{folder.file(name)}:{number}", "has a key that does not match its request.")


def _traffic(subject: Subject) -> Iterator[Finding]:
    declared = {use.host for use in subject.run.system.hosts}
    for where, row in subject.placed("traffic.jsonl", subject.traffic):
        if row.host not in declared and row.error is None:
            yield Finding(where, f"names the host {row.host}, which the system does not declare.")


_RULED = (GradeState.GRADED, GradeState.UNPARSED, GradeState.JUDGE_ERROR)
"""The possible states of a judged answer."""


def check_judgments(subject: Subject) -> Check:
    """Check the keys of the judge's calls, its prompts, and that each verdict has a recorded reply and matches it.

    If the benchmark's text is withheld, the keys need the data, and ``reproduce`` checks them.
    """
    findings = [*_verdicts(subject), *_prompts(subject)]
    if subject.run.redistribution is Redistribution.FULL:
        findings += wrong_keys(subject.folder, "judgments.jsonl", subject.judgments)
    elif subject.judgments:
        return Check(JUDGMENTS, tuple(findings), WITHHELD)
    return Check(JUDGMENTS, tuple(findings))


def _verdicts(subject: Subject) -> Iterator[Finding]:
    run, judgments = subject.run, subject.judgments
    replies = {call.key: text_of(call) for call in sorted(judgments, key=lambda call: call.error is None)}
    model = run.track.judge.partition(":")[2].rpartition("@")[0]
    judged = judged_graders(run.track) if run.track.judge_endpoint is not None else frozenset()
    for where, call in subject.placed("judgments.jsonl", judgments):
        asked = (call.caller, call.phase, call.request.endpoint, call.request.model)
        if asked != (Caller.JUDGE, Phase.JUDGE, run.track.judge_endpoint, model):
            yield Finding(where, "is not a call to the judge of the track.")
    for where, grade in subject.placed("grades.jsonl", subject.grades):
        if grade.judgment_key is None:
            if grade.grader in judged and grade.state in _RULED:
                yield Finding(where, f"{grade.item_id} has no judgment, but its judge is a model.")
        elif grade.judgment_key not in replies:
            yield Finding(where, f"{grade.item_id} names a judgment that is missing from judgments.jsonl.gz.")
        elif not has_verdict(replies[grade.judgment_key], grade.verdict, run.redistribution):
            yield Finding(where, f"{grade.item_id}: the verdict does not match the judge's reply.")


def _prompts(subject: Subject) -> Iterator[Finding]:
    path, stated = subject.folder.file("prompts.jsonl"), subject.run.track.prompts
    for number, prompt in enumerate(subject.prompts, start=1):
        if prompt.digest != stated.get(prompt.name):
            yield Finding(f"{path}:{number}", f"the prompt {prompt.name!r} is not the prompt of the track.")
    for name in sorted(stated.keys() - {prompt.name for prompt in subject.prompts}):
        yield Finding(str(path), f"the prompt {name!r} of the track is missing.")
