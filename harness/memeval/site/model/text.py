"""Formats of text and numbers on pages. An unknown number is a dash, never a zero."""

import re
from decimal import Decimal
from typing import Any

from markupsafe import Markup

from memeval.records.scores import Tally

ABSENT = "–"
"""Shown for an unknown value, beside the reason."""

_CONTROL = {code: 0x2400 + code for code in range(32) if code not in (9, 10, 13)} | {127: 0x2421}
BIDI = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""Characters that turn the direction of a text, so that it reads as another one."""

_CONTROL |= dict.fromkeys(BIDI, 0xFFFD)
_CONTROL |= dict.fromkeys((*range(0x80, 0xA0), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF), 0xFFFD)


def visible(value: Any) -> Any:
    """Return text with visible controls, also those of direction; any other value unchanged."""
    if isinstance(value, Markup):
        return value
    return value.translate(_CONTROL) if isinstance(value, str) else value


def percent(value: float | None, digits: int = 1) -> str:
    return ABSENT if value is None else f"{100 * value:z.{digits}f}"


def bounded(value: float) -> str:
    """Return a value as a length of a bar, from 0 to 100."""
    return f"{min(max(value, 0.0), 100.0):.1f}"


def signed_percent(value: float | None) -> str:
    return ABSENT if value is None else f"{100 * value:+.1f}".replace("-", "−")


def lower_first(words: str) -> str:
    """Return text for the middle of a sentence: ``Power cuts`` as ``power cuts``, ``F1`` and ``LLM`` unchanged."""
    return words[:1].lower() + words[1:] if words[1:2].islower() else words


def capitalize_first(words: str) -> str:
    return words[:1].upper() + words[1:]


_JOINTS = re.compile(r"(?<=[a-z]{4})(?=[A-Z][A-Za-z]{4})")


def breakable(words: str) -> Markup:
    """Return text that may break between the parts of a long name, as in ``PrecisionMemBench``."""
    return Markup("<wbr>").join(visible(part) for part in _JOINTS.split(words))


def fraction(tally: Tally) -> str:
    """Return correct items over planned items; for a grader with partial credit, points over planned items."""
    earned = tally.correct if tally.points is None else f"{tally.points:.1f}"
    return f"{earned}/{tally.planned}"


def number(value: float | None, digits: int = 2) -> str:
    return ABSENT if value is None else f"{value:z.{digits}f}".replace("-", "−")


def significant(value: float, digits: int) -> str:
    """Return a number with at most some significant digits, and without a power of ten."""
    return f"{Decimal(f'{value:.{digits}g}'):,f}"


def probability(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def counted(number: int, noun: str) -> str:
    return f"{count(number)} {noun}" + ("" if number == 1 else "s")


def count(value: float | None) -> str:
    if value is None:
        return ABSENT
    return f"{value:,.0f}" if value >= 100 or float(value).is_integer() else f"{value:,.1f}"


def seconds(value: float | None) -> str:
    if value is None:
        return ABSENT
    rounded = float(f"{value:.3g}")
    if rounded < 0.001:
        return f"{value * 1e6:.0f} µs"
    if rounded < 1:
        return f"{significant(value * 1e3, 3)} ms"
    if value < 120:
        return f"{value:.3g} s"
    return f"{value / 60:.0f} min" if value < 7200 else f"{value / 3600:.1f} h"


def dollars(value: float | None) -> str:
    """Return a price; small ones keep two significant digits."""
    if value is None:
        return ABSENT
    return f"${value:,.2f}" if value == 0 or float(f"{value:.2g}") >= 1 else f"${significant(value, 2)}"


def day(moment: str) -> str:
    return moment[:10]


def minute(moment: str) -> str:
    """Return an ISO 8601 UTC time to the minute, as ``2026-11-22 16:40 UTC``."""
    found = re.match(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)", moment)
    return f"{found[1]} {found[2]} UTC" if found else moment


def short(digest: str) -> str:
    return digest.removeprefix("sha256:")[:12]
