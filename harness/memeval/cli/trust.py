"""``memeval verify`` and ``memeval reproduce``: check stored runs, and grade them again."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memeval.cli.archive import fetch_for
from memeval.cli.ledger import warn_of_incomplete_line
from memeval.cli.shared import (
    DEFAULT_RESULTS,
    AsJson,
    Data,
    Errata,
    Jobs,
    Results,
    SignersFile,
    counted,
    percent,
    print_json,
    visible,
)
from memeval.records.errors import BadInput, CheckFailed

if TYPE_CHECKING:
    from memeval.evaluation.verify.findings import Check


def verify(
    runs: Annotated[
        list[str] | None,
        typer.Argument(help="Runs, by folder, id or web address; or folders above runs. Default: all."),
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
    from memeval.evaluation.verify.many_runs import processes

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
    count = sum(map(len, folders))
    fetch_for([folder for some in folders for folder in some])
    checks = [
        check
        for path, some in zip(paths, folders, strict=True)
        for check in api.verify_checks(path, results=results, signers=signers, jobs=processes(jobs, len(some)))
    ]
    findings = [finding for check in checks for finding in check.findings]
    for path in dict.fromkeys(paths):
        warn_of_incomplete_line(Path(path))
    if as_json:
        shown = [vars(finding) for finding in findings]
        print_json({"runs": count, "findings": shown, "checks": check_data(checks)})
    else:
        for line in (*map(str, findings), *check_lines(checks)):
            print(visible(line))
    if findings:
        raise CheckFailed(f"{counted(len(findings), 'problem')} in {counted(count, 'run')}.")


def reproduce(
    runs: Annotated[list[str], typer.Argument(help="Runs, by folder, id or web address; or folders above runs.")],
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


NOUNS = {
    "audits": "audit",
    "conformance": "report",
    "ledger": "ledger",
    "matrices": "matrix",
    "sources": "folder of sources",
    "labels": "labelled sample",
    "regraded": "file of published answers",
    "release": "set of releases",
    "signature": "ledger",
}
"""What a check is of, by its name; all others are of a run."""

PLURALS = {"matrix": "matrices", "file of published answers": "files of published answers"}

WIDTH = 13
"""Width of the column of names, in characters."""


def check_lines(checks: Iterable[Check]) -> Iterator[str]:
    """Yield a line for each kind of check: how many are ok, failed, or not checked and why.

    A check that was not made has its own line, and is never counted as ok.
    """
    for name, ok, failed, reasons in _counts(checks):
        noun = NOUNS.get(name, "run")
        parts = [f"FAILED: {_numbered(failed, noun)}"] if failed else []
        if ok:
            parts.append(f"ok: {_numbered(ok, noun)}")
        parts += [f"not checked in {_numbered(count, noun)}: {reason}" for reason, count in reasons.items()]
        for number, part in enumerate(parts):
            yield f"{name if number == 0 else '':{WIDTH}}{part}"


def check_data(checks: Iterable[Check]) -> list[dict[str, Any]]:
    """Return the counts of each kind of check as plain JSON data."""
    return [
        {"name": name, "ok": ok, "failed": failed, "not_checked": dict(reasons)}
        for name, ok, failed, reasons in _counts(checks)
    ]


def _counts(checks: Iterable[Check]) -> Iterator[tuple[str, int, int, Counter[str]]]:
    """Yield the name of each kind of check, how many are ok and failed, and the reasons of those not made."""
    from memeval.evaluation.verify.findings import CheckStatus

    named: dict[str, list[Check]] = {}
    for check in checks:
        named.setdefault(check.name, []).append(check)
    for name, same in named.items():
        statuses = Counter(check.status for check in same)
        reasons = Counter(check.not_checked for check in same if check.not_checked is not None)
        yield name, statuses[CheckStatus.OK], statuses[CheckStatus.FAILED], reasons


def _numbered(number: int, noun: str) -> str:
    return f"{number:,} {PLURALS[noun]}" if noun in PLURALS and number != 1 else counted(number, noun)
