"""Other people with random names, for sessions that answer no question."""

from __future__ import annotations

import random

from memeval.benchmarks.kit.long.details import WORDS
from memeval.benchmarks.kit.people import Relation
from memeval.benchmarks.kit.streams import Loose

KINS = {
    "she": ("classmate", "dentist", "flute teacher", "choir friend", "niece", "tenant", "sister-in-law", "mentor"),
    "he": ("barber", "nephew", "tutor", "bandmate", "stepfather", "plumber", "teammate", "brother-in-law"),
}
"""What they are to the user."""


def stranger(rng: random.Random) -> Relation:
    """Return another person with a name of random syllables."""
    draw = Loose(rng).draw
    she, her, him = draw((("she", "her", "her"), ("he", "his", "him")))
    return Relation(draw(KINS[she]), f"{draw(WORDS.first)}{draw(WORDS.middle)}{draw(WORDS.last)}", she, her, him)
