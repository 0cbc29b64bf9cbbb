"""A long history of runs, made from one run by copying. Nothing in it was ever measured."""

import gzip
import hashlib
import json
import shutil
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from memeval.archive.runs import RunFolder
from memeval.records.base import Digest, digest_bytes
from memeval.records.ledger import LedgerEntry, LedgerEvent

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
"""Start of the first run; the others follow a minute apart."""

Head = dict[str, Any]


def made_history(
    results: Path,
    first: RunFolder,
    count: int,
    *,
    start: int = 0,
    own_rows: bool = False,
    accepted: bool = False,
    changed: Callable[[int, Head], Head] = lambda _number, head: head,
) -> list[RunFolder]:
    """Write copies of a run, oldest first, and return them.

    Args:
        results: the results folder, without a ledger.
        first: the run.
        count: number of copies.
        start: number of the first copy.
        own_rows: whether each copy has rows with other digests: the day in them is replaced by the copy's number.
        accepted: whether the ledger accepts every copy.
        changed: returns the ``run.json`` of a copy from its number and the usual content.
    """
    head = json.loads(first.head_bytes)
    made, entries = [], []
    for number in range(start, start + count):
        at = FIRST + timedelta(minutes=number)
        run_id = f"{at:%Y%m%dT%H%M%SZ}-{head['fingerprint'][:8]}"
        folder = results / head["track"]["benchmark"].partition("@")[0] / head["system"]["slug"] / run_id
        shutil.copytree(first.path, folder)
        timing = head["timing"] | {"started": at.isoformat(timespec="milliseconds")}
        own = head | {"run_id": run_id, "timing": timing}
        if own_rows:
            own["files"] = _with_own_rows(folder, head, number)
        text = json.dumps(changed(number, own)).encode()
        (folder / "run.json").write_bytes(text)
        entries.append((run_id, digest_bytes(text), at))
        made.append(RunFolder(folder))
    if accepted:
        accept(results, entries)
    return made


def _with_own_rows(folder: Path, head: Head, number: int) -> Head:
    """Replace the day in all rows of a copy, and return what its ``run.json`` says of them."""
    day = head["timing"]["started"][:10]
    files = {}
    for name, stated in head["files"].items():
        path = folder / f"{name}.gz"
        rows = gzip.decompress(path.read_bytes()).replace(f"{day}T".encode(), f"{day[:8]}{number:06}T".encode())
        path.write_bytes(gzip.compress(rows, mtime=0))
        files[name] = stated | {"digest": "sha256:" + hashlib.sha256(rows).hexdigest()}
    return files


def accept(results: Path, runs: Iterable[tuple[str, Digest, datetime]]) -> None:
    """Write a ledger that accepts runs: id, digest of ``run.json``, and time."""
    lines: list[str] = []
    previous: Digest | None = None
    for run_id, digest, at in runs:
        entry = LedgerEntry(
            event=LedgerEvent.ACCEPTED,
            run_id=run_id,
            run_digest=digest,
            at=at.isoformat(timespec="seconds"),
            by="made",
            reason="made",
            previous=previous,
        )
        lines.append(entry.to_json())
        previous = digest_bytes(lines[-1].encode())
    (results / "ledger.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
