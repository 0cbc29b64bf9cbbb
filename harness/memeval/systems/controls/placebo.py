"""A system that returns sentences which only look like memories: people, places and things in them are invented.

The texts follow from the query. They hold no date, number, yes or no, and their sources do not exist.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any

SENTENCES = (
    "{who} and I went back to {place}, and the {thing} looked better than before.",
    "I told {who} about the {thing} that we saw near {place}.",
    "{who} keeps the {thing} in a drawer and brings it out whenever we talk of {place}.",
    "On the way to {place} I thought of {who} and of the {thing}.",
    "{who} is pleased with the {thing}, which came from {place}.",
    "It was {who} who showed me in {place} how a {thing} works.",
    "I like {place} best when {who} is around with the {thing}.",
    "{who} wrote from {place} that the {thing} has arrived and looks well.",
    "We spoke about {place} for a while, and {who} praised the {thing}.",
    "The {thing} from {place} is what {who} cares about.",
    "{who} said that {place} has changed, and that the {thing} is still there.",
    "I am taking the {thing} along to {place} and will give it to {who}.",
)
INVENTED = (
    ("Brundil", "Abrezhum", "brivock"),
    ("Dwelka", "Calvedrin", "dolfren"),
    ("Gorphina", "Dunquary", "frindlet"),
    ("Huldrix", "Fjarnwick", "gromple"),
    ("Jastovan", "Hibrenza", "jolvane"),
    ("Klymber", "Kazendrop", "klimmet"),
    ("Nebrisk", "Mulvengard", "muvrack"),
    ("Pelthis", "Ostrivane", "plavett"),
    ("Quillavo", "Pruxholt", "sklarn"),
    ("Rhazill", "Svelkund", "wembrick"),
)
"""People, places and things, ten of each."""
COUNT = len(SENTENCES) * len(INVENTED)
STEP = 67
"""From one text of a reply to the next: it has no common divisor with ``COUNT``, so every text comes once."""


def text(number: int) -> str:
    """Return the text with a number from 0 to ``COUNT - 1``."""
    row, pattern = divmod(number, len(SENTENCES))
    return SENTENCES[pattern].format(
        who=INVENTED[row][0],
        place=INVENTED[(row + pattern) % len(INVENTED)][1],
        thing=INVENTED[(row - pattern) % len(INVENTED)][2],
    )


def numbers(query: str, count: int) -> list[int]:
    """Return the numbers of different texts; the query decides which of them is the first."""
    digest = hashlib.sha256(query.encode(errors="surrogatepass")).digest()
    first = int.from_bytes(digest[:8], "big")
    return [(first + STEP * place) % COUNT for place in range(min(count, COUNT))]


class Placebo:
    """Returns as many sentences as were asked for, but no more than it ingested texts; nothing of what they said."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.counts: Counter[str] = Counter()
        """How many texts each user has."""

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        self.counts[""] += len(session["turns"])

    def retain(self, content: str, bank: str = "") -> None:
        self.counts[bank] += 1

    def query(self, question: str, timestamp: str = "now") -> str:
        return "".join(map(text, numbers(question, min(1, self.counts[""]))))

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        return self.recall(query, k)

    def recall(self, query: str, k: int, bank: str = "") -> list[dict[str, Any]]:
        found = numbers(query, min(k, self.counts[bank]))
        return [{"text": text(number), "source_ids": [f"placebo-{number}"]} for number in found]
