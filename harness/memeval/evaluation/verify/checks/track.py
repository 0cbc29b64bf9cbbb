"""Builds the track of a run again from the benchmark's code and data, and compares every part."""

from collections.abc import Callable, Iterable, Iterator
from importlib.resources import files
from typing import Any

from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.judge.judges import judge_of
from memeval.evaluation.run.readers import choose_reader, reader_named
from memeval.evaluation.verify.checks.subject import NoData, Subject
from memeval.evaluation.verify.findings import Check, Finding
from memeval.execution.model_reader import PREFIXES, PROMPT, SEED, SETTINGS, SETUP, VERSION
from memeval.execution.readers import NATIVE, NoReader
from memeval.judging.model import SETUP as JUDGE_SETUP
from memeval.local import is_local
from memeval.local.catalogue import address_of
from memeval.records.base import Record, digest_bytes, digest_of
from memeval.records.call import Caller
from memeval.records.errors import BadInput, MemevalError
from memeval.records.run import SystemKind
from memeval.records.track import CategoryPlan, Limits, Track
from memeval.systems.channel import visible
from memeval.systems.child import HASH_SEED

NAME = "track"

RECORD_A_NEW_RUN = "Restore run.json, or record a new run."


def check_track(subject: Subject) -> Check:
    """Compare every part of a track with the benchmark here, and with the rows of the run.

    The caller of a run may choose reader, judge, prompts of the judge, errata, and the limit ``ask_seconds``.
    """
    findings = [*_reading(subject), *_judging(subject), *_setups(subject)]
    opened = subject.opened
    if isinstance(opened, NoData):
        if opened.field is None:
            return Check(NAME, tuple(findings), opened.reason)
        return Check(NAME, (*findings, _finding(subject, opened.field, opened.reason)))
    track, dataset = subject.run.track, opened.dataset
    is_here = dataset.digest == track.data_digest
    if not is_here and not (dataset.released and (track.released or opened.benchmark.info.generated)):
        return Check(NAME, tuple(findings), f"the data {track.data_digest[:19]} of {track.benchmark} is not here")
    findings += _differences(subject, opened)
    errata = None if opened.errata is None else digest_of(opened.errata.data())
    return Check(NAME, tuple(findings), None if errata == track.errata else f"the errata {track.errata} are not here")


def _finding(subject: Subject, field: str, problem: str) -> Finding:
    return Finding(f"{subject.head}: track.{field}", problem, RECORD_A_NEW_RUN)


def _differences(subject: Subject, session: BenchmarkSession) -> Iterator[Finding]:
    track, benchmark = subject.run.track, session.benchmark.info.id
    limits = Limits(ask_seconds=track.limits.ask_seconds)
    if is_local(track.reader):  # a model on this machine has a limit of its own
        limits = limits.model_copy(update={"reader_tokens": track.limits.reader_tokens})
    rebuilt = session.track(reader=None, limits=limits)
    fields = ("benchmark", "data_digest", "parameters", "tokenizer", "sample", "released")
    yield from _compared(subject, track, rebuilt, fields, benchmark)
    limits_of = track.limits, rebuilt.limits
    yield from _compared(subject, *limits_of, Limits.model_fields, benchmark, "limits.", shown="{:g}".format)
    yield from _plans(subject, rebuilt)
    if subject.run.seeds != (seeds := _seeds(subject)):
        yield Finding(f"{subject.head}: seeds", f"are {subject.run.seeds}, but a run has {seeds}.", RECORD_A_NEW_RUN)
    redistribution = session.benchmark.info.redistribution
    if subject.run.redistribution is not redistribution:
        problem = f"is {subject.run.redistribution}, but {benchmark} has {redistribution}."
        yield Finding(f"{subject.head}: redistribution", problem, RECORD_A_NEW_RUN)


def _plans(subject: Subject, rebuilt: Track) -> Iterator[Finding]:
    stated = {plan.name: plan for plan in subject.run.track.categories}
    expected = {plan.name: plan for plan in rebuilt.categories}
    for name in [*expected, *(name for name in stated if name not in expected)]:
        if name not in stated:
            yield _finding(subject, "categories", f"lacks {name}, which {rebuilt.benchmark} has.")
            continue
        if name not in expected:
            yield _finding(subject, "categories", f"has {_shown(name)}, which {rebuilt.benchmark} does not have.")
            continue
        prefix = f"categories.{name}."
        plans = stated[name], expected[name]
        yield from _compared(subject, *plans, CategoryPlan.model_fields, rebuilt.benchmark, prefix)
    names = [plan.name for plan in subject.run.track.categories]
    if sorted(names) == sorted(expected) and names != list(expected):
        yield _finding(subject, "categories", f"are not in the order of {rebuilt.benchmark}.")


def _reading(subject: Subject) -> Iterator[Finding]:
    run, track = subject.run, subject.run.track
    is_native, is_model = track.reader == NATIVE, track.reader.startswith(PREFIXES)
    known = None if is_native or is_model else reader_named(track.reader)
    if is_model and not track.reader.endswith(f"@{VERSION}"):
        yield _finding(subject, "reader", f"is {_shown(track.reader)}, but model readers have the version {VERSION}.")
    elif not (is_native or is_model) and (known is None or known.name != track.reader):
        yield _finding(subject, "reader", f"is {_shown(track.reader)}, which is not a reader of this memeval.")
    elif (problem := _unfit(subject)) is not None:
        yield _finding(subject, "reader", f"is {track.reader}, but {problem}")
    if is_model is (track.reader_endpoint is None):
        yield _finding(subject, "reader_endpoint", f"is {track.reader_endpoint}, but the reader is {track.reader}.")
    if run.imported is None:
        yield from _phases(subject, is_native=is_native, is_model=is_model)


def _unfit(subject: Subject) -> str | None:
    """Return why the protocol or the system cannot use the reader; ``None`` if both can."""
    run, opened = subject.run, subject.opened
    if isinstance(opened, NoData):
        return None
    protocol = opened.protocol_info
    fixed = None if protocol.reader is None else getattr(reader_named(protocol.reader), "name", protocol.reader)
    if fixed is not None and fixed != run.track.reader:
        return f"the protocol {protocol.name} needs {fixed}."
    if run.system.kind is SystemKind.IMPORTED:
        return None
    try:
        named, system = protocol.reader or run.track.reader, run.system
        choose_reader(named, system.capabilities, system.slug, lambda name: NoReader(), protocol)
    except MemevalError as error:
        return error.problem
    return None


def _phases(subject: Subject, *, is_native: bool, is_model: bool) -> Iterator[Finding]:
    """Check that the rows have a reading phase if there is a reader, and none if the system answers."""
    for where, row in subject.placed("responses.jsonl", subject.responses):
        reads = row.timings.read_seconds is not None
        if is_native and (reads or row.reader_key is not None):
            yield Finding(where, f"{row.question_id} was read by a reader, but the track's reader is {NATIVE}.")
            return
        if not is_native and not reads and not row.outcome.is_error:
            yield Finding(where, f"{row.question_id} has no reading phase, but the track has a reader.")
            return
        if is_model is (row.reader_key is None) and not row.outcome.is_error:
            has, reader = "no" if is_model else "a", subject.run.track.reader
            yield Finding(where, f"{row.question_id} has {has} reader call, but the reader is {reader}.")
            return
    model = subject.run.track.reader.partition(":")[2].rpartition("@")[0] if is_model else None
    for where, call in subject.placed("calls.jsonl", subject.calls):
        asked = (call.request.model, call.request.endpoint)
        if call.caller is Caller.READER and asked != (model, subject.run.track.reader_endpoint):
            yield Finding(where, "is not a call to the reader of the track.")


def _judging(subject: Subject) -> Iterator[Finding]:
    run, track = subject.run, subject.run.track
    try:
        judge = judge_of(track, subject.prompts)
        rebuilt = judge.on(track.model_copy(update={"prompts": _reader_prompts(track)}))
    except BadInput as error:
        yield _finding(subject, "judge", f"is {_shown(track.judge)}: {error.problem}")
        return
    fields = ("judge", "judge_endpoint", "judge_label", "prompts")
    yield from _compared(subject, track, rebuilt, fields, "the judge")
    if {name: seed for name, seed in run.seeds.items() if name == "judge"} != judge.seeds:
        yield Finding(f"{subject.head}: seeds", f"are {run.seeds}, but the judge has {judge.seeds}.", RECORD_A_NEW_RUN)


def _setups(subject: Subject) -> Iterator[Finding]:
    """Check that models on the runner's machine are named with all that decides their answers."""
    track = subject.run.track
    texts = {prompt.name: prompt.text for prompt in subject.prompts}
    for field, name, key in (
        ("reader_endpoint", track.reader, SETUP),
        ("judge_endpoint", track.judge, JUDGE_SETUP),
    ):
        setup = texts.get(key)
        if is_local(name) is (setup is None):
            has = "no setup" if setup is None else f"the setup {key}"
            yield _finding(subject, "prompts", f"have {has}, but the {field.partition('_')[0]} is {_shown(name)}.")
        elif setup is not None:
            model = name.partition(":")[2].rpartition("@")[0]
            expected, stated = address_of(model, setup), getattr(track, field)
            if stated != expected:
                yield _finding(subject, field, f"is {_shown(stated)}, but its setup has {_shown(expected)}.")


def _reader_prompts(track: Track) -> dict[str, str]:
    """Return the prompts of a track's reader: its own text, and settings that the caller may choose."""
    if not track.reader.startswith(PREFIXES):
        return {}
    text = files("memeval.execution").joinpath("prompts", "reader.txt").read_bytes()
    settings = {name: digest for name, digest in track.prompts.items() if name in (SETTINGS, SETUP)}
    return settings | {PROMPT: digest_bytes(text)}


def _seeds(subject: Subject) -> dict[str, int]:
    """Return the seeds that a run has, by name; those of the judge as stored, which :func:`_judging` checks."""
    run = subject.run
    judge = {name: seed for name, seed in run.seeds.items() if name == "judge"}
    if run.imported is not None:
        return judge
    return {"PYTHONHASHSEED": HASH_SEED} | judge | ({"reader": SEED} if run.track.reader.startswith(PREFIXES) else {})


def _shown(value: object) -> str:
    text = visible(str(value))
    return text if len(text) <= 100 else f"{text[:99]}…"


def _compared(
    subject: Subject,
    stated: Record,
    rebuilt: Record,
    fields: Iterable[str],
    owner: str,
    prefix: str = "",
    shown: Callable[[Any], str] = _shown,
) -> Iterator[Finding]:
    """Yield a finding for each field of a part of the track that differs from that of its owner."""
    for field in fields:
        one, other = getattr(stated, field), getattr(rebuilt, field)
        if one != other:
            yield _finding(subject, prefix + field, f"is {shown(one)}, but {owner} has {shown(other)}.")
