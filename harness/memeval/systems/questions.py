"""The calls by which a system is asked or given a text, as data, and how many of them are in flight."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from memeval.systems import messages
from memeval.systems.errors import SystemFailure


class PreparedCall(NamedTuple):
    """A call, ready to be sent; several can be in flight together."""

    call: str
    arguments: bytes
    """Its keys as JSON, each after a comma."""


def ask_call(question: str, timestamp: str | None = None) -> PreparedCall:
    """Return the call of ``query``; without a timestamp, the adapter's default applies."""
    return PreparedCall("ask", parts(question=question, timestamp=timestamp))


def search_call(query: str, k: int, timestamp: str | None = None) -> PreparedCall:
    return PreparedCall("search", parts(query=query, k=k, timestamp=timestamp))


def recall_call(
    query: str,
    k: int,
    *,
    bank: str | None = None,
    timestamp: str | None = None,
    tags: Sequence[str] | None = None,
    since: str | None = None,
    until: str | None = None,
) -> PreparedCall:
    """Return the call of ``recall``. ``bank``: the bank; ``None`` for the adapter's default."""
    when = {"timestamp": timestamp, "since": since, "until": until}
    return PreparedCall("recall", parts(query=query, k=k, bank=bank, tags=tags, **when))


def reflect_call(
    query: str, *, bank: str | None = None, timestamp: str | None = None, dispositions: Mapping[str, int] | None = None
) -> PreparedCall:
    """Return the call of ``reflect``.

    ``bank``: the bank; ``None`` for the adapter's default. ``dispositions``: traits for the answer, each from 1 to 5;
    only if the system accepts them.
    """
    return PreparedCall("reflect", parts(query=query, bank=bank, timestamp=timestamp, dispositions=dispositions))


def retain_call(
    content: str,
    *,
    bank: str | None = None,
    timestamp: str | None = None,
    tags: Sequence[str] | None = None,
    source_id: str | None = None,
    fact_type: str | None = None,
    metadata: Mapping[str, str | float] | None = None,
) -> PreparedCall:
    """Return the call of ``retain``. ``bank``: the bank of the text; ``None`` for the adapter's default."""
    what = {"tags": tags, "source_id": source_id, "fact_type": fact_type, "metadata": metadata}
    return PreparedCall("retain", parts(content=content, bank=bank, timestamp=timestamp, **what))


def parts(**named: Any) -> bytes:
    """Return the parts of a request that are not ``None``, as JSON after the field ``call``."""
    present = {name: part for name, part in named.items() if part is not None}
    return b"," + messages.to_line(present)[1:-1] if present else b""


WAIT_SECONDS = 0.25
"""How long an instance without questions in flight waits for a slot before it looks around."""

AGAIN_SECONDS = 0.01
"""How often an instance with questions in flight asks for another slot."""


class Slots:
    """Slots that several instances share, each for one question in flight."""

    def __init__(self, number: int) -> None:
        self._free = threading.Semaphore(number)
        self._is_open = False

    def take(self, *, wait: bool) -> bool:
        """Take a slot; return whether there was one, within a moment if ``wait``."""
        if self._is_open:
            return True
        return self._free.acquire(timeout=WAIT_SECONDS) if wait else self._free.acquire(blocking=False)

    def give_back(self, number: int) -> None:
        if number:
            self._free.release(number)

    def open(self) -> None:
        """Limit nothing any more: the run ends, and nobody may wait for a slot."""
        self._is_open = True


@dataclass(frozen=True)
class Flight:
    most: int
    in_order: bool = False
    """Whether the system may answer one after the other: then a time limit counts from the reply before."""
    slots: Slots | None = None
    """How many may be in flight over all instances; ``None`` for no such limit."""


@dataclass(frozen=True)
class Sent:
    place: int
    """Its place in the order of sending."""
    call: str
    at: float
    """When it was sent, by the clock of the process."""


class EndedInFlight(Exception):
    """The process has ended with questions in flight.

    ``places``: the questions without a reply, any of which may have caused it.
    """

    def __init__(self, failure: SystemFailure, places: Sequence[int]) -> None:
        super().__init__(str(failure))
        self.failure = failure
        self.places = tuple(places)
