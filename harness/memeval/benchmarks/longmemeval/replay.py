"""Makes the steps that a system ingests from published sessions: times, order of replay, ordinals."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from memeval.benchmarks.longmemeval.grading import MARK, UNMARKED
from memeval.records.scenario import Ask, Ingest, Scenario

_WRITTEN = re.compile(
    r"\s*(?P<year>\d{4})(?P<mark>[-/])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})(?:\s*\([^()]*\))?(?:\s+|[Tt])"
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,]\d{1,9})?)?"
    r"(?:\s*(?P<zone>[Zz]|[+-]\d{2}:?\d{2}))?\s*",
    re.ASCII,
)
"""A time as the released files write it, or as ISO 8601 does: year first, with any precision from the minute on."""


class PublishedSession(NamedTuple):
    source_id: str
    date: str
    turns: Sequence[Mapping[str, Any]]
    """Each with ``role`` and ``content``; other fields are dropped."""


def iso(written: str) -> str:
    """Return a time such as ``2023/05/30 (Tue) 23:40`` or ``2023-05-30T23:40`` in ISO 8601, in UTC, to the second.

    The released files have no time zones. The weekday is ignored. Empty if the time is invalid, or could be another.
    """
    found = _WRITTEN.fullmatch(written)
    if found is None:
        return ""
    parts = [int(found[name] or 0) for name in ("year", "month", "day", "hour", "minute", "second")]
    zone = (found["zone"] or "Z").upper().replace("Z", "+00:00")
    try:
        offset = datetime.strptime(zone.replace(":", ""), "%z").utcoffset() or timedelta()
        return (datetime(*parts) - offset).isoformat(timespec="seconds") + "Z"  # type: ignore[arg-type]
    except (ValueError, OverflowError):
        return ""


def unreadable(dates: Iterable[str]) -> str | None:
    """Return the first time that is neither blank nor readable; ``None`` if there is none."""
    return next((date for date in dates if date.strip() and not iso(date)), None)


def replay_order(dates: Sequence[str]) -> list[int]:
    """Return the indexes of sessions in order of ingestion: by time; in the listed order at equal times.

    ``dates``: time of each session in ISO 8601; a session without a time (empty) keeps its position.
    """
    by_time = iter(sorted((place for place, date in enumerate(dates) if date), key=lambda place: dates[place]))
    return [next(by_time) if date else place for place, date in enumerate(dates)]


def scenario_of(scenario_id: str, sessions: Sequence[PublishedSession], asks: Iterable[Ask]) -> Scenario:
    """Return a scenario: sessions in order of replay with their ordinals, then the questions.

    Validates plain data once, because histories have hundreds of turns: building each record takes twice as long.
    """
    dates = [iso(session.date) for session in sessions]
    steps = []
    for number, place in enumerate(replay_order(dates), 1):
        name = f"s{number:03}"
        turns = [
            {"turn_id": f"{name}:t{at:02}", "role": turn["role"], "content": turn["content"]}
            for at, turn in enumerate(sessions[place].turns, 1)
        ]
        session = {"session_id": name, "date": dates[place], "turns": tuple(turns)}
        steps.append({"step": "take_in", "session": session, "source_id": sessions[place].source_id})
    return Scenario.model_validate({"scenario_id": scenario_id, "steps": (*steps, *asks)})


def ordinals_of(scenario: Scenario) -> dict[str, str]:
    """Map the session and turn ids of the source to ordinals.

    A turn id is ``<session id>_<number of the turn, from 1>``. The released evaluation writes ``noans`` instead of
    ``answer`` in ids without evidence, so the mapping has this form too. The ids of the file come last, so that they
    win if the mapping is inverted. If a session appears twice, its id means the first. If a session and a turn have the
    same id, it means the session.
    """
    ingested = [step for step in scenario.steps if isinstance(step, Ingest)]
    named: dict[str, str] = {}
    for step in ingested:
        named.setdefault(step.source_id, step.session.session_id)
    for step in ingested:
        for place, turn in enumerate(step.session.turns, 1):
            named.setdefault(f"{step.source_id}_{place}", turn.turn_id)
    return {name.replace(MARK, UNMARKED): ordinal for name, ordinal in named.items()} | named
