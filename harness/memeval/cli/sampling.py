"""``memeval ledger re-ask`` and ``rerun``: a maintainer tests drawn items of a run."""

from __future__ import annotations

import getpass
from typing import TYPE_CHECKING, Annotated

import typer

from memeval.cli.fields import Without, command
from memeval.cli.ledger import By, RunArgument
from memeval.cli.options import SignWith
from memeval.cli.shared import DEFAULT_RESULTS, Data, Results
from memeval.options import ModelOptions
from memeval.records.choices import LedgerEvent

if TYPE_CHECKING:
    from memeval.archive.ledger import Ledger
    from memeval.archive.runs import RunFolder
    from memeval.records.ledger import Sample

JUDGMENTS = 50
ITEMS = 25


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module to the ledger's."""
    command(app, "re-ask")(reask)
    command(app, "rerun")(rerun)


def reask(
    run: RunArgument,
    options: Annotated[ModelOptions, Without("model_concurrency")],
    items: Annotated[int, typer.Option("--n", help="Number of drawn judgments, at least 20.")] = JUDGMENTS,
    by: By = None,
    sign_with: SignWith = None,
    results: Results = DEFAULT_RESULTS,
    data: Data = None,
) -> None:
    """Ask a judge again about a sample.

    Records in the ledger how often it agrees. The digest of the run draws the sample. Recorded replies are not used.
    If the result shows that fewer than 95 % of all verdicts are equal, the run loses its rank until it is reviewed, and
    the exit code is 1.

    Example: memeval ledger re-ask RUN --n 50 --max-cost-usd 1
    """
    from memeval import api
    from memeval.archive.ledger import Ledger
    from memeval.evaluation.verify import reask
    from memeval.execution.progress import Bar

    folder = api.load_run(run, results)
    with Bar() as progress:
        sample = reask.reask(folder, items, options, data, progress)
    how = f" by {folder.run.track.judge} at {folder.run.track.judge_endpoint}"
    _record(LedgerEvent.RE_ASKED, folder, sample, "verdicts", how, by, Ledger(results, sign_with))


def rerun(
    run: RunArgument,
    options: Annotated[ModelOptions, Without("judge_concurrency")],
    items: Annotated[int, typer.Option("--n", help="Number of drawn items, at least 20.")] = ITEMS,
    system: Annotated[
        str | None,
        typer.Option("--system", help="Folder or file of the system. Default: found by its slug or digest."),
    ] = None,
    by: By = None,
    sign_with: SignWith = None,
    results: Results = DEFAULT_RESULTS,
    data: Data = None,
) -> None:
    """Run a deterministic system again on a sample.

    Records in the ledger how many answers are equal. The digest of the run draws the items. All questions of their
    scenarios are asked. If the result shows that fewer than 95 % of all answers are equal, the run loses its rank until
    it is reviewed, and the exit code is 1.

    Example: memeval ledger rerun RUN --n 25
    """
    from memeval import api
    from memeval.archive.ledger import Ledger
    from memeval.evaluation.verify import rerun as rerun_module
    from memeval.execution.progress import Bar

    folder = api.load_run(run, results)
    source = rerun_module.source_of_run(folder.run, results, system)
    with Bar() as progress:
        found = rerun_module.rerun(folder, source, items, options, data=data, progress=progress)
    place = " in a sandbox" if found.sandboxed else " without a sandbox"
    _record(LedgerEvent.RERUN, folder, found.sample, "answers", place, by, Ledger(results, sign_with))


def _record(
    event: LedgerEvent, folder: RunFolder, sample: Sample, what: str, how: str, by: str | None, ledger: Ledger
) -> None:
    """Append the sample to the ledger and print it; fail if too little is equal."""
    from memeval.archive.trust import holds
    from memeval.evaluation.run.provenance import memeval_version
    from memeval.evaluation.verify.reask import said, too_different

    reason = f"{said(sample, what)}{how}, memeval {memeval_version()}"
    ledger.append(event, folder, by=by or getpass.getuser(), reason=reason, sample=sample)
    print(f"{event} {folder.run.run_id}: {said(sample, what)}")
    if not holds(sample):
        raise too_different(sample, what)
