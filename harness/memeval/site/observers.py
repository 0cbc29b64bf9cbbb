"""Says whose word the isolation, times and environment of a run are: nobody can recompute them."""

from __future__ import annotations

from memeval.leaderboard.board import BoardRow
from memeval.records.ledger import AnswerTrust, Runner

BY_MAINTAINER = ("good", "measured by a maintainer")
BY_SUBMITTER = ("warning", "said by the submitter")
BY_NOBODY = ("note", "not known")


def observer(row: BoardRow) -> tuple[str, str]:
    """Return the badge of what only the runner of a run can know: its kind and its text."""
    answers = row.trust.answers
    if answers is AnswerTrust.IMPORTED:
        return BY_NOBODY
    digest = row.folder.digest
    ran_here = any(entry.runner is Runner.MAINTAINER and entry.run_digest == digest for entry in row.entries)
    if answers in (AnswerTrust.MAINTAINER_RUN, AnswerTrust.REPEATED) or (answers is AnswerTrust.CONTROL and ran_here):
        return BY_MAINTAINER
    return BY_SUBMITTER
