"""What goes over the line: sessions out, replies in.

A worker runs foreign code, and a command may be any program, so nothing they say is trusted. What a program may leave
out is read as if it were there and said nothing; all else is as strict as for the worker. ``site/protocol.md`` has the
whole of it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from memeval.records.base import Digest, digest_of
from memeval.records.response import ReportedUsage
from memeval.records.scenario import Session, Turn, TurnKind
from memeval.systems.failures import AdapterMisbehaved, AdapterRaised, NoAdapter, SystemDied, SystemFailure
from memeval.systems.output import visible
from memeval.systems.worker import ASKED, DISPOSITIONS, OPTIONAL, TOKEN_LIMIT, USAGE

CALLS = {"ask": "query", "export": "export_memories", "take_in": "ingest_session"}
"""The adapter's methods behind calls that do not bear their name."""

NEEDED_CALLS = "take_in (or retain), and ask (or search, recall or reflect)"
"""What makes a program a system, in words."""

QUOTED = 80
"""How much of a line that is no reply is shown."""


@dataclass(frozen=True, slots=True)
class Hello:
    """What a system's process says once the adapter is loaded."""

    class_name: str
    """The class that was loaded; blank where the system is a program of another kind, and so are the others then."""
    candidates: tuple[str, ...]
    """All classes of the file that would do, in alphabetical order; the first is taken unless one is named."""
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
class Found:
    """One piece of memory that a system brought up."""

    text: str
    """Its text."""
    source_ids: tuple[str, ...] = ()
    """Ordinals of the sessions or turns that the system says it came from."""
    score: float | None = None
    """The system's own score."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a system gave for one question."""

    answer: str
    """The answer as returned; blank for a search."""
    context: str | None
    """The context as returned; ``None`` where none was."""
    items: tuple[Found, ...] | None
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


class Garbled(Exception):
    """A line that no worker of memeval's would write."""


def _no_constant(name: str) -> NoReturn:
    raise Garbled(f"the number {name}")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def from_line(line: bytes, number: int) -> dict[str, Any]:
    """Read one reply.

    Args:
        line: the line as it came.
        number: the id of the request that it must answer.

    Raises:
        Garbled: it is not such a reply.
    """
    try:
        reply = _DECODER.decode(line.decode("utf-8"))
    except (ValueError, RecursionError):
        began = visible(line[:QUOTED].decode("utf-8", "backslashreplace"))
        raise Garbled(f"a line that is not JSON ('{began}')") from None
    if not isinstance(reply, dict) or reply.get("id") != number or not ("value" in reply) ^ ("error" in reply):
        raise Garbled("a line that answers no call")
    return reply


def failure(error: Any, call: str) -> SystemFailure:
    """Return what a worker, or a program in a plain text, says went wrong as an exception.

    Raises:
        Garbled: it is not such an error.
    """
    if isinstance(error, str):
        return AdapterRaised(visible(f"{CALLS.get(call, call)} failed: {text(error)[:1000].rstrip('.')}."))
    if not isinstance(error, dict):
        raise Garbled("an error of no known form")
    message = text(error.get("message"))[:1000]
    method = text(error.get("method"))[:100] or call
    match error.get("kind"):
        case "raised":
            kind = text(error.get("type"))[:100]
            trace = tuple(line[:300] for line in texts(error.get("trace"))[:20])
            doing = "Loading the adapter" if call == "load" else method
            told = f"{kind}: {message}" if message.strip() else kind
            return AdapterRaised(visible(f"{doing} raised {told.rstrip('.')}."), trace)
        case "misbehaved" | "skipped":
            return AdapterMisbehaved(visible(message))
        case "failed":
            return AdapterRaised(visible(f"{message.rstrip('.')}."))
        case "died":
            return SystemDied(visible(f"{message.rstrip('.')}."))
        case "no_adapter":
            return NoAdapter(visible(message))
    raise Garbled("an error of no known form")


def hello(value: Any) -> Hello:
    """Read the reply to ``load``.

    Raises:
        Garbled: it is not one.
        NoAdapter: there is not enough that the system can do.
    """
    value = mapping(value)
    packages = mapping(value.get("packages", {}))
    calls = texts(value.get("capabilities"))
    capabilities = {CALLS.get(call, call) for call in calls} - {"load", "reset"}
    if unknown := capabilities.difference((*OPTIONAL, DISPOSITIONS)):
        raise Garbled(f"a capability that is none ('{visible(min(unknown)[:QUOTED])}')")
    if "ingest_session" not in capabilities or capabilities.isdisjoint(ASKED):
        raise NoAdapter(f"The system can do too little ({', '.join(calls) or 'nothing'}): it needs {NEEDED_CALLS}.")
    return Hello(
        class_name=text(value.get("class", "")),
        candidates=texts(value.get("candidates", [])),
        capabilities=tuple(sorted(capabilities)),
        implementation=text(value.get("implementation", "")),
        python=text(value.get("python", "")),
        packages={text(name): text(version) for name, version in sorted(packages.items())},
    )


def reply(value: Any, seconds: float, worker_seconds: Any) -> Reply:
    """Read the reply to a question.

    Raises:
        Garbled: it is not one.
    """
    value = mapping(value)
    context, items, tokens = value.get("context"), value.get("items"), value.get("tokens")
    if items is not None and not isinstance(items, list):
        raise Garbled("items of no known form")
    return Reply(
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


def exported(value: Any) -> tuple[Found, ...]:
    """Read the reply to ``export``.

    Raises:
        Garbled: it is not one.
    """
    items = mapping(value).get("items")
    if not isinstance(items, list):
        raise Garbled("items of no known form")
    return tuple(_found(item) for item in items)


def forgotten(value: Any) -> int | None:
    """Read the reply to ``forget``: how many memories are gone, where the system says.

    Raises:
        Garbled: it is not one.
    """
    count = mapping(value).get("forgotten")
    if count is not None and _count(count) % 1:
        raise Garbled("a count that is not whole")
    return None if count is None else int(count)


def usage(value: Any) -> ReportedUsage:
    """Read the reply to ``usage``; tokens are whole.

    Raises:
        Garbled: it is not one.
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
        raise Garbled("a count that none can be")
    return count


def _found(value: Any) -> Found:
    value = mapping(value)
    score = value.get("score")
    return Found(
        text=text(value.get("text")),
        source_ids=texts(value.get("source_ids", [])),
        score=None if score is None else number(score),
    )


def mapping(value: Any) -> dict[str, Any]:
    """Return ``value`` if it is an object."""
    if not isinstance(value, dict):
        raise Garbled("a value of no known form")
    return value


def text(value: Any) -> str:
    """Return ``value`` if it is text that a file can hold."""
    if not isinstance(value, str):
        raise Garbled("something else where text belongs")
    if not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise Garbled("text with a lone surrogate") from None
    return value


def texts(value: Any) -> tuple[str, ...]:
    """Return ``value`` if it is a list of texts."""
    if not isinstance(value, list):
        raise Garbled("something else where a list belongs")
    return tuple(text(one) for one in value)


def number(value: Any) -> float:
    """Return ``value`` if it is a finite number."""
    try:
        if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
            return float(value)
    except OverflowError:
        pass
    raise Garbled("something else where a number belongs")
