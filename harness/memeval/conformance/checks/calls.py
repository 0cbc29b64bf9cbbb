"""The calls that a system may have beyond taking in and asking: banks, tags, times, and forgetting."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from memeval.conformance.check import ContractViolation
from memeval.conformance.checks.seen import listed
from memeval.conformance.facts import PlantedFact
from memeval.conformance.subject import ACKNOWLEDGED, CheckedMemory, CheckedSystem, Observation, PlantedTurn, quoted
from memeval.systems.errors import AdapterRaised

BANK, OTHER_BANK = "first-bank", "second-bank"
TAG, OTHER_TAG = "home", "office"

KEEPS = "Make `retain` or `ingest_session` keep what it is given."


class Planted(NamedTuple):
    """Where facts were planted."""

    bank: str | None
    """The bank; ``None`` for the memory that sessions go into."""
    ids: tuple[str, ...]
    """Ids of the first fact."""
    look: Callable[[str], Observation]
    """Asks there."""


def filters_honoured(subject: CheckedSystem) -> str:
    """The same kind of thing in two banks, under two tags, at two times: each filter must keep the others out."""
    memory, facts = subject.memory(), subject.facts
    topic = facts.topic()
    early, late, elsewhere = (facts.fact(topic) for _ in range(3))
    between = facts.after(200)
    memory.retain(early.said, facts.day, bank=BANK, tags=(TAG,), source_id="s001")
    memory.retain(late.said, facts.after(400), bank=BANK, tags=(OTHER_TAG,), source_id="s002")
    memory.retain(elsewhere.said, facts.day, bank=OTHER_BANK, tags=(TAG,), source_id="s003")
    memory.settle()
    recalled = {
        "bank": (memory.recall(topic.asked, bank=BANK), (early, late), elsewhere),
        "tags": (memory.recall(topic.asked, bank=BANK, tags=(TAG,)), (early,), late),
        "since": (memory.recall(topic.asked, bank=BANK, since=between), (late,), early),
        "until": (memory.recall(topic.asked, bank=BANK, until=between), (early,), late),
    }
    leaking = [name for name, (evidence, _own, other) in recalled.items() if evidence.shows(other.word)]
    if leaking:
        evidence, _own, other = recalled[leaking[0]]
        raise ContractViolation(
            f"recall brought up what the filter {listed(leaking)} keeps out. By {leaking[0]}, it gave "
            f"“{other.word}” too: {evidence}.",
            "Let `retain` keep `bank`, `tags` and `timestamp`, and `recall` go by `bank`, `tags`, `since` and `until`.",
        )
    for name, (evidence, own, _other) in recalled.items():
        if not all(evidence.shows(fact.word) for fact in own):
            raise ContractViolation(
                f"With the filter {name}, recall did not bring up what belongs there: {evidence}.",
                "Let `recall` bring up what `retain` took in, where bank, tags and times fit.",
            )
    return "Recall went by bank, tags and times."


def forgets(subject: CheckedSystem) -> str:
    """One of two facts is forgotten, by its id or else by its text; it must not come back, however it is asked for."""
    memory = subject.memory()
    gone, kept = subject.facts.facts(2)
    planted = _in_bank if memory.can("retain") and memory.can("recall") else _in_session
    where = planted(memory, subject, gone, kept)
    before = where.look(gone.asked)
    if not before.shows(gone.word):
        raise ContractViolation(
            f"Before anything was to be forgotten, it gave {before} for {quoted(gone.asked)}.", KEEPS
        )
    refused: list[AdapterRaised] = []
    for ids, query in ((where.ids, None), (None, gone.said)):
        try:
            memory.forget(bank=where.bank, ids=ids, query=query)
        except AdapterRaised as failure:
            refused.append(failure)
            continue
        left = [e for e in map(where.look, (gone.asked, gone.asked_otherwise)) if e.shows(gone.word)]
        if not left:
            others = "" if where.look(kept.asked).shows(kept.word) else "; it forgot the fact beside it too"
            return f"A forgotten fact could not be asked for, in the same words or in others{others}."
    if len(refused) == 2:
        raise refused[0]
    raise ContractViolation(
        f"After forget was called for {quoted(gone.said)} it gave “{gone.word}” for {quoted(left[0].question)}: "
        f"{left[0]}.",
        "Let `forget` delete what it is called for, in every index and store, rather than hide it.",
    )


def _in_bank(memory: CheckedMemory, subject: CheckedSystem, *facts: PlantedFact) -> Planted:
    """Plant facts as texts in a bank."""
    for number, fact in enumerate(facts, start=1):
        memory.retain(fact.said, subject.facts.day, bank=BANK, source_id=f"s{number:03d}")
    memory.settle()
    return Planted(BANK, ("s001",), lambda question: memory.recall(question, bank=BANK))


def _in_session(memory: CheckedMemory, subject: CheckedSystem, *facts: PlantedFact) -> Planted:
    """Plant facts in sessions."""
    sessions = [memory.session(subject.facts.day, PlantedTurn(fact.said), ACKNOWLEDGED) for fact in facts]
    memory.ingest(*sessions)
    return Planted(None, (sessions[0].session_id, *(turn.turn_id for turn in sessions[0].turns)), memory.ask)
