"""What every check of generated data needs. A broken rule is an error, not a warning."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from memeval.records.scenario import Scenario


class BrokenRule(ValueError):
    """Generated data breaks one of its rules; names the place and the rule."""


def require(condition: bool, where: str, rule: str) -> None:
    """Check a rule. ``rule``: what is wrong otherwise, as a sentence. Raises ``BrokenRule``: it does not hold."""
    if not condition:
        raise BrokenRule(f"{where}: {rule}")


def require_order(scenario: Scenario) -> None:
    """Check that each session of a scenario is later than the one before it.

    Raises ``BrokenRule``: a session is not later.
    """
    days = [session.date for session in scenario.each_session()]
    require(all(a < b for a, b in pairwise(days)), scenario.scenario_id, "dates are inverted.")


def says(phrases: Sequence[str], text: str) -> bool:
    """Return whether a text contains one of some phrases as whole words, in any case."""
    # A pattern is a hundred times as slow as a search for plain text, and hardly ever needed in ASCII.
    plain = text.lower() if text.isascii() else None
    return any(
        (plain is None or not phrase.isascii() or phrase.lower() in plain) and _pattern(phrase).search(text)
        for phrase in phrases
    )


@lru_cache(maxsize=4096)
def _pattern(phrase: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(phrase)}(?!\w)", re.IGNORECASE)


def text_of(scenario: Scenario) -> str:
    return "\n".join(turn.content for session in scenario.sessions() for turn in session.turns)
