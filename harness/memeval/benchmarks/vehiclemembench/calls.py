"""Reads calls such as ``name(level=3, zone="all")`` as data. Nothing is ever evaluated or run."""

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

LARGEST_TEXT = 20_000
"""Most characters of an answer."""

MOST_CALLS = 50

_SPACE = re.compile(r"[\s,;]*")
_FENCE = re.compile(r"^[ \t]*```\w*[ \t]*$", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z_]\w{0,127}", re.ASCII)
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?(?![\w.])", re.ASCII)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'')
_WORDS = {"true": "true", "false": "false", "none": "null", "null": "null"}


class CallsError(ValueError):
    """A text is no list of calls; the message is a sentence that does not quote it."""


class Call(NamedTuple):
    name: str
    arguments: frozenset[tuple[str, str]]
    """Names and values; a value is written as in JSON, a whole number without decimals."""

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{name}={value}' for name, value in sorted(self.arguments))})"

    def parts(self) -> Iterator[tuple[str, ...]]:
        """Yield each argument with the name of the call; the name alone if it has none."""
        yield from ((self.name, *argument) for argument in self.arguments)
        if not self.arguments:
            yield (self.name,)


def parse_calls(text: str) -> tuple[Call, ...]:
    """Return the calls of a text, in order: one a line or separated by commas, in brackets and code fences or not.

    An argument is ``name=value``; a value is a number, a quoted text, ``true``, ``false`` or ``null``.
    Raises ``CallsError``: it has anything else, repeats an argument, or is too long.
    """
    if len(text) > LARGEST_TEXT:
        raise CallsError(f"The answer has more than {LARGEST_TEXT:,} characters.")
    bare = _FENCE.sub("", text).strip()
    if bare.startswith("[") and bare.endswith("]"):
        bare = bare[1:-1]
    reader = _Reader(bare)
    calls: list[Call] = []
    while not reader.at_end():
        if len(calls) == MOST_CALLS:
            raise CallsError(f"The answer has more than {MOST_CALLS} calls.")
        calls.append(reader.call(len(calls) + 1))
    return tuple(calls)


class _Reader:
    """Reads a text from left to right; no part of it is read twice."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def at_end(self) -> bool:
        self._skip(_SPACE)
        return self._at == len(self._text)

    def call(self, number: int) -> Call:
        name = self._token(_NAME)
        if name is None or not self._symbol("("):
            raise CallsError(f"Call {number} is not a name with arguments in brackets.")
        arguments: dict[str, str] = {}
        while not self._symbol(")"):
            if arguments and not self._symbol(","):
                raise CallsError(f"The arguments of call {number} are not separated by commas, or do not end.")
            argument, value = self._argument(number)
            if argument in arguments:
                raise CallsError(f"Call {number} has an argument twice.")
            arguments[argument] = value
        return Call(name, frozenset(arguments.items()))

    def _argument(self, number: int) -> tuple[str, str]:
        name = self._token(_NAME)
        if name is None or not self._symbol("="):
            raise CallsError(f"Call {number} has an argument without a name.")
        value = self._value()
        if value is None:
            raise CallsError(f"Call {number} has a value that is not a number, a quoted text, true, false or null.")
        return name, value

    def _value(self) -> str | None:
        if (number := self._token(_NUMBER)) is not None:
            return f"{Decimal(number).normalize() + 0:f}"
        if (quoted := self._token(_STRING)) is not None:
            return json.dumps(re.sub(r"\\(.)", r"\1", quoted[1:-1], flags=re.DOTALL), ensure_ascii=False)
        word = self._token(_NAME)
        return None if word is None else _WORDS.get(word.lower())

    def _symbol(self, symbol: str) -> bool:
        self._skip(_BLANK)
        found = self._text.startswith(symbol, self._at)
        self._at += found
        return found

    def _token(self, pattern: re.Pattern[str]) -> str | None:
        self._skip(_BLANK)
        found = pattern.match(self._text, self._at)
        if found is None:
            return None
        self._at = found.end()
        return found.group()

    def _skip(self, pattern: re.Pattern[str]) -> None:
        found = pattern.match(self._text, self._at)
        self._at = self._at if found is None else found.end()


_BLANK = re.compile(r"\s*")


def argument_f1(found: frozenset[Call], expected: frozenset[Call]) -> float:
    """Return ``2PR / (P + R)`` over the arguments of two sets of calls, each with the name of its call."""
    mine = {part for call in found for part in call.parts()}
    theirs = {part for call in expected for part in call.parts()}
    common = len(mine & theirs)
    return 2 * common / (len(mine) + len(theirs)) if common else 0.0
