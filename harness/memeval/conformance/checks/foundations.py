"""Mandatory checks: the system finds ingested facts, ``reset`` empties it, and instances share no data."""

from memeval.conformance.check import expect_found, expect_not_found
from memeval.conformance.facts import UNUSUAL_TEXTS
from memeval.conformance.subject import ACKNOWLEDGED, CheckedSystem, PlantedTurn

SETTLE = (
    "Store every turn in `ingest_session`. If indexing runs in the background, wait for its end in `settle(timeout)`."
)
RESET = "Make `reset` delete everything: index, history, caches, files, and data in other processes."
ISOLATION = (
    "Store nothing in module globals, class attributes, fixed paths or fixed collection names. Store all data in the "
    "instance, and delete it in `reset`."
)


def planted_fact(subject: CheckedSystem) -> str:
    """Ingest three facts in three sessions. Each must be found at once, the last one first: an indexer may lag."""
    memory = subject.memory()
    facts = subject.facts.facts(3)
    memory.ingest_facts(subject.facts.day, *facts)
    when = "right after settle" if memory.can("settle") else "right after ingest_session (it has no settle)"
    for fact in reversed(facts):
        expect_found(memory, fact, when, SETTLE)
    return "Three facts of three sessions were found as soon as the system was ready."


def reset_resets(subject: CheckedSystem) -> str:
    """A fact is not found after ``reset``, and a question to the empty memory causes no error."""
    memory = subject.memory()
    fact = subject.facts.fact()
    memory.ingest_facts(subject.facts.day, fact)
    expect_found(memory, fact, "before reset", SETTLE)
    memory.process.reset()
    expect_not_found(memory, fact, fact.question, "after reset", RESET)
    return "After reset, a fact was not found, and a question caused no error."


def isolation(subject: CheckedSystem) -> str:
    """Two concurrent instances, and two scenarios in one instance, share no data."""
    topic = subject.facts.topic()
    one, other, third = subject.facts.fact(topic), subject.facts.fact(topic), subject.facts.fact()
    memory = subject.memory()
    with subject.another() as second:
        memory.ingest_facts(subject.facts.day, one)
        second.ingest_facts(subject.facts.day, other)
        when = "while only another instance had ingested it"
        expect_not_found(memory, other, one.question, when, ISOLATION)
        expect_not_found(second, one, other.question, when, ISOLATION)
        expect_found(memory, one, "while another instance ingested another fact", ISOLATION)
    memory.process.reset()
    memory.ingest_facts(subject.facts.day, third)
    for fact in (one, other):
        expect_not_found(memory, fact, fact.question, "in the next scenario", ISOLATION)
    return "Two concurrent instances, and two scenarios in one instance, shared no data."


def unicode_accepted(subject: CheckedSystem) -> str:
    """Unusual text causes no error in sessions and questions, and a fact in the same message is found."""
    memory = subject.memory()
    fact = subject.facts.fact()
    remedy = "Accept any UTF-8 text in `ingest_session`, and leave out only characters that cannot be stored."
    turns = [PlantedTurn(f"{fact.statement} {text}") for text in UNUSUAL_TEXTS]
    memory.ingest(memory.session(subject.facts.day, *turns, ACKNOWLEDGED))
    for text in UNUSUAL_TEXTS:
        memory.ask(f"What did I mean by this: {text}?")
    expect_found(memory, fact, "in a message with emoji, several scripts and control characters", remedy)
    return "Emoji, several scripts, combining marks and control characters caused no error."


def long_accepted(subject: CheckedSystem) -> str:
    """A long message causes no error, and a fact after it is found."""
    memory = subject.memory()
    message, _facts = subject.facts.long_message()
    after = subject.facts.fact()
    memory.ingest(
        memory.session(subject.facts.day, PlantedTurn(message), ACKNOWLEDGED),
        memory.session(subject.facts.after(3), PlantedTurn(after.statement), ACKNOWLEDGED),
    )
    remedy = "Split long messages in `ingest_session`, so that they do not block later sessions."
    expect_found(memory, after, f"after a message of {len(message):,} characters", remedy)
    return f"A message of {len(message):,} characters was ingested, and a fact after it was found."
