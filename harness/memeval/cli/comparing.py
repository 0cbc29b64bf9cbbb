"""``memeval compare``, ``failures`` and ``items``: what tells runs apart, why answers are wrong, how hard items are."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from memeval.cli.matrices import OutputFormat
from memeval.cli.reporting import score_of
from memeval.cli.shared import (
    DEFAULT_RESULTS,
    AsJson,
    Data,
    Results,
    counted,
    percent,
    print_json,
    print_table,
    visible,
)

if TYPE_CHECKING:
    from memeval.records.comparison import Comparison, Difference, Flip, PairedRuns
    from memeval.records.failure import FailureSummary
    from memeval.records.items import ItemLine, ItemReport, Saturation


def compare(
    runs: Annotated[list[str], typer.Argument(help="Runs, by folder or id. Each is compared with the first.")],
    results: Results = DEFAULT_RESULTS,
    flips: Annotated[int, typer.Option("--flips", min=0, help="Number of items to list in each direction.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Compare runs: differences, intervals and p-values.

    Compares each run with the first one, over the items that both have.
    ▲ is better, ▼ is worse, and = is not significant at 5 %. The test is paired, respects clusters of items, and
    corrects for the number of lines. Runs of different tracks need the same responses: their difference comes from
    the judge.

    Example: memeval compare 20261121T232845Z-29721abc 20261121T233012Z-6d01b2f4
    """
    from memeval import api

    comparison = api.compare(runs, results=results)
    if as_json:
        print_json(comparison.data())
        return
    _print_comparison(comparison, flips)


def _print_comparison(comparison: Comparison, flips: int) -> None:
    runs = {run.run_id: run for run in comparison.runs}
    first = comparison.runs[0]
    print(visible(f"{comparison.benchmark} {comparison.protocol}, track {first.track_id}"))
    print(visible(f"{first.system} {first.run_id}: composite {score_of(first.composite)}"))
    if comparison.same_answers:
        differing = ", ".join(comparison.differing)
        print(f"Same answers, different tracks ({differing}): the difference comes from the judge.")
    for pair in comparison.pairs:
        run = runs[pair.run_id]
        judge = f", judged by {run.judge}" if comparison.same_answers else ""
        print()
        print(visible(f"{run.system} {run.run_id}{judge}: composite {score_of(run.composite)}"))
        if pair.alone:
            print(f"  {counted(pair.items, 'item')} in both runs; {pair.alone} in only one run, skipped.")
        if pair.reason is not None:
            print(f"  No composite difference: {pair.reason}")
        _print_differences(pair)
        _print_flips(f"  {counted(len(pair.better), 'item')} better", pair.better, flips)
        _print_flips(f"  {counted(len(pair.worse), 'item')} worse", pair.worse, flips)
    sys.stdout.flush()


def _print_differences(pair: PairedRuns) -> None:
    overall = () if pair.overall is None else (pair.overall,)
    lines = [["", "items", "first", "this", "difference", "95 % interval", "p", ""]]
    lines += [_line(each, share=True) for each in (*overall, *pair.categories)]
    lines += [_line(each, share=False) for each in pair.metrics]
    print_table(lines)


def _line(each: Difference, *, share: bool) -> list[str]:
    def formatted(value: float | None, sign: str = "") -> str:
        if value is None:
            return "–"
        return f"{100 * value:{sign}.1f}" if share else f"{value:{sign}.4f}"

    interval = "–" if each.low is None else f"[{formatted(each.low, '+')}, {formatted(each.high, '+')}]"
    p = "<0.001" if each.corrected < 0.001 else f"{each.corrected:.3f}"
    values = [formatted(each.first), formatted(each.second), formatted(each.difference, "+")]
    return [each.name, str(each.items), *values, interval, p, each.sign.value]


def _print_flips(head: str, flips: Sequence[Flip], limit: int) -> None:
    print(f"{head}{':' if flips and limit else ''}")
    for flip in flips[:limit]:
        print(f"    {flip.item_id}  {_score_text(flip.first)} → {_score_text(flip.second)}")
    if len(flips) > limit > 0:
        print(f"    and {len(flips) - limit} more; --flips {len(flips)} lists them.")


def _score_text(value: float | None) -> str:
    return "error" if value is None else f"{value:.3g}"


def failures(
    run: Annotated[str, typer.Argument(help="A run, by folder or id.")],
    results: Results = DEFAULT_RESULTS,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Show why a run's answers are wrong.

    Also shows whether the evidence was retrieved. Causes are tested in order, and the first that applies counts.
    A cause is unknown if neither the answer nor the evidence shows it. --json also prints every item.

    Example: memeval failures results/beliefs/bm25/20261121T232845Z-29721abc
    """
    from memeval import api
    from memeval.analysis.failures import summary

    folder = api.load_run(run, results)
    rows = api.failures(folder, results=results, data=data)
    counts = summary(rows)
    if as_json:
        print_json(
            {
                "run_id": folder.run.run_id,
                "crashes": folder.run.crashes,
                "summary": counts.data(),
                "items": [row.data() for row in rows],
            }
        )
        return
    system, track = folder.run.system, folder.run.track
    print(visible(f"{system.name} on {track.benchmark}: {counts.right} of {counted(counts.items, 'item')} correct."))
    if crashes := folder.run.crashes:
        print(f"The process crashed {counted(crashes, 'time')}: see 'crashed' in its log.jsonl.gz.")
    if counts.causes:
        print("\nWrong answers by cause:")
        print_table(_causes(counts))
    print("\nCorrect answers by evidence retrieved:")
    print_table(_found(counts))


def _causes(counts: FailureSummary) -> list[list[str]]:
    names = [one.category for one in counts.categories]
    lines = [
        [cause.value, *(str(one.causes.get(cause, 0)) for one in counts.categories), str(number)]
        for cause, number in counts.causes.items()
    ]
    last = ["all wrong", *(str(one.items - one.right) for one in counts.categories), str(counts.items - counts.right)]
    return [["", *names, "all"], *lines, last]


def _found(counts: FailureSummary) -> list[list[str]]:
    lines = [
        [line.found.value, str(line.right), str(line.wrong), percent(line.share_right)]
        for line in counts.found
        if line.right or line.wrong
    ]
    return [["evidence", "correct", "wrong", "% correct"], *lines]


def items(
    name: Annotated[
        str | None, typer.Argument(metavar="BENCHMARK|TRACK", help="Benchmark, or id of a track. Default: all.")
    ] = None,
    form: Annotated[OutputFormat, typer.Option("--format", help="Format of the output.")] = OutputFormat.TABLE,
    top: Annotated[int, typer.Option("--top", min=0, help="Number of items to list in each part of the table.")] = 10,
    results: Results = DEFAULT_RESULTS,
) -> None:
    """Show how hard items are, and which tell systems apart.

    Statistics are over the ranked systems of a track. Controls are apart. Difficulty is the share of the systems that
    get an item right. Discrimination is the correlation with the rest of the composite score. An item is decisive if
    a place by score changes without it. A benchmark is saturated if what is left above the best system is less than
    the minimum detectable difference. The JSON and CSV formats have all items.

    Example: memeval items beliefs --format csv
    """
    from memeval import api

    reports = api.items(name, results=results)
    if form is OutputFormat.JSON:
        print_json([report.data() for report in reports])
    elif form is OutputFormat.CSV:
        print(_csv(reports), end="")
    else:
        for number, report in enumerate(reports):
            if number:
                print()
            _print_report(report, top)
    sys.stdout.flush()


def _csv(reports: Sequence[ItemReport]) -> str:
    """Return all items as CSV; what is undefined is empty."""
    from memeval.archive.rows import csv_text
    from memeval.records.items import ItemLine

    columns = ("benchmark", "track_id", *ItemLine.model_fields)
    tracks = [({"benchmark": report.benchmark, "track_id": report.track_id}, report.items) for report in reports]
    return csv_text(columns, (track | line.data() for track, items in tracks for line in items))


def _print_report(report: ItemReport, top: int) -> None:
    said = f"reader {report.reader}, judge {report.judge}, track {report.track_id}"
    print(visible(f"{report.benchmark} {report.protocol}, tier {report.tier}, {said}"))
    systems = counted(len(report.systems), "ranked system")
    amount = f"{counted(len(report.items), 'item')} in {counted(report.clusters, 'cluster')}"
    print(f"{systems}, {amount}; {counted(len(report.controls), 'control')} apart")
    for line in _saturation(report.saturation):
        print(visible(line))
    print()
    print_table(_categories(report))
    moving = sorted((line for line in report.items if line.moved), key=lambda line: (-line.moved, line.item_id))
    _print_items("decisive item", moving, top)
    negative = [line for line in report.items if line.discrimination is not None and line.discrimination < 0]
    negative.sort(key=lambda line: (line.discrimination or 0.0, line.item_id))
    _print_items("item with negative discrimination", negative, top)


def _saturation(found: Saturation) -> Iterator[str]:
    floor = "did not run" if found.floor is None else percent(found.floor)
    ceiling = f"oracle {percent(found.ceiling)}" if found.oracle else f"perfect score {percent(found.ceiling)}"
    yield f"best: {found.system} {percent(found.best)}; no-memory baseline {floor}; {ceiling}"
    reached = "" if found.reached is None else f", {percent(found.reached)} % of the gap is reached"
    yield f"headroom: {100 * found.headroom:.1f} points{reached}"
    if found.detectable is None:
        yield "minimum detectable difference: none; there are too few clusters to show any"
    else:
        state = "saturated" if found.saturated else "not saturated"
        yield f"minimum detectable difference: {100 * found.detectable:.1f} points; {state}"


def _categories(report: ItemReport) -> list[list[str]]:
    head = ["", "items", "% correct", "everyone", "nobody", "negative", "decisive", "detectable"]
    return [
        head,
        *(
            [
                *(each.category, str(each.items), percent(each.difficulty), str(each.everyone), str(each.nobody)),
                *(str(each.negative), str(each.moving), percent(each.detectable)),
            ]
            for each in report.categories
        ),
    ]


def _print_items(noun: str, lines: Sequence[ItemLine], top: int) -> None:
    if not lines:
        return
    first, _, rest = noun.partition("item")
    print(f"\n{counted(len(lines), f'{first}item')}{rest}{':' if top else ''}")
    if top:
        head = ["", "% correct", "discrimination", "places changed", "best control"]
        print_table([head, *([*_item(line)] for line in lines[:top])])
    if len(lines) > top > 0:
        print(f"  and {len(lines) - top} more; --top {len(lines)} lists them.")


def _item(line: ItemLine) -> Iterator[str]:
    yield line.item_id
    yield percent(line.difficulty)
    yield "–" if line.discrimination is None else f"{line.discrimination:.2f}"
    yield str(line.moved)
    yield percent(line.best_control)
