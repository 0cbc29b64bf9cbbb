"""A stored run whose rows were read, as the checks receive it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from memeval.analysis.failures import FAILURES
from memeval.archive.rows import ReadFile, read_file
from memeval.archive.runs import RunFolder, sealed_runs
from memeval.benchmarks.registry import not_installed
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.verify.checks.sessions import NoData, Sessions, with_its_data
from memeval.evaluation.withhold.decoding import decoded_run
from memeval.records.base import Digest, Stored, comparable_digest
from memeval.records.call import Call, Prompt, Traffic
from memeval.records.failure import Failure
from memeval.records.grade import Grade
from memeval.records.journal import LogLine
from memeval.records.response import Context, Response
from memeval.records.run import FileDigest, Run
from memeval.records.track import Redistribution

T = TypeVar("T", bound=Stored)

REQUIRED = frozenset({"responses.jsonl", "contexts.jsonl", "grades.jsonl"})
"""Files without which a run cannot be read."""


@dataclass(frozen=True)
class Subject:
    """A stored run and its rows."""

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
        """Read the rows of a run.

        Raises:
            MemevalError: a row cannot be read.
        """
        files, digests = folder.run.files, dict[str, FileDigest]()

        def read(name: str, model: type[T], *, shared: bool = False) -> list[T]:
            if name not in files and name not in REQUIRED:
                return []
            path = folder.file(name)
            found = sessions.rows.read(path, model, files.get(name)) if shared else read_file(path, model)
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
        """Read the failure analysis.

        Raises:
            MemevalError: a row cannot be read.
        """
        return self.sessions.rows.read(self.folder.file(FAILURES), Failure, self.run.files.get(FAILURES))

    @property
    def head(self) -> str:
        """The path of ``run.json``."""
        return str(self.folder.path / "run.json")

    def where(self, name: str, number: int) -> str:
        """Return the place of a row: the file and its line, from 1."""
        return f"{self.folder.path}/{name}.gz:{number}"

    @property
    def opened(self) -> BenchmarkSession | NoData:
        """The benchmark of the track, with the data that is here."""
        opened = self.sessions.of(self.run.track)
        missing = not_installed(self.run) if isinstance(opened, NoData) else None
        return opened if missing is None else NoData(str(missing))

    @cached_property
    def session(self) -> BenchmarkSession | NoData:
        """The benchmark with the data of the run."""
        return with_its_data(self.opened, self.run.track)

    def with_text(self, session: BenchmarkSession) -> Subject:
        """Return the run with the full text of its rows, even if the benchmark's text is withheld.

        Several checks need the text, so it is restored once for each session.

        Raises:
            MemevalError: a row names text that the data does not have.
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
