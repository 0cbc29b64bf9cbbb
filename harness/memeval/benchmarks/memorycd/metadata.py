"""Metadata of products: one file per domain, with lookup by product id."""

import json
import math
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from memeval.benchmarks.memorycd.lines import Index, JsonLines, index_of

KIND = "memorycd-meta@1"
"""Version of the index of a metadata file; a change of its contents needs a new one."""

DESCRIPTION_CHARACTERS = 500
"""Characters of a description that are used; the rest is dropped."""


@dataclass(frozen=True)
class Product:
    title: str = ""
    average: float | None = None
    """Mean of all ratings, as in the file; ``None`` if unknown."""
    category: str = ""
    """``main_category``; empty if unknown."""
    description: str = ""
    """First 500 characters of the description. A list of paragraphs has the form of a Python list."""

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(text for text in (self.title, self.category, self.description) if text)


@dataclass(frozen=True)
class Catalogue:
    indexes: Mapping[str, Index]

    def product(self, item: str, domains: Sequence[str]) -> Product | None:
        """Return the metadata of a product, or ``None``. If several domains have it, the last one wins."""
        for domain in reversed(domains):
            index = self.indexes.get(domain) if item else None
            found = index.rows("SELECT body FROM products WHERE item = ?", item) if index else []
            if found:
                return Product(*json.loads(found[0][0]))
        return None


def read_metadata(path: Path, remedy: str) -> Index:
    """Read a file of metadata: lines of ``{parent_asin, title, average_rating, main_category, description}``.

    If a product has several lines, the last one wins. Skips invalid lines and notes them. Raises ``BadInput``: the file
    is empty, truncated or invalid.
    """
    return index_of(path, KIND, _read, remedy)


class _Line(BaseModel):
    model_config = ConfigDict(strict=True, defer_build=True)

    parent_asin: Annotated[str, Field(min_length=1)]
    title: str | None = None
    average_rating: Any = None
    main_category: str | None = None
    description: str | list[Any] | None = None


def _read(tables: sqlite3.Connection, lines: JsonLines) -> None:
    tables.execute("CREATE TABLE products (item TEXT PRIMARY KEY, body TEXT) WITHOUT ROWID")

    def read(raw: dict[str, Any]) -> None:
        line = _Line.model_validate(raw)
        average = line.average_rating if is_finite(line.average_rating) else None
        description = str(line.description)[:DESCRIPTION_CHARACTERS] if line.description else ""
        body = (line.title or "", average, line.main_category or "", description)
        tables.execute("INSERT OR REPLACE INTO products VALUES (?, ?)", (line.parent_asin, json.dumps(body)))

    lines.objects(read)


def is_finite(value: Any) -> bool:
    """Return whether a value is a finite number. JSON integers may be too large for a float; those are not."""
    try:
        return type(value) in (int, float) and math.isfinite(value)
    except OverflowError:
        return False
