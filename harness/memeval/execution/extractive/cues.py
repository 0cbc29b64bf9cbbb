"""Cues and times in English sentences: what is true, changed, imagined or over, and which day *yesterday* is."""

import calendar
import re
from collections.abc import Callable
from datetime import date, timedelta
from enum import Enum, auto

ANSWERS = 0.8
"""Added to how fact-like the first sentence is that answers another speaker's question."""

SLIP = 1.5
"""Taken from a sentence that the next one corrects, as in "I drink tea. No, coffee."."""

INTRODUCES = 1.2
"""Taken from an announcement whose content follows, after a question of the assistant."""

LEADS = 0.6
"""Taken from a sentence that leads to a question, as in "I have a guest. What do I cook?"."""

REPLIES = 1.2

ECHOED = 0.4
"""Added if the assistant's reply takes up its words."""


LONGEST = 1_000
"""Characters of a sentence from which nothing is left out."""


class Force(Enum):
    ASSERTED = auto()
    CHANGED = auto()
    CONFIRMED = auto()
    WISHED = auto()
    PAST = auto()
    """It was true long before."""
    TAKEN_BACK = auto()
    OTHERS = auto()


MOVES = frozenset(
    {"adopt", "begin", "chang", "choos", "chose", "mov", "pick", "replac", "settl", "start", "stop", "swap", "switch"}
    | {"tak", "took", "turn", "went"}
)
"""Stems of words for a change; they do not tell which one."""

TRUE = frozenset({Force.ASSERTED, Force.CHANGED, Force.CONFIRMED})
"""Forces of sentences whose content is true when they are said."""

COMMON = frozenset(
    """
    a about after again all also am an and any anyway are as at back be because been before being but by can can't come
    could day days did didn't do does doesn't doing don't done down each else even ever every everything few for from
    get gets getting go goes going got had has have having he her here hers him his how i i'd i'll i'm i've if in into
    is isn't it it's its just know last let let's like lot made make makes many may me might mine more most much my
    never no not now of off oh ok on once one only or other our ours out over own people quite rather really right said
    same say says see she should since so some something still such sure tell than that that's the their them then there
    there's these they thing things think this those though through time to today too under until up us use used uses
    using usually very want was way we we're well went were what what's when where which while who whole whom whose why
    will with won't would yes yet you you'd you're your yours
    """.split()  # noqa: SIM905
)
"""Words that say nothing about the subject of a sentence."""


def _any(*phrases: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(phrases)})\b", re.IGNORECASE)


_KIN = (
    r"(?:mother|mum|mom|father|dad|parents?|sister|brother|aunt|uncle|cousin|niece|nephew|grand\w+|son|daughter|wife|"
    r"husband|partner|friend|neighbou?r|colleague|co-?worker|workmate|boss|manager|flatmate|roommate|housemate|"
    r"landlord|landlady|god\w+|in-laws?|teacher|coach|classmate)"
)
_SELF = _any("i", "i'm", "i've", "i'd", "i'll", "my", "mine", "me", "we", "we're", "we've", "our", "us")
_MY_KIN = re.compile(rf"\b(?:my|our) (?:\w+ )?{_KIN}(?:'s)?\b", re.IGNORECASE)
_OTHERS = _any(
    rf"(?:my|our|his|her|their|an?|the) (?:\w+ )?{_KIN}", r"(?:says|said|told|tells) (?:me|us)", "he", "she", "they"
)
_QUOTED = re.compile(
    r"^\W*[\"“‘'].*\b(?:i|my)\b.*[\"”’'][,.]?\s*(?:says|said|\w+ (?:says|said|tells)|my)", re.IGNORECASE
)
_TAKEN_BACK = _any(
    "scrap (?:that|it|what)", "forget (?:what|that|about|it)", "never mind", "(?:take|took|taking) (?:it |that )?back",
    "call(?:ed|ing)? (?:it |that )?off", "f[ae]ll(?:en)? through", "isn't happening", "not happening", "didn't happen",
    "won't be happening", "chang(?:ed|ing) (?:my|our) minds?", "change of heart", "came to nothing", "come to nothing",
    "nothing came of", "never went through", "not going (?:through|ahead)", "backed out", "got cold feet", "disregard",
    "ignore what", "on second thoughts?", "after all", "stay(?:s|ed|ing)? with", "st(?:ick|icking|uck) (?:with|to)",
    "leav(?:e|ing) it", "unchanged", "isn't changing",
)  # fmt: skip
_WISHED = _any(
    "might", "maybe", "perhaps", "one day", "some ?day", r"day ?dream\w*", r"dream(?:s|t|ed|ing)? (?:of|about)",
    r"imagin\w+", r"pictur\w+ (?:myself|me)", r"tempt\w+", r"wish\w*", "(?:would|i'd) (?:love|like) to",
    "in another life", "if i (?:had|were|was|ever|could)", "if only", "could see myself", "eventually", r"fantas\w+",
    r"toy\w* with", r"think\w* (?:about|of) \w+ing", r"consider(?:ing|ed)?", r"wonder(?:ing|ed)? (?:about|if|whether)",
    "should (?:try|switch|change|start)", "in theory", r"hypothetical\w*", "suppose i", "not yet",
    "hop(?:e|ing) to",
)  # fmt: skip
_PAST = _any(
    "(?:years|ages|decades|a lifetime) ago", "i used to", "we used to", "back (?:then|when)", "in those days",
    "when i was", "as a (?:student|child|kid|teenager|girl|boy)", "in my (?:teens|twenties|thirties|student days)",
    "at (?:university|college|school),? i", "long (?:before|ago)", "once upon a time", "formerly",
)  # fmt: skip
_STILL = _any("i still", "we still", "it's still", "is still", "are still")
_CONFIRMED = _any(
    "still", "even so", "all the same", "regardless", "nothing (?:new|has changed)", "has(?:n't| not) changed",
    "as (?:ever|before|always)", "same as (?:ever|before|always)", "unchanged",
)  # fmt: skip
_CHANGED = _any(
    "now", "nowadays", "these days", "as of", "from (?:now|today|this|next)",
    "since (?:yesterday|last|this|the weekend|monday|tuesday|wednesday|thursday|friday|saturday|sunday)",
    r"switch\w*", r"mov(?:ed|ing) (?:on )?(?:in|to|into|over)", "(?:went|gone) over", r"chang(?:ed|es?|ing)", "new",
    "no longer", "any ?more", "(?:gave|given|giving) up", "done with", "parted with", r"swapp\w+", r"replac\w+",
    "instead", r"upgrad\w+", "finally", "at last", "at the moment", "currently", "went from", "until recently",
)  # fmt: skip
CORRECTS = re.compile(
    r"\W*(?:no|wrong|sorry|correction|i mean|rather|scratch that|make that|wait|hang on|actually)\b(?! idea)",
    re.IGNORECASE,
)

REASON = re.compile(
    r"\b(?:because(?: of)?|since|as long as|seeing (?:that|as)|thanks to|due to|given that|now that|so)\b",
    re.IGNORECASE,
)

_SLIP = re.compile(
    r"^.*?\b(?:no, (?:wait|sorry)|wait, no|sorry, no|or rather|i mean|scratch that|correction)\b[,:]? *(?=\w)",
    re.IGNORECASE,
)
_OVER = re.compile(
    r"\b(?:was|were|used to|until recently|formerly|no longer|any ?more|any longer|gave up|done with|parted with)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"(?:; |,? (?:but|and now|now) |, (?=i\b))", re.IGNORECASE)
_OLD = re.compile(
    r",? \b(?:instead of|rather than|in place of|no longer|after (?:all (?:that|this)|\w+) (?:time|years|months))\b"
    r"[^,;.!?]*|(?P<verb>\b(?:went|moved|switched|changed) )from [^,;.!?]{1,60}(?= to )|"
    r"(?P<swap>\b(?:swapped|traded|exchanged|replaced) )[^,;.!?]{1,60}?(?= (?:for|with|by) )",
    re.IGNORECASE,
)
"""The part of a sentence that names an old value."""


def news_of(text: str) -> str:
    """Return a sentence without what it says is over, as the first half of "It was tea, but I drink coffee now."."""
    if len(text) > LONGEST:
        return text
    text = _SLIP.sub("", text)
    clauses = _CLAUSE.split(text)
    kept = [clause for clause in clauses if not _OVER.search(clause)]
    if kept and len(kept) < len(clauses) and _SELF.search(" ".join(kept)):
        text = ", ".join(kept)
    return _OLD.sub(lambda old: f"{old['verb'] or old['swap'] or ' '}…", text).strip()


_HABIT = re.compile(
    r"(?<!before )(?<!when )(?<!while )(?<!if )(?<!as )\b(?:I|we) (?:\w+ly |always |usually |often |still |now |just )?"
    r"(?!(?:am|was|were|have|had|need|want|think|thought|guess|know|knew|hope|see|saw|mean|believe|suppose|feel|felt|"
    r"can|could|will|would|should|must|did|do|don't|may|might|wonder|wish|always|usually|often|still|now|just)\b)"
    r"(?!\w+ed\b)\w+"
)
_REQUEST = re.compile(
    r"^\W*(?:help|draft|write|give|show|explain|suggest|recommend|find|list|compare|describe|remind|tell|please)\b|"
    r"\b(?:help(?: me)?|any (?:ideas|advice|tips)|i need (?:to|an?|some)|i have to|i'm stuck|thanks|thank you|cheers|"
    r"could you|can you|see you|bye)\b",
    re.IGNORECASE,
)


def force_of(text: str) -> Force:
    if _QUOTED.search(text):
        return Force.OTHERS
    if _STILL.search(text):
        return Force.CONFIRMED
    for pattern, force in ((_TAKEN_BACK, Force.TAKEN_BACK), (_WISHED, Force.WISHED), (_PAST, Force.PAST)):
        if pattern.search(text):
            return force
    if _OTHERS.search(text) and not _SELF.search(_MY_KIN.sub("", text)):
        return Force.OTHERS
    if _CONFIRMED.search(text):
        return Force.CONFIRMED
    return Force.CHANGED if _CHANGED.search(text) else Force.ASSERTED


def fact_likeness(text: str) -> float:
    """Return how much a sentence looks like a statement on the speaker's life, without regard to its subject."""
    own = 0.6 if _SELF.search(_MY_KIN.sub("", text)) else 0.0
    habit = 0.6 if _HABIT.search(text) else 0.0
    news = 0.4 if _CHANGED.search(text) or _CONFIRMED.search(text) else 0.0
    return own + habit + news - (1.5 if _REQUEST.search(text) else 0.0)


MONTHS = tuple(calendar.month_name)
WEEKDAYS = tuple(calendar.day_name)
SEASONS = ("spring", "summer", "fall", "autumn", "winter")
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "couple of": 2, "a couple of": 2, "three": 3, "few": 3, "a few": 3}
_NUMBERS |= {name: 4 + index for index, name in enumerate(("four", "five", "six", "seven", "eight", "nine", "ten"))}

_MONTH = "|".join(MONTHS[1:])
_WEEKDAY = "|".join(WEEKDAYS)
_COUNT = rf"(?P<count>\d{{1,2}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
_UNIT = r"(?P<unit>day|week|month|year)s?"


def day_in_words(day: date) -> str:
    """Return a day in words: ``7 May 2023``."""
    return f"{day.day} {MONTHS[day.month]} {day.year}"


def month_asked(question: str) -> tuple[int, int] | None:
    for match in _DATE.finditer(question):
        if match["year"] and not (match["day"] or match["day_after"]):
            return int(match["year"]), MONTHS.index(match["month"].capitalize())
    return None


def said_time(text: str, said: date) -> str | None:
    """Return the first time that a sentence names, in words that are clear on any day; ``None`` without one."""
    found: list[tuple[int, str]] = []
    for pattern, in_words in _READINGS:
        if match := pattern.search(text):
            try:
                found.append((match.start(), in_words(match, said)))
            except (ValueError, OverflowError):
                continue  # no such day, or a year beyond the calendar
    return min(found)[1] if found else None


def _moved(said: date, unit: str, by: int) -> str:
    if unit == "day":
        return day_in_words(said + timedelta(days=by))
    if unit == "week":
        return f"around {day_in_words(said + timedelta(weeks=by))}"
    if unit == "year":
        return str(said.replace(day=1, year=said.year + by).year)
    months = said.year * 12 + said.month - 1 + by
    first = date(months // 12, months % 12 + 1, 1)
    return f"{MONTHS[first.month]} {first.year}"


def _counted(match: re.Match[str], said: date) -> str:
    count = match["count"].lower()
    by = int(count) if count.isdigit() else _NUMBERS[count]
    return _moved(said, match["unit"].lower(), by if match.re is _IN else -by)


def _near(match: re.Match[str], said: date) -> str:
    word = match["word"].lower()
    by = -2 if word.startswith("the day") else -1 if word in ("yesterday", "last night") else int(word == "tomorrow")
    return day_in_words(said + timedelta(days=by))


def _named(match: re.Match[str], said: date) -> str:
    which, unit = match["which"].lower(), match["unit"].lower()
    by = -1 if which in ("last", "past", "this past") else 0 if which == "this" else 1
    if unit in SEASONS:
        return f"{unit} {said.year + by}"
    if unit in ("week", "weekend") and by < 0:
        return f"the {unit} before {day_in_words(said)}"
    if unit == "weekend":
        return f"the weekend of {day_in_words(said + timedelta(days=(5 - said.weekday()) % 7 + 7 * by))}"
    if unit in ("week", "month", "year"):
        return _moved(said, unit, by)
    if unit.capitalize() in MONTHS:
        month = MONTHS.index(unit.capitalize())
        return f"{MONTHS[month]} {said.year + (by if (by < 0) == (month >= said.month) else 0)}"
    weekday = next(number for number, name in enumerate(WEEKDAYS) if name.lower().startswith(unit[:3]))
    if by >= 0:
        return day_in_words(said + timedelta(days=(weekday - said.weekday()) % 7 or 7))
    day = said - timedelta(days=(said.weekday() - weekday) % 7 or 7)
    return f"{day_in_words(day)} (the {WEEKDAYS[weekday]} before {day_in_words(said)})"


def _dated(match: re.Match[str], said: date) -> str:
    month, day = MONTHS.index(match["month"].capitalize()), match["day"] or match["day_after"]
    if match["month"] == "may" and not (day or match["year"]):
        raise ValueError("the verb")
    year = int(match["year"]) if match["year"] else said.year - (month > said.month)
    return day_in_words(date(year, month, int(day))) if day else f"{MONTHS[month]} {year}"


def _pattern(body: str) -> re.Pattern[str]:
    return re.compile(rf"\b{body}\b", re.IGNORECASE)


_DATE = _pattern(
    rf"(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? )?(?P<month>{_MONTH})"
    rf"(?: (?P<day_after>\d{{1,2}})(?:st|nd|rd|th)?\b)?(?:,? (?P<year>(?:19|20)\d\d))?"
)
_IN = _pattern(rf"in {_COUNT} {_UNIT}")
_READINGS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date], str]], ...] = (
    (
        _pattern(
            "(?P<word>the day before yesterday|yesterday|today|tonight|tomorrow|last night|just now|earlier today|"
            "this (?:morning|afternoon|evening))"
        ),
        _near,
    ),
    (_pattern(rf"{_COUNT} {_UNIT} (?:ago|back)"), _counted),
    (_IN, _counted),
    (
        _pattern(
            rf"(?P<which>last|this past|this|next|past|coming) (?P<unit>weekend|week|month|year|{'|'.join(SEASONS)}|"
            rf"{_WEEKDAY}|mon|tues?|wed|thurs?|fri|sat|sun|{_MONTH})"
        ),
        _named,
    ),
    (_DATE, _dated),
    (_pattern(r"(?:in|since|of) (?P<year>(?:19|20)\d\d)"), lambda match, said: match["year"]),
)
