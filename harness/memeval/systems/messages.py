"""Reads and writes the messages between memeval and a system.

A worker runs foreign code, and a command may be any program, so every reply is checked. Optional fields of a reply get
default values. ``site/protocol.md`` describes the whole protocol.
"""

import json
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from memeval.records.base import Digest, digest_of
from memeval.records.response import ReportedUsage
from memeval.records.scenario import Session, Turn, TurnKind
from memeval.systems.channel import visible
from memeval.systems.errors import AdapterMisbehaved, AdapterRaised, NoAdapter, SystemDied, SystemFailure
from memeval.systems.worker import (
    ASKED,
    DECLARED,
    DISPOSITIONS,
    MOST_AT_ONCE,
    OPTIONAL,
    TEXTS_TOGETHER,
    TOKEN_LIMIT,
    USAGE,
)

CALLS = {"ask": "query", "export": "export_memories", "take_in": "ingest_session"}
"""The adapter method of each call that has another name than its method."""

QUOTED = 80
"""How many characters of an invalid reply an error quotes."""

MESSAGE_LENGTH = 300
"""How many characters of an exception's message an error quotes."""

LOADING = "loading the adapter"

Remedy = Callable[[str, str, str], str]
"""Returns the remedy for a cause, its detail and the running method, as the worker reports them."""


STORAGE = "storage"
"""Listed with the methods of a system that has a storage folder."""


def with_storage(capabilities: tuple[str, ...]) -> tuple[str, ...]:
    """Return the capabilities of a system, with that of a storage folder."""
    return tuple(sorted((*capabilities, STORAGE)))


@dataclass(frozen=True, slots=True)
class AdapterInfo:
    class_name: str
    """The loaded class. Blank if the system is not a Python class; then the other fields are blank too."""
    capabilities: tuple[str, ...]
    """The methods other than ``reset``, in alphabetical order."""
    implementation: str
    """The interpreter's name, such as ``cpython``."""
    python: str
    packages: Mapping[str, str]
    """Distributions visible to the system, with their versions."""
    questions_at_once: int = 1
    """How many questions one instance answers at the same time, as it declares."""

    @property
    def environment_digest(self) -> Digest:
        return digest_of(
            {"implementation": self.implementation, "python": self.python, "packages": dict(self.packages)}
        )

    def can(self, method: str) -> bool:
        return method in self.capabilities


@dataclass(frozen=True, slots=True)
class FoundItem:
    text: str
    source_ids: tuple[str, ...] = ()
    score: float | None = None


@dataclass(frozen=True, slots=True)
class SystemReply:
    answer: str
    """The answer as returned; blank for a search."""
    context: str | None
    items: tuple[FoundItem, ...] | None
    reported_tokens: float | None
    seconds: float
    """Monotonic seconds from sending the question to the last byte of the reply."""


NOT_LOADED = AdapterInfo("", (), "", "", {})
"""Of a system before its first start."""


def session_json(session: Session) -> bytes:
    """Return a session as one line of ASCII JSON, with the keys that an adapter sees and no others."""
    return to_line(
        {"session_id": session.session_id, "date": session.date, "turns": [turn_data(turn) for turn in session.turns]}
    )


def turn_data(turn: Turn) -> dict[str, str]:
    """Return a turn as the adapter receives it, without a missing speaker and without the kind ``message``."""
    data = {"turn_id": turn.turn_id, "role": turn.role, "content": turn.content}
    if turn.speaker is not None:
        data["speaker"] = turn.speaker
    if turn.kind is not TurnKind.MESSAGE:
        data["kind"] = turn.kind.value
    return data


def to_line(value: Any) -> bytes:
    """Return plain data as ASCII JSON without line breaks."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")


class ProtocolError(Exception):
    """A reply breaks the protocol. The text continues a sentence that begins "The reply to …"."""

    def __init__(self, problem: str, remedy: str = "") -> None:
        super().__init__(problem)
        self.remedy = remedy


def _no_constant(name: str) -> NoReturn:
    raise ProtocolError(f"has {name}, which is not JSON.")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)

REPLIES_ONLY = "Write only replies to standard output: print to standard error."


def _start(line: bytes) -> str:
    return visible(line[:QUOTED].decode("utf-8", "backslashreplace"))


def from_line(line: bytes, numbers: Collection[int]) -> dict[str, Any]:
    """Read one reply. Raises ProtocolError: the line is not a reply to one of these requests."""
    try:
        reply = _DECODER.decode(line.decode("utf-8"))
    except UnicodeDecodeError:
        raise ProtocolError(f"is not UTF-8 ('{_start(line)}').", "Write UTF-8 to standard output.") from None
    except (ValueError, RecursionError):
        raise ProtocolError(f"is not JSON ('{_start(line)}').", REPLIES_ONLY) from None
    number = reply.get("id") if isinstance(reply, dict) else None
    if isinstance(reply, dict) and "id" not in reply and {"value", "error"} & set(reply):
        raise ProtocolError(f"has no 'id' ('{_start(line)}').", "Copy the 'id' of the request into the reply.")
    if isinstance(number, int) and 0 < number < min(numbers):
        raise ProtocolError(
            f"is a second reply to the request {number} ('{_start(line)}').",
            "Answer each request once. A forked copy of the process must not return: end it with os._exit(0).",
        )
    if not isinstance(reply, dict) or not isinstance(number, int) or number not in numbers:
        wanted = f"{next(iter(numbers))} of the request" if len(numbers) == 1 else "of an open request"
        raise ProtocolError(f"does not have the id {wanted} ('{_start(line)}').", REPLIES_ONLY)
    if not ("value" in reply) ^ ("error" in reply):
        raise ProtocolError("needs either 'value' or 'error'.")
    return reply


def failure(
    error: Any,
    call: str,
    remedy: Remedy = lambda cause, about, method: "",
    *,
    is_own: bool = True,
    at: Callable[[str], str] = lambda message: "",
) -> SystemFailure:
    """Return the error in a reply as an exception.

    Args:
        error: the error: an object of a worker, or a text of a program.
        is_own: whether the author wrote the class; for a shipped driver, no line is named.
        at: returns the line of a program for the text of its error; blank if unknown.

    Raises:
        ProtocolError: the error is not valid.
    """
    if isinstance(error, str):
        message = text(error)[:1000].rstrip(".")
        line = at(message)
        position = f" ({line})" if line else ""
        return AdapterRaised(visible(f"{CALLS.get(call, call)} failed: {message}{position}."), at=line)
    if not isinstance(error, dict):
        raise ProtocolError("has an 'error' that is neither a string nor an object.")
    kind = error.get("kind")
    message = text(error.get("message"))[:1000].rstrip(".")
    method = text(error.get("method"))[:100] or call
    cause, about, line = (visible(text(error.get(name, ""))[:MESSAGE_LENGTH]) for name in ("cause", "about", "at"))
    line = line if is_own else ""
    position = f" ({line})" if line else ""
    advice = remedy(cause, about, method) if is_own else ""
    match kind:
        case "raised":
            name = text(error.get("type"))[:100]
            trace = tuple(line[:300] for line in texts(error.get("trace", []))[:20])
            doing = method
            if call == "load" and not (is_own and method == "__init__"):
                doing = LOADING if is_own else "Loading the adapter"
            problem = f"{_raised(cause, about, doing, name, message)}{position}."
            return AdapterRaised(visible(problem), trace, remedy=advice, at=line)
        case "misbehaved" | "skipped":
            failure = AdapterRaised if cause == "signature" else AdapterMisbehaved  # without a filter, as one refused
            return failure(visible(f"{message}{position}."), remedy=advice, at=line)
        case "failed":
            return AdapterRaised(visible(f"{message}."))
        case "died":
            return SystemDied(visible(f"{message}."))
        case "no_adapter":
            return NoAdapter(visible(f"{message}."), remedy=advice)
    raise ProtocolError("has an 'error' of an unknown kind.")


def _raised(cause: str, about: str, doing: str, name: str, message: str) -> str:
    """Return the description of an exception, without a full stop."""
    match cause:
        case "module":
            return f"missing module '{about}'"
        case "syntax":
            return f"not valid Python: {message.rpartition(' (')[0] or message}"
        case "exit":
            return f"{doing} called sys.exit({about})"
        case "memory":
            return f"{doing} ran out of memory"
        case "signature":
            return f"{doing} cannot be called: it is declared as {about}"
        case "file" | "relative":
            return f"{doing} raised {name}: there is no file '{about}'"
        case "variable":
            return f"{doing} raised {name}: there is no environment variable '{about}'"
    shown = message if len(message) <= MESSAGE_LENGTH else f"{message[:MESSAGE_LENGTH]}…"
    return f"{doing} raised {name}: {shown}" if shown.strip() else f"{doing} raised {name}"


def adapter_info(value: Any) -> AdapterInfo:
    """Read the reply to ``load``."""
    value = mapping(value)
    packages = mapping(value.get("packages", {}))
    calls = texts(value.get("capabilities"))
    capabilities = {CALLS.get(call, call) for call in calls} - {"load", "reset"}
    if unknown := capabilities.difference((*OPTIONAL, DISPOSITIONS, TEXTS_TOGETHER)):
        known = sorted({*CALLS, *OPTIONAL, DISPOSITIONS, TEXTS_TOGETHER} - set(CALLS.values()))
        raise ProtocolError(
            f"names an unknown capability, '{visible(min(unknown)[:QUOTED])}'.", f"Known are {', '.join(known)}."
        )
    if "ingest_session" not in capabilities or capabilities.isdisjoint(ASKED):
        named = f"the program's capabilities are {', '.join(calls) or 'none'}"
        raise NoAdapter(visible(f"{named}; it needs take_in, and ask (or search, recall or reflect)."))
    return AdapterInfo(
        class_name=text(value.get("class", "")),
        capabilities=tuple(sorted(capabilities)),
        implementation=text(value.get("implementation", "")),
        python=text(value.get("python", "")),
        packages={text(name): text(version) for name, version in sorted(packages.items())},
        questions_at_once=_at_once(value.get(DECLARED, 1)),
    )


def _at_once(value: Any) -> int:
    if type(value) is not int or not 1 <= value <= MOST_AT_ONCE:
        raise ProtocolError(f"has a '{DECLARED}' that is not a whole number from 1 to {MOST_AT_ONCE}.")
    return value


def reply(value: Any, seconds: float) -> SystemReply:
    value = mapping(value)
    context, items, tokens = value.get("context"), value.get("items"), value.get("tokens")
    return SystemReply(
        answer=text(value.get("answer", "")),
        context=None if context is None else text(context),
        items=None if items is None else _found(items),
        reported_tokens=None if tokens is None else _count(tokens),
        seconds=seconds,
    )


def require_answer(value: Any, call: str) -> None:
    """Refuse a reply to a question without an answer: it must not count as a blank answer.

    Raises AdapterMisbehaved: the reply is an object without ``answer``.
    """
    if isinstance(value, dict) and "answer" not in value:
        keys = ", ".join(sorted(map(repr, value))) or "no keys"
        problem = f"The reply to {CALLS.get(call, call)} has no 'answer' (it has {keys})."
        raise AdapterMisbehaved(visible(f'{problem[: QUOTED * 3]} Reply with {{"answer": "..."}}.'))


def exported(value: Any) -> tuple[FoundItem, ...]:
    """Read the reply to ``export``."""
    return _found(mapping(value).get("items"))


def forgotten(value: Any) -> int | None:
    """Read the reply to ``forget``: how many memories were deleted; ``None`` if not reported."""
    count = mapping(value).get("forgotten")
    if count is not None and _count(count) % 1:
        raise ProtocolError("has a 'forgotten' that is not a whole number.")
    return None if count is None else int(count)


def usage(value: Any) -> ReportedUsage:
    """Read the reply to ``usage``; token counts are rounded down to whole numbers."""
    counts = {name: _count(amount) for name, amount in mapping(value).items() if name in USAGE}
    return ReportedUsage(
        prompt_tokens=_whole(counts.get("prompt_tokens")),
        completion_tokens=_whole(counts.get("completion_tokens")),
        cost_usd=counts.get("cost_usd"),
    )


def _whole(count: float | None) -> int | None:
    return None if count is None else int(count)


def _count(value: Any) -> float:
    count = number(value)
    if not 0 <= count <= TOKEN_LIMIT:
        raise ProtocolError("has a count that is negative or too large.")
    return count


def _found(items: Any) -> tuple[FoundItem, ...]:
    if not isinstance(items, list):
        raise ProtocolError("has 'items' that is not an array.")
    found = []
    for item in map(mapping, items):
        content, ids, score = text(item.get("text")), texts(item.get("source_ids", [])), item.get("score")
        found.append(FoundItem(content, ids, None if score is None else number(score)))
    return tuple(found)


def mapping(value: Any) -> dict[str, Any]:
    """Return ``value`` if it is an object, else raise :class:`ProtocolError`."""
    if not isinstance(value, dict):
        raise ProtocolError(f"has {_shown(value)} instead of an object.")
    return value


def text(value: Any) -> str:
    """Return ``value`` if it is text that UTF-8 can encode, else raise :class:`ProtocolError`."""
    if not isinstance(value, str):
        raise ProtocolError(f"has {_shown(value)} instead of a string.")
    if not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise ProtocolError("has text with a lone surrogate.") from None
    return value


def texts(value: Any) -> tuple[str, ...]:
    """Return ``value`` if it is a list of texts, else raise :class:`ProtocolError`."""
    if not isinstance(value, list):
        raise ProtocolError(f"has {_shown(value)} instead of an array.")
    return tuple(text(item) for item in value)


def number(value: Any) -> float:
    """Return ``value`` if it is a finite number, else raise :class:`ProtocolError`."""
    try:
        if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
            return float(value)
    except OverflowError:
        pass
    raise ProtocolError(f"has {_shown(value)} instead of a number.")


def _shown(value: Any) -> str:
    try:
        return visible(json.dumps(value, ensure_ascii=False)[:QUOTED])
    except RecursionError:
        return "a deeply nested value"
