"""The calls by which a system is asked, as data that can be sent."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from memeval.systems import messages


class QuestionCall(NamedTuple):
    """A call by which a system is asked."""

    call: str
    """The name of the call."""
    arguments: bytes
    """Its keys as JSON, each after a comma."""


def ask_call(question: str, timestamp: str | None = None) -> QuestionCall:
    """Return the call of ``query``; without a timestamp, the adapter's default applies."""
    return QuestionCall("ask", b',"question":%b%b' % (ascii_json(question), _at(timestamp)))


def search_call(query: str, k: int, timestamp: str | None = None) -> QuestionCall:
    """Return the call of ``search`` for at most ``k`` items."""
    return QuestionCall("search", b',"query":%b,"k":%d%b' % (ascii_json(query), k, _at(timestamp)))


def recall_call(
    query: str,
    k: int,
    *,
    bank: str | None = None,
    timestamp: str | None = None,
    tags: Sequence[str] | None = None,
    since: str | None = None,
    until: str | None = None,
) -> QuestionCall:
    """Return the call of ``recall``.

    Args:
        query: the search text.
        k: the most items to return.
        bank: the bank; ``None`` for the adapter's default.
        timestamp: the time of the search.
        tags: return only texts with one of these tags.
        since: return only texts of this time or later.
        until: return only texts before this time.
    """
    when = {"timestamp": timestamp, "since": since, "until": until}
    return QuestionCall("recall", parts(query=query, k=k, bank=bank, tags=tags, **when))


def reflect_call(
    query: str,
    *,
    bank: str | None = None,
    timestamp: str | None = None,
    dispositions: Mapping[str, int] | None = None,
) -> QuestionCall:
    """Return the call of ``reflect``.

    Args:
        query: the question.
        bank: the bank; ``None`` for the adapter's default.
        timestamp: the time of the question.
        dispositions: traits for the answer, each from 1 to 5; only if the system accepts them.
    """
    return QuestionCall("reflect", parts(query=query, bank=bank, timestamp=timestamp, dispositions=dispositions))


def ascii_json(text: str) -> bytes:
    """Return a text as ASCII JSON."""
    return json.dumps(text).encode("ascii")


def parts(**named: Any) -> bytes:
    """Return the parts of a request that are not ``None``, as JSON after the field ``call``."""
    present = {name: part for name, part in named.items() if part is not None}
    return b"," + messages.to_line(present)[1:-1] if present else b""


def _at(timestamp: str | None) -> bytes:
    return b"" if timestamp is None else b',"timestamp":%b' % ascii_json(timestamp)
