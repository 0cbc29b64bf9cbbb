"""Parsing a system's request field by field; an unknown field is an error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

T = TypeVar("T")

NAMES = {str: "text", bool: "true or false", int: "an integer", list: "a list", dict: "an object"}


class Refusal(Exception):
    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence


class Fields:
    """The fields of a JSON object, each read once; ``null`` counts as absent. Raises Refusal: it is not an object."""

    def __init__(self, data: Any, path: str = "") -> None:
        if not isinstance(data, dict):
            raise Refusal(400, f"{f'{path!r}' if path else 'The body'} is not a JSON object.")
        self._left = {name: value for name, value in data.items() if value is not None}
        self._path = path

    def path(self, name: str) -> str:
        return f"{self._path}.{name}" if self._path else name

    def where(self, name: str) -> str:
        return f"'{self.path(name)}'"

    def maybe(self, name: str, kind: type[T]) -> T | None:
        value = self._left.pop(name, None)
        if value is None or (isinstance(value, kind) and (kind is bool or not isinstance(value, bool))):
            return value
        raise Refusal(400, f"{self.where(name)} is not {NAMES[kind]}.")

    def need(self, name: str, kind: type[T]) -> T:
        value = self.maybe(name, kind)
        if value is None:
            raise Refusal(400, f"{self.where(name)} is missing.")
        return value

    def inside(self, name: str) -> Fields:
        """Return an optional object; an empty one if absent."""
        return Fields(self.maybe(name, dict) or {}, self.path(name))

    def each(self, name: str) -> list[Fields]:
        """Return an optional list of objects; an empty one if absent."""
        return list(self.elements(name, self.maybe(name, list) or []))

    def elements(self, name: str, values: list[Any]) -> Iterator[Fields]:
        """Yield the objects of a list that was read as the field of this name."""
        return (Fields(value, f"{self.path(name)}[{place}]") for place, value in enumerate(values))

    def any(self, name: str) -> Any:
        return self._left.pop(name, None)

    def carry(self, *names: str) -> dict[str, Any]:
        return {name: self._left.pop(name) for name in names if name in self._left}

    def ignore(self, *names: str) -> None:
        for name in names:
            self._left.pop(name, None)

    def only(self, name: str, *values: Any) -> None:
        """Refuse a field with any other value than these."""
        value = self._left.pop(name, None)
        if value is not None and value not in values:
            raise Refusal(400, f"{self.where(name)} has a value that memeval's endpoint does not support. Remove it.")

    def end(self) -> None:
        if self._left:
            name = min(self._left)[:100]
            raise Refusal(400, f"{self.where(name)} is not supported by memeval's endpoint. Remove it.")


def text_of(fields: Fields, name: str, kinds: tuple[str, ...] = ("text",)) -> str | list[dict[str, str]] | None:
    """Return a message's content: text, or a list of text parts.

    Returns: One text, or several parts in the form of the OpenAI API; ``None`` if absent. Raises Refusal: a part is not
    text: an image, audio, a file.
    """
    value = fields.any(name)
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, list):
        raise Refusal(400, f"{fields.where(name)} is neither text nor a list of parts.")
    return joined([text_part(part, kinds) for part in fields.elements(name, value)])


def text_part(part: Fields, kinds: tuple[str, ...] = ("text",)) -> str:
    kind = part.need("type", str)
    if kind not in kinds:
        raise Refusal(400, f"{part.where('type')} is '{kind[:100]}': memeval's endpoint supports text only. Send text.")
    text = part.need("text", str)
    part.ignore("cache_control", "annotations", "logprobs")
    part.only("citations", [])
    part.end()
    return text


def joined(parts: list[str]) -> str | list[dict[str, str]]:
    return "".join(parts) if len(parts) < 2 else [{"type": "text", "text": text} for text in parts]
