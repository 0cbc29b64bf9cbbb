"""Caps on dollars, tokens and minutes: reserved before a call, settled after it, so that none is ever passed."""

from __future__ import annotations

import asyncio
import math
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from memeval.gateway.prices import price_of
from memeval.gateway.settings import LIMIT_NAMES
from memeval.gateway.stops import GOES_ON, BudgetSpent, GatewayStopped
from memeval.records.base import canonical_json
from memeval.records.call import Api, Call, ModelRequest, Phase
from memeval.records.errors import BadInput

UNITS = ("usd", "tokens", "minutes")
"""What can be capped."""

Caps = Mapping[tuple[Phase | None, str], float]
"""The cap per phase and unit; for the whole run where the phase is ``None``."""

_Sums = defaultdict[tuple[Phase | None, str], float]
_A_MESSAGE = 16
"""Tokens that a provider may add to a message for its own framing."""
_A_PICTURE = 50_000
"""Tokens that a part which is no text may stand for."""


@dataclass(frozen=True)
class Reservation:
    """What is set aside for one try of a call."""

    phase: Phase
    """What it is made in."""
    tokens: int
    """The most it can take."""
    usd: float | None
    """The most it can cost; ``None`` where no cap asks."""


class Budget:
    """Caps for the run and per phase; belongs to the loop of one gateway.

    Args:
        caps: see :func:`parse_caps`. Minutes count from here on; a phase's own from its first call.
        spent: calls that the run has made and paid for before it was resumed.
    """

    def __init__(self, caps: Caps, spent: Iterable[Call] = ()) -> None:
        self._caps = dict(caps)
        self._money = any(unit == "usd" for _phase, unit in caps)
        self._spent: _Sums = defaultdict(float)
        self._held: _Sums = defaultdict(float)
        self._open = 0
        self._settled = asyncio.Event()
        self._began: dict[Phase | None, float] = {None: time.monotonic()}
        self.resume(spent)

    def resume(self, spent: Iterable[Call]) -> None:
        """Count what the run has paid for before it was resumed; where nothing is capped, nothing is counted."""
        for call in spent if self._caps else ():
            if call.tries:
                self._add(self._spent, call.phase, *self._taken(call))

    @property
    def limits_output(self) -> bool:
        """Whether every request must say how much may come back."""
        return any(unit != "minutes" for _phase, unit in self._caps)

    def seconds_left(self, phase: Phase | None) -> float | None:
        """Return the seconds until the next cap on minutes; ``None`` where there is none."""
        now = time.monotonic()
        left = [
            cap * 60 - (now - self._began.get(where, now))
            for (where, unit), cap in self._caps.items()
            if unit == "minutes" and where in (None, phase)
        ]
        return min(left, default=None)

    def check_time(self, phase: Phase | None = None) -> None:
        """Raise where a cap on minutes is reached.

        Args:
            phase: the phase whose own cap counts too.

        Raises:
            BudgetSpent: the time is over.
        """
        left = self.seconds_left(phase)
        if left is not None and left <= 0:
            raise BudgetSpent("the time given to the run is over.", remedy=f"Give it more minutes. {GOES_ON}")

    async def reserve(self, phase: Phase, request: ModelRequest) -> Reservation:
        """Set aside the most that a call can take; waits while calls in flight may settle for less.

        Raises:
            BudgetSpent: it does not fit, and nothing is in flight; or the time is over.
            GatewayStopped: dollars are capped and the model has no known price.
        """
        self._began.setdefault(phase, time.monotonic())
        hold = Reservation(phase, most_tokens(request) if self.limits_output else 0, self._most_usd(request))
        while True:
            self.check_time(phase)
            full = self._full(hold)
            if full is None:
                break
            if self._open == 0:
                raise full
            self._settled.clear()
            await self._settled.wait()
        self._open += 1
        self._add(self._held, phase, hold.tokens, hold.usd)
        return hold

    def settle(self, hold: Reservation, tokens: int | None, usd: float | None) -> None:
        """Book what a try took. What nobody can tell counts as the most it could be: it may have been billed.

        Args:
            hold: what was set aside for it.
            tokens: what it took, 0 where it was not answered, ``None`` where nobody counted.
            usd: what it cost; likewise.
        """
        self._open -= 1
        self._add(self._held, hold.phase, -hold.tokens, None if hold.usd is None else -hold.usd)
        self._add(
            self._spent,
            hold.phase,
            hold.tokens if tokens is None else tokens,
            hold.usd if usd is None else usd,
        )
        self._settled.set()

    def _full(self, hold: Reservation) -> BudgetSpent | None:
        """Return the first cap that a call could pass."""
        need = {"tokens": float(hold.tokens), "usd": hold.usd or 0.0}
        for (phase, unit), cap in self._caps.items():
            if unit in need and phase in (None, hold.phase):
                place = (phase, unit)
                if self._spent[place] + self._held[place] + need[unit] > cap:
                    where = "the run" if phase is None else f"the phase {phase}"
                    return BudgetSpent(
                        f"the cap of {_amount(cap, unit)} for {where} is reached: {_amount(self._spent[place], unit)} "
                        f"are spent, and the next call could take {_amount(need[unit], unit)}.",
                        remedy=f"Raise the cap. {GOES_ON}",
                    )
        return None

    def _most_usd(self, request: ModelRequest) -> float | None:
        if not self._money:
            return None
        output = most_output(request)
        price = price_of(request.model, most_tokens(request) - output, output)
        if price is None:
            raise GatewayStopped(
                f"dollars are capped, and the model '{request.model}' has no known price.",
                remedy="Cap tokens instead (tokens=…).",
            )
        return price

    def _taken(self, call: Call) -> tuple[int, float | None]:
        counted = call.prompt_tokens is not None and call.completion_tokens is not None
        tokens = (call.prompt_tokens or 0) + (call.completion_tokens or 0)
        usd = call.cost_usd if call.cost_usd is not None or not self._money else self._most_usd(call.request)
        return tokens if counted else most_tokens(call.request), usd

    @staticmethod
    def _add(sums: _Sums, phase: Phase, tokens: int, usd: float | None) -> None:
        for where in (None, phase):
            sums[where, "tokens"] += tokens
            sums[where, "usd"] += usd or 0.0


def most_tokens(request: ModelRequest) -> int:
    """Return a number of tokens that a call cannot pass, whatever the tokenizer: none is shorter than a byte."""
    messages = request.body.get("messages")
    parts: list[Any] = [*messages] if isinstance(messages, list) else []
    pictures = sum(
        1
        for message in parts
        if isinstance(message, dict) and isinstance(message.get("content"), list)
        for part in message["content"]
        if not (isinstance(part, dict) and part.get("type") == "text")
    )
    size = len(canonical_json(request.body).encode())
    return size + _A_MESSAGE * (len(parts) + 1) + _A_PICTURE * pictures + most_output(request)


def most_output(request: ModelRequest) -> int:
    """Return the most tokens that may come back.

    Raises:
        GatewayStopped: the request does not limit them.
    """
    if request.api is Api.EMBEDDINGS:
        return 0
    named = output_limits(request)
    choices = request.body.get("n")
    if not named:
        raise GatewayStopped("a cap is set, and a request to a model names no limit of its output (max_tokens).")
    return max(named) * (choices if isinstance(choices, int) and choices > 1 else 1)


def output_limits(request: ModelRequest) -> list[int]:
    """Return the limits of output that a request names."""
    limits = [request.body.get(name) for name in LIMIT_NAMES]
    return [limit for limit in limits if isinstance(limit, int) and not isinstance(limit, bool) and limit > 0]


def parse_caps(given: Iterable[str]) -> dict[tuple[Phase | None, str], float]:
    """Read caps such as ``usd=1.5``, ``judge.usd=0.5``, ``tokens=1e6`` or ``minutes=30``.

    Raises:
        BadInput: one is invalid, or given twice.
    """
    caps: dict[tuple[Phase | None, str], float] = {}
    for text in given:
        name, _, value = text.partition("=")
        phase, _, unit = name.strip().rpartition(".")
        try:
            place, amount = (Phase(phase) if phase else None, unit), float(value)
        except ValueError:
            place, amount = (None, ""), 0.0
        if place[1] not in UNITS or not math.isfinite(amount) or amount <= 0:
            raise BadInput(
                f"invalid budget '{text}'.",
                remedy="Give usd=1.5, tokens=1e6 or minutes=30, or the same for one phase: judge.usd=0.5.",
            )
        if place in caps:
            raise BadInput(f"two budgets for {name.strip()}.", remedy="Give one.")
        caps[place] = amount
    return caps


def _amount(value: float, unit: str) -> str:
    return f"${value:.6f}".rstrip("0").rstrip(".") if unit == "usd" else f"{value:,.0f} {unit}"
