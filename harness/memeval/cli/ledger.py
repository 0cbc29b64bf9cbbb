"""``memeval ledger``: what happened to published runs, one line each, for good."""

from __future__ import annotations

import getpass
from typing import Annotated

import typer

from memeval.cli.shared import DEFAULT_RESULTS, AsJson, Data, Results, print_json
from memeval.records.errors import BadInput, CheckFailed
from memeval.records.ledger import Deed, Runner

app = typer.Typer(
    help="Record decisions about runs: accept, invalidate, review.",
    no_args_is_help=True,
)

RunArgument = Annotated[str, typer.Argument(help="The run, by folder or id.")]
Reason = Annotated[str, typer.Option("--reason", help="Why; stands in the ledger for good.")]
By = Annotated[str | None, typer.Option("--by", help="Who says so. Default: the name you are logged in as.")]


@app.command("show")
def show(results: Results = DEFAULT_RESULTS, as_json: AsJson = False) -> None:
    """Print the ledger, oldest entry first.

    Example: memeval ledger show
    """
    from memeval.archive.ledger import Ledger

    entries = Ledger(results).entries()
    if as_json:
        print_json([entry.data() for entry in entries])
        return
    from memeval.systems.output import visible

    for entry in entries:
        other = f" {entry.other_run_id}" if entry.other_run_id else ""
        print(visible(f"{entry.at}  {entry.deed}  {entry.run_id}{other}  by {entry.by}: {entry.reason}"))


@app.command("accept")
def accept(
    run: RunArgument,
    reason: Reason,
    runner: Annotated[Runner, typer.Option("--runner", help="Who made the answers.")] = Runner.SUBMITTER,
    by: By = None,
    results: Results = DEFAULT_RESULTS,
) -> None:
    """Accept a run.

    Fails if the run does not verify.

    Example: memeval ledger accept RUN --reason "pull request 12"
    """
    from memeval import api
    from memeval.evaluation.verification import verify_run
    from memeval.leaderboard.board import is_plumbing

    folder = api.load_run(run, results)
    if is_plumbing(folder.run.track):
        raise BadInput(
            "the run's judge is labelled plumbing: it exercised the machinery and measured nothing.",
            where=folder.path,
            remedy="Judge its answers by another judge: memeval rejudge.",
        )
    findings = verify_run(folder)
    if findings:
        raise CheckFailed(str(findings[0]))
    _append(Deed.ACCEPTED, run, None, reason, by, results, runner)


@app.command("reproduce")
def reproduce(
    run: RunArgument,
    by: By = None,
    results: Results = DEFAULT_RESULTS,
    data: Data = None,
) -> None:
    """Grade a run again, and record that it is equal.

    Example: memeval ledger reproduce RUN
    """
    from memeval import api
    from memeval.evaluation.provenance import memeval_version

    folder = api.load_run(run, results)
    outcome = api.reproduce(folder, data=data)
    if not outcome.equal:
        raise CheckFailed(f"grading again gave something else: {outcome.findings[0]}")
    reason = f"{outcome.grades} grades equal, by memeval {memeval_version()}"
    _append(Deed.REPRODUCED, run, None, reason, by, results)


@app.command("repeat")
def repeat(
    run: RunArgument, other: RunArgument, reason: Reason, by: By = None, results: Results = DEFAULT_RESULTS
) -> None:
    """Record an independent run of the same inputs.

    Example: memeval ledger repeat RUN OTHER --reason "run again on another machine"
    """
    from memeval import api
    from memeval.records.run import Isolation

    one, two = api.load_run(run, results), api.load_run(other, results)
    if one.run.run_id == two.run.run_id:
        raise BadInput("a run does not repeat itself.", remedy="Name two runs.")
    if one.run.fingerprint != two.run.fingerprint:
        raise BadInput(
            f"{one.run.run_id} and {two.run.run_id} have different inputs.",
            remedy="A repetition has the same track, system, environment and parameters.",
        )
    for each in (one, two):
        if each.run.replayed or each.run.answers_from:
            raise BadInput(
                f"{each.run.run_id} has model calls or answers from another run, and repeats nothing by itself.",
                remedy="Run the system again: memeval run --fresh.",
            )
        if each.run.isolation is not Isolation.SANDBOXED:
            raise BadInput(
                f"{each.run.run_id} was made without a sandbox: {each.run.isolation}.",
                remedy="Run the system again in one: memeval run --sandbox bwrap --fresh.",
            )
    if {row.to_json() for row in one.responses()} & {row.to_json() for row in two.responses()}:
        raise BadInput(
            f"{one.run.run_id} and {two.run.run_id} have responses in common: one starts from the other's.",
            remedy="Run the system again: memeval run --fresh.",
        )
    _append(Deed.REPEATED, run, other, reason, by, results)


@app.command("supersede")
def supersede(
    run: RunArgument, other: RunArgument, reason: Reason, by: By = None, results: Results = DEFAULT_RESULTS
) -> None:
    """Replace a run by a later run.

    Example: memeval ledger supersede OLD NEW --reason "new version"
    """
    from memeval import api

    old, new = api.load_run(run, results).run, api.load_run(other, results).run
    if old.run_id == new.run_id:
        raise BadInput("a run does not supersede itself.", remedy="Name the old run and the new one.")
    if (old.system.slug, old.track.benchmark) != (new.system.slug, new.track.benchmark):
        raise BadInput(
            f"{old.run_id} and {new.run_id} are not of one system on one benchmark.",
            remedy="A run is superseded by a later run of the same system; to take one off the board, invalidate it.",
        )
    _append(Deed.SUPERSEDED, run, other, reason, by, results)


@app.command("invalidate")
def invalidate(run: RunArgument, reason: Reason, by: By = None, results: Results = DEFAULT_RESULTS) -> None:
    """Invalidate a run.

    It stays on the board, marked invalidated, with the reason.

    Example: memeval ledger invalidate RUN --reason "the adapter read the answers"
    """
    _append(Deed.INVALIDATED, run, None, reason, by, results)


@app.command("review")
def review(run: RunArgument, reason: Reason, by: By = None, results: Results = DEFAULT_RESULTS) -> None:
    """Mark a suspicious result as reviewed.

    A run that scores no more than the no-memory control blocks publication until it is reviewed.

    Example: memeval ledger review RUN --reason "it really does keep nothing: the log shows every write refused"
    """
    _append(Deed.REVIEWED, run, None, reason, by, results)


@app.command("reply")
def reply(
    run: RunArgument,
    reason: Annotated[str, typer.Option("--reason", help="What the vendor says; stands beside the row for good.")],
    by: By = None,
    results: Results = DEFAULT_RESULTS,
) -> None:
    """Add a vendor's reply to their row.

    Example: memeval ledger reply RUN --by "Acme" --reason "Measured with our 1.2, which lost dates; 1.3 keeps them."
    """
    _append(Deed.REPLIED, run, None, reason, by, results)


def _append(
    deed: Deed, run: str, other: str | None, reason: str, by: str | None, results: Results, runner: Runner | None = None
) -> None:
    from memeval import api
    from memeval.archive.ledger import Ledger

    entry = Ledger(results).append(
        deed,
        api.load_run(run, results),
        by=by or getpass.getuser(),
        reason=reason,
        runner=runner,
        other=api.load_run(other, results) if other else None,
    )
    print(f"{entry.deed} {entry.run_id}")
