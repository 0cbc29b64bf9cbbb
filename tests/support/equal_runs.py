"""Digests by which equal runs are found equal."""

from memeval.archive.runs import RunFolder
from memeval.records.base import Digest

EQUAL_FILES = ("contexts.jsonl", "grades.jsonl", "failures.jsonl", "prompts.jsonl")
"""Files whose bytes are equal in equal runs. The responses are equal too, except for their timings."""


def comparable_digests(folder: RunFolder) -> dict[str, Digest]:
    """Return a digest for each file that has equal rows in equal runs.

    The log, model calls and requests to hosts record what happened, and differ.
    """
    run = folder.run
    responses = run.responses_digest
    equal = {name: run.files[name].digest for name in EQUAL_FILES if name in run.files}
    return {"responses.jsonl": responses, **equal}
