"""The queue of runs that could not be pushed: ``results/.record/archive-queue.jsonl``."""

from __future__ import annotations

import os
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path

from memeval.archive.remote.layout import is_run
from memeval.archive.runs import RunFolder
from memeval.records.archive import QueuedPush
from memeval.records.errors import BadInput
from memeval.storage import locked, unwritable, write_whole

QUEUE = Path(".record") / "archive-queue.jsonl"
"""Its path in the results folder; version control ignores it."""


def name_of(folder: RunFolder) -> str:
    """Return a run's folder below its results folder."""
    return "/".join(folder.path.absolute().parts[-3:])


def enqueue(results: Path, folder: RunFolder, problem: str) -> None:
    """Append a run, flushed to disk before returning.

    Args:
        problem: why the push failed.

    Raises:
        BadInput: the queue cannot be written.
    """
    path = results / QUEUE
    line = QueuedPush(run=name_of(folder), at=datetime.now(UTC).isoformat(timespec="seconds"), problem=problem)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with locked(path.parent), path.open("a+b") as stream:
            stream.seek(max(stream.tell() - 1, 0))
            joint = b"" if stream.read(1) in (b"", b"\n") else b"\n"  # a former writer was killed
            stream.write(joint + (line.to_json() + "\n").encode())
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        raise unwritable(path, error) from None


def queued_runs(results: Path) -> list[RunFolder]:
    """Return the queued runs that exist. Damaged lines, and lines that name no run of this folder, are left out.

    Raises:
        BadInput: the queue cannot be read.
    """
    folders = (results / each.run for each in _lines(results / QUEUE))
    return [RunFolder(path) for path in dict.fromkeys(folders) if (path / "run.json").is_file()]


def dequeue(results: Path, folders: Collection[RunFolder]) -> None:
    """Remove runs from the queue.

    Raises:
        BadInput: the queue cannot be written.
    """
    path, done = results / QUEUE, {name_of(folder) for folder in folders}
    if not done or not path.exists():
        return
    with locked(path.parent):
        left = [each for each in _lines(path) if each.run not in done]
        if left:
            write_whole(path, "".join(each.to_json() + "\n" for each in left).encode())
        else:
            path.unlink(missing_ok=True)


def _lines(path: Path) -> list[QueuedPush]:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror}).", where=path, remedy="Check its permissions.") from None
    found = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        try:
            each = QueuedPush.parse(line, f"{path}:{number}")
        except BadInput:
            continue
        if is_run(each.run):
            found.append(each)
    return found
