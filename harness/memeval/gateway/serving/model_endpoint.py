"""The model endpoint of one system process: its token, its environment, and its counts in this pass."""

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

TOKEN_PREFIX = "memeval-"  # noqa: S105 (prefix of placeholder keys)

MOST_CONCURRENT = 64
"""Maximum requests of one system in progress; the bodies of waiting requests are not read."""


@dataclass
class PassCounts:
    scenario_id: str | None = None
    """The scenario; ``None`` while the system loads."""
    calls: int = 0
    exchanges: int = 0
    undeclared: Counter[str] = field(default_factory=Counter)
    """Requests so far for what is not declared: a ``model`` or a ``host``."""
    _counts: Counter[Digest] = field(default_factory=Counter)

    def ordinal(self, key: Digest) -> int:
        """Count a request; return the number of equal requests before it."""
        self._counts[key] += 1
        return self._counts[key] - 1


class ModelEndpoint:
    """The model endpoint of one system process, made by :meth:`ModelServer.endpoint`.

    ``token``: the placeholder key that the system sends. It is valid at this endpoint only.
    """

    def __init__(self, origin: str, on_pass_end: Callable[[PassCounts], None], hosts: Iterable[HostRoute] = ()) -> None:
        self.token = TOKEN_PREFIX + secrets.token_hex(16)
        self.phase = Phase.INGEST
        self.current = PassCounts()
        self.slots = asyncio.Semaphore(MOST_CONCURRENT)
        self._origin = origin
        self._on_pass_end = on_pass_end
        self._hosts = tuple(hosts)
        self._guard = threading.Lock()
        self._open = 0
        self._busy_since = self._waited = 0.0
        self._service: list[tuple[float, float]] = []
        """Times since ``_busy_since`` in which at least one call was served: separate, the earliest first."""

    @contextmanager
    def waiting(self) -> Iterator[list[Call]]:
        """Count the time of calls, except while at least one of them is served, as waiting time of the system.

        Yields: A list; append the call to it when it is made.
        """
        made: list[Call] = []
        with self._guard:
            if self._open == 0:
                self._busy_since, self._service = time.monotonic(), []
            self._open += 1
        try:
            yield made
        finally:
            with self._guard:
                for call in made:
                    self._serve(call.seconds or 0.0)
                self._open -= 1
                if self._open == 0:
                    self._waited += self._waiting()

    def waited(self) -> float:
        """Return the seconds so far that the system waited for models; callable from any thread.

        Waiting time is not the system's fault: concurrency and rate limits, the budget, an endpoint that is down or
        paused. A call in flight counts until its service time is known.
        """
        with self._guard:
            return self._waited + (self._waiting() if self._open else 0.0)

    def _serve(self, seconds: float) -> None:
        """Add the service of a call that ends now, so no other ends later."""
        now = time.monotonic()
        begin = now - seconds
        while self._service and self._service[-1][1] >= begin:
            begin = min(begin, self._service.pop()[0])
        self._service.append((begin, now))

    def _waiting(self) -> float:
        served = sum(end - begin for begin, end in self._service)
        return max(0.0, time.monotonic() - self._busy_since - served)

    @property
    def environment(self) -> Mapping[str, str]:
        """Environment variables for official clients and for the declared hosts.

        Ollama's clients send no key, so their base URL contains the token. So do the hosts' URLs.
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
        """Start a pass over a scenario; earlier requests still count in the pass in which they arrived."""
        before, self.current = self.current, PassCounts(scenario_id)
        self._on_pass_end(before)

    def in_phase(self, phase: Phase) -> None:
        self.phase = phase
