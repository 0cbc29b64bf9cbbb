"""The failure analysis of a run, for its page and its items."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from memeval.archive.run_cache import kept
from memeval.archive.runs import RunFolder
from memeval.benchmarks.session import BenchmarkSession
from memeval.leaderboard.board import BoardRow
from memeval.records.base import Digest, digest_bytes
from memeval.records.errors import BadInput, MemevalError
from memeval.records.failure import Cause, FailureSummary
from memeval.records.run import Run
from memeval.site.model.benchmark_data import BenchmarkData
from memeval.site.model.content import SiteModel, package_of
from memeval.site.model.files import encode

MEANINGS = {
    Cause.ERROR: "The system, its reader or the judge failed.",
    Cause.ABSTAINED_WRONGLY: "The answer says it does not know, but the history holds the answer.",
    Cause.WRONG_PERSON: "The answer is true of another person.",
    Cause.ANSWERED_WRONGLY: "The answer states a fact, but the history does not support any.",
    Cause.BROKE_THE_FILTER: "A retrieved text is from another bank, tag or time than requested.",
    Cause.WRONG_TIME: "The answer was true at another time than the question asks about, or names another time.",
    Cause.NOT_RETRIEVED: "Some of the evidence was not retrieved.",
    Cause.RETRIEVED_TOO_LOW: "All evidence was retrieved, but ranked too low to be read or to count.",
    Cause.NOT_USED: "All evidence was retrieved and read, but the answer is wrong.",
    Cause.UNKNOWN: "Neither the answer nor the retrieved evidence explains the error.",
}


@dataclass(frozen=True)
class RunFailures:
    head: bytes
    read: Callable[[], bytes]

    @cached_property
    def digest(self) -> Digest:
        return str(self._head["digest"])

    @cached_property
    def _head(self) -> dict[str, Any]:
        return dict(json.loads(self.head))

    @cached_property
    def summary(self) -> FailureSummary:
        found = FailureSummary.model_validate_json(json.dumps(self._head["summary"]))
        # The file's keys are sorted by name; the page lists causes in the order in which they are tested.
        return found.model_copy(
            update={"causes": {cause: found.causes[cause] for cause in Cause if cause in found.causes}}
        )

    def by_item(self) -> dict[str, dict[str, Any]]:
        return {row["item_id"]: row for row in json.loads(self.read())["items"]}


def run_failures(site: SiteModel, row: BoardRow) -> RunFailures | None:
    """Return a run's failure analysis: as sealed with the run, else computed from its rows and data.

    Returns:
        ``None`` if the rows or the data are missing.
    """
    data = site.benchmark_of(row.run.track).data_for(row.run.track)
    if row.folder.path not in site.failure_heads:
        site.failure_heads[row.folder.path] = failures_head(row.folder, data)
    head = site.failure_heads[row.folder.path]
    return None if head is None else RunFailures(head, lambda: failures_file(row.folder, data) or b"")


def failures_head(folder: RunFolder, data: BenchmarkData) -> bytes | None:
    """Return digest and counts of :func:`failures_file`, kept from build to build; ``None`` without the file."""

    def made() -> bytes:
        file = failures_file(folder, data)
        if file is None:
            return b""
        return encode({"digest": digest_bytes(file), "summary": json.loads(file)["summary"]})

    return kept(folder, "failure-counts", _depends(folder, data), made) or None if folder.has_rows else None


def failures_file(folder: RunFolder, data: BenchmarkData) -> bytes | None:
    """Return the failure analysis of a run as a file, kept from build to build; ``None`` without its rows or data."""
    if not folder.has_rows:
        return None
    return kept(folder, "failures", _depends(folder, data), lambda: _analysed(folder, data)) or None


def _depends(folder: RunFolder, data: BenchmarkData) -> str:
    return f"data {data.is_here}, package {package_of(folder.run.track.benchmark)}"


def _analysed(folder: RunFolder, opened: BenchmarkData) -> bytes:
    """Return the analysis as a file; empty if its rows or data cannot be read."""
    from memeval.analysis.failures import summary
    from memeval.evaluation.verify.reproduce import failures_of_run

    run = folder.run
    try:
        rows = failures_of_run(folder, lambda: _benchmark_session(opened, run))
    except MemevalError:
        return b""
    data = {
        "schema_version": 1,
        "run_id": run.run_id,
        "summary": summary(rows).data(),
        "items": [each.data() for each in rows],
    }
    return (json.dumps(data, sort_keys=True, ensure_ascii=True, allow_nan=False) + "\n").encode()


def _benchmark_session(data: BenchmarkData, run: Run) -> BenchmarkSession:
    """Return the data that a run used. Raises ``BadInput`` if the data is not on this machine."""
    if data.benchmark is None or data.dataset is None:
        raise BadInput(data.missing or "the data is not on this machine.")
    return BenchmarkSession(data.benchmark, data.dataset, run.track.protocol, run.track.tier)
