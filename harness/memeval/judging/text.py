"""Text matching without a model: phrases as whole words, and the normal form of text.

Text is compared in one normal form: Unicode NFKC, casefolded, without invisible characters, with plain quotes, hyphens
and spaces. So ``Ｃ＃`` equals ``C#``, and a zero-width space cannot hide a stale answer.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache

import regex

from memeval.remembered import of_short_texts

_WORDS = "one two three four five six seven eight nine ten eleven twelve"
_HOURS = {word: number for number, word in enumerate(_WORDS.split(), 1)}
_HOUR = r"(?P<hour>0?[1-9]|1[0-2]|" + "|".join(_HOURS) + ")"
_NAMES = ("noon", "midnight", "o'clock")
_HALVES = ("pm", "p.m", "p. m", "p m", " am", "a.m", "a. m", "a m")
_HINT = re.compile(r"\d:\d|\d ?[ap]\.? ?m\b")
_SPELLED_HINT = re.compile(r"[nertwx] [ap]\.? ?m\b")
"""A text without a name or any of these names no time of day. The letters end a number in words."""
_TWELVE = re.compile(
    rf"(?<![\w.,:$€£]){_HOUR}(?:[:.](?P<minute>[0-5]\d)(?::[0-5]\d)?)?(?:"
    r" ?(?P<half>[ap])(?:m\b|\.? ?m\b\.?)"
    r"|(?: ?o'clock)(?: (?:in the (?P<part>morning|afternoon|evening)|at (?P<night>night)))?)(?!\w)"
)
_RANGE = re.compile(
    r"(?<![\w.,:$€£-])(?P<first>(?:0?[1-9]|1[0-2])(?::[0-5]\d)?)(?P<to> ?- ?| to )"
    r"(?=(?P<hour>0?[1-9]|1[0-2])(?::[0-5]\d)? ?(?P<half>[ap])\.? ?m\b)"
)
"""The first time of "7 to 8 pm"."""
_TWENTY_FOUR = re.compile(r"(?<![\w.,:$€£/-])0?(?P<hour>\d|1\d|2[0-3]):(?P<minute>[0-5]\d)(?::00)?(?![\w:]|[.,]\d)")
_NAMED = re.compile(r"\b(?:(?:12|twelve) )?(?P<name>noon|midnight)\b")


def with_clock(text: str) -> str:
    """Return a text in lower case, with plain spaces and quotes, with each time of day as hour and minute of the day.

    A time without a half of the day is read as it is written: ``7:30`` is in the morning.
    """
    if not _may_name(text):
        return text
    text = _TWELVE.sub(_of_twelve, _RANGE.sub(_with_half, text))
    text = _TWENTY_FOUR.sub(lambda found: f"{found['hour']}:{found['minute']}", text)
    return _NAMED.sub(lambda found: "12:00" if found["name"] == "noon" else "0:00", text)


def _may_name(text: str) -> bool:
    """Return whether a text may name a time of day; most do not, and substrings are found in no time."""
    if any(name in text for name in _NAMES):
        return True
    if any(half in text for half in _HALVES) and _SPELLED_HINT.search(text):
        return True
    return (":" in text or "am" in text or any(half in text for half in _HALVES)) and _HINT.search(text) is not None


def _with_half(found: re.Match[str]) -> str:
    """Return the first of two times with the half of the day of the second, or the other half if it is later."""
    later = int(found["first"].partition(":")[0]) % 12 > int(found["hour"]) % 12
    half = {"a": "p", "p": "a"}[found["half"]] if later else found["half"]
    return f"{found['first']} {half}m{found['to']}"


def _of_twelve(found: re.Match[str]) -> str:
    hour = _HOURS.get(found["hour"]) or int(found["hour"])
    half = found["half"] or {"morning": "a", "afternoon": "p", "evening": "p"}.get(found["part"] or "")
    if found["night"]:
        half = "p" if 6 <= hour < 12 else "a"
    if half is not None:
        hour = hour % 12 + (12 if half == "p" else 0)
    return f"{hour}:{found['minute'] or '00'}"


READ = ("Latin",)
"""The scripts that the rules read. Their word lists are English; other languages in these scripts are compared word by
word."""

_LETTER = regex.compile(r"\p{L}")
_READ = regex.compile("[" + "".join(rf"\p{{{name}}}" for name in READ) + "]")
_UNSPACED = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}ー]"
)
_REVERSING = re.compile(
    "[不没沒非未無无否或]|ない|なかっ|なく|ません|まい|还是|還是|または|もしくは|それとも"
    "|ไม่|มิได้|หรือ|않|아니|없|못|또는|이나|ບໍ່|ຫຼື|មិន|ឬ|မဟုတ်|သို့မဟုတ်"
    r"|(?<!\S)(?:не|ни|нет|нету|или|либо|ούτε|όχι|δεν|μην?|ή|नहीं|या)(?!\w)"
    r"|(?<!\S)(?:لا|لم|ليس|ليست|لن|أو|او|غير|לא|אין|או|אינו|אינה)(?!\w)"
)
"""Words of other scripts that deny, or that offer an alternative, as far as they are known here."""


def is_unspaced(character: str) -> bool:
    """Return whether a character belongs to a script without spaces between words, or with endings joined to them."""
    return character > "\u0dff" and _UNSPACED.match(character) is not None


def is_read(text: str) -> bool:
    """Return whether the rules read a text: at least half of its letters are of the scripts that they read."""
    if text.isascii():
        return True
    letters = len(_LETTER.findall(text))
    return 2 * len(_READ.findall(text)) >= letters


def may_reverse(text: str) -> bool:
    """Return whether a text has a word of another script that may deny what it says, or offer an alternative."""
    return _REVERSING.search(text) is not None


Phrases = tuple[str, ...]

_PLAIN = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛ʼʹ′＇", "'"),
        **dict.fromkeys("“”„‟″", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2043\u2212\ufe63", "-"),
    }
)
_START = re.compile(r"^[^\w$€£+-]+")
_END = re.compile(r"(?<![^\w%)+#])[^\w%)+#]++$")
_AMPERSAND = re.compile(r"(?<![^\W_])&(?![^\W_])")
_WORD = re.compile(r"[^\W_]+(?:[+#]+(?![^\W_]))?")


def plain_characters(text: str) -> str:
    """Return a text in Unicode NFKC, without invisible characters, with plain quotes, hyphens and spaces."""
    if text.isascii():
        return text
    plain = unicodedata.normalize("NFKC", text)
    for character in set(plain):
        if character > "\x7f" and unicodedata.category(character) == "Cf":
            plain = plain.replace(character, "")
    return plain.translate(_PLAIN)


def normal(text: str) -> str:
    if text.isascii():
        return text.lower()
    return plain_characters(unicodedata.normalize("NFKC", text).casefold())


def bare(text: str) -> str:
    """Return a text in normal form without punctuation at its ends and with single spaces."""
    return _END.sub("", _START.sub("", _flat(text)))


def words(text: str) -> list[str]:
    """Return the words of a text in :func:`normal` form; ``c#`` and ``c++`` are words."""
    return _WORD.findall(text)


@of_short_texts(4_096, characters=4_000)  # many phrases are looked for in one text
def _flat(text: str) -> str:
    """Return text in normal form with single spaces and times of day, and ``and`` for a separate ampersand."""
    flat = with_clock(" ".join(normal(text).split()))
    return _AMPERSAND.sub("and", flat) if "&" in flat else flat


@lru_cache(maxsize=4096)
def _owners(groups: tuple[Phrases, ...]) -> dict[str, frozenset[int]]:
    """Return the phrases of groups in flat form, each with the numbers of its groups."""
    owners: dict[str, set[int]] = {}
    for number, group in enumerate(groups):
        for phrase in group:
            if form := _flat(phrase):
                owners.setdefault(form, set()).add(number)
    return {form: frozenset(numbers) for form, numbers in owners.items()}


def _spans(text: str, form: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of a flat phrase in a flat text, as whole words.

    A phrase that ends in a letter or digit does not match before ``#`` or ``++``: C is neither C# nor C++. Underscores
    are not part of words, since Markdown uses them for emphasis. In a script without spaces, words have no ends.
    """
    start = text.find(form)
    while start >= 0:
        end = start + len(form)
        free_before = start == 0 or not text[start - 1].isalnum() or is_unspaced(form[0])
        free_after = end == len(text) or not text[end].isalnum() or is_unspaced(form[-1])
        if free_before and free_after and not (form[-1].isalnum() and text.startswith(("#", "++"), end)):
            yield start, end
        start = text.find(form, start + 1)


def stated(text: str, *groups: Phrases) -> tuple[bool, ...]:
    """Return, for each group of phrases, whether the text states one of them.

    Phrases match as whole words in any case. Of two overlapping phrases the longer one counts: the answer ``Redis
    Cluster`` states ``Redis Cluster`` and not ``Redis``, if one call contains both. ``groups``: groups of equivalent
    phrases, such as a fact's key phrase and its aliases.
    """
    flat, owners = _flat(text), _owners(groups)
    # From left to right, the longest first of those with one start; a phrase that overlaps an earlier one is skipped.
    spans = sorted((start, -end, form) for form in owners for start, end in _spans(flat, form))
    found: set[int] = set()
    reached = 0
    for start, minus_end, form in spans:
        if start >= reached:
            reached = -minus_end
            found |= owners[form]
    return tuple(number in found for number in range(len(groups)))


def states(text: str, phrases: Phrases) -> bool:
    return stated(text, phrases)[0]


@lru_cache(maxsize=1024)
def _framed(phrases: Phrases) -> re.Pattern[str]:
    """Return a pattern for mentions of ``phrases`` that only mark a time or the target of a change."""
    bodies = "|".join(re.escape(_flat(phrase)) for phrase in sorted(phrases, key=len, reverse=True))
    return re.compile(
        r"\b(?:(?:before|prior to|until|till|ahead of|preceding)(?: (?:the|a|this|that|their|his|her|its))?"
        r"(?: (?:move|switch|change|migration|adoption))?(?: (?:to|of|over to))?"
        r"|(?:switch|mov|adopt|migrat|chang|replac|go|went|gone)\w*(?: (?:over|on|away))?(?: (?:to|onto|by|with))?"
        rf"|(?P<origin>from [^.;!?\n]{{1,60}}?) to)(?: the)? (?:{bodies})(?![^\W_]|\#|\+\+)"
    )


def without_framed(text: str, phrases: Phrases) -> str:
    """Return a text, in flat normal form, without mentions of ``phrases`` that only mark a time.

    "Before the move to Nomad they ran Docker Swarm" does not state that they ran Nomad; neither does "they went from
    Docker Swarm to Nomad". "Nomad, or Docker Swarm" is not changed.
    """
    text = _flat(text)
    named = tuple(phrase for phrase in phrases if _flat(phrase))
    return _framed(named).sub(lambda found: found.group("origin") or " ", text) if named else text


def covered(answer: Counter[str], history: Iterable[str], within: float) -> tuple[int, int] | None:
    """Return how many of the history's words the answer covers, counted with repetitions, and the history's total.

    ``answer``: the answer's words with their counts. ``history``: the raw texts of the history. ``within``: maximum
    words of the history; for a longer history the result is ``None``.
    """
    counts: Counter[str] = Counter()
    total = 0
    for text in history:
        found = words(normal(text))
        counts.update(found)
        total += len(found)
        if total > within:
            return None
    return (answer & counts).total(), total
