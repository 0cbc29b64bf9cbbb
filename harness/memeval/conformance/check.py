"""The type of a check, and the exceptions that report its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from memeval.conformance.subject import CheckedSystem


@dataclass(frozen=True)
class ContractCheck:
    name: str
    title: str
    function: Callable[[CheckedSystem], str]
    """Runs the check and returns the observation as a sentence.

    Raises :class:`ContractViolation` or :class:`MethodMissing`; a :class:`SystemFailure` passes through."""
    mandatory: bool = False
    """Whether a system that fails this check is refused."""
    needs: tuple[str, ...] = ()
    """Methods that the check needs; without them it is not applicable."""
    after: str | None = "isolation"
    """The check that must pass first. If it or one before it failed, this check is not applicable."""
    can_be_declared: bool = False
    """Whether a system that declares ``deterministic = false`` may fail this check."""


class ContractViolation(Exception):
    """A system violates the adapter contract.

    Args:
        remedy: how to fix it, as a sentence that names the adapter's method.
    """

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.remedy = remedy


class MethodMissing(Exception):
    """The check is not applicable to the system; the text says why."""
