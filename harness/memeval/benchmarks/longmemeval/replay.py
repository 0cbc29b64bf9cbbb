"""From sessions as published to what a system takes in: times, the order of replay, and ordinals."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from memeval.grading.official import MARK, UNMARKED
from memeval.records.scenario import Ask, Ingest, Scenario

_WRITTEN = re.compile(r"\s*(\d{4})/(\d{1,2})/(\d{1,2})(?:\s*\([^()]*\))?\s+(\d{1,2}):(\d{2})\s*", re.ASCII)


class PublishedSession(NamedTuple):
    """A session as published."""

    source_id: str
    date: str
    turns: Sequence[Mapping[str, Any]]
    """Each with ``role`` and ``content``; whatever else stands in them goes no further."""


def iso(written: str) -> str:
    """Return a time such as ``2023/05/30 (Tue) 23:40`` in ISO 8601, as UTC; empty where it does not parse.

    The files name no zone, and their weekday says nothing that the date does not.
    """
    found = _WRITTEN.fullmatch(written)
    if found is None:
        return ""
    year, month, day, hour, minute = found.groups()
    time = f"{year}-{month:0>2}-{day:0>2}T{hour:0>2}:{minute}:00"
    try:
        datetime.fromisoformat(time)
    except ValueError:
        return ""
    return time + "Z"


def replay_order(dates: Sequence[str]) -> list[int]:
    """Return the places of sessions in the order in which they are taken in: by time, and as listed at equal times.

    Args:
        dates: per session its time in ISO 8601; a session whose time is unknown (empty) keeps its place.
    """
    by_time = iter(sorted((place for place, date in enumerate(dates) if date), key=lambda place: dates[place]))
    return [next(by_time) if date else place for place, date in enumerate(dates)]


def scenario_of(scenario_id: str, told: Sequence[PublishedSession], asks: Iterable[Ask]) -> Scenario:
    """Return sessions in the order of replay under their ordinals, and then the questions.

    A history has hundreds of turns, and one validation of plain data takes half the time of building each record.
    """
    dates = [iso(session.date) for session in told]
    steps = []
    for number, place in enumerate(replay_order(dates), 1):
        name = f"s{number:03}"
        turns = [
            {"turn_id": f"{name}:t{at:02}", "role": turn["role"], "content": turn["content"]}
            for at, turn in enumerate(told[place].turns, 1)
        ]
        session = {"session_id": name, "date": dates[place], "turns": tuple(turns)}
        steps.append({"step": "take_in", "session": session, "source_id": told[place].source_id})
    return Scenario.model_validate({"scenario_id": scenario_id, "steps": (*steps, *asks)})


def ordinals_of(scenario: Scenario) -> dict[str, str]:
    """Return what the source calls sessions and turns, each with its ordinal.

    A turn is ``<session id>_<its place among all turns, from 1>``. The released evaluation writes ``noans`` for
    ``answer`` in the ids of what holds no evidence, so that form is known as well; the ids of the file come last, for
    whoever turns the mapping round. Where one history holds a session twice, its name stands for the first; where a
    session and a turn have one name, it stands for the session.
    """
    taken = [step for step in scenario.steps if isinstance(step, Ingest)]
    named: dict[str, str] = {}
    for step in taken:
        named.setdefault(step.source_id, step.session.session_id)
    for step in taken:
        for place, turn in enumerate(step.session.turns, 1):
            named.setdefault(f"{step.source_id}_{place}", turn.turn_id)
    return {name.replace(MARK, UNMARKED): ordinal for name, ordinal in named.items()} | named
