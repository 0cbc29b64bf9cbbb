"""Lists the released versions of a package with their dates, from a Python package index or the registry of npm."""

import base64
import json
import os
import re
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, cached_property
from html.parser import HTMLParser
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urljoin, urlsplit, urlunsplit

from packaging.tags import sys_tags
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

from memeval.download import opener
from memeval.records.errors import BadInput
from memeval.records.history import PackageIndex
from memeval.systems.channel import visible
from memeval.systems.environments.install import OFFLINE, TRY_LATER
from memeval.systems.environments.tools import ToolFailed, node_tool, run_tool, uv_settings

PYPI = "https://pypi.org/simple"
NPM = "https://registry.npmjs.org"

LARGEST_LIST = 64_000_000
SECONDS = 60.0

SIMPLE = "application/vnd.pypi.simple.v1+json, text/html;q=0.5"
"""The formats of a package index that can be read: JSON has dates, HTML has none."""


@dataclass(frozen=True)
class ReleasedFile:
    name: str
    size: int | None
    """Bytes; ``None`` if the index does not state them."""
    day: str | None
    """UTC date of its upload; ``None`` if the index does not state it."""
    fits: bool
    """Whether it is a wheel for this Python and platform."""


@dataclass(frozen=True)
class Release:
    version: str
    """The version as the index writes it."""
    day: str | None
    """UTC date of its first file; ``None`` if unknown."""
    yanked: str | None = None
    """Why its author withdrew it, blank without a reason; ``None`` if it was not withdrawn."""
    files: tuple[ReleasedFile, ...] = ()

    @cached_property
    def order(self) -> Version:
        return Version(self.version)

    @property
    def is_prerelease(self) -> bool:
        return self.order.is_prerelease


@dataclass(frozen=True)
class Releases:
    package: str
    index: PackageIndex
    address: str
    every: tuple[Release, ...]
    """All versions in the order of their numbers, pre-releases and withdrawn ones included."""

    @property
    def plain(self) -> tuple[Release, ...]:
        """The versions that are neither pre-releases nor withdrawn."""
        return tuple(each for each in self.every if not each.is_prerelease and each.yanked is None)

    @cached_property
    def dated(self) -> bool:
        """Whether the dates can be trusted: each rises with the version, but for later patches of older lines."""
        plain = self.plain
        if not plain or any(each.day is None for each in plain):
            return False
        latest = plain[-1].day or ""
        for before, one in zip(reversed((None, *plain[:-1])), reversed(plain), strict=True):
            is_patch = before is not None and before.order.release[:2] == one.order.release[:2]
            if (one.day or "") > latest and not is_patch:
                return False
            latest = min(latest, one.day or "")
        return True

    def day_of(self, release: Release) -> str | None:
        return release.day if self.dated else None


def released(package: str, index: PackageIndex) -> Releases:
    """Return the released versions of a package. Versions that are no version numbers are left out.

    Raises ``BadInput`` if the index cannot be reached, does not have the package, or lists no version.
    """
    if index is PackageIndex.NPM:
        address, found = _from_npm(package)
    else:
        address, found = _from_simple(package)
    if not found:
        raise BadInput(f"'{package}' has no released version.", where=address, remedy="Check the name of the package.")
    return Releases(package, index, address, tuple(sorted(found, key=lambda each: each.order)))


@cache
def _configured() -> str | None:
    """Return the index of pip's configuration; ``None`` without one."""
    return uv_settings().get("UV_DEFAULT_INDEX")


def _without_user(address: str) -> tuple[str, str | None]:
    """Return an address without its user and password, and the header that states them; ``None`` without a user."""
    parts = urlsplit(address)
    user, _, host = parts.netloc.rpartition("@")
    if not user:
        return address, None
    name, _, password = user.partition(":")
    stated = base64.b64encode(f"{unquote(name)}:{unquote(password)}".encode()).decode()
    return urlunsplit(parts._replace(netloc=host)), f"Basic {stated}"


def _get(address: str, accept: str, package: str, user: str | None) -> tuple[bytes, str, str]:
    """Return what an address has, its format, and the address after redirects.

    ``user``: the header that states user and password, which no address after a redirect receives.
    """
    if urlsplit(address).scheme not in ("http", "https"):
        raise BadInput(
            f"the package index {address} is no http or https address.",
            remedy="Set an index with UV_DEFAULT_INDEX or PIP_INDEX_URL.",
        )
    request = urllib.request.Request(address, headers={"User-Agent": "memeval", "Accept": accept})  # noqa: S310 - the scheme is checked
    if user is not None:
        request.add_unredirected_header("Authorization", user)
    try:
        with opener().open(request, timeout=SECONDS) as response:
            content = response.read(LARGEST_LIST + 1)
            if len(content) > LARGEST_LIST:
                raise BadInput(f"lists more than {LARGEST_LIST:,} bytes.", where=address)
            return content, response.headers.get_content_type(), response.url or address
    except urllib.error.HTTPError as error:
        error.close()
        if error.code in (404, 410):
            raise BadInput(
                f"there is no package '{visible(package)}' in the index.",
                where=address,
                remedy="It may have another name now: name it as 'package' in history/history.toml.",
            ) from None
        raise BadInput(f"the index refused the request ({error.code}).", where=address, remedy=TRY_LATER) from None
    except (urllib.error.URLError, OSError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise BadInput(
            f"the package index cannot be reached ({visible(str(reason))}).",
            where=address,
            remedy=OFFLINE,
        ) from None


def _parsed(content: bytes, address: str) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise BadInput("the index sent no valid JSON.", where=address, remedy=TRY_LATER) from None


# Python ---------------------------------------------------------------------------------------------------------------


def _from_simple(package: str) -> tuple[str, list[Release]]:
    names = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL")  # the index that uv uses
    named = next((found for name in names if (found := os.environ.get(name))), None) or _configured() or PYPI
    index = named.rpartition("=")[2] if re.match(r"[\w.-]+=http", named) else named
    index, user = _without_user(index)
    address = f"{index.rstrip('/')}/{canonicalize_name(package)}/"
    content, kind, final = _get(address, SIMPLE, package, user)
    if kind.endswith("json"):
        data = _parsed(content, address)
        rows = data.get("files") if isinstance(data, dict) else None
        listed = [each for each in rows if isinstance(each, dict)] if isinstance(rows, list) else []
    else:
        listed = list(_in_html(content.decode("utf-8", "replace"), final))
    return address, list(_releases(listed))


def _releases(listed: Sequence[Mapping[str, Any]]) -> Iterator[Release]:
    tags = frozenset(sys_tags())
    files: dict[Version, list[ReleasedFile]] = {}
    withdrawn: dict[Version, list[str | None]] = {}
    for row in listed:
        name = str(row.get("filename", ""))
        found = _version_of(name, tags)
        if found is None:
            continue
        version, fits = found
        size, uploaded, yanked = row.get("size"), row.get("upload-time"), row.get("yanked", False)
        files.setdefault(version, []).append(
            ReleasedFile(name, size if isinstance(size, int) else None, _day(uploaded), fits)
        )
        reason = yanked if isinstance(yanked, str) else ""
        withdrawn.setdefault(version, []).append(reason if yanked else None)
    for version, members in files.items():
        days = [each.day for each in members if each.day is not None]
        reasons = withdrawn[version]
        yanked = None if None in reasons else next(iter(filter(None, reasons)), "")
        yield Release(str(version), min(days) if len(days) == len(members) else None, yanked, tuple(members))


def _version_of(name: str, tags: frozenset[Any]) -> tuple[Version, bool] | None:
    """Return the version of a file, and whether it is a wheel that fits here; ``None`` for any other file."""
    try:
        if name.endswith(".whl"):
            _name, version, _build, own = parse_wheel_filename(name)
            return version, not own.isdisjoint(tags)
        return parse_sdist_filename(name)[1], False
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):
        return None


def _day(value: Any) -> str | None:
    """Return the UTC date of an ISO 8601 time; ``None`` for any other text."""
    try:
        at = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC).date().isoformat()


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.found.append(dict(attrs))


def _in_html(text: str, address: str) -> Iterator[dict[str, Any]]:
    """Yield the files of an HTML page of a package index (PEP 503), which has no dates."""
    links = _Links()
    links.feed(text)
    for link in links.found:
        name = unquote(urlsplit(urljoin(address, link.get("href") or "")).path).rpartition("/")[2]
        yield {"filename": name, "yanked": (link["data-yanked"] or True) if "data-yanked" in link else False}


# Node -----------------------------------------------------------------------------------------------------------------


def _from_npm(package: str) -> tuple[str, list[Release]]:
    registry = ""
    with suppress(ToolFailed):
        registry = run_tool([*node_tool("npm").command, "config", "get", "registry"], Path.cwd()).strip().rstrip("/")
    registry, user = _without_user(registry or NPM)
    address = f"{registry}/{quote(package, safe='@')}"
    data = _parsed(_get(address, "application/json", package, user)[0], address)
    versions = data.get("versions") if isinstance(data, dict) else None
    times = data.get("time") if isinstance(data, dict) else None
    found: list[Release] = []
    for name, about in (versions if isinstance(versions, dict) else {}).items():
        try:
            Version(name)
        except InvalidVersion:
            continue
        deprecated = about.get("deprecated") if isinstance(about, dict) else None
        release = Release(name, _day((times if isinstance(times, dict) else {}).get(name)))
        found.append(replace(release, yanked=str(deprecated)) if deprecated else release)
    return address, found


def installable_day(release: Release) -> str | None:
    """Return the first day on which a version could be installed here; ``None`` if unknown or never."""
    days = [each.day for each in release.files if each.fits]
    return None if not days or None in days else min(filter(None, days))
