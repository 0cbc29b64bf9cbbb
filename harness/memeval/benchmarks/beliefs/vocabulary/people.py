"""Who talks, and whom they talk about."""

from __future__ import annotations

from dataclasses import dataclass

SHE = (
    "Amina", "Beatriz", "Chiara", "Delphine", "Elif", "Freya", "Giulia", "Hana", "Ingrid", "Jolanta", "Keiko",
    "Leila", "Mireille", "Nadia", "Olga", "Paloma", "Renata", "Saoirse", "Tamsin", "Ulrike", "Vesna", "Wilma",
    "Xenia", "Yara", "Zofia", "Abigail", "Catalina", "Daria", "Esther", "Greta", "Imani", "Linnea",
)  # fmt: skip

HE = (
    "Arjun", "Benedict", "Casper", "Dmitri", "Emeka", "Finn", "Goran", "Hugo", "Ivan", "Jasper", "Kofi", "Lukasz",
    "Matteo", "Nikhil", "Oskar", "Pavel", "Quentin", "Rafael", "Stefan", "Teodor", "Umberto", "Viktor", "Wendell",
    "Xavier", "Yusuf", "Zoltan", "Anton", "Bruno", "Cormac", "Dario", "Elio", "Magnus",
)  # fmt: skip

SURNAMES = (
    "Abara", "Bellini", "Castellano", "Drummond", "Eriksen", "Fontaine", "Grimaldi", "Hoffmann", "Ibrahim",
    "Jansen", "Kowalczyk", "Lindholm", "Marchetti", "Novak", "Ortega", "Pellegrino", "Quiroga", "Rosenthal",
    "Sandoval", "Takahashi", "Underwood", "Valenti", "Whitaker", "Yamada", "Zielinski", "Achebe", "Brandt",
    "Cardoso", "Duarte", "Engel", "Farrell", "Guerrero", "Halloran", "Iversen", "Jankowski", "Kimura", "Laurent",
    "Mbeki", "Nakamura", "Oduya", "Popescu", "Rahman", "Sorensen", "Tremblay", "Ueda", "Vasquez", "Winther",
    "Yilmaz", "Zamora", "Almeida", "Bauer", "Chandra", "Escobar", "Fischer", "Galanou", "Haddad", "Ishikawa",
    "Kaplan", "Lombardi", "Moreno", "Nyberg", "Romero", "Silva", "Weber",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Person:
    """Someone whose life the benchmark follows."""

    slug: str
    """Unique within a generation."""
    first: str
    """First name."""
    surname: str
    """Surname."""
    she: str
    """Subject pronoun."""
    her: str
    """Possessive."""

    @property
    def name(self) -> str:
        """First name and surname."""
        return f"{self.first} {self.surname}"


@dataclass(frozen=True, slots=True)
class Relation:
    """Someone else in that life, who has facts of their own."""

    kin: str
    """What they are to the person: ``sister``."""
    first: str
    """First name."""
    she: str
    """Subject pronoun."""
    her: str
    """Possessive."""
    him: str
    """Object pronoun."""

    @property
    def mine(self) -> str:
        """How the person calls them."""
        return f"my {self.kin} {self.first}"


RELATIONS = tuple(
    Relation(kin, first, *pronouns)
    for pronouns, kins, firsts in (
        (
            ("she", "her", "her"),
            ("sister", "cousin", "colleague", "neighbour", "aunt", "boss"),
            ("Dana", "Perla", "Maud", "Tilda", "Runa", "Celeste"),
        ),
        (
            ("he", "his", "him"),
            ("brother", "flatmate", "workmate", "uncle", "godfather", "landlord"),
            ("Milo", "Otto", "Silas", "Rory", "Ned", "Theo"),
        ),
    )
    for kin, first in zip(kins, firsts, strict=True)
)
"""Whose habits get mixed up with the person's own."""
