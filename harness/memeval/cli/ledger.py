"""``memeval ledger``: decisions about runs, one line each. Lines are never changed or removed."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memeval.cli.fields import Without, command
from memeval.cli.shared import DEFAULT_RESULTS, AsJson, Data, Results, SignersFile, print_json, visible
from memeval.flags import flag
from memeval.options import RESULTS, ModelOptions
from memeval.records.choices import LedgerEvent, Runner
from memeval.records.errors import BadInput, CheckFailed

if TYPE_CHECKING:
    from memeval.archive.ledger import Ledger
    from memeval.archive.runs import RunFolder
    from memeval.records.ledger import Sample


app = typer.Typer(help="Record decisions about runs: accept, invalidate, review.", no_args_is_help=True)

RunArgument = Annotated[str, typer.Argument(help="The run, by folder or id.")]
Reason = Annotated[str, typer.Option("--reason", help="Why. Stays in the ledger.")]


@dataclass(frozen=True)
class Entry:
    """How an entry is written into a ledger."""

    by: str | None = None
    """Author of the entry. Default: your login name."""
    sign_with: Path | None = field(default=None, metadata=flag(metavar="KEYFILE", environment="MEMEVAL_SIGNING_KEY"))
    """SSH key that signs the entry. Default: no signature."""
    results: Path = field(default=RESULTS, metadata=flag(environment="MEMEVAL_RESULTS"))
    """Folder of stored runs."""

    @property
    def ledger(self) -> Ledger:
        from memeval.archive.ledger import Ledger

        return Ledger(self.results, self.sign_with)

    @property
    def author(self) -> str:
        from memeval.archive.ledger import author_of

        return author_of(self.by)

    def append(
        self,
        event: LedgerEvent,
        run: str,
        reason: str,
        other: str | None = None,
        *,
        runner: Runner | None = None,
        even_if_known: bool = False,
    ) -> None:
        """Append an entry and print it. If the ledger has an equal entry, print that one and append nothing."""
        from memeval import api

        ledger, folder = self.ledger, api.load_run(run, self.results)
        successor = api.load_run(other, self.results) if other else None
        known = ledger.earlier(event, folder, by=self.author, reason=reason, runner=runner, other=successor)
        if known is not None and not even_if_known:
            print(visible(f"already {event} {known.run_id} on {known.at[:10]} by {known.by}. Nothing was added."))
            return
        note = ledger.incomplete()
        entry = ledger.append(event, folder, by=self.author, reason=reason, runner=runner, other=successor)
        if note is not None:
            print(f"memeval: {note} It was removed.", file=sys.stderr)
        print(f"{entry.event} {entry.run_id}")

    def record(self, event: LedgerEvent, folder: RunFolder, sample: Sample, what: str, how: str) -> None:
        """Append the sample to the ledger and print it; fail if too little is equal."""
        from memeval.archive.trust import holds
        from memeval.evaluation.run.provenance import memeval_version
        from memeval.evaluation.verify.reask import said, too_different

        reason = f"{said(sample, what)}{how}, memeval {memeval_version()}"
        self.ledger.append(event, folder, by=self.author, reason=reason, sample=sample)
        print(f"{event} {folder.run.run_id}: {said(sample, what)}")
        if not holds(sample):
            raise too_different(sample, what)


@app.command("show")
def show(results: Results = DEFAULT_RESULTS, signers: SignersFile = None, as_json: AsJson = False) -> None:
    """Print the ledger, oldest entry first.

    The end of each line says who signed it, or why that is not known.

    Example: memeval ledger show
    """
    from memeval.archive.ledger import Ledger
    from memeval.archive.signatures import signers_of

    ledger = Ledger(results)
    entries, signatures = ledger.entries(), ledger.signatures(signers_of(signers))
    warn_of_incomplete_line(results)
    if as_json:
        states = [{"signature_state": each.state, "signature_detail": each.detail} for each in signatures]
        print_json([entry.data() | state for entry, state in zip(entries, states, strict=True)])
        return

    for entry, signature in zip(entries, signatures, strict=True):
        other = f" {entry.other_run_id}" if entry.other_run_id else ""
        named = entry.run_id or entry.release_version or "the ledger"
        print(visible(f"{entry.at}  {entry.event}  {named}{other}  by {entry.by}: {entry.reason}  [{signature}]"))


@command(app, "accept")
def accept(
    run: RunArgument,
    reason: Reason,
    entry: Entry,
    runner: Annotated[
        Runner, typer.Option("--runner", help="Who ran the system and made the answers.")
    ] = Runner.SUBMITTER,
    regressed: Annotated[
        bool, typer.Option("--regressed", help="Accept a run that memeval check calls a regression.")
    ] = False,
) -> None:
    """Accept a run.

    Fails if the run does not verify, or is a regression against the accepted runs before it (memeval check). With
    --regressed, the entry names the regression before your reason, and the run counts as a baseline. By accepting a
    run, a maintainer confirms its origin. Other runs stay on the board, marked "not accepted". Accepting a run again
    changes nothing, except with another --runner.

    Example: memeval ledger accept RUN --reason "pull request 12"
    """
    from memeval import api
    from memeval.evaluation.verify.verification import verify_run
    from memeval.leaderboard.board import RankStatus, build_board, is_plumbing

    folder = api.load_run(run, entry.results)
    if is_plumbing(folder.run.track):
        raise BadInput(
            "the judge has the label 'plumbing': it tests the software, and its verdicts mean nothing.",
            where=folder.path,
            remedy="Grade the answers with another judge: memeval regrade.",
        )
    findings = verify_run(folder)
    if findings:
        raise CheckFailed(str(findings[0]))
    reason = reason_with_regression(folder, entry.results, reason, accepted=regressed)
    # A later acceptance can end the wait for a vendor: the notice must be 14 days older than the acceptance.
    (row,) = build_board([folder], entry.ledger).runs
    waits = row.standing is RankStatus.AWAITING_VENDOR
    entry.append(LedgerEvent.ACCEPTED, run, reason, runner=runner, even_if_known=waits)


def reason_with_regression(folder: RunFolder, results: Path, reason: str, *, accepted: bool) -> str:
    """Return the reason of an acceptance; for a regression, with its metrics in front.

    Raises ``CheckFailed`` if the run is a regression, and regressions are not accepted.
    """
    from memeval import api
    from memeval.archive.ledger import Ledger
    from memeval.leaderboard.baselines import REGRESSED

    if any(e.event is LedgerEvent.ACCEPTED and e.run_digest == folder.digest for e in Ledger(results).entries()):
        return reason
    try:
        checked = api.check(folder, results=results)
    except BadInput as error:
        print(f"memeval: warning: not checked for a regression: {visible(str(error))}", file=sys.stderr)
        return reason
    metrics = ", ".join(checked.failing)
    if not metrics:
        return reason
    if not accepted:
        raise CheckFailed(
            f"the run is a regression ({metrics}). An accepted run becomes the baseline of later runs.",
            where=folder.path,
            remedy="See memeval check. To accept the loss, add --regressed and give the reason.",
        )
    return f"{REGRESSED}{metrics}): {reason}"


@command(app, "reproduce")
def reproduce(run: RunArgument, entry: Entry, data: Data = None) -> None:
    """Grade a run again, and record that it is equal.

    Example: memeval ledger reproduce RUN
    """
    from memeval import api
    from memeval.evaluation.run.provenance import memeval_version

    folder = api.load_run(run, entry.results)
    outcome = api.reproduce(folder, data=data)
    if not outcome.equal:
        raise CheckFailed(f"the new grades differ from the stored ones: {outcome.findings[0]}")
    reason = f"{outcome.grades} grades equal, by memeval {memeval_version()}"
    entry.append(LedgerEvent.REPRODUCED, run, reason)


@command(app, "repeat")
def repeat(run: RunArgument, other: RunArgument, reason: Reason, entry: Entry) -> None:
    """Record an independent run of the same inputs.

    Example: memeval ledger repeat RUN OTHER --reason "run again on another machine"
    """
    from memeval import api
    from memeval.leaderboard.traces import Trace, is_copied
    from memeval.records.run import Isolation

    one, two = api.load_run(run, entry.results), api.load_run(other, entry.results)
    if one.run.run_id == two.run.run_id:
        raise BadInput("both arguments name the same run.", remedy="Name two different runs.")
    if one.run.fingerprint != two.run.fingerprint:
        raise BadInput(
            f"{one.run.run_id} and {two.run.run_id} have different inputs.",
            remedy="Name runs with the same track, system, environment and parameters.",
        )
    for each in (one, two):
        if each.run.replayed or each.run.answers_from:
            raise BadInput(
                f"{each.run.run_id} has model calls or answers from another run, so it is not independent.",
                remedy="Run the system again: memeval run --fresh.",
            )
        if each.run.isolation is not Isolation.SANDBOXED:
            raise BadInput(
                f"{each.run.run_id} ran without a sandbox.",
                remedy="Run the system again in a sandbox: memeval run --sandbox bwrap --fresh.",
            )
    shared = {row.to_json() for row in one.responses()} & {row.to_json() for row in two.responses()}
    if shared or is_copied(Trace(one), Trace(two)):
        raise BadInput(
            f"{one.run.run_id} and {two.run.run_id} share {'responses' if shared else 'durations'}, so one was made "
            "from the other.",
            remedy="Run the system again: memeval run --fresh.",
        )
    entry.append(LedgerEvent.REPEATED, run, reason, other)


@command(app, "supersede")
def supersede(run: RunArgument, other: RunArgument, reason: Reason, entry: Entry) -> None:
    """Replace a run by a later run.

    Example: memeval ledger supersede OLD NEW --reason "new version"
    """
    from memeval import api

    old, new = api.load_run(run, entry.results).run, api.load_run(other, entry.results).run
    if old.run_id == new.run_id:
        raise BadInput("both arguments name the same run.", remedy="Name the old run, then the new one.")
    if (old.system.slug, old.track.benchmark) != (new.system.slug, new.track.benchmark):
        raise BadInput(
            f"{old.run_id} and {new.run_id} are of different systems or benchmarks.",
            remedy="Name two runs of one system on one benchmark. To withdraw a run, use: memeval ledger invalidate.",
        )
    entry.append(LedgerEvent.SUPERSEDED, run, reason, other)


@command(app, "invalidate")
def invalidate(run: RunArgument, reason: Reason, entry: Entry) -> None:
    """Invalidate a run.

    It stays on the board, marked invalidated, with the reason.

    Example: memeval ledger invalidate RUN --reason "the adapter read the answers"
    """
    entry.append(LedgerEvent.INVALIDATED, run, reason)


@command(app, "review")
def review(run: RunArgument, reason: Reason, entry: Entry) -> None:
    """Record that you reviewed a run with a warning.

    Warnings such as "copied responses" end with a review. Before it, some of them keep the run from being ranked. A run
    that scores no more than the no-memory control blocks publication.

    Example: memeval ledger review RUN --reason "it stores nothing: the log shows that every write failed"
    """
    entry.append(LedgerEvent.REVIEWED, run, reason)


@command(app, "reply")
def reply(
    run: RunArgument,
    reason: Annotated[str, typer.Option("--reason", help="The vendor's reply. Shown with the run.")],
    entry: Entry,
) -> None:
    """Add a vendor's reply to their row.

    Example: memeval ledger reply RUN --by "Acme" --reason "Measured with our 1.2, which lost dates; 1.3 keeps them."
    """
    entry.append(LedgerEvent.REPLIED, run, reason)


@app.command("merge")
def merge(
    other: Annotated[
        Path, typer.Argument(metavar="LEDGER", help="The ledger of another clone: ledger.jsonl, or its results folder.")
    ],
    results: Results = DEFAULT_RESULTS,
) -> None:
    """Add the lines of another clone's ledger to this one.

    No line is changed, so signatures stay valid. The next entry follows the last lines of both clones. A ledger with a
    lost, doubled, moved or altered line is refused.

    Example: memeval ledger merge ../other-clone/results
    """
    from memeval.archive.ledger import Ledger

    theirs = Ledger(other)
    if not other.is_dir():
        theirs.path = other
    if not theirs.path.is_file():
        raise BadInput("there is no ledger here.", where=theirs.path, remedy="Name a file ledger.jsonl, or its folder.")
    added = Ledger(results).merge(theirs)
    print(f"{Ledger(results).path}: {added} new {'line' if added == 1 else 'lines'}.")


def warn_of_incomplete_line(results: Path) -> None:
    """Warn on standard error if the last line of a ledger is incomplete."""
    from memeval.archive.ledger import Ledger

    if (note := Ledger(results).incomplete()) is not None:
        print(f"memeval: {note} It is ignored, and the next entry replaces it.", file=sys.stderr)


JUDGMENTS = 50
ITEMS = 25


@command(app, "re-ask")
def reask(
    run: RunArgument,
    options: Annotated[ModelOptions, Without("model_concurrency")],
    entry: Entry,
    items: Annotated[int, typer.Option("--n", help="Number of drawn judgments, at least 20.")] = JUDGMENTS,
    data: Data = None,
) -> None:
    """Ask a judge again about a sample.

    Records in the ledger how often it agrees. The digest of the run draws the sample. Recorded replies are not used.
    If the result shows that fewer than 95 % of all verdicts are equal, the run loses its rank until it is reviewed, and
    the exit code is 1.

    Example: memeval ledger re-ask RUN --n 50 --max-cost-usd 1
    """
    from memeval import api
    from memeval.evaluation.verify.reask import reask as ask_again
    from memeval.execution.progress import Bar

    folder = api.load_run(run, entry.results)
    with Bar() as progress:
        sample = ask_again(folder, items, options, data, progress)
    how = f" by {folder.run.track.judge} at {folder.run.track.judge_endpoint}"
    entry.record(LedgerEvent.RE_ASKED, folder, sample, "verdicts", how)


@command(app, "rerun")
def rerun(
    run: RunArgument,
    options: Annotated[ModelOptions, Without("judge_concurrency")],
    entry: Entry,
    items: Annotated[int, typer.Option("--n", help="Number of drawn items, at least 20.")] = ITEMS,
    system: Annotated[
        str | None, typer.Option("--system", help="Folder or file of the system. Default: found by its slug or digest.")
    ] = None,
    data: Data = None,
) -> None:
    """Run a deterministic system again on a sample.

    Records in the ledger how many answers are equal. The digest of the run draws the items. All questions of their
    scenarios are asked. If the result shows that fewer than 95 % of all answers are equal, the run loses its rank until
    it is reviewed, and the exit code is 1.

    Example: memeval ledger rerun RUN --n 25
    """
    from memeval import api
    from memeval.evaluation.verify import rerun as rerun_module
    from memeval.execution.progress import Bar

    folder = api.load_run(run, entry.results)
    source = rerun_module.source_of_run(folder.run, entry.results, system)
    with Bar() as progress:
        found = rerun_module.rerun(folder, source, items, options, data=data, progress=progress)
    place = " in a sandbox" if found.sandboxed else " without a sandbox"
    entry.record(LedgerEvent.RERUN, folder, found.sample, "answers", place)
