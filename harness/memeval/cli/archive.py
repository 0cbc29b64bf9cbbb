"""``memeval archive``: the run archive in a folder or an S3-compatible bucket."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memeval.cli import trends
from memeval.cli.shared import DEFAULT_RESULTS, AsJson, Results, counted, megabytes, print_json, print_note, visible
from memeval.records.errors import BadInput, CheckFailed, MemevalError

if TYPE_CHECKING:
    from memeval.archive.remote.pruning import PrunePlan
    from memeval.archive.runs import RunFolder
    from memeval.objects import ObjectStore

app = typer.Typer(help="Archive runs in a folder or a bucket.", no_args_is_help=True)

Runs = Annotated[list[str] | None, typer.Argument(help="Runs, by folder or id; or folders above runs.")]
To = Annotated[
    str | None,
    typer.Option(
        "--to", metavar="PLACE", help="Folder or s3://BUCKET/PREFIX. Default: MEMEVAL_ARCHIVE, else memeval.toml."
    ),
]
From = Annotated[
    str | None,
    typer.Option(
        "--from", metavar="PLACE", help="Folder or s3://BUCKET/PREFIX. Default: MEMEVAL_ARCHIVE, else memeval.toml."
    ),
]
THIN_MB = 5.0
"""Rows from this size on belong in the archive only."""


@app.command("push")
def push(
    runs: Runs = None,
    every: Annotated[bool, typer.Option("--all", help="Push all runs and releases.")] = False,
    queued: Annotated[bool, typer.Option("--queued", help="Push the runs whose push failed.")] = False,
    thin: Annotated[
        bool, typer.Option("--thin", help="Then delete large row files here. Commands fetch them when needed.")
    ] = False,
    over: Annotated[
        float, typer.Option("--over", metavar="MB", help="With --thin: size of the rows of a run, from which.")
    ] = THIN_MB,
    to: To = None,
    results: Results = DEFAULT_RESULTS,
    as_json: AsJson = False,
) -> None:
    """Push runs into the archive.

    Checks every file against its digest before sending. An archived run sends nothing. Runs whose push failed earlier
    are sent too. With --thin, reads the rows back from the archive before it deletes them here; 'run.json' stays.

    Example: memeval archive push --all --to s3://my-bucket/runs
    """
    from memeval.archive.remote.automatic import open_archive, push_and_index, queued_runs
    from memeval.archive.remote.pushing import PushState, push_releases

    if not (runs or every or queued):
        raise BadInput("no runs are named.", remedy="Name runs, or give --all or --queued.")
    store = open_archive(results, to)
    folders = _folders(runs, every, results)
    known = {folder.path.absolute() for folder in folders}
    folders += [folder for folder in queued_runs(results) if folder.path.absolute() not in known]
    warn_of_overwriting(store)
    problems, outcomes = 0, []
    for outcome in push_and_index(folders, store, results):
        outcomes.append(outcome)
        problems += _print_problem(outcome.error)
        if not as_json and outcome.state is PushState.PUSHED:
            print(f"pushed {outcome.folder.name}  {megabytes(outcome.sent_bytes)}", flush=True)
    for version, error in push_releases(results, store) if every else ():
        problems += _print_problem(error)
        if not as_json and error is None:
            print(f"pushed release {version}")
    if thin:
        problems += _thin([each.folder for each in outcomes if each.error is None], store, over, as_json)
    if as_json:
        print_json([_data(each.folder.name, each.state, each.sent_bytes, each.error) for each in outcomes])
    else:
        states, sent = Counter(each.state for each in outcomes), sum(each.sent_bytes for each in outcomes)
        count = counted(states[PushState.PUSHED], "run")
        print(f"{count} pushed ({megabytes(sent)}), {states[PushState.PRESENT]} already there.")
    _raise_for(problems)


def _folders(runs: Sequence[str] | None, every: bool, results: Path) -> list[RunFolder]:
    from memeval import api
    from memeval.archive.runs import sealed_runs

    named = [folder for each in runs or () for folder in api.load_runs(each, results)]
    unique = {folder.path.absolute(): folder for folder in (*named, *(sealed_runs(results) if every else ()))}
    return list(unique.values())


def _thin(folders: Sequence[RunFolder], store: ObjectStore, over: float, as_json: bool) -> int:
    from memeval.archive.remote.pruning import local_bytes, thin

    problems = 0
    for folder in folders:
        size = local_bytes(folder)
        if not size or size < over * 1e6:
            continue
        try:
            thin(folder, store)
        except BadInput as error:
            problems += _print_problem(error)
            continue
        if not as_json:
            print(f"rows only in the archive: {folder.name}  {megabytes(size)}")
    return problems


@app.command("pull")
def pull(
    runs: Annotated[list[str] | None, typer.Argument(help="Run ids.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Pull all runs.")] = False,
    only_benchmark: Annotated[
        str | None, typer.Option("--benchmark", metavar="NAME", help="Only runs of this benchmark.")
    ] = None,
    only_system: Annotated[
        str | None, typer.Option("--system", metavar="SLUG", help="Only runs of this system.")
    ] = None,
    since: Annotated[str | None, typer.Option("--since", metavar="DAY", help="First day, such as 2026-11-01.")] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="DAY", help="Last day.")] = None,
    of_release: Annotated[
        str | None, typer.Option("--release", metavar="VERSION", help="Only runs of this release.")
    ] = None,
    place: From = None,
    results: Results = DEFAULT_RESULTS,
    as_json: AsJson = False,
) -> None:
    """Pull runs from the archive into the results folder.

    A run appears after all its digests were checked. A damaged run is named and left out. Runs that are here already
    receive nothing.

    Example: memeval archive pull --system bm25 --since 2026-11-01
    """
    from memeval.archive.remote.automatic import open_archive
    from memeval.archive.remote.index import listed_heads
    from memeval.archive.remote.pulling import PullState, Selection, pull_runs, released_runs

    ids = tuple(runs or ())
    chosen = Selection(ids, only_benchmark and only_benchmark.partition("@")[0], only_system, since, until)
    chosen.check()
    if not every and of_release is None and chosen == Selection():
        raise BadInput("no runs are named.", remedy="Name runs, a filter such as --system, or --all.")
    store = open_archive(results, place, to_read=True)
    heads = listed_heads(store)
    problems = 0
    if of_release is not None:
        released = released_runs(of_release, results, store)
        there = {(head.run_id, head.digest) for head in heads}
        for run_id in sorted(run_id for run_id, digest in released.items() if (run_id, digest) not in there):
            problems += _print_problem(BadInput(f"run {run_id} of release {of_release} is missing.", where=store.url))
        heads = [head for head in heads if released.get(head.run_id) == head.digest]
    wanted = [head for head in heads if chosen.takes(head)]
    for named in ids:
        if not any(named.rstrip("/").endswith(head.run_id) for head in wanted):
            problems += _print_problem(BadInput(f"the archive has no such run {named}.", where=store.url))
    outcomes = []
    for outcome in pull_runs(wanted, store, results):
        outcomes.append(outcome)
        problems += _print_problem(outcome.error)
        if not as_json and outcome.state is PullState.PULLED:
            print(f"pulled {outcome.run}  {megabytes(outcome.received_bytes)}", flush=True)
    if as_json:
        print_json([_data(each.run, each.state, each.received_bytes, each.error) for each in outcomes])
    else:
        states, received = Counter(each.state for each in outcomes), sum(each.received_bytes for each in outcomes)
        count = counted(states[PullState.PULLED], "run")
        print(f"{count} pulled ({megabytes(received)}), {states[PullState.PRESENT]} already here.")
    _raise_for(problems)


@app.command("list")
def list_runs(place: From = None, results: Results = DEFAULT_RESULTS, as_json: AsJson = False) -> None:
    """List the archived runs.

    Example: memeval archive list
    """
    from memeval.archive.remote.automatic import open_archive
    from memeval.archive.remote.index import ArchivedRun, archived_runs, listed_heads
    from memeval.archive.remote.layout import ROWS, row_key

    store = open_archive(results, place, to_read=True)
    sizes = {each.key: each.size for each in store.list(ROWS)}
    problems, table = 0, []
    for found in archived_runs(store, listed_heads(store)):
        if not isinstance(found, ArchivedRun):
            problems += _print_problem(found)
            continue
        keys = [row_key(each.digest) for each in found.run.files.values()]
        table.append(
            {
                "run_id": found.key.run_id,
                "digest": found.key.digest,
                "benchmark": found.run.track.benchmark,
                "system": found.key.slug,
                "started": found.run.timing.started,
                "bytes": sum(sizes.get(key, 0) for key in keys),
                "complete": all(key in sizes for key in keys),
                "in_results": (results / found.key.run / "run.json").is_file(),
            }
        )
    if as_json:
        print_json(table)
    else:
        print(f"{'run':26}{'benchmark':22}{'system':24}{'date':12}{'MB':>7}  rows      here")
        for row in table:
            rows = "complete" if row["complete"] else "MISSING"
            print(
                visible(
                    f"{row['run_id']:26}{row['benchmark']:22}{row['system']:24}{str(row['started'])[:10]:12}"
                    f"{int(str(row['bytes'])) / 1e6:7.1f}  {rows:10}{'yes' if row['in_results'] else 'no'}"
                )
            )
    _raise_for(problems)


app.command("trajectory")(trends.trajectory)


@app.command("verify")
def verify(place: From = None, results: Results = DEFAULT_RESULTS, as_json: AsJson = False) -> None:
    """Read the whole archive, and check every digest.

    Names damaged, missing and unexpected objects. Rows without a run are no problem: a push may be going on.

    Example: memeval archive verify
    """
    from memeval.archive.remote.automatic import open_archive
    from memeval.archive.remote.verifying import verify_archive

    store = open_archive(results, place, to_read=True)
    report = verify_archive(store)
    orphans, size = sum(each.size for each in report.orphans), sum(report.rows.values())
    if as_json:
        print_json(
            {
                "archive": store.url,
                "runs": len(report.runs),
                "row_files": len(report.rows),
                "bytes": size,
                "problems": [_problem(each) for each in report.problems],
                "orphans": [each.key for each in report.orphans],
                "foreign": report.foreign,
            }
        )
    else:
        for problem in report.problems:
            _print_problem(problem)
        for key in report.foreign:
            print(visible(f"{store.url}/{key}: not part of the archive."))
        if report.orphans:
            count = counted(len(report.orphans), "row file")
            print(f"{count} without a run ({megabytes(orphans)}). memeval archive prune deletes old ones.")
        files = counted(len(report.rows), "row file")
        print(f"{store.url}: {counted(len(report.runs), 'run')}, {files}, {megabytes(size)}.")
    _raise_for(len(report.problems))


@app.command("prune")
def prune(
    older_than: Annotated[
        int, typer.Option("--older-than", metavar="DAYS", min=1, help="Age from which something is deleted.")
    ] = 30,
    yes: Annotated[bool, typer.Option("--yes", help="Delete. Without it, only the plan is printed.")] = False,
    place: From = None,
    results: Results = DEFAULT_RESULTS,
    as_json: AsJson = False,
) -> None:
    """Delete what the archive does not need.

    These are superseded and invalidated runs, and rows without a run. A run stays if a release here or in the archive
    names it, or if its rows are only in the archive while 'run.json' is here.

    Example: memeval archive prune --older-than 90
    """
    from memeval.archive.remote.automatic import open_archive
    from memeval.archive.remote.index import refresh_index
    from memeval.archive.remote.pruning import plan_pruning
    from memeval.archive.remote.pruning import prune as delete

    store = open_archive(results, place, to_read=True)
    plan = plan_pruning(store, results, older_than)
    if yes:
        delete(store, plan)
        refresh_index(store)
    if as_json:
        print_json(
            {
                "deleted": yes,
                "runs": [{"run": key.run, "reason": reason} for key, reason in plan.runs],
                "rows": [row.key for row in plan.rows],
                "bytes": plan.size,
                "kept": [{"run": key.run, "reason": reason} for key, reason in plan.kept],
            }
        )
        return
    _print_plan(plan, yes)


def _print_plan(plan: PrunePlan, done: bool) -> None:
    for key, reason in plan.kept:
        print(f"keep   {key.run}  ({reason})")
    for key, reason in plan.runs:
        print(f"delete {key.run}  ({reason})")
    what = f"{counted(len(plan.runs), 'run')} and {counted(len(plan.rows), 'row file')} ({megabytes(plan.size)})"
    print(f"deleted {what}." if done else f"would delete {what}. Add --yes to delete.")


def warn_of_overwriting(store: ObjectStore) -> None:
    """Warn if a store does not refuse a second object under a key."""
    if not store.refuses_overwriting:
        print_note(f"memeval: {store.url}: this service overwrites objects. Push each run from one machine only.")


def fetch_for(folders: Sequence[RunFolder]) -> None:
    """Fetch the rows that runs lack from the archive, and print a warning for what is still missing."""
    from memeval.archive.remote.automatic import fetch_missing

    for warning in fetch_missing(folders):
        print_note(f"memeval: {warning}")


def archive_state() -> str | None:
    from memeval.archive.remote.automatic import archive_place
    from memeval.objects import open_store

    try:
        place = archive_place(DEFAULT_RESULTS)
        if place is None:
            return None
        store = open_store(place)
        return f"{store.url}, {'refuses overwriting' if store.refuses_overwriting else 'OVERWRITES objects'}"
    except MemevalError as error:
        return str(error)


def _data(run: str, state: str, size: int, error: BadInput | None) -> dict[str, Any]:
    return {"run": run, "state": str(state), "bytes": size, "problem": None if error is None else _problem(error)}


def _problem(error: MemevalError) -> dict[str, str | None]:
    return {"where": error.where, "problem": error.problem, "remedy": error.remedy}


def _print_problem(error: BadInput | None) -> int:
    """Print a problem on standard error, and return the number of problems: 0 or 1."""
    if error is None:
        return 0
    print_note(f"memeval: {error}")
    return 1


def _raise_for(problems: int) -> None:
    sys.stdout.flush()
    if problems:
        raise CheckFailed(f"{counted(problems, 'problem')}, listed above.")
