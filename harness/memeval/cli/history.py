"""``memeval history``: released versions of a product, each in an environment of the day of its release."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Annotated

import typer

from memeval.cli.fields import Without
from memeval.cli.shared import (
    AsJson,
    ExecutorKind,
    Executors,
    check_scheduler,
    counted,
    print_json,
    print_note,
    visible,
)
from memeval.options import RunOptions
from memeval.records.choices import Every
from memeval.records.errors import BadInput, CheckFailed

if TYPE_CHECKING:
    from memeval.evaluation.history.estimate import HistoryEstimate
    from memeval.evaluation.history.measuring import Measurement
    from memeval.records.history import MeasuredVersion


def history(
    system: Annotated[str, typer.Argument(help="A slug under submissions/ or a folder, each with optional :VARIANT.")],
    options: Annotated[RunOptions, Without("protocol", "tier", "python", "keep_going")],
    benchmark: Annotated[
        list[str],
        typer.Option(
            "--benchmark", metavar="ID[/PROTOCOL[/TIER]]", help="Benchmark, repeatable, with its protocol and tier."
        ),
    ],
    versions: Annotated[
        list[str] | None,
        typer.Option("--versions", metavar="V,V", help="Versions to measure; pre-releases and yanked ones too."),
    ] = None,
    last: Annotated[int | None, typer.Option("--last", metavar="N", help="Only the newest N of them.")] = None,
    every: Annotated[
        Every | None,
        typer.Option("--every", help="The last version of each period. Default: quarter; with --last alone, release."),
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Try versions again that failed.")] = False,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Print the versions, disk space and time. Run nothing.")
    ] = False,
    check_forms: Annotated[
        bool, typer.Option("--check-forms", help="Compare old forms of the adapter with the present one instead.")
    ] = False,
    executor: Executors = ExecutorKind.LOCAL,
    as_json: AsJson = False,
) -> None:
    """Measure released versions of a product, oldest first.

    Each version gets a lock of the day of its release, and an environment of its own, which is deleted afterwards. A
    version that cannot be resolved, installed or loaded is recorded with the reason. Runs are stored under
    results/history and are on no board. An interrupted history resumes.

    Prints one line a version. The exit code is 1 if no version ran.

    Example: memeval history bm25s --benchmark beliefs@2 --every quarter --last 6
    """
    from memeval.evaluation.history.assembling import read_past
    from memeval.evaluation.history.choosing import chosen
    from memeval.evaluation.history.estimate import estimate as estimated
    from memeval.evaluation.history.measuring import Measurement, measure
    from memeval.evaluation.history.released import released
    from memeval.execution.progress import Bar
    from memeval.records.history import VersionOutcome
    from memeval.systems.source import find_system

    check_scheduler(executor, options.scheduler)
    tracks = tuple(map(_track, benchmark))
    past = read_past(find_system(system))
    releases = released(past.package, past.index)
    named = [each.strip() for text in versions or () for each in text.split(",") if each.strip()]
    selected = chosen(releases, named, last, every)
    if every is not None and not releases.dated:
        print_note(f"{releases.address}: its dates do not rise with the versions, so --every has no effect.")
    measurement = Measurement(past, releases, selected, tracks, options, retry)
    _print_plan(measurement, estimated(measurement))
    if estimate:
        return
    if check_forms:
        _check_forms(measurement)
        return
    found = []
    with Bar() as progress:
        for measured in measure(measurement, progress):
            found.append(measured)
            if not as_json:
                print(_line(measured), flush=True)
    if as_json:
        print_json([each.data() for each in found])
    if not any(each.outcome is VersionOutcome.RAN for each in found):
        raise CheckFailed("no version ran.", remedy="The reasons are listed above. --retry tries them again.")


def _track(text: str) -> tuple[str, str, str]:
    from memeval.benchmarks import find
    from memeval.benchmarks.session import track_names

    name, *rest = text.split("/")
    if len(rest) > 2 or (rest and not rest[-1]):
        raise BadInput(f"invalid --benchmark '{text}'.", remedy="Write ID, ID/PROTOCOL, ID/PROTOCOL/TIER or ID//TIER.")
    found = find(name)
    info = found.info
    if not found.available():
        raise BadInput(f"the data of {info.id} is not on this machine.", remedy=found.remedy())
    protocol, tier = [each or None for each in (*rest, None, None)][:2]
    return info.id, *track_names(info, protocol, tier)


def _print_plan(measurement: Measurement, estimate: HistoryEstimate) -> None:
    releases = measurement.releases
    dates = "with dates" if releases.dated else "dates unknown: ordered by version"
    print_note(
        f"{measurement.past.package}: {counted(len(releases.plain), 'released version')} ({dates}); "
        f"{len(measurement.chosen)} chosen: {', '.join(each.version for each in measurement.chosen)}."
    )
    size = "size unknown" if estimate.megabytes is None else f"about {estimate.megabytes:,.0f} MB"
    time = "time unknown" if estimate.seconds is None else f"about {estimate.seconds / 60:,.0f} minutes"
    free = shutil.disk_usage(".").free / 1e6
    print_note(
        f"{counted(estimate.versions, 'version')} to measure; one environment at a time: {size}, {free:,.0f} MB free; "
        f"{time} in all."
    )


def _line(measured: MeasuredVersion) -> str:
    day = measured.released or "date unknown"
    runs = ", ".join(each.run_id or f"{each.benchmark}: {each.reason}" for each in measured.runs)
    costs = "" if measured.megabytes is None else f"  {measured.megabytes:,.0f} MB"
    costs += "" if measured.seconds is None else f", {measured.seconds:,.0f} s"
    lines = [f"{measured.version:12} {day:12} {measured.outcome.value:18}{costs}  {measured.reason or runs}"]
    lines += [f"    {sentence}" for sentence in measured.substituted]
    return "\n".join(map(visible, lines))


def _check_forms(measurement: Measurement) -> None:
    from memeval.evaluation.history.forms import compare_forms
    from memeval.execution.progress import Bar

    with Bar() as progress:
        checked = list(compare_forms(measurement, progress))
    for each in checked:
        state = "equal rows" if each.equal else "DIFFERENT rows"
        print(f"{each.file} on {each.version}, {each.benchmark} {each.protocol}: {state}")
    if not checked:
        raise BadInput(
            "no form of the adapter names a version that both accept.", remedy="Add 'both' to its [[forms]]."
        )
    if any(not each.equal for each in checked):
        raise CheckFailed(
            "a form of the adapter gives other rows than the present adapter.", remedy="Correct the form."
        )
