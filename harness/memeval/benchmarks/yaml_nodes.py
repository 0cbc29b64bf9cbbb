"""Untrusted YAML as plain values with line numbers: limited in size, without anchors, with all problems in one error.

The type of a scalar follows from its spelling, as always in YAML: neither ``yes`` nor ``2024`` is text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from memeval.records.base import EXPECTED
from memeval.records.errors import BadInput, did_you_mean
from memeval.systems.channel import visible

if TYPE_CHECKING:
    import yaml

BYTES = 8_000_000
"""Largest accepted file, in bytes."""

DEPTH = 8
"""Maximum nesting of lists and mappings."""

LONGEST_TEXT = 100_000
"""Maximum length of a text, in characters."""

LONGEST_NAME = 64
"""Maximum length of a name (id, bank, tag, category), in characters."""

LISTED = 50
"""Maximum number of problems in the message; the others are counted."""

QUOTED = 40

_NAME = re.compile(r"[^\W_][\w.@+-]*(?:[ :/][\w.@+-]+)*")
_WHOLE = re.compile(r"[+-]?\d{1,15}")
_OWN = "own"

Place = tuple[int | str, ...]
"""Where a value is: keys and indices, from the top."""

R = TypeVar("R", bound=BaseModel)


def misfit(sentence: str) -> PydanticCustomError:
    """Return the error of a validator: what a value must be, without the name of its key."""
    return PydanticCustomError(_OWN, "{sentence}", {"sentence": sentence})


def _text(text: str) -> str:
    if not text.strip():
        raise misfit("is blank.")
    if len(text) > LONGEST_TEXT:
        raise misfit(f"has more than {LONGEST_TEXT:,} characters.")
    return text


def _name(text: str) -> str:
    if not (len(text) <= LONGEST_NAME and _NAME.fullmatch(text)):
        raise misfit(f"must be a name of at most {LONGEST_NAME} letters, digits and characters such as - and .")
    return text


def _date(value: Any) -> str:
    """Return a date or time in ISO 8601, in UTC if no zone is given."""
    with suppress(TypeError, ValueError):
        moment = datetime.fromisoformat(value)
        if len(value) <= len("2025-01-15"):
            return moment.date().isoformat()
        iso = moment.isoformat()
        return iso.removesuffix("+00:00") + "Z" if iso.endswith("+00:00") or moment.tzinfo is None else iso
    raise misfit("must be a date such as 2025-01-15 or 2025-01-15T09:00:00Z.")


def _scalars(value: Any) -> Any:
    short = isinstance(value, dict) and all(
        len(name) <= LONGEST_NAME and isinstance(each, str | int | float) and len(str(each)) <= LONGEST_TEXT
        for name, each in value.items()
    )
    if isinstance(value, dict) and not short:
        raise misfit("must have short names with texts, numbers, true or false.")
    return value


def _version(value: Any) -> str | int:
    if isinstance(value, bool | float) or not (isinstance(value, int) or _NAME.match(str(value))):
        raise misfit("must be a whole number or text.")
    return value  # type: ignore[no-any-return]


Text = Annotated[str, AfterValidator(_text)]
Name = Annotated[str, AfterValidator(_text), AfterValidator(_name)]
Date = Annotated[str, BeforeValidator(_date)]
Scalars = Annotated[dict[str, Any], BeforeValidator(_scalars)]
Version = Annotated[str | int, BeforeValidator(_version)]


class Part(BaseModel):
    """A mapping of a file. A key without a value is absent."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)


class Document:
    """The values of a file with their lines. Problems are collected, and refused together."""

    def __init__(self, path: Path, data: bytes) -> None:
        self.path = path
        self._lines: dict[Place, int] = {}
        self._problems: list[tuple[int, str]] = []
        self._value = self._plain(compose(path, data), ())

    def fitted(self, model: type[R], parts: Mapping[str, type[BaseModel]]) -> R:
        """Return the values as a record. Raises ``BadInput``: lists all that does not fit.

        ``parts``: the record of each mapping by its name in messages.
        """
        try:
            found = model.model_validate(self._value)
        except ValidationError as error:
            for each in error.errors(include_url=False):
                self._add_misfit(each, parts)
        self.check()
        return found

    def line(self, place: Place) -> int:
        """Return the line of a value; that of the mapping if it is missing."""
        while place and place not in self._lines:
            place = place[:-1]
        return self._lines[place]

    def add(self, place: Place, sentence: str) -> None:
        """Add a problem of a key. ``sentence``: what is wrong, without its name."""
        *above, key = [part for part in place if isinstance(part, str)]
        self._problems.append((self.line(place), f"{': '.join(above) or 'the suite'}: '{key}' {sentence}"))

    def check(self) -> None:
        """Raise if there are problems. Raises ``BadInput``: lists all problems, one per line."""
        if not self._problems:
            return
        found = sorted(dict.fromkeys(self._problems))
        lines = [f"{visible(str(self.path))}:{line}: {sentence}" for line, sentence in found[:LISTED]]
        if len(found) > LISTED:
            lines.append(f"{visible(str(self.path))}: {len(found) - LISTED} more problems.")
        raise BadInput("\n".join(lines))

    def _add_misfit(self, each: ErrorDetails, parts: Mapping[str, type[BaseModel]]) -> None:
        place: Place = each["loc"]
        above = ": ".join(part for part in place[:-1] if isinstance(part, str)) or "the suite"
        expected = "keys with values" if each["type"].startswith(("model", "dict")) else EXPECTED.get(each["type"])
        if not place:
            self._problems.append((self.line(place), f"the suite must be {expected}, not {kind_of(each['input'])}."))
        elif each["type"] == "extra_forbidden":
            name, known = str(place[-1]), parts[above].model_fields
            hint = did_you_mean(name, known, f"Choose one of: {', '.join(known)}.")
            self._problems.append((self.line(place), f"{above}: unknown key '{visible(name[:QUOTED])}'. {hint}"))
        elif each["type"] == "missing":
            self.add(place, "is missing.")
        elif each["type"] == _OWN:
            self.add(place, each["msg"])
        elif expected is None:
            self.add(place, f"is not valid: {each['msg']}.")
        else:
            quotes = " Put it in quotes." if expected == "text" and isinstance(each["input"], int | float) else ""
            self.add(place, f"must be {expected}, not {kind_of(each['input'])}.{quotes}")

    def _plain(self, node: Any, place: Place) -> Any:
        self._lines[place] = node.start_mark.line + 1
        if node.id == "sequence":
            return [self._plain(each, (*place, number)) for number, each in enumerate(node.value)]
        if node.id != "mapping":
            return _scalar(node)
        found: dict[str, Any] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if key.id != "scalar":
                self._problems.append((line, "a key must be text, not a list or a mapping."))
            elif key.value in found:
                self._problems.append((line, f"the key '{visible(key.value[:QUOTED])}' occurs twice."))
            else:
                found[key.value] = self._plain(value, (*place, key.value))
                self._lines[*place, key.value] = line if value.id == "scalar" else value.start_mark.line + 1
        return {name: value for name, value in found.items() if value is not None}


def compose(path: Path, data: bytes) -> yaml.Node:
    """Return the single document of a file as a tree of nodes.

    ``path``: the file, for error messages. Raises ``BadInput``: the file is too large, nested too deeply, not UTF-8,
    not YAML or empty, or has several documents, anchors or tags.
    """
    import yaml

    check_size(path, len(data))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise BadInput("the file is not UTF-8 text.", where=f"{path}:{line}", remedy="Save it as UTF-8.") from None
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _check_events(path, yaml.parse(text, Loader=loader))
        root = yaml.compose(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = path if mark is None else f"{path}:{mark.line + 1}"
        raise BadInput(f"not valid YAML ({visible(error.problem or error.context or '')}).", where=where) from None
    except yaml.YAMLError as error:
        raise BadInput(f"not valid YAML ({visible(' '.join(str(error).split())[:200])}).", where=path) from None
    if root is None:
        raise BadInput("the file is empty.", where=path, remedy="Add its keys and values.")
    return root


def check_size(path: Path, size: int) -> None:
    """Refuse a file that is too large.

    Raises ``BadInput``: the file is too large.
    """
    if size > BYTES:
        raise BadInput(
            f"the file has {size:,} bytes; the limit for YAML is {BYTES:,}.", where=path, remedy="Split the file."
        )


def _check_events(path: Path, events: Iterator[Any]) -> None:
    """Refuse anchors and aliases (a small file could expand to a huge tree), tags, and deep nesting."""
    import yaml

    depth = 0
    for event in events:
        where = f"{path}:{event.start_mark.line + 1}" if event.start_mark else str(path)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise BadInput("anchors (&) and aliases (*) are not supported.", where=where, remedy="Repeat the text.")
        if getattr(event, "tag", None) is not None:
            raise BadInput("tags (!) are not supported.", where=where, remedy="Remove the tag.")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEPTH:
            raise BadInput(f"lists and mappings are nested more than {DEPTH} deep.", where=where)


def kind_of(value: Any) -> str:
    """Return the type and the value of a plain value for an error message."""
    if isinstance(value, str):
        return f"the text '{visible(value[:QUOTED])}'"
    kinds = {list: "a list", dict: "keys with values", type(None): "nothing", bool: f"the boolean {str(value).lower()}"}
    return kinds.get(type(value), f"the number {value}")


def _scalar(node: yaml.Node) -> str | int | float | bool | None:
    """Return the value of a scalar; the text as written if it is a date, or a number that is out of range."""
    text = str(node.value)
    match node.tag.rpartition(":")[2]:
        case "null":
            return None
        case "bool":
            return text.lower() in ("true", "yes", "on")
        case "int" if _WHOLE.fullmatch(text):
            return int(text)
        case "float":
            with suppress(ValueError):
                return float(text) if math.isfinite(float(text)) else text
    return text
