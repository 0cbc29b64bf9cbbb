"""``memeval archive trajectory``: scores, tokens, dollars and latencies over time."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memeval.cli.shared import DEFAULT_RESULTS, AsJson, Results, counted, print_json, visible
from memeval.records.errors import BadInput

if TYPE_CHECKING:
    from memeval.archive.runs import RunFolder
    from memeval.leaderboard.series import History, RunSeries
    from memeval.leaderboard.trends import NeighbourTest, SeriesTrend, Trend
    from memeval.records.run import Run


def trajectory(
    systems: Annotated[list[str] | None, typer.Argument(help="Slugs of systems. Default: all.")] = None,
    only_benchmark: Annotated[
        str | None, typer.Option("--benchmark", metavar="NAME", help="Only runs of this benchmark.")
    ] = None,
    only_track: Annotated[str | None, typer.Option("--track", metavar="ID", help="Only runs of this track.")] = None,
    measure: Annotated[
        str,
        typer.Option(
            "--measure",
            metavar="NAME",
            help="composite, a category, tokens_per_question, cost_usd, ask_p50_seconds, ask_p95_seconds or rank.",
        ),
    ] = "composite",
    chart: Annotated[
        Path | None, typer.Option("--chart", metavar="FILE", help="Also draw a chart: FILE.svg or FILE.html.")
    ] = None,
    place: Annotated[
        str | None,
        typer.Option("--from", metavar="PLACE", help="Also read the runs in this archive: a folder or s3://BUCKET."),
    ] = None,
    results: Results = DEFAULT_RESULTS,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show how a measure of systems changed from run to run.

    A break between two runs names the settings that changed: their values are not comparable. From eight runs on one
    track, lasting steps are searched for. With fewer runs, each run is tested against the run before, as in 'compare'.

    Example: memeval archive trajectory bm25s --benchmark beliefs --chart trend.html
    """
    from memeval.site.trends import trend_files

    if as_csv and as_json:
        raise BadInput("--csv and --json are both given.", remedy="Give one of them.")
    if chart is not None and chart.suffix not in (".svg", ".html"):
        raise BadInput(f"{chart} is neither an .svg nor an .html file.", remedy="Name a file such as trend.html.")
    folders = _local(results, systems, only_benchmark)
    history = _history(folders, results, place, systems, only_benchmark, only_track)
    shown = _trends(history, measure, folders, results)
    if chart is not None:
        _draw(shown, chart)
    if as_csv:
        print(trend_files.as_csv(shown), end="")
    elif as_json:
        print_json(trend_files.as_data(shown))
    else:
        _print(shown, history)
    sys.stdout.flush()


def _local(results: Path, systems: Sequence[str] | None, benchmark: str | None) -> list[RunFolder]:
    """Return the runs in the results folder that may be wanted; their paths name benchmark and system."""
    from memeval.archive.runs import sealed_runs

    wanted = benchmark and benchmark.partition("@")[0]
    return [
        folder
        for folder in sealed_runs(results)
        if (not systems or folder.path.parent.name in systems)
        and (wanted is None or folder.path.parent.parent.name == wanted)
    ]


def _archived(results: Path, place: str) -> list[Run]:
    from memeval.archive.remote.automatic import open_archive
    from memeval.archive.remote.index import ArchivedRun, archived_runs, listed_heads

    store = open_archive(results, place, to_read=True)
    runs = []
    for found in archived_runs(store, listed_heads(store)):
        if isinstance(found, ArchivedRun):
            runs.append(found.run)
        else:
            print(visible(f"memeval: {found}"), file=sys.stderr)
    return runs


def _history(
    folders: Sequence[RunFolder],
    results: Path,
    place: str | None,
    systems: Sequence[str] | None,
    benchmark: str | None,
    track: str | None,
) -> History:
    """Return the history of the wanted runs. Raises ``BadInput`` if no run is wanted, or a named system has none."""
    from memeval.archive.ledger import Ledger
    from memeval.leaderboard.series import history_of

    runs = {folder.run.run_id: folder.run for folder in folders}
    for run in () if place is None else _archived(results, place):
        runs.setdefault(run.run_id, run)
    wanted = [
        run
        for run in runs.values()
        if (not systems or run.system.slug in systems)
        and (benchmark is None or benchmark in (run.track.benchmark, run.track.benchmark.partition("@")[0]))
        and (track is None or run.track_id == track)
    ]
    for name, value in (("track", track), ("benchmark", benchmark)):
        if value is not None and not wanted:
            raise BadInput(f"there is no run of {name} {value!r} here.", where=results, remedy=_LIST)
    for slug in systems or ():
        if all(run.system.slug != slug for run in wanted):
            raise BadInput(f"there is no run of system {slug!r} here.", where=results, remedy=_LIST)
    if not wanted:
        raise BadInput("there are no runs here.", where=results, remedy="Run a system first: memeval run.")
    return history_of(wanted, Ledger(results).entries())


_LIST = "List what there is: memeval archive trajectory."


def _trends(history: History, measure: str, folders: Sequence[RunFolder], results: Path) -> list[SeriesTrend]:
    """Return the trend of each series that has the measure. Raises ``BadInput`` if no series has the measure."""
    from memeval.leaderboard.releases import releases
    from memeval.leaderboard.trend_measures import COMPOSITE, RANK, named_measure, run_measures
    from memeval.leaderboard.trends import SeriesTrend, neighbour_tests, rank_trend, trend_of

    series = sorted(history.series, key=lambda one: -len(one.runs))
    if measure == RANK:
        frozen = releases(results)
        return [SeriesTrend(one, found) for one in series if (found := rank_trend(one, frozen)).points]
    named_measure(measure, run_measures([run for one in series for run in one.runs]))
    by_id = {folder.run.run_id: folder for folder in folders}
    shown = []
    for one in series:
        try:
            wanted = named_measure(measure, run_measures(one.runs))
        except BadInput:
            continue  # a category of another benchmark
        trend = trend_of(one, wanted)
        shown.append(SeriesTrend(one, trend, neighbour_tests(trend, by_id) if wanted.name == COMPOSITE else ()))
    return shown


def _draw(shown: Sequence[SeriesTrend], chart: Path) -> None:
    from memeval.site.pages.trends import write_chart

    write_chart(shown, chart)
    print(f"memeval: {chart} written.", file=sys.stderr)


def _print(shown: Sequence[SeriesTrend], history: History) -> None:
    if not shown:
        print("No release ranks these systems.")
    for number, each in enumerate(shown):
        if number:
            print()
        _print_series(each.series, each.trend)
        _print_findings(each)
    for reason, count in history.left_out.items():
        print(f"\nLeft out: {counted(count, 'run')}, {reason.value}.")


def _print_series(series: RunSeries, trend: Trend) -> None:
    from memeval.leaderboard.trend_measures import RANK, Unit
    from memeval.site.trends.trend_files import write_range, write_value

    unit = trend.measure.unit
    per_cent = ", %" if unit is Unit.SHARE else ""
    of = "release" if trend.measure.name == RANK else "run"
    track = series.latest.track
    head = f"{series.system} on {series.benchmark}, {track.protocol}, reader {track.reader}, judge {track.judge}"
    print(visible(f"{head}: {trend.measure.title}{per_cent}, {counted(len(trend.points), of)}"))
    breaks = {each.index: each for each in trend.breaks}
    lines = [
        (
            point.at[:16].replace("T", " "),
            point.label,
            write_value(point.value, unit),
            write_range(point.reading.low, point.reading.high, unit),
            point.run.run_id,
            " ".join(filter(None, (point.reading.note, "superseded" if point.is_superseded else ""))),
        )
        for point in trend.points
    ]
    widths = [max(len(line[column]) for line in lines) for column in range(5)]
    for index, line in enumerate(lines):
        for change in breaks[index].changes if index in breaks else ():
            print(visible(f"  -- {change}"))
        cells = [
            text.rjust(width) if column == 2 else text.ljust(width)
            for column, (text, width) in enumerate(zip(line, (*widths, 0), strict=True))
        ]
        print(visible("  " + "  ".join(cells).rstrip()))


def _print_findings(each: SeriesTrend) -> None:
    from memeval.site.trends.trend_files import write_value

    unit = each.trend.measure.unit
    for step in each.trend.steps:
        at = each.trend.points[step.index]
        levels = f"{write_value(step.before, unit)} to {write_value(step.after, unit)}"
        print(f"  Step at {at.run.run_id}: mean {levels}, p = {step.p:.3f}.")
    for test in each.tests:
        print(f"  {test.before.run_id} to {test.after.run_id}: {_result(test)}")


def _result(test: NeighbourTest) -> str:
    found = test.difference
    if found is None:
        return test.reason or ""
    low, high = (found.low if found.low is not None else -1.0, found.high if found.high is not None else 1.0)
    result = {"▲": "better", "▼": "worse"}.get(found.sign.value, "no significant change")
    return (
        f"{100 * found.difference:+.1f} points [{100 * low:+.1f}, {100 * high:+.1f}], "
        f"p = {found.corrected:.3f}: {result}."
    )
