"""What the body of a provider's error says, whatever its form."""

import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from memeval.gateway.reply_words import reply_words

QUOTED = 300
_MOST_READ = 2_000
"""Characters of a message that are read, so that long messages take no time."""
_DEEPEST = 8
_HEADLINE = re.compile(r"<(title|h1)\b[^<>]{0,200}>(?P<text>[^<>]{1,300})</", re.I)
_HTML_READ = 20_000
"""Characters of a web page in which its headline is searched."""
_ADDRESS = re.compile(r"https?://\S+")


@dataclass(frozen=True)
class ProviderError:
    message: str
    """The provider's message on one line; empty if absent."""
    codes: frozenset[str] = frozenset()
    """Its codes, types and names of statuses, in lower case."""
    status: int | None = None
    """The HTTP status that the body states or that a code stands for; ``None`` if unknown."""
    is_daily: bool = False

    @property
    def is_used_up(self) -> bool:
        """Whether a quota is used up, so that no retry helps; false for a limit that passes by itself."""
        words = reply_words().errors
        if self.codes & words.quota or self.status == 402:
            return True
        message = _ADDRESS.sub("", self.message)
        if not words.quota_messages.search(message) or (self.status or 0) >= 500:
            return False
        return self.is_daily or not words.passing_messages.search(message)

    @property
    def is_setting(self) -> bool:
        return bool(self.codes & reply_words().errors.setting)

    @property
    def is_about_text(self) -> bool:
        words = reply_words().errors
        return bool(self.codes & words.text or words.text_messages.search(self.message))


def quoted(message: str) -> str:
    """Return the end of a sentence that quotes an endpoint's message, truncated; a full stop if absent."""
    return f": {message[:QUOTED]}" if message else "."


def error_in(body: str) -> ProviderError:
    """Return what the body of an error says: JSON of any form, a web page or plain text."""
    text = body.strip()
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return ProviderError(_one_line(_headline(text) if text.startswith("<") else text))
    return error_of(data)


def error_of(data: Any) -> ProviderError:
    words = reply_words().errors
    objects = list(_objects(data, 0))
    codes = frozenset(
        str(each[name]).lower()
        for each in objects
        for name in words.codes
        if isinstance(each.get(name), str | int) and each[name]
    )
    stated = (status for each in objects for name in words.statuses if (status := _status(each.get(name))))
    named = (words.status_of[code] for code in sorted(codes) if code in words.status_of)
    return ProviderError(
        message=_one_line(_message(data, 0)),
        codes=codes,
        status=next(stated, None) or next(named, None),
        is_daily=words.daily in json.dumps(data)[:_HTML_READ] if objects else False,
    )


def reported(data: dict[str, Any]) -> ProviderError | None:
    """Return the error in a body, a choice or a message; ``None`` if it reports none."""
    names_error = str(data.get("object")).lower() == "error" or str(data.get("type")).lower() == "error"
    if names_error or (data.get("success") is False and data.get("errors")):
        return error_of(data)
    error = data.get("error")
    if error is True:
        return error_of(data)
    if not error:
        return None
    found = error_of({"error": error})
    return found if found.message or found.codes or found.status else None


def _objects(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    """Yield the objects that describe an error, the outer ones first."""
    if depth > _DEEPEST:
        return
    if isinstance(value, str) and (inner := _nested(value)) is not None:
        yield from _objects(inner, depth + 1)
    elif isinstance(value, list):
        for each in value[:10]:
            yield from _objects(each, depth + 1)
    elif isinstance(value, dict):
        yield value
        words = reply_words().errors
        metadata = value.get("metadata")
        raw = metadata.get("raw") if isinstance(metadata, dict) else None
        for inner in (*(value.get(name) for name in (*words.holders, *words.details)), raw):
            if isinstance(inner, dict | list | str):
                yield from _objects(inner, depth + 1)


def _message(value: Any, depth: int) -> str:
    if depth > _DEEPEST:
        return ""
    if isinstance(value, str):
        inner = _nested(value)
        return value if inner is None else _message(inner, depth + 1) or value
    if isinstance(value, list):
        return "; ".join(filter(None, (_message(each, depth + 1) for each in value[:3])))
    if not isinstance(value, dict):
        return ""
    words = reply_words().errors
    for name in words.holders:
        inner = value.get(name)
        holds = isinstance(inner, dict | list) or (isinstance(inner, str) and _nested(inner) is not None)
        if holds and (found := _message(inner, depth + 1)):
            return found
    lowered = {name.lower(): each for name, each in value.items()}
    found = next(filter(None, (_message(lowered.get(name), depth + 1) for name in words.messages)), "")
    metadata = value.get("metadata")
    raw = _message(metadata.get("raw"), depth + 1) if isinstance(metadata, dict) else ""
    if raw and raw != found:
        found = f"{found.rstrip('.: ')}: {raw}" if found else raw
    place = value.get("loc")
    if found and isinstance(place, list) and place:
        return f"{'.'.join(str(part) for part in place[:8])}: {found}"
    return found


def _nested(text: str) -> Any:
    start = text.lstrip()[:1]
    if start not in ("{", "["):
        return None
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict | list) else None


def _status(value: Any) -> int | None:
    if isinstance(value, str) and value.isdecimal() and len(value) == 3:
        value = int(value)
    return value if isinstance(value, int) and 400 <= value <= 599 else None


def _headline(page: str) -> str:
    found = _HEADLINE.search(page[:_HTML_READ])
    return html.unescape(found["text"]) if found else ""


def _one_line(message: str) -> str:
    line = " ".join(message[:_MOST_READ].split())
    return "".join(sign for sign in line if sign.isprintable())
