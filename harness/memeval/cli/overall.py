"""``memeval overall``: the overall index of systems over a suite of benchmarks."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memeval.cli.shared import DEFAULT_RESULTS, AsJson, Results, counted, percent, print_json, print_table, visible
from memeval.records.errors import BadInput

if TYPE_CHECKING:
    from memeval.records.overall import Overall, OverallRow


def overall(
    suite: Annotated[
        str | None, typer.Argument(help="A suite of benchmarks, such as retrieval@3. Default: all suites.")
    ] = None,
    lead: Annotated[
        tuple[str, str] | None,
        typer.Option("--lead", metavar="A B", help="How often system A leads system B if the weights change."),
    ] = None,
    suites: Annotated[
        Path | None, typer.Option("--suites", metavar="FILE", help="Your own suites and weights, as TOML.")
    ] = None,
    results: Results = DEFAULT_RESULTS,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show one index for each system over several benchmarks.

    0 is the no-memory baseline. 100 is a perfect score, or the oracle baseline if the suite says so. The index is the
    weighted mean over the benchmarks of a suite. Only systems with a ranked run on every benchmark have one. The
    intervals are 95 %.

    --lead draws 10,000 weightings and counts how often A has a higher index than B.

    Example: memeval overall retrieval@3 --lead bm25s hybrid
    """
    from memeval.leaderboard.overall import overall as overall_of
    from memeval.leaderboard.suites import FILE, find_suite, read_suites

    if as_csv and (as_json or lead):
        raise BadInput(f"--csv and {'--json' if as_json else '--lead'} are both given.", remedy="Give one of them.")
    if lead and suite is None:
        raise BadInput("--lead needs a suite.", remedy="Name one: memeval overall retrieval@3 --lead A B.")
    known = read_suites(suites or FILE)
    wanted = known if suite is None else (find_suite(known, suite),)
    from memeval import api

    board = api.board(results)
    tables = [overall_of(board, each) for each in wanted]
    if lead:
        _print_lead(tables[0], *lead, as_json=as_json)
    elif as_json:
        print_json([table.data() for table in tables])
    elif as_csv:
        from memeval.site.pages.overall import as_csv as csv_of

        print(csv_of(tables), end="")
    else:
        for number, table in enumerate(tables):
            print(end="\n" if number else "")
            _print(table)
    sys.stdout.flush()


def _print_lead(table: Overall, first: str, second: str, *, as_json: bool) -> None:
    from memeval import api

    found = api.lead(table, first, second)
    if as_json:
        print_json({"suite": table.suite.id, "first": first, "second": second, "shares": vars(found)})
        return
    print(f"{table.suite.id}, {counted(table.weightings, 'weighting')}:")
    print(f"  {first} leads {second} in {percent(found.first)} %.")
    print(f"  {second} leads {first} in {percent(found.second)} %.")
    if found.tied:
        print(f"  Both are equal in {percent(found.tied)} %.")


def _print(table: Overall) -> None:
    print(visible(f"{table.suite.id}: {table.suite.title}, {counted(len(table.tracks), 'benchmark')}"))
    for track in table.tracks:
        scale = track.reason or f"0 is {percent(track.floor)} %, 100 is {percent(track.ceiling)} %."
        print(visible(f"  {track.chosen.benchmark}, {track.chosen.protocol}: {scale}"))
    placed = [row for row in table.rows if row.index is not None]
    if placed:
        print()
        _print_placed(table, placed)
    if table.interval_reason is not None and placed:
        print(visible(f"  No intervals: {table.interval_reason}"))
    rest = [row for row in table.rows if row.index is None]
    if rest:
        print("\n  Without an index:")
    for row in rest:
        print(visible(f"  {row.system}: {row.complete} of {len(table.tracks)}. {row.reason or ''}"))
    if not table.rows:
        print("  No system has a run on these benchmarks.")


def _print_placed(table: Overall, rows: list[OverallRow]) -> None:
    benchmarks = (each.chosen.benchmark for each in table.tracks)
    lines = [["rank", "system", "index", "95 % interval", *benchmarks, "vs baseline", "weightings"]]
    for row in rows:
        stable = row.stability
        lines.append(
            [
                "baseline" if row.rank is None else _range(*(row.ranks or (row.rank, row.rank))),
                row.system,
                percent(row.index),
                "" if row.low is None else f"{percent(row.low)} to {percent(row.high)}",
                *(percent(share) for share in row.shares),
                row.against_baseline or "",
                "" if stable is None else _range(stable.best, stable.worst),
            ]
        )
    print_table(lines, right=())
    print("  rank: a range is a tie. The tests do not show which of these ranks the system has.")
    if table.baseline is not None:
        print(f"  vs baseline: against {table.baseline}, the simple baseline with the highest index.")
    print(f"  weightings: best and worst rank over {counted(table.weightings, 'weighting')} of the benchmarks.")


def _range(best: int, worst: int) -> str:
    return str(best) if best == worst else f"{best}–{worst}"
