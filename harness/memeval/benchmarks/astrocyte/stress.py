"""The stress suite, from a seed: texts over many banks, and searches of them at growing size, several at once.

All banks are filled in turn. When each holds a tenth, a quarter, a half and the whole of its texts, searches are made,
first one by one, then several at once. What one bank holds, others hold too, with other values: only a wall between
banks keeps them apart.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from math import ceil

from memeval.benchmarks.astrocyte.words import AGAIN, KINDS, SAYINGS, THINGS, Saying
from memeval.benchmarks.base import Dataset, Parameters
from memeval.keys import ItemKey, RecallKey
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from memeval.records.scenario import Recall, Retain, Scenario, Step
from memeval.systems.output import visible

DEFAULTS: dict[str, int] = {"seed": 42, "retains": 1000, "banks": 10, "recalls": 500}
"""Parameters, and what they are unless said otherwise."""

BOUNDS: dict[str, tuple[int, int]] = {
    "seed": (0, 2**63),
    "retains": (20, 200_000),
    "banks": (1, 1000),
    "recalls": (60, 100_000),
}
"""The least and the most that each can be."""

SIZES = (0.1, 0.25, 0.5, 1.0)
"""The shares of a bank's texts at which searches are made."""

IN_FLIGHT = (1, 4, 16)
"""How many searches are on their way at once."""

SHARES = {"exact": 0.4, "paraphrase": 0.4, "negative": 0.2}
"""The kinds of search, by their share."""

REPEATED = 0.05
"""The share of a bank's texts that stand in it before, word for word; as many do in slightly other words."""

POOL = 1.5
"""How many things there are for one that a bank holds: two banks have most of theirs in common."""

LARGEST_BANK = 400
"""The most texts a bank can hold: there are 480 things, and some are left for searches that nothing answers."""

K = 10
"""How many items a search asks for."""

BEGINNING = datetime(2025, 1, 1, tzinfo=UTC)
BANK_SIZE, FLIGHT = "bank size", "in flight"
SCENARIO = "stress"


@dataclass(frozen=True)
class RetainedText:
    """A text of a bank."""

    thing: tuple[int, int]
    """The kind and the thing that it is about."""
    saying: Saying
    value: str
    again: int | None = None
    """Where in the bank the text stands that it says again; ``None`` where it is the first of its thing."""
    frame: str = "{text}"
    """The words around it."""

    @property
    def text(self) -> str:
        """The text."""
        return self.frame.format(text=self.saying.text.format(it=self.called(0), value=self.value))

    def called(self, way: int) -> str:
        """Return what the thing is called: as texts call it (0), or as paraphrases do (1)."""
        return named(self.thing, way)


def named(thing: tuple[int, int], way: int) -> str:
    """Return what a thing is called: as texts call it (0), or as paraphrases do (1)."""
    return f"{KINDS[thing[0]][way]} {THINGS[thing[1]][way]}"


@dataclass(frozen=True)
class Stress:
    """A generation."""

    scenario: Scenario
    keys: tuple[ItemKey, ...]


class StressDataset(Dataset):
    """A generation of the suite.

    Args:
        parameters: those that differ from :data:`DEFAULTS`.

    Raises:
        BadInput: one is unknown or out of range, or the banks would be too small or too large.
    """

    def __init__(self, parameters: Parameters) -> None:
        chosen = {**DEFAULTS, **_whole_numbers(parameters)}
        each = chosen["retains"] // chosen["banks"]
        if chosen["retains"] % chosen["banks"] or not 20 <= each <= LARGEST_BANK:
            raise BadInput(
                f"{chosen['retains']} texts cannot be shared out among {chosen['banks']} banks.",
                remedy=f"Each holds the same number, from 20 to {LARGEST_BANK}.",
            )
        self.parameters = chosen
        self._made = generate(**chosen)
        lines = [self._made.scenario.to_json(), *(key.to_json() for key in self._made.keys)]
        self.digest = digest_bytes("".join(f"{line}\n" for line in lines).encode())

    def scenarios(self) -> Iterator[Scenario]:
        """Yield the one scenario."""
        yield self._made.scenario

    def keys(self) -> Iterator[ItemKey]:
        """Yield the keys, in the order that is asked in."""
        return iter(self._made.keys)


@lru_cache(maxsize=2)
def generate(seed: int, retains: int, banks: int, recalls: int) -> Stress:
    """Return a generation.

    Args:
        seed: of the generator.
        retains: texts in all.
        banks: banks they are shared out among.
        recalls: searches in all.
    """
    rng = random.Random(f"astrocyte-stress@1/{seed}")  # noqa: S311
    each = retains // banks
    repeated = round(each * REPEATED)
    every = _every()
    pool = rng.sample(every, min(len(every), ceil(POOL * (each - 2 * repeated))))
    held = [_bank(rng, each, repeated, pool) for _ in range(banks)]
    plan = _plan(recalls)
    steps: list[Step] = []
    keys: list[ItemKey] = []
    ordinals: list[list[str]] = [[] for _ in held]
    asks = _Asks(rng, held, ordinals)
    before = 0
    for share in SIZES:
        size = max(1, round(each * share))
        for place in range(before, size):
            for bank, texts in enumerate(held):
                text_id = f"s{sum(map(len, ordinals)) + 1:03}"
                ordinals[bank].append(text_id)
                steps.append(
                    Retain(
                        text_id=text_id,
                        content=texts[place].text,
                        occurred_at=_time(place, bank),
                        bank=_name(bank),
                        source_id=f"{_name(bank)}-{place + 1:03}",
                    )
                )
        before = size
        for in_flight in IN_FLIGHT:
            for kind, turn in plan[share, in_flight]:
                step, key = asks.ask(kind, turn, size, in_flight, len(keys) + 1)
                steps.append(step)
                keys.append(key)
    return Stress(Scenario(scenario_id=SCENARIO, steps=tuple(steps)), tuple(keys))


class _Asks:
    """Makes searches of what the banks hold by then.

    Args:
        rng: chance.
        held: what each bank will hold, in order.
        ordinals: what of it is retained by now.
    """

    def __init__(self, rng: random.Random, held: list[list[RetainedText]], ordinals: list[list[str]]) -> None:
        self._rng, self._held, self._ordinals = rng, held, ordinals
        every, things = set(_every()), [{said.thing for said in texts} for texts in held]
        some = set().union(*things)
        self._missing = [(sorted(some - here), sorted(every - some)) for here in things]
        """Per bank, the things that only other banks hold, and those that none does."""

    def ask(self, kind: str, turn: int, size: int, in_flight: int, number: int) -> tuple[Recall, ItemKey]:
        """Return a search and its key.

        Args:
            kind: one of :data:`SHARES`.
            turn: how many of its kind there were before, which says whose turn it is among the banks.
            size: texts in a bank by now.
            in_flight: how many searches are on their way at once.
            number: of the search.
        """
        bank = turn % len(self._held)
        name = f"{kind}-{number:04}"
        relevant: tuple[str, ...] = ()
        if kind == "negative":
            thing, saying = self._unknown(bank), self._rng.choice(SAYINGS)
            question = saying.exact.format(it=named(thing, 0))
        else:
            place = self._rng.randrange(size)
            said = self._held[bank][place]
            first = place if said.again is None else said.again
            same = [at for at in range(size) if at == first or self._held[bank][at].again == first]
            relevant = tuple(self._ordinals[bank][at] for at in same)
            pattern, way = (said.saying.exact, 0) if kind == "exact" else (said.saying.paraphrase, 1)
            question = pattern.format(it=said.called(way))
        step = Recall(
            question_id=name,
            question=question,
            timestamp=_time(size, 0),
            k=K,
            bank=_name(bank),
            in_flight=in_flight,
        )
        key = ItemKey(
            item_id=name,
            scenario_id=SCENARIO,
            question_ids=(name,),
            category=kind,
            cluster=relevant[0] if relevant else name,
            slices={BANK_SIZE: str(size), FLIGHT: str(in_flight)},
            evidence=relevant or None,
            key=RecallKey(absent=not relevant, alike=(relevant,) if len(relevant) > 1 else ()),
        )
        return step, key

    def _unknown(self, bank: int) -> tuple[int, int]:
        """Return a thing that a bank does not hold: in every other case one that another bank does, if there is one."""
        elsewhere, nowhere = self._missing[bank]
        likely = (elsewhere, nowhere) if self._rng.random() < 0.5 else (nowhere, elsewhere)
        return self._rng.choice(likely[0] or likely[1])


def _bank(rng: random.Random, size: int, repeated: int, pool: list[tuple[int, int]]) -> list[RetainedText]:
    """Return the texts of a bank in order: each thing once, and some texts again behind the first of their thing.

    Args:
        rng: chance.
        size: texts in all.
        repeated: how many of them repeat another word for word; as many do in slightly other words.
        pool: the things there are.
    """
    things = rng.sample(pool, size - 2 * repeated)
    texts = []
    for thing in things:
        saying = rng.choice(SAYINGS)
        texts.append(RetainedText(thing, saying, rng.choice(saying.values)))
    frames = ["{text}"] * repeated + [rng.choice(AGAIN) for _ in range(repeated)]
    rng.shuffle(frames)
    for frame, first in zip(frames, sorted(rng.sample(range(len(texts)), len(frames))), strict=True):
        said = texts[first]
        texts.append(RetainedText(said.thing, said.saying, said.value, first, frame))
    return _mixed(rng, texts, len(things))


def _mixed(rng: random.Random, texts: list[RetainedText], firsts: int) -> list[RetainedText]:
    """Return a bank's texts with those said again strewn in, each somewhere behind the first of its thing."""
    order = list(range(firsts))
    for number, said in enumerate(texts[firsts:], firsts):
        behind = order.index(said.again) + 1 if said.again is not None else 0
        order.insert(rng.randint(behind, len(order)), number)
    place = {old: new for new, old in enumerate(order)}
    return [
        said if said.again is None else RetainedText(said.thing, said.saying, said.value, place[said.again], said.frame)
        for said in (texts[old] for old in order)
    ]


def _plan(recalls: int) -> Mapping[tuple[float, int], list[tuple[str, int]]]:
    """Return the searches of every size and number on their way: kinds in their shares, dealt out evenly."""
    cells = [(share, in_flight) for share in SIZES for in_flight in IN_FLIGHT]
    plan: dict[tuple[float, int], list[tuple[str, int]]] = {cell: [] for cell in cells}
    for kind, share in SHARES.items():
        for turn in range(round(recalls * share)):
            plan[cells[turn % len(cells)]].append((kind, turn))
    return plan


def _every() -> list[tuple[int, int]]:
    return [(kind, thing) for kind in range(len(KINDS)) for thing in range(len(THINGS))]


def _name(bank: int) -> str:
    return f"bank-{bank + 1:02}"


def _time(place: int, bank: int) -> str:
    """Return when something happened: an hour after what is before it in its bank."""
    return (BEGINNING + timedelta(hours=place, minutes=bank % 60)).isoformat().replace("+00:00", "Z")


def _whole_numbers(parameters: Parameters) -> dict[str, int]:
    """Return the parameters as whole numbers, and refuse all that are not."""
    found: dict[str, int] = {}
    for name, value in parameters.items():
        if name not in DEFAULTS:
            offered = ", ".join(DEFAULTS)
            raise BadInput(f"astrocyte-stress@1 has no parameter '{visible(name)[:64]}'.", remedy=f"It has: {offered}.")
        least, most = BOUNDS[name]
        try:
            found[name] = int(str(value))
        except ValueError:
            found[name] = least - 1
        if not least <= found[name] <= most:
            told = visible(str(value))[:64]
            raise BadInput(f"astrocyte-stress@1 takes from {least} to {most} as '{name}', not '{told}'.")
    return found
