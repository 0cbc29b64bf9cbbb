"""beliefs@2 as a benchmark: catalogue, graders and generated data."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

from memeval.benchmarks.base import Benchmark, Category, Dataset, Parameters
from memeval.benchmarks.beliefs.generate import generate
from memeval.benchmarks.beliefs.grading import ExpectedTurns, LeanContext, SharedExpectedTurns, SharedLeanContext
from memeval.benchmarks.beliefs.keys import EvidenceKey
from memeval.benchmarks.beliefs.lives import CONTEXT, counts
from memeval.benchmarks.beliefs.long import PEOPLE
from memeval.benchmarks.beliefs.protocols import shared, stored
from memeval.benchmarks.beliefs.wording.editions import Vocabulary, wording
from memeval.benchmarks.catalogue import load
from memeval.benchmarks.kit.kept import Generated, GeneratedDataset, Generation, generated
from memeval.benchmarks.kit.long import SHARED, SIZES
from memeval.benchmarks.kit.parameters import SeedAndSize, check_no_size, check_protocol
from memeval.grading.base import Grader
from memeval.grading.judged import Judged
from memeval.grading.stored import SelectedFacts
from memeval.keys import BeliefKey, CascadeKey, NoiseKey, StoreKey, TemporalKey, UncertaintyKey
from memeval.records.base import digest_of

INFO = load(__package__)

JUDGE, RETRIEVAL = "judge", "retrieval"

PARAMETERS = SeedAndSize({"seed": 42, "size": 260}, largest=2000, counted="people")


_GRADERS: Mapping[str, tuple[type[Grader], type[Grader]]] = {
    RETRIEVAL: (ExpectedTurns, LeanContext),
    "shared": (SharedExpectedTurns, SharedLeanContext),
}
"""Graders of each protocol: of most categories, and of context efficiency."""


QUICK, QUICK_PEOPLE = "quick", 20
"""A tier with the first people of the full tier, for demos and for slow systems; and their number."""

SEPARATE = (JUDGE, RETRIEVAL)
"""Protocols that ask each person separately. They have all tiers."""


def _table(protocol: str, *, shared: bool = False) -> tuple[Category, ...]:
    """Return the categories with their graders.

    ``shared``: whether several people share a memory in spite of the protocol.
    """
    info = next(each for each in INFO.protocols if each.name == protocol)
    if info.categories:
        return tuple(Category.of(each, SelectedFacts()) for each in info.categories)
    grader, lean = _GRADERS.get(protocol, (Judged, SharedLeanContext if shared else LeanContext))
    if shared and grader is ExpectedTurns:
        grader, lean = _GRADERS["shared"]
    return tuple(Category.of(each, lean() if each.name == CONTEXT else grader()) for each in INFO.categories)


def _counted(table: Sequence[Category], people: int) -> tuple[Category, ...]:
    items = counts(people)
    return tuple(replace(each, items=items[each.name]) for each in table)


KINDS = (BeliefKey, CascadeKey, EvidenceKey, NoiseKey, StoreKey, TemporalKey, UncertaintyKey)


def _separate(seed: int, size: int, words: Vocabulary, *, searched: bool, first: int | None = None) -> Generation:
    lives = generate(seed, size, words, first)
    return tuple(life.scenario for life in lives), tuple(key for life in lives for key in life.keys(searched=searched))


HISTORIES: Mapping[str, Callable[[int, int, Vocabulary], Generation]] = {
    RETRIEVAL: partial(_separate, searched=True),
    JUDGE: partial(_separate, searched=False),
    "shared": shared,
    "stored": stored,
}


@lru_cache(maxsize=2)
def _generation(seed: int, size: int, protocol: str, vocabulary: Vocabulary, first: int | None = None) -> Generated:
    """Return the data of a protocol; caches two of them, because often many runs of the same data are graded.

    ``first``: number of people, from the first on, who are asked; ``None`` for all.
    """
    words = digest_of([pack.data() for pack in vocabulary.packs])
    parameters: dict[str, str | int] = {"seed": seed, "size": size, "protocol": protocol, "words": words}
    make = HISTORIES[protocol]
    if first is not None:
        parameters["first"] = first
        make = partial(_separate, searched=protocol == RETRIEVAL, first=first)
    return generated(INFO.id, parameters, KINDS, partial(make, seed, size, vocabulary))


class BeliefsBenchmark(Benchmark):
    info = INFO

    tables = {each.name: _table(each.name) for each in INFO.protocols}

    def opened(self, path: Path | None, parameters: Parameters | None, protocol: str, tier: str) -> Dataset:
        """Generate the data of a protocol and a tier.

        ``parameters``: ``seed`` (default 42) and ``size`` (people, default 260), whole numbers. Raises ``BadInput``: a
        path was given, a parameter is unknown or out of range, or a pack of the tier is still withheld.
        """
        if tier in SIZES:
            return self._long(path, parameters, protocol, tier)
        seed, size = self.chosen(path, parameters)
        if tier == QUICK:
            check_protocol(self.info.id, SEPARATE, protocol, tier)
            data = _generation(seed, size, protocol, self.vocabulary(INFO.tiers[0].name), QUICK_PEOPLE)
        else:
            data = _generation(seed, size, protocol, self.vocabulary(tier))
        return GeneratedDataset({"seed": seed, "size": size}, data)

    def table(self, protocol: str, tier: str | None = None) -> tuple[Category, ...]:
        if tier == QUICK:
            return _counted(self.tables[protocol], QUICK_PEOPLE)
        if tier in SIZES:
            return _counted(_table(protocol, shared=SIZES[tier] >= SHARED), PEOPLE)
        return self.tables[protocol]

    def _long(self, path: Path | None, parameters: Parameters | None, protocol: str, tier: str) -> Dataset:
        from memeval.benchmarks.beliefs.long.filler import LongBeliefs
        from memeval.benchmarks.kit.long.survey import LongDataset

        check_protocol(self.info.id, SEPARATE, protocol, tier)
        check_no_size(self.info.id, tier, parameters)
        seed, _ = self.chosen(path, parameters)
        words = self.vocabulary(INFO.tiers[0].name)
        return LongDataset(LongBeliefs(seed, tier, protocol, words, searched=protocol == RETRIEVAL))

    def vocabulary(self, tier: str) -> Vocabulary:
        return wording(tier)

    def chosen(self, path: Path | None, parameters: Parameters | None) -> tuple[int, int]:
        return PARAMETERS.chosen(self.info.id, path, parameters)
