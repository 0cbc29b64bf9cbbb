"""What command groups share: common options and how things are said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

RESUME_HINT = "What came to an end is on disk; the same command goes on from there."

Results = Annotated[Path, typer.Option("--results", help="Folder of stored runs.", envvar="MEMEVAL_RESULTS")]
Data = Annotated[
    Path | None, typer.Option("--data", help="A local copy of the benchmark's data, instead of the one memeval keeps.")
]
Errata = Annotated[
    Path | None,
    typer.Option("--errata", help="A file of errata for corrected scores, instead of those that memeval ships."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]

DEFAULT_RESULTS = Path("results")


def print_json(value: Any) -> None:
    """Print plain data as JSON, keys sorted."""
    print(json.dumps(value, sort_keys=True, ensure_ascii=False, indent=2))


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 run``, ``2 runs``."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def percent(share: float | None) -> str:
    """Return a share as percent with one decimal; a dash where there is none."""
    return "–" if share is None else f"{100 * share:.1f}"


def dollars(amount: float | None) -> str:
    """Return dollars; a dash where the amount is unknown, which is not 0."""
    return "–" if amount is None else f"${amount:.4f}" if amount < 1 else f"${amount:.2f}"
