"""Texts of trials: each is a sentence with a code that occurs in no other one, so that a search can only mean it."""

import hashlib

NAMES = ("Ada", "Boris", "Chiara", "Dmitri", "Elif", "Farid", "Greta", "Hugo", "Ines", "Jonas", "Keiko", "Lamar")
THINGS = ("lamp", "ladder", "violin", "kettle", "bicycle", "atlas", "camera", "drill", "tent", "loom", "globe", "kayak")
PLACES = ("attic", "cellar", "garage", "library", "kitchen", "workshop", "hallway", "office", "garden", "studio")
COLOURS = ("red", "green", "blue", "yellow", "white", "black", "orange", "violet", "brown", "silver")

STORED = "stored"
"""The seed of the texts that a folder has before a trial."""


def code_of(seed: int | str, number: int) -> str:
    """Return the code of a text: ten letters."""
    digest = hashlib.sha256(f"{seed}/{number}".encode()).digest()
    return "".join(chr(ord("a") + byte % 26) for byte in digest[:10])


def text_of(seed: int | str, number: int) -> str:
    """Return a text. It begins and ends with its code, so that a part of it is noticed."""
    digest = hashlib.sha256(f"words/{seed}/{number}".encode()).digest()
    name, thing, place, colour = (
        pool[digest[place] % len(pool)] for place, pool in enumerate((NAMES, THINGS, PLACES, COLOURS))
    )
    code = code_of(seed, number)
    return f"Note {code}: {name} keeps the {colour} {thing} in the {place} and calls it {code}."


def id_of(seed: int | str, number: int) -> str:
    """Return the ordinal of a text as an id: it differs between the texts of a folder."""
    return f"s{number:06d}" if seed == STORED else f"s9{number:05d}"
