"""Details of small talk: random things, days and names, so that long histories hardly ever repeat anything.

Names are made of syllables. There are some hundred thousand, so that new words occur in a history of any length.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from memeval.benchmarks.kit.people import Relation
from memeval.benchmarks.kit.streams import Loose
from memeval.toml import read_words


@dataclass(frozen=True)
class DetailWords:
    details: tuple[str, ...]
    remarks: tuple[str, ...]
    adjectives: tuple[str, ...]
    nouns: tuple[str, ...]
    spots: tuple[str, ...]
    days: tuple[str, ...]
    numbers: tuple[str, ...]
    first: tuple[str, ...]
    middle: tuple[str, ...]
    last: tuple[str, ...]
    places: tuple[str, ...]


WORDS = read_words(__package__, "details.toml", DetailWords)


def detail(rng: random.Random, pool: Sequence[str]) -> str:
    # Most of the time of a long history is spent here: drawing in one pass is four times as fast as ``choice``.
    draw = rng.random
    text = pool[int(draw() * len(pool))]
    adjective, noun, other, spot, day, number, *names = [each[int(draw() * size)] for each, size in _POOLS]
    return text.format(
        adj=adjective,
        noun=noun,
        other=other,
        spot=spot,
        day=day,
        number=number,
        friend="".join(names[:3]),
        place="".join(names[3:]),
    )


_POOLS = tuple(
    (pool, len(pool))
    for pool in (
        *(WORDS.adjectives, WORDS.nouns, WORDS.nouns, WORDS.spots, WORDS.days, WORDS.numbers),
        *(WORDS.first, WORDS.middle, WORDS.last),
        *(WORDS.first, WORDS.middle, WORDS.places),
    )
)


KINS = {
    "she": ("classmate", "dentist", "flute teacher", "choir friend", "niece", "tenant", "sister-in-law", "mentor"),
    "he": ("barber", "nephew", "tutor", "bandmate", "stepfather", "plumber", "teammate", "brother-in-law"),
}


def stranger(rng: random.Random) -> Relation:
    draw = Loose(rng).draw
    she, her, him = draw((("she", "her", "her"), ("he", "his", "him")))
    return Relation(draw(KINS[she]), f"{draw(WORDS.first)}{draw(WORDS.middle)}{draw(WORDS.last)}", she, her, him)
