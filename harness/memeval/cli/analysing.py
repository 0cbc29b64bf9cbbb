"""``memeval failures``: why items are not right, and whether their evidence was found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from memeval.cli.shared import DEFAULT_RESULTS, AsJson, Data, Results, counted, percent, print_json

if TYPE_CHECKING:
    from memeval.records.failure import FailureSummary


def add_to(app: typer.Typer) -> None:
    """Add the commands of this group."""
    app.command("failures")(failures)


def failures(
    run: Annotated[str, typer.Argument(help="A run, by folder or id.")],
    results: Results = DEFAULT_RESULTS,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Show why a run's answers are wrong.

    Also shows whether the evidence was retrieved.
    Causes are looked for in order, and the first that holds counts. What neither the answer nor the evidence shows is
    unknown. With --json every item is printed, beside the same counts.

    Example: memeval failures results/beliefs/bm25/20261121T232845Z-29721abc
    """
    from memeval import api
    from memeval.evaluation.failure_analysis import summary
    from memeval.systems.output import visible

    folder = api.load_run(run, results)
    rows = api.failures(folder, results=results, data=data)
    counts = summary(rows)
    if as_json:
        print_json({"run_id": folder.run.run_id, "summary": counts.data(), "items": [row.data() for row in rows]})
        return
    system, track = folder.run.system, folder.run.track
    print(visible(f"{system.name} on {track.benchmark}: {counts.right} of {counted(counts.items, 'item')} right."))
    if counts.causes:
        print("\nWhat went wrong:")
        _print_table(_causes(counts))
    print("\nEvidence found, and answer right:")
    _print_table(_found(counts))


def _causes(counts: FailureSummary) -> list[list[str]]:
    names = [one.category for one in counts.categories]
    lines = [
        [cause.value, *(str(one.causes.get(cause, 0)) for one in counts.categories), str(number)]
        for cause, number in counts.causes.items()
    ]
    last = ["not right", *(str(one.items - one.right) for one in counts.categories), str(counts.items - counts.right)]
    return [["", *names, "all"], *lines, last]


def _found(counts: FailureSummary) -> list[list[str]]:
    lines = [
        [line.found.value, str(line.right), str(line.wrong), percent(line.share_right)]
        for line in counts.found
        if line.right or line.wrong
    ]
    return [["evidence", "right", "not right", "% right"], *lines]


def _print_table(lines: Sequence[Sequence[str]]) -> None:
    """Print lines in columns, the first to the left and the others to the right."""
    from memeval.systems.output import visible

    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    for line in lines:
        first, *others = (
            text.rjust(width) if place else text.ljust(width)
            for place, (text, width) in enumerate(zip(line, widths, strict=True))
        )
        print(visible("  " + "  ".join([first, *others]).rstrip()))
