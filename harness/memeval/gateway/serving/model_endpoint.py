"""One system process's way to models: its token, its environment, and what it has asked for in this pass."""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from memeval.gateway.serving.hosts import HostRoute
from memeval.records.base import Digest
from memeval.records.call import Call, Phase

TOKEN_PREFIX = "memeval-"  # noqa: S105 (how worthless tokens begin)

AT_ONCE = 64
"""How many requests of one system are read and answered at once; the others wait, so that their bodies cost nothing."""


@dataclass
class PassCounts:
    """What a system asked for in one pass over a scenario."""

    scenario_id: str | None = None
    """The scenario; ``None`` while the system loads."""
    calls: int = 0
    """Calls so far."""
    refused: int = 0
    """Requests so far for models that are not declared."""
    exchanges: int = 0
    """Requests so far that were passed on to declared hosts."""
    strays: int = 0
    """Requests so far to hosts that are not declared."""
    _seen: Counter[Digest] = field(default_factory=Counter)

    def ordinal(self, key: Digest) -> int:
        """Count a request; return how many times it was made before."""
        self._seen[key] += 1
        return self._seen[key] - 1


class ModelEndpoint:
    """A system process's way to models, made by :meth:`ModelServer.door`.

    Args:
        origin: scheme, host and port of the server.
        leave: told of every pass that is over.
        hosts: the hosts that the system declares.

    Attributes:
        token: what the system presents in place of a key. It is good for this door and worthless elsewhere.
        phase: what the system is doing.
        current: the pass that the system is in.
    """

    def __init__(self, origin: str, leave: Callable[[PassCounts], None], hosts: Iterable[HostRoute] = ()) -> None:
        self.token = TOKEN_PREFIX + secrets.token_hex(16)
        self.phase = Phase.INGEST
        self.current = PassCounts()
        self.places = asyncio.Semaphore(AT_ONCE)
        self._origin = origin
        self._leave = leave
        self._hosts = tuple(hosts)
        self._guard = threading.Lock()
        self._open = 0
        self._since = self._served = self._waited = 0.0

    @contextmanager
    def waiting(self) -> Iterator[list[Call]]:
        """Count the time that a call takes, but for its service, as time that the system is kept waiting.

        Yields:
            Where the call is put once it is made.
        """
        made: list[Call] = []
        with self._guard:
            if self._open == 0:
                self._since, self._served = time.monotonic(), 0.0
            self._open += 1
        try:
            yield made
        finally:
            with self._guard:
                self._served += sum(call.seconds or 0.0 for call in made)
                self._open -= 1
                if self._open == 0:
                    self._waited += max(0.0, time.monotonic() - self._since - self._served)

    def waited(self) -> float:
        """Return for how many seconds so far the system was kept waiting for models; from any thread.

        Waiting is for a place, for a rate, for a budget, for an endpoint that is down or asks for a pause: for all that
        is no fault of the system's. What is under way counts until it is clear how much of it is service.
        """
        with self._guard:
            going_on = time.monotonic() - self._since - self._served if self._open else 0.0
            return self._waited + max(0.0, going_on)

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables that official clients read, and those of the declared hosts.

        Ollama's clients send no key, so their base URL holds the token; and so do the hosts', whose keys it stands for.
        """
        ollama = f"{self._origin}/{self.token}"
        hosts = {each.variable: f"{ollama}/hosts/{each.host}" for each in self._hosts}
        keys = {each.key_variable: self.token for each in self._hosts if each.key_variable is not None}
        return {
            **hosts,
            **keys,
            "OPENAI_BASE_URL": f"{self._origin}/v1",
            "OPENAI_API_BASE": f"{self._origin}/v1",
            "OPENAI_API_KEY": self.token,
            "ANTHROPIC_BASE_URL": self._origin,
            "ANTHROPIC_API_KEY": self.token,
            "OLLAMA_HOST": ollama,
            "OLLAMA_BASE_URL": ollama,
        }

    def enter(self, scenario_id: str) -> None:
        """Begin a pass over a scenario; requests that arrived before still belong to the pass they arrived in."""
        before, self.current = self.current, PassCounts(scenario_id)
        self._leave(before)

    def in_phase(self, phase: Phase) -> None:
        """Say what the system is doing from now on."""
        self.phase = phase
