"""Planning a run: its track, its inputs, and the items in the order they are done."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import overload

from memeval.benchmarks.base import Benchmark, Dataset, Parameters
from memeval.benchmarks.errata import read_errata
from memeval.execution.model_reader import PREFIX, ModelReader
from memeval.execution.readers import NATIVE, OFFLINE, Reader, reader_named
from memeval.execution.work import ScenarioWork
from memeval.grading.base import Grader
from memeval.judging.rules import RulesJudge
from memeval.keys import ItemKey
from memeval.records.base import Digest, digest_bytes, digest_of
from memeval.records.benchmark import BenchmarkInfo, ProtocolInfo
from memeval.records.errata import Errata, ErratumAction
from memeval.records.errors import BadInput, NotApplicable
from memeval.records.run import View
from memeval.records.scenario import Scenario
from memeval.records.track import Limits, Track
from memeval.systems.output import visible
from memeval.tokens import tokenizer_name


class Scenarios(Mapping[str, Scenario]):
    """The scenarios of a dataset, by id, each opened when it is asked for."""

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
    """A benchmark with its data open, asked and graded in one way: scenarios and keys side by side."""

    benchmark: Benchmark
    dataset: Dataset
    protocol: str
    tier: str
    errata: Errata | None = None
    """What corrected scores follow; ``None`` where there are none."""
    stored: Track | None = None
    """The track of the stored run that is graded again; ``None`` for a new run."""

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

        Args:
            benchmark: the benchmark.
            path: see :meth:`Benchmark.open`.
            parameters: see :meth:`Benchmark.open`.
            protocol: the way of asking and grading; ``None`` for the benchmark's default.
            tier: the choice of the data; ``None`` for the benchmark's default.
            errata: a file of errata; ``None`` for those that memeval ships.
            shipped_errata: whether to go by those that memeval ships where no file is named.

        Raises:
            BadInput: the data is missing or is not what the benchmark says it is, or there is no such protocol or
                tier, or the errata are not this data's.
        """
        info = benchmark.info
        protocol = _one_of("protocol", protocol, [each.name for each in info.protocols], info.id)
        tier = _one_of("tier", tier, [each.name for each in info.tiers], info.id)
        dataset = benchmark.opened(path, parameters, protocol, tier)
        if isinstance(errata, Path):
            errata = read_errata(errata, dataset.digest)
        elif errata is None and shipped_errata:
            errata = benchmark.errata()
            if errata is not None and f"sha256:{errata.dataset_sha256}" != dataset.digest:
                errata = None
        benchmark_session = cls(benchmark, dataset, protocol, tier, errata)
        benchmark_session.corrections()
        return benchmark_session

    @cached_property
    def keys(self) -> tuple[ItemKey, ...]:
        """The keys of the items that the protocol asks in the tier, in plan order."""
        asked = self.benchmark.asked(tuple(self.dataset.keys()), self.protocol)
        return self.benchmark.sampled(asked, self.tier)

    @cached_property
    def scenarios(self) -> Scenarios:
        """The scenarios, by id."""
        return Scenarios(self.dataset)

    @cached_property
    def graders(self) -> dict[str, Grader]:
        """Who grades, by category: for a stored run the versions that its track names, as far as they are kept."""
        current = {category.name: category.grader for category in self.benchmark.table(self.protocol, self.tier)}
        for plan in () if self.stored is None else self.stored.categories:
            for grader in self.benchmark.former:
                same = plan.name in current and _family(current[plan.name]) == _family(grader)
                if same and grader.name == plan.grader:
                    current[plan.name] = grader
        return current

    def corrections(self) -> dict[str, ItemKey | None]:
        """Return the errata's items: each with its corrected key, or ``None`` where it is left out of the count.

        Raises:
            BadInput: an entry names no item, or does not say in a usable form what is right.
        """
        return self._corrections

    @cached_property
    def _corrections(self) -> dict[str, ItemKey | None]:
        if self.errata is None:
            return {}
        keys = {key.item_id: key for key in self.dataset.keys()}  # noqa: SIM118 - no dictionary
        found: dict[str, ItemKey | None] = {}
        for entry in self.errata.entries:
            if entry.id not in keys:
                raise BadInput(f"the errata name '{visible(entry.id)}', which is no item of {self.benchmark.info.id}.")
            leaves_out = entry.action is ErratumAction.EXCLUDE
            found[entry.id] = None if leaves_out else self.dataset.corrected(keys[entry.id], entry)
        return found

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

    def track(self, *, reader: Reader | None, limits: Limits) -> Track:
        """Return the track of a run on this data, judged by the rule set; see :meth:`ChosenJudge.on` for another judge.

        Args:
            reader: who answers; ``None`` for the system itself.
            limits: what a system is allowed, per call; a protocol may ask more items of ``search``.
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
        """What the benchmark says of the protocol."""
        return next(each for each in self.benchmark.info.protocols if each.name == self.protocol)

    @property
    def _sample(self) -> Digest | None:
        """Digest of the items' ids where they are a sample; the whole of a benchmark needs none."""
        whole = len(self.benchmark.asked(tuple(self.dataset.keys()), self.protocol)) == len(self.keys)
        return None if whole else digest_bytes("\n".join(key.item_id for key in self.keys).encode())

    def works(self, items: Iterable[ItemKey], view: View, attempts: dict[str, int]) -> Sequence[ScenarioWork]:
        """Return what is to be done: the scenarios that hold the items, with nothing of their keys.

        Under the view ``evidence`` every item is shown its own sessions, and so has its own pass.

        Args:
            items: the open items, in plan order.
            view: which sessions the system is shown.
            attempts: per item, which attempt this is; 1 where it is not named.
        """
        passes: dict[tuple[str, int, str], list[ItemKey]] = defaultdict(list)
        for key in items:
            alone = key.item_id if view is View.EVIDENCE else ""
            passes[key.scenario_id, attempts.get(key.item_id, 1), alone].append(key)
        return _Works(self.scenarios, view, [(attempt, keys) for (_, attempt, _), keys in passes.items()])


class _Works(Sequence[ScenarioWork]):
    """Passes over scenarios; each scenario is opened when its turn comes."""

    def __init__(self, scenarios: Scenarios, view: View, passes: Sequence[tuple[int, Sequence[ItemKey]]]) -> None:
        self._scenarios, self._view, self._passes = scenarios, view, passes

    def __len__(self) -> int:
        return len(self._passes)

    @overload
    def __getitem__(self, place: int) -> ScenarioWork: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[ScenarioWork]: ...

    def __getitem__(self, place: int | slice) -> ScenarioWork | Sequence[ScenarioWork]:
        if isinstance(place, slice):
            return _Works(self._scenarios, self._view, self._passes[place])
        attempt, keys = self._passes[place]
        return ScenarioWork(
            scenario=_viewed(self._scenarios[keys[0].scenario_id], keys, self._view),
            items={key.item_id: key.question_ids for key in keys},
            attempt=attempt,
        )


def _viewed(scenario: Scenario, keys: Sequence[ItemKey], view: View) -> Scenario:
    """Return a scenario in a view: under ``evidence``, without the sessions that no key of it names."""
    if view is View.ALL or any(key.evidence is None for key in keys):
        return scenario
    return scenario.only(frozenset(session for key in keys for session in key.evidence or ()))


def _family(grader: Grader) -> str:
    """Return the name of a grader without its version."""
    return grader.name.partition("@")[0]


def _one_of(what: str, asked: str | None, offered: Sequence[str], benchmark: str) -> str:
    if asked is None:
        return offered[0]
    if asked not in offered:
        raise BadInput(f"{benchmark} has no {what} '{asked}'.", remedy=f"It has: {', '.join(offered)}.")
    return asked


def protocols_for(capabilities: Sequence[str], info: BenchmarkInfo) -> list[str]:
    """Return the protocols of a benchmark that a system can take, under the reader that is usual there.

    Args:
        capabilities: the methods the adapter has.
        info: what the benchmark says of itself.
    """
    return [each.name for each in info.protocols if _can_take(capabilities, each)]


def _can_take(capabilities: Sequence[str], protocol: ProtocolInfo) -> bool:
    if not set(protocol.needs) <= set(capabilities):
        return False
    if protocol.reader is None:
        return "query" in capabilities or "search" in capabilities
    if protocol.reader == NATIVE:
        return bool(protocol.needs) or "query" in capabilities
    return "search" in capabilities


def choose_reader(
    asked: str | None,
    capabilities: Sequence[str],
    slug: str,
    make_model_reader: Callable[[str], Reader],
    protocol: ProtocolInfo | None = None,
) -> Reader | None:
    """Return who answers: ``None`` for the system itself.

    Args:
        asked: ``native`` or a reader's name; ``None`` for the default, which is native where the system has ``query``.
        capabilities: the methods the adapter has.
        slug: the system, for the refusal.
        make_model_reader: gives the reader that a model is, by its name.
        protocol: the way of asking; it may go with one reader alone, and need methods of its own.

    Raises:
        BadInput: there is no such reader.
        NotApplicable: the system cannot be asked that way.
    """
    fixed = protocol.reader if protocol else None
    offline = protocol.offline_reader if protocol and protocol.offline_reader else OFFLINE
    if fixed is not None and asked not in (None, fixed):
        raise BadInput(f"this protocol goes with the reader '{fixed}' alone.", remedy="Leave --reader out.")
    name = asked or fixed or (NATIVE if "query" in capabilities else offline)
    if name == OFFLINE:
        name = offline
    reader = None
    if name.startswith(PREFIX):
        reader = make_model_reader(name)
    elif name != NATIVE and (reader := reader_named(name)) is None:
        raise BadInput(f"there is no reader '{visible(name)}'.", remedy=f"Readers: {NATIVE}, {OFFLINE}, {PREFIX}MODEL.")
    if protocol is not None and (lacking := [need for need in protocol.needs if need not in capabilities]):
        raise NotApplicable(
            f"{slug} has no {' and no '.join(map(repr, lacking))}, which the protocol '{protocol.name}' needs.",
            remedy="Give the adapter what is missing, or choose another protocol.",
        )
    needed = "search" if name != NATIVE else None if protocol and fixed and protocol.needs else "query"
    if needed is not None and needed not in capabilities:
        raise NotApplicable(
            f"{slug} has no '{needed}', which the reader {name} needs.", remedy="Choose the other reader."
        )
    return reader
