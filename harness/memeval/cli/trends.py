"""``memeval archive trajectory``: scores, tokens, dollars and times over the versions of a system."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memeval.cli.shared import DEFAULT_RESULTS, AsJson, Results, aligned, counted, print_json, print_note, visible
from memeval.records.errors import BadInput

if TYPE_CHECKING:
    from memeval.archive.runs import RunFolder
    from memeval.leaderboard.series import History, VersionSeries
    from memeval.leaderboard.trends import NeighbourTest, ScoreChanges, StepFound, Trend
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
            help="composite, a category, tokens_per_question, cost_usd, search_ratio or ingest_ratio.",
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
    """Show how a measure of systems changed over their versions.

    Each track is a history of its own. A step is a version whose score differs from the versions before, by a test over
    the same questions. Each version is also tested against the one before, as in 'compare'. search_ratio and
    ingest_ratio are times as ratios to the control bm25, which ran at the same time. A break names a setting that
    changed: values on both sides are not comparable.

    Example: memeval archive trajectory bm25s --benchmark lifecycle --chart trend.html
    """
    from memeval.leaderboard.trend_rows import trend_data, trends_csv, versions_by_run

    if as_csv and as_json:
        raise BadInput("--csv and --json are both given.", remedy="Give one of them.")
    if chart is not None and chart.suffix not in (".svg", ".html"):
        raise BadInput(f"{chart} is neither an .svg nor an .html file.", remedy="Name a file such as trend.html.")
    folders = _local(results, systems, only_benchmark)
    history = _history(folders, results, place, systems, only_benchmark, only_track)
    shown = _trends(history, measure, folders)
    if chart is not None:
        _draw(shown, chart)
    if as_csv:
        print(trends_csv(shown), end="")
    elif as_json:
        versions = versions_by_run([changes for _trend, changes in shown])
        print_json([trend_data(trend, changes, versions) for trend, changes in shown])
    else:
        _print(shown, history)
    sys.stdout.flush()


def _local(results: Path, systems: Sequence[str] | None, benchmark: str | None) -> list[RunFolder]:
    """Return the runs in the results folder that may be wanted; their paths name benchmark and system."""
    from memeval.archive.runs import history_runs, sealed_runs

    wanted = benchmark and benchmark.partition("@")[0]
    return [
        folder
        for folder in (*sealed_runs(results), *history_runs(results))
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
            print_note(f"memeval: {found}")
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
    from memeval.archive.histories import stored_histories
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
    return history_of(wanted, Ledger(results).entries(), stored_histories(results))


_LIST = "List what there is: memeval archive trajectory."


def _trends(history: History, measure: str, folders: Sequence[RunFolder]) -> list[tuple[Trend, ScoreChanges]]:
    """Return the trend of each series that has the measure. Raises ``BadInput`` if no series has the measure."""
    from memeval.leaderboard.trends import ScoreChanges, named_measure, run_measures, trend_of

    series = sorted(history.series, key=lambda one: -len(one.points))
    named_measure(measure, run_measures([run for one in series for run in one.runs]))
    by_id = {folder.run.run_id: folder for folder in folders}
    shown = []
    for one in series:
        try:
            wanted = named_measure(measure, run_measures(one.runs))
        except BadInput:
            continue  # a category of another benchmark
        shown.append((trend_of(one, wanted), ScoreChanges(one, by_id.get)))
    return shown


def _draw(shown: Sequence[tuple[Trend, ScoreChanges]], chart: Path) -> None:
    from memeval.leaderboard.trends import COMPOSITE
    from memeval.site.pages.trends import write_chart
    from memeval.site.trends.version_charts import ChartLine

    write_chart(
        [
            ChartLine(_track(trend.series), trend, changes if trend.measure.name == COMPOSITE else None)
            for trend, changes in shown
        ],
        chart,
    )
    print_note(f"memeval: {chart} written.")


def _track(series: VersionSeries) -> str:
    track = series.track
    tier = "" if track.tier == "full" else f", {track.tier}"
    return f"{track.benchmark}, {track.protocol}{tier}, reader {track.reader}, judge {track.judge}"


def _print(shown: Sequence[tuple[Trend, ScoreChanges]], history: History) -> None:
    from memeval.leaderboard.trends import COMPOSITE

    for number, (trend, changes) in enumerate(shown):
        if number:
            print()
        _print_versions(trend)
        if trend.measure.name == COMPOSITE and len(trend.series.runs) > 1:
            _print_changes(changes)
    for reason, count in history.left_out.items():
        print(f"\nLeft out: {counted(count, 'run')}, {reason.value}.")


def _print_versions(trend: Trend) -> None:
    from memeval.site.trends.version_charts import written

    unit = trend.measure.unit
    head = f"{trend.series.system} on {_track(trend.series)}"
    print(visible(f"{head}: {trend.measure.title}, {counted(len(trend.points), 'version')}"))
    breaks = {each.index: each for each in trend.breaks}
    lines = []
    for point in trend.points:
        run, reading = point.at.run, point.reading
        ends = ""
        if reading.low is not None and reading.high is not None:
            ends = f"{written(reading.low, unit)} to {written(reading.high, unit)}"
        lines.append(
            (
                point.at.released or "date unknown",
                point.at.version,
                written(point.value, unit) if run else "no run",
                ends,
                run.run_id if run else "",
                reading.note or "",
            )
        )
    for index, line in enumerate(aligned(lines, right=(2,))):
        for change in breaks[index].changes if index in breaks else ():
            print(visible(f"  -- {change}"))
        print(line)


def _print_changes(changes: ScoreChanges) -> None:
    if changes.are_equal:
        print("  All versions have the same grades.")
        return
    names = {run.run_id: point.version for point in changes.series.points for run in point.runs}
    for each in changes.steps:
        print(visible(f"  {_step(each, names)}"))
    if not changes.steps:
        print("  No step.")
    for test in changes.tests:
        print(visible(f"  {names[test.before.run_id]} to {names[test.after.run_id]}: {_result(test)}"))


def _step(found: StepFound, names: dict[str, str]) -> str:
    gap = 100 * (found.step.after - found.step.before)
    version, before = names[found.after.run_id], names[found.before.run_id]
    means = f"mean {100 * found.step.before:.1f} % to {100 * found.step.after:.1f} %"
    return f"Step at {version}, after {before}: {gap:+.1f} points, {means}, p = {found.step.p:.3f}."


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
