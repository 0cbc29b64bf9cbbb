"""Measurements of several commits, and the page that shows them: ``python -m bench --store``."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.gate import compare
from bench.measure import Ratio
from bench.page_tables import with_tables

OUT, PAGE = Path("site/performance.json"), Path("site/performance.md")

SHOWN = 6
"""Number of commits in the table of all commits, the newest ones."""

SHORT_SECONDS = 0.1
"""Shorter times are shown in milliseconds."""

NBSP = "\N{NO-BREAK SPACE}"

Entry = Mapping[str, Any]
"""The measurements of a commit, as they are stored."""


class Uncommitted(Exception):
    """The checkout has changes, so no commit can stand for what was measured."""


def measured_commit() -> str:
    """Return the commit of this checkout.

    Raises:
        Uncommitted: files under version control differ from it.
    """
    if _git("status", "--porcelain", "--untracked-files=no"):
        raise Uncommitted("The checkout has changes that are not committed. Commit them, and measure again.")
    return _git("rev-parse", "HEAD")


def entry(commit: str, found: Sequence[Ratio]) -> dict[str, Any]:
    """Return what is stored of a commit.

    Args:
        commit: the commit, 40 hexadecimal digits.
        found: its measurements.
    """
    return {
        "commit": commit,
        "measured": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": {
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.machine()}",
        },
        "measurements": [each.data() for each in found],
    }


def added(entries: Sequence[Entry], new: Entry) -> list[Entry]:
    """Return the entries with a new one at the end, which replaces an older one of the same commit."""
    return [*(each for each in entries if each["commit"] != new["commit"]), new]


def page_of(page: str, entries: Sequence[Entry]) -> str:
    """Return the page with its tables made again.

    ``entries``: the newest last; the page stays as it is without any.
    """
    if not entries:
        return page
    tables = {"newest": newest_table(entries[-1]), "commits": commits_table(entries)}
    return with_tables(page, "bench --store", tables)


def newest_table(newest: Entry) -> str:
    """Return where the newest entry was measured, and its table in Markdown. A missed target is bold."""
    machine = newest["machine"]
    lines = [
        f"Commit `{newest['commit'][:8]}`, measured on {newest['measured']} with {machine['cores']} cores, Python "
        f"{machine['python']}, {machine['system']}.",
        "",
        "| Measurement | Compared with | memeval | Reference | Ratio | Processor time | Target | Memory |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for each in newest["measurements"]:
        ratio = _times(each["ratio"])
        memory = f"{each['peak_mb']:.0f}{NBSP}MB"
        if each["peak_target_mb"] is not None:
            memory += f" (≤{NBSP}{each['peak_target_mb']:g})"
        cells = (
            each["name"],
            each["reference"],
            _ours(each),
            _time(each["reference_seconds"]),
            ratio if each["ratio"] <= each["target"] else f"**{ratio}**",
            "–" if each["cpu_ratio"] is None else _times(each["cpu_ratio"]),
            f"≤{NBSP}{each['target']:g}{NBSP}×",
            memory if each["peak_target_mb"] is None or each["peak_mb"] <= each["peak_target_mb"] else f"**{memory}**",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def commits_table(entries: Sequence[Entry]) -> str:
    """Return the ratios of the newest commits as a table in Markdown. What became slower beyond noise is bold."""
    shown = entries[-SHOWN:]
    names = list(dict.fromkeys(_name(each) for one in reversed(shown) for each in one["measurements"]))
    heads = [f"`{one['commit'][:8]}`<br>{one['measured']}<br>Python {one['machine']['python']}" for one in shown]
    lines = [f"| Measurement | {' | '.join(heads)} |", f"|---|{'--:|' * len(shown)}"]
    slower = [set[str]()]
    for before, now in pairwise(shown):
        compared, _alone = compare(before["measurements"], now["measurements"])
        slower.append({each.name for each in compared if each.is_regression})
    for name in names:
        cells = []
        for one, regressions in zip(shown, slower, strict=True):
            ratio = next((_times(each["ratio"]) for each in one["measurements"] if _name(each) == name), "–")
            cells.append(f"**{ratio}**" if name in regressions else ratio)
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _ours(measurement: Mapping[str, Any]) -> str:
    """Return our time, with the limit that no program can pass, if that is known and not the reference."""
    ours, limit = _time(measurement["ours_seconds"]), measurement.get("limit_seconds")
    return ours if limit in (None, measurement["reference_seconds"]) else f"{ours} (limit{NBSP}{_time(limit)})"


def _times(ratio: float) -> str:
    return f"{ratio:.2f}{NBSP}×"


def _time(seconds: float) -> str:
    return f"{seconds * 1000:.3g}{NBSP}ms" if seconds < SHORT_SECONDS else f"{seconds:.3g}{NBSP}s"


def _name(measurement: Mapping[str, Any]) -> str:
    return f"{measurement['name']}, beside {measurement['reference']}"


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout.strip()
