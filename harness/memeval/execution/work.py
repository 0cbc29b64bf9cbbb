"""What is to be done: scenarios as systems may see them, and which items are still open in each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from memeval.records.response import Context, Response
from memeval.records.scenario import Scenario


@dataclass(frozen=True)
class Work:
    """A scenario with open items."""

    scenario: Scenario
    """The scenario, in the view the system has of it."""
    items: Mapping[str, tuple[str, ...]]
    """Per open item, its questions, in the order they are asked."""
    attempt: int = 1
    """Which attempt this is."""


@dataclass(frozen=True)
class Finished:
    """Items of one scenario that came to an end, with everything to be stored about them."""

    items: tuple[str, ...]
    responses: tuple[Response, ...]
    contexts: tuple[Context, ...]
