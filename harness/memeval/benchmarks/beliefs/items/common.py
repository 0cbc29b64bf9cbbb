"""Common parts of items with one question."""

from __future__ import annotations

from datetime import date, timedelta

from memeval.benchmarks.beliefs.history import DraftSession, Made, Writer
from memeval.keys import AnswerKey, ItemKey
from memeval.records.scenario import Ask, Ingest, Scenario

Sessions = tuple[tuple[DraftSession, Ingest], ...]


def surround(writer: Writer, avoid: frozenset[str], least: int = 4) -> None:
    """Add other sessions to a short history: facts on other topics, and chatter.

    A quarter of the histories with at least ``least`` sessions stay unchanged.
    """
    rng = writer.rng
    if len(writer) >= least and rng.random() < 0.25:
        return
    start, end = writer.first - timedelta(days=12), writer.last + timedelta(days=10)
    writer.background(rng.randint(1, 4), start, end, avoid)
    writer.chatter(rng.randint(1, 4), start, end)


def one_question(
    writer: Writer,
    sessions: Sessions,
    question: str,
    asked: date,
    key: AnswerKey,
    evidence: tuple[str, ...],
    slices: dict[str, str],
) -> Made:
    """Return an item with one question after all sessions."""
    need = writer.need
    question_id = f"{need.scenario_id}:q01"
    ask = Ask(question_id=question_id, question=question, timestamp=asked.isoformat())
    scenario = Scenario(scenario_id=need.scenario_id, steps=(*(step for _, step in sessions), ask))
    item = ItemKey(
        item_id=need.scenario_id,
        scenario_id=need.scenario_id,
        question_ids=(question_id,),
        category=need.category,
        cluster=writer.life.person.slug,
        slices=slices,
        evidence=evidence,
        key=key,
    )
    return Made(scenario, item, tuple(draft for draft, _ in sessions))
