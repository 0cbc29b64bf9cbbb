"""What a check is, and how it says what it saw."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from memeval.conformance.subject import CheckedSystem


@dataclass(frozen=True)
class Check:
    """One line of the table of checks."""

    name: str
    """Its name, such as ``reset-resets``."""
    title: str
    """What it finds out, in a sentence."""
    function: Callable[[CheckedSystem], str]
    """Runs the check and returns what it observed.

    Raises :class:`ContractViolation` or :class:`MethodMissing`; a system failure passes through."""
    mandatory: bool = False
    """Whether a system that fails it is refused."""
    needs: tuple[str, ...] = ()
    """Methods of the system without which there is nothing to check."""
    after: str | None = "isolation"
    """The check without which this one says nothing: where that one, or one before it, failed, this is not made."""
    can_be_declared: bool = False
    """Whether a system that is declared not to be deterministic may fail it."""


class ContractViolation(Exception):
    """A system does not keep to the contract.

    Args:
        seen: what was seen, as a sentence.
        remedy: what the author can do, as a sentence that names the adapter's method.
    """

    def __init__(self, seen: str, remedy: str) -> None:
        super().__init__(seen)
        self.seen = seen
        self.remedy = remedy


class MethodMissing(Exception):
    """A system lacks what the check is about; the text is a sentence."""
