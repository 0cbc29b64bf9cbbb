"""A source: files of answers made elsewhere, and how their fields map to a benchmark's items. Data, not code."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from memeval.records.base import Digest, Record, Slug, Stored

Commit = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
"""A full Git commit."""

Repository = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9._-]+$")]
"""A repository on GitHub, ``owner/name``."""

LONGEST_PATTERN = 200


def _pattern(text: str) -> str:
    try:
        groups = re.compile(text).groups
    except re.error as error:
        raise ValueError(f"is not a regular expression: {error}") from None
    if groups != 1:
        raise ValueError("must have exactly one group, the part to keep")
    return text


def _inside(path: str) -> str:
    if path.startswith("/") or ".." in path.split("/") or "\\" in path:
        raise ValueError("must be a path inside the repository")
    return path


Pattern = Annotated[str, StringConstraints(max_length=LONGEST_PATTERN), AfterValidator(_pattern)]
"""A regular expression with one group."""

FilePath = Annotated[str, StringConstraints(min_length=1, max_length=300), AfterValidator(_inside)]
"""A path inside a repository."""


class FieldPlace(Record):
    """Where one value of a row is, and which part of it counts."""

    path: str | None = None
    """JSONPath of the value inside the row, such as ``score.correct``."""
    key: int | None = None
    """Instead: place in the path of the row itself, from 0, such as the name of its list."""
    pattern: Pattern | None = None
    """A regular expression that must match somewhere; its group is the value. ``None``: the whole value."""
    written: str = "{}"
    """How the value is written afterwards; ``{}`` stands for it."""

    @model_validator(mode="after")
    def _one_place(self) -> FieldPlace:
        if (self.path is None) == (self.key is None):
            raise ValueError("needs either path or key")
        return self


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


class FilePart(Record):
    """One published file with the rows of an entry."""

    path: FilePath
    """Path inside the repository."""
    digest: Digest | None = None
    """Digest of its bytes; ``None`` if it was not fetched yet."""
    mapping: str
    """Name of the mapping."""


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
    """Its files. The first one decides which questions are answered; the others add fields."""


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

    @model_validator(mode="after")
    def _names(self) -> PublishedSource:
        names = [file.name for file in self.files]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"has two files named '{name}'")
        for file in self.files:
            for part in file.parts:
                if part.mapping not in self.mappings:
                    raise ValueError(f"has no mapping '{part.mapping}', which the file '{file.name}' uses")
        return self

    def address(self, part: FilePart) -> str:
        """Return the address that serves the file at the commit."""
        return f"https://raw.githubusercontent.com/{self.repository}/{self.commit or 'HEAD'}/{part.path}"
