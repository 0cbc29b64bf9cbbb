"""Reads a ``submission.toml``, and reports all errors at once, each with its line and a remedy."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from memeval.records.base import misfit
from memeval.records.errors import BadInput, NewerSchema
from memeval.records.submission import Submission
from memeval.systems.channel import visible
from memeval.systems.rules import broken_rules
from memeval.toml import Keys, Toml, read_toml

MANIFEST = "submission.toml"

MANIFEST_BYTES = 64_000

FAULT_LIMIT = 50

REMEDIES = {
    "slug": "Use at most 64 lower-case letters and digits, with single hyphens between them.",
    "kind": "Use python, command, http, daemon or mcp.",
    "host": "Write the bare host in lower case, such as api.example.com.",
    "variable": "Use capital letters, digits and underscores, such as ACME_URL.",
    "key": "Use capital letters, digits and underscores, such as ACME_API_KEY.",
    "variables": "Write names in capital letters, digits and underscores, and values in quotes.",
    "licence_digest": "Write sha256: and the 64 hexadecimal digits of the licence file's SHA-256.",
    "replaced": 'Write a list of phrases, such as ["the LLM, by a scripted model"].',
    "caveats": 'Write a list of phrases, such as ["deleted memories stay in its history"].',
    "notified": 'Write the date in quotes, such as "2026-01-31".',
    "agreed": 'Write the date in quotes, such as "2026-01-31".',
    "parameters": "Use a text, a number, true or false.",
    "variants": "Write a table [variants.NAME] for each, with NAME in lower-case letters, digits and single hyphens.",
}
"""The remedy for an invalid value, by the last key of its path."""


def examined_manifest(manifest: Path) -> tuple[Submission | None, list[BadInput]]:
    """Read a ``submission.toml``, and return it with all its errors.

    Returns: The submission, or ``None`` if its fields are invalid; and the errors, empty if there are none.
    """
    try:
        toml = read_toml(manifest, MANIFEST_BYTES)
        return _examined(toml)
    except BadInput as fault:
        return None, [fault]
    except RecursionError:
        return None, [BadInput("is nested too deeply.", where=manifest)]


def line_of(manifest: Path, keys: Keys) -> str:
    """Return ``file:line`` of a value of a readable manifest."""
    return read_toml(manifest, MANIFEST_BYTES).place(*keys)


def _examined(toml: Toml) -> tuple[Submission | None, list[BadInput]]:
    version = toml.data.get("schema_version", 1)
    if isinstance(version, int) and version < 1:
        where = toml.place("schema_version")
        return None, [BadInput(f"there is no schema version {version}.", where=where, remedy="Write 1.")]
    if isinstance(version, int) and version > 1:
        problem = f"has schema version {version}, and this memeval reads version 1."
        return None, [NewerSchema(problem, where=toml.place("schema_version"), remedy="Update memeval.")]
    if faults := toml.unsuitable():
        return None, faults[:FAULT_LIMIT]
    try:
        submission = Submission.model_validate_json(json.dumps(toml.data))
    except ValidationError as error:
        return None, [*_misfits(error, toml)][:FAULT_LIMIT]
    violations = [
        BadInput(violation.problem, where=toml.place(*violation.keys), remedy=violation.remedy)
        for violation in broken_rules(submission)
    ]
    return submission, violations[:FAULT_LIMIT]


def _misfits(error: ValidationError, toml: Toml) -> Iterator[BadInput]:
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
            while not toml.has(keys):  # what a union adds to the path
                keys = keys[:-1]
        if keys in reported or (missing and keys in guessed):
            continue
        reported.add(keys)
        told = PydanticCustomError(each["type"], "{told}", {"told": each["msg"]})
        detail = InitErrorDetails(type=told, loc=tuple(each["loc"]) if missing else keys, input=each["input"])
        problem = misfit(Submission, ValidationError.from_exception_data("Submission", [detail]))
        if near := re.search(r"Did you mean '(\w+)'\?$", problem):
            guessed.add((*keys[:-1], near[1]))
        yield BadInput(visible(problem), where=toml.place(*keys), remedy=_remedy(keys, missing))


def _remedy(keys: Keys, missing: bool) -> str | None:
    if missing:
        return f"Add a line: {keys[-1]} = …"
    if keys[:1] == ("variants",):
        keys = keys[2:] or keys
    return next((REMEDIES[key] for key in reversed(keys) if isinstance(key, str) and key in REMEDIES), None)
