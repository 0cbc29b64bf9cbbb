"""Scripts: which the rules read, and which have no spaces between words."""

from __future__ import annotations

import re

import regex

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
