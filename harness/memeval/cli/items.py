"""``memeval items``: difficulty, discrimination and saturation."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from memeval.cli.matrices import OutputFormat
from memeval.cli.shared import DEFAULT_RESULTS, Results, counted, percent, print_json, print_table

if TYPE_CHECKING:
    from memeval.records.items import ItemLine, ItemReport, Saturation


def add_to(app: typer.Typer) -> None:
    app.command("items")(items)


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
            _print(report, top)
    sys.stdout.flush()


def _csv(reports: Sequence[ItemReport]) -> str:
    """Return all items as CSV; what is undefined is empty."""
    from memeval.records.items import ItemLine
    from memeval.site.table.downloads import safe_cell

    out = io.StringIO()
    columns = ("benchmark", "track_id", *ItemLine.model_fields)
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    for report in reports:
        track = {"benchmark": report.benchmark, "track_id": report.track_id}
        for line in report.items:
            writer.writerow({key: safe_cell(value) for key, value in (track | line.data()).items()})
    return out.getvalue()


def _print(report: ItemReport, top: int) -> None:
    from memeval.systems.channel import visible

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
    _print_items("item with negative discrimination", sorted(negative, key=_discrimination), top)


def _discrimination(line: ItemLine) -> tuple[float, str]:
    return line.discrimination or 0.0, line.item_id


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
