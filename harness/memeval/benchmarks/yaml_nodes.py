"""Untrusted YAML as a tree with line numbers: limited in size, without anchors, with all problems in one error.

The type of a scalar follows from its spelling, as always in YAML: neither ``yes`` nor ``2024`` is text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
_TAG = "tag:yaml.org,2002:"


class Problems:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._found: list[tuple[int, str]] = []

    def add(self, line: int, sentence: str) -> None:
        self._found.append((line, sentence))

    def check(self) -> None:
        """Raise if there are problems. Raises ``BadInput``: lists all problems, one per line."""
        if not self._found:
            return
        found = sorted(dict.fromkeys(self._found))
        lines = [f"{visible(str(self.path))}:{line}: {sentence}" for line, sentence in found[:LISTED]]
        if len(found) > LISTED:
            lines.append(f"{visible(str(self.path))}: {len(found) - LISTED} more problems.")
        raise BadInput("\n".join(lines))


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


class Entry:
    """A mapping of the file, read key by key. Invalid values are added to the problems and count as absent.

    ``what``: its name in error messages, such as ``recall``.
    """

    def __init__(self, node: yaml.Node, what: str, known: Collection[str], problems: Problems) -> None:
        self.line, self._what, self._problems = line_of(node), what, problems
        self._nodes: dict[str, yaml.Node] = {}
        if not _is(node, "mapping"):
            problems.add(self.line, f"{what}: expected keys with values, not {kind_of(node)}.")
            return
        for name, key, value in _pairs(node, problems):
            if name in known:
                self._nodes[name] = value
                continue
            hint = did_you_mean(name, known, f"Choose one of: {', '.join(known)}.")
            problems.add(line_of(key), f"{what}: unknown key '{visible(name[:QUOTED])}'. {hint}")

    def __contains__(self, key: str) -> bool:
        return key in self._nodes

    def line_of(self, key: str) -> int:
        """Return the line of the value of a key; the line of the mapping if the key is missing."""
        return line_of(self._nodes[key]) if key in self._nodes else self.line

    def problem(self, key: str, sentence: str) -> None:
        self._problems.add(self.line_of(key), f"{self._what}: '{key}' {sentence}")

    def needs(self, *keys: str) -> None:
        """Add a problem for each missing key."""
        for key in keys:
            if not self._has_value(key):
                self._problems.add(self.line, f"{self._what}: '{key}' is missing.")

    def text(self, key: str) -> str:
        return self._text(key, self._nodes[key]) if self._has_value(key) else ""

    def name(self, key: str, default: str) -> str:
        """Return a short name, such as an id."""
        if key not in self._nodes:
            return default
        return self._name(key, self._nodes[key]) or default

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts; empty if there is no list."""
        return tuple(text for node in self._items(key) if (text := self._text(key, node)))

    def names(self, key: str) -> tuple[str, ...]:
        """Return a list of short names without repetitions; empty if there is no list."""
        return tuple(dict.fromkeys(name for node in self._items(key) if (name := self._name(key, node))))

    def entries(self, key: str, known: Collection[str]) -> Iterator[Entry]:
        what = key if self._what == "the suite" else f"{self._what}: {key}"
        return (Entry(node, what, known, self._problems) for node in self._items(key))

    def mixed(self, key: str, known: Collection[str]) -> Iterator[str | Entry]:
        for node in self._items(key):
            if _is(node, "mapping"):
                yield Entry(node, f"{self._what}: {key}", known, self._problems)
            elif text := self._text(key, node):
                yield text

    def truth(self, key: str) -> bool:
        return bool(self._as(key, "bool", lambda value: value.lower() in ("true", "yes", "on"), "true or false"))

    def whole(self, key: str, default: int) -> int:
        found = self._as(key, "int", _whole, "a whole number")
        return default if found is None else int(found)

    def number(self, key: str) -> float | None:
        """Return a finite number, or ``None``."""
        found = self._as(key, ("int", "float"), _number, "a number")
        return None if found is None else float(found)

    def scalar(self, key: str) -> str | int | float | bool | None:
        """Return a short scalar of any type, or ``None``."""
        found = _scalar(self._nodes[key]) if key in self._nodes else None
        return None if isinstance(found, str) and not _NAME.fullmatch(found[: LONGEST_NAME + 1]) else found

    def date(self, key: str) -> str | None:
        """Return a date, or date and time, in ISO 8601, or ``None``."""
        return self._date(key, self._nodes[key]) if self._has_value(key) else None

    def dates(self, key: str) -> list[str | None]:
        """Return a list of dates; ``None`` for each invalid date."""
        return [self._date(key, node) for node in self._items(key)]

    def scalars(self, key: str) -> dict[str, str | int | float | bool]:
        """Return a mapping of texts, numbers, booleans and dates by name."""
        if not self._has_value(key):
            return {}
        node = self._nodes[key]
        if not _is(node, "mapping"):
            self.problem(key, f"must be keys with values, not {kind_of(node)}.")
            return {}
        found: dict[str, str | int | float | bool] = {}
        for name, _, value in _pairs(node, self._problems):
            scalar = _scalar(value) if len(name) <= LONGEST_NAME else None
            if scalar is None:
                sentence = f"{self._what}: '{key}' must have short names with texts, numbers, true or false."
                self._problems.add(line_of(value), sentence)
            else:
                found[name] = scalar
        return found

    def _has_value(self, key: str) -> bool:
        return key in self._nodes and self._nodes[key].tag != f"{_TAG}null"

    def _items(self, key: str) -> list[yaml.Node]:
        if not self._has_value(key):
            return []
        node = self._nodes[key]
        if not _is(node, "sequence"):
            self.problem(key, f"must be a list, not {kind_of(node)}.")
            return []
        items: list[yaml.Node] = node.value
        return items

    def _text(self, key: str, node: yaml.Node) -> str:
        if node.tag != f"{_TAG}str":
            hint = " Put it in quotes." if _is(node, "scalar") else ""
            self._problems.add(line_of(node), f"{self._what}: '{key}' must be text, not {kind_of(node)}.{hint}")
        elif not node.value.strip():
            self._problems.add(line_of(node), f"{self._what}: '{key}' is blank.")
        elif len(node.value) > LONGEST_TEXT:
            self._problems.add(line_of(node), f"{self._what}: '{key}' has more than {LONGEST_TEXT:,} characters.")
        else:
            return str(node.value)
        return ""

    def _name(self, key: str, node: yaml.Node) -> str:
        name = self._text(key, node)
        if not name or (len(name) <= LONGEST_NAME and _NAME.fullmatch(name)):
            return name
        sentence = f"must be a name of at most {LONGEST_NAME} letters, digits and characters such as - and ."
        self._problems.add(line_of(node), f"{self._what}: '{key}' {sentence}")
        return ""

    def _as(self, key: str, tags: str | tuple[str, ...], read: Callable[[str], Any], wanted: str) -> Any:
        if not self._has_value(key):
            return None
        node = self._nodes[key]
        kinds = (tags,) if isinstance(tags, str) else tags
        value = read(node.value) if node.tag in {f"{_TAG}{kind}" for kind in kinds} else None
        if value is None:
            self.problem(key, f"must be {wanted}, not {kind_of(node)}.")
        return value

    def _date(self, key: str, node: yaml.Node) -> str | None:
        date = _iso(node.value) if node.tag in (f"{_TAG}timestamp", f"{_TAG}str") else None
        if date is None:
            sentence = "must be a date such as 2025-01-15 or 2025-01-15T09:00:00Z."
            self._problems.add(line_of(node), f"{self._what}: '{key}' {sentence}")
        return date


def line_of(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _is(node: Any, kind: str) -> bool:
    """Return whether a node is a ``scalar``, a ``sequence`` or a ``mapping``."""
    return bool(node.id == kind)


def kind_of(node: yaml.Node) -> str:
    """Return the type and the value of a node for an error message."""
    if _is(node, "sequence"):
        return "a list"
    if _is(node, "mapping"):
        return "keys with values"
    kind = node.tag.removeprefix(_TAG)
    value = visible(str(node.value)[:QUOTED])
    return {"str": f"the text '{value}'", "null": "nothing", "bool": f"the boolean {value}"}.get(
        kind, f"the {'date' if kind == 'timestamp' else 'number'} {value}"
    )


def _pairs(node: yaml.Node, problems: Problems) -> Iterator[tuple[str, yaml.Node, yaml.Node]]:
    """Yield the distinct keys of a mapping, with their nodes and values."""
    seen: set[str] = set()
    for key, value in node.value:
        if not _is(key, "scalar"):
            problems.add(line_of(key), "a key must be text, not a list or a mapping.")
        elif key.value in seen:
            problems.add(line_of(key), f"the key '{visible(key.value[:QUOTED])}' occurs twice.")
        else:
            seen.add(key.value)
            yield key.value, key, value


def _whole(text: str) -> int | None:
    return int(text) if _WHOLE.fullmatch(text) else None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _scalar(node: yaml.Node) -> str | int | float | bool | None:
    """Return the value of a scalar; ``None`` if it is null, not a scalar, or out of range."""
    match node.tag.removeprefix(_TAG):
        case "str" | "timestamp":
            return str(node.value) if len(node.value) <= LONGEST_TEXT else None
        case "bool":
            return node.value.lower() in ("true", "yes", "on")
        case "int":
            return _whole(node.value)
        case "float":
            return _number(node.value)
        case _:
            return None


def _iso(text: str) -> str | None:
    """Return a date or time in ISO 8601, in UTC if no zone is given; ``None`` if invalid."""
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        return None
    if len(text) <= len("2025-01-15"):
        return parsed.date().isoformat()
    iso = parsed.isoformat()
    return iso.removesuffix("+00:00") + "Z" if iso.endswith("+00:00") or parsed.tzinfo is None else iso
