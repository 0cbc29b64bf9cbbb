"""The error gate: for a run with too many failed items, the terminal says beside the score that it is not ranked."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memeval.archive.runs import RunFolder
    from memeval.records.grade import GradeState
    from memeval.records.run import Run

LONGEST_ERROR = 200
"""Maximum length of a quoted error, in characters."""


def is_over_gate(run: Run) -> bool:
    """Return whether a run has too many failed items for a rank."""
    from memeval.records.scores import ERROR_GATE

    tally = run.scores.overall
    return tally.errors > ERROR_GATE * tally.planned


def failed_items(folder: RunFolder, *, quoted: bool = True) -> str:
    """Return how many items of a run failed, and the first error if it is to be quoted."""
    tally = folder.run.scores.overall
    first = f" (first: {first_error(folder)})" if quoted else ""
    return f"{tally.errors} of {tally.planned} items failed{first}"


def first_error(folder: RunFolder) -> str:
    """Return the error of the first failed item, shortened to one line."""
    from memeval.records.grade import GradeState
    from memeval.systems.channel import visible

    grade = next((row for row in folder.grades() if row.state.is_error), None)
    if grade is None:
        return "unknown"
    reason = grade.reason
    if grade.state not in (GradeState.JUDGE_ERROR, GradeState.UNPARSED):
        rows = [row.error for row in folder.responses() if row.item_id == grade.item_id and row.outcome.is_error]
        reason = rows[-1] if rows else reason
    return shortened(visible(" ".join((reason or grade.state).split())))


def shortened(error: str) -> str:
    """Return an error without a full stop. A long one ends after a sentence, or in the middle, and with ``…``."""
    if len(error) <= LONGEST_ERROR:
        return error.rstrip(".")
    head = error[: LONGEST_ERROR - 2]
    sentences, stop, _ = head.rpartition(". ")
    return f"{sentences}. …" if stop and len(sentences) > LONGEST_ERROR // 3 else f"{head.rstrip()} …"


def remedy_for(folder: RunFolder) -> str:
    """Return the remedy for the first failed item, which :func:`failed_items` names."""
    grade = next((row for row in folder.grades() if row.state.is_error), None)
    return "" if grade is None else _remedy(grade.state)


def _remedy(state: GradeState) -> str:
    from memeval.records.grade import GradeState

    remedies = {
        GradeState.JUDGE_ERROR: "Check the judge's endpoint, then run the same command with --retry-errors.",
        GradeState.READER_ERROR: "Check the reader's endpoint, then run the same command with --retry-errors.",
        GradeState.TIMEOUT: "Run the same command with --retry-errors, or make the system faster.",
        GradeState.NOT_READY: "Run the same command with --retry-errors, or make the system index faster.",
        GradeState.UNPARSED: "Choose a judge that can read the answers: --judge openai:MODEL.",
        GradeState.ADAPTER_ERROR: "Fix the system and run again.",
    }
    return remedies[state]
