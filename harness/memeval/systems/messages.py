"""The messages between memeval and a system: sessions out, replies in.

A worker runs foreign code, and a command may be any program, so nothing they say is trusted. What a program may leave
out is read as if it were there and said nothing; all else is as strict as for the worker. ``site/protocol.md`` has the
whole of it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from memeval.records.base import Digest, digest_of
from memeval.records.response import ReportedUsage
from memeval.records.scenario import Session, Turn, TurnKind
from memeval.systems.errors import AdapterMisbehaved, AdapterRaised, NoAdapter, SystemDied, SystemFailure
from memeval.systems.output import visible
from memeval.systems.worker import ASKED, DISPOSITIONS, OPTIONAL, TOKEN_LIMIT, USAGE

CALLS = {"ask": "query", "export": "export_memories", "take_in": "ingest_session"}
"""The adapter's methods behind calls that do not bear their name."""

NEEDED_CALLS = "take_in, and ask (or search, recall or reflect)"
"""What makes a program a system, in words."""

QUOTED = 80
"""How much of a line that is no reply is shown."""

SAID = 300
"""How much of an exception's message goes into a sentence."""

LOADING = "loading the adapter"
"""What the first call does, in words."""

Remedy = Callable[[str, str, str], str]
"""Gives what to do about a cause that a worker names: cause, what it is about, and the method that was running."""


@dataclass(frozen=True, slots=True)
class AdapterInfo:
    """What a system's process says once the adapter is loaded."""

    class_name: str
    """The class that was loaded; blank where the system is a program of another kind, and so are the others then."""
    candidates: tuple[str, ...]
    """All classes that would do, in alphabetical order, imported ones included."""
    capabilities: tuple[str, ...]
    """The methods found beyond ``reset``, in alphabetical order."""
    implementation: str
    """The interpreter's name, such as ``cpython``."""
    python: str
    """The interpreter's version."""
    packages: Mapping[str, str]
    """Distributions visible to the system, with their versions."""

    @property
    def environment_digest(self) -> Digest:
        """Digest of the interpreter and packages."""
        return digest_of(
            {"implementation": self.implementation, "python": self.python, "packages": dict(self.packages)}
        )

    def can(self, method: str) -> bool:
        """Whether the adapter has ``method``."""
        return method in self.capabilities


@dataclass(frozen=True, slots=True)
class FoundItem:
    """One piece of memory that a system brought up."""

    text: str
    """Its text."""
    source_ids: tuple[str, ...] = ()
    """Ordinals of the sessions or turns that the system says it came from."""
    score: float | None = None
    """The system's own score."""


@dataclass(frozen=True, slots=True)
class SystemReply:
    """What a system gave for one question."""

    answer: str
    """The answer as returned; blank for a search."""
    context: str | None
    """The context as returned; ``None`` where none was."""
    items: tuple[FoundItem, ...] | None
    """What was retrieved, best first; ``None`` where the system does not say."""
    reported_tokens: float | None
    """Tokens of context by the system's own account; ``None`` where it gives none."""
    seconds: float
    """Monotonic seconds from sending the question to the last byte of the reply."""
    worker_seconds: float | None
    """The same by the worker's account, without the way there and back: for diagnosis, never for a table; ``None``
    where a program gives none."""


def session_json(session: Session) -> bytes:
    """Return a session as one line of ASCII JSON, with the keys that an adapter sees and no others."""
    return to_line(
        {
            "session_id": session.session_id,
            "date": session.date,
            "turns": [turn_data(turn) for turn in session.turns],
        }
    )


def turn_data(turn: Turn) -> dict[str, str]:
    """Return a turn as an adapter sees it: a speaker only where there is one, a kind only where it is no message."""
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
    """A reply that breaks the protocol; the text says how, and goes on after "The reply to …"."""

    def __init__(self, how: str, remedy: str = "") -> None:
        super().__init__(how)
        self.remedy = remedy


def _no_constant(name: str) -> NoReturn:
    raise ProtocolError(f"has {name}, which is not JSON.")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)

REPLIES_ONLY = "Standard output is for replies alone: print to standard error."


def from_line(line: bytes, number: int) -> dict[str, Any]:
    """Read one reply.

    Args:
        line: the line as it came.
        number: the id of the request that it must answer.

    Raises:
        ProtocolError: it is not such a reply.
    """
    began = visible(line[:QUOTED].decode("utf-8", "backslashreplace"))
    try:
        reply = _DECODER.decode(line.decode("utf-8"))
    except UnicodeDecodeError:
        raise ProtocolError(f"is not UTF-8 ('{began}').", "Write UTF-8 to standard output.") from None
    except (ValueError, RecursionError):
        raise ProtocolError(f"is not JSON ('{began}').", REPLIES_ONLY) from None
    if not isinstance(reply, dict) or reply.get("id") != number:
        raise ProtocolError(f"does not have the id {number} of the request ('{began}').", REPLIES_ONLY)
    if not ("value" in reply) ^ ("error" in reply):
        raise ProtocolError("needs either 'value' or 'error'.")
    return reply


def failure(
    error: Any, call: str, remedy: Remedy = lambda cause, about, method: "", *, is_own: bool = True
) -> SystemFailure:
    """Return what a worker, or a program in a plain text, says went wrong as an exception.

    Args:
        error: what it says.
        call: the call that failed.
        remedy: gives what to do about it.
        is_own: whether the class is the author's own; of a shipped driver, no line is named.

    Raises:
        ProtocolError: it is not such an error.
    """
    if isinstance(error, str):
        return AdapterRaised(visible(f"{CALLS.get(call, call)} failed: {text(error)[:1000].rstrip('.')}."))
    if not isinstance(error, dict):
        raise ProtocolError("has an 'error' that is neither a string nor an object.")
    kind = error.get("kind")
    message = text(error.get("message"))[:1000].rstrip(".")
    method = text(error.get("method"))[:100] or call
    cause, about, at = (visible(text(error.get(name, ""))[:SAID]) for name in ("cause", "about", "at"))
    at = at if is_own else ""
    place = f" ({at})" if at else ""
    todo = remedy(cause, about, method) if is_own else ""
    match kind:
        case "raised":
            name = text(error.get("type"))[:100]
            trace = tuple(line[:300] for line in texts(error.get("trace", []))[:20])
            doing = method
            if call == "load" and not (is_own and method == "__init__"):
                doing = LOADING if is_own else "Loading the adapter"
            problem = f"{_raised(cause, about, doing, name, message)}{place}."
            return AdapterRaised(visible(problem), trace, remedy=todo, at=at)
        case "misbehaved" | "skipped":
            return AdapterMisbehaved(visible(f"{message}{place}."), remedy=todo, at=at)
        case "failed":
            return AdapterRaised(visible(f"{message}."))
        case "died":
            return SystemDied(visible(f"{message}."))
        case "no_adapter":
            return NoAdapter(visible(f"{message}."), remedy=todo)
    raise ProtocolError("has an 'error' of an unknown kind.")


def _raised(cause: str, about: str, doing: str, name: str, message: str) -> str:
    """Return what was raised, in words, without a full stop."""
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
        case "file":
            return f"{doing} raised {name}: there is no file '{about}'"
    said = message if len(message) <= SAID else f"{message[:SAID]}…"
    return f"{doing} raised {name}: {said}" if said.strip() else f"{doing} raised {name}"


def hello(value: Any) -> AdapterInfo:
    """Read the reply to ``load``.

    Raises:
        ProtocolError: it is not one.
        NoAdapter: there is not enough that the system can do.
    """
    value = mapping(value)
    packages = mapping(value.get("packages", {}))
    calls = texts(value.get("capabilities"))
    capabilities = {CALLS.get(call, call) for call in calls} - {"load", "reset"}
    if unknown := capabilities.difference((*OPTIONAL, DISPOSITIONS)):
        raise ProtocolError(f"names an unknown capability, '{visible(min(unknown)[:QUOTED])}'.")
    if "ingest_session" not in capabilities or capabilities.isdisjoint(ASKED):
        raise NoAdapter(
            visible(f"the program's capabilities are {', '.join(calls) or 'none'}; it needs {NEEDED_CALLS}.")
        )
    return AdapterInfo(
        class_name=text(value.get("class", "")),
        candidates=texts(value.get("candidates", [])),
        capabilities=tuple(sorted(capabilities)),
        implementation=text(value.get("implementation", "")),
        python=text(value.get("python", "")),
        packages={text(name): text(version) for name, version in sorted(packages.items())},
    )


def reply(value: Any, seconds: float, worker_seconds: Any) -> SystemReply:
    """Read the reply to a question.

    Raises:
        ProtocolError: it is not one.
    """
    value = mapping(value)
    context, items, tokens = value.get("context"), value.get("items"), value.get("tokens")
    if items is not None and not isinstance(items, list):
        raise ProtocolError("has 'items' that is not an array.")
    return SystemReply(
        answer=text(value.get("answer", "")),
        context=None if context is None else text(context),
        items=None if items is None else tuple(_found(item) for item in items),
        reported_tokens=None if tokens is None else _count(tokens),
        seconds=seconds,
        worker_seconds=None if worker_seconds is None else number(worker_seconds),
    )


def require_answer(value: Any, call: str) -> None:
    """Refuse the reply to a question that has no answer: a blank one would count as the system's own.

    Raises:
        AdapterMisbehaved: it is an object without ``answer``.
    """
    if isinstance(value, dict) and "answer" not in value:
        keys = ", ".join(sorted(map(repr, value))) or "no keys"
        problem = f"The reply to {CALLS.get(call, call)} has no 'answer' (it has {keys})."
        raise AdapterMisbehaved(visible(f'{problem[: QUOTED * 3]} Reply with {{"answer": "..."}}.'))


def exported(value: Any) -> tuple[FoundItem, ...]:
    """Read the reply to ``export``.

    Raises:
        ProtocolError: it is not one.
    """
    items = mapping(value).get("items")
    if not isinstance(items, list):
        raise ProtocolError("has 'items' that is not an array.")
    return tuple(_found(item) for item in items)


def forgotten(value: Any) -> int | None:
    """Read the reply to ``forget``: how many memories are gone, where the system says.

    Raises:
        ProtocolError: it is not one.
    """
    count = mapping(value).get("forgotten")
    if count is not None and _count(count) % 1:
        raise ProtocolError("has a 'forgotten' that is not whole.")
    return None if count is None else int(count)


def usage(value: Any) -> ReportedUsage:
    """Read the reply to ``usage``; tokens are whole.

    Raises:
        ProtocolError: it is not one.
    """
    told = {name: _count(amount) for name, amount in mapping(value).items() if name in USAGE}
    return ReportedUsage(
        prompt_tokens=_whole(told.get("prompt_tokens")),
        completion_tokens=_whole(told.get("completion_tokens")),
        cost_usd=told.get("cost_usd"),
    )


def _whole(count: float | None) -> int | None:
    return None if count is None else int(count)


def _count(value: Any) -> float:
    count = number(value)
    if not 0 <= count <= TOKEN_LIMIT:
        raise ProtocolError("has a count that is negative or too large.")
    return count


def _found(value: Any) -> FoundItem:
    value = mapping(value)
    score = value.get("score")
    return FoundItem(
        text=text(value.get("text")),
        source_ids=texts(value.get("source_ids", [])),
        score=None if score is None else number(score),
    )


def mapping(value: Any) -> dict[str, Any]:
    """Return ``value`` if it is an object."""
    if not isinstance(value, dict):
        raise ProtocolError("has something else where an object belongs.")
    return value


def text(value: Any) -> str:
    """Return ``value`` if it is text that a file can hold."""
    if not isinstance(value, str):
        raise ProtocolError("has something else where a string belongs.")
    if not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise ProtocolError("has text with a lone surrogate.") from None
    return value


def texts(value: Any) -> tuple[str, ...]:
    """Return ``value`` if it is a list of texts."""
    if not isinstance(value, list):
        raise ProtocolError("has something else where an array belongs.")
    return tuple(text(one) for one in value)


def number(value: Any) -> float:
    """Return ``value`` if it is a finite number."""
    try:
        if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
            return float(value)
    except OverflowError:
        pass
    raise ProtocolError("has something else where a number belongs.")
