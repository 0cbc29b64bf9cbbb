"""``memeval compare``: differences between runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from memeval.cli.reporting import score_of
from memeval.cli.shared import DEFAULT_RESULTS, AsJson, Results, counted, print_json

if TYPE_CHECKING:
    from memeval.records.comparison import Comparison, Difference, Flip, PairedRuns


def add_to(app: typer.Typer) -> None:
    app.command("compare")(compare)


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
    _print(comparison, flips)


def _print(comparison: Comparison, flips: int) -> None:
    from memeval.systems.channel import visible

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
    from memeval.systems.channel import visible

    overall = () if pair.overall is None else (pair.overall,)
    lines = [["", "items", "first", "this", "difference", "95 % interval", "p", ""]]
    lines += [_line(each, share=True) for each in (*overall, *pair.categories)]
    lines += [_line(each, share=False) for each in pair.metrics]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    for line in lines:
        name, *others = (
            text.rjust(width) if column else text.ljust(width)
            for column, (text, width) in enumerate(zip(line, widths, strict=True))
        )
        print(visible("  " + "  ".join([name, *others]).rstrip()))


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
