"""Statements: the sentences of a context, with who says them, on which day, and whether they say what is true."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from memeval.execution.extractive import cues

CACHED_CHARACTERS = 10_000

READ_CHARACTERS = 600
"""Start of a sentence that is searched for cues."""

BEFORE = 4
"""Lines before a short reply in which its subject is looked for."""

ENDINGS = ("ings", "ing", "ies", "ied", "ers", "er", "ed", "es", "s", "e", "y")

ASSISTANTS = frozenset({"assistant", "ai", "bot", "model"})
"""Names of speakers whose lines are replies of a system."""


@dataclass(frozen=True)
class Sentence:
    text: str
    words: frozenset[str]
    is_question: bool
    force: cues.Force
    gives_reason: bool
    """Whether it says why something is so."""
    corrects: bool
    fact_like: float
    """How much it looks like a statement on the speaker's life, without regard to its subject."""

    @property
    def rests(self) -> bool:
        """Whether it gives a reason, or says that something is still true."""
        return self.gives_reason or self.force is cues.Force.CONFIRMED


@dataclass(frozen=True)
class Line:
    stamp: str
    """Its date, as in the context; blank if unknown."""
    speaker: str
    """Blank if unknown."""
    sentences: tuple[Sentence, ...]
    words: frozenset[str]
    is_reply: bool
    asks: bool


class Statement(NamedTuple):
    place: int
    session: int
    """The position of its session, where a session is all adjacent lines of one day."""
    line: Line
    sentence: Sentence
    around: frozenset[str]
    """Stems of the words around it: earlier in its turn, in the turn before, and in the assistant's reply."""
    fact_like: float
    """As of the sentence, with regard to the turns around it."""

    @property
    def day(self) -> date | None:
        """The day on which it was said; ``None`` if unknown."""
        try:
            return date.fromisoformat(self.line.stamp[:10])
        except ValueError:
            return None

    @property
    def text(self) -> str:
        return self.sentence.text

    @property
    def words(self) -> frozenset[str]:
        return self.sentence.words

    @property
    def with_next(self) -> str:
        """Its text with the next sentence of its turn, which often has the details."""
        index = next(index for index, each in enumerate(self.line.sentences) if each is self.sentence)
        return " ".join(each.text for each in self.line.sentences[index : index + 2])

    @property
    def is_true(self) -> bool:
        return self.sentence.force in cues.TRUE

    @property
    def is_own(self) -> bool:
        return self.is_true and not self.line.is_reply


_DATED = re.compile(r"\[(\d{4}-\d\d-\d\d[^\]]*)\] (?:([^:]{1,60}): )?")
_END = re.compile(r"(?<=[.!?])[\"'”’]?\s+(?=\S)")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_NO_WORDS: frozenset[str] = frozenset()


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return the stem of a word in lower case: without plural, tense and agent endings."""
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            base = word[: -len(ending)]
            doubled = len(base) > 3 and base[-1] == base[-2] and ending in ("ing", "ed", "er")
            return base[:-1] if doubled else base
    return word


def stems(text: str) -> frozenset[str]:
    words = (word.lower().replace("’", "'").removesuffix("'s") for word in _WORD.findall(text))
    return frozenset(stem(word) for word in words if word not in cues.COMMON)


def statements(contexts: Sequence[str], until: str | None) -> list[Statement]:
    """Return the statements of contexts, in order, without repeated lines and lines dated after a time.

    ``contexts``: texts with dated lines, ``[date] speaker: text``; other lines continue the dated line before them.
    ``until``: ISO 8601 time; ``None`` for all lines.
    """
    limit = (until or "9999")[:10]
    distinct = dict.fromkeys(each for context in contexts for each in _heads_and_texts(context))
    lines = [
        line
        for (stamp, speaker), text in distinct
        if stamp[:10] <= limit and (line := _line(stamp, speaker, text)).sentences
    ]
    found: list[Statement] = []
    session, first = 0, 0
    for index, line in enumerate(lines):
        if index and line.stamp[:10] != lines[index - 1].stamp[:10]:
            session, first = session + 1, index
        after = [each for each in lines[index + 1 : index + 3] if each.stamp[:10] == line.stamp[:10]]
        found += _of_line(line, lines[max(first, index - BEFORE) : index], after, session, len(found))
    return found


def _of_line(
    line: Line, before: Sequence[Line], after: Sequence[Line], session: int, place: int
) -> Iterator[Statement]:
    reply = after[0] if after and after[0].is_reply and not line.is_reply else None
    answers = bool(before) and before[-1].asks and before[-1].speaker != line.speaker and not line.is_reply
    introduces = reply is not None and reply.asks and len(after) > 1 and not after[1].sentences[0].is_question
    echo = reply.sentences[0].words if reply else _NO_WORDS
    near = before[-1].words if before else _NO_WORDS
    turn = -cues.REPLIES * line.is_reply - cues.INTRODUCES * introduces
    for index, sentence in enumerate(line.sentences):
        if not sentence.is_question:
            then = line.sentences[index + 1] if index + 1 < len(line.sentences) else None
            fact_like = sentence.fact_like + turn
            around = near
            if answers and index == 0:
                fact_like += cues.ANSWERS
                around = around.union(*(each.words for each in before))
            if then is not None and then.is_question:
                fact_like -= cues.LEADS
            if then is not None and then.corrects:
                fact_like -= cues.SLIP
            if echo & sentence.words:
                fact_like += cues.ECHOED
                around |= echo
            yield Statement(place, session, line, sentence, around - sentence.words, fact_like)
            place += 1
        near |= sentence.words


def _heads_and_texts(context: str) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield date and speaker of each line, and its text. A line without date continues the dated line before it."""
    head = ("", "")
    for line in context.split("\n"):
        if found := _DATED.match(line):
            head, line = (found[1], found[2] or ""), line[found.end() :]
        yield head, line


def _line(stamp: str, speaker: str, text: str) -> Line:
    """Return a parsed line. Long lines are not cached, to save memory."""
    return (_cached if len(text) <= CACHED_CHARACTERS else _parsed)(stamp, speaker, text)


def _parsed(stamp: str, speaker: str, text: str) -> Line:
    sentences = tuple(_sentence(part.strip()) for part in _END.split(text.strip()) if part.strip())
    words = _NO_WORDS.union(*(sentence.words for sentence in sentences))
    asks = any(sentence.is_question for sentence in sentences)
    return Line(stamp, speaker, sentences, words, speaker.lower() in ASSISTANTS, asks)


_cached = lru_cache(maxsize=20_000)(_parsed)


def _sentence(text: str) -> Sentence:
    words, start = stems(text), text[:READ_CHARACTERS]
    return Sentence(
        text=text,
        words=words,
        is_question=text.rstrip("\"'”’)").endswith("?"),
        force=cues.force_of(start),
        gives_reason=cues.REASON.search(start) is not None,
        corrects=cues.CORRECTS.match(start) is not None,
        fact_like=cues.fact_likeness(start) - (1.0 if not words else 0.4 if len(words) == 1 else 0.0),
    )
