"""Options that several commands share: one name, one help text and one panel for each."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, TypeVar

import typer

WHAT = "What to run"
MODELS = "Models and judge"
LIMITS = "Limits and cost"
SANDBOX = "Sandbox and environment"
STORING = "Storing and repeating"
OUTPUT = "Output"

DEFAULT_RESULTS = Path("results")

Benchmarks = Annotated[
    list[str] | None,
    typer.Option(
        "--benchmark",
        metavar="ID",
        help="Benchmark id, repeatable. Default: every benchmark whose data is on this machine.",
        rich_help_panel=WHAT,
    ),
]
Protocol = Annotated[
    str | None, typer.Option("--protocol", help="Protocol: how questions are asked and graded.", rich_help_panel=WHAT)
]
Tier = Annotated[
    str | None,
    typer.Option(
        "--tier", help="Subset or size of the data. 'memeval data list --json' names them.", rich_help_panel=WHAT
    ),
]
Parameter = Annotated[
    list[str] | None,
    typer.Option(
        "--parameter",
        metavar="NAME=VALUE",
        help="Benchmark parameter, repeatable. Examples: seed=7, file=oracle.",
        rich_help_panel=WHAT,
    ),
]
Data = Annotated[
    Path | None,
    typer.Option("--data", help="Your own copy of the benchmark's data. Needs one benchmark.", rich_help_panel=WHAT),
]
Errata = Annotated[
    Path | None,
    typer.Option(
        "--errata", help="File of known data errors for corrected scores. Default: shipped.", rich_help_panel=WHAT
    ),
]
Limit = Annotated[
    int | None,
    typer.Option("--limit", help="Run only the first N items. The run is then partial.", rich_help_panel=WHAT),
]
Concurrency = Annotated[
    int, typer.Option("--concurrency", help="Scenarios run at the same time.", rich_help_panel=LIMITS)
]
ModelConcurrency = Annotated[
    int,
    typer.Option(
        "--model-concurrency",
        help="Concurrent model calls, for the reader and for the system.",
        rich_help_panel=LIMITS,
    ),
]
SkipConformance = Annotated[
    bool,
    typer.Option(
        "--skip-conformance",
        help="Run a system that can cost money although it failed or skipped the adapter check.",
        rich_help_panel=SANDBOX,
    ),
]
RetryErrors = Annotated[
    bool,
    typer.Option(
        "--retry-errors", help="Try failed items again. Both attempts stay on record.", rich_help_panel=STORING
    ),
]
FreshGrades = Annotated[
    bool,
    typer.Option("--fresh", help="Start a new run. Recorded judgments are still reused.", rich_help_panel=STORING),
]
Results = Annotated[
    Path,
    typer.Option("--results", help="Folder of stored runs.", envvar="MEMEVAL_RESULTS", rich_help_panel=STORING),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.", rich_help_panel=OUTPUT)]


Value = TypeVar("Value")


def renamed(old: str, new: str, given: Value | None, value: Value) -> Value:
    """Return the value of an option that has a deprecated name as well.

    Args:
        old: the deprecated name, such as ``--out``; a hidden option.
        new: the name to use instead.
        given: what the deprecated option was given; ``None`` where it was not.
        value: what the option of the new name says.
    """
    if given is None:
        return value
    print(f"memeval: {old} is deprecated. Use {new}.", file=sys.stderr)
    return given
