"""JSON Schemas of the records, with the docstring below each field as its description.

Pydantic can read those docstrings at class creation (``use_attribute_docstrings``). It then parses the source of every
record at every start, a tenth of the time of a short run. Only an exported schema needs them.
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import sys
from collections.abc import Iterator
from typing import Any, Literal

from memeval.records.base import Record, subclasses


def json_schema(model: type[Record], mode: Literal["validation", "serialization"] = "serialization") -> dict[str, Any]:
    """Return the JSON Schema of a record.

    Args:
        mode: ``validation`` for files that people write, ``serialization`` for files that memeval writes.
    """
    schema: dict[str, Any] = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    schema |= model.model_json_schema(mode=mode)
    known = {each.__name__: each for each in (*subclasses(Record), model)}
    for name, part in {model.__name__: schema, **schema.get("$defs", {})}.items():
        if name in known:
            words = descriptions(known[name])
            for field, entry in part.get("properties", {}).items():
                if field in words:
                    entry["description"] = words[field]
    return schema


def descriptions(model: type[Record]) -> dict[str, str]:
    """Return the docstring below each field of a record, including inherited fields."""
    found: dict[str, str] = {}
    for each in reversed(model.__mro__):
        if issubclass(each, Record):
            found.update(_docstrings(each))
    return {name: text for name, text in found.items() if name in model.model_fields}


def _docstrings(model: type[Record]) -> Iterator[tuple[str, str]]:
    """Yield the fields that a class declares itself, each with the string below it."""
    body = _classes(model.__module__)[model.__name__].body
    for field, below in itertools.pairwise(body):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(below, ast.Expr)
            and isinstance(below.value, ast.Constant)
            and isinstance(below.value.value, str)
        ):
            yield field.target.id, inspect.cleandoc(below.value.value)


@functools.cache
def _classes(module: str) -> dict[str, ast.ClassDef]:
    """Return the classes of a module by name; each module is parsed once."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
