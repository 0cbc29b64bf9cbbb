"""The work of a run: scenarios as systems may see them, with their open items, and finished items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from memeval.records.response import Context, Response
from memeval.records.scenario import Scenario


@dataclass(frozen=True)
class ScenarioWork:
    """A scenario with open items."""

    scenario: Scenario
    items: Mapping[str, tuple[str, ...]]
    """The questions of each open item, in order."""
    attempt: int = 1
    counts_ingestion: bool = True
    """Whether rows say how long ingestion took: they do in one slice of a scenario only, since each ingests it."""


@dataclass(frozen=True)
class FinishedItems:
    """Finished items of one scenario, with all that is stored about them."""

    items: tuple[str, ...]
    responses: tuple[Response, ...]
    contexts: tuple[Context, ...]
