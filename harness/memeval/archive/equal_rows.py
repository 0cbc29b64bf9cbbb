"""Digests by which equal runs are found equal: whatever their concurrency, clocks and interruptions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from memeval.archive.runs import RunFolder
from memeval.records.base import Digest, Stored, canonical_json

EQUAL_FILES = ("contexts.jsonl", "grades.jsonl", "failures.jsonl", "prompts.jsonl")
"""Files whose bytes are equal in equal runs. The responses are equal too, except for their timings."""


def comparable_digest(rows: Iterable[Stored]) -> Digest:
    """Return the digest of rows without the fields that differ between equal runs, such as clocks."""
    inside = hashlib.sha256()
    for row in rows:
        inside.update(canonical_json(row.comparable()).encode() + b"\n")
    return "sha256:" + inside.hexdigest()


def comparable_digests(folder: RunFolder) -> dict[str, Digest]:
    """Return a digest for each file that has equal rows in equal runs.

    The log, model calls and requests to hosts record what happened, and differ.

    Raises:
        BadInput: the head, or the responses of a run without ``responses_digest``, cannot be read.
    """
    run = folder.run
    responses = run.responses_digest or comparable_digest(folder.responses())
    equal = {name: run.files[name].digest for name in EQUAL_FILES if name in run.files}
    return {"responses.jsonl": responses, **equal}
