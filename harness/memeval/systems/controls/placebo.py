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
STARTS = ("bro", "dva", "fle", "gru", "kva", "plo", "skre", "sna", "tri", "vlo", "zha", "zwe")
MIDDLES = ("dri", "gva", "kle", "lzo", "mbu", "nkra", "rvi", "stu", "vdo", "zgle")
ENDS = {
    "who": ("bix", "dok", "lgu", "tzen"),
    "place": ("brovo", "gvad", "lmux", "nzek"),
    "thing": ("bble", "drup", "vik"),
}


def choose(options: tuple[str, ...], *seed: object) -> str:
    """Return one of the options, always the same for a seed."""
    digest = hashlib.sha256("\n".join(map(repr, seed)).encode()).digest()
    return options[int.from_bytes(digest[:8], "big") % len(options)]


def invented(kind: str, *seed: object) -> str:
    """Return a word that no language has. ``kind``: ``who``, ``place`` or ``thing``."""
    parts = (choose(parts, name, kind, *seed) for name, parts in enumerate((STARTS, MIDDLES, ENDS[kind])))
    word = "".join(parts)
    return word if kind == "thing" else word.capitalize()


def sentence(query: str, number: int) -> str:
    """Return the sentence with a number, from 0, for a query."""
    words = {kind: invented(kind, query, number) for kind in ENDS}
    return choose(SENTENCES, "sentence", query, number).format(**words)


class Placebo:
    """Returns as many sentences as were asked for, but no more than it ingested texts; nothing of what they said."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.texts: Counter[str] = Counter()
        """How many texts each user has."""

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        self.texts[""] += len(session["turns"])

    def retain(self, content: str, bank: str = "") -> None:
        self.texts[bank] += 1

    def query(self, question: str, timestamp: str = "now") -> str:
        return sentence(question, 0) if self.texts[""] else ""

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        return self.recall(query, k)

    def recall(self, query: str, k: int, bank: str = "") -> list[dict[str, Any]]:
        return [
            {"text": sentence(query, number), "source_ids": [f"placebo-{number + 1}"]}
            for number in range(min(k, self.texts[bank]))
        ]
