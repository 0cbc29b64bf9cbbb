"""A source: files of answers made elsewhere, and how their fields map to a benchmark's items. Data, not code."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any
from urllib.parse import quote

from pydantic import Field, StringConstraints

from memeval.records.base import Digest, Record, Slug, Stored
from memeval.records.mapping import RowMapping

Commit = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
"""A full Git commit."""

Repository = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9._-]+$")]
"""A repository on GitHub, ``owner/name``."""


class Scale(StrEnum):
    """How a question is scored. Values of two scales cannot be compared."""

    YES_NO = "yes-no"
    CHOICE = "choice"
    HIT = "hit"
    RECALL = "recall"
    RUBRIC = "rubric"
    WHOLE_RUBRIC = "whole-rubric"
    ORDER = "order"
    ORDER_F1 = "order-f1"
    TOKEN_F1 = "token-f1"  # noqa: S105 - no password


SCALES = {
    Scale.YES_NO: "one yes or no a question",
    Scale.CHOICE: "the right option of several",
    Scale.HIT: "any evidence among the first results",
    Scale.RECALL: "share of the evidence among the first results",
    Scale.RUBRIC: "mean of rubric items, each 0, ½ or 1",
    Scale.WHOLE_RUBRIC: "mean of rubric items, ½ counted as 0",
    Scale.ORDER: "order of events, Kendall’s tau",
    Scale.ORDER_F1: "order of events, Kendall’s tau times F1",
    Scale.TOKEN_F1: "token F1",
}
"""Every scale in words."""

TWO_VALUED = frozenset({Scale.YES_NO, Scale.CHOICE, Scale.HIT})
"""Scales on which a question is right or wrong. On the others, its value is in [0, 1]."""


class FilePart(Record):
    """One published file with the rows of an entry."""

    path: str
    """Path inside the repository."""
    digest: Digest | None = None
    """Digest of its bytes, uncompressed if the path ends in ``.gz``; ``None`` if it was not fetched yet."""
    mapping: str = ""
    """Name of the mapping; empty for that of the defaults."""
    trial: int | None = None
    """Number of the repetition, from 0, if each file has one repetition of the same questions."""


class FileSettings(Record):
    """What the files of a source often have in common."""

    benchmark: str = ""
    """The benchmark with its version, such as ``name@1``; if ``planned`` is given, only its name."""
    protocol: str | None = None
    """Protocol; ``None`` for the benchmark's default."""
    tier: str | None = None
    """Tier; ``None`` for the benchmark's default."""
    planned: int | None = Field(None, ge=1)
    """Number of questions of the benchmark or tier, if memeval does not have its key. The values in the file are then
    counted, and nothing is graded."""
    scale: Scale | None = None
    """How the file scores a question; ``None`` if that follows from the protocol."""
    answer_model: str | None = None
    judges: dict[str, str] = {}
    group: Slug | None = None
    """Files of one group were made by the same pipeline and answer model, so they can be ranked among themselves."""
    note: str | None = None
    """What readers of the numbers should know."""


class FileDefaults(FileSettings):
    """Settings of all files of a source that do not state their own."""

    mapping: str = ""
    """Name of the mapping of all parts."""


class SourceFile(FileSettings):
    """The answers of one system: one file, or several whose rows are about the same questions."""

    name: Slug
    system: str
    """The system, as the authors name it."""
    version: str | None = None
    """Version of the system; ``None`` if not stated."""
    parts: tuple[FilePart, ...] = Field(min_length=1)
    """Its files. Repetitions stand side by side. Of the others, the first decides which questions are answered, and
    the others add fields."""

    def problem(self) -> str | None:
        """Return what its fields contradict each other in, as a sentence; ``None`` if nothing."""
        if not self.benchmark:
            return "names no benchmark. Add it to the file or to [defaults]."
        if self.planned is None and "@" not in self.benchmark:
            return f"names the benchmark '{self.benchmark}' without a version. Without its key, state 'planned'."
        if self.planned is not None and "@" in self.benchmark:
            return f"states 'planned', but memeval has the key of {self.benchmark}. Leave one of them out."
        if self.planned is not None and self.scale is None:
            return f"needs a 'scale': {', '.join(Scale)}."
        return None


class PublishedSource(Stored):
    """``sources/<name>.toml``: a repository that publishes answers."""

    name: Slug
    """Its name, equal to the name of the file."""
    title: str
    repository: Repository
    commit: Commit | None = None
    """The commit of the files; ``None`` if they were not fetched yet."""
    licence: str | None = None
    """SPDX expression of the licence of the files; ``None`` if the repository has none."""
    looked_at: str
    """The day on which the files were looked at."""
    note: str | None = None
    """What is known about the files, in a sentence or two."""
    mappings: dict[str, RowMapping] = {}
    """The mappings, by name."""
    defaults: FileDefaults = FileDefaults()
    """Settings of all files; a file's own come first."""
    files: tuple[SourceFile, ...] = ()
    """The answers."""

    def problem(self) -> str | None:
        """Return what its fields contradict each other in, as a sentence; ``None`` if nothing."""
        names = [file.name for file in self.files]
        for name in names:
            if names.count(name) > 1:
                return f"two files have the name '{name}'."
        for file in self.files:
            if found := file.problem():
                return f"the file '{file.name}' {found}"
            for part in file.parts:
                if not part.mapping:
                    return f"the file '{file.name}' names no mapping. Add it to the part or to [defaults]."
                if part.mapping not in self.mappings:
                    return f"the file '{file.name}' names the mapping '{part.mapping}', which does not exist."
                if found := self._unscaled(file, part):
                    return found
                if part.path.startswith("/") or ".." in part.path.split("/") or "\\" in part.path:
                    return f"the path '{part.path}' does not lie inside the repository."
        problems = ((name, mapping.problem()) for name, mapping in self.mappings.items())
        return next((f"the mapping '{name}': {problem}" for name, problem in problems if problem), None)

    def _unscaled(self, file: SourceFile, part: FilePart) -> str | None:
        """Return why the scale of a file is that of no field, as a sentence; ``None`` if it is, or there is none."""
        mapping = self.mappings[part.mapping]
        wanted = "verdicts" if file.scale in TWO_VALUED else "scores"
        if file.scale is None or part != file.parts[0] or getattr(mapping, wanted):
            return None
        return f"the file '{file.name}' has the scale '{file.scale}', but '{part.mapping}' maps no '{wanted}'."

    def address(self, part: FilePart) -> str:
        """Return the address that serves the file at the commit."""
        return f"https://raw.githubusercontent.com/{self.repository}/{self.commit or 'HEAD'}/{quote(part.path)}"


def with_defaults(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of a source, with its defaults in every file that does not state its own.

    Data of another form stays as it is, so that the record refuses it.
    """
    defaults, files = data.get("defaults"), data.get("files")
    if not (isinstance(defaults, dict) and isinstance(files, list)):
        return dict(data)
    shared = {name: value for name, value in defaults.items() if name != "mapping"}
    mapping = {"mapping": defaults["mapping"]} if "mapping" in defaults else {}

    def filled(file: Any) -> Any:
        if not isinstance(file, dict):
            return file
        parts = file.get("parts")
        if not isinstance(parts, list):
            return shared | file
        return shared | file | {"parts": [mapping | part if isinstance(part, dict) else part for part in parts]}

    return dict(data) | {"files": [filled(file) for file in files]}
