"""Verifies stored runs: schema, digests, coverage, and scores recomputed from the rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from memeval.archive.audits import stored_audits
from memeval.archive.ledger import Ledger
from memeval.archive.matrices import stored_matrices
from memeval.archive.rows import inner_digest
from memeval.archive.runs import ROW_FILES, RunFolder, runs_under
from memeval.evaluation import summary
from memeval.evaluation.auditing import verify_audit
from memeval.evaluation.findings import REMEDY, Finding
from memeval.evaluation.grades import last_attempts
from memeval.evaluation.matrix import verify_matrix
from memeval.evaluation.rows import Rows
from memeval.evaluation.seal import cost, coverage
from memeval.evaluation.withholding import has_verdict
from memeval.gateway.prices import price_list
from memeval.gateway.replies import UnusableReply, read, text_of
from memeval.grading.judged import JUDGED
from memeval.grading.scoring import score
from memeval.records.call import Call, Caller, Phase
from memeval.records.errors import BadInput, MemevalError
from memeval.records.grade import Grade, GradeState
from memeval.records.prompt import Prompt
from memeval.records.response import Outcome, Response
from memeval.records.run import Inputs, Isolation, Network, Run, SystemKind
from memeval.records.track import Redistribution
from memeval.records.traffic import Traffic
from memeval.storage import listed

_RULED = (GradeState.GRADED, GradeState.UNPARSED, GradeState.JUDGE_ERROR)
"""The possible states of a judged answer."""


def verify_run(folder: RunFolder) -> list[Finding]:
    """Check a stored run for consistency, without benchmark data and network.

    Args:
        folder: the run.

    Returns:
        The problems; empty if there are none.
    """
    head = str(folder.path / "run.json")
    try:
        run = folder.run
    except MemevalError as error:
        return [Finding(error.where or head, error.problem, error.remedy or REMEDY)]
    findings = [*_identity(folder, run, head), *_files(folder, run, head)]
    if findings and not folder.has_rows:
        return findings
    try:
        responses, grades = list(folder.responses()), list(folder.grades())
        contexts = [context.digest for context in folder.contexts()]
        judgments, calls, prompts = list(folder.judgments()), list(folder.calls()), list(folder.prompts())
        traffic = list(folder.traffic())
    except MemevalError as error:
        return [*findings, Finding(error.where or head, error.problem, error.remedy or REMEDY)]
    return [
        *findings,
        *_rows(folder, responses, grades, contexts),
        *_calls(folder, run, judgments, calls),
        *_judgments(folder, run, grades, judgments),
        *_readings(folder, responses, calls),
        *_prompts(folder, run, prompts),
        *_traffic(folder, run, traffic),
        *_sums(run, Rows(responses, [], grades, judgments, calls), head),
    ]


def _identity(folder: RunFolder, run: Run, head: str) -> Iterator[Finding]:
    """Check the ids, the isolation and the folder of a run."""
    if run.track_id != run.track.id:
        yield Finding(f"{head}: track_id", f"is {run.track_id}, but the track's parts give {run.track.id}.")
    inputs = Inputs.of(run.track, run.system, run.coverage.limit)
    if run.fingerprint != inputs.fingerprint:
        yield Finding(f"{head}: fingerprint", "does not follow from the track, system and parameters in the file.")
    if not run.run_id.endswith("-" + run.fingerprint[:8]):
        yield Finding(f"{head}: run_id", "does not end in the first digits of the fingerprint.")
    sandboxed = run.isolation is Isolation.SANDBOXED
    if sandboxed is (run.sandbox is None) or sandboxed is (run.network is Network.OPEN):
        fields = f"isolation {run.isolation}, network {run.network}, sandbox {run.sandbox or 'none'}"
        yield Finding(f"{head}: isolation", f"contradicts the other fields: {fields}.")
    imported = (run.imported is not None, run.system.kind is SystemKind.IMPORTED, run.isolation is Isolation.ELSEWHERE)
    if len(set(imported)) > 1:
        origin = "an" if run.imported else "no"
        fields = f"kind {run.system.kind}, isolation {run.isolation}, {origin} origin of imported answers"
        yield Finding(f"{head}: imported", f"contradicts the other fields: {fields}.")
    actual = folder.path.resolve().parts[-3:]
    expected = (run.track.benchmark.partition("@")[0], run.system.slug, run.run_id)
    if actual != expected:
        yield Finding(
            str(folder.path),
            f"the run belongs in {'/'.join(expected)}, not in {'/'.join(actual)}.",
            "Move the folder back.",
        )


def _files(folder: RunFolder, run: Run, head: str) -> Iterator[Finding]:
    """Check that exactly the sealed files exist, with their digests."""
    for name in sorted(set(run.files) - set(ROW_FILES)):
        yield Finding(f"{head}: files", f"lists an unknown file {name!r}.")
    for name in ("responses.jsonl", "contexts.jsonl", "grades.jsonl", "log.jsonl"):
        if name not in run.files:
            yield Finding(f"{head}: files", f"does not list {name}.")
    for name, stated in run.files.items():
        if name not in ROW_FILES:
            continue
        path = folder.file(name)
        if path.is_symlink():
            yield Finding(str(path), "is a symlink.", "Replace it with the file itself.")
            continue
        try:
            found = inner_digest(path)
        except MemevalError as error:
            yield Finding(error.where or str(path), error.problem, error.remedy or REMEDY)
            continue
        if found.rows != stated.rows:
            yield Finding(str(path), f"has {found.rows} rows, but run.json says {stated.rows}.")
        if found.digest != stated.digest:
            yield Finding(str(path), "does not match its digest in run.json.")
    known = {f"{name}.gz" for name in run.files} | {"run.json"}
    for path in listed(folder.path, "*"):
        if path.name not in known:
            yield Finding(str(path), "does not belong to the run.", "Remove it.")


def _rows(folder: RunFolder, responses: list[Response], grades: list[Grade], contexts: list[str]) -> Iterator[Finding]:
    """Check that each item has one grade, consistent with the outcome of its responses."""
    grades_file, responses_file = folder.file("grades.jsonl"), folder.file("responses.jsonl")
    by_item: dict[str, list[Response]] = {}
    attempts: set[tuple[str, int]] = set()
    stored_contexts = set(contexts)
    for number, response in enumerate(responses, start=1):
        where = f"{responses_file}:{number}"
        if (response.question_id, response.attempt) in attempts:
            yield Finding(where, f"{response.question_id} has two rows for attempt {response.attempt}.")
        attempts.add((response.question_id, response.attempt))
        if response.context_digest is not None and response.context_digest not in stored_contexts:
            yield Finding(where, "names a context that is not in contexts.jsonl.gz.")
        by_item.setdefault(response.item_id, []).append(response)
    graded: set[str] = set()
    for number, grade in enumerate(grades, start=1):
        where = f"{grades_file}:{number}"
        if grade.item_id in graded:
            yield Finding(where, f"{grade.item_id} is graded twice.")
        graded.add(grade.item_id)
        rows = by_item.get(grade.item_id)
        if rows is None:
            yield Finding(where, f"{grade.item_id} has a grade but no response.")
            continue
        outcome = first_not_ok(list(last_attempts(rows).values()))
        if not _is_consistent(grade, outcome):
            yield Finding(
                where, f"{grade.item_id} is '{grade.state}', but the outcome of its responses is '{outcome}'."
            )
    for item_id in by_item.keys() - graded:
        yield Finding(str(grades_file), f"{item_id} has responses but no grade.")


def first_not_ok(responses: list[Response]) -> Outcome:
    """Return an item's outcome: the first among its questions that is not ``ok``."""
    return next((row.outcome for row in responses if row.outcome is not Outcome.OK), Outcome.OK)


def _is_consistent(grade: Grade, outcome: Outcome) -> bool:
    has_no_result = grade.verdict is None and grade.credit is None
    if outcome.is_error:
        return grade.state.value == outcome.value and has_no_result
    if has_no_result != grade.state.is_error:
        return False
    return grade.state in (GradeState.GRADED, GradeState.EMPTY, GradeState.UNPARSED, GradeState.JUDGE_ERROR)


def _calls(folder: RunFolder, run: Run, judgments: list[Call], calls: list[Call]) -> Iterator[Finding]:
    """Check the key of every model call, and the fields that follow from its reply.

    If the benchmark's text is withheld, keys need the data, and ``reproduce`` checks them. Costs are recomputed only if
    the run used the current price list.
    """
    priced = run.prices == price_list()
    for name, rows in (("judgments.jsonl", judgments), ("calls.jsonl", calls)):
        if run.redistribution is Redistribution.FULL:
            yield from wrong_keys(folder, name, rows)
        for number, call in enumerate(rows, start=1):
            if (field := _wrong_field(call, priced and call.run_id == run.run_id)) is not None:
                yield Finding(f"{folder.file(name)}:{number}", f"has a '{field}' that does not match its reply.")


def _wrong_field(call: Call, priced: bool) -> str | None:
    """Return the first field that does not match the reply; ``None`` if all match or there is no usable reply."""
    if call.error is not None or call.reply is None:
        return None
    try:
        reply = read(call.reply, call.request.api)
    except UnusableReply:
        return "reply"
    fields = ("model", "fingerprint", "prompt_tokens", "completion_tokens")
    wrong = next((field for field in fields if getattr(call, field) != getattr(reply, field)), None)
    if wrong is None and priced and call.cost_usd != reply.price(call.request.model):
        return "cost_usd"
    return wrong


def _judgments(folder: RunFolder, run: Run, grades: list[Grade], judgments: list[Call]) -> Iterator[Finding]:
    """Check that each verdict of a model judge has a stored judgment, and matches its reply."""
    replies = {call.key: text_of(call) for call in sorted(judgments, key=lambda call: call.error is None)}
    model = run.track.judge.partition(":")[2].rpartition("@")[0]
    for number, call in enumerate(judgments, start=1):
        asked = (call.caller, call.phase, call.request.endpoint, call.request.model)
        if asked != (Caller.JUDGE, Phase.JUDGE, run.track.judge_endpoint, model):
            yield Finding(f"{folder.file('judgments.jsonl')}:{number}", "is not a call to the judge of the track.")
    for number, grade in enumerate(grades, start=1):
        where = f"{folder.file('grades.jsonl')}:{number}"
        if grade.judgment_key is None:
            if run.track.judge_endpoint is not None and grade.grader in JUDGED and grade.state in _RULED:
                yield Finding(where, f"{grade.item_id} has no judgment, but its judge is a model.")
        elif grade.judgment_key not in replies:
            yield Finding(where, f"{grade.item_id} names a judgment that is missing from judgments.jsonl.gz.")
        elif not has_verdict(replies[grade.judgment_key], grade.verdict, run.redistribution):
            yield Finding(where, f"{grade.item_id}: the verdict does not match the judge's reply.")


def _readings(folder: RunFolder, responses: list[Response], calls: list[Call]) -> Iterator[Finding]:
    """Check that each answer of a model reader has a stored call."""
    stored_keys = {call.key for call in calls}
    for number, response in enumerate(responses, start=1):
        if response.reader_key is not None and response.reader_key not in stored_keys:
            where = f"{folder.file('responses.jsonl')}:{number}"
            yield Finding(where, f"{response.question_id} names a reader call that is missing from calls.jsonl.gz.")


def wrong_keys(folder: RunFolder, name: str, calls: Iterable[Call]) -> Iterator[Finding]:
    """Yield a finding for each model call whose key does not match its request.

    Args:
        folder: the run.
        name: the file.
        calls: its rows, with their full text.
    """
    for number, call in enumerate(calls, start=1):
        if call.key != _key_of(call):
            yield Finding(f"{folder.file(name)}:{number}", "has a key that does not match its request.")


def is_checked_without_data(run: Run) -> bool:
    """Return whether :func:`verify_run` checks all of a run; otherwise the keys of its model calls need the data."""
    return run.redistribution is Redistribution.FULL or not run.files.keys() & {"judgments.jsonl", "calls.jsonl"}


def _key_of(call: Call) -> str | None:
    """Return the key of a call's request; ``None`` if a system's call has no ordinal."""
    if call.caller is not Caller.SYSTEM:
        return call.request.key
    return None if call.ordinal is None else call.request.key_in(call.scenario_id or "", call.ordinal)


def _traffic(folder: RunFolder, run: Run, traffic: list[Traffic]) -> Iterator[Finding]:
    """Check that the system declares the hosts of its exchanges."""
    declared = {use.host for use in run.system.hosts}
    for number, row in enumerate(traffic, start=1):
        if row.host not in declared and row.error is None:
            where = f"{folder.file('traffic.jsonl')}:{number}"
            yield Finding(where, f"names the host {row.host}, which the system does not declare.")


def _prompts(folder: RunFolder, run: Run, prompts: list[Prompt]) -> Iterator[Finding]:
    """Check that the stored prompts are the prompts of the track."""
    path = folder.file("prompts.jsonl")
    for number, prompt in enumerate(prompts, start=1):
        if prompt.digest != run.track.prompts.get(prompt.name):
            yield Finding(f"{path}:{number}", f"the prompt {prompt.name!r} is not the prompt of the track.")
    for name in sorted(run.track.prompts.keys() - {prompt.name for prompt in prompts}):
        yield Finding(str(path), f"the prompt {name!r} of the track is missing.")


def _sums(run: Run, rows: Rows, head: str) -> Iterator[Finding]:
    """Check the fields of the head that are computed from the rows."""
    try:
        scores = score(run.track.categories, rows.grades)
    except (ValueError, OverflowError) as error:
        yield Finding(f"{head}: track.categories", f"do not match the grades: {error}.")
        return
    usage = summary.usage(run.run_id, rows.responses, rows.calls, rows.judgments)
    recomputed: dict[str, tuple[object, object]] = {
        "scores": (run.scores, scores),
        "coverage": (
            run.coverage,
            coverage(run.coverage.limit, run.track.planned, rows.responses, rows.grades),
        ),
        "tokens": (run.tokens, summary.tokens(rows.responses)),
        "timing.phases": (run.timing.phases, summary.phases(rows.responses, rows.judgments)),
        "usage": (run.usage, usage),
    }
    if run.usage or usage:
        recomputed["cost"] = (run.cost, cost(run.system, usage))
    for name, (stated, computed) in recomputed.items():
        if stated != computed:
            where, was, now = _first_difference(name, _plain(stated), _plain(computed))
            yield Finding(f"{head}: {where}", f"is {was}, but the rows give {now}.")


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


def verify_results(path: Path) -> list[Finding]:
    """Check the stored runs, audits, matrices and ledger in a folder and its subfolders.

    A run that the ledger names must exist with unchanged bytes.

    Raises:
        BadInput: the folder has no run, audit or ledger.
    """
    folders = runs_under(path)
    audits = stored_audits(path)
    matrices = stored_matrices(path)
    ledger = Ledger(path)
    if not folders and not audits and not ledger.path.exists():
        raise BadInput("no finished run found.", where=path, remedy="Name a run, or a folder that contains runs.")
    findings = [finding for folder in folders for finding in verify_run(folder) if not _is_deleted(folder)]
    findings += [finding for audit in audits for finding in verify_audit(audit)]
    findings += [finding for matrix in matrices for finding in verify_matrix(matrix, path)]
    try:
        entries = ledger.entries()
    except MemevalError as error:
        return [*findings, Finding(error.where or str(ledger.path), error.problem, error.remedy or REMEDY)]
    digests = {folder.path.name: folder.digest for folder in folders if _has_head(folder)}
    for number, entry in enumerate(entries, start=1):
        where = f"{ledger.path}:{number}"
        if entry.run_id is None:
            continue
        if entry.run_id not in digests:
            findings.append(Finding(where, f"names run {entry.run_id}, which is missing.", "Restore the run."))
        elif digests[entry.run_id] != entry.run_digest:
            findings.append(Finding(where, f"names run {entry.run_id}, whose run.json has changed."))
    return findings


def _is_deleted(folder: RunFolder) -> bool:
    """Return whether another process deleted the run after it was listed."""
    return not (folder.path / "run.json").exists()


def _has_head(folder: RunFolder) -> bool:
    try:
        return bool(folder.head_bytes)
    except MemevalError:
        return False
