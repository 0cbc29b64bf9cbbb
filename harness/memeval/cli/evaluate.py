"""``memeval evaluate``: run systems on benchmarks, and check each run for regressions."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memeval.cli.fields import Only
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
from memeval.options import RunOptions
from memeval.records.errors import MemevalError

if TYPE_CHECKING:
    from memeval.archive.runs import RunFolder
    from memeval.cli.evaluations import Checked, Evaluation

DEFAULT_TO = Path("build/evaluation")


def evaluate(
    options: Annotated[
        RunOptions,
        Only("tier", "limit", "reader", "judge", "max_cost_usd", "concurrency", "sandbox", "python", "fresh"),
    ],
    systems: Annotated[
        str,
        typer.Option(
            "--systems",
            metavar="LIST",
            help="Systems, separated by commas. 'all': every submission that needs no key. 'controls': the built-in "
            "baselines.",
        ),
    ] = "all",
    benchmarks: Annotated[
        str | None,
        typer.Option(
            "--benchmarks",
            metavar="LIST",
            help="Benchmarks, separated by commas. 'all': every benchmark whose data is on this machine. Default: the "
            "first one that needs no data and only seconds.",
        ),
    ] = None,
    pull_data: Annotated[
        bool, typer.Option("--pull-data", help="Download missing data first, and accept its licence.")
    ] = False,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline",
            metavar="FOLDER|RUN|last-N|last-version",
            help="A results folder: its newest run of the same system on the same track. Or a run, the last N accepted "
            "runs, or the last released version that memeval history measured. Default: last-5.",
        ),
    ] = None,
    results: Results = DEFAULT_RESULTS,
    to: Annotated[Path, typer.Option("--to", help="Results folder for the new runs.")] = DEFAULT_TO,
    annotations: Annotations = None,
    summary: Summary = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Print the systems and benchmarks as one line of JSON. Run nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run systems on benchmarks and check each run.

    Does the same as memeval run and memeval check, for every combination. A failure does not stop the others. Finished
    runs are reused, and interrupted runs resume. A benchmark that a system does not support is skipped.

    If something fails, the exit code is the worst of all: 2 bad input, 3 budget, 1 a regression or a failed run.

    Example: memeval evaluate --systems my_memory.py --benchmarks beliefs@2
    """
    from memeval.benchmarks import quick_benchmark
    from memeval.cli.check import append_summary
    from memeval.cli.evaluations import (
        Evaluation,
        annotations_of,
        choose_benchmarks,
        plan_of,
        raise_worst,
        summary_of,
        title_of,
    )
    from memeval.cli.outcomes import print_runs
    from memeval.evaluation.plan.executing import run_plan
    from memeval.execution.progress import Bar

    check_annotations(annotations)
    names = choose_benchmarks(quick_benchmark().info.id if benchmarks is None else benchmarks, options.tier)
    runs = plan_of(systems, names, options)
    _refuse_baseline(baseline, results)
    if plan:
        print(json.dumps({"benchmarks": names, "systems": list(dict.fromkeys(map(title_of, runs)))}))
        return
    if pull_data:
        _pull(names)
    done: list[Evaluation] = []
    with Bar() as progress:
        for outcome in run_plan(runs, replace(options, results=to), progress, debug="--debug" in sys.argv):
            print_runs(outcome, as_json)
            done.append(Evaluation(outcome, tuple(_check(each, baseline, results) for each in outcome.folders)))
    if as_json:
        print_json([each.data() for each in done])
    if annotations:
        print(*annotations_of(done), sep="\n", file=sys.stderr if as_json else sys.stdout)
    sys.stdout.flush()
    if summary is not None:
        append_summary(summary, summary_of(done))
    raise_worst(done)


def _refuse_baseline(baseline: str | None, results: Path) -> None:
    """Check the baseline before anything runs.

    Raises ``BadInput`` if it is neither a number of runs, nor the last version, a folder or a stored run.
    """
    from memeval.archive.runs import find_run
    from memeval.leaderboard.baselines import LAST, LAST_VERSION

    if baseline in (None, LAST_VERSION):
        return
    if not LAST.fullmatch(baseline) and not Path(baseline).is_dir():
        find_run(results, baseline)


def _check(folder: RunFolder, baseline: str | None, results: Path) -> Checked:
    """Check a run, print the result on standard error, and call the hook of the board if it is a regression."""
    from memeval import api
    from memeval.cli.check import tell
    from memeval.cli.check_formats import text_of
    from memeval.cli.hooks import hook_of
    from memeval.leaderboard.baselines import newest_run
    from memeval.records.check import GateStatus
    from memeval.settings import SETTINGS, read_settings

    try:
        if baseline is not None and Path(baseline).is_dir() and not Path(baseline, "run.json").is_file():
            found = newest_run(folder, Path(baseline))
            baseline = None if found is None else str(found.path)
        checked = api.check(folder, baseline, results=results)
    except MemevalError as error:
        return error
    print(*(visible(line) for line in text_of(checked)), sep="\n", file=sys.stderr)
    board = results.parent
    hook = hook_of(read_settings(board).check.on_regression, f"{board / SETTINGS}: check.on_regression")
    if hook is not None and checked.status is GateStatus.REGRESSION:
        tell(hook, checked)
    return checked


def _pull(names: list[str]) -> None:
    """Download the data of benchmarks that is missing and can be downloaded."""
    from memeval.benchmarks import find
    from memeval.cli import data

    for name in names:
        benchmark = find(name)
        if not benchmark.available() and benchmark.info.sources:
            with redirect_stdout(sys.stderr):  # standard output is for the folders of runs
                data.pull(benchmark.info.name, None, accept_licence=True)
