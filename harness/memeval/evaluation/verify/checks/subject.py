"""A stored run whose rows were read, as the checks receive it, and the open benchmarks of several runs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

from memeval.analysis.failures import FAILURES
from memeval.archive.rows import ReadFile, SharedRows, read_file
from memeval.archive.runs import REQUIRED, RunFolder, sealed_runs
from memeval.benchmarks import find
from memeval.benchmarks.base import Parameters
from memeval.benchmarks.registry import not_installed
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.verify.findings import REMEDY, Check
from memeval.evaluation.withhold.decoding import decoded_run
from memeval.records.base import Digest, Stored, canonical_json, comparable_digest
from memeval.records.call import Call, Prompt, Traffic
from memeval.records.errors import BadInput, MemevalError
from memeval.records.failure import Failure
from memeval.records.grade import Grade
from memeval.records.journal import LogLine
from memeval.records.response import Context, Response
from memeval.records.run import FileDigest, Run
from memeval.records.scores import Scores
from memeval.records.track import CategoryPlan, Redistribution, Track


@dataclass(frozen=True)
class NoData:
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


T = TypeVar("T", bound=Stored)

R = TypeVar("R")

Drawn = TypeVar("Drawn")

MOST_ROWS = 1_000_000
"""Maximum number of rows of a file."""

ROWS_AN_ITEM = 200
"""Maximum number of rows of a file for each planned item: questions, attempts and calls."""


def draw(population: Mapping[str, Drawn], items: int, digest: Digest) -> list[Drawn]:
    """Return drawn members of a population, in an order that follows from a run's digest.

    Nobody can choose the sample: another ``run.json`` draws another one. ``population``: the members, by a key.
    ``items``: number of drawn members; all if there are fewer.
    """
    order = sorted(population, key=lambda key: hashlib.sha256(f"{digest}\n{key}".encode()).digest())
    return [population[key] for key in order[:items]]


def _most_rows(folder: RunFolder, name: str) -> int | None:
    """Return the number of rows that ``run.json`` states. Raises ``BadInput`` if its plan cannot have as many."""
    if name not in folder.run.files:
        return None
    stated, planned = folder.run.files[name].rows, folder.run.track.planned
    most = min(MOST_ROWS, ROWS_AN_ITEM * (planned + 100))
    if stated > most:
        problem = f"has {stated:,} rows, but a run of {planned:,} items has at most {most:,}."
        raise BadInput(problem, where=f"{folder.path / 'run.json'}: files.{name}", remedy=REMEDY)
    return stated


@dataclass(frozen=True)
class Subject:
    folder: RunFolder
    run: Run
    sessions: Sessions
    responses: list[Response]
    contexts: list[Context]
    grades: list[Grade]
    judgments: list[Call]
    calls: list[Call]
    prompts: list[Prompt]
    traffic: list[Traffic]
    log: list[LogLine]
    digests: Mapping[str, FileDigest]
    """What was found while the files were read, by name."""

    @classmethod
    def read(cls, folder: RunFolder, sessions: Sessions) -> Subject:
        """Read the rows of a run. Raises ``MemevalError`` if a row cannot be read."""
        files, digests = folder.run.files, dict[str, FileDigest]()

        def read(name: str, model: type[T], *, shared: bool = False) -> list[T]:
            if name not in files and name not in REQUIRED:
                return []
            path, most = folder.file(name), _most_rows(folder, name)
            found = sessions.rows.read(path, model, files.get(name)) if shared else read_file(path, model, most)
            digests[name] = found.digest
            return found.rows

        return cls(
            folder=folder,
            run=folder.run,
            sessions=sessions,
            responses=read("responses.jsonl", Response),  # their clocks differ in every run
            contexts=read("contexts.jsonl", Context, shared=True),
            grades=read("grades.jsonl", Grade, shared=True),
            judgments=read("judgments.jsonl", Call),
            calls=read("calls.jsonl", Call),
            prompts=read("prompts.jsonl", Prompt),
            traffic=read("traffic.jsonl", Traffic),
            log=read("log.jsonl", LogLine),
            digests=digests,
        )

    @cached_property
    def responses_digest(self) -> Digest:
        """The digest of the responses without clocks; see :func:`~memeval.records.base.comparable_digest`."""
        return comparable_digest(self.responses)

    def failures(self) -> ReadFile[Failure]:
        """Read the failure analysis. Raises ``MemevalError`` if a row cannot be read."""
        return self.sessions.rows.read(self.folder.file(FAILURES), Failure, self.run.files.get(FAILURES))

    @property
    def head(self) -> str:
        return str(self.folder.path / "run.json")

    def where(self, name: str, number: int) -> str:
        """Return the place of a row: the file and its line, from 1."""
        return f"{self.folder.path}/{name}.gz:{number}"

    def placed(self, name: str, rows: Iterable[R]) -> Iterator[tuple[str, R]]:
        """Yield rows of a file, each after its place."""
        return ((self.where(name, number), row) for number, row in enumerate(rows, start=1))

    def placed_calls(self) -> Iterator[tuple[str, Call]]:
        """Yield all model calls, each after its place."""
        yield from self.placed("judgments.jsonl", self.judgments)
        yield from self.placed("calls.jsonl", self.calls)

    @property
    def opened(self) -> BenchmarkSession | NoData:
        opened = self.sessions.of(self.run.track)
        missing = not_installed(self.run) if isinstance(opened, NoData) else None
        return opened if missing is None else NoData(str(missing))

    @cached_property
    def session(self) -> BenchmarkSession | NoData:
        """The benchmark, only if its data is that of the track."""
        opened, track = self.opened, self.run.track
        if isinstance(opened, NoData) or opened.dataset.digest == track.data_digest:
            return opened
        return NoData(f"the data {track.data_digest[:19]} of {track.benchmark} is not here")

    def with_text(self, session: BenchmarkSession) -> Subject:
        """Return the run with the full text of its rows, even if the benchmark's text is withheld.

        Several checks need the text, so it is restored once for each session. Raises ``MemevalError`` if a row names
        text that the data does not have.
        """
        if self.run.redistribution is Redistribution.FULL:
            return self
        if id(session) not in self._restored:
            read: dict[str, Sequence[Stored]] = {
                "responses.jsonl": self.responses,
                "contexts.jsonl": self.contexts,
                "grades.jsonl": self.grades,
            }
            full = decoded_run(self.folder, session, read)
            restored = replace(
                self, responses=list(full.responses()), contexts=list(full.contexts()), grades=list(full.grades())
            )
            self._restored[id(session)] = session, restored
        return self._restored[id(session)][1]

    @cached_property
    def _restored(self) -> dict[int, tuple[BenchmarkSession, Subject]]:
        """The run with full text, by the identity of the session, which is kept alive."""
        return {}

    def other_run(self, run_id: str) -> RunFolder | None:
        """Return another run of the same results folder by its id; ``None`` if it is not here."""
        parents = self.folder.path.resolve().parents
        runs = sealed_runs(parents[2]) if len(parents) > 2 else []
        return next((run for run in runs if run.path.name == run_id), None)
