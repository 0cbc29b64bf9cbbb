"""A plan of runs, as data: systems on benchmarks, and what their comparison must show."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from memeval.records.base import Record
from memeval.records.matrix import Gate, MatrixSystem


def slug_of(text: str) -> str:
    """Return a name for a text: lower-case letters, digits and single hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _configuration(value: Any) -> Any:
    """Return the configuration of a system that is only named."""
    return {"id": slug_of(value), "system": value} if isinstance(value, str) else value


class PlanGroup(Record):
    """Runs on one benchmark: each system under each protocol, tier and reader."""

    benchmark: str
    protocols: tuple[str, ...] = ()
    """Its protocols; empty for the default one."""
    tiers: tuple[str, ...] = ()
    """Its tiers; empty for the default one."""
    parameters: dict[str, str | int] = {}
    """Parameters of a generated benchmark."""
    file: str | None = None
    """Your own file of its data."""
    readers: tuple[str, ...] = ()
    """The readers; empty for those of the plan. Ignored under a protocol that has one fixed reader."""
    systems: tuple[str, ...] = ()
    """Names of systems, as in ``memeval run SYSTEM``; ``controls`` for all controls; ``submissions`` for all
    submissions that need no key; empty for the systems of the plan."""
    without: tuple[str, ...] = ()
    """Slugs of systems to leave out."""


class PlanFile(Record):
    """A file of runs: the systems of a matrix on its benchmarks, or groups that name systems of their own."""

    schema_version: int = 1
    name: str | None = None
    """Name of the matrix; ``None`` for that of the file."""
    description: str | None = None
    systems: tuple[Annotated[MatrixSystem, BeforeValidator(_configuration)], ...] = ()
    """The systems of a matrix: names as in ``memeval run SYSTEM``, or configurations. The first is the reference."""
    groups: tuple[PlanGroup, ...] = Field(min_length=1)
    """The groups, in the order in which they run."""
    readers: tuple[str, ...] = ()
    """The readers; empty for all readers of each control, and the default reader of each other system."""
    judge: str | None = None
    """The judge; ``None`` for the rule set."""
    promotion_gates: tuple[Gate, ...] = ()
    """What the systems of a matrix must reach."""
    matrices: tuple[str, ...] = ()
    """Files of further plans, relative to this file: they run after the groups, each as a matrix."""
