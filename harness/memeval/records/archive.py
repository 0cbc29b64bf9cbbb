"""Files of the run archive: a line of its index, and a line of the queue of runs to push."""

from __future__ import annotations

from memeval.records.base import Stored


class ArchivedHead(Stored):
    """A line of ``index.jsonl.gz``: the ``run.json`` of an archived run.

    The key holds the digest of the text, so a damaged line is found and left out. Then the object itself is read.
    """

    key: str
    """The key of its object in the archive."""
    head: str
    """The text of ``run.json``."""


class QueuedPush(Stored):
    """A line of ``results/.record/archive-queue.jsonl``: a run that is not in the archive yet."""

    run: str
    """The run's folder below the results folder: benchmark, system and run id, separated by slashes."""
    at: str
    """UTC time of the failed push, ISO 8601."""
    problem: str
    """Why the push failed."""
