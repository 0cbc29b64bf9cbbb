"""Sealed runs for tests, written through the real records. Nothing in them was ever measured."""

import json
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from memeval.archive.rows import pack
from memeval.archive.runs import RunFolder
from memeval.evaluation.run.seal import head
from memeval.evaluation.verify.findings import Finding
from memeval.evaluation.verify.stored_results import checks_of_results
from memeval.evaluation.withhold.rows import Rows
from memeval.records.base import Stored, digest_of
from memeval.records.grade import Grade, GradeState
from memeval.records.journal import LogLine, Plan
from memeval.records.response import Context, ContextPart, Outcome, Response, Timings
from memeval.records.run import FileDigest, Harness, Inputs, Isolation, Run, SystemIdentity, SystemKind
from memeval.records.track import CategoryPlan, Limits, Redistribution, Track
from tests.support.standing import made_up

ITEMS = 50
"""Items of a category, unless a track says otherwise."""

STARTED = "2026-11-01T10:00:00.000+00:00"
"""When a run started, unless a test says otherwise."""


def problems_in(results: Path) -> list[Finding]:
    """Return the problems of all that is stored in a folder."""
    return [finding for check in checks_of_results(results) for finding in check.findings]


def make_track(items: int = ITEMS, **parts: Any) -> Track:
    """Return a track of two equally weighted categories, ``kept`` and ``changed``."""
    usual: dict[str, Any] = {
        "benchmark": "made-up@1",
        "data_digest": digest_of("made-up data"),
        "protocol": "judge",
        "tier": "full",
        "categories": tuple(
            CategoryPlan(name=name, weight=0.5, items=items, grader="judged@1") for name in ("kept", "changed")
        ),
        "reader": "native",
        "judge": "rules@3",
        "tokenizer": "o200k_base",
        "limits": Limits(),
    }
    return Track(**usual | parts)


def make_run(
    results: Path,
    slug: str,
    correct: Mapping[str, int] | None = None,
    *,
    track: Track | None = None,
    kind: SystemKind = SystemKind.SUBMISSION,
    started: str = STARTED,
    errors: int = 0,
    done: int | None = None,
    shuffled: bool = False,
    version: str = "1.0",
    isolation: Isolation = Isolation.FILES_REACHABLE,
    regraded: Callable[[Grade], Grade] = lambda grade: grade,
    shipped: bool = True,
    **told: Any,
) -> RunFolder:
    """Write a sealed run under ``results`` and return it.

    Args:
        correct: per category, how many of its first items came back right; 0 where it is not named.
        errors: how many of the last items timed out.
        done: how many items, from the first on, have rows; ``None`` for all.
        shuffled: whether the rows are in another order than the plan's.
        regraded: returns the grade of an item, given its usual one.
        shipped: whether a board may rank it, as a run of a shipped system on built-in data.
        told: further fields of the system's identity.
    """
    track = track or make_track()
    planned = [(category.name, number) for category in track.categories for number in range(category.items)]
    failed = frozenset(planned[len(planned) - errors :])
    context = Context(
        digest=digest_of([slug, kind]), scenario_id="made-up-kept-000", parts=(ContextPart(text="Ada – Zürich"),)
    )
    responses, grades = [], []
    for category, number in planned[:done]:
        timed_out = (category, number) in failed
        right = number < (correct or {}).get(category, 0)
        responses.append(_response(f"{category}-{number:03}", timed_out, started, context))
        grades.append(regraded(_grade(category, number, None if timed_out else right)))
    if shuffled:
        dice = random.Random(slug)
        dice.shuffle(responses)
        dice.shuffle(grades)
    plan = _plan(slug, track, kind, started, version, isolation, told)
    folder = results / track.benchmark.partition("@")[0] / slug / plan.run_id
    folder.mkdir(parents=True)
    rows: dict[str, list[Any]] = {
        "responses.jsonl": responses,
        "contexts.jsonl": [context],
        "grades.jsonl": grades,
        "log.jsonl": [LogLine(at=started, event="started")],
    }
    files = {name: write_rows(folder / f"{name}.gz", records) for name, records in rows.items()}
    run = head(plan, Rows(responses, [context], grades), files, concurrency=1)
    run = run.model_copy(update={"timing": run.timing.model_copy(update={"ended": started})})
    (folder / "run.json").write_text(run.to_json() + "\n", encoding="utf-8")
    if shipped:
        made_up(run)
    return RunFolder(folder)


def plan_of(run: Run, **parts: Any) -> Plan:
    """Return the plan of a run, as its journal had it; ``parts``: other fields."""
    usual: dict[str, Any] = {
        "run_id": run.run_id,
        "started": run.timing.started,
        "inputs": Inputs.of(run.track, run.system, None),
        "system": run.system,
        "redistribution": run.redistribution,
        "isolation": run.isolation,
        "harness": run.harness,
    }
    return Plan(**usual | parts)


def write_rows(path: Path, rows: list[Any]) -> FileDigest:
    """Write rows as a sealed run has them, and return what its head says of them."""
    records: list[Stored] = rows
    data, digest = pack(records)
    path.write_bytes(data)
    return digest


def edit_head(folder: RunFolder, **changes: Any) -> RunFolder:
    """Change top-level keys of a ``run.json`` by hand, and return the run as it is now."""
    path = folder.path / "run.json"
    path.write_text(json.dumps(json.loads(path.read_bytes()) | changes) + "\n", encoding="utf-8")
    return RunFolder(folder.path)


def _plan(
    slug: str, track: Track, kind: SystemKind, started: str, version: str, isolation: Isolation, told: Mapping[str, Any]
) -> Plan:
    system = SystemIdentity(
        slug=slug,
        name=slug.title(),
        version=version,
        kind=kind,
        adapter_class="Adapter",
        submission_digest=digest_of([slug, version]),
        environment_digest=digest_of("environment"),
        **told,
    )
    inputs = Inputs.of(track, system, None)
    return Plan(
        run_id=f"{started[:19].replace('-', '').replace(':', '')}-{inputs.fingerprint[:8]}",
        started=started,
        inputs=inputs,
        system=system,
        redistribution=Redistribution.FULL,
        isolation=isolation,
        harness=Harness(
            version="0.1.0",
            commit=None,
            dirty=None,
            python="3.11.2",
            platform="Linux x86_64",
            packages={"numpy": "2.3.4"},
            argv=("run", slug),
        ),
    )


def _response(item_id: str, timed_out: bool, started: str, context: Context) -> Response:
    return Response(
        item_id=item_id,
        scenario_id=f"made-up-{item_id}",
        question_id=f"{item_id}:q01",
        outcome=Outcome.TIMEOUT if timed_out else Outcome.OK,
        answer="" if timed_out else "In Zürich, as far as I know.",
        error="no reply within 60 s" if timed_out else None,
        context_digest=context.digest,
        context_tokens=7,
        timings=Timings(started=started, ask_seconds=None if timed_out else 0.25),
    )


def _grade(category: str, number: int, verdict: bool | None) -> Grade:
    return Grade(
        item_id=f"{category}-{number:03}",
        category=category,
        cluster=f"person-{number % 10}",
        slices={"difficulty": "hard" if number % 2 else "plain"},
        grader="judged@1",
        state=GradeState.TIMEOUT if verdict is None else GradeState.GRADED,
        verdict=verdict,
    )
