"""Looking for planted facts in what a system gave, and saying so where they are missing or should not be there."""

from __future__ import annotations

from memeval.conformance.check import ContractViolation
from memeval.conformance.facts import PlantedFact
from memeval.conformance.subject import CheckedMemory, Observation, quoted


def found(memory: CheckedMemory, fact: PlantedFact, when: str, remedy: str) -> Observation:
    """Ask for a fact, and return what came.

    Args:
        memory: who is asked.
        fact: what for.
        when: when it is asked, for the sentence.
        remedy: what its author can do where the fact is missing.

    Raises:
        Broken: the fact is not in it.
    """
    evidence = memory.ask(fact.asked)
    if not evidence.shows(fact.word):
        raise ContractViolation(
            f"It was told {quoted(fact.said)} Asked {quoted(fact.asked)} {when}, it gave {evidence}.", remedy
        )
    return evidence


def not_found(memory: CheckedMemory, fact: PlantedFact, question: str, when: str, remedy: str) -> Observation:
    """Ask for a fact that must not be there, and return what came.

    Args:
        memory: who is asked.
        fact: what must not come.
        question: what is asked.
        when: when it is asked, for the sentence.
        remedy: what its author can do where the fact is there.

    Raises:
        Broken: the fact is in it.
    """
    evidence = memory.ask(question)
    if evidence.shows(fact.word):
        raise ContractViolation(f"Asked {quoted(question)} {when}, it gave “{fact.word}”: {evidence}.", remedy)
    return evidence


def listed(names: list[str]) -> str:
    """Return names as a sentence lists them."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
