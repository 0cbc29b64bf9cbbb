"""Columns of tokens, cost and latency."""

from collections.abc import Callable
from functools import partial

from memeval.execution.readers import NATIVE
from memeval.leaderboard.board import BoardRow
from memeval.records.call import Phase, UsageSource
from memeval.records.run import Isolation, Network, Run, TokenSource
from memeval.site.model import text
from memeval.site.model.labels import FREE, cost_reason
from memeval.site.table.columns import BetterEnd, Column, ColumnGroup, ColumnReader

_ANSWERING = (Phase.SEARCH, Phase.ASK, Phase.READ)
_INGESTING = (Phase.INGEST, Phase.SETTLE)
_QUESTION = (Phase.ASK, Phase.SEARCH)
_SESSION = (Phase.INGEST,)


def _tokens(row: BoardRow) -> ColumnReader:
    tokens = row.run.tokens
    badge = {
        TokenSource.MEASURED: ("good", "measured"),
        TokenSource.SELF_REPORTED: ("warning", "self-reported"),
        TokenSource.NONE: ("none", "not counted"),
    }[tokens.source]
    if tokens.source is TokenSource.MEASURED and row.run.track.reader == NATIVE:
        badge = ("warning", "self-reported context")
    return ColumnReader(tokens.per_question, badges=(badge,))


def _cost(phases: tuple[Phase, ...], *, each: bool) -> Callable[[BoardRow], ColumnReader]:
    """Return a function that reads the cost of some phases; replayed calls count at their original cost."""

    def read(row: BoardRow) -> ColumnReader:
        run = row.run
        used = [run.usage[phase] for phase in phases if phase in run.usage]
        if not any(usage.calls or usage.cached or usage.usd for usage in used) and cannot_call(run):
            return ColumnReader(0.0, note=FREE)
        if not used and (run.cost.usd is None or (run.cost.usd > 0 and not run.usage)):
            return ColumnReader(None, note=cost_reason(run.cost.reason) or "unknown: not recorded by phase")
        unpriced = sum(usage.unpriced for usage in used)
        if unpriced:
            return ColumnReader(None, note=f"{unpriced} calls without a price")
        fresh = [usage.usd for usage in used if usage.calls or not usage.cached]
        recorded = [usage.cached_usd for usage in used if usage.cached]
        if None in fresh or None in recorded:
            return ColumnReader(None, note="not reported" if None in fresh else "replayed calls without a price")
        total = sum(usd for usd in (*fresh, *recorded) if usd is not None)
        over = _questions(run) if each else 1
        if not over:
            return ColumnReader(None, note="no question was asked")
        sources = {usage.source for usage in used}
        badges = (("warning", "self-reported"),) if UsageSource.SELF_REPORTED in sources else ()
        return ColumnReader(total / over, badges=badges)

    return read


_ALL = _cost(tuple(Phase), each=False)


def total_cost(row: BoardRow) -> ColumnReader:
    """Return the cost of a whole run, with the reason for a cost of $0 or for an unknown one."""
    cost = row.run.cost
    if cost.usd or not cannot_call(row.run):
        return ColumnReader(cost.usd, note=cost_reason(cost.reason) if cost.usd is None else None)
    return _ALL(row)


def cannot_call(run: Run) -> bool:
    """Return whether a system could reach no model that costs money: it ran here, in a sandbox without network."""
    confined = run.isolation is Isolation.SANDBOXED and run.network is Network.NONE
    return confined and run.imported is None and not run.system.hosts and not run.system.declared_models


def _questions(run: Run) -> int:
    return sum(run.timing.phases[phase].calls for phase in _QUESTION if phase in run.timing.phases)


def _time(phases: tuple[Phase, ...], part: str) -> Callable[[BoardRow], ColumnReader]:

    def read(row: BoardRow) -> ColumnReader:
        found = next((row.run.timing.phases[phase] for phase in phases if phase in row.run.timing.phases), None)
        value = getattr(found, part) if found else None
        return ColumnReader(value, note="not measured" if value is None else None)

    return read


_spent = partial(Column, group=ColumnGroup.SPENT, write=text.dollars, direction=BetterEnd.LOWER)
_timed = partial(Column, group=ColumnGroup.TIME, write=text.seconds, direction=BetterEnd.LOWER)

TOKENS = Column(
    name="tokens_per_question",
    title="Tokens / question",
    group=ColumnGroup.SPENT,
    help="Mean context tokens per question. Measured: counted by memeval, in the context that a reader received. "
    "Self-reported context: counted by memeval, but the system writes its own answers and reports the context. "
    "Self-reported: counted by the system.",
    read=_tokens,
    write=text.count,
    direction=BetterEnd.LOWER,
    first=True,
)
COST_PER_QUESTION = _spent(
    name="cost_per_question_usd",
    title="Cost / question",
    help="Cost of the model calls for search and answers, per question. Replayed calls count at their original "
    "cost. “No model calls possible”: the system had no network and called no model through memeval. A dash means "
    "unknown, not free.",
    read=_cost(_ANSWERING, each=True),
    first=True,
)
SPENDING = (
    TOKENS,
    COST_PER_QUESTION,
    _spent(
        name="cost_take_in_usd",
        title="Ingestion cost",
        help="Cost of the model calls for ingestion and indexing of all sessions. A dash means unknown, not free.",
        read=_cost(_INGESTING, each=False),
    ),
    _spent(
        name="cost_usd",
        title="Total cost",
        help="Cost of the whole run, by the dated price list that the run names. “Not metered”: the system may call "
        "models without memeval, so its cost is unknown. “No model calls possible”: it had no network and no model.",
        read=total_cost,
    ),
    _timed(
        name="ask_p50_seconds",
        title="Answer latency (median)",
        help="Median time from a question to the last byte of its reply. With a fixed reader: time of the search.",
        read=_time(_QUESTION, "p50"),
        first=True,
    ),
    _timed(
        name="ask_p95_seconds",
        title="Answer latency (p95)",
        help="95th percentile of the time from a question to the last byte of its reply. With a fixed reader: time of "
        "the search.",
        read=_time(_QUESTION, "p95"),
    ),
    _timed(
        name="take_in_p50_seconds",
        title="Ingest latency (median)",
        help="Median time to ingest one session.",
        read=_time(_SESSION, "p50"),
    ),
    _timed(
        name="take_in_total_seconds",
        title="Ingest time, summed",
        help="Sum of the time to ingest all sessions, over all workers: longer than the run where sessions are "
        "ingested at the same time.",
        read=_time(_SESSION, "total"),
    ),
    Column(
        name="concurrency",
        title="Concurrency",
        group=ColumnGroup.TIME,
        help="Questions in flight at the same time. Latencies at different concurrency are not comparable.",
        read=lambda row: ColumnReader(float(row.run.timing.concurrency)),
        write=text.count,
    ),
)
