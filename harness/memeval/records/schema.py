"""JSON Schemas of the records, with the docstring below each field, or its usual meaning, as its description.

Pydantic can read those docstrings at class creation (``use_attribute_docstrings``). It then parses the source of every
record at every start, a tenth of the time of a short run. Only an exported schema needs them.
"""

import ast
import functools
import inspect
import itertools
import sys
from collections.abc import Iterator
from typing import Any, Literal

from memeval.records.base import Record, subclasses

USUAL = {
    "answer_model": "The model that wrote the answers; ``None`` if not stated.",
    "at": "UTC time, ISO 8601.",
    "bank": "Its bank; ``None`` for the system's default.",
    "benchmark": "Id of the benchmark, with its version.",
    "categories": "Its categories, in their order.",
    "category": "Name of the category.",
    "causes": "Number of wrong items by cause, without causes that never occur.",
    "cells": "Its cells.",
    "cluster": "Its cluster, such as a person or a conversation. Items of one cluster are not independent.",
    "clusters": "Number of clusters of the items. Clusters are independent of one another.",
    "commit": "Commit of the files.",
    "composite": "The composite score.",
    "configuration": "The configuration.",
    "content": "The text.",
    "cost_usd": "Cost in dollars.",
    "data_digest": "Digest of the benchmark's data.",
    "declared_models": "Models that the system declares.",
    "description": "Its purpose.",
    "detail": "What happened, in a sentence; it may quote untrusted text.",
    "digest": "Its digest.",
    "direction": "Whether higher or lower is better.",
    "environment_digest": "Digest of its environment.",
    "file": "The regraded file, ``source/file``.",
    "gates": "Results of the promotion gates.",
    "grader": "Name and version of the grader.",
    "high": "Upper end of its 95 % interval; ``None`` without one.",
    "homepage": "Its home page.",
    "imported": "Origin of imported answers; ``None`` for other runs.",
    "isolation": "What the system could reach during the run.",
    "item_id": "Id of the item.",
    "items": "Number of items.",
    "judge": "Who grades.",
    "judge_endpoint": "Base URL of a model judge; ``None`` for the rule set.",
    "judges": "Who judged, by the name of the verdict.",
    "kappa": "Cohen's kappa; ``None`` if it is undefined.",
    "kind": "Its kind.",
    "label": "The label.",
    "licence": "Licence of the files.",
    "limit": "The caller's limit on items; ``None`` without one.",
    "low": "Lower end of its 95 % interval; ``None`` without one.",
    "matrix_id": "Id of the matrix.",
    "name": "Its name.",
    "network": "Network access of the system during the run.",
    "outcome": "The outcome.",
    "p50": "Median.",
    "p95": "95th percentile.",
    "page": "Its page.",
    "parameters": "Its parameters.",
    "phase": "The phase of the run.",
    "prompts": "Digests of the prompts, by name.",
    "protocol": "Name of the protocol.",
    "question": "The text of the question.",
    "question_id": "Id of the question.",
    "reader": "Who writes the answers.",
    "reason": "The reason, in one sentence; ``None`` without one.",
    "redistribution": "Whether the benchmark's text may be published.",
    "repository": "Repository of the files on GitHub, ``owner/name``.",
    "right": "Number of correct items.",
    "rows": "Number of rows.",
    "rows_digest": "Digest of the rows, uncompressed.",
    "rules": "Verdict of the rules.",
    "run_digest": "Digest of its ``run.json``.",
    "run_id": "Id of the run.",
    "sandbox": "The sandbox, such as ``bubblewrap 0.8.0``; ``None`` without one.",
    "scenario_id": "Id of the scenario.",
    "schema_version": "Version of the format.",
    "score": "Composite score, from 0 to 1; ``None`` if it is undefined.",
    "seconds": "Duration in seconds.",
    "seed": "Seed of all draws.",
    "seeds": "All seeds.",
    "services": "Services that it needs, or that ran with it.",
    "slices": "Declared slices, by name, such as ``difficulty: hard``.",
    "source": "The source of the counts.",
    "speaker": "Who speaks.",
    "standing": "Whether it is ranked, or why not.",
    "started": "UTC time of its start, ISO 8601.",
    "state": "Its state.",
    "status": "The result.",
    "step": "The kind of step.",
    "steps": "The steps, in order.",
    "submission_digest": "Digest of its files, and of the fields of its manifest that decide what runs.",
    "system": "The system, or its slug.",
    "tally": "Counts and shares.",
    "test_set": "Whether the answers were written to test a judge.",
    "tests": "Number of tests over which p-values are corrected.",
    "text": "The text.",
    "tier": "Name of the tier.",
    "title": "Its name for people.",
    "track": "The track.",
    "track_id": "Id of the track.",
    "trial": "Number of the repetition, from 0.",
    "turns": "Its turns, in order.",
    "unit": "Unit of the values.",
    "url": "Its address.",
    "value": "The value.",
    "vendor": "The vendor of a hosted product; ``None`` if everything ran on this machine.",
    "version": "Its version; untrusted text.",
    "weight": "Its share of the composite.",
}
"""The meaning of a field in every record where no text below it says more."""


def json_schema(model: type[Record], mode: Literal["validation", "serialization"] = "serialization") -> dict[str, Any]:
    """Return the JSON Schema of a record.

    ``mode``: ``validation`` for files that people write, ``serialization`` for files that memeval writes.
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
    """Return the text below each field of a record, inherited fields included; without one, its usual meaning."""
    found = {name: USUAL[name] for name in model.model_fields if name in USUAL}
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
