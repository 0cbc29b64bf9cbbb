"""What every number rests on: what was taken in is found, what was emptied is gone, and nobody else's is there."""

from __future__ import annotations

from memeval.conformance.checks.seen import found, not_found
from memeval.conformance.facts import ODD
from memeval.conformance.subject import ACKNOWLEDGED, CheckedSystem, PlantedTurn

SETTLES = (
    "Make `ingest_session` keep what every turn says; where indexing goes on in the background, wait for its end in "
    "`settle(timeout)`."
)
RESETS = "Make `reset` empty everything: index, history, caches, files and whatever runs beside the adapter."
ISOLATES = (
    "Keep nothing in module globals, class attributes, fixed paths or fixed collection names: everything belongs to "
    "the instance, and `reset` empties it."
)


def planted_fact(subject: CheckedSystem) -> str:
    """Three facts in three sessions; each must be found at once, the last one first: an indexer may lag behind it."""
    memory = subject.memory()
    facts = subject.facts.facts(3)
    memory.tell(subject.facts.day, *facts)
    when = "right after settle" if memory.can("settle") else "right after ingest_session (it has no settle)"
    for fact in reversed(facts):
        found(memory, fact, when, SETTLES)
    return "Three facts of three sessions were found as soon as the system said that it was ready."


def reset_resets(subject: CheckedSystem) -> str:
    """A fact must be gone after ``reset``, and an empty memory must bear a question."""
    memory = subject.memory()
    fact = subject.facts.fact()
    memory.tell(subject.facts.day, fact)
    found(memory, fact, "before reset", SETTLES)
    memory.process.reset()
    not_found(memory, fact, fact.asked, "after reset", RESETS)
    return "A fact was gone after reset, and the empty memory could be asked."


def isolation(subject: CheckedSystem) -> str:
    """Two instances at once, and two scenarios one after the other in one: neither knows of the other."""
    topic = subject.facts.topic()
    one, other, third = subject.facts.fact(topic), subject.facts.fact(topic), subject.facts.fact()
    memory = subject.memory()
    with subject.another() as second:
        memory.tell(subject.facts.day, one)
        second.tell(subject.facts.day, other)
        beside = "while another instance had been told so"
        not_found(memory, other, one.asked, beside, ISOLATES)
        not_found(second, one, other.asked, beside, ISOLATES)
        found(memory, one, "while another instance was told something else", ISOLATES)
    memory.process.reset()
    memory.tell(subject.facts.day, third)
    for fact in (one, other):
        not_found(memory, fact, fact.asked, "in the scenario after the one that said so", ISOLATES)
    return "Two instances at once, and two scenarios in one instance, knew nothing of each other."


def unicode_accepted(subject: CheckedSystem) -> str:
    """Odd text is taken in and asked without an error, and a plain fact in the same message survives it."""
    memory = subject.memory()
    fact = subject.facts.fact()
    remedy = "Let `ingest_session` take any text that UTF-8 can hold, and leave out only what it cannot store."
    memory.ingest(memory.session(subject.facts.day, *(PlantedTurn(f"{fact.said} {odd}") for odd in ODD), ACKNOWLEDGED))
    for odd in ODD:
        memory.ask(f"What did I mean by this: {odd}?")
    found(memory, fact, "where the same message held emoji, several scripts and control characters", remedy)
    return "Emoji, several scripts, combining marks and control characters were taken in and asked without an error."


def long_accepted(subject: CheckedSystem) -> str:
    """A very long message is taken in without an error, and what is said after it is found."""
    memory = subject.memory()
    message, _facts = subject.facts.long_message()
    after = subject.facts.fact()
    memory.ingest(
        memory.session(subject.facts.day, PlantedTurn(message), ACKNOWLEDGED),
        memory.session(subject.facts.after(3), PlantedTurn(after.said), ACKNOWLEDGED),
    )
    remedy = "Split long messages in `ingest_session`, so that they hold up nothing that comes after them."
    found(memory, after, f"after a message of {len(message):,} characters", remedy)
    return f"A message of {len(message):,} characters was taken in, and a fact after it was found."
