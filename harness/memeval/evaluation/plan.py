"""Planning a run: its track, its inputs, and the items in the order they are done."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from pathlib import Path

from memeval.benchmarks.base import Benchmark, Dataset, Parameters
from memeval.execution.model_reader import PREFIX, ModelReader
from memeval.execution.readers import NATIVE, Reader, reader_named
from memeval.execution.tokens import tokenizer_name
from memeval.execution.work import Work
from memeval.judging.rules import RulesJudge
from memeval.keys import ItemKey
from memeval.records.errors import BadInput
from memeval.records.run import View
from memeval.records.scenario import Scenario
from memeval.records.track import Limits, Track
from memeval.systems.output import visible


@dataclass(frozen=True)
class Exam:
    """A benchmark with its data open: scenarios and keys side by side, in the benchmark's order."""

    benchmark: Benchmark
    dataset: Dataset

    @classmethod
    def open(cls, benchmark: Benchmark, path: Path | None = None, parameters: Parameters | None = None) -> Exam:
        """Open a benchmark's data; see :meth:`Benchmark.open`."""
        return cls(benchmark, benchmark.open(path, parameters))

    @cached_property
    def keys(self) -> tuple[ItemKey, ...]:
        """The keys, in the benchmark's order."""
        return tuple(self.dataset.keys())

    @cached_property
    def scenarios(self) -> dict[str, Scenario]:
        """The scenarios, by id."""
        return {scenario.scenario_id: scenario for scenario in self.dataset.scenarios()}

    def selected(self, limit: int | None) -> tuple[ItemKey, ...]:
        """Return the items of a run in plan order: all, or the first ``limit`` taken from the categories in turn."""
        if limit is None:
            return self.keys
        by_category: dict[str, list[ItemKey]] = defaultdict(list)
        for key in self.keys:
            by_category[key.category].append(key)
        turns = (key for turn in zip_longest(*by_category.values()) for key in turn if key is not None)
        chosen = {key.item_id for _, key in zip(range(limit), turns, strict=False)}
        return tuple(key for key in self.keys if key.item_id in chosen)

    def track(self, *, reader: Reader | None, limits: Limits, protocol: str | None, tier: str | None) -> Track:
        """Return the track of a run on this data, judged by the rule set; see :meth:`ChosenJudge.on` for another judge.

        Args:
            reader: who answers; ``None`` for the system itself.
            limits: what a system is allowed, per call.
            protocol: the way of asking and grading; ``None`` for the benchmark's default.
            tier: the choice of the data; ``None`` for the benchmark's default.
        """
        info = self.benchmark.info
        return Track(
            benchmark=info.id,
            data_digest=self.dataset.digest,
            parameters=dict(self.dataset.parameters),
            protocol=_one_of("protocol", protocol, info.protocols, info.id),
            tier=_one_of("tier", tier, info.tiers, info.id),
            categories=self.benchmark.plan(list(self.keys)),
            reader=NATIVE if reader is None else reader.name,
            reader_endpoint=reader.endpoint if isinstance(reader, ModelReader) else None,
            judge=RulesJudge.name,
            prompts=reader.prompts if isinstance(reader, ModelReader) else {},
            tokenizer=tokenizer_name(),
            limits=limits,
        )

    def works(self, items: Iterable[ItemKey], view: View, attempts: dict[str, int]) -> list[Work]:
        """Return what is to be done: the scenarios that hold the items, with nothing of their keys.

        Args:
            items: the open items, in plan order.
            view: which sessions the system is shown.
            attempts: per item, which attempt this is; 1 where it is not named.
        """
        by_scenario: dict[tuple[str, int], list[ItemKey]] = defaultdict(list)
        for key in items:
            by_scenario[key.scenario_id, attempts.get(key.item_id, 1)].append(key)
        return [
            Work(
                scenario=_viewed(self.scenarios[scenario_id], keys, view),
                items={key.item_id: key.question_ids for key in keys},
                attempt=attempt,
            )
            for (scenario_id, attempt), keys in by_scenario.items()
        ]


def _viewed(scenario: Scenario, keys: Sequence[ItemKey], view: View) -> Scenario:
    """Return a scenario in a view: under ``evidence``, without the sessions that no key of it names."""
    if view is View.ALL or any(key.evidence is None for key in keys):
        return scenario
    return scenario.only(frozenset(session for key in keys for session in key.evidence or ()))


def _one_of(what: str, asked: str | None, offered: Sequence[str], benchmark: str) -> str:
    if asked is None:
        return offered[0]
    if asked not in offered:
        raise BadInput(f"{benchmark} has no {what} '{asked}'.", remedy=f"It has: {', '.join(offered)}.")
    return asked


def choose_reader(
    asked: str | None, capabilities: Sequence[str], slug: str, make_model_reader: Callable[[str], Reader]
) -> Reader | None:
    """Return who answers: ``None`` for the system itself.

    Args:
        asked: ``native`` or a reader's name; ``None`` for the default, which is native where the system has ``query``.
        capabilities: the methods the adapter has.
        slug: the system, for the refusal.
        make_model_reader: gives the reader that a model is, by its name.

    Raises:
        BadInput: there is no such reader, or the system cannot be asked that way.
    """
    name = asked or (NATIVE if "query" in capabilities else "extractive")
    needed = "query" if name == NATIVE else "search"
    reader = None
    if name.startswith(PREFIX):
        reader = make_model_reader(name)
    elif name != NATIVE and (reader := reader_named(name)) is None:
        raise BadInput(
            f"there is no reader '{visible(name)}'.", remedy=f"Readers: {NATIVE}, extractive, {PREFIX}MODEL."
        )
    if needed not in capabilities:
        raise BadInput(f"{slug} has no '{needed}', which the reader {name} needs.", remedy="Choose the other reader.")
    return reader
