"""A source: files of answers made elsewhere, and how their fields map to a benchmark's items. Data, not code."""

from typing import Annotated

from pydantic import Field, StringConstraints

from memeval.records.base import Digest, Record, Slug, Stored
from memeval.records.mapping import RowMapping

Commit = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
"""A full Git commit."""

Repository = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9._-]+$")]
"""A repository on GitHub, ``owner/name``."""


class FilePart(Record):
    """One published file with the rows of an entry."""

    path: str
    """Path inside the repository."""
    digest: Digest | None = None
    """Digest of its bytes, uncompressed if the path ends in ``.gz``; ``None`` if it was not fetched yet."""
    mapping: str
    """Name of the mapping."""
    trial: int | None = None
    """Number of the repetition, from 0, if each file has one repetition of the same questions."""


class SourceFile(Record):
    """The answers of one system: one file, or several whose rows are about the same questions."""

    name: Slug
    system: str
    """The system, as the authors name it."""
    version: str | None = None
    """Version of the system; ``None`` if not stated."""
    benchmark: str
    protocol: str | None = None
    """Protocol; ``None`` for the benchmark's default."""
    tier: str | None = None
    """Tier; ``None`` for the benchmark's default."""
    answer_model: str | None = None
    judges: dict[str, str] = {}
    group: Slug | None = None
    """Files of one group were made by the same pipeline and answer model, so they can be ranked among themselves."""
    note: str | None = None
    """What readers of the numbers should know."""
    parts: tuple[FilePart, ...] = Field(min_length=1)
    """Its files. Repetitions stand side by side. Of the others, the first decides which questions are answered, and
    the others add fields."""


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
    files: tuple[SourceFile, ...] = ()
    """The answers."""

    def problem(self) -> str | None:
        """Return what its fields contradict each other in, as a sentence; ``None`` if nothing."""
        names = [file.name for file in self.files]
        for name in names:
            if names.count(name) > 1:
                return f"two files have the name '{name}'."
        for file in self.files:
            for part in file.parts:
                if part.mapping not in self.mappings:
                    return f"the file '{file.name}' names the mapping '{part.mapping}', which does not exist."
                if part.path.startswith("/") or ".." in part.path.split("/") or "\\" in part.path:
                    return f"the path '{part.path}' does not lie inside the repository."
        problems = ((name, mapping.problem()) for name, mapping in self.mappings.items())
        return next((f"the mapping '{name}': {problem}" for name, problem in problems if problem), None)

    def address(self, part: FilePart) -> str:
        """Return the address that serves the file at the commit."""
        return f"https://raw.githubusercontent.com/{self.repository}/{self.commit or 'HEAD'}/{part.path}"
