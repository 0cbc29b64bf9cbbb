"""LoCoMo as a benchmark: graders by protocol, items by protocol and tier, and data."""

from collections.abc import Sequence
from pathlib import Path

from memeval.benchmarks.base import Benchmark, Dataset, Parameters, tables_of
from memeval.benchmarks.catalogue import load
from memeval.benchmarks.data import locate
from memeval.benchmarks.errata import shipped_errata
from memeval.benchmarks.exchange_format import WHOLE, ExchangeFormat, RunPart
from memeval.benchmarks.locomo.dataset import LocomoDataset
from memeval.benchmarks.locomo.grading import Chosen, LocomoF1, LocomoJudged, LocomoRetrieval
from memeval.benchmarks.locomo.released import FULL, read
from memeval.benchmarks.locomo.sampling import SAMPLERS
from memeval.grading.base import Grader
from memeval.keys import ItemKey
from memeval.records.benchmark import Errata
from memeval.records.errors import BadInput

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

    def errata(self) -> Errata:
        """Return the errors that the data itself proves."""
        return shipped_errata(__package__, FULL.digest)
