"""Reading what a system sends: field by field, and nothing is dropped in silence."""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")

NAMES = {str: "text", bool: "true or false", int: "a whole number", list: "a list", dict: "an object"}


class Refusal(Exception):
    """What is said to a system instead of a reply.

    Args:
        status: the HTTP status.
        sentence: what is wrong, and what to do.
    """

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence


class Fields:
    """The fields of a JSON object, each taken once; ``null`` is as good as absent.

    Args:
        data: what should be an object.
        path: where it stands in the body, for sentences.

    Raises:
        Refusal: it is no object.
    """

    def __init__(self, data: Any, path: str = "") -> None:
        if not isinstance(data, dict):
            raise Refusal(400, f"{f'{path!r}' if path else 'The body'} is no JSON object.")
        self._left = {name: value for name, value in data.items() if value is not None}
        self._path = path

    def where(self, name: str) -> str:
        """Return the full name of a field, for sentences."""
        return f"'{self._path}.{name}'" if self._path else f"'{name}'"

    def maybe(self, name: str, kind: type[T]) -> T | None:
        """Take a field of a kind; ``None`` where there is none."""
        value = self._left.pop(name, None)
        if value is None or (isinstance(value, kind) and (kind is bool or not isinstance(value, bool))):
            return value
        raise Refusal(400, f"{self.where(name)} is not {NAMES[kind]}.")

    def need(self, name: str, kind: type[T]) -> T:
        """Take a field that must be there."""
        value = self.maybe(name, kind)
        if value is None:
            raise Refusal(400, f"{self.where(name)} is missing.")
        return value

    def inside(self, name: str) -> Fields:
        """Take an object; one without fields where there is none."""
        return Fields(self.maybe(name, dict) or {}, self.where(name).strip("'"))

    def each(self, name: str) -> list[Fields]:
        """Take a list of objects; an empty one where there is none."""
        path = self.where(name).strip("'")
        return [Fields(value, f"{path}[{place}]") for place, value in enumerate(self.maybe(name, list) or [])]

    def any(self, name: str) -> Any:
        """Take a field as it is; ``None`` where there is none."""
        return self._left.pop(name, None)

    def carry(self, *names: str) -> dict[str, Any]:
        """Take those of some fields that are there, as they are."""
        return {name: self._left.pop(name) for name in names if name in self._left}

    def ignore(self, *names: str) -> None:
        """Pass over fields that have no bearing on the reply."""
        for name in names:
            self._left.pop(name, None)

    def only(self, name: str, *values: Any) -> None:
        """Take a field that may have no other value than these."""
        value = self._left.pop(name, None)
        if value is not None and value not in values:
            raise Refusal(400, f"{self.where(name)} asks for what memeval's endpoint cannot carry over. Leave it out.")

    def end(self) -> None:
        """Refuse what is left."""
        if self._left:
            name = min(self._left)[:100]
            raise Refusal(400, f"{self.where(name)} is not carried by memeval's endpoint. Leave it out.")


def text_of(fields: Fields, name: str, kinds: tuple[str, ...] = ("text",)) -> str | list[dict[str, str]] | None:
    """Take a message's content: text, or a list of parts that are text.

    Args:
        fields: the message.
        name: its field.
        kinds: the types of parts that are text in this dialect.

    Returns:
        The text where it is one; the parts in the form of the OpenAI API where there are several; ``None`` for none.

    Raises:
        Refusal: a part is no text: an image, a sound, a file.
    """
    value = fields.any(name)
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, list):
        raise Refusal(400, f"{fields.where(name)} is neither text nor a list of parts.")
    path = fields.where(name).strip("'")
    parts = [text_part(Fields(part, f"{path}[{place}]"), kinds) for place, part in enumerate(value)]
    return joined(parts)


def text_part(part: Fields, kinds: tuple[str, ...] = ("text",)) -> str:
    """Read a part of a message that must be text."""
    kind = part.need("type", str)
    if kind not in kinds:
        raise Refusal(
            400, f"{part.where('type')} is '{kind[:100]}': memeval's endpoint carries text only. Put it into words."
        )
    text = part.need("text", str)
    part.ignore("cache_control", "annotations", "logprobs")
    part.only("citations", [])
    part.end()
    return text


def joined(parts: list[str]) -> str | list[dict[str, str]]:
    """Return texts as one message's content."""
    return "".join(parts) if len(parts) < 2 else [{"type": "text", "text": text} for text in parts]
