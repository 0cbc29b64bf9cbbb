"""Builds frames in a process that has pyarrow: reads a folder a line, prints what it found as a line of JSON.

``python -m tests.support.indexed_frames`` with pyarrow on the path; see :class:`IndexedFrames`, which starts it.
"""

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from unittest.mock import patch

import pandas as pd

import memeval
from memeval.archive.runs import RunFolder
from memeval.exchange.parquet import Row
from memeval.leaderboard.frame_index import LAYOUT, FramesWarning
from memeval.leaderboard.frame_rows import item_rows
from memeval.records.errors import BadInput
from tests.support.products import PYARROW, installed

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Found:
    """What frames hold, and how they were made."""

    read: list[str]
    """Ids of the runs whose rows were read."""
    warnings: list[str]
    error: str | None
    items: list[dict[str, Any]]
    """The rows of ``items``."""
    runs: list[dict[str, Any]]
    """The rows of ``runs``."""
    types: dict[str, str]
    """The types of the columns of both, by name."""


class IndexedFrames:
    """A process with pyarrow that builds frames."""

    def __init__(self, cache: Path) -> None:
        path = os.pathsep.join([str(ROOT), str(installed(PYARROW))])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.indexed_frames"],
            env={**os.environ, "PYTHONPATH": path, "MEMEVAL_CACHE": str(cache)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def build(self, results: Path, *, rebuild: bool = False, layout: int = LAYOUT) -> Found:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"results": str(results), "rebuild": rebuild, "layout": layout}) + "\n")
        self._process.stdin.flush()
        return Found(**json.loads(self._process.stdout.readline()))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._process.communicate()


def built(results: str, *, rebuild: bool = False, layout: int = LAYOUT) -> dict[str, Any]:
    read: list[str] = []

    def noted(folder: RunFolder) -> Iterator[Row]:
        read.append(folder.run.run_id)
        return item_rows(folder)

    error, items, runs = None, None, None
    with (
        patch("memeval.leaderboard.frames.item_rows", noted),
        patch("memeval.leaderboard.frame_index.LAYOUT", layout),
        warnings.catch_warnings(record=True, action="always", category=FramesWarning) as said,
    ):
        try:
            frames = memeval.frames(results, rebuild=rebuild)
            runs, items = frames.runs, frames.items
        except BadInput as refused:
            error = str(refused)
    return {
        "read": read,
        "warnings": [str(each.message) for each in said],
        "error": error,
        "items": _plain(items),
        "runs": _plain(runs),
        "types": {
            name: str(kind) for frame in (runs, items) if frame is not None for name, kind in frame.dtypes.items()
        },
    }


def _plain(frame: pd.DataFrame | None) -> list[dict[str, Any]]:
    if frame is None:
        return []
    text = frame.to_json(orient="records", double_precision=15, date_format="iso")
    rows: list[dict[str, Any]] = json.loads(text)
    return rows


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(built(**json.loads(line))), flush=True)
