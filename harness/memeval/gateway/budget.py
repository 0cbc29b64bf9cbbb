"""Prices of calls, and caps on dollars, tokens and minutes: a call's maximum is reserved before it is sent."""

import asyncio
import math
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from memeval.gateway.endpoints import maker_of
from memeval.gateway.settings import LIMIT_NAMES
from memeval.gateway.stops import RESUME, BudgetSpent, GatewayStopped
from memeval.records.base import canonical_json
from memeval.records.call import Api, Call, ModelRequest, Phase
from memeval.records.errors import BadInput

UNITS = ("usd", "tokens", "minutes")

Caps = Mapping[tuple[Phase | None, str], float]
"""The cap per phase and unit; the phase ``None`` is the whole run."""

_Sums = defaultdict[tuple[Phase | None, str], float]
_MESSAGE_TOKENS = 16

DEFAULT_OUTPUT = 4096
"""Output limit, in tokens, of a system's request that names none, where a budget needs a limit."""


@dataclass(frozen=True)
class Reservation:
    """The most that one try of a call may use."""

    phase: Phase
    tokens: int
    """0 if neither tokens nor dollars are capped for the phase."""
    usd: float
    """Highest cost of the call, in US dollars; 0 if dollars are not capped for the phase."""


class Budget:
    """Caps for the run and per phase; belongs to the loop of one gateway.

    ``caps``: see :func:`parse_caps`. Minutes of the run count from now, minutes of a phase from its first call.
    """

    def __init__(self, caps: Caps) -> None:
        self._caps = dict(caps)
        self._spent: _Sums = defaultdict(float)
        self._reserved: _Sums = defaultdict(float)
        self._open = 0
        self._settled = asyncio.Event()
        self._started: dict[Phase | None, float] = {None: time.monotonic()}

    def resume(self, spent: Iterable[Call]) -> None:
        """Count the calls that the run paid for before it was resumed; unknown use counts as the most of each try."""
        for call in spent if self._caps else ():
            if call.tries and self.limits_output(call.phase):
                self._add(self._spent, call.phase, *self._used(call))

    def limits_output(self, phase: Phase) -> bool:
        """Return whether tokens or dollars are capped for a phase, so that each request must limit its output."""
        return self._caps_unit("usd", phase) or self._caps_unit("tokens", phase)

    def _caps_unit(self, unit: str, phase: Phase) -> bool:
        return (None, unit) in self._caps or (phase, unit) in self._caps

    def seconds_left(self, phase: Phase | None) -> float | None:
        """Return the seconds until the next cap on minutes; ``None`` without such a cap."""
        now = time.monotonic()
        left = [
            cap * 60 - (now - self._started.get(where, now))
            for (where, unit), cap in self._caps.items()
            if unit == "minutes" and where in (None, phase)
        ]
        return min(left, default=None)

    def check_time(self, phase: Phase | None = None) -> None:
        """Check the caps on minutes. Raises BudgetSpent: the time is up."""
        left = self.seconds_left(phase)
        if left is not None and left <= 0:
            raise BudgetSpent("the time budget of the run is used up.", remedy=f"Raise the cap on minutes. {RESUME}")

    async def reserve(self, phase: Phase, request: ModelRequest) -> Reservation:
        """Reserve the maximum of a call; wait if calls in flight may free enough."""
        self._started.setdefault(phase, time.monotonic())
        tokens = most_tokens(request) if self.limits_output(phase) else 0
        reservation = Reservation(phase, tokens, self._most_usd(phase, request))
        while True:
            self.check_time(phase)
            full = self._full(reservation)
            if full is None:
                break
            if self._open == 0:
                raise full
            self._settled.clear()
            await self._settled.wait()
        self._open += 1
        self._add(self._reserved, phase, reservation.tokens, reservation.usd)
        return reservation

    def settle(self, reservation: Reservation, tokens: int | None, usd: float | None) -> None:
        """Book the use of a try. An unknown use counts as the reserved maximum, since it may be billed.

        ``tokens``: tokens used; 0 without a reply, ``None`` if unknown. ``usd``: cost in US dollars; 0 without a reply,
        ``None`` if unknown.
        """
        self._open -= 1
        self._add(self._reserved, reservation.phase, -reservation.tokens, -reservation.usd)
        tokens = reservation.tokens if tokens is None else tokens
        usd = reservation.usd if usd is None else usd
        self._add(self._spent, reservation.phase, tokens, usd)
        self._settled.set()

    def _full(self, reservation: Reservation) -> BudgetSpent | None:
        need = {"tokens": float(reservation.tokens), "usd": reservation.usd}
        for (phase, unit), cap in self._caps.items():
            if unit in need and phase in (None, reservation.phase):
                key = (phase, unit)
                if self._spent[key] + self._reserved[key] + need[unit] > cap:
                    where = "the run" if phase is None else f"the phase {phase}"
                    return BudgetSpent(
                        f"the cap of {_amount(cap, unit)} for {where} is reached: {_amount(self._spent[key], unit)} "
                        f"spent, and the next call could use {_amount(need[unit], unit)}.",
                        remedy=f"Raise the cap. {RESUME}",
                    )
        return None

    def _most_usd(self, phase: Phase, request: ModelRequest) -> float:
        if not self._caps_unit("usd", phase):
            return 0.0
        output = most_output(request)
        price = price_of(request.model, most_tokens(request) - output, output)
        if price is None:
            raise GatewayStopped(
                f"a budget in dollars needs a price, and the model '{request.model}' has no known price.",
                remedy="Set a budget in tokens instead: tokens=….",
            )
        return price

    def _used(self, call: Call) -> tuple[int, float]:
        tokens, usd = call.tokens, call.cost_usd
        request = limited(call.request)
        if tokens is None:
            tokens = call.tries * most_tokens(request)
        if usd is None:
            usd = call.tries * self._most_usd(call.phase, request)
        return tokens, usd

    @staticmethod
    def _add(sums: _Sums, phase: Phase, tokens: int, usd: float) -> None:
        for where in (None, phase):
            sums[where, "tokens"] += tokens
            sums[where, "usd"] += usd


def most_tokens(request: ModelRequest) -> int:
    """Return an upper bound of a call's tokens for any tokenizer: a token has at least one byte."""
    messages = request.body.get("messages")
    count = len(messages) if isinstance(messages, list) else 0
    size = len(canonical_json(request.body).encode())
    return size + _MESSAGE_TOKENS * (count + 1) + most_output(request)


def most_output(request: ModelRequest) -> int:
    if request.api is Api.EMBEDDINGS:
        return 0
    named = output_limits(request)
    choices = request.body.get("n")
    if not named:
        raise GatewayStopped("a budget is set, and a model request has no output limit (max_tokens).")
    return max(named) * (choices if isinstance(choices, int) and choices > 1 else 1)


def output_limits(request: ModelRequest) -> list[int]:
    """Return the limits of output tokens that a request states: whole numbers above 0."""
    limits = [request.body.get(name) for name in LIMIT_NAMES]
    return [limit for limit in limits if isinstance(limit, int) and not isinstance(limit, bool) and limit > 0]


def limited(request: ModelRequest, name: str = "max_tokens") -> ModelRequest:
    """Return a request with a limit on its output; unchanged if it states one, or has no output.

    ``name``: the field of the limit, which depends on the model.
    """
    if request.api is Api.EMBEDDINGS or output_limits(request):
        return request
    return ModelRequest(endpoint=request.endpoint, api=request.api, body=request.body | {name: DEFAULT_OUTPUT})


def parse_caps(budgets: Iterable[str]) -> dict[tuple[Phase | None, str], float]:
    """Parse caps such as ``usd=1.5``, ``judge.usd=0.5``, ``tokens=1e6`` or ``minutes=30``."""
    caps: dict[tuple[Phase | None, str], float] = {}
    for text in budgets:
        name, _, value = text.partition("=")
        phase, _, unit = name.strip().rpartition(".")
        try:
            key, amount = (Phase(phase) if phase else None, unit), float(value)
        except ValueError:
            key, amount = (None, ""), 0.0
        if key[1] not in UNITS or not math.isfinite(amount) or amount <= 0:
            raise BadInput(
                f"invalid budget '{text}'.",
                remedy="Give usd=1.5, tokens=1e6 or minutes=30, or the same for one phase: judge.usd=0.5.",
            )
        if key in caps:
            raise BadInput(f"two budgets for {name.strip()}.", remedy="Give one.")
        caps[key] = amount
    return caps


def _amount(value: float, unit: str) -> str:
    return f"${value:.6f}".rstrip("0").rstrip(".") if unit == "usd" else f"{value:,.0f} {unit}"


NEWEST = "2026-11-09"
"""The date of the newest price in the list; it changes with the pinned version of the package."""

PRICE_LISTS: tuple[str, ...] = ("genai-prices 0.2.3 (2026-11-09)",)
"""The names of all price lists that memeval ever had. A new list is added, and none is removed."""


@cache
def price_list() -> str:
    from importlib.metadata import version

    return f"genai-prices {version('genai-prices')} ({NEWEST})"


def price_of(model: str, prompt_tokens: int, completion_tokens: int = 0, cached_tokens: int = 0) -> float | None:
    """Return the cost of a call in US dollars; ``None``, never 0, if the list has no price of the model's tokens.

    A price of 0 is that of a maker's free tier, which no other server has, or of a model that is not paid by tokens.
    ``cached_tokens``: tokens of the request that the provider had in its cache; some providers charge less for them.
    """
    from genai_prices import Usage
    from genai_prices.data_snapshot import get_snapshot

    usage = Usage(input_tokens=prompt_tokens, output_tokens=completion_tokens, cache_read_tokens=cached_tokens)
    try:
        price = get_snapshot().calc(usage, model, maker_of(model), None, None)
    except (LookupError, ValueError):
        return None
    cost = float(price.total_price)
    return None if cost == 0 and prompt_tokens + completion_tokens else cost
