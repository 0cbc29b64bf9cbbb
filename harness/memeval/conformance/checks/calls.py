"""Checks of optional calls: filters by bank, tags and time, and ``forget``."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from memeval.conformance.check import ContractViolation
from memeval.conformance.checks.expecting import listed
from memeval.conformance.facts import PlantedFact
from memeval.conformance.subject import ACKNOWLEDGED, CheckedMemory, CheckedSystem, Observation, PlantedTurn, quoted
from memeval.systems.errors import AdapterRaised

BANK, OTHER_BANK = "first-bank", "second-bank"
TAG, OTHER_TAG = "home", "office"

STORE = "Make `retain` or `ingest_session` store what it receives."


class Planted(NamedTuple):
    bank: str | None
    """The bank; ``None`` for facts in sessions."""
    ids: tuple[str, ...]
    ask: Callable[[str], Observation]


def filters_honoured(subject: CheckedSystem) -> str:
    """Plant similar facts in two banks, under two tags, at two times: each filter must exclude the others."""
    memory, facts = subject.memory(), subject.facts
    topic = facts.topic()
    early, late, elsewhere = (facts.fact(topic) for _ in range(3))
    between = facts.after(200)
    memory.retain(early.statement, facts.day, bank=BANK, tags=(TAG,), source_id="s001")
    memory.retain(late.statement, facts.after(400), bank=BANK, tags=(OTHER_TAG,), source_id="s002")
    memory.retain(elsewhere.statement, facts.day, bank=OTHER_BANK, tags=(TAG,), source_id="s003")
    memory.settle()
    recalled = {
        "bank": (memory.recall(topic.question, bank=BANK), (early, late), elsewhere),
        "tags": (memory.recall(topic.question, bank=BANK, tags=(TAG,)), (early,), late),
        "since": (memory.recall(topic.question, bank=BANK, since=between), (late,), early),
        "until": (memory.recall(topic.question, bank=BANK, until=between), (early,), late),
    }
    ignored = [name for name, (observation, _own, other) in recalled.items() if observation.shows(other.word)]
    if ignored:
        observation, _own, other = recalled[ignored[0]]
        raise ContractViolation(
            f"recall ignored the filter {listed(ignored)}. With {ignored[0]}, it returned “{other.word}” too: "
            f"{observation}.",
            "Store `bank`, `tags` and `timestamp` in `retain`, and filter by `bank`, `tags`, `since` and `until` in "
            "`recall`.",
        )
    for name, (observation, own, _other) in recalled.items():
        if not all(observation.shows(fact.word) for fact in own):
            raise ContractViolation(
                f"With the filter {name}, recall did not return a matching text: {observation}.",
                "Return from `recall` the retained texts whose bank, tags and time match.",
            )
    return "recall filtered by bank, tags and time."


def forgets(subject: CheckedSystem) -> str:
    """Forget one of two facts, by its id or else by its text. No question may find it afterwards."""
    memory = subject.memory()
    gone, kept = subject.facts.facts(2)
    plant = _in_bank if memory.can("retain") and memory.can("recall") else _in_session
    location = plant(memory, subject, gone, kept)
    before = location.ask(gone.question)
    if not before.shows(gone.word):
        raise ContractViolation(f"Asked {quoted(gone.question)} before forget was called, it returned {before}.", STORE)
    refused: list[AdapterRaised] = []
    for ids, query in ((location.ids, None), (None, gone.statement)):
        try:
            memory.forget(bank=location.bank, ids=ids, query=query)
        except AdapterRaised as failure:
            refused.append(failure)
            continue
        left = [e for e in map(location.ask, (gone.question, gone.paraphrase)) if e.shows(gone.word)]
        if not left:
            others = "" if location.ask(kept.question).shows(kept.word) else "; forget deleted another fact too"
            return f"A forgotten fact was not found, in the same words or in others{others}."
    if len(refused) == 2:
        raise refused[0]
    raise ContractViolation(
        f"After forget was called for {quoted(gone.statement)} the question {quoted(left[0].question)} still "
        f"returned “{gone.word}”: {left[0]}.",
        "Make `forget` delete the memory from every index and store.",
    )


def _in_bank(memory: CheckedMemory, subject: CheckedSystem, *facts: PlantedFact) -> Planted:
    for number, fact in enumerate(facts, start=1):
        memory.retain(fact.statement, subject.facts.day, bank=BANK, source_id=f"s{number:03d}")
    memory.settle()
    return Planted(BANK, ("s001",), lambda question: memory.recall(question, bank=BANK))


def _in_session(memory: CheckedMemory, subject: CheckedSystem, *facts: PlantedFact) -> Planted:
    sessions = [memory.session(subject.facts.day, PlantedTurn(fact.statement), ACKNOWLEDGED) for fact in facts]
    memory.ingest(*sessions)
    return Planted(None, (sessions[0].session_id, *(turn.turn_id for turn in sessions[0].turns)), memory.ask)
