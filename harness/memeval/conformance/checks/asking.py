"""What asking does: it must change nothing, bring up no more than was asked for, and say what it took."""

from __future__ import annotations

from memeval.conformance.check import ContractViolation, MethodMissing
from memeval.conformance.facts import PlantedFact
from memeval.conformance.subject import CheckedMemory, CheckedSystem, Observation, quoted

READS_ONLY = (
    "Let `query` and `search` read only: write no question, answer or count of uses into the memory; where the "
    "product's own call writes, use one that does not."
)


def k_honoured(subject: CheckedSystem) -> str:
    """Of five things that fit, ``search`` brings up no more than it was asked for."""
    memory = subject.memory()
    topic = subject.facts.topic()
    memory.tell(subject.facts.day, *(subject.facts.fact(topic) for _ in range(5)))
    for k in (1, 3):
        items = memory.search(topic.asked, k, subject.facts.after(30)).items
        if items is None:
            raise MethodMissing("Its search gives a context and no items.")
        if len(items) > k:
            raise ContractViolation(
                f"Asked for {k} {'item' if k == 1 else 'items'}, search brought up {len(items)}.",
                "Cut what `search(query, k)` returns to the first `k` items.",
            )
    return "Asked for one item and for three, search brought up no more."


def repeatable(subject: CheckedSystem) -> str:
    """The same sessions and questions in two processes give the same, word for word."""
    facts = subject.facts.facts(3)
    first = _told_and_asked(subject.memory(), subject, facts, facts)
    with subject.another() as second:
        again = _told_and_asked(second, subject, facts, facts)
    for fact in facts:
        if not first[fact.word].same_as(again[fact.word]):
            raise ContractViolation(
                f"Asked {quoted(fact.asked)} in two identical runs, it gave {first[fact.word]}, "
                f"and then {again[fact.word]}.",
                "Fix every seed and order what `query` and `search` bring up, or say `deterministic = false` in "
                "submission.toml.",
            )
    return "Two identical runs gave the same, word for word."


def question_order(subject: CheckedSystem) -> str:
    """Three questions in one order, the first of them twice, and in the other order over an equal memory."""
    facts = subject.facts.facts(3)
    memory = subject.memory()
    forwards = _told_and_asked(memory, subject, facts, facts)
    repeated = memory.ask(facts[0].asked)
    if not _equal(subject, forwards[facts[0].word], repeated, facts):
        raise ContractViolation(
            f"Asked {quoted(repeated.question)} again after other questions, it gave {repeated}; "
            f"before, {forwards[facts[0].word]}.",
            READS_ONLY,
        )
    backwards = _told_and_asked(subject.memory(), subject, facts, facts[::-1])
    for fact in facts:
        one, other = forwards[fact.word], backwards[fact.word]
        if not _equal(subject, one, other, facts):
            raise ContractViolation(
                f"What it gives for {quoted(fact.asked)} depends on what was asked before: {one}, or {other}.",
                READS_ONLY,
            )
    return "Questions in another order, and one asked twice, were answered the same."


def question_not_remembered(subject: CheckedSystem) -> str:
    """A fact that only a question mentions is not in the memory afterwards."""
    memory = subject.memory()
    known, mentioned = subject.facts.facts(2)
    memory.tell(subject.facts.day, known)
    memory.ask(f"{mentioned.said} {known.asked}")
    after = memory.ask(mentioned.asked)
    if after.shows(mentioned.word):
        raise ContractViolation(
            f"A question mentioned “{mentioned.word}”, which no session did. Asked {quoted(mentioned.asked)} next, "
            f"it gave {after}.",
            READS_ONLY,
        )
    return "What only a question had mentioned was not there for the next one."


def context_tokens(subject: CheckedSystem) -> str:
    """Where the system counts the tokens of its context, there is a count for each question."""
    memory = subject.memory()
    fact = subject.facts.fact()
    memory.tell(subject.facts.day, fact)
    evidence = memory.ask(fact.asked)
    remedy = "Let `get_context_tokens` return the tokens that the last `query` drew its answer from."
    if evidence.tokens is None:
        raise ContractViolation("It offers get_context_tokens, and reported no tokens for a question.", remedy)
    if evidence.tokens == 0 and evidence.answers(fact.word):
        raise ContractViolation(
            "It reported 0 tokens of context for an answer that only its memory can have given.", remedy
        )
    return f"It reported {evidence.tokens:g} tokens of context for a question."


def _told_and_asked(
    memory: CheckedMemory, subject: CheckedSystem, told: list[PlantedFact], asked: list[PlantedFact]
) -> dict[str, Observation]:
    """Have facts taken in, one a session, ask for them, and return what came by the word of the fact."""
    memory.tell(subject.facts.day, *told)
    return {fact.word: memory.ask(fact.asked) for fact in asked}


def _equal(subject: CheckedSystem, one: Observation, other: Observation, facts: list[PlantedFact]) -> bool:
    """Whether two replies to one question are the same; of a system that gives no two alike, show the same facts."""
    if subject.deterministic:
        return one.same_as(other)
    return all(one.shows(fact.word) == other.shows(fact.word) for fact in facts)
