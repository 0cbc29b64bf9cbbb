"""Plans a run: its track, its reader, and its items in plan order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import overload

from memeval.benchmarks import find, known_ids
from memeval.benchmarks.base import Benchmark, Dataset, Parameters
from memeval.benchmarks.checking import check_items
from memeval.benchmarks.errata import read_errata
from memeval.benchmarks.registry import not_installed
from memeval.execution.model_reader import ModelReader
from memeval.execution.readers import NATIVE
from memeval.execution.steps import ScenarioWork
from memeval.grading.base import Grader
from memeval.judging.rules import RulesJudge
from memeval.keys import ItemKey
from memeval.reading import Reader
from memeval.records.base import Digest, digest_bytes, digest_of
from memeval.records.benchmark import BenchmarkInfo, Errata, ErratumAction, ProtocolInfo
from memeval.records.errors import BadInput
from memeval.records.run import Run, View
from memeval.records.scenario import Ingest, Scenario, Step
from memeval.records.track import Limits, Track
from memeval.removed import why_removed
from memeval.systems.channel import visible
from memeval.tokens import tokenizer_name


class Scenarios(Mapping[str, Scenario]):
    """The scenarios of a dataset by id, each loaded when accessed."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset

    def __getitem__(self, scenario_id: str) -> Scenario:
        return self._dataset.scenario(scenario_id)

    def __iter__(self) -> Iterator[str]:
        return self._dataset.scenario_ids()

    def __len__(self) -> int:
        return sum(1 for _ in self)


@dataclass(frozen=True)
class BenchmarkSession:
    benchmark: Benchmark
    dataset: Dataset
    protocol: str
    tier: str
    errata: Errata | None = None
    """Errata for corrected scores; ``None`` for no corrected scores."""

    @classmethod
    def open(
        cls,
        benchmark: Benchmark,
        path: Path | None = None,
        parameters: Parameters | None = None,
        *,
        protocol: str | None = None,
        tier: str | None = None,
        errata: Path | Errata | None = None,
        shipped_errata: bool = True,
    ) -> BenchmarkSession:
        """Open a benchmark's data.

        Raises ``BadInput``: the data is missing or has a wrong digest, the protocol or tier does not exist, or the
        errata are for other data. ``protocol``: the protocol; ``None`` for the benchmark's default. ``tier``: the tier
        of the data; ``None`` for the benchmark's default. ``errata``: errata, or a file of errata; ``None`` for
        memeval's own. ``shipped_errata``: whether to use memeval's own errata if ``errata`` is ``None``.
        """
        info = benchmark.info
        protocol, tier = track_names(info, protocol, tier)
        dataset = benchmark.opened(path, parameters, protocol, tier)
        if isinstance(errata, Path):
            errata = read_errata(errata, dataset.digest)
        elif errata is None and shipped_errata:
            errata = benchmark.errata(tier)
            if errata is not None and f"sha256:{errata.dataset_sha256}" != dataset.digest:
                errata = None
        benchmark_session = cls(benchmark, dataset, protocol, tier, errata)
        _ = benchmark_session.corrections  # wrong errata are an error now, not after hours
        return benchmark_session

    @cached_property
    def all_keys(self) -> tuple[ItemKey, ...]:
        """The keys of all items of the data, of whatever protocol; they are built once."""
        return tuple(self.dataset.answer_keys())

    @cached_property
    def _asked(self) -> tuple[ItemKey, ...]:
        return self.benchmark.asked(self.all_keys, self.protocol)

    @cached_property
    def keys(self) -> tuple[ItemKey, ...]:
        """The keys of the items of the protocol and tier, in plan order.

        Raises ``BrokenBenchmark``: two items have one id, or an item has an unknown category.
        """
        sampled = self.benchmark.sampled(self._asked, self.tier)
        check_items(self.benchmark.info, self.benchmark.table(self.protocol, self.tier), sampled)
        return sampled

    @cached_property
    def scenarios(self) -> Scenarios:
        return Scenarios(self.dataset)

    @cached_property
    def graders(self) -> dict[str, Grader]:
        return {category.name: category.grader for category in self.benchmark.table(self.protocol, self.tier)}

    @cached_property
    def corrections(self) -> dict[str, ItemKey | None]:
        """The corrected key of each item in the errata; ``None`` for an excluded item.

        Raises ``BadInput``: an entry names an unknown item, or has no usable correction.
        """
        if self.errata is None:
            return {}
        keys = {key.item_id: key for key in self.all_keys}
        corrected: dict[str, ItemKey | None] = {}
        for entry in self.errata.entries:
            if entry.id not in keys:
                raise BadInput(
                    f"the errata name '{visible(entry.id)}', which is not an item of {self.benchmark.info.id}."
                )
            is_excluded = entry.action is ErratumAction.EXCLUDE
            corrected[entry.id] = None if is_excluded else self.dataset.corrected(keys[entry.id], entry)
        return corrected

    def selected(self, limit: int | None) -> tuple[ItemKey, ...]:
        """Return the items of a run in plan order: all, or the first ``limit`` taken from the categories in turn."""
        if limit is None:
            return self.keys
        by_category: dict[str, list[ItemKey]] = defaultdict(list)
        for key in self.keys:
            by_category[key.category].append(key)
        in_turn = (key for row in zip_longest(*by_category.values()) for key in row if key is not None)
        chosen = {key.item_id for _, key in zip(range(limit), in_turn, strict=False)}
        return tuple(key for key in self.keys if key.item_id in chosen)

    def track(self, *, reader: Reader | None, limits: Limits) -> Track:
        """Return the track of a run on this data with the rule-set judge; see :meth:`ChosenJudge.on` for other judges.

        ``reader``: the reader; ``None`` if the system answers. ``limits``: limits of one call to the system; a protocol
        may raise ``search_items``.
        """
        items = self.protocol_info.search_items
        return Track(
            benchmark=self.benchmark.info.id,
            data_digest=self.dataset.digest,
            parameters=dict(self.dataset.parameters),
            protocol=self.protocol,
            tier=self.tier,
            categories=self.benchmark.plan(self.keys, self.protocol, self.tier),
            reader=NATIVE if reader is None else reader.name,
            reader_endpoint=reader.endpoint if isinstance(reader, ModelReader) else None,
            judge=RulesJudge.name,
            prompts=reader.prompts if isinstance(reader, ModelReader) else {},
            tokenizer=tokenizer_name(),
            limits=limits if items is None else limits.model_copy(update={"search_items": items}),
            sample=self._sample,
            errata=None if self.errata is None else digest_of(self.errata.data()),
            released=self.dataset.released,
        )

    @property
    def protocol_info(self) -> ProtocolInfo:
        return next(each for each in self.benchmark.info.protocols if each.name == self.protocol)

    @property
    def consists_of_trials(self) -> bool:
        """Whether its steps are faults and measurements, whose observations differ between equal runs."""
        first = next(iter(self.keys), None)
        return first is not None and self.scenarios[first.scenario_id].consists_of_trials

    @property
    def _sample(self) -> Digest | None:
        """Digest of the item ids of a sample; ``None`` for all items of the benchmark."""
        is_complete = len(self._asked) == len(self.keys)
        return None if is_complete else digest_bytes("\n".join(key.item_id for key in self.keys).encode())

    def works(self, items: Iterable[ItemKey], view: View, attempts: dict[str, int]) -> Sequence[ScenarioWork]:
        """Return the work that the items need, without their keys. Each is one pass over a scenario.

        Works with most items come first. With a view of the evidence, each item has its own pass with its own sessions
        or turns. ``items``: the open
        items, in plan order. ``attempts``: attempt number by item id; 1 if missing.
        """
        passes: dict[tuple[str, int, str], list[ItemKey]] = defaultdict(list)
        for key in items:
            own_pass = "" if view is View.ALL else key.item_id
            passes[key.scenario_id, attempts.get(key.item_id, 1), own_pass].append(key)
        open_passes = [(attempt, keys) for (_, attempt, _), keys in passes.items()]
        # The longest first, so that none starts when all others are done; histories are not read to measure them.
        open_passes.sort(key=lambda each: -len(each[1]))
        return _Works(self.scenarios, view, open_passes)


def refuse_removed(track: Track) -> None:
    """Refuse a track that names an edition that memeval no longer has. Raises ``BadInput``: it does."""
    names = [name for name in (track.benchmark, track.judge) if name not in (*known_ids(), RulesJudge.name)]
    graders = dict.fromkeys(category.grader for category in track.categories)
    why = next(filter(None, map(why_removed, (*names, track.reader, *graders))), None)
    if why is not None:
        raise BadInput(why, remedy="Record a new run.")


def session_of_run(
    run: Run, data: Path | None = None, errata: Path | None = None, *, with_errata: bool = True
) -> BenchmarkSession:
    """Open the data of a run, with its protocol, tier and errata.

    Raises ``BadInput``: the run is of an edition that was removed, its data is missing, or the data or the errata have
    another digest than the run's. ``errata``: the errata of its corrected scores, if they are not memeval's own.
    ``with_errata``: whether the errata are needed. A failure analysis does not depend on them.
    """
    track = run.track
    refuse_removed(track)
    benchmark_session = BenchmarkSession.open(
        _benchmark_of(run),
        data,
        track.parameters or None,
        protocol=track.protocol,
        tier=track.tier,
        errata=errata,
        shipped_errata=with_errata and track.errata is not None,
    )
    if benchmark_session.dataset.digest != track.data_digest:
        raise BadInput(
            f"run {run.run_id} used data {track.data_digest}, but this data is {benchmark_session.dataset.digest}.",
            remedy="Name the right data with --data, or use the memeval version of the run.",
        )
    errata_digest = None if benchmark_session.errata is None else digest_of(benchmark_session.errata.data())
    if with_errata and errata_digest != track.errata:
        raise BadInput(
            f"run {run.run_id} used errata {track.errata}, but these errata are {errata_digest}.",
            remedy="Name the right errata with --errata.",
        )
    return benchmark_session


class _Works(Sequence[ScenarioWork]):
    def __init__(self, scenarios: Scenarios, view: View, passes: Sequence[tuple[int, Sequence[ItemKey]]]) -> None:
        self._scenarios, self._view, self._passes = scenarios, view, passes

    def __len__(self) -> int:
        return len(self._passes)

    @overload
    def __getitem__(self, index: int) -> ScenarioWork: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[ScenarioWork]: ...

    def __getitem__(self, index: int | slice) -> ScenarioWork | Sequence[ScenarioWork]:
        if isinstance(index, slice):
            return _Works(self._scenarios, self._view, self._passes[index])
        attempt, keys = self._passes[index]
        return ScenarioWork(
            scenario=_viewed(self._scenarios[keys[0].scenario_id], keys, self._view),
            items={key.item_id: key.question_ids for key in keys},
            attempt=attempt,
        )


def _viewed(scenario: Scenario, keys: Sequence[ItemKey], view: View) -> Scenario:
    """Return a scenario in a view: whole, or with only the sessions or the turns that its keys name.

    Where keys name no turns, their sessions are shown whole.
    """
    if view is View.ALL or any(key.evidence is None for key in keys):
        return scenario
    evidence = scenario.only(frozenset(session for key in keys for session in key.evidence or ()))
    turns = frozenset(turn for key in keys for turn in key.key.relevant_turns)
    if view is not View.TURNS or not turns:
        return evidence
    return evidence.model_copy(update={"steps": tuple(_with_turns(step, turns) for step in evidence.steps)})


def _with_turns(step: Step, turns: frozenset[str]) -> Step:
    if not isinstance(step, Ingest):
        return step
    kept = tuple(turn for turn in step.session.turns if turn.turn_id in turns)
    return step.model_copy(update={"session": step.session.model_copy(update={"turns": kept})})


def track_names(info: BenchmarkInfo, protocol: str | None, tier: str | None) -> tuple[str, str]:
    """Return the names of a protocol and a tier; ``None`` is the default. Raises ``BadInput`` if one does not exist."""
    return (
        _one_of("protocol", protocol, [each.name for each in info.protocols], info.id),
        _one_of("tier", tier, [each.name for each in info.tiers], info.id),
    )


def _one_of(kind: str, name: str | None, names: Sequence[str], benchmark: str) -> str:
    if name is None:
        return names[0]
    if name not in names:
        raise BadInput(f"{benchmark} has no {kind} '{name}'.", remedy=f"It has: {', '.join(names)}.")
    return name


def _benchmark_of(run: Run) -> Benchmark:
    try:
        return find(run.track.benchmark)
    except BadInput as error:
        raise not_installed(run) or error from None
