"""Metadata of products: one file per domain, with lookup by product id."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memeval.benchmarks.memorycd.lines import Index, JsonLines, Misfit, index_of, is_finite

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


def _read(tables: sqlite3.Connection, lines: JsonLines) -> None:
    tables.execute("CREATE TABLE products (item TEXT PRIMARY KEY, body TEXT) WITHOUT ROWID")

    def read(raw: dict[str, Any]) -> None:
        item = raw.get("parent_asin")
        if not item or not isinstance(item, str):
            raise Misfit("it has no product id")
        body = (_text(raw, "title"), _average(raw), _text(raw, "main_category"), _description(raw))
        tables.execute("INSERT OR REPLACE INTO products VALUES (?, ?)", (item, json.dumps(body)))

    lines.objects(read)


def _text(raw: dict[str, Any], name: str) -> str:
    value = raw.get(name)
    if value is not None and not isinstance(value, str):
        raise Misfit(f"its '{name}' is not text")
    return value or ""


def _average(raw: dict[str, Any]) -> float | None:
    value: Any = raw.get("average_rating")
    return value if is_finite(value) else None


def _description(raw: dict[str, Any]) -> str:
    value = raw.get("description")
    if value is not None and not isinstance(value, str | list):
        raise Misfit("its 'description' is neither text nor a list")
    return str(value)[:DESCRIPTION_CHARACTERS] if value else ""
