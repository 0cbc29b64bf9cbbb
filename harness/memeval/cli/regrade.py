"""Grades all stored runs again with the present rules, reader and graders, once; no system runs again.

``python -m memeval.cli.regrade OLD NEW --data FOLDER`` reads the results folder ``OLD`` and writes a new one. It keeps
the answers, contexts, clocks, systems and runners of a run, and writes its track, grades, scores and ids anew.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from memeval.analysis.failures import FAILURES, failures_of
from memeval.archive.rows import pack, read_rows
from memeval.archive.runs import RunFolder
from memeval.benchmarks import find
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.grades import grade_items
from memeval.evaluation.judges import choose_judge
from memeval.evaluation.readers import reader_named
from memeval.evaluation.rows import Rows
from memeval.evaluation.seal import coverage
from memeval.evaluation.stored_texts import StoredTexts
from memeval.evaluation.summary import phases, tokens
from memeval.evaluation.withholding.decoding import decoded_run
from memeval.evaluation.withholding.encoding import withheld
from memeval.execution.contexts import Contexts
from memeval.execution.model_reader import PREFIX
from memeval.execution.readers import NATIVE
from memeval.grading.scoring import score
from memeval.reading import Reader
from memeval.records.base import comparable_digest
from memeval.records.journal import LogLine
from memeval.records.response import Outcome, Response
from memeval.records.run import Inputs
from memeval.records.scenario import Export, Question, Recall, Reflect
from memeval.records.track import Redistribution, differing_parts
from memeval.removed import why_removed
from memeval.storage import write_whole

Migrate = Callable[[Path, str, str], tuple[str, dict[str, Any]]]
"""Takes results, slug and old submission digest; returns the new digest and changed fields of the system."""

READERS = {"extractive@1": "extractive"}
"""The reader that replaces a removed one."""


@dataclass(frozen=True)
class Regraded:
    """One run, graded again."""

    old: Path
    new: Path
    parts: tuple[str, ...]
    """Parts of the track that changed."""
    was: float | None
    now: float | None
    """Composite before and after."""
    changed: int
    """Items with another verdict."""
    reread: int
    """Answers that the reader gave anew."""
    by_rules: float | None
    """Composite of the old answers under the new rules and graders."""


def regrade(old: Path, results: Path, data: Path | None, migrate: Migrate, source_results: Path) -> Regraded:
    """Grade one stored run again.

    Args:
        old: its folder.
        results: the new results folder.
        data: the folder of benchmark data; used where memeval has no copy of its own.
        migrate: see :data:`Migrate`.
        source_results: the old results folder, which ``migrate`` reads.

    Raises:
        BadInput: its data is missing, or has another digest.
    """
    with tempfile.TemporaryDirectory() as place:
        folder = _converted(old, Path(place), migrate, source_results)
        run = folder.run
        benchmark = find(run.track.benchmark)
        session = BenchmarkSession.open(
            benchmark,
            None if benchmark.available(None) else data,
            run.track.parameters or None,
            protocol=run.track.protocol,
            tier=run.track.tier,
        )
        if session.dataset.digest != run.track.data_digest:
            raise ValueError(f"{old}: the data changed: {session.dataset.digest}")
        full = decoded_run(folder, session)
        responses, contexts = [_rounded(row) for row in full.responses()], list(full.contexts())
        reader = _reader(run.track.reader)
        before = {row.question_id: row.answer for row in responses}
        first = responses
        if reader is not None and reader.name != run.track.reader:
            responses = list(_read_again(session, responses, contexts, reader))
        judge = choose_judge("rules")
        track = judge.on(session.track(reader=reader, limits=run.track.limits))
        answered = {row.item_id for row in responses}
        items = [key for key in session.keys if key.item_id in answered]
        grades = grade_items(session, items, responses, judge.recorded({}), contexts, track.reader)
        rows = Rows(
            responses, contexts, grades, list(full.judgments()), list(full.calls()), list(full.prompts()),
            list(full.traffic()),
        )  # fmt: skip
        log = list(read_rows(folder.path / "log.jsonl.gz", LogLine))
        inputs = Inputs.of(track, run.system, run.coverage.limit)
        run_id = f"{run.run_id.partition('-')[0]}-{inputs.fingerprint[:8]}"
        new = results / track.benchmark.partition("@")[0] / run.system.slug / run_id
        if (new / "run.json").exists():
            raise ValueError(f"{old}: there is a run {new} already")
        new.mkdir(parents=True, exist_ok=True)
        stored = rows
        if run.redistribution is Redistribution.IDS:
            stored, _ = withheld(rows, [], session, track)
        failures = failures_of(session, session.keys, rows.responses, rows.contexts, grades, track)
        files = {}
        for name, records in {**stored.files(), FAILURES: failures, "log.jsonl": log}.items():
            packed, files[name] = pack(records)
            write_whole(new / f"{name}.gz", packed)
        scores = by_rules = score(track.categories, grades)
        if responses is not first:
            former = grade_items(session, items, first, judge.recorded({}), contexts, track.reader)
            by_rules = score(track.categories, former)
        if tokens(rows.responses) != run.tokens:
            raise ValueError(f"{old}: the tokens changed")
        if coverage(run.coverage.limit, track.planned, rows.responses, grades) != run.coverage:
            raise ValueError(f"{old}: the coverage changed")
        spent = phases(stored.responses, stored.judgments)
        for phase, timed in run.timing.phases.items():
            now = spent[phase]
            same = (timed.calls, timed.p50, timed.p95) == (now.calls, now.p50, now.p95)
            if not (same and abs(timed.total - now.total) < 0.01) and responses is first:
                raise ValueError(f"{old}: the times changed: {timed} {now}")
        timing = run.timing.model_copy(update={"phases": spent})
        head = run.model_copy(
            update={
                "run_id": run_id, "fingerprint": inputs.fingerprint, "track": track, "track_id": track.id,
                "timing": timing, "answers_from": None, "scores": scores, "files": files,
                "responses_digest": comparable_digest(stored.responses),
            }
        )  # fmt: skip
        text = json.dumps(head.data(), sort_keys=True, ensure_ascii=False, indent=1, allow_nan=False)
        write_whole(new / "run.json", f"{text}\n".encode())
        was = {grade.item_id: (grade.verdict, grade.credit) for grade in folder.grades()}
        changed = sum(was.get(grade.item_id) != (grade.verdict, grade.credit) for grade in grades)
        again = sum(before[row.question_id] != row.answer for row in responses)
        parts = tuple(differing_parts(run.track, track))
        return Regraded(
            old, new, parts, run.scores.composite.value, scores.composite.value, changed, again,
            by_rules.composite.value,
        )  # fmt: skip


def _converted(old: Path, place: Path, migrate: Migrate, results: Path) -> RunFolder:
    """Return a copy of a run in today's form, under its old ids."""
    head = json.loads((old / "run.json").read_bytes())
    system = head["system"]
    digest, fields = migrate(results, system["slug"], system["submission_digest"])
    system.pop("label", None)
    system.update(fields)
    system["submission_digest"] = digest
    head["responses_digest"] = head.get("responses_digest") or f"sha256:{0:064}"
    for packed in old.glob("*.jsonl.gz"):
        shutil.copy2(packed, place)
    (place / "run.json").write_text(json.dumps(head))
    return RunFolder(place)


def _rounded(row: Response) -> Response:
    """Return a response whose items have scores of six decimals, with clocks to the microsecond."""
    timings = {
        name: tuple(round(each, 6) for each in value)
        if isinstance(value, tuple)
        else round(value, 6)
        if isinstance(value, float)
        else value
        for name, value in row.timings
    }
    row = row.model_copy(update={"timings": row.timings.model_copy(update=timings)})
    if not row.items or all(item.score is None for item in row.items):
        return row
    items = tuple(
        item if item.score is None else item.model_copy(update={"score": round(item.score, 6)}) for item in row.items
    )
    return row.model_copy(update={"items": items})


def _reader(name: str) -> Reader | None:
    if name == NATIVE or name.startswith(PREFIX):
        return None
    return reader_named(READERS.get(name, name))


def _read_again(
    session: BenchmarkSession, responses: Sequence[Response], contexts: Sequence[Any], reader: Reader
) -> Iterator[Response]:
    """Yield the responses with the answers of a reader to their stored contexts."""
    texts = StoredTexts(session, Contexts(contexts))
    scenario, questions = None, dict[str, Question]()
    item_id, delivered = "", dict[int, list[str]]()
    for row in responses:
        if scenario is None or scenario.scenario_id != row.scenario_id:
            scenario = session.scenarios[row.scenario_id]
            questions = {one.question_id: one for one in scenario.questions()}
        question = questions[row.question_id]
        if row.item_id != item_id:
            item_id, delivered = row.item_id, {}
        context = texts.context(row)
        so_far = delivered.setdefault(row.attempt, [])
        if context is not None:
            so_far.append(context)
        if row.outcome.is_error or isinstance(question, Reflect | Recall | Export):
            yield row
            continue
        given = so_far if scenario.agent_keeps_context else [context or ""]
        began = time.monotonic()
        answer = reader.read(question.question, question.timestamp, given).answer
        timings = row.timings.model_copy(update={"read_seconds": round(time.monotonic() - began, 6)})
        outcome = Outcome.OK if answer.strip() else Outcome.EMPTY
        yield row.model_copy(update={"answer": answer, "outcome": outcome, "timings": timings})


def kept(results: Path) -> list[Path]:
    """Return the folders of the runs that stay: of each system and track the newest, of editions that still exist."""
    newest: dict[tuple[object, ...], Path] = {}
    for path in sorted(results.rglob("run.json"), key=lambda path: path.parent.name):
        head = json.loads(path.read_bytes())
        track = head["track"]
        if why_removed(track["benchmark"]) or head["answers_from"] is not None:
            continue
        key = (track["benchmark"], track["protocol"], track["tier"], track["reader"], head["system"]["slug"])
        newest[key] = path.parent
    return sorted(newest.values())


def main(
    old: Annotated[Path, typer.Argument()],
    new: Annotated[Path, typer.Argument()],
    migration: Annotated[Path, typer.Option()],
    data: Annotated[Path | None, typer.Option()] = None,
    only: Annotated[str, typer.Option()] = "",
    share: Annotated[str, typer.Option()] = "0/1",
) -> None:
    """Grade all stored runs again."""
    scope: dict[str, Any] = {"__name__": "migration"}
    exec(compile(migration.read_text(), str(migration), "exec"), scope)  # noqa: S102 - given by the maintainer
    part, of = map(int, share.split("/"))
    failed = Counter[str]()
    for number, path in enumerate(kept(old)):
        if number % of != part or only not in str(path):
            continue
        try:
            done = regrade(path, new, data, scope["new_source"], old)
        except Exception as error:
            failed[type(error).__name__] += 1
            print(f"FAILED {path}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            continue
        row = {
            "old": str(done.old), "new": str(done.new), "parts": done.parts, "was": done.was, "now": done.now,
            "changed": done.changed, "reread": done.reread, "by_rules": done.by_rules,
        }  # fmt: skip
        print(json.dumps(row), flush=True)
    if failed:
        raise SystemExit(1)


if __name__ == "__main__":
    typer.run(main)
