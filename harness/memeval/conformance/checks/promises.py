"""Checks of what users are promised, in small: banks apart, deletion without loss, and sources."""

from __future__ import annotations

from memeval.conformance.check import ContractViolation, MethodMissing
from memeval.conformance.checks.calls import BANK, OTHER_BANK, STORE
from memeval.conformance.facts import PlantedFact
from memeval.conformance.subject import ACKNOWLEDGED, CheckedMemory, CheckedSystem, Observation, PlantedTurn, quoted
from memeval.systems.errors import AdapterRaised

ALIKE = ("team:ana", "team:ana0", "Team:ana")
"""Names of banks that differ in little."""

AGAIN = "s009"
"""Id of a text that is retained after its like was forgotten."""


def banks_apart(subject: CheckedSystem) -> str:
    """Plant facts on one topic in banks with similar names, in turn: each bank must return its own and no other."""
    memory, topic = subject.memory(), subject.facts.topic()
    own = {bank: subject.facts.fact(topic) for bank in ALIKE}
    for number, (bank, fact) in enumerate(own.items(), start=1):
        memory.retain(fact.statement, subject.facts.day, bank=bank, source_id=f"s{number:03d}")
    memory.settle()
    for bank, fact in own.items():
        found = memory.recall(topic.question, bank=bank)
        for other in ALIKE:
            if other != bank and found.shows(own[other].word):
                raise ContractViolation(
                    f"recall in the bank '{bank}' returned “{own[other].word}” of the bank '{other}': {found}.",
                    "Compare the whole name of a bank in `recall`, as it is.",
                )
        _expect(found, fact, f"in the bank '{bank}'")
    return "Banks with similar names returned their own texts only."


def forget_keeps_others(subject: CheckedSystem) -> str:
    """Forget one of two facts of a bank by its id. The others stay, and the fact can be told again."""
    memory, topic = subject.memory(), subject.facts.topic()
    gone, elsewhere, kept = subject.facts.fact(topic), subject.facts.fact(topic), subject.facts.fact()
    _plant(memory, subject, (BANK, gone), (BANK, kept), (OTHER_BANK, elsewhere))
    _forget(memory, BANK, ("s001",))
    for bank, fact in ((BANK, kept), (OTHER_BANK, elsewhere)):
        if not memory.recall(fact.question, bank=bank).shows(fact.word):
            raise ContractViolation(
                f"After forget was called for one text, {quoted(fact.statement)} of the bank '{bank}' was lost.",
                "Make `forget` delete only what has one of the ids and is in the bank.",
            )
    memory.retain(gone.statement, subject.facts.day, bank=BANK, source_id=AGAIN)
    memory.settle()
    _expect(memory.recall(gone.question, bank=BANK), gone, "after it was forgotten and retained again")
    return "After a deletion, the other texts of both banks were found, and so was the text once it was told again."


def forget_bank(subject: CheckedSystem) -> str:
    """Forget a bank. Its facts are gone, and those of another bank stay."""
    memory, topic = subject.memory(), subject.facts.topic()
    gone, elsewhere, too = subject.facts.fact(topic), subject.facts.fact(topic), subject.facts.fact()
    _plant(memory, subject, (BANK, gone), (BANK, too), (OTHER_BANK, elsewhere))
    _forget(memory, BANK, None)
    for fact in (gone, too):
        left = memory.recall(fact.question, bank=BANK)
        if left.shows(fact.word):
            raise ContractViolation(
                f"After forget was called for the bank '{BANK}', it still returned “{fact.word}”: {left}.",
                "Make `forget` delete all texts of the bank if it gets neither ids nor a query.",
            )
    _expect(memory.recall(elsewhere.question, bank=OTHER_BANK), elsewhere, f"after the bank '{BANK}' was forgotten")
    return "A forgotten bank was empty, and another bank was not."


def export_forgets(subject: CheckedSystem) -> str:
    """Forget one of two facts: an export no longer contains it."""
    memory = subject.memory()
    gone, kept = subject.facts.facts(2)
    _plant(memory, subject, (BANK, gone), (BANK, kept))
    before = memory.export()
    for fact in (gone, kept):
        if not before.shows(fact.word):
            raise ContractViolation(
                f"`export_memories` did not return {quoted(fact.statement)} It returned {before}.",
                "Return from `export_memories` all memories of all banks.",
            )
    _forget(memory, BANK, ("s001",))
    after = memory.export()
    if after.shows(gone.word):
        raise ContractViolation(
            f"After forget was called for {quoted(gone.statement)} `export_memories` still returned “{gone.word}”.",
            "Make `forget` delete the memory, rather than hide it from `recall`.",
        )
    return "An export no longer contained a forgotten text."


def sources_named(subject: CheckedSystem) -> str:
    """Search for a fact: the item that states it names the session, turn or text that it is from."""
    memory = subject.memory()
    facts = subject.facts.facts(2)
    if memory.can("search") or not (memory.can("retain") and memory.can("recall")):
        memory.ingest(*(memory.session(subject.facts.day, PlantedTurn(fact.statement), ACKNOWLEDGED) for fact in facts))
        found = [memory.ask(fact.question) for fact in facts]
    else:
        _plant(memory, subject, *((BANK, fact) for fact in facts))
        found = [memory.recall(fact.question, bank=BANK) for fact in facts]
    if not any(observation.items for observation in found):
        raise MethodMissing("The system returns no items, so they cannot name their sources.")
    for number, (fact, observation) in enumerate(zip(facts, found, strict=True), start=1):
        named = observation.sources_of(fact.word)
        own = {source for source in named or () if source.partition(":")[0] == f"s{number:03d}"}
        if named is None or 2 * len(own) < max(len(named), 1) or not own:
            problem = (
                f"no item states “{fact.word}”"
                if named is None
                else f"the item with “{fact.word}” names {'no source' if not named else f'the source {named[0]!r}'}"
            )
            raise ContractViolation(
                f"Asked {quoted(fact.question)} {problem}, instead of 's{number:03d}': {observation}.",
                "Return `source_ids` with each item: the `session_id` or `turn_id` in `search`, the `source_id` in "
                "`recall`.",
            )
    return "Items named the sessions or texts that they are from."


def _plant(memory: CheckedMemory, subject: CheckedSystem, *facts: tuple[str, PlantedFact]) -> None:
    for number, (bank, fact) in enumerate(facts, start=1):
        memory.retain(fact.statement, subject.facts.day, bank=bank, source_id=f"s{number:03d}")
    memory.settle()


def _forget(memory: CheckedMemory, bank: str, ids: tuple[str, ...] | None) -> None:
    try:
        memory.forget(bank=bank, ids=ids, query=None)
    except AdapterRaised as failure:
        by = "a bank" if ids is None else "ids"
        raise MethodMissing(f"The system cannot forget by {by}: {failure.sentence}") from None


def _expect(found: Observation, fact: PlantedFact, when: str) -> None:
    if not found.shows(fact.word):
        raise ContractViolation(f"Asked {quoted(found.question)} {when}, recall returned {found}.", STORE)
