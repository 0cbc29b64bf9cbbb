"""Planted facts: plain sentences, each with a made-up word that occurs nowhere else.

A reply that contains the word shows that the system remembered the fact, so no model has to judge it. The words are
derived from a seed, so an adapter cannot know them in advance.
"""

import random
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple

from memeval.toml import read_words

CONSONANTS, VOWELS = "bdfgklmnprstvz", "aeiou"
SYLLABLES = 4

LONG_CHARACTERS = 20_000


class PlantedTopic(NamedTuple):
    """A topic of a fact about oneself; ``{}`` is replaced by the made-up word."""

    statement: str
    question: str
    paraphrase: str
    """The same question in other words. At least one of its words is in ``statement``."""
    question_about: str
    """The same question about another person, whose name replaces ``{}``."""


class FactWords(NamedTuple):
    people: tuple[str, ...]
    filler: tuple[str, ...]
    """Sentences that fill a long message and concern none of the topics."""
    topics: tuple[PlantedTopic, ...]


WORDS = read_words(__package__, "topics.toml", FactWords)

SCRIPTS: tuple[tuple[str, str, str, Callable[[random.Random], str]], ...] = (
    (
        "letters with combining marks",
        "The old spelling of our street is {}.",
        "What is the old spelling of our street?",
        lambda rng: "".join(c + rng.choice("\u0301\u0308\u0327\u0323") for c in rng.sample("aceknorsu", 5)),
    ),
    (
        "Hebrew, written from right to left",
        "The Hebrew inscription on my ring reads {}.",
        "What does the Hebrew inscription on my ring read?",
        lambda rng: "".join(rng.sample("אבגדהוזחטילמנסעפצקרשת", 6)),
    ),
    (
        "emoji",
        "The emoji signature of my running club is {}.",
        "What is the emoji signature of my running club?",
        lambda rng: "".join(rng.sample("🦊🪁🧭🦉🍄🪐🐙🧩🎻🪴", 4)),
    ),
    (
        "Chinese characters",
        "The Chinese seal of my grandfather shows {}.",
        "What does the Chinese seal of my grandfather show?",
        lambda rng: "".join(rng.sample("松鶴雲泉墨竹硯琴霞嵐櫻舟", 5)),
    ),
)
"""Per script: its name, the statement, the question, and a function that makes a word."""

UNUSUAL_TEXTS = (
    "\u202bשלום וברכה\u202c, \u200fمرحبا\u200e; 👩🏽‍🚀👨‍👩‍👧‍👦🏳️‍🌈🇺🇳; 漢字仮名交じり文; Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L͠G̵O; \U0001f9ff\ufe0f; \ufeff",
    "control characters \x01\x07\x08\x0b\x0c\x1b[31m\x7f\x85\u2028\u2029\t\r\n, tabs and \\u0000 as text",
)
"""Valid text that is hard to handle. It has no NUL and no lone surrogate."""


@dataclass(frozen=True)
class PlantedFact:
    statement: str
    word: str
    question: str
    paraphrase: str = ""
    question_about: str = ""
    """The question about another person, whose name replaces ``{}``."""


def normalized(text: str) -> str:
    """Return a text in Unicode normal form C and without case, for comparison."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


class PlantedFacts:
    """Generator of facts, words and days from a seed.

    ``purpose``: parts of the seed, such as the name of the check. Another purpose gives other facts.
    """

    def __init__(self, *purpose: str) -> None:
        self._rng = random.Random("/".join(purpose))  # noqa: S311
        self._topics = list(WORDS.topics)
        self._rng.shuffle(self._topics)
        self._words: set[str] = set()
        self.people = tuple(self._rng.sample(WORDS.people, 2))
        self.day = date(self._rng.randint(2011, 2016), self._rng.randint(1, 9), self._rng.randint(1, 28))

    def after(self, days: int) -> date:
        return self.day + timedelta(days=days)

    def word(self) -> str:
        """Return a new word. All words have the same length, so none is part of another."""
        while True:
            word = "".join(self._rng.choice(CONSONANTS) + self._rng.choice(VOWELS) for _ in range(SYLLABLES))
            if word not in self._words:
                self._words.add(word)
                return word.capitalize()

    def topic(self) -> PlantedTopic:
        return self._topics.pop()

    def fact(self, topic: PlantedTopic | None = None) -> PlantedFact:
        topic = topic or self.topic()
        word = self.word()
        return PlantedFact(topic.statement.format(word), word, topic.question, topic.paraphrase, topic.question_about)

    def facts(self, count: int) -> list[PlantedFact]:
        return [self.fact() for _ in range(count)]

    def recommended(self) -> PlantedFact:
        word = self.word()
        return PlantedFact(
            f"For a rainy weekend I recommend the mountain hut {word}.",
            word,
            "Which mountain hut did you recommend for a rainy weekend?",
        )

    def in_scripts(self) -> list[tuple[str, PlantedFact]]:
        return [
            (script, PlantedFact(statement.format(word), word, question))
            for script, statement, question, make_word in SCRIPTS
            for word in (make_word(self._rng),)
        ]

    def long_message(self) -> tuple[str, list[tuple[str, PlantedFact]]]:
        """Return a long message, and the facts at its start, middle and end, each with its position."""
        first, middle, last = self.facts(3)
        half: list[str] = []
        while sum(map(len, half)) + len(half) < LONG_CHARACTERS / 2:
            half.append(self._rng.choice(WORDS.filler))
        text = " ".join((first.statement, *half, middle.statement, *half, last.statement))
        return text, [("start", first), ("middle", middle), ("end", last)]
