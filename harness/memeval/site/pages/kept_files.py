"""Pages and small files that a publisher makes, kept from build to build."""

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, fields
from typing import Any

from markupsafe import Markup

from memeval.archive.run_cache import kept_by_name
from memeval.leaderboard.board import BoardRow
from memeval.records.base import Digest, digest_of
from memeval.site.model.files import Asset, Heading, Page
from memeval.site.pages.rendering import templates_digest

KIND = "files"


def kept_files(name: str, inputs: object, make: Callable[[], Iterable[Page | Asset]]) -> list[Page | Asset]:
    """Return what ``make`` yields; ``make`` is called only if an earlier build has not kept it.

    ``name``: what the files belong to, such as the address of a page. ``inputs``: all that the files depend on besides
    memeval's code and templates, as plain data.
    """
    depends: Digest = digest_of([inputs, templates_digest()])
    content = kept_by_name(name, KIND, depends, lambda: json.dumps([_data(file) for file in make()]).encode())
    return [_file(data) for data in json.loads(content)]


def row_inputs(row: BoardRow) -> list[str]:
    """Return all that can be shown of a run, as plain data: its digest, its name and all else on the board."""
    return [row.folder.digest, row.run.system.name, repr([getattr(row, each.name) for each in _ROW_FIELDS])]


_ROW_FIELDS = [each for each in fields(BoardRow) if each.name not in ("folder", "run")]


def _data(file: Page | Asset) -> dict[str, Any]:
    if isinstance(file, Asset):
        if not isinstance(file.content, bytes):
            raise TypeError(f"{file.path}: the content of a kept file is bytes.")
        return {"path": file.path, "content": file.content.decode("utf-8", "surrogateescape")}
    return asdict(file)


def _file(data: dict[str, Any]) -> Page | Asset:
    if "path" in data:
        return Asset(data["path"], data["content"].encode("utf-8", "surrogateescape"))
    headings = _headings(data.pop("headings"))
    body = Markup(data.pop("body"))  # noqa: S704 - rendered by make
    return Page(body=body, headings=headings, **data)


def _headings(entries: Iterable[dict[str, Any]]) -> tuple[Heading, ...]:
    return tuple(Heading(each["id"], each["title"], _headings(each["parts"])) for each in entries)
