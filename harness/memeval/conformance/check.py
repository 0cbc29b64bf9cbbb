"""The type of a check, and the exceptions that report its result."""

from collections.abc import Callable
from dataclasses import dataclass

from memeval.conformance.facts import PlantedFact
from memeval.conformance.subject import CheckedMemory, CheckedSystem, Observation, quoted


@dataclass(frozen=True)
class ContractCheck:
    name: str
    title: str
    function: Callable[[CheckedSystem], str]
    """Runs the check and returns the observation as a sentence.

    Raises :class:`ContractViolation` or :class:`MethodMissing`; a :class:`SystemFailure` passes through."""
    mandatory: bool = False
    needs: tuple[str, ...] = ()
    """Methods that the check needs; without them it is not applicable."""
    after: str | None = "isolation"
    """The check that must pass first. If it or one before it failed, this check is not applicable."""
    can_be_declared: bool = False
    """Whether a system that declares ``deterministic = false`` may fail this check."""
    is_extra: bool = False
    """Whether a report has this check only if the system has what it needs, so that older reports are complete."""


class ContractViolation(Exception):
    """A system violates the adapter contract.

    ``remedy``: how to fix it, as a sentence that names the adapter's method.
    """

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.remedy = remedy


class MethodMissing(Exception):
    """The check is not applicable to the system; the text says why."""


def expect_found(memory: CheckedMemory, fact: PlantedFact, when: str, remedy: str) -> Observation:
    """Ask for a fact, and return the observation.

    ``when``: when the question is asked, as a phrase for the error message. Raises ContractViolation: the fact is
    missing.
    """
    observation = memory.ask(fact.question)
    if not observation.shows(fact.word):
        raise ContractViolation(
            f"The system ingested {quoted(fact.statement)} Asked {quoted(fact.question)} {when}, "
            f"it returned {observation}.",
            remedy,
        )
    return observation


def expect_not_found(memory: CheckedMemory, fact: PlantedFact, question: str, when: str, remedy: str) -> None:
    """Ask for a fact that must not be found.

    ``when``: when the question is asked, as a phrase for the error message. Raises ContractViolation: the fact is
    found.
    """
    observation = memory.ask(question)
    if observation.shows(fact.word):
        raise ContractViolation(f"Asked {quoted(question)} {when}, it returned “{fact.word}”: {observation}.", remedy)


def listed(names: list[str]) -> str:
    """Return names as a list in a sentence, such as ``a, b and c``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
