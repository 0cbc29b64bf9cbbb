"""Ask for planted facts, and raise an error if one is missing or should not be there."""

from __future__ import annotations

from memeval.conformance.check import ContractViolation
from memeval.conformance.facts import PlantedFact
from memeval.conformance.subject import CheckedMemory, Observation, quoted


def expect_found(memory: CheckedMemory, fact: PlantedFact, when: str, remedy: str) -> Observation:
    """Ask for a fact, and return the observation.

    Args:
        when: when the question is asked, as a phrase for the error message.

    Raises:
        ContractViolation: the fact is missing.
    """
    observation = memory.ask(fact.question)
    if not observation.shows(fact.word):
        raise ContractViolation(
            f"The system ingested {quoted(fact.statement)} Asked {quoted(fact.question)} {when}, "
            f"it returned {observation}.",
            remedy,
        )
    return observation


def expect_not_found(memory: CheckedMemory, fact: PlantedFact, question: str, when: str, remedy: str) -> Observation:
    """Ask for a fact that must not be found, and return the observation.

    Args:
        when: when the question is asked, as a phrase for the error message.

    Raises:
        ContractViolation: the fact is found.
    """
    observation = memory.ask(question)
    if observation.shows(fact.word):
        raise ContractViolation(f"Asked {quoted(question)} {when}, it returned “{fact.word}”: {observation}.", remedy)
    return observation


def listed(names: list[str]) -> str:
    """Return names as a list in a sentence, such as ``a, b and c``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
