"""Formats of printed results, shared by the command groups."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from memeval.cli.options import DEFAULT_RESULTS as DEFAULT_RESULTS
from memeval.cli.options import AsJson as AsJson
from memeval.cli.options import Data as Data
from memeval.cli.options import Errata as Errata
from memeval.cli.options import Jobs as Jobs
from memeval.cli.options import Results as Results

RESUME_HINT = "Progress saved. Run the same command to resume."


def print_json(value: Any) -> None:
    """Print plain data as JSON, keys sorted; characters that standard output cannot encode as JSON's escapes."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, indent=2)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value, sort_keys=True, ensure_ascii=True, indent=2)
    print(text)


def print_table(lines: Sequence[Sequence[str]]) -> None:
    """Print lines in columns: the first aligned left, the others right."""
    from memeval.systems.channel import visible

    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    for line in lines:
        first, *others = (
            text.rjust(width) if column else text.ljust(width)
            for column, (text, width) in enumerate(zip(line, widths, strict=True))
        )
        print(visible("  " + "  ".join([first, *others]).rstrip()))


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 run``, ``2 runs``."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def megabytes(size: int) -> str:
    """Return a size in bytes as text: ``2.2 MB``, ``277 MB``, ``33 kB``; a file of a few bytes has 1 kB."""
    if size < 100_000:
        return f"{-(-size // 1000)} kB"
    return f"{size / 1e6:,.1f} MB" if size < 10_000_000 else f"{size / 1e6:,.0f} MB"


def percent(share: float | None) -> str:
    """Return a share as percent with one decimal; a dash for ``None``."""
    return "–" if share is None else f"{100 * share:.1f}"


def dollars(amount: float | None) -> str:
    """Return dollars as text; a dash if the amount is unknown, which is not 0."""
    return "–" if amount is None else f"${amount:.4f}" if amount < 1 else f"${amount:.2f}"
