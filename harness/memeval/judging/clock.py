"""Times of day in one form: ``7 p.m.``, ``7:00 PM`` and ``19:00`` are ``19:00``, and noon is ``12:00``."""

from __future__ import annotations

import re

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
