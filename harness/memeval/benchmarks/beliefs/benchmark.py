"""The benchmark as the rest of memeval sees it: its table, what it says of itself, and its data."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from memeval.benchmarks.base import Benchmark, Category, Dataset, Parameters
from memeval.benchmarks.beliefs.generate import generate
from memeval.benchmarks.beliefs.plan import WEIGHTS
from memeval.grading.base import Grader
from memeval.grading.delta import DeltaEfficiency
from memeval.grading.judged import Judged
from memeval.keys import ItemKey
from memeval.records.base import Digest, digest_bytes
from memeval.records.benchmark import BenchmarkInfo, ProtocolInfo, TierInfo
from memeval.records.errors import BadInput
from memeval.records.scenario import Scenario
from memeval.records.track import Redistribution

DEFAULTS: dict[str, int] = {"seed": 42, "size": 500}
"""Parameters, and what they are unless said otherwise."""

LARGEST = 5000
"""The most items a generation may have."""


def _category(name: str, title: str, grader: Grader, tests: str, graded: str, answerable: bool = True) -> Category:
    items, weight = WEIGHTS[name]
    return Category(name, title, weight, items, grader, tests, graded, answerable)


CATEGORIES = (
    _category(
        "belief-update",
        "Belief update",
        Judged(),
        "A fact changes one to four times over a year; some changes are only hinted at, some are announced and taken "
        "back, some are daydreams. What holds now?",
        "Right when the answer gives the current value and none that is stale, was taken back, or was only dreamed of.",
    ),
    _category(
        "cascade-propagation",
        "Cascade propagation",
        Judged(),
        "A fact rests on another, through up to three links. In half of the items the ground has gone and nobody came "
        "back to the fact; in the other half it was confirmed afterwards, or nothing changed at all.",
        "Right when the answer doubts what has lost its ground, and states plainly what has not.",
        answerable=False,
    ),
    _category(
        "noise-resistance",
        "Noise resistance",
        Judged(),
        "One fact, told early or late in about 18 or 40 sessions of other talk, in which other people give their own "
        "answers to the same question.",
        "Right when the answer gives the person's own value.",
    ),
    _category(
        "temporal-belief",
        "Temporal belief",
        Judged(),
        "What held in a given month, right before or right after another value, what holds now, and when a "
        "change came.",
        "Right when the answer gives the value of the asked time and no other.",
    ),
    _category(
        "delta-efficiency",
        "Delta efficiency",
        DeltaEfficiency(headline="gated"),
        "Twenty questions in one conversation, with news between them: does a system hand over what is new, or "
        "everything again?",
        "Right when the context of the last fifteen questions is less than half of what the first five would lead one "
        "to expect, and the answers still hold the facts of their moment.",
    ),
    _category(
        "uncertainty-abstention",
        "Uncertainty and abstention",
        Judged(),
        "The same kind of dependent facts, on other topics, with the fact named in the question: is it still so?",
        "Right when the answer doubts what has lost its ground, and confirms plainly what has not.",
        answerable=False,
    ),
)

_MADE = (
    "Synthetic, and ours: a generator of memeval writes it from a seed, with its own vocabulary and wording. It shares "
    "the categories, weights and sizes of DeepMemEval, and neither its data nor its sentences; scores on the two are "
    "not comparable. Every person has one timeline of dated facts: announcements, remarks in passing, changes that are "
    "taken back, daydreams, confirmations, and facts that rest on one another. What held when, and what was never "
    "revisited after its ground had gone, is computed from that timeline, and the sessions are written from it. Half "
    "of the cascade and uncertainty items are control twins, which hedging loses. What it cannot show: how a system "
    "fares with real people's language, with very long histories, with other languages than English, or with "
    "knowledge of the world; its sentences come from templates, its items share some sixty people, and a history fits "
    "any modern context window."
)


class BeliefsDataset(Dataset):
    """A generation of the benchmark.

    Args:
        seed: of the generator.
        size: items in all.
    """

    def __init__(self, seed: int, size: int) -> None:
        self.parameters = {"seed": seed, "size": size}
        self._items = generate(seed, size)
        self.digest = _digest(seed, size)

    def scenarios(self) -> Iterator[Scenario]:
        """Yield the scenarios, by category and number."""
        return (item.scenario for item in self._items)

    def keys(self) -> Iterator[ItemKey]:
        """Yield the keys, in the order of the scenarios."""
        return (item.key for item in self._items)


@lru_cache(maxsize=4)
def _digest(seed: int, size: int) -> Digest:
    """Return the digest of a generation: its scenarios, then its keys, as lines of canonical JSON."""
    items = generate(seed, size)
    lines = [*(item.scenario.to_json() for item in items), *(item.key.to_json() for item in items)]
    return digest_bytes("".join(f"{line}\n" for line in lines).encode())


class BeliefsBenchmark(Benchmark):
    """memeval's own benchmark of beliefs that change; generated, so that it needs no download."""

    categories = CATEGORIES
    info = BenchmarkInfo(
        id="beliefs@1",
        title="Beliefs",
        summary=(
            "Whether a memory system keeps track of facts that change, of what rests on them, and of whose they are. "
            "Six categories on 500 items by default, generated offline and the same everywhere."
        ),
        made=_MADE,
        licence="Apache-2.0",
        redistribution=Redistribution.FULL,
        citation=None,
        homepage=None,
        protocols=(
            ProtocolInfo(
                name="judge",
                title="Judge",
                summary="Every answer is brought before a judge, which says yes or no.",
                headline="accuracy",
            ),
        ),
        tiers=(TierInfo(name="full", items=500, how="Everything."),),
        categories=tuple(category.info() for category in CATEGORIES),
        alternates={
            "published": "Delta efficiency as DeepMemEval publishes it: token counts alone, whatever the answers say.",
            "substring": "With a model judge: a first reply with the letters of yes anywhere in it is a pass.",
        },
    )

    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> BeliefsDataset:
        """Generate the data.

        Args:
            path: must be ``None``; there is no file to read.
            parameters: ``seed`` (default 42) and ``size`` (default 500), whole numbers.

        Raises:
            BadInput: a path was given, or a parameter that is unknown or out of range.
        """
        if path is not None:
            raise BadInput(
                "beliefs@1 is generated and reads no file.",
                where=path,
                remedy="Leave the path out, and choose 'seed' and 'size' instead.",
            )
        chosen = {**DEFAULTS, **_whole_numbers(parameters or {})}
        if not 1 <= chosen["size"] <= LARGEST:
            raise BadInput(f"beliefs@1 has between 1 and {LARGEST} items, and 'size' is {chosen['size']}.")
        if chosen["seed"] < 0:
            raise BadInput(f"beliefs@1 takes a 'seed' of 0 or more, not {chosen['seed']}.")
        return BeliefsDataset(chosen["seed"], chosen["size"])


def _whole_numbers(parameters: Parameters) -> dict[str, int]:
    """Return the parameters as whole numbers, and refuse all that are not."""
    read: dict[str, int] = {}
    for name, value in parameters.items():
        if name not in DEFAULTS:
            raise BadInput(f"beliefs@1 has no parameter '{name}'.", remedy="It takes 'seed' and 'size'.")
        try:
            read[name] = int(str(value))
        except ValueError:
            raise BadInput(f"beliefs@1 takes a whole number as '{name}', not '{value}'.") from None
    return read
