"""Texts for systems: records as turns, without ids of the source and without personal numbers."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from memeval.records.scenario import TurnKind

CHAT, MESSAGE, PHOTO = "agent_chat", "sms", "photo"
"""Record lists whose records are not observations."""

SEPARATOR = " | "

_DROPPED = frozenset({"event_id", "phone_id", "type", "idNumber", "phoneNumber", "contact_phone_number"})
_MASKS = (
    (re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"), "[e-mail address]"),
    (re.compile(r"(?<!\w)[1-9]\d{16}[\dXx](?!\w)"), "[id number]"),
    (
        re.compile(
            r"(?<![\d.])(?:(?:\+?86[- ]?)?1[3-9]\d[- ]?\d{4}[- ]?\d{4}|\+\d[\d -]{7,}\d|0\d{2,3}[- ]\d{7,8}"
            r"|400[- ]?\d{3}[- ]?\d{4})(?!\d)"
        ),
        "[phone number]",
    ),
)
_NUMBERS = r"[\"“]?\d{1,5}\b[\"”]?(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+)[\"“]?\d{1,5}\b[\"”]?(?!-))*"
_EVENT_ID = re.compile(
    rf"(?:(?P<event>event|incident)s?\s*)?\bIDs?\s*:?\s*{_NUMBERS}|(?P<bare>events?|incidents?)\s+{_NUMBERS}",
    re.IGNORECASE,
)
_ID_AS_ANSWER = re.compile(r"(?: and its event ID \(\d+\))|\b(event) ID\b([^.;]*?)\s(?:as|is) \d{2,5}\b", re.IGNORECASE)
_BRACKETS = re.compile(r"\s*(?P<open>[(\[])(?P<inside>[^()\[\]]*)(?P<close>[)\]])")
_SOURCE = re.compile(
    r"[\s,;]*(?:(?:originating|derived|integrated) from|corresponding to|based on|for|ending in)?\s*<>", re.IGNORECASE
)


class TurnText(NamedTuple):
    role: str
    speaker: str | None
    kind: TurnKind
    content: str


def turn_count(source: str, record: Mapping[str, Any]) -> int:
    return sum(1 for _ in _said(record)) if source == CHAT else 1


def turns_of(source: str, record: Mapping[str, Any], person: str) -> tuple[TurnText, ...]:
    """Return a record as turns: a chat as its messages, any other record as one turn.

    A turn is one line, because a context is a list of lines: so stored contexts name turns instead of quoting them.
    ``record``: the record; unknown fields are kept. ``person``: the name of the phone's owner.
    """
    if source == CHAT:
        return tuple(
            TurnText(role, person if role == "user" else None, TurnKind.MESSAGE, masked(_one_line(content)))
            for role, content in _said(record)
        )
    fields = {name: text for name, value in record.items() if (text := _field(name, value))}
    if source == MESSAGE:
        speaker, content = fields.pop("contactName", "unknown"), fields.pop("message_content", "")
        return (TurnText("user", speaker, TurnKind.MESSAGE, SEPARATOR.join([content, *_named(fields)])),)
    kind = TurnKind.IMAGE if source == PHOTO else TurnKind.OBSERVATION
    return (TurnText("user", person, kind, SEPARATOR.join([source, *_named(fields)])),)


def masked(text: str) -> str:
    """Return a text with e-mail addresses, phone numbers and numbers of identity cards replaced."""
    for pattern, name in _MASKS:
        text = pattern.sub(name, text)
    return text


def without_event_ids(text: str) -> str:
    """Return a criterion of a rubric without the ids of hidden events, which no system can know."""
    text = _ID_AS_ANSWER.sub(lambda found: (found[1] or "") + (found[2] or ""), _BRACKETS.sub(_without_source, text))
    return _EVENT_ID.sub(lambda found: found["event"] or found["bare"] or "event", text)


def _without_source(found: re.Match[str]) -> str:
    """Return a remark in brackets without the event that it names; nothing if it only names events."""
    if not _EVENT_ID.search(found["inside"]):
        return found.group()
    rest = _SOURCE.sub("", _EVENT_ID.sub("<>", found["inside"])).strip(" ,;:")
    return f" {found['open']}{rest}{found['close']}" if rest else ""


def _said(chat: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    conversation = chat.get("conversation")
    for turn in conversation.values() if isinstance(conversation, dict) else ():
        for role in ("user", "assistant"):
            said = turn.get(role) if isinstance(turn, dict) else None
            content = said.get("content") if isinstance(said, dict) else said
            if isinstance(content, str) and content.strip():
                yield role, content


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _named(fields: Mapping[str, str]) -> Iterator[str]:
    return (f"{name}: {text}" for name, text in fields.items())


def _field(name: str, value: Any) -> str:
    """Return the text of a field; blank if it is dropped or has none."""
    return "" if name in _DROPPED or name.lower().endswith(("email", "emails")) else masked(_text(value))


def _text(value: Any) -> str:
    """Return a value in one piece: names and values of nested objects, entries of lists."""
    if isinstance(value, dict):
        parts = ((name, _field(name, each)) for name, each in value.items())
        return "; ".join(f"{name}: {text}" for name, text in parts if text)
    if isinstance(value, list):
        return ", ".join(text for each in value if (text := _text(each)))
    return "" if value is None else _one_line(str(value))
