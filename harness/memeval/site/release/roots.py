"""The files at the root of a board, beside its versions: they follow from the releases, and lead to the newest one."""

import json
from collections.abc import Iterable, Sequence
from html import escape

from memeval.site.frame.not_found import not_found_page

LATEST = "latest"
"""The alias of the newest version: a symlink where the target has them, else a folder with one page."""

RELEASE_FILE = "release.json"

VERSIONS_FILE = "versions.json"
"""The list of the versions, in the format of mike, a tool for versions of documentation."""

INDEX = "index.html"
NOT_FOUND = "404.html"
LATEST_PAGE = f"{LATEST}/{INDEX}"

DATA = "data"

TAKEN = frozenset({LATEST, INDEX, VERSIONS_FILE, NOT_FOUND, DATA, "CNAME"})
"""Names that no version may have."""

OWN_FILES = frozenset({".gitignore", ".nojekyll", "CNAME", "LICENSE", "README.md"})
"""Files that a place may have before its first publication. A publication keeps them."""


def _redirect(address: str, text: str) -> str:
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>memeval</title>
<link rel="icon" href="data:,">
<meta http-equiv="refresh" content="0; url={address}">
<p><a href="{address}">{text}</a></p>
</html>
"""


ROOT_PAGE = _redirect("latest/", "The latest board").encode()
"""The page at the root. It never changes, so that it is right whatever is published next."""

NOT_FOUND_PAGE = not_found_page().encode()
"""What hosts such as GitHub Pages show for an unknown address. It leads ``latest/…`` to the same page of the newest
release, on targets without symlinks."""


def latest_page(version: str) -> bytes:
    return _redirect(f"../{escape(version)}/", f"Release {escape(version)}").encode()


def root_pages(version: str) -> dict[str, bytes]:
    """Return the pages beside the versions that depend on memeval alone, if a version is the newest."""
    return {INDEX: ROOT_PAGE, NOT_FOUND: NOT_FOUND_PAGE, LATEST_PAGE: latest_page(version)}


def root_files(versions: Sequence[str]) -> dict[str, bytes]:
    """Return the files beside the versions, newest first, that a target always has."""
    return {VERSIONS_FILE: selector(versions), NOT_FOUND: NOT_FOUND_PAGE, INDEX: ROOT_PAGE}


def selector(versions: Iterable[str]) -> bytes:
    entries = [
        {"version": version, "title": version, "aliases": [LATEST] if place == 0 else []}
        for place, version in enumerate(versions)
    ]
    return (json.dumps(entries, indent=1) + "\n").encode()
