"""How a web server delivers the published files: content types and cache times."""

from __future__ import annotations

from pathlib import PurePosixPath

from memeval.objects import Headers

CONTENT_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".gz": "application/gzip",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".md": "text/markdown; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
    ".xml": "application/xml",
}
"""The content type by the end of the name. The table of the operating system differs between machines."""

FOREVER = "public, max-age=31536000, immutable"
"""For files whose bytes never change: those of a version, and those that are named by their digest."""

BRIEFLY = "public, max-age=60"
"""For ``versions.json``, ``latest`` and the pages at the root."""


def headers_of(path: str, *, immutable: bool) -> Headers:
    """Return the headers of a published file.

    Args:
        path: its path.
        immutable: whether its bytes never change.
    """
    kind = CONTENT_TYPES.get(PurePosixPath(path).suffix.lower(), "application/octet-stream")
    return Headers(kind, FOREVER if immutable else BRIEFLY)
