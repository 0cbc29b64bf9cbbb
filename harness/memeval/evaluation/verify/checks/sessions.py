"""Opens the benchmarks of stored runs, each once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memeval.archive.rows import SharedRows
from memeval.benchmarks import find
from memeval.benchmarks.session import BenchmarkSession
from memeval.records.base import Digest, canonical_json
from memeval.records.errors import BadInput, MemevalError

if TYPE_CHECKING:
    from memeval.archive.runs import RunFolder
    from memeval.benchmarks.base import Parameters
    from memeval.evaluation.verify.findings import Check
    from memeval.records.scores import Scores
    from memeval.records.track import CategoryPlan, Redistribution, Track


@dataclass(frozen=True)
class NoData:
    """Why the benchmark of a track cannot be opened here."""

    reason: str
    """The reason, as a phrase or a sentence."""
    field: str | None = None
    """The part of the track that no run can have; ``None`` if only the data is missing here."""


Part = tuple[str, str, tuple[str, ...]]
"""What decides answers of a control: its name, the digest of the track, and the items that one instance is asked."""

ControlAnswers = dict[Part, dict[str, Digest]]
"""Digests of the answers of controls, by what decides them and by question."""


@dataclass
class Sessions:
    """The open benchmarks of several runs. Opening takes seconds, so equal data is opened once."""

    _opened: dict[str, BenchmarkSession | NoData] = field(default_factory=dict)
    counts: dict[Digest, int] = field(default_factory=dict)
    """Tokens of the contexts that were counted, by digest of their text."""

    contexts: dict[tuple[int, Redistribution, Digest], dict[Digest, int]] = field(default_factory=dict)
    """Tokens of the contexts of files without problems: by the identity of the open benchmark, which stays open here,
    by whether its text is withheld, and by the digest of the file."""

    scores: dict[tuple[tuple[CategoryPlan, ...], Digest], Scores] = field(default_factory=dict)
    """Scores by the plan and by the digest of the grades."""

    rows: SharedRows = field(default_factory=SharedRows)
    """The rows of files that several runs have."""

    folders: Sequence[RunFolder] = ()
    """All runs that are verified together."""

    systems: dict[str, Check] = field(default_factory=dict)
    """Checks of systems without problems; see :func:`~memeval.evaluation.verify.checks.systems.check_system`."""

    analysed: set[tuple[str, ...]] = field(default_factory=set)
    """Failure analyses that are right, by the digests of the track, the rows and the analysis. Repeated runs of a
    deterministic system have equal rows."""

    control_answers: ControlAnswers = field(default_factory=dict)
    """What controls answered when they ran again, for the next runs of the same controls on the same data."""

    def of(self, track: Track) -> BenchmarkSession | NoData:
        """Return the benchmark with the data that is here for a track; its digest may be another than the track's."""
        return self.open(
            track.benchmark, track.parameters, track.protocol, track.tier, shipped_errata=track.errata is not None
        )

    def open(
        self,
        benchmark: str,
        parameters: Parameters,
        protocol: str | None = None,
        tier: str | None = None,
        *,
        shipped_errata: bool = True,
    ) -> BenchmarkSession | NoData:
        """Return a benchmark with the data that is here; see :meth:`BenchmarkSession.open`."""
        key = canonical_json([benchmark, dict(parameters), protocol, tier, shipped_errata])
        if key not in self._opened:
            self._opened[key] = _opened(benchmark, parameters, protocol, tier, shipped_errata)
        return self._opened[key]


def with_its_data(opened: BenchmarkSession | NoData, track: Track) -> BenchmarkSession | NoData:
    """Return the benchmark only if its data is that of the track."""
    if isinstance(opened, NoData) or opened.dataset.digest == track.data_digest:
        return opened
    return NoData(f"the data {track.data_digest[:19]} of {track.benchmark} is not here")


def _opened(
    named: str, parameters: Parameters, protocol: str | None, tier: str | None, shipped_errata: bool
) -> BenchmarkSession | NoData:
    try:
        benchmark = find(named)
    except BadInput:
        return NoData(f"this memeval has no benchmark {named}")
    info = benchmark.info
    for kind, name, known in (("protocol", protocol, info.protocols), ("tier", tier, info.tiers)):
        names = [each.name for each in known]
        if name is not None and name not in names:
            return NoData(f"is {name}, but {info.id} has: {', '.join(names)}.", kind)
    if not benchmark.available():
        return NoData(f"the data of {info.id} is not here")
    try:
        return BenchmarkSession.open(
            benchmark, None, parameters or None, protocol=protocol, tier=tier, shipped_errata=shipped_errata
        )
    except MemevalError as error:
        if info.generated and isinstance(error, BadInput):
            return NoData(f"do not fit {info.id}: {error.problem}", "parameters")
        return NoData(f"the data of {info.id} is not here ({error.problem.rstrip('.')})")
