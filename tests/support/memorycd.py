"""Synthetic data in the official shape of MemoryCD. Every user, product and word of it is made up by this file."""

import gzip
import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from memeval.benchmarks.memorycd.keys import DOMAINS

Json = dict[str, Any]

ITEMS = 60
"""Products of a domain."""
NEGATIVES = 9
"""Products beside a reviewed one that were not chosen."""
LETTERS = "0123456789ABCDEFGHJKLMNPQRSTUVWXYZ"
KINDS = {
    "Beauty_and_Personal_Care": ("hand cream", "hair brush", "shaving soap", "lip balm", "nail file"),
    "Books": ("sea novel", "cook book", "travel diary", "ghost story", "garden manual"),
    "Electronics": ("desk lamp", "phone cable", "radio clock", "card reader", "head set"),
    "Home_and_Kitchen": ("tea kettle", "bread knife", "bath mat", "soup pot", "wall hook"),
}
MAKES = ("Norvale", "Quillen", "Tarbet", "Osmark", "Brindle", "Hexley", "Vantry", "Pellow")
MOODS = {
    1: ("threw it away", "broke within a week", "never again"),
    2: ("rather weak", "not what was shown", "could be sturdier"),
    3: ("does the job", "neither good nor bad", "fair for the money"),
    4: ("quite pleased", "nearly perfect", "would buy another"),
    5: ("could not be happier", "best I have owned", "a small wonder"),
}
HABITS = ("in short", "to be honest", "as my sister says", "for what it is worth", "after a month of use")


def item_id(domain: str, number: int) -> str:
    """Return a product's id: of ten digits for books, as ISBNs are, else B and nine signs."""
    dice = random.Random(f"synthetic {domain} {number}")
    if domain == "Books":
        return "".join(dice.choice("0123456789") for _ in range(9)) + dice.choice("0123456789X")
    return "B0" + "".join(dice.choice(LETTERS) for _ in range(8))


def products(domain: str, count: int) -> list[Json]:
    """Return lines of metadata; every seventh product has none, and descriptions are lists, texts or missing."""
    found: list[Json] = []
    for number in range(count):
        if number % 7 == 6:
            continue
        dice = random.Random(f"synthetic meta {domain} {number}")
        kind, make = dice.choice(KINDS[domain]), dice.choice(MAKES)
        told = [f"Synthetic {kind} by {make}, number {number}.", f"Made for tests of size {dice.randint(1, 99)}."]
        line: Json = {
            "parent_asin": item_id(domain, number),
            "title": f"{make} {kind} {number}",
            "average_rating": round(dice.uniform(2.5, 4.9), 1),
            "main_category": domain.replace("_", " "),
            "images": [{"large": "https://images.invalid/1.jpg"}],
            "videos": [],
        }
        if number % 3 < 2:
            line["description"] = told if number % 3 else " ".join(told)
        found.append(line)
    return found


def users(count: int, *, shortest: int = 4, longest: int = 12, unit: int = 1000) -> list[Json]:
    """Return lines of users, each with reviews in all four domains.

    ``shortest``, ``longest``: least and most reviews of a user in a domain. ``unit``: 1 for times in seconds, 1000 for
    milliseconds.
    """
    return [_user(number, shortest, longest, unit) for number in range(count)]


def _user(number: int, shortest: int, longest: int, unit: int) -> Json:
    dice = random.Random(f"synthetic user {number}")
    leaning, habit = dice.choice((2, 3, 4, 4, 5)), dice.choice(HABITS)
    interactions: Json = {}
    for domain in DOMAINS:
        reviews = []
        for _ in range(dice.randint(shortest, longest)):
            chosen, *others = dice.sample(range(ITEMS), NEGATIVES + 1)
            stars = min(5, max(1, leaning + dice.choice((-1, 0, 0, 0, 1))))
            mood = dice.choice(MOODS[stars])
            body = [f"The {dice.choice(KINDS[domain])} came on time, {habit}.", f"I would say {mood}."]
            uses = [dice.choice(("aunt", "desk", "garden", "flat")) for _ in range(dice.randint(0, 6))]
            body += [f"Bought number {dice.randint(2, 40)} for my {use}." for use in uses]
            reviews.append(
                {
                    "parent_asin": item_id(domain, chosen),
                    "asin": item_id(domain, chosen),
                    "rating": float(stars),
                    "title": f"{mood.capitalize()}, {habit}",
                    "text": " ".join(body),
                    "timestamp": dice.randint(1_300_000_000, 1_600_000_000) * unit,
                    "negative_parent_asins": [item_id(domain, each) for each in others],
                    "images": [],
                }
            )
        interactions[domain] = reviews
    return {"user_id": f"SYNTH{number:05}", "interactions": interactions}


def write_lines(path: Path, lines: Iterable[Json], *, packed: bool | None = None) -> Path:
    """Write lines, packed as the name says unless told otherwise."""
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(data, mtime=0) if packed or (packed is None and path.suffix == ".gz") else data)
    return path


def write_data(folder: Path, lines: Iterable[Json], *, released: bool = True, items: int = 60) -> Path:
    """Write users with metadata, in the layout that was released or in the documented one, and return the folder."""
    name = "users/cross_domain_users_sampled.jsonl.gz" if released else "data/cross_domain.jsonl"
    write_lines(folder / name, lines)
    for domain in DOMAINS:
        write_lines(folder / "meta" / f"meta_{domain}.jsonl.gz", products(domain, items))
    return folder
