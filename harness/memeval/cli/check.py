"""``memeval check``: the regression gate."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memeval.cli.shared import (
    DEFAULT_RESULTS,
    Annotations,
    AsJson,
    Results,
    Summary,
    check_annotations,
    print_json,
    visible,
)
from memeval.records.errors import CheckFailed

if TYPE_CHECKING:
    from memeval.cli.hooks import Hook
    from memeval.records.check import RegressionCheck
    from memeval.records.settings import CheckSettings


def check(
    run: Annotated[str, typer.Argument(help="The run, by folder or id.")],
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline",
            metavar="RUN|last-N|last-version",
            help="A run, the last N accepted runs of the same system on the same track, or the last released version "
            "that memeval history measured. Default: last-5.",
        ),
    ] = None,
    results: Results = DEFAULT_RESULTS,
    as_json: AsJson = False,
    annotations: Annotations = None,
    summary: Summary = None,
    require_baseline: Annotated[
        bool, typer.Option("--require-baseline", help="Exit with 1 if there is no baseline.")
    ] = False,
    on_regression: Annotated[
        str | None,
        typer.Option(
            "--on-regression",
            metavar="COMMAND|URL|none",
            help="Command or webhook that receives the result of a regression as JSON. Default: memeval.toml.",
        ),
    ] = None,
    power: Annotated[
        bool, typer.Option("--power", help="Compare nothing. Print the smallest drop that the check usually finds.")
    ] = False,
) -> None:
    """Check a run for regressions against earlier runs.

    It is compared with its baseline, the last release and the best run. A drift over the last runs is searched for.

    A metric is a regression if it is worse than its limit, and a one-sided paired test over the same items shows a
    loss. The p-values are corrected for the number of tests. A metric beyond its limit without such a test result is
    within noise, and does not fail. Limits are in the table [check] of memeval.toml, next to the results folder.

    Exit code 1: a regression or a missing metric. Exit code 2: the baseline is on another track.

    Examples: memeval check RUN --baseline last-5

    memeval check RUN --on-regression "python3 notify.py"
    """
    from memeval import api
    from memeval.cli.check_formats import annotations_of, summary_of, text_of, verdict_of
    from memeval.cli.hooks import hook_of
    from memeval.records.check import GateStatus
    from memeval.settings import SETTINGS, read_settings

    check_annotations(annotations)
    board = results.parent
    settings = read_settings(board).check
    hook = (
        hook_of(settings.on_regression, f"{board / SETTINGS}: check.on_regression")
        if on_regression is None
        else hook_of(on_regression, "--on-regression")
    )
    if power:
        _print_power(run, results, settings, as_json)
        return
    checked = api.check(run, baseline, results=results)
    if as_json:
        print_json(checked.data())
    else:
        print(*(visible(line) for line in text_of(checked)), sep="\n")
    if annotations:
        print(*annotations_of(checked), sep="\n", file=sys.stderr if as_json else sys.stdout)
    sys.stdout.flush()
    if summary is not None:
        append_summary(summary, summary_of(checked))
    if checked.status is GateStatus.REGRESSION:
        if hook is not None:
            tell(hook, checked)
        raise CheckFailed(verdict_of(checked))
    if checked.status is GateStatus.NO_BASELINE and (require_baseline or settings.require_baseline):
        raise CheckFailed("no baseline.", remedy="Accept an earlier run, or name a run with --baseline.")


def _print_power(run: str, results: Path, settings: CheckSettings, as_json: bool) -> None:
    from memeval import api
    from memeval.leaderboard.check_power import power_of

    found = power_of(api.load_run(run, results), settings)
    if as_json:
        print_json(found.data())
        return
    print(f"Smallest drop in points that memeval check finds in 80 % of cases, by simulation (run {found.run_id})")
    width = max(len(each.metric) for each in found.drops)
    noisy = f"{100 * found.noise:g} % noise"
    print(f"  {'':{width}}  items  clusters  score  no noise  {noisy}")
    for each in found.drops:
        quiet, loud = (f"{100 * drop:.1f}" if drop is not None else "none" for drop in (each.quiet, each.noisy))
        print(
            visible(
                f"  {each.metric:{width}}  {each.items:5}  {each.clusters:8}  {100 * each.value:5.1f}  {quiet:>8}  "
                f"{loud:>{len(noisy)}}"
            )
        )
    print(f"No noise: an unchanged system repeats its answers. {noisy}: the scores of that share of items change.")
    print(
        f"{found.tests} tests in a check; {found.baseline_runs} baseline runs. none: even a loss of all is not found."
    )


def append_summary(path: Path, text: str) -> None:
    """Append Markdown to a file. The check has its result already, so a failure is a warning."""
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        print(f"memeval: {path}: the summary was not written ({error.strerror}).", file=sys.stderr)


def tell(hook: Hook, checked: RegressionCheck) -> None:
    """Send a regression to a hook; a failure is one warning."""
    from memeval.cli.hooks import NotTold

    body = json.dumps(checked.data(), sort_keys=True, ensure_ascii=False).encode()
    try:
        hook(body)
    except NotTold as error:
        print(f"memeval: warning: {visible(str(error))}", file=sys.stderr)
