"""Vocabulary of the stress suite: pairs of synonyms, and sentence patterns."""

from __future__ import annotations

from dataclasses import dataclass

KINDS = (
    *(("crimson", "scarlet"), ("tiny", "minuscule"), ("ancient", "age-old"), ("wooden", "timber")),
    *(("shiny", "gleaming"), ("heavy", "weighty"), ("striped", "banded"), ("round", "circular")),
    *(("foldable", "collapsible"), ("rusty", "corroded"), ("spare", "surplus"), ("costly", "pricey")),
    *(("azure", "sky-coloured"), ("soft", "plushy"), ("noisy", "loud"), ("narrow", "slim")),
)
"""Adjectives: in texts and in paraphrases."""

THINGS = (
    *(("kayak", "paddling boat"), ("bicycle", "two-wheeler"), ("lantern", "lamp"), ("kettle", "water boiler")),
    *(("trunk", "travelling chest"), ("rug", "floor covering"), ("sofa", "settee"), ("tent", "canvas shelter")),
    *(("wardrobe", "clothes cupboard"), ("hammock", "hanging bed"), ("wheelbarrow", "garden cart")),
    *(("telescope", "star-gazing tube"), ("typewriter", "writing machine"), ("accordion", "squeezebox")),
    *(("camera", "picture-taking device"), ("fridge", "cold cabinet"), ("clock", "timepiece")),
    *(("stove", "cooker"), ("mirror", "looking-glass"), ("pram", "baby carriage"), ("umbrella", "rain shield")),
    *(("violin", "fiddle"), ("drone", "flying robot"), ("backpack", "rucksack"), ("quilt", "duvet")),
    *(("sledge", "snow slider"), ("piano", "keyboard instrument"), ("mower", "grass cutter")),
    *(("aquarium", "fish bowl"), ("projector", "beamer")),
)
"""Nouns: in texts and in paraphrases."""


@dataclass(frozen=True)
class Saying:
    """A sentence pattern, with ``{it}`` for the thing and ``{value}`` for the value."""

    text: str
    """Pattern of a text."""
    exact: str
    """Pattern of a search in the words of the text."""
    paraphrase: str
    """Pattern of a search in other words."""
    values: tuple[str, ...]


SAYINGS = (
    Saying(
        "The {it} is stored in the {value}.",
        "the {it} is stored",
        "Where did somebody put that {it}?",
        ("attic", "cellar", "garage", "hallway", "barn", "laundry room", "greenhouse", "study"),
    ),
    Saying(
        "Our neighbour {value} borrowed the {it}.",
        "neighbour borrowed the {it}",
        "Who has that {it} on loan?",
        ("Aurelio", "Birgitta", "Cosmin", "Dagny", "Eleni", "Farouk", "Ginevra", "Henrike"),
    ),
    Saying(
        "We paid {value} crowns for the {it}.",
        "we paid crowns for the {it}",
        "What did that {it} cost?",
        ("85", "120", "240", "365", "410", "590", "775", "930"),
    ),
    Saying(
        "Inspection of the {it} falls due in {value}.",
        "inspection of the {it} falls due",
        "By which month must someone check that {it}?",
        ("January", "March", "April", "June", "July", "September", "October", "December"),
    ),
    Saying(
        "A dealer from {value} delivered the {it}.",
        "a dealer delivered the {it}",
        "Which town did that {it} come out of?",
        ("Aalborg", "Bergamo", "Coimbra", "Dresden", "Eger", "Fribourg", "Galway", "Hasselt"),
    ),
    Saying(
        "On the {it} the {value} needs repair.",
        "on the {it} needs repair",
        "Which part of that {it} should be mended?",
        ("hinge", "handle", "rim", "bolt", "lid", "strap", "spring", "frame"),
    ),
)
"""All sentence patterns."""

AGAIN = ("{text} That still holds.", "Once more: {text}", "{text} So I was told.", "As I said: {text}")
"""Patterns of near duplicates."""
