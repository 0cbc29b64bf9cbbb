"""A stored run whose rows were read, as the checks receive it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from memeval.archive.rows import read_rows
from memeval.archive.runs import RunFolder, sealed_runs
from memeval.benchmarks.registry import not_installed
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.verifying.sessions import NoData, Sessions, with_its_data
from memeval.evaluation.withholding.decoding import decoded_run
from memeval.records.call import Call
from memeval.records.grade import Grade
from memeval.records.journal import LogLine
from memeval.records.prompt import Prompt
from memeval.records.response import Context, Response
from memeval.records.run import Run
from memeval.records.track import Redistribution
from memeval.records.traffic import Traffic


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

    @classmethod
    def read(cls, folder: RunFolder, sessions: Sessions) -> Subject:
        """Read the rows of a run.

        Raises:
            MemevalError: a row cannot be read.
        """
        has_log = "log.jsonl" in folder.run.files
        return cls(
            folder=folder,
            run=folder.run,
            sessions=sessions,
            responses=list(folder.responses()),
            contexts=list(folder.contexts()),
            grades=list(folder.grades()),
            judgments=list(folder.judgments()),
            calls=list(folder.calls()),
            prompts=list(folder.prompts()),
            traffic=list(folder.traffic()),
            log=list(read_rows(folder.file("log.jsonl"), LogLine)) if has_log else [],
        )

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
            full = decoded_run(self.folder, session)
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
