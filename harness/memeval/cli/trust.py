"""``memeval verify`` and ``memeval reproduce``: check stored runs, and grade them again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from memeval.cli.archive import fetch_for
from memeval.cli.fields import command
from memeval.cli.ledger import warn_of_incomplete_line
from memeval.cli.options import SignersFile
from memeval.cli.shared import DEFAULT_RESULTS, AsJson, Data, Errata, Jobs, Results, counted, percent, print_json
from memeval.records.errors import BadInput, CheckFailed


def add_to(app: typer.Typer) -> None:
    command(app, "verify")(verify)
    command(app, "reproduce")(reproduce)


def verify(
    runs: Annotated[
        list[str] | None, typer.Argument(help="Runs, by folder or id; or folders above runs. Default: all results.")
    ] = None,
    release: Annotated[str | None, typer.Option("--release", help="Check only this release.")] = None,
    signers: SignersFile = None,
    results: Results = DEFAULT_RESULTS,
    jobs: Jobs = None,
    as_json: AsJson = False,
) -> None:
    """Check stored runs against their rows and their benchmark.

    Computes again what follows from the benchmark, its data and the stored rows: track, items, context tokens, scores,
    failures and clocks. Prints one line a check: ok, failed, or not checked with the reason.

    Example: memeval verify results/beliefs/bm25
    """
    from memeval import api
    from memeval.cli.checks import data_of, lines_of
    from memeval.evaluation.verify.many_runs import processes
    from memeval.systems.channel import visible

    if release is not None:
        from memeval.archive.signatures import signers_of
        from memeval.cli.publishing import report
        from memeval.leaderboard.release_checks import check_release

        if runs:
            raise BadInput("--release cannot be combined with runs.", remedy="Give one of the two.")
        report(check_release(results, release, signers_of(signers)), as_json)
        return
    paths = runs or [str(results)]
    folders = [api.load_runs(path, results) for path in paths]
    fetch_for([folder for some in folders for folder in some])
    checks = [
        check
        for path, some in zip(paths, folders, strict=True)
        for check in api.verify_checks(path, results=results, signers=signers, jobs=processes(jobs, len(some)))
    ]
    findings = [finding for check in checks for finding in check.findings]
    count = sum(len(api.load_runs(path, results)) for path in paths)
    for path in dict.fromkeys(paths):
        warn_of_incomplete_line(Path(path))
    if as_json:
        shown = [vars(finding) for finding in findings]
        print_json({"runs": count, "findings": shown, "checks": data_of(checks)})
    else:
        for line in (*map(str, findings), *lines_of(checks)):
            print(visible(line))
    if findings:
        raise CheckFailed(f"{counted(len(findings), 'problem')} in {counted(count, 'run')}.")


def reproduce(
    runs: Annotated[list[str], typer.Argument(help="Runs, by folder or id; or folders above runs.")],
    results: Results = DEFAULT_RESULTS,
    data: Data = None,
    errata: Errata = None,
    jobs: Jobs = None,
    as_json: AsJson = False,
) -> None:
    """Grade stored answers again, offline.

    Runs offline readers again on the stored contexts. Compares answers, grades and scores with the stored ones.

    Example: memeval reproduce results/beliefs/bm25
    """
    from memeval import api
    from memeval.evaluation.verify.many_runs import processes, reproduced_runs
    from memeval.systems.channel import visible

    folders = [folder for named in runs for folder in api.load_runs(named, results)]
    fetch_for(folders)
    outcomes = []
    for outcome in reproduced_runs(folders, data, errata, processes(jobs, len(folders))):
        outcomes.append(outcome)
        if not as_json:
            for finding in outcome.findings:
                print(visible(str(finding)))
            word = "equal" if outcome.equal else "DIFFERENT"
            print(f"{outcome.run_id}: {outcome.grades} grades, composite {percent(outcome.composite)}: {word}")
    if as_json:
        print_json(
            [
                {
                    "run_id": outcome.run_id,
                    "equal": outcome.equal,
                    "grades": outcome.grades,
                    "composite": outcome.composite,
                    "findings": [vars(finding) for finding in outcome.findings],
                }
                for outcome in outcomes
            ]
        )
    different = [outcome.run_id for outcome in outcomes if not outcome.equal]
    sys.stdout.flush()
    if different:
        raise CheckFailed(f"the new grades differ from the stored ones in {', '.join(different)}.")
