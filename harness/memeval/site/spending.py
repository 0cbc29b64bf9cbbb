"""Columns of what a run took: tokens, dollars, time."""

from __future__ import annotations

from collections.abc import Callable

from memeval.leaderboard.board import Row
from memeval.records.call import Phase, UsageSource
from memeval.records.run import Run, TokenSource
from memeval.site import text
from memeval.site.columns import Column, Direction, Group, Reading

ANSWERING = (Phase.SEARCH, Phase.ASK, Phase.READ)
INGESTING = (Phase.TAKE_IN, Phase.SETTLE)
ASKING = (Phase.ASK, Phase.SEARCH)
TAKING_IN = (Phase.TAKE_IN,)


def _tokens(row: Row) -> Reading:
    tokens = row.run.tokens
    badge = {
        TokenSource.MEASURED: ("good", "measured"),
        TokenSource.SELF_REPORTED: ("warning", "self-reported"),
        TokenSource.NONE: ("none", "not counted"),
    }[tokens.source]
    return Reading(tokens.per_question, badges=(badge,))


def _cost(phases: tuple[Phase, ...], *, each: bool) -> Callable[[Row], Reading]:
    """Return what reads the dollars of some phases, per question or in all, recorded calls at what they once cost."""

    def read(row: Row) -> Reading:
        run = row.run
        used = [run.usage[phase] for phase in phases if phase in run.usage]
        if not used and (run.cost.usd is None or (run.cost.usd > 0 and not run.usage)):
            return Reading(None, note=run.cost.reason or "not kept apart by phase")
        unpriced = sum(usage.unpriced for usage in used)
        if unpriced:
            return Reading(None, note=f"{unpriced} calls unpriced")
        fresh = [usage.usd for usage in used if usage.calls or not usage.cached]
        recorded = [usage.cached_usd for usage in used if usage.cached]
        if None in fresh or None in recorded:
            return Reading(None, note="not reported" if None in fresh else "recorded calls unpriced")
        total = sum(usd for usd in (*fresh, *recorded) if usd is not None)
        over = _questions(run) if each else 1
        if not over:
            return Reading(None, note="no question was asked")
        sources = {usage.source for usage in used}
        badges = (("warning", "self-reported"),) if UsageSource.SELF_REPORTED in sources else ()
        return Reading(total / over, badges=badges)

    return read


def _questions(run: Run) -> int:
    return sum(run.timing.phases[phase].calls for phase in (Phase.ASK, Phase.SEARCH) if phase in run.timing.phases)


def _time(phases: tuple[Phase, ...], part: str) -> Callable[[Row], Reading]:
    """Return what reads a time off the first of some phases that took place."""

    def read(row: Row) -> Reading:
        found = next((row.run.timing.phases[phase] for phase in phases if phase in row.run.timing.phases), None)
        value = getattr(found, part) if found else None
        return Reading(value, note="not measured" if value is None else None)

    return read


SPENDING = (
    Column(
        name="tokens_per_question",
        title="Tokens / question",
        group=Group.SPENT,
        help="Mean tokens of context a question was answered from, and who counted them.",
        read=_tokens,
        write=text.count,
        direction=Direction.LOWER,
    ),
    Column(
        name="cost_per_question_usd",
        title="Cost / question",
        group=Group.SPENT,
        help="Dollars of model calls while searching, asking and reading, over the questions. Calls answered from the "
        "record count at what they cost when they were made. Unknown is not free.",
        read=_cost(ANSWERING, each=True),
        write=text.dollars,
        direction=Direction.LOWER,
    ),
    Column(
        name="cost_take_in_usd",
        title="Cost, taking in",
        group=Group.SPENT,
        help="Dollars of model calls while taking in and settling, for all sessions. Unknown is not free.",
        read=_cost(INGESTING, each=False),
        write=text.dollars,
        direction=Direction.LOWER,
    ),
    Column(
        name="cost_usd",
        title="Cost, whole run",
        group=Group.SPENT,
        help="Dollars of the whole run, by the dated price list that the run names.",
        read=lambda row: Reading(row.run.cost.usd, note=None if row.run.cost.usd is not None else row.run.cost.reason),
        write=text.dollars,
        direction=Direction.LOWER,
    ),
    Column(
        name="ask_p50_seconds",
        title="Ask p50",
        group=Group.TIME,
        help="Median time from sending a question to the last byte of its reply; of a search, where a reader answers.",
        read=_time(ASKING, "p50"),
        write=text.seconds,
        direction=Direction.LOWER,
    ),
    Column(
        name="ask_p95_seconds",
        title="Ask p95",
        group=Group.TIME,
        help="95th percentile of the time from sending a question to the last byte of its reply; of a search, where "
        "a reader answers.",
        read=_time(ASKING, "p95"),
        write=text.seconds,
        direction=Direction.LOWER,
    ),
    Column(
        name="take_in_p50_seconds",
        title="Take in p50",
        group=Group.TIME,
        help="Median time to take in one session.",
        read=_time(TAKING_IN, "p50"),
        write=text.seconds,
        direction=Direction.LOWER,
    ),
    Column(
        name="take_in_total_seconds",
        title="Take in, all",
        group=Group.TIME,
        help="Time spent taking in all sessions, added up.",
        read=_time(TAKING_IN, "total"),
        write=text.seconds,
        direction=Direction.LOWER,
    ),
    Column(
        name="concurrency",
        title="In flight",
        group=Group.TIME,
        help="Scenarios in flight while times were measured. Times at different concurrency do not compare.",
        read=lambda row: Reading(float(row.run.timing.concurrency)),
        write=text.count,
    ),
)
