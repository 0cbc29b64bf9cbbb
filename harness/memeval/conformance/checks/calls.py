"""Checks of optional calls: filters by bank, tags and time, and ``forget``."""

from collections.abc import Callable
from typing import NamedTuple

from memeval.conformance.check import ContractViolation, MethodMissing, listed
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
    plant = _in_bank if _has_banks(memory) else _in_sessions
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


def _has_banks(memory: CheckedMemory) -> bool:
    return memory.can("retain") and memory.can("recall")


def _in_bank(memory: CheckedMemory, subject: CheckedSystem, *facts: PlantedFact) -> Planted:
    _plant(memory, subject, *((BANK, fact) for fact in facts))
    return Planted(BANK, ("s001",), lambda question: memory.recall(question, bank=BANK))


def _in_sessions(memory: CheckedMemory, subject: CheckedSystem, *facts: PlantedFact) -> Planted:
    sessions = [memory.session(subject.facts.day, PlantedTurn(fact.statement), ACKNOWLEDGED) for fact in facts]
    memory.ingest(*sessions)
    return Planted(None, (sessions[0].session_id, *(turn.turn_id for turn in sessions[0].turns)), memory.ask)


ALIKE = ("team:ana", "team:ana0", "Team:ana")
"""Names of banks that differ in little."""

AGAIN = "s009"
"""Id of a text that is retained after its like was forgotten."""


def banks_apart(subject: CheckedSystem) -> str:
    """Plant facts on one topic in banks with similar names, in turn: each bank must return its own and no other."""
    memory, topic = subject.memory(), subject.facts.topic()
    own = {bank: subject.facts.fact(topic) for bank in ALIKE}
    _plant(memory, subject, *own.items())
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
    plant = _in_bank if _has_banks(memory) and not memory.can("search") else _in_sessions
    location = plant(memory, subject, *facts)
    found = [location.ask(fact.question) for fact in facts]
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
