"""Stored runs, in folders ``results/<benchmark>/<slug>/<run_id>/``."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from memeval.archive.rows import cached_rows, read_head, read_rows
from memeval.archive.sources import is_in_source
from memeval.records.base import Digest, Stored, digest_bytes
from memeval.records.call import Call, Prompt, Traffic
from memeval.records.errors import BadInput, MemevalError
from memeval.records.failure import Failure
from memeval.records.grade import Grade
from memeval.records.response import Context, Response
from memeval.records.run import Run
from memeval.removed import why_removed
from memeval.storage import listed

T = TypeVar("T", bound=Stored)

ROW_FILES = (
    "responses.jsonl",
    "contexts.jsonl",
    "grades.jsonl",
    "judgments.jsonl",
    "calls.jsonl",
    "prompts.jsonl",
    "traffic.jsonl",
    "failures.jsonl",
    "log.jsonl",
)

REQUIRED = frozenset({"responses.jsonl", "contexts.jsonl", "grades.jsonl"})
"""Files without which a run cannot be read."""

HISTORY = "history"
"""The folder of the runs of released versions, inside a results folder. None of them is on a board."""


@dataclass(frozen=True)
class RunFolder:
    path: Path

    @property
    def name(self) -> str:
        """The last three parts of its path: benchmark, system and run id."""
        return "/".join(self.path.absolute().parts[-3:])

    @property
    def results(self) -> Path | None:
        """The results folder that its place gives; ``None`` if there are too few folders above it."""
        above = self.path.absolute().parents
        return above[2] if len(above) > 2 else None

    @cached_property
    def head_bytes(self) -> bytes:
        return read_head(self.path / "run.json", missing="Name the folder of a finished run.")

    @cached_property
    def run(self) -> Run:
        where = self.path / "run.json"
        try:
            return Run.parse(self.head_bytes, where)
        except BadInput:
            if (why := _why_too_old(self.head_bytes)) is None:
                raise
            raise BadInput(why, where=where, remedy="Read it with that memeval, or record a new run.") from None

    @cached_property
    def digest(self) -> Digest:
        """Digest of ``run.json``, which holds the digests of the other files."""
        return digest_bytes(self.head_bytes)

    def file(self, name: str) -> Path:
        """Return the path of a file of rows, given its name without ``.gz``.

        If it is not in the folder, but was fetched from the archive, this is its path in the cache.
        """
        path = self.path / f"{name}.gz"
        if path.exists() or path.is_symlink():
            return path
        try:
            stated = self.run.files.get(name)
        except MemevalError:
            return path
        return (stated and cached_rows(stated)) or path

    @property
    def has_rows(self) -> bool:
        return all(self.file(name).exists() for name in self.run.files)

    def responses(self) -> Iterator[Response]:
        return read_rows(self.file("responses.jsonl"), Response)

    def contexts(self) -> Iterator[Context]:
        return read_rows(self.file("contexts.jsonl"), Context)

    def grades(self) -> Iterator[Grade]:
        return read_rows(self.file("grades.jsonl"), Grade)

    def judgments(self) -> Iterator[Call]:
        return self._rows("judgments.jsonl", Call)

    def calls(self) -> Iterator[Call]:
        """Yield the reader's calls by key, then the system's calls by scenario, in plan order and order of arrival."""
        return self._rows("calls.jsonl", Call)

    def prompts(self) -> Iterator[Prompt]:
        return self._rows("prompts.jsonl", Prompt)

    def traffic(self) -> Iterator[Traffic]:
        return self._rows("traffic.jsonl", Traffic)

    def failures(self) -> Iterator[Failure]:
        return self._rows("failures.jsonl", Failure)

    def _rows(self, name: str, model: type[T]) -> Iterator[T]:
        return read_rows(self.file(name), model) if name in self.run.files else iter(())


def _why_too_old(head: bytes) -> str | None:
    """Return which removed edition a head names that is not of today's form; ``None`` if it names none."""
    try:
        track = json.loads(head)["track"]
        return next(filter(None, (why_removed(track[part]) for part in ("benchmark", "judge", "reader"))), None)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def sealed_runs(results: Path) -> list[RunFolder]:
    return [RunFolder(head.parent) for head in listed(results, "*/*/*/run.json") if not is_in_source(head)]


def history_runs(results: Path, slug: str = "*") -> list[RunFolder]:
    """Return the runs of released versions: ``history/<slug>/<version>/<benchmark>/<slug>/<run_id>``."""
    heads = listed(results / HISTORY, f"{slug}/*/*/*/*/run.json")
    return [RunFolder(head.parent) for head in heads if not is_in_source(head)]


def runs_under(path: Path) -> list[RunFolder]:
    """Return the runs at or under a path: a run's folder, or any folder above runs.

    Links to folders are followed three levels deep. A folder that another process deletes meanwhile is skipped.
    """
    if (path / "run.json").exists():
        return [RunFolder(path)]
    heads = {found for pattern in ("*", "*/*", "*/*/*") for found in listed(path, f"{pattern}/run.json")}
    heads |= {Path(folder, "run.json") for folder, _folders, files in os.walk(path) if "run.json" in files}
    return [RunFolder(found.parent) for found in sorted(heads) if not is_in_source(found)]


def find_run(results: Path, named: str) -> RunFolder:
    """Return a run by its folder or its id. Raises BadInput: the run does not exist, or several folders have its id."""
    path = Path(named)
    if (path / "run.json").is_file():
        return RunFolder(path)
    every = (*sealed_runs(results), *history_runs(results))
    found = [folder for folder in every if folder.path.name == named]
    if len(found) > 1:
        raise BadInput(f"run {named} is in several folders of {results}.", remedy="Name the folder.")
    if found:
        return found[0]
    for journal in (path / "journal", *listed(results, "*/*/*/journal")):
        if journal.parent.name == path.name and journal.is_dir():
            raise BadInput(
                "this run is not finished, and its answers are not graded yet.",
                where=journal.parent,
                remedy="Run its command again to resume it, or delete the folder.",
            )
    raise BadInput(
        f"no finished run {named}: no such folder, and no run under {results} has this id.",
        remedy="Check the name, or pass --results with the folder of your runs.",
    )
