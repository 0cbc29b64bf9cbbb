"""Request settings: the same for every model, except for families of models that refuse some of them."""

import os
import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import Field, JsonValue, ValidationInfo, field_validator

from memeval.records.base import Record, canonical_json
from memeval.records.errors import BadInput
from memeval.toml import parse_toml

VARIABLE = "MEMEVAL_MODEL_SETTINGS"
"""The environment variable that names a TOML file of the user's families. They take precedence over memeval's."""

NAMED = re.compile(r"\b(max_tokens|max_completion_tokens|temperature|random_seed|seed|reasoning_effort)\b")
"""Finds a setting that memeval sends in an endpoint's message."""

LIMIT_NAMES = ("max_tokens", "max_completion_tokens")

_NO_SETTINGS = frozenset({"model", "messages", "stream", "n"})
"""Fields of a request that no family may change."""


class Family(Record):
    """Models that need other settings than the usual ones."""

    name: str
    models: str
    """Regular expression for the whole name of a model."""
    host: str | None = None
    """The family applies only at endpoints on this host; a first ``*.`` stands for any subdomains, and ``None`` for
    every endpoint."""
    rename: dict[str, str] = {}
    remove: tuple[str, ...] = ()
    set: dict[str, JsonValue] = {}
    more_tokens: int = Field(default=0, ge=0)
    """Tokens added to the output limit, since reasoning tokens count as output."""
    source: str = ""
    note: str = ""

    @field_validator("models")
    @classmethod
    def _compiles(cls, pattern: str) -> str:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"not a regular expression ({error})") from None
        return pattern

    @field_validator("rename", "remove", "set")
    @classmethod
    def _leaves_the_request(cls, fields: Any, info: ValidationInfo) -> Any:
        names = {*fields, *(fields.values() if info.field_name == "rename" else ())}
        if changed := sorted(_NO_SETTINGS & names):
            raise ValueError(f"a family may not change '{changed[0]}'")
        return fields

    def covers(self, model: str, url: str) -> bool:
        return (self.host is None or fnmatchcase(urlsplit(url).hostname or "", self.host)) and re.fullmatch(
            self.models, model
        ) is not None

    def changed(self, usual: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        kept = {name: value for name, value in usual.items() if name not in self.remove}
        for name in LIMIT_NAMES:
            if isinstance(limit := kept.get(name), int):
                kept[name] = limit + self.more_tokens
        return {self.rename.get(name, name): value for name, value in kept.items()} | self.set


class _Families(Record):
    family: tuple[Family, ...] = ()


def families() -> tuple[Family, ...]:
    """Return the user's families, and then memeval's. Raises BadInput: the user's file of families cannot be read."""
    named = os.environ.get(VARIABLE, "").strip()
    return (*(read_families(Path(named)) if named else ()), *_shipped())


def settings_for(
    model: str, url: str, usual: Mapping[str, JsonValue], among: Iterable[Family] | None = None
) -> dict[str, JsonValue]:
    """Return the request settings of a model.

    ``among``: the families; ``None`` for :func:`families`, and its errors.
    """
    family = next((each for each in (families() if among is None else among) if each.covers(model, url)), None)
    return dict(usual) if family is None else family.changed(usual)


def settings_text(settings: Mapping[str, JsonValue], usual: Mapping[str, JsonValue]) -> str | None:
    """Return settings as stored with a run and hashed into its track; ``None`` for the usual ones."""
    return None if settings == usual else canonical_json(dict(settings))


def read_families(path: Path) -> tuple[Family, ...]:
    """Return the families in a TOML file, in order. Raises BadInput: the file cannot be read, or has another form."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadInput(
            f"the model settings cannot be read ({error.strerror}).",
            where=path,
            remedy=f"Correct the path in {VARIABLE}.",
        ) from None
    return _families(content, path)


@cache
def _shipped() -> tuple[Family, ...]:
    name = "families.toml"
    return _families(resources.files("memeval.gateway").joinpath(name).read_bytes(), name)


def _families(content: bytes, where: object) -> tuple[Family, ...]:
    return parse_toml(content, where).record(_Families).family
