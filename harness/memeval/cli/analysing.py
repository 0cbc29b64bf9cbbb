"""``memeval failures``: why answers are wrong, and whether their evidence was retrieved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memeval.cli.shared import DEFAULT_RESULTS, AsJson, Data, Results, counted, percent, print_json, print_table

if TYPE_CHECKING:
    from memeval.records.failure import FailureSummary


def add_to(app: typer.Typer) -> None:
    app.command("failures")(failures)


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
    from memeval.systems.channel import visible

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
