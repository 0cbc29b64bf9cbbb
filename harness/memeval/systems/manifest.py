"""Reading a ``submission.toml``: every fault of it at once, each with its line and a remedy."""

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
"""How long a manifest may be."""

FAULT_LIMIT = 50
"""How many faults of one manifest are named."""

REMEDIES = {
    "slug": "Take lower-case letters and digits, with single hyphens between them, 64 at most.",
    "kind": "Take python, command, http, daemon or mcp.",
    "host": "Write the bare host in lower case, such as api.example.com.",
    "variable": "Take capital letters, digits and underscores, such as ACME_URL.",
    "key": "Take capital letters, digits and underscores, such as ACME_API_KEY.",
    "variables": "Names are capital letters, digits and underscores; values are texts in quotes.",
    "notified": 'Write the day in quotes, such as "2026-01-31".',
    "agreed": 'Write the day in quotes, such as "2026-01-31".',
    "parameters": "A parameter is a text, a number, or true or false.",
    "variants": "Name each in a table of its own: [variants.NAME], in lower-case letters, digits and single hyphens.",
}
"""What to do, by the last name of a path."""


def examined_manifest(manifest: Path) -> tuple[Submission | None, list[BadInput]]:
    """Read a ``submission.toml``, and return it with all that is wrong with it.

    Returns:
        The submission, or ``None`` where its fields do not fit; and the faults: none where all is well.
    """
    try:
        text, data = _read(manifest)
        lines = lines_of(text)
    except BadInput as fault:
        return None, [fault]
    except RecursionError:
        return None, [BadInput("is nested too deep.", where=manifest)]
    version = data.get("schema_version", 1)
    if isinstance(version, int) and version > 1:
        sentence = f"has schema version {version}, and this memeval reads version 1."
        where = _where(manifest, lines, ("schema_version",))
        return None, [NewerSchema(sentence, where=where, remedy="Update memeval.")]
    if isinstance(version, int) and version < 1:
        where = _where(manifest, lines, ("schema_version",))
        return None, [BadInput(f"there is no schema version {version}.", where=where, remedy="Write 1.")]
    faults = [
        BadInput(f"'{_dotted(keys)}' is {what}.", where=_where(manifest, lines, keys), remedy=remedy)
        for keys, what, remedy in _unfit_values(data, ())
    ]
    if faults:
        return None, faults[:FAULT_LIMIT]
    try:
        submission = Submission.model_validate_json(json.dumps(data))
    except ValidationError as error:
        return None, [*_misfits(error, data, manifest, lines)][:FAULT_LIMIT]
    return submission, [
        BadInput(broken.problem, where=_where(manifest, lines, broken.keys), remedy=broken.remedy)
        for broken in broken_rules(submission)
    ][:FAULT_LIMIT]


def line_of(manifest: Path, keys: Keys) -> str:
    """Return ``file:line`` of a value of a readable manifest."""
    return _where(manifest, lines_of(text_of(manifest)), keys)


def _read(manifest: Path) -> tuple[str, dict[str, Any]]:
    """Return the text of a manifest, and what it says."""
    try:
        size = manifest.stat().st_size
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror}).", where=manifest) from None
    if size > MANIFEST_BYTES:
        raise BadInput(f"has {size} bytes, and a manifest may have {MANIFEST_BYTES}.", where=manifest)
    text = text_of(manifest)
    try:
        return text, tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        number = line[1] if line else text.count("\n") + 1
        remedy = "Mend the line; text stands in quotes."
        raise BadInput(f"not valid TOML: {visible(str(error))}.", where=f"{manifest}:{number}", remedy=remedy) from None
    except ValueError:  # Python reads no number of more than 4,300 digits
        raise BadInput("not valid TOML: a number is too long.", where=manifest) from None


def _unfit_values(value: Any, keys: Keys) -> Iterator[tuple[Keys, str, str]]:
    """Yield what TOML can say and a record cannot: its path, what it is, and what to do."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _unfit_values(inner, (*keys, key))
    elif isinstance(value, datetime.date | datetime.time):
        yield keys, "a date", "Put it in quotes."
    elif isinstance(value, float) and not math.isfinite(value):
        yield keys, "not a finite number", "Give a number."
    elif isinstance(value, int) and abs(value) >= 2**63:
        yield keys, "too large a number", "Put it in quotes, or give a smaller one."


def _misfits(
    error: ValidationError, data: dict[str, Any], manifest: Path, lines: dict[Keys, int]
) -> Iterator[BadInput]:
    """Yield a sentence for each value that does not fit: unknown keys first, and one a value.

    A key that is missing because it is misspelt is said to be misspelt, and no more.
    """
    details = error.errors(include_url=False)
    details.sort(key=lambda each: each["type"] != "extra_forbidden")
    said: set[Keys] = set()
    guessed: set[Keys] = set()
    for each in details:
        keys = tuple(each["loc"])
        missing = each["type"] == "missing"
        if not missing:
            while not _present(data, keys):  # what a union adds to the path
                keys = keys[:-1]
        if keys in said or (missing and keys in guessed):
            continue
        said.add(keys)
        detail = InitErrorDetails(
            type=each["type"], loc=tuple(each["loc"]) if missing else keys, input=each["input"], ctx=each.get("ctx", {})
        )
        problem = misfit(Submission, ValidationError.from_exception_data("Submission", [detail]))
        if near := re.search(r"Did you mean '(\w+)'\?$", problem):
            guessed.add((*keys[:-1], near[1]))
        yield BadInput(visible(problem), where=_where(manifest, lines, keys), remedy=_remedy(keys, missing))


def _present(data: Any, keys: Keys) -> bool:
    here = data
    for key in keys:
        inside = key in here if isinstance(here, dict) else isinstance(here, list) and key in range(len(here))
        if not inside:
            return False
        here = here[key]
    return True


def _remedy(keys: Keys, missing: bool) -> str | None:
    if missing:
        return f"Add a line: {keys[-1]} = …"
    if keys[:1] == ("variants",):
        keys = keys[2:] or keys
    return next((REMEDIES[key] for key in reversed(keys) if isinstance(key, str) and key in REMEDIES), None)


def _where(manifest: Path, lines: dict[Keys, int], keys: Keys) -> str:
    """Return ``file:line`` of a value, or of the nearest table around it that stands in the file."""
    while keys and keys not in lines:
        keys = keys[:-1]
    return f"{manifest}:{lines[keys]}" if keys else str(manifest)


def _dotted(keys: Keys) -> str:
    return visible(".".join(map(str, keys)))
