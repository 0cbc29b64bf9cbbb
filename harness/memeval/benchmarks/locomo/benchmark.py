"""LoCoMo as a benchmark: graders by protocol, items by protocol and tier, and data."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from memeval.benchmarks.base import Benchmark, Dataset, Parameters, largest_remainders, tables_of
from memeval.benchmarks.catalogue import load
from memeval.benchmarks.data import locate
from memeval.benchmarks.errata import shipped_errata
from memeval.benchmarks.exchange_format import WHOLE, ExchangeFormat, RunPart
from memeval.benchmarks.locomo.dataset import LocomoDataset
from memeval.benchmarks.locomo.grading import Chosen, LocomoF1, LocomoJudged, LocomoRetrieval
from memeval.benchmarks.locomo.keys import LocomoCategory
from memeval.benchmarks.locomo.released import FULL, read
from memeval.grading.base import Grader
from memeval.keys import ItemKey
from memeval.records.benchmark import Errata
from memeval.records.errors import BadInput

Groups = dict[str, dict[str, list[ItemKey]]]
"""Questions by conversation, in the order of the file, then by category."""

Rank = Callable[[str], str]

Quotas = Callable[[Mapping[str, int], int, Rank], dict[str, int]]
"""Returns the sample size of each group, from group sizes, total and order."""


def documented(keys: Sequence[ItemKey], per_conversation: int) -> tuple[ItemKey, ...]:
    """Return the first questions of each category of each conversation. Nothing is random.

    ``per_conversation``: N; each category gives ``max(1, ceil(N / number of categories in the conversation))``.
    Returns: By conversation in the order of the file, then by category name, then in the order of the file.
    """
    chosen: list[ItemKey] = []
    for categories in _grouped(keys).values():
        each = max(1, -(-per_conversation // len(categories)))
        for name in sorted(categories):
            chosen += categories[name][:each]
    return tuple(chosen)


def exact(keys: Sequence[ItemKey], total: int, quotas: Quotas, seed: int) -> tuple[ItemKey, ...]:
    """Return exactly ``total`` questions, or all if there are fewer, drawn by the hashes of their ids.

    Conversations get quotas of the total, and categories get quotas of their conversation. A quota takes the questions
    with the smallest ``K(x) = sha256("seed:x")``, so that the sample stays stable if the data grows. ``quotas``:
    :func:`equal` or :func:`proportional`.
    Returns: By conversation in the order of the file, then by category name,
    then by hash.
    """
    groups = _grouped(keys)
    sizes = {name: sum(map(len, categories.values())) for name, categories in groups.items()}
    shares = quotas(sizes, total, partial(_hashed, seed, "conv|"))
    chosen: list[ItemKey] = []
    for conversation, categories in groups.items():
        inner = {name: len(members) for name, members in categories.items()}
        counts = quotas(inner, shares[conversation], partial(_hashed, seed, f"{conversation}|"))
        for name in sorted(categories):
            chosen += sorted(categories[name], key=lambda key: _hashed(seed, "", key.item_id))[: counts[name]]
    return tuple(chosen)


def equal(sizes: Mapping[str, int], total: int, rank: Rank) -> dict[str, int]:
    """Distribute ``total`` one at a time in the order of ``rank``, repeatedly; skip exhausted groups."""
    counts = dict.fromkeys(sizes, 0)
    left = min(total, sum(sizes.values()))
    open_groups = sorted(sizes, key=rank)
    while left > 0:
        open_groups = [name for name in open_groups if counts[name] < sizes[name]]
        for name in open_groups[:left]:
            counts[name] += 1
        left -= min(left, len(open_groups))
    return counts


def proportional(sizes: Mapping[str, int], total: int, _rank: Rank) -> dict[str, int]:
    return largest_remainders(sizes, min(total, sum(sizes.values())))


def answerable(keys: Sequence[ItemKey]) -> tuple[ItemKey, ...]:
    """Return the questions that have an answer: all but the adversarial ones, in the file's order."""
    return tuple(key for key in keys if key.category != LocomoCategory.ADVERSARIAL)


def one_conversation(keys: Sequence[ItemKey]) -> tuple[ItemKey, ...]:
    """Return all questions of the conversation that has the fewest; of equals, of the first in the file."""
    sizes = Counter(key.scenario_id for key in keys)
    smallest = min(sizes, key=sizes.__getitem__, default=None)
    return tuple(key for key in keys if key.scenario_id == smallest)


SAMPLERS: dict[str, Callable[[Sequence[ItemKey]], tuple[ItemKey, ...]]] = {
    "full": tuple,
    "answerable": answerable,
    "fair": partial(documented, per_conversation=20),
    "quick": partial(exact, total=50, quotas=equal, seed=42),
    "quick-proportional": partial(exact, total=50, quotas=proportional, seed=42),
    "hundred": partial(exact, total=100, quotas=proportional, seed=42),
    "one-conversation": one_conversation,
    "fair-exact": partial(exact, total=200, quotas=equal, seed=42),
    "fair-proportional": partial(exact, total=200, quotas=proportional, seed=42),
}


def _grouped(keys: Sequence[ItemKey]) -> Groups:
    groups: Groups = defaultdict(lambda: defaultdict(list))
    for key in keys:
        groups[key.scenario_id][key.category].append(key)
    return groups


def _hashed(seed: int, prefix: str, name: str) -> str:
    return hashlib.sha256(f"{seed}:{prefix}{name}".encode()).hexdigest()


INFO = load(__package__)


RESULTS = ExchangeFormat(
    name="locomo",
    title="LoCoMo results: a JSON list with one object per conversation, with questions and predictions.",
    benchmarks=(INFO.id,),
    reader=f"{__package__}.results:read",
    writer=f"{__package__}.results:write",
    holds={
        RunPart.ANSWERS: WHOLE,
        RunPart.ITEMS: "source ids, without scores",
        RunPart.GRADES: "token F1, rounded to three decimals",
        RunPart.METRICS: "the official recall",
    },
)

GRADERS: dict[str, Grader] = {"f1": Chosen(LocomoF1()), "judge": Chosen(LocomoJudged()), "retrieval": LocomoRetrieval()}


class LocomoBenchmark(Benchmark):
    info = INFO
    prompts = __package__
    formats = (RESULTS,)
    tables = tables_of(INFO, lambda protocol, _: GRADERS[protocol.name])

    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> Dataset:
        """Open the released file. ``adversarial=choice`` offers two options in adversarial questions."""
        chosen = dict(parameters or {})
        if chosen not in ({}, {"adversarial": "choice"}):
            name, value = next(each for each in chosen.items() if each != ("adversarial", "choice"))
            raise BadInput(
                f"{INFO.id} has no parameter {name}={value}.",
                remedy="Use adversarial=choice, or leave it out to ask adversarial questions without options.",
            )
        return LocomoDataset(read(locate(INFO, path)), choice=bool(chosen))

    def asked(self, keys: Sequence[ItemKey], protocol: str) -> tuple[ItemKey, ...]:
        """Return the items of a protocol: for ``retrieval``, those whose evidence names at least one turn."""
        return tuple(key for key in keys if protocol != "retrieval" or key.evidence)

    def sampled(self, keys: Sequence[ItemKey], tier: str) -> tuple[ItemKey, ...]:
        """Return the items of a tier, in the order of its sampler.

        Samples are drawn from the items of the protocol, so they have the same size under every protocol. Questions
        that a protocol does not ask are replaced by others; the rest of the sample stays the same.
        """
        return SAMPLERS[tier](keys)

    def errata(self, tier: str) -> Errata:
        """Return the errors that the data itself proves."""
        return shipped_errata(__package__, FULL.digest)
