"""What is known of products: one file a domain, looked up by product."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memeval.benchmarks.memorycd.index import Index, index_of
from memeval.benchmarks.memorycd.lines import JsonLines, Misfit, is_finite

KIND = "memorycd-meta@1"
"""Names what is kept of a file of metadata; changed with it, so that no older index is taken for it."""

DESCRIPTION_CHARACTERS = 500
"""So much of a description is searched, and no more of it is used anywhere."""


@dataclass(frozen=True)
class Product:
    """What is known of a product."""

    title: str = ""
    """What it is called; blank where nothing says."""
    average: float | None = None
    """The mean of all ratings, as the file writes it; ``None`` where nothing says."""
    category: str = ""
    """``main_category``; blank where nothing says."""
    description: str = ""
    """The first 500 characters of the description; a list of paragraphs is written as Python writes a list."""

    @property
    def words(self) -> tuple[str, ...]:
        """The texts it is searched by; none of them is blank."""
        return tuple(text for text in (self.title, self.category, self.description) if text)


@dataclass(frozen=True)
class Catalogue:
    """What is known of the products of some domains."""

    indexes: Mapping[str, Index]
    """The files by domain, in the order of the domains."""

    def product(self, item: str, domains: Sequence[str]) -> Product | None:
        """Return what is known of a product; where several domains know it, the last of them counts.

        Args:
            item: its id.
            domains: where to look, in the order of the domains.
        """
        for domain in reversed(domains):
            index = self.indexes.get(domain) if item else None
            found = index.rows("SELECT body FROM products WHERE item = ?", item) if index else []
            if found:
                return Product(*json.loads(found[0][0]))
        return None


def read_metadata(path: Path, remedy: str) -> Index:
    """Read a file of metadata: lines of ``{parent_asin, title, average_rating, main_category, description}``.

    Of lines with the same product the last counts; a line that is not of that form is passed over and told.

    Args:
        path: the file, plain or gzip.
        remedy: what to do about a bad file, as a sentence.

    Raises:
        BadInput: the file is empty, cut off or of another form.
    """
    return index_of(path, KIND, _read, remedy)


def _read(tables: sqlite3.Connection, lines: JsonLines) -> None:
    tables.execute("CREATE TABLE products (item TEXT PRIMARY KEY, body TEXT) WITHOUT ROWID")

    def read(raw: dict[str, Any]) -> None:
        item = raw.get("parent_asin")
        if not item or not isinstance(item, str):
            raise Misfit("it names no product")
        body = (_text(raw, "title"), _average(raw), _text(raw, "main_category"), _description(raw))
        tables.execute("INSERT OR REPLACE INTO products VALUES (?, ?)", (item, json.dumps(body)))

    lines.objects(read)


def _text(raw: dict[str, Any], name: str) -> str:
    value = raw.get(name)
    if value is not None and not isinstance(value, str):
        raise Misfit(f"its '{name}' is no text")
    return value or ""


def _average(raw: dict[str, Any]) -> float | None:
    value: Any = raw.get("average_rating")
    return value if is_finite(value) else None


def _description(raw: dict[str, Any]) -> str:
    value = raw.get("description")
    if value is not None and not isinstance(value, str | list):
        raise Misfit("its 'description' is neither text nor a list")
    return str(value)[:DESCRIPTION_CHARACTERS] if value else ""
