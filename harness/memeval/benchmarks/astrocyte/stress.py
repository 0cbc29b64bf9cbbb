"""Words and generator of the stress suite: texts in many banks, and concurrent searches while the banks grow.

All banks are filled in turn. Searches run when each has 10, 25, 50 and 100 % of its texts, first one by one, then
concurrently. Banks share most things, with different values, so only a separation of banks gives correct results.
"""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from math import ceil

from memeval.benchmarks.base import Dataset, Parameters
from memeval.keys import ItemKey, RecallKey
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from memeval.records.scenario import Recall, Retain, Scenario, Step
from memeval.systems.channel import visible
from memeval.toml import read_words


@dataclass(frozen=True)
class Saying:
    """A sentence pattern, with ``{it}`` for the thing and ``{value}`` for the value."""

    text: str
    exact: str
    paraphrase: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class StressWords:
    kinds: tuple[tuple[str, str], ...]
    """Adjectives: in texts and in paraphrases."""
    things: tuple[tuple[str, str], ...]
    """Nouns: in texts and in paraphrases."""
    again: tuple[str, ...]
    sayings: tuple[Saying, ...]


WORDS = read_words(__package__, "words.toml", StressWords)


DEFAULTS: dict[str, int] = {"seed": 42, "retains": 1000, "banks": 10, "recalls": 500}

BOUNDS: dict[str, tuple[int, int]] = {
    "seed": (0, 2**63),
    "retains": (20, 200_000),
    "banks": (1, 1000),
    "recalls": (60, 100_000),
}

SIZES = (0.1, 0.25, 0.5, 1.0)
"""Shares of the texts of a bank at which searches run."""

IN_FLIGHT = (1, 4, 16)

SHARES = {"exact": 0.4, "paraphrase": 0.4, "negative": 0.2}

REPEATED = 0.05
"""Share of exact duplicates in a bank; the share of near duplicates is the same."""

POOL = 1.5
"""Number of things in the pool per thing in a bank. Two banks share most of their things."""

LARGEST_BANK = 400
"""Maximum number of texts in a bank. Of the 480 things, some must be left for negative searches."""

K = 10
"""Number of items that a search requests."""

BEGINNING = datetime(2025, 1, 1, tzinfo=UTC)
BANK_SIZE, FLIGHT = "bank size", "in flight"
SCENARIO = "stress"


@dataclass(frozen=True)
class RetainedText:
    thing: tuple[int, int]
    """Indexes of the adjective and the noun that it is about."""
    saying: Saying
    value: str
    again: int | None = None
    """Index in the bank of the text that it repeats; ``None`` if it is the first of its thing."""
    frame: str = "{text}"

    @property
    def text(self) -> str:
        return self.frame.format(text=self.saying.text.format(it=self.called(0), value=self.value))

    def called(self, way: int) -> str:
        return named(self.thing, way)


def named(thing: tuple[int, int], way: int) -> str:
    """Return what a thing is called: as texts call it (0), or as paraphrases do (1)."""
    return f"{WORDS.kinds[thing[0]][way]} {WORDS.things[thing[1]][way]}"


@dataclass(frozen=True)
class Stress:
    scenario: Scenario
    keys: tuple[ItemKey, ...]


class StressDataset(Dataset):
    """The generated suite as a dataset.

    ``parameters``: those that differ from :data:`DEFAULTS`. Raises ``BadInput``: a parameter is unknown or out of
    range, or the banks would be too small or too large.
    """

    def __init__(self, parameters: Parameters) -> None:
        chosen = {**DEFAULTS, **_whole_numbers(parameters)}
        each = chosen["retains"] // chosen["banks"]
        if chosen["retains"] % chosen["banks"] or not 20 <= each <= LARGEST_BANK:
            raise BadInput(
                f"astrocyte-stress@1: invalid retains={chosen['retains']} with banks={chosen['banks']}.",
                remedy=f"Each bank must have the same number of texts, from 20 to {LARGEST_BANK}.",
            )
        self.parameters = chosen
        self._made = generate(**chosen)
        lines = [self._made.scenario.to_json(), *(key.to_json() for key in self._made.keys)]
        self.digest = digest_bytes("".join(f"{line}\n" for line in lines).encode())

    def scenarios(self) -> Iterator[Scenario]:
        yield self._made.scenario

    def answer_keys(self) -> Iterator[ItemKey]:
        return iter(self._made.keys)


@lru_cache(maxsize=2)
def generate(seed: int, retains: int, banks: int, recalls: int) -> Stress:
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
    def __init__(self, rng: random.Random, held: list[list[RetainedText]], ordinals: list[list[str]]) -> None:
        self._rng, self._held, self._ordinals = rng, held, ordinals
        every, things = set(_every()), [{text.thing for text in texts} for texts in held]
        some = set().union(*things)
        self._missing = [(sorted(some - own), sorted(every - some)) for own in things]
        """For each bank, the things that only other banks have, and those that no bank has."""

    def ask(self, kind: str, turn: int, size: int, in_flight: int, number: int) -> tuple[Recall, ItemKey]:
        """Return a search and its key.

        ``kind``: one of :data:`SHARES`. ``turn``: number of earlier searches of its kind; determines the bank.
        ``size``: number of texts in a bank so far.
        """
        bank = turn % len(self._held)
        name = f"{kind}-{number:04}"
        relevant: tuple[str, ...] = ()
        if kind == "negative":
            thing, saying = self._unknown(bank), self._rng.choice(WORDS.sayings)
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
            question_id=name, question=question, timestamp=_time(size, 0), k=K, bank=_name(bank), in_flight=in_flight
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
        """Return a thing that a bank does not have; in half of the cases one of another bank, if there is one."""
        elsewhere, nowhere = self._missing[bank]
        likely = (elsewhere, nowhere) if self._rng.random() < 0.5 else (nowhere, elsewhere)
        return self._rng.choice(likely[0] or likely[1])


def _bank(rng: random.Random, size: int, repeated: int, pool: list[tuple[int, int]]) -> list[RetainedText]:
    """Return the texts of a bank in order: one per thing, and some duplicates after the first text of their thing."""
    things = rng.sample(pool, size - 2 * repeated)
    texts = []
    for thing in things:
        saying = rng.choice(WORDS.sayings)
        texts.append(RetainedText(thing, saying, rng.choice(saying.values)))
    frames = ["{text}"] * repeated + [rng.choice(WORDS.again) for _ in range(repeated)]
    rng.shuffle(frames)
    for frame, first in zip(frames, sorted(rng.sample(range(len(texts)), len(frames))), strict=True):
        said = texts[first]
        texts.append(RetainedText(said.thing, said.saying, said.value, first, frame))
    return _mixed(rng, texts, len(things))


def _mixed(rng: random.Random, texts: list[RetainedText], firsts: int) -> list[RetainedText]:
    """Return the texts with duplicates at random positions after the first text of their thing."""
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
    cells = [(share, in_flight) for share in SIZES for in_flight in IN_FLIGHT]
    plan: dict[tuple[float, int], list[tuple[str, int]]] = {cell: [] for cell in cells}
    for kind, share in SHARES.items():
        for turn in range(round(recalls * share)):
            plan[cells[turn % len(cells)]].append((kind, turn))
    return plan


def _every() -> list[tuple[int, int]]:
    return [(kind, thing) for kind in range(len(WORDS.kinds)) for thing in range(len(WORDS.things))]


def _name(bank: int) -> str:
    return f"bank-{bank + 1:02}"


def _time(place: int, bank: int) -> str:
    """Return the time of a text: an hour after the text before it in its bank."""
    return (BEGINNING + timedelta(hours=place, minutes=bank % 60)).isoformat().replace("+00:00", "Z")


def _whole_numbers(parameters: Parameters) -> dict[str, int]:
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
            shown = visible(str(value))[:64]
            raise BadInput(f"astrocyte-stress@1: invalid {name}={shown}.", remedy=f"It must be from {least} to {most}.")
    return found
