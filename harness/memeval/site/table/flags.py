"""Warnings about a row, samples that a maintainer asked again, and who observed its times and environment."""

from collections.abc import Iterator
from dataclasses import dataclass

from memeval.leaderboard.board import FILE_GREP, NO_MEMORY, BoardRow, BoardTable
from memeval.records.ledger import AnswerTrust, LedgerEvent, Runner
from memeval.records.run import Run, TokenSource, View
from memeval.site.model.content import BenchmarkView, SiteModel
from memeval.statistics.intervals import wilson

BY_MAINTAINER = ("good", "measured by a maintainer")
BY_SUBMITTER = ("warning", "said by the submitter")
BY_NOBODY = ("note", "not known")


def observer(row: BoardRow) -> tuple[str, str]:
    answers = row.trust.answers
    if answers is AnswerTrust.IMPORTED:
        return BY_NOBODY
    digest = row.folder.digest
    ran_here = any(entry.runner is Runner.MAINTAINER and entry.run_digest == digest for entry in row.entries)
    if answers in (AnswerTrust.MAINTAINER_RUN, AnswerTrust.REPEATED) or (answers is AnswerTrust.CONTROL and ran_here):
        return BY_MAINTAINER
    return BY_SUBMITTER


MOST = 0.8
"""A system that sends at least this share of the tokens of the history is marked."""

FULL_CONTEXT = "full-context"
"""The control whose context is the history."""


@dataclass(frozen=True)
class RowFlag:
    name: str
    """Shown beside the name of the system."""
    sentence: str


def marks(site: SiteModel, table: BoardTable, row: BoardRow) -> tuple[RowFlag, ...]:
    """Return the warnings of a run.

    ``site``: all runs; the full-context control on the same items gives the tokens of the history.
    """
    benchmark = site.benchmark_of(row.run.track)
    found = [RowFlag(mark.name.value, mark.sentence) for mark in row.marks]
    found += [*_over_ceiling(benchmark, row.run), *_full_context(site, row)]
    if not row.is_control and row.run.coverage.full:
        found += [*_under_no_memory(benchmark, table, row.run), *_under_file_search(table, row)]
    return tuple(found)


def sample_note(row: BoardRow, event: LedgerEvent) -> str | None:
    """Return the result of the last sample that a maintainer asked or ran again; ``None`` without one."""
    sample = row.samples.get(event)
    if sample is None:
        return None
    low, high = wilson(sample.agreed, sample.asked)
    what = "verdicts asked again" if event is LedgerEvent.RE_ASKED else "answers run again"
    return f"{what}: {sample.agreed} of {sample.asked} equal ({100 * low:.0f}–{100 * high:.0f} %)"


def _over_ceiling(benchmark: BenchmarkView, run: Run) -> Iterator[RowFlag]:
    """Yield a mark if a category scores above the share of its reference answers that are correct.

    Samples are left out, since they may hold no wrong reference answer, and so are retrieval protocols.
    """
    protocol = benchmark.protocol(run.track)
    if run.track.sample is not None or (protocol is not None and protocol.reader is not None):
        return
    over = [
        benchmark.category_title(category.name)
        for category in run.scores.categories
        if (most := benchmark.ceiling(category.name)) is not None and (category.tally.accuracy or 0.0) > most
    ]
    if over:
        yield RowFlag(
            "above possible score",
            f"Some reference answers in {_listed(over)} are known to be wrong. The score is higher than the correct "
            "ones allow, so the reference answers may have leaked.",
        )


def _full_context(site: SiteModel, row: BoardRow) -> Iterator[RowFlag]:
    run = row.run
    sent, is_whole = run.tokens.per_question, row.is_control and run.system.slug == FULL_CONTEXT
    if sent is None or run.tokens.source is not TokenSource.MEASURED or is_whole:
        return
    wholes = [
        other.run.tokens.per_question
        for other in site.controls.get(FULL_CONTEXT, ())
        if other.run.system.view is View.ALL
        and other.run.coverage.full
        and _items(other.run) == _items(run)
        and other.run.tokens.per_question
    ]
    whole = max((each for each in wholes if each), default=None)
    if whole is not None and sent >= MOST * whole:
        yield RowFlag(
            "sends whole history",
            f"On average, a question is sent with {100 * sent / whole:.0f} % of the tokens of the history: little is "
            "retrieved selectively.",
        )


def _under_file_search(table: BoardTable, row: BoardRow) -> Iterator[RowFlag]:
    """Yield a mark if the whole interval of a score is below the score of text files and grep.

    Where they are the best simple baseline, each row has a paired test against them, which decides better than an
    interval, so there is no mark.
    """
    if row.baseline == FILE_GREP and row.against_baseline is not None:
        return
    search = table.control(FILE_GREP)
    value = search.score if search and search.run.coverage.full else None
    interval = row.run.scores.composite.interval
    if value is not None and interval is not None and interval.high < value:
        yield RowFlag(
            "below file search",
            f"Text files searched with grep score {100 * value:.1f} %, and the interval of this score ends at "
            f"{100 * interval.high:.1f} %.",
        )


def _under_no_memory(benchmark: BenchmarkView, table: BoardTable, run: Run) -> Iterator[RowFlag]:
    nothing = table.control(NO_MEMORY)
    floor = {c.name: c.tally.accuracy for c in nothing.run.scores.categories} if nothing else {}
    under = [
        benchmark.category_title(category.name)
        for category in run.scores.categories
        if category.tally.accuracy is not None and category.tally.accuracy < (floor.get(category.name) or 0.0)
    ]
    if under:
        yield RowFlag(
            "below no-memory",
            f"The no-memory control scores higher in {_listed(under)}. Check the adapter for a fault.",
        )


def _items(run: Run) -> tuple[object, ...]:
    track = run.track
    return track.benchmark, track.data_digest, track.tier, track.sample, track.planned


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
