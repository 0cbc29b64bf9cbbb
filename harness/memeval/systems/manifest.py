"""Reads a ``submission.toml``, and reports all errors at once, each with its line and a remedy."""

from __future__ import annotations

import datetime
import json
import math
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import InitErrorDetails

from memeval.records.base import misfit
from memeval.records.errors import BadInput, NewerSchema
from memeval.records.submission import Submission
from memeval.systems.folder import text_of
from memeval.systems.output import visible
from memeval.systems.rules import broken_rules
from memeval.systems.toml_lines import Keys, lines_of

MANIFEST = "submission.toml"

MANIFEST_BYTES = 64_000
"""The maximum size of a manifest, in bytes."""

FAULT_LIMIT = 50
"""The most errors of one manifest that are reported."""

REMEDIES = {
    "slug": "Use at most 64 lower-case letters and digits, with single hyphens between them.",
    "kind": "Use python, command, http, daemon or mcp.",
    "host": "Write the bare host in lower case, such as api.example.com.",
    "variable": "Use capital letters, digits and underscores, such as ACME_URL.",
    "key": "Use capital letters, digits and underscores, such as ACME_API_KEY.",
    "variables": "Write names in capital letters, digits and underscores, and values in quotes.",
    "notified": 'Write the date in quotes, such as "2026-01-31".',
    "agreed": 'Write the date in quotes, such as "2026-01-31".',
    "parameters": "Use a text, a number, true or false.",
    "variants": "Write a table [variants.NAME] for each, with NAME in lower-case letters, digits and single hyphens.",
}
"""The remedy for an invalid value, by the last key of its path."""


def examined_manifest(manifest: Path) -> tuple[Submission | None, list[BadInput]]:
    """Read a ``submission.toml``, and return it with all its errors.

    Returns:
        The submission, or ``None`` if its fields are invalid; and the errors, empty if there are none.
    """
    try:
        text, data = _read(manifest)
        lines = lines_of(text)
    except BadInput as fault:
        return None, [fault]
    except RecursionError:
        return None, [BadInput("is nested too deeply.", where=manifest)]
    version = data.get("schema_version", 1)
    if isinstance(version, int) and version > 1:
        problem = f"has schema version {version}, and this memeval reads version 1."
        where = _where(manifest, lines, ("schema_version",))
        return None, [NewerSchema(problem, where=where, remedy="Update memeval.")]
    if isinstance(version, int) and version < 1:
        where = _where(manifest, lines, ("schema_version",))
        return None, [BadInput(f"there is no schema version {version}.", where=where, remedy="Write 1.")]
    faults = [
        BadInput(f"'{_dotted(keys)}' is {what}.", where=_where(manifest, lines, keys), remedy=remedy)
        for keys, what, remedy in _invalid_values(data, ())
    ]
    if faults:
        return None, faults[:FAULT_LIMIT]
    try:
        submission = Submission.model_validate_json(json.dumps(data))
    except ValidationError as error:
        return None, [*_misfits(error, data, manifest, lines)][:FAULT_LIMIT]
    return submission, [
        BadInput(violation.problem, where=_where(manifest, lines, violation.keys), remedy=violation.remedy)
        for violation in broken_rules(submission)
    ][:FAULT_LIMIT]


def line_of(manifest: Path, keys: Keys) -> str:
    """Return ``file:line`` of a value of a readable manifest."""
    return _where(manifest, lines_of(text_of(manifest)), keys)


def _read(manifest: Path) -> tuple[str, dict[str, Any]]:
    """Return the text of a manifest, and its data."""
    try:
        size = manifest.stat().st_size
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror}).", where=manifest) from None
    if size > MANIFEST_BYTES:
        raise BadInput(f"has {size} bytes; the limit is {MANIFEST_BYTES}.", where=manifest)
    text = text_of(manifest)
    try:
        return text, tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        number = line[1] if line else text.count("\n") + 1
        remedy = "Correct the line. Texts need quotes."
        raise BadInput(f"not valid TOML: {visible(str(error))}.", where=f"{manifest}:{number}", remedy=remedy) from None
    except ValueError:  # Python refuses numbers of more than 4,300 digits
        raise BadInput("not valid TOML: a number is too long.", where=manifest) from None


def _invalid_values(value: Any, keys: Keys) -> Iterator[tuple[Keys, str, str]]:
    """Yield each TOML value that a record cannot hold: its path, its kind, and the remedy."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _invalid_values(inner, (*keys, key))
    elif isinstance(value, datetime.date | datetime.time):
        yield keys, "a date", "Put it in quotes."
    elif isinstance(value, float) and not math.isfinite(value):
        yield keys, "not a finite number", "Give a number."
    elif isinstance(value, int) and abs(value) >= 2**63:
        yield keys, "too large a number", "Put it in quotes, or use a smaller one."


def _misfits(
    error: ValidationError, data: dict[str, Any], manifest: Path, lines: dict[Keys, int]
) -> Iterator[BadInput]:
    """Yield one error per invalid value, unknown keys first.

    A misspelt required key is reported as unknown, and not as missing too.
    """
    details = error.errors(include_url=False)
    details.sort(key=lambda each: each["type"] != "extra_forbidden")
    reported: set[Keys] = set()
    guessed: set[Keys] = set()
    for each in details:
        keys = tuple(each["loc"])
        missing = each["type"] == "missing"
        if not missing:
            while not _present(data, keys):  # what a union adds to the path
                keys = keys[:-1]
        if keys in reported or (missing and keys in guessed):
            continue
        reported.add(keys)
        detail = InitErrorDetails(
            type=each["type"], loc=tuple(each["loc"]) if missing else keys, input=each["input"], ctx=each.get("ctx", {})
        )
        problem = misfit(Submission, ValidationError.from_exception_data("Submission", [detail]))
        if near := re.search(r"Did you mean '(\w+)'\?$", problem):
            guessed.add((*keys[:-1], near[1]))
        yield BadInput(visible(problem), where=_where(manifest, lines, keys), remedy=_remedy(keys, missing))


def _present(data: Any, keys: Keys) -> bool:
    value = data
    for key in keys:
        inside = key in value if isinstance(value, dict) else isinstance(value, list) and key in range(len(value))
        if not inside:
            return False
        value = value[key]
    return True


def _remedy(keys: Keys, missing: bool) -> str | None:
    if missing:
        return f"Add a line: {keys[-1]} = …"
    if keys[:1] == ("variants",):
        keys = keys[2:] or keys
    return next((REMEDIES[key] for key in reversed(keys) if isinstance(key, str) and key in REMEDIES), None)


def _where(manifest: Path, lines: dict[Keys, int], keys: Keys) -> str:
    """Return ``file:line`` of a value; for a missing value, of the table around it."""
    while keys and keys not in lines:
        keys = keys[:-1]
    return f"{manifest}:{lines[keys]}" if keys else str(manifest)


def _dotted(keys: Keys) -> str:
    return visible(".".join(map(str, keys)))
