"""What went wrong with a run, for its page and its items: made once, and kept small."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from memeval.evaluation.failures import failures_of_run, summary
from memeval.evaluation.plan import Exam
from memeval.leaderboard.board import Row
from memeval.records.errors import BadInput, MemevalError
from memeval.records.failure import Cause, FailureSummary, Found
from memeval.records.run import Run
from memeval.site.model import SiteModel

MEANINGS = {
    Cause.ERROR: "The system, its reader or the judge failed.",
    Cause.ABSTAINED_WRONGLY: "The answer says that it does not know, and the history does.",
    Cause.WRONG_PERSON: "The answer is what someone else said, or what is true of someone else.",
    Cause.ANSWERED_WRONGLY: "The answer gives something where the history holds nothing to be sure of.",
    Cause.BROKE_THE_FILTER: "What was brought up is of another bank, tag or time than was asked for.",
    Cause.WRONG_TIME: "The answer is what held at another time, or names another time than asked for.",
    Cause.NOT_RETRIEVED: "Not all of the evidence is among what was retrieved.",
    Cause.RETRIEVED_TOO_LOW: "All of the evidence was retrieved, but too far down to be read or to count.",
    Cause.NOT_USED: "All of the evidence was there to be read, and the answer is wrong all the same.",
    Cause.UNKNOWN: "Neither the answer nor what is known of the evidence shows why.",
}
"""The causes in words."""

FOUND = {
    Found.ALL: "all of it",
    Found.SOME: "some of it",
    Found.NONE: "none of it",
    Found.UNKNOWN: "not known",
}
"""How much evidence was found, in words."""


@dataclass(frozen=True)
class RunFailures:
    """A run's failure analysis."""

    file: bytes
    """All of it as a file, ``failures.json``."""

    @property
    def summary(self) -> FailureSummary:
        """Its counts."""
        found = FailureSummary.model_validate_json(json.dumps(self._data["summary"]))
        # The file's keys are sorted; on a page the causes stand in the order in which they are looked for.
        return found.model_copy(
            update={"causes": {cause: found.causes[cause] for cause in Cause if cause in found.causes}}
        )

    def by_item(self) -> dict[str, dict[str, Any]]:
        """Return its rows by item, as plain data."""
        return {row["item_id"]: row for row in self._data["items"]}

    @property
    def _data(self) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(self.file)
        return data


def run_failures(site: SiteModel, row: Row) -> RunFailures | None:
    """Return a run's failure analysis: what was sealed with it, else made from its rows where its data is here.

    Returns:
        ``None`` where it can neither be read nor made.
    """
    path = row.folder.path
    if path not in site.analyses:
        site.analyses[path] = _file(site, row)
    file = site.analyses[path]
    return None if file is None else RunFailures(file)


def _file(site: SiteModel, row: Row) -> bytes | None:
    run = row.run
    if not row.folder.has_rows:
        return None
    try:
        rows = failures_of_run(row.folder, lambda: _exam(site, run))
    except MemevalError:
        return None
    data = {
        "schema_version": 1,
        "run_id": run.run_id,
        "summary": summary(rows).data(),
        "items": [each.data() for each in rows],
    }
    return (json.dumps(data, sort_keys=True, ensure_ascii=True, allow_nan=False) + "\n").encode()


def _exam(site: SiteModel, run: Run) -> Exam:
    """Return the data a run was made on, as the site has it open.

    Raises:
        BadInput: it is not here.
    """
    view = site.benchmark_of(run.track)
    data = view.data[run.track.data_digest]
    if view.benchmark is None or data.dataset is None:
        raise BadInput(data.missing or "the data is not here.")
    return Exam(view.benchmark, data.dataset, run.track.protocol, run.track.tier)
