"""Prints the scores and the cost of a run; one with too many failed items is not ranked."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, NamedTuple

from memeval.cli.shared import counted, dollars, percent, visible

if TYPE_CHECKING:
    from memeval.archive.runs import RunFolder
    from memeval.evaluation.run.estimate import Estimate
    from memeval.records.grade import GradeState
    from memeval.records.run import Run
    from memeval.records.scores import Composite


LONGEST_ERROR = 200
"""Maximum length of a quoted error, in characters."""


def is_over_gate(run: Run) -> bool:
    """Return whether a run has too many failed items for a rank."""
    from memeval.records.scores import ERROR_GATE

    tally = run.scores.overall
    return tally.errors > ERROR_GATE * tally.planned


def failed_items(folder: RunFolder, *, quoted: bool = True) -> str:
    """Return how many items of a run failed, and the most frequent error if it is to be quoted."""
    tally = folder.run.scores.overall
    failed = f"{tally.errors} of {tally.planned} items failed"
    if not quoted or (usual := most_frequent_error(folder)) is None:
        return failed
    share = "" if tally.errors == 1 else f"{'all' if usual.times == tally.errors else usual.times}: "
    return f"{failed} ({share}{usual.message})"


class MostFrequentError(NamedTuple):
    """The most frequent error of a run."""

    state: GradeState
    message: str
    """The message of the first item with this error, shortened to one line."""
    times: int


def most_frequent_error(folder: RunFolder) -> MostFrequentError | None:
    """Return the most frequent error of a run; ``None`` without errors. Errors that differ in digits alone are one."""
    from memeval.records.grade import GradeState

    raised = {row.item_id: row.error for row in folder.responses() if row.outcome.is_error}
    found: dict[tuple[GradeState, str], list[str]] = {}
    for grade in folder.grades():
        if grade.state.is_error:
            by_judge = grade.state in (GradeState.JUDGE_ERROR, GradeState.UNPARSED)
            reason = (None if by_judge else raised.get(grade.item_id)) or grade.reason or grade.state
            found.setdefault((grade.state, re.sub(r"\d+", "0", reason)), []).append(reason)
    if not found:
        return None
    (state, _), messages = max(found.items(), key=lambda item: len(item[1]))
    return MostFrequentError(state, shortened(visible(" ".join(messages[0].split()))), len(messages))


def shortened(error: str) -> str:
    """Return an error without a full stop. A long one ends after a sentence, or in the middle, and with ``…``."""
    if len(error) <= LONGEST_ERROR:
        return error.rstrip(".")
    head = error[: LONGEST_ERROR - 2]
    sentences, stop, _ = head.rpartition(". ")
    return f"{sentences}. …" if stop and len(sentences) > LONGEST_ERROR // 3 else f"{head.rstrip()} …"


def remedy_for(folder: RunFolder) -> str:
    """Return the remedy for the most frequent error, which :func:`failed_items` names."""
    from memeval.records.grade import GradeState

    usual = most_frequent_error(folder)
    if usual is None:
        return ""
    remedies = {
        GradeState.JUDGE_ERROR: "Check the judge's endpoint, then run the same command with --retry-errors.",
        GradeState.READER_ERROR: "Check the reader's endpoint, then run the same command with --retry-errors.",
        GradeState.TIMEOUT: "Run the same command with --retry-errors, or make the system faster.",
        GradeState.NOT_READY: "Run the same command with --retry-errors, or make the system index faster.",
        GradeState.UNPARSED: "Choose a judge that can read the answers: --judge openai:MODEL.",
        GradeState.ADAPTER_ERROR: "Fix the system and run again.",
    }
    return remedies[usual.state]


def report(folder: RunFolder) -> None:
    run = folder.run
    scores = run.scores
    head = f"no composite: {(scores.composite.reason or '').rstrip('.')}"
    if scores.composite.value is not None:
        head = f"composite {score_of(scores.composite)}"
    alternates = "".join(
        f", by the rule '{name}' {percent(c.value)}" for name, c in scores.alternates.items() if c.value is not None
    )
    if is_over_gate(run):
        head = f"not ranked: {failed_items(folder, quoted=False)}; {head}"
    track = f"protocol {run.track.protocol} (track {run.track_id})"
    print(
        f"{run.system.slug} on {run.track.benchmark}, {track}: {head}{alternates}; "
        f"{run.coverage.done}/{run.coverage.planned} items, {scores.overall.errors} errors{crashed(run)}",
        file=sys.stderr,
    )
    if (ingested := run.ingested_in_vain) is not None and run.system.kind != "control":
        print(
            f"  It ingested {counted(ingested, 'session')}, and no question brought up anything of them: nothing was "
            "stored, or nothing can be found. The run gets no rank.",
            file=sys.stderr,
        )
    for category in scores.categories:
        tally = category.tally
        earned = tally.correct if tally.points is None else f"{tally.points:.3f}"
        print(f"  {category.name:24} {percent(tally.accuracy):>6} %  {earned}/{tally.planned}", file=sys.stderr)
    if run.usage:
        _report_usage(folder)


def crashed(run: Run) -> str:
    """Return how often the system crashed, to append to its errors; empty if it did not."""
    return f", the process crashed {counted(run.crashes, 'time')}" if run.crashes else ""


def score_in_table(run: Run) -> str:
    """Return the composite of a run for a table, and whether it has too many errors for a rank."""
    return score_of(run.scores.composite) + (", not ranked" if is_over_gate(run) else "")


def score_of(composite: Composite) -> str:
    """Return a composite as percent with its interval; a dash without a value."""
    interval = composite.interval
    limits = f" [{percent(interval.low)}, {percent(interval.high)}]" if interval else ""
    return f"{percent(composite.value)}{limits}"


def _report_usage(folder: RunFolder) -> None:
    """Print the model calls of a run, one line per phase."""
    from memeval.records.call import Phase

    for phase in Phase:
        if (usage := folder.run.usage.get(phase)) is None:
            continue
        parts = [f"{usage.calls} calls"]
        parts += [f"{usage.cached} reused"] if usage.cached else []
        parts += [f"{usage.failed} failed"] if usage.failed else []
        if usage.prompt_tokens is not None:
            parts.append(f"{usage.prompt_tokens} + {usage.completion_tokens or 0} tokens")
        parts.append(f"{usage.unpriced} calls unpriced" if usage.unpriced else dollars(usage.usd))
        print(f"  {_phase(phase):24} {', '.join(parts)} ({usage.source})", file=sys.stderr)


def print_estimate(estimate: Estimate) -> None:
    """Print the estimated calls, tokens, dollars and hours of a run, one line per phase, and what is unknown."""
    print(f"{estimate.system} on {estimate.benchmark}: {estimate.items} items, {estimate.questions} questions")
    for part in estimate.parts:
        known = part.usd is not None
        money = dollars(part.usd) if known else f"unpriced (no price known for {part.model})"
        print(
            f"  {_phase(part.phase):6} {part.model}: {part.calls} calls ({part.recorded} already recorded), "
            f"at most {part.prompt_tokens} + {part.completion_tokens} tokens, at most {money}, "
            f"about {_hours(part.hours)} at {part.seconds_per_call:.3g} s a call ({part.basis}), "
            f"{part.concurrency} at a time"
        )
    if not estimate.parts:
        print("  No model calls: neither judge nor reader is a model.")
    for sentence in estimate.unknown:
        print(f"  {sentence}")
    if estimate.prices:
        print(f"  prices: {estimate.prices}")
    print(f"  {_detectable(estimate)}")


def _detectable(estimate: Estimate) -> str:
    """Return what difference between two systems the tier could show, as a sentence or two."""
    from memeval.statistics.detectable import ASSUMED

    if estimate.detectable is None:
        return (
            f"This tier can show no difference between two systems ({counted(estimate.clusters, 'cluster')} of items)."
        )
    return (
        f"This tier can show differences of {100 * estimate.detectable:.1f} points or more between two systems "
        f"({counted(estimate.clusters, 'cluster')} of items; found in 80 of 100 cases). Assumed: they disagree on "
        f"{100 * ASSUMED.share:.0f} % of the items."
    )


def _hours(hours: float) -> str:
    """Return a time in hours, or in minutes if it is shorter than one hour."""
    return f"{hours:.1f} h" if hours >= 1 else f"{60 * hours:.1f} minutes"


def _phase(name: str) -> str:
    """Return the label of a phase. Records spell ingestion ``take_in``."""
    return "ingest" if name == "take_in" else name.replace("_", " ")
