"""Detects doubt in an answer (caveats, guesses, admitted ignorance, questions back), and abstentions."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from memeval.gateway.reply_words import without_thinking
from memeval.judging.text import normal, words
from memeval.remembered import of_short_texts
from memeval.toml import read_words

Lines = tuple[tuple[str, ...], ...]
"""Regular expressions, each in one or more parts."""


@dataclass(frozen=True)
class _Lexicon:
    hedges: Lines
    certain: Lines
    offers: Lines
    missing: Lines
    words: Mapping[str, str]
    patterns: Mapping[str, tuple[str, ...]]


@cache
def lexicon() -> _Lexicon:
    return read_words("memeval.judging", "lexicon.toml", _Lexicon)


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """Return one pattern that finds any line of a part of the lexicon, as whole words."""
    lines = (re.sub(r"<(\w+)([?*]?)>", _slot, "".join(line)) for line in getattr(lexicon(), name))
    return re.compile(r"(?<![^\W_])(?:" + "|".join(lines) + r")(?![^\W_])")


def _slot(found: re.Match[str]) -> str:
    words, count = _sets()[found[1]], found[2]
    return rf"(?:{words}\ ){count}" if count else words


@cache
def _sets() -> dict[str, str]:
    known = lexicon()
    words = {name: "|".join(text.split()).replace("_", r"\ ") for name, text in known.words.items()}
    return {name: f"(?:{each})" for name, each in words.items()} | {
        name: "".join(parts) for name, parts in known.patterns.items()
    }


ECHO = 0.8
"""A question in the answer is an echo if at least this share of its words is in the original question."""

_SHORT = (
    ("cannot", re.compile(r"\bcannot\b"), "can not"),
    ("can't", re.compile(r"\bcan't\b"), "can not"),
    ("won't", re.compile(r"\bwon't\b"), "will not"),
    ("n't", re.compile(r"n't\b"), " not"),
    ("'ve", re.compile(r"'ve\b"), " have"),
    ("'re", re.compile(r"'re\b"), " are"),
    ("'ll", re.compile(r"'ll\b"), " will"),
    ("'d", re.compile(r"'d\b"), " would"),
    ("i'm", re.compile(r"\bi'm\b"), "i am"),
    ("'s", re.compile(r"\b(it|that|this|there|what|who|he|she|here|everything|nothing)'s\b"), r"\1 is"),
    ("-", re.compile(r"(?<=\w)-(?=\w)"), " "),
    # An aside between commas does not separate a verb from its modal: "may, by now, have changed".
    (",", re.compile(r", (however|though|of course|by now|in fact|therefore|perhaps|possibly|in turn),"), ""),
    # The month May is not the verb.
    (
        "may",
        re.compile(r"\b(in|since|by|until|till|from|last|early|late|mid|next|before|after|during|around|\d+\w*) may\b"),
        r"\1 fifth",
    ),
    ("may", re.compile(r"\bmay(?= (?:of )?(?:the )?\d)"), "fifth"),
)
"""What a text must contain for a pattern to match, which is found in no time; the pattern; and its replacement."""

_SENTENCE_END = re.compile(r"(?<=[.!?])(?=[\s\"')\]*_])|\n")


def plain(text: str) -> str:
    """Return text in the form of the lexicon: normal form, with contractions and hyphens expanded."""
    text = normal(text)
    for needed, short, full in _SHORT:
        if needed in text:
            text = short.sub(full, text)
    return " ".join(text.split())


# Graders and failure analyses ask about the same answers, and many systems give the same ones.
@of_short_texts(20_000, characters=500)
def voices_doubt(text: str) -> bool:
    """Return whether a text hedges: doubt, a guess, a caveat, or a note that it may be outdated."""
    return _pattern("hedges").search(_pattern("certain").sub("(certain)", plain(text))) is not None


def asks(text: str) -> bool:
    """Return whether a text asks a question, other than an offer of further help."""
    if "?" not in (text := normal(text)):
        return False
    offer = _pattern("offers")
    return any(part.endswith("?") and words(part) and not offer.search(part) for part in _SENTENCE_END.split(text))


def without_echo(answer: str, question: str) -> str:
    """Return an answer, in normal form, without repetitions of the question."""
    text, asked = normal(answer), normal(question)
    for whole in (asked.strip(), asked.strip(" ?")):
        if whole:
            text = text.replace(whole, " ")
    if "?" not in text:
        return text
    known = set(words(asked))
    return " ".join(part for part in _SENTENCE_END.split(text) if not (part.endswith("?") and _is_echo(part, known)))


def _is_echo(sentence: str, known: set[str]) -> bool:
    own = words(sentence)
    return sum(word in known for word in own) >= ECHO * len(own)


def hedges(answer: str, question: str) -> bool:
    """Return whether an answer hedges, or asks a question of its own.

    A repetition of the question is neither, and thinking does not count.
    """
    own = without_echo(without_thinking(answer), question)
    return voices_doubt(own) or asks(own)


BEGINNING = 1_000
"""First characters of a sentence that are searched."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_PREFACE = re.compile(
    r"\W*(?:(?:i am |we are )?(?:so |very |really )?(?:sorry|afraid)(?: about that)?|(?:my |sincere )?apologies"
    r"|i apologi[sz]e|unfortunately|hmm+|uh+|(?:good|great|interesting) question"
    r"|thanks?(?: you)?(?: for \w[^.]{0,60})?|okay|ok|sure|well|oh|let me (?:check|see|think|look)\b[^.]{0,60}|(?:i"
    r"|we) (?:have )?(?:just )?(?:looked|searched|checked|reviewed|went|gone|read|scanned) (?:through|in|for|at|over"
    r"|back|all|our|your|the|my|everything|again)\b[^.]{0,120}|0|zero|none|no|nothing|answer)\W*"
)
"""A sentence that says nothing yet."""
_ONE_WORD = re.compile(r"(?:unknown|none|n/a|not applicable|not sure|no idea|unclear|unsure)\W*")
_UNSURE = re.compile(
    r"(?<!\w)i am (?:\w+ )?not (?:\w+ )?(?:sure|certain)(?!\w)|(?<!\w)(?:is|are|was|were|remains?) unclear(?!\w)"
)
_BUT = re.compile(r"[,;] (?:but|though|although|however|yet|while)\b|;| [-—] ")


def says_missing(text: str) -> bool:
    return _pattern("missing").search(plain(text[:BEGINNING]).strip(" .!\"'*_()[]")) is not None


def begins_missing(answer: str) -> bool:
    """Return whether an answer begins by saying that the information is missing, after nothing but a preface."""
    return any(says_missing(sentence) for sentence in _first(answer))


def withholds(answer: str) -> bool:
    """Return whether an answer begins so, and states nothing before it: "Rome, but the year was not told" does."""
    return any(says_missing(_BUT.split(sentence, maxsplit=1)[0]) for sentence in _first(answer))


def abstains(answer: str, question: str) -> bool:
    """Return whether an answer says that it does not know, or that the information is missing.

    ``question``: the question; repeating it is not an abstention.
    """
    own = without_echo(without_thinking(answer), question)
    simple = plain(own)
    if _ONE_WORD.fullmatch(simple) or _UNSURE.search(simple):
        return True
    return any(says_missing(sentence) for sentence in _SENTENCE.split(own) if sentence.strip())


def _first(answer: str) -> list[str]:
    """Return the first sentence that says something, with the prefaces before it."""
    found = []
    for part in _SENTENCE.split(answer.strip()):
        if part.strip():
            found.append(part[:BEGINNING])
            if not _PREFACE.fullmatch(plain(part)):
                break
    return found
