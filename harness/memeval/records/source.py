"""A source: files of answers made elsewhere, and how their fields map to a benchmark's items. Data, not code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated

from pydantic import Field, StringConstraints

from memeval.records.base import Digest, Record, Slug, Stored

Commit = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
"""A full Git commit."""

Repository = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9._-]+$")]
"""A repository on GitHub, ``owner/name``."""


class FieldPlace(Record):
    """Where one value of a row is, and which part of it counts."""

    path: str | None = None
    """JSONPath of the value inside the row, such as ``score.correct``."""
    key: int | None = None
    """Instead: place in the path of the row itself, from 0, such as the name of its list."""
    pattern: str | None = None
    """A regular expression that must match somewhere; its group is the value. ``None``: the whole value."""
    written: str = "{}"
    """How the value is written afterwards; ``{}`` stands for it."""

    def problem(self) -> str | None:
        """Return why it names no place, as a sentence; ``None`` if it does."""
        if (self.path is None) == (self.key is None):
            return "a field needs either 'path' or 'key'."
        try:
            groups = 1 if self.pattern is None else re.compile(self.pattern).groups
        except re.error as error:
            return f"'{self.pattern}' is not a regular expression: {error}."
        return None if groups == 1 else f"'{self.pattern}' must have exactly one group, the part to keep."


RowField = Annotated[str | FieldPlace, Field(union_mode="left_to_right")]
"""A JSONPath inside the row, or a table with more detail."""


class RowMapping(Record):
    """How the rows of a file map to items. Every field except ``rows`` is optional."""

    rows: str
    """JSONPath of the rows, such as ``$.*[*]``. A file of JSON lines is one list: ``$[*]``."""
    where: dict[str, str] = {}
    """Values that a row must have, by JSONPath; other rows are not part of the file's answers."""
    item: RowField | None = None
    """The benchmark's id of the question."""
    scenario: RowField | None = None
    """The conversation: its id, or its number from 0 in the benchmark's order."""
    question: RowField | None = None
    """The text of the question."""
    gold: RowField | None = None
    """The reference answer."""
    trial: RowField | None = None
    """Number of the repetition, if questions are asked several times."""
    answer: RowField | None = None
    """The system's answer."""
    verdicts: dict[str, RowField] = {}
    """Verdicts of judges, by name."""
    scores: dict[str, RowField] = {}
    """Other scores of the row, by name, as the file gives them."""
    retrieved: RowField | None = None
    """Ids of the retrieved sessions or turns, best first: a list, or a JSONPath with several values."""
    evidence: RowField | None = None
    """Ids of the evidence, as the file gives them, in the same form."""
    prompt_tokens: RowField | None = None
    """Tokens sent to models for the answer."""
    completion_tokens: RowField | None = None
    """Tokens received from models for the answer."""
    context_tokens: RowField | None = None
    """Tokens of context."""
    seconds: RowField | None = None
    """Seconds for the answer."""
    milliseconds: RowField | None = None
    """Milliseconds for the answer, instead of ``seconds``."""
    cost_usd: RowField | None = None
    """Dollars for the answer."""

    def places(self) -> Iterator[FieldPlace]:
        """Yield the places that have more detail than a path."""
        for _name, value in self:
            for place in value.values() if isinstance(value, dict) else (value,):
                if isinstance(place, FieldPlace):
                    yield place


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
    """Its name in paths."""
    system: str
    """The system, as the authors name it."""
    version: str | None = None
    """Version of the system; ``None`` if not stated."""
    benchmark: str
    """Id of the benchmark."""
    protocol: str | None = None
    """Protocol; ``None`` for the benchmark's default."""
    tier: str | None = None
    """Tier; ``None`` for the benchmark's default."""
    answer_model: str | None = None
    """The model that wrote the answers; ``None`` if not stated."""
    judges: dict[str, str] = {}
    """Who judged, by the name of the verdict."""
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
    """The name that people use."""
    repository: Repository
    """Where it is."""
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
        places = (place for mapping in self.mappings.values() for place in mapping.places())
        return next((found for place in places if (found := place.problem())), None)

    def address(self, part: FilePart) -> str:
        """Return the address that serves the file at the commit."""
        return f"https://raw.githubusercontent.com/{self.repository}/{self.commit or 'HEAD'}/{part.path}"
