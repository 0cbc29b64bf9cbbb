"""Reads the three released files: beliefs, search cases and conversations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from memeval.benchmarks.data import data_folder, released_bytes
from memeval.records.base import Digest, digest_bytes, digest_of
from memeval.records.benchmark import BenchmarkInfo

BELIEFS, CASES, CONVERSATIONS = "beliefs", "cases", "conversations"

FOLDER = "fixtures"

USER = "test-user"

LIMIT = 20


class _Part(BaseModel):
    """A part of a file. Fields that memeval does not use are ignored."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


class Belief(_Part):
    belief_id: str = Field(alias="_id", min_length=1)
    user_id: str = Field(min_length=1)
    type: str
    canonical_name: str
    aliases: tuple[str, ...] = ()
    content: str
    why_it_matters: str = ""
    scope: tuple[str, ...] = Field(min_length=1)
    pinned: bool
    superseded_by: str | None = None
    resolved_at: str | None = None
    participants: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        parts = (self.canonical_name, *self.aliases, self.content, self.why_it_matters)
        return " ".join(part for part in parts if part)

    @property
    def is_question(self) -> bool:
        return self.type == "open_question"

    def is_seen(self, user: str, scope: Iterable[str]) -> bool:
        return self.user_id == user and not set(self.scope).isdisjoint(scope)

    def with_aliases(self, added: Iterable[str]) -> Belief:
        """Return the belief with more aliases: trimmed, in lower case, each once."""
        names = dict.fromkeys(alias.strip().lower() for alias in (*self.aliases, *added))
        return self.model_copy(update={"aliases": tuple(name for name in names if name)})


class _ExpectedSet(_Part):
    only: tuple[str, ...] | None = Field(default=None, alias="shouldOnlyInclude")
    include: tuple[str, ...] = Field(default=(), alias="mustInclude")
    exclude: tuple[str, ...] = Field(default=(), alias="mustExclude")


class _Noise(_Part):
    surface: tuple[str, ...] = Field(default=(), alias="mustNotSurface")


class Expectation(_Part):
    relevant: _ExpectedSet = Field(default=_ExpectedSet(), alias="relevantBeliefs")
    pinned: _ExpectedSet = Field(default=_ExpectedSet(), alias="pinnedFacts")
    questions: _ExpectedSet = Field(default=_ExpectedSet(), alias="openQuestions")
    noise: _Noise = Field(default=_Noise(), alias="noiseCheck")


class _Budget(_Part):
    beliefs: int | None = Field(default=None, alias="maxBeliefs", ge=0)


class Case(_Part):
    case_id: str = Field(alias="caseId", min_length=1)
    category: str
    description: str
    scope: tuple[str, ...] = Field(min_length=1)
    query: str
    user: str = Field(default=USER, alias="userId")
    budget: _Budget = _Budget()
    expect: Expectation

    @property
    def limit(self) -> int:
        return LIMIT if self.budget.beliefs is None else self.budget.beliefs

    @property
    def is_sent(self) -> bool:
        """Whether the authors' code sends the search: neither the query nor the budget is empty."""
        return bool(self.query.strip() and self.limit)


class Update(_Part):
    belief_id: str = Field(alias="beliefId")
    aliases: tuple[str, ...] = Field(alias="addAliases")


class ConversationTurn(_Part):
    number: int = Field(alias="turnIndex", ge=0)
    label: str
    scope: tuple[str, ...] = Field(min_length=1)
    query: str = Field(alias="userMessage", min_length=1)
    expect: Expectation
    created: Belief | None = Field(default=None, alias="createBeliefAtTurn")
    updated: Update | None = Field(default=None, alias="updateBeliefAtTurn")


class Conversation(_Part):
    case_id: str = Field(alias="caseId", min_length=1)
    turns: tuple[ConversationTurn, ...] = Field(min_length=1)


@dataclass(frozen=True)
class Fixtures:
    beliefs: tuple[Belief, ...]
    cases: tuple[Case, ...]
    conversations: tuple[Conversation, ...]
    digest: Digest


def folder_of(info: BenchmarkInfo, path: Path | None) -> Path:
    """Return the folder with the files, or where they should be.

    ``path``: the folder, a copy of the authors' repository, or a folder of all benchmark data; ``None`` for memeval's
    own data folder.
    """
    first = data_folder() / info.name if path is None else path
    name = info.sources[0].filename
    places = (first, first / FOLDER, first / info.name, first / info.name / FOLDER)
    return next((place for place in places if (place / name).is_file()), first)


def read(info: BenchmarkInfo, path: Path | None) -> Fixtures:
    """Read the released files. Raises ``BadInput``: a file is missing, unreadable or not the released one."""
    folder = folder_of(info, path)
    return parse({each.name: released_bytes(folder / each.filename, info.name, each) for each in info.sources})


def parse(data: Mapping[str, bytes]) -> Fixtures:
    return Fixtures(
        beliefs=TypeAdapter(tuple[Belief, ...]).validate_json(data[BELIEFS]),
        cases=TypeAdapter(tuple[Case, ...]).validate_json(data[CASES]),
        conversations=TypeAdapter(tuple[Conversation, ...]).validate_json(data[CONVERSATIONS]),
        digest=digest_of({name: digest_bytes(data[name]) for name in sorted(data)}),
    )
