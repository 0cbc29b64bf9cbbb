"""Verifying a stored run: schema, digests, coverage, and scores computed again from the rows."""

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
from memeval.evaluation.withholding import says
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
"""What becomes of an answer that was brought before a judge."""


def verify_run(folder: RunFolder) -> list[Finding]:
    """Check a stored run against itself; no benchmark data and no network are needed.

    Args:
        folder: the run.

    Returns:
        What does not hold; empty where all does.
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
    """The ids follow from the parts, and the folder is where the run says it belongs."""
    if run.track_id != run.track.id:
        yield Finding(f"{head}: track_id", f"is {run.track_id}, and the track's parts make {run.track.id}.")
    inputs = Inputs.of(run.track, run.system, run.coverage.limit)
    if run.fingerprint != inputs.fingerprint:
        yield Finding(f"{head}: fingerprint", "does not follow from the track, system and parameters in the file.")
    if not run.run_id.endswith("-" + run.fingerprint[:8]):
        yield Finding(f"{head}: run_id", "does not end in the first digits of the fingerprint.")
    held = run.isolation is Isolation.SANDBOXED
    if held is (run.sandbox is None) or held is (run.network is Network.OPEN):
        told = f"isolation {run.isolation}, network {run.network}, sandbox {run.sandbox or 'none'}"
        yield Finding(f"{head}: isolation", f"contradicts the other fields: {told}.")
    elsewhere = (run.imported is not None, run.system.kind is SystemKind.IMPORTED, run.isolation is Isolation.ELSEWHERE)
    if len(set(elsewhere)) > 1:
        told = f"kind {run.system.kind}, isolation {run.isolation}, {'an' if run.imported else 'no'} origin elsewhere"
        yield Finding(f"{head}: imported", f"contradicts the other fields: {told}.")
    stands = folder.path.resolve().parts[-3:]
    belongs = (run.track.benchmark.partition("@")[0], run.system.slug, run.run_id)
    if stands != belongs:
        yield Finding(
            str(folder.path),
            f"the run belongs in {'/'.join(belongs)}, not in {'/'.join(stands)}.",
            "Move the folder back.",
        )


def _files(folder: RunFolder, run: Run, head: str) -> Iterator[Finding]:
    """Every file is there, whole, and the one that was sealed."""
    for name in sorted(set(run.files) - set(ROW_FILES)):
        yield Finding(f"{head}: files", f"names an unknown file {name!r}.")
    for name in ("responses.jsonl", "contexts.jsonl", "grades.jsonl", "log.jsonl"):
        if name not in run.files:
            yield Finding(f"{head}: files", f"names no {name}.")
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
    """Rows fit together: one grade an item, in order, with the outcome of its responses."""
    grades_file, responses_file = folder.file("grades.jsonl"), folder.file("responses.jsonl")
    by_item: dict[str, list[Response]] = {}
    seen: set[tuple[str, int]] = set()
    known = set(contexts)
    for number, response in enumerate(responses, start=1):
        where = f"{responses_file}:{number}"
        if (response.question_id, response.attempt) in seen:
            yield Finding(where, f"{response.question_id} has attempt {response.attempt} twice.")
        seen.add((response.question_id, response.attempt))
        if response.context_digest is not None and response.context_digest not in known:
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
            yield Finding(where, f"{grade.item_id} has a grade and no response.")
            continue
        outcome = first_not_ok(list(last_attempts(rows).values()))
        if not _fits(grade, outcome):
            yield Finding(
                where, f"{grade.item_id} is '{grade.state}', but the outcome of its responses is '{outcome}'."
            )
    for item_id in by_item.keys() - graded:
        yield Finding(str(grades_file), f"{item_id} has responses and no grade.")


def first_not_ok(responses: list[Response]) -> Outcome:
    """Return an item's outcome: the first among its questions that is not ``ok``."""
    return next((row.outcome for row in responses if row.outcome is not Outcome.OK), Outcome.OK)


def _fits(grade: Grade, outcome: Outcome) -> bool:
    unsettled = grade.verdict is None and grade.credit is None
    if outcome.is_error:
        return grade.state.value == outcome.value and unsettled
    if unsettled != grade.state.is_error:
        return False
    return grade.state in (GradeState.GRADED, GradeState.EMPTY, GradeState.UNPARSED, GradeState.JUDGE_ERROR)


def _calls(folder: RunFolder, run: Run, judgments: list[Call], calls: list[Call]) -> Iterator[Finding]:
    """Every model call stands under the key of its request, and says of its reply what the reply says.

    Where the benchmark's words are kept out, the keys follow from the data, and ``reproduce`` checks them. A call's
    dollars follow from its tokens by the run's price list; they are computed again where that is the one at hand.
    """
    priced = run.prices == price_list()
    for name, rows in (("judgments.jsonl", judgments), ("calls.jsonl", calls)):
        if run.redistribution is Redistribution.FULL:
            yield from misplaced(folder, name, rows)
        for number, call in enumerate(rows, start=1):
            if (field := _untrue(call, priced and call.run_id == run.run_id)) is not None:
                yield Finding(f"{folder.file(name)}:{number}", f"has another '{field}' than its reply makes.")


def _untrue(call: Call, priced: bool) -> str | None:
    """Return the field in which a call and its reply differ; ``None`` where there is none, or no usable reply."""
    if call.error is not None or call.reply is None:
        return None
    try:
        told = read(call.reply, call.request.api)
    except UnusableReply:
        return "reply"
    fields = ("model", "fingerprint", "prompt_tokens", "completion_tokens")
    wrong = next((field for field in fields if getattr(call, field) != getattr(told, field)), None)
    if wrong is None and priced and call.cost_usd != told.price(call.request.model):
        return "cost_usd"
    return wrong


def _judgments(folder: RunFolder, run: Run, grades: list[Grade], judgments: list[Call]) -> Iterator[Finding]:
    """What a model judge ruled on names a judgment that is there, and is what the reply says."""
    said = {call.key: text_of(call) for call in sorted(judgments, key=lambda call: call.error is None)}
    model = run.track.judge.partition(":")[2].rpartition("@")[0]
    for number, call in enumerate(judgments, start=1):
        asked = (call.caller, call.phase, call.request.endpoint, call.request.model)
        if asked != (Caller.JUDGE, Phase.JUDGE, run.track.judge_endpoint, model):
            yield Finding(f"{folder.file('judgments.jsonl')}:{number}", "is not a call to the judge of the track.")
    for number, grade in enumerate(grades, start=1):
        where = f"{folder.file('grades.jsonl')}:{number}"
        if grade.judgment_key is None:
            if run.track.judge_endpoint is not None and grade.grader in JUDGED and grade.state in _RULED:
                yield Finding(where, f"{grade.item_id} has no judgment, although its judge is a model.")
        elif grade.judgment_key not in said:
            yield Finding(where, f"{grade.item_id} names a judgment that is missing from judgments.jsonl.gz.")
        elif not says(said[grade.judgment_key], grade.verdict, run.redistribution):
            yield Finding(where, f"{grade.item_id}: the verdict is not what the judge replied.")


def _readings(folder: RunFolder, responses: list[Response], calls: list[Call]) -> Iterator[Finding]:
    """What a model reader answered names a call that is there."""
    read = {call.key for call in calls}
    for number, response in enumerate(responses, start=1):
        if response.reader_key is not None and response.reader_key not in read:
            where = f"{folder.file('responses.jsonl')}:{number}"
            yield Finding(where, f"{response.question_id} names a reader call that is missing from calls.jsonl.gz.")


def misplaced(folder: RunFolder, name: str, calls: Iterable[Call]) -> Iterator[Finding]:
    """Check that every model call of a file stands under the key of its request.

    Args:
        folder: the run.
        name: the file.
        calls: its rows, with all words.
    """
    for number, call in enumerate(calls, start=1):
        if call.key != _key_of(call):
            yield Finding(f"{folder.file(name)}:{number}", "has another key than its request gives.")


def is_checked_without_data(run: Run) -> bool:
    """Return whether :func:`verify_run` checks all of a run; else the keys of its model calls need the data."""
    return run.redistribution is Redistribution.FULL or not run.files.keys() & {"judgments.jsonl", "calls.jsonl"}


def _key_of(call: Call) -> str | None:
    """Return the key that follows from what was asked; ``None`` where a system's call does not say in which place."""
    if call.caller is not Caller.SYSTEM:
        return call.request.key
    return None if call.ordinal is None else call.request.key_in(call.scenario_id or "", call.ordinal)


def _traffic(folder: RunFolder, run: Run, traffic: list[Traffic]) -> Iterator[Finding]:
    """Exchanges are with hosts that the system declares, and that the run says were reached."""
    known = {use.host for use in run.system.hosts}
    for number, row in enumerate(traffic, start=1):
        if row.host not in known and row.error is None:
            where = f"{folder.file('traffic.jsonl')}:{number}"
            yield Finding(where, f"names the host {row.host}, which the system does not declare.")


def _prompts(folder: RunFolder, run: Run, prompts: list[Prompt]) -> Iterator[Finding]:
    """The prompts that are stored are those of the track."""
    path = folder.file("prompts.jsonl")
    for number, prompt in enumerate(prompts, start=1):
        if prompt.digest != run.track.prompts.get(prompt.name):
            yield Finding(f"{path}:{number}", f"the prompt {prompt.name!r} is not the one that the track names.")
    for name in sorted(run.track.prompts.keys() - {prompt.name for prompt in prompts}):
        yield Finding(str(path), f"the prompt {name!r}, which the track names, is not in it.")


def _sums(run: Run, rows: Rows, head: str) -> Iterator[Finding]:
    """Whatever in the head follows from the rows, follows from them."""
    try:
        scores = score(run.track.categories, rows.grades)
    except (ValueError, OverflowError) as error:
        yield Finding(f"{head}: track.categories", f"are not those of the grades: {error}.")
        return
    usage = summary.usage(run.run_id, rows.responses, rows.calls, rows.judgments)
    again: dict[str, tuple[object, object]] = {
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
        again["cost"] = (run.cost, cost(run.system, usage))
    for name, (stated, computed) in again.items():
        if stated != computed:
            where, was, now = _first_difference(name, _plain(stated), _plain(computed))
            yield Finding(f"{head}: {where}", f"is {was}, but the rows give {now}.")


def _plain(value: object) -> object:
    from pydantic import TypeAdapter

    return TypeAdapter(object).dump_python(value, mode="json")


def _first_difference(name: str, one: object, other: object) -> tuple[str, object, object]:
    """Return where two trees of plain data first differ, and what stands there in each."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys()):
            if one.get(key) != other.get(key):
                return _first_difference(f"{name}.{key}", one.get(key), other.get(key))
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, (left, right) in enumerate(zip(one, other, strict=True)):
            if left != right:
                return _first_difference(f"{name}[{place}]", left, right)
    return name, one, other


def verify_results(path: Path) -> list[Finding]:
    """Check every stored run at or under a path, and the audits, the matrices and the ledger where they lie there.

    A run that the ledger speaks of must still be here, with the bytes it had.

    Raises:
        BadInput: there is neither a run nor a ledger.
    """
    folders = runs_under(path)
    audits = stored_audits(path)
    matrices = stored_matrices(path)
    ledger = Ledger(path)
    if not folders and not audits and not ledger.path.exists():
        raise BadInput("there is no finished run here.", where=path, remedy="Name a run, or a folder above runs.")
    findings = [finding for folder in folders for finding in verify_run(folder) if not _is_deleted(folder)]
    findings += [finding for audit in audits for finding in verify_audit(audit)]
    findings += [finding for matrix in matrices for finding in verify_matrix(matrix, path)]
    try:
        entries = ledger.entries()
    except MemevalError as error:
        return [*findings, Finding(error.where or str(ledger.path), error.problem, error.remedy or REMEDY)]
    here = {folder.path.name: folder.digest for folder in folders if _has_head(folder)}
    for number, entry in enumerate(entries, start=1):
        where = f"{ledger.path}:{number}"
        if entry.run_id not in here:
            findings.append(Finding(where, f"names run {entry.run_id}, which is missing.", "Restore the run."))
        elif here[entry.run_id] != entry.run_digest:
            findings.append(Finding(where, f"names run {entry.run_id}, whose run.json has changed since."))
    return findings


def _is_deleted(folder: RunFolder) -> bool:
    """Return whether another process deleted a run since it was listed."""
    return not (folder.path / "run.json").exists()


def _has_head(folder: RunFolder) -> bool:
    try:
        return bool(folder.head_bytes)
    except MemevalError:
        return False
