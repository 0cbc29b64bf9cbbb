"""Reads files of answers by mappings that are data: ``answers.toml`` in the folder of a benchmark."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib.resources import files
from typing import Any

from memeval.benchmarks.formats.mapped_rows import MappedRow, matches, rows_of
from memeval.benchmarks.formats.reading import (
    LONGEST_ID,
    AnswerFile,
    ImportedAnswer,
    ImportedAnswers,
    Lines,
    imported_answers,
    kind_of,
    once,
    refuse,
)
from memeval.records.errors import BadInput
from memeval.records.imported import Claim
from memeval.records.mapping import AnswerMapping, Beside
from memeval.storage import readable
from memeval.toml import parse_toml

MAPPINGS = "answers.toml"


@lru_cache(maxsize=64)
def mapping_of(target: str) -> AnswerMapping:
    """Return a mapping.

    ``target``: ``package:format``; the package has a file :data:`MAPPINGS` with a table of that name. Raises
    ``BadInput``: the file, or the mapping, is missing or invalid.
    """
    package, _, name = target.partition(":")
    path = files(package).joinpath(MAPPINGS)
    with readable(path, "Add the file."):
        content = path.read_bytes()
    toml = parse_toml(content, path)
    if not isinstance(toml.data.get(name), dict):
        raise BadInput(f"has no mapping '{name}'.", where=path, remedy=f"Add the table [{name}].")
    mapping = replace(toml, data=toml.data[name], above=(name,)).record(AnswerMapping)
    if problem := mapping.problem():
        raise BadInput(problem, where=toml.place(name), remedy="Correct the mapping.")
    return mapping


def read_mapped(file: AnswerFile, mapping: AnswerMapping, format_name: str) -> ImportedAnswers:
    """Read a file of answers by a mapping.

    Raises ``BadInput``: the file does not fit the mapping, or answers a question twice.
    """
    document = file.json()
    rows = rows_of(document, mapping, file.path)
    once((row.where, row.item or "") for row in rows)
    settings = _Settings(document, file, mapping.beside)
    name = settings.text(mapping.system) or _name_of(file, mapping)
    if mapping.system is not None and settings.text(mapping.system) is None:
        refuse(f"'{mapping.system}' is missing.", file.path, "Try another --format.")
    return imported_answers(
        file,
        format_name,
        file.system or name,
        map(_answer, rows),
        version=settings.text(mapping.version),
        made_by=mapping.made_by,
        made_at=settings.text(mapping.made_at),
        reader=settings.text(mapping.reader),
        limits=dict(_limits(mapping, settings)),
        claims=tuple(_claims(mapping, settings, rows)),
        cost_usd=_cost(mapping, settings),
    )


def _name_of(file: AnswerFile, mapping: AnswerMapping) -> str:
    found = re.match(mapping.system_in_name, file.path.name)
    return (found and found[1]) or file.path.name


def _answer(row: MappedRow) -> ImportedAnswer:
    return ImportedAnswer(
        row.item or "",
        row.answer or "",
        sources=None if row.error is not None else row.retrieved,
        error=row.error,
        seconds=row.seconds,
        prompt_tokens=None if row.prompt_tokens is None else int(row.prompt_tokens),
        completion_tokens=None if row.completion_tokens is None else int(row.completion_tokens),
        cost_usd=row.cost_usd,
        reported_tokens=row.context_tokens,
    )


class _Settings:
    def __init__(self, document: Any, file: AnswerFile, beside: Beside | None) -> None:
        self._where = file.path
        self._top = {} if isinstance(document, Lines | list) else document
        if beside is not None:
            name = file.path.name.replace(beside.part, beside.by)
            other = file.beside(name) if name != file.path.name else None
            if other is not None and not isinstance(other, dict):
                where = file.path.with_name(name)
                refuse(f"expected a JSON object, found {kind_of(other)}.", where, "Correct or remove the file.")
            self._top = {**self._top, "beside": other or {}}

    def value(self, path: str | None) -> Any:
        """Return the value at a path; ``None`` without a path or a value."""
        return None if path is None else next((match.value for match in matches(path, self._top, self._where)), None)

    def text(self, path: str | None) -> str | None:
        """Return a text, cut to the length of a name; ``None`` if absent, or it is empty."""
        value = self.value(path)
        if value is not None and not isinstance(value, str):
            refuse(f"'{path}' is not text.", self._where, "Correct or remove this field, or try another --format.")
        return value[:LONGEST_ID] if value else None

    def number(self, path: str | None, most: float = math.inf) -> float | None:
        """Return a number that is at least 0; ``None`` if absent."""
        value = self.value(path)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= min(most, 1e15):
            limit = "" if most == math.inf else f" of at most {most:g}"
            refuse(
                f"'{path}' is not a number{limit} and at least 0.",
                self._where,
                "Correct or remove this field, or try another --format.",
            )
        return value


def _limits(mapping: AnswerMapping, settings: _Settings) -> Iterator[tuple[str, str | int | float | bool]]:
    for name, paths in mapping.limits.items():
        value = next((found for path in paths if (found := settings.value(path)) is not None), None)
        if isinstance(value, str) and value:
            yield name, value[:LONGEST_ID]
        elif isinstance(value, int | float) and math.isfinite(value):
            yield name, value


def _claims(mapping: AnswerMapping, settings: _Settings, rows: Sequence[MappedRow]) -> Iterator[Claim]:
    if mapping.claimed_verdict is not None:
        verdicts = [verdict for row in rows if (verdict := row.verdicts.get(mapping.claimed_verdict)) is not None]
        judges = {row.judge for row in rows}
        if len(verdicts) == len(rows):
            judge = judges.pop() if len(judges) == 1 else None
            yield Claim(score=sum(verdicts) / len(rows), items=len(rows), judge=judge)
    score = settings.number(mapping.claimed_score, most=1.0)
    if score is not None:
        items = settings.number(mapping.claimed_items) or len(rows)
        yield Claim(score=score, items=int(items), judge=settings.text(mapping.claimed_judge))


def _cost(mapping: AnswerMapping, settings: _Settings) -> float | None:
    costs = [cost for path in mapping.spent_usd if (cost := settings.number(path)) is not None]
    return sum(costs) if costs else None
