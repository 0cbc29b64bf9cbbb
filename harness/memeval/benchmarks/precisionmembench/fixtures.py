"""Reads the three released files: beliefs, search cases and conversations."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from memeval.benchmarks.data import data_folder, file_bytes, refuse_repeats
from memeval.records.base import Digest, RepeatedKey, digest_bytes, digest_of, once_each, validated
from memeval.records.benchmark import BenchmarkInfo
from memeval.records.errors import BadInput

BELIEFS, CASES, CONVERSATIONS = "beliefs", "cases", "conversations"

LARGEST = 4_000_000
"""Largest accepted file, in bytes."""

FOLDER = "fixtures"

USER = "test-user"

LIMIT = 20

_RELEASED = "Use the released file."

R = TypeVar("R", bound=BaseModel)


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


class _Beliefs(_Part):
    entries: tuple[Belief, ...] = Field(min_length=1)


class _Cases(_Part):
    entries: tuple[Case, ...] = Field(min_length=1)


class _Conversations(_Part):
    entries: tuple[Conversation, ...]


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
    """Read the released files. Raises ``BadInput``: a file is missing, unreadable, invalid or not the released one."""
    folder = folder_of(info, path)
    remedy = f"Use the released files: 'memeval data pull {info.name}' downloads them."
    data: dict[str, bytes] = {}
    for source in info.sources:
        file = folder / source.filename
        data[source.name] = file_bytes(file, LARGEST, remedy)
        if digest_bytes(data[source.name]) != source.digest:
            raise BadInput("this is not the released file: its digest differs.", where=file, remedy=remedy)
    return parse(data, {source.name: folder / source.filename for source in info.sources})


def parse(data: Mapping[str, bytes], places: Mapping[str, object]) -> Fixtures:
    """Read the bytes of the files, without a check of their digests.

    Raises ``BadInput``: a file is invalid, repeats an id, or names an unknown belief.
    """
    beliefs = _entries(_Beliefs, data[BELIEFS], places[BELIEFS]).entries
    cases = _entries(_Cases, data[CASES], places[CASES]).entries
    conversations = _entries(_Conversations, data[CONVERSATIONS], places[CONVERSATIONS]).entries
    refuse_repeats((belief.belief_id for belief in beliefs), "the id", places[BELIEFS], _RELEASED)
    refuse_repeats(
        [*(case.case_id for case in cases), *(each.case_id for each in conversations)],
        "the id",
        places[CASES],
        _RELEASED,
    )
    known = {belief.belief_id for belief in beliefs}
    _known((name for belief in beliefs for name in belief.participants), known, places[BELIEFS])
    _known((name for case in cases for name in _named(case.expect)), known, places[CASES])
    for conversation in conversations:
        refuse_repeats((str(turn.number) for turn in conversation.turns), "the id", places[CONVERSATIONS], _RELEASED)
        for turn in conversation.turns:
            _known(_named(turn.expect), known, places[CONVERSATIONS])
            _known([turn.updated.belief_id] if turn.updated else (), known, places[CONVERSATIONS])
            created = [turn.created.belief_id] if turn.created else []
            refuse_repeats([*known, *created], "the id", places[CONVERSATIONS], _RELEASED)
            known.update(created)
    return Fixtures(beliefs, cases, conversations, digest_of({name: digest_bytes(data[name]) for name in sorted(data)}))


def _entries(model: type[R], data: bytes, where: object) -> R:
    try:
        value: Any = json.loads(data, object_pairs_hook=once_each)
    except (RepeatedKey, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise BadInput(f"not valid JSON ({error}).", where=where, remedy=_RELEASED) from None
    if not isinstance(value, list):
        raise BadInput("expected a JSON list.", where=where, remedy=_RELEASED)
    return validated(model, {"entries": value}, where)


def _named(expect: Expectation) -> Iterable[str]:
    for tier in (expect.relevant, expect.pinned, expect.questions):
        yield from (*(tier.only or ()), *tier.include, *tier.exclude)
    yield from expect.noise.surface


def _known(names: Iterable[str], known: set[str], where: object) -> None:
    unknown = next((name for name in names if name not in known), None)
    if unknown is not None:
        raise BadInput(f"no belief has the id {unknown[:64]!r}.", where=where, remedy=_RELEASED)
