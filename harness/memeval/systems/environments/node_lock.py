"""What a submission says of its Node packages: ``package.json`` and ``package-lock.json``, read strictly."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from memeval.records.base import digest_of
from memeval.records.errors import BadInput
from memeval.systems.output import visible

PACKAGE = "package.json"
PACKAGE_LOCK = "package-lock.json"

MAKE = "Make it again with 'npm install --package-lock-only'."

FOLDER = re.compile(r"(?:(?:^|/)node_modules/(?:@[a-z0-9._~-]+/)?[A-Za-z0-9._~-]+)+")
"""Where a package lies, seen from the submission's folder."""

TARBALL = re.compile(r"https://[^\s?#@]+/-/[^\s?#/@]+\.tgz")
"""Where a registry keeps a package's file."""

INTEGRITY = re.compile(r"sha(256|384|512)-[A-Za-z0-9+/]+=*")

VERSION = re.compile(r"[^:/]*|npm:(@[\w.~-]+/)?[\w.~-]+(@[^:/]*)?")
"""A range of versions, or another package's name and range."""

GROUPS = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")


def read_package(text: str, where: Path) -> dict[str, Any]:
    """Read a ``package.json``: packages of a registry alone.

    Args:
        text: what the file holds.
        where: the file, named in refusals.

    Raises:
        BadInput: it is no such file, or it asks for a folder, a repository or an address.
    """
    data = _object(text, where)
    _check_asked(data, where)
    return data


def read_package_lock(text: str, where: Path) -> dict[str, Any]:
    """Read a ``package-lock.json``: every package from a registry, with its integrity.

    Args:
        text: what the file holds.
        where: the file, named in refusals.

    Raises:
        BadInput: it is no such file, or a package is not held by a digest.
    """
    data = _object(text, where)
    if data.get("lockfileVersion") not in (2, 3):
        raise BadInput("its 'lockfileVersion' is neither 2 nor 3.", where=where, remedy=MAKE)
    packages = data.get("packages")
    if not isinstance(packages, dict):
        raise BadInput("has no object 'packages'.", where=where, remedy=MAKE)
    for path, package in packages.items():
        if not isinstance(package, dict):
            raise BadInput(f"'{visible(path)}' is no object.", where=where, remedy=MAKE)
        if path:
            _check_package(path, package, _at(text, path, where))
        else:
            _check_asked(package, where)
    return data


def _object(text: str, where: Path) -> dict[str, Any]:
    try:
        data = json.loads(text)
        digest_of(data)  # Python reads numbers and signs that no JSON file can hold
    except (ValueError, RecursionError) as error:
        raise BadInput(f"not valid JSON ({visible(str(error))}).", where=where) from None
    if not isinstance(data, dict):
        raise BadInput("holds no JSON object.", where=where)
    return data


def _check_asked(package: dict[str, Any], where: Path) -> None:
    if package.get("workspaces"):
        raise BadInput("has 'workspaces'.", where=where, remedy="Make it one package.")
    for group in GROUPS:
        asked = package.get(group) or {}
        if not isinstance(asked, dict):
            raise BadInput(f"'{group}' is no object.", where=where)
        for name, version in asked.items():
            if not isinstance(version, str) or not VERSION.fullmatch(version):
                raise BadInput(
                    f"'{visible(name)}' of '{group}' does not come from a registry.",
                    where=where,
                    remedy="Ask for a version; folders, repositories and addresses have no place here.",
                )


def _check_package(path: str, package: dict[str, Any], where: str) -> None:
    name = visible(path.rpartition("node_modules/")[2])
    if not FOLDER.fullmatch(path) or ".." in path or package.get("link"):
        raise BadInput(f"'{visible(path)}' is a folder, not a package of a registry.", where=where, remedy=MAKE)
    resolved = package.get("resolved")
    if resolved is not None and not (isinstance(resolved, str) and TARBALL.fullmatch(resolved)):
        raise BadInput(f"'{name}' does not come from a registry.", where=where, remedy="Ask for a version of it.")
    if package.get("inBundle") is True and package.get("optional") is True:
        return  # It lies in another package's file, and optional ones are not installed.
    integrity = package.get("integrity")
    if not isinstance(integrity, str) or not all(INTEGRITY.fullmatch(each) for each in integrity.split() or [""]):
        raise BadInput(f"'{name}' has no integrity of SHA-256 or better.", where=where, remedy=MAKE)


def _at(text: str, path: str, where: Path) -> str:
    place = text.find(json.dumps(path))
    return f"{where}:{text.count(chr(10), 0, place) + 1}" if place >= 0 else str(where)
