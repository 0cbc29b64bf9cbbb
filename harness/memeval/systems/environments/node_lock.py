"""Reads ``package.json`` and ``package-lock.json`` of a submission strictly."""

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

MAKE_AGAIN = "Make it again with 'npm install --package-lock-only'."

FOLDER = re.compile(r"(?:(?:^|/)node_modules/(?:@[a-z0-9._~-]+/)?[A-Za-z0-9._~-]+)+")
"""The path of a package, relative to the submission's folder."""

TARBALL = re.compile(r"https://[^\s?#@]+/-/[^\s?#/@]+\.tgz")
"""The URL of a package's file in a registry."""

INTEGRITY = re.compile(r"sha(256|384|512)-[A-Za-z0-9+/]+=*")

VERSION = re.compile(r"[^:/]*|npm:(@[\w.~-]+/)?[\w.~-]+(@[^:/]*)?")
"""A version range, or an alias: the name and range of another package."""

GROUPS = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")


def read_package(text: str, where: Path) -> dict[str, Any]:
    """Read a ``package.json``, which may name only packages of a registry."""
    data = _object(text, where)
    _check_dependencies(data, where)
    return data


def read_package_lock(text: str, where: Path) -> dict[str, Any]:
    """Read a ``package-lock.json``, with the integrity of every package."""
    data = _object(text, where)
    if data.get("lockfileVersion") not in (2, 3):
        raise BadInput("'lockfileVersion' is not 2 or 3.", where=where, remedy=MAKE_AGAIN)
    packages = data.get("packages")
    if not isinstance(packages, dict):
        raise BadInput("'packages' is missing or not an object.", where=where, remedy=MAKE_AGAIN)
    for path, package in packages.items():
        if not isinstance(package, dict):
            raise BadInput(f"'{visible(path)}' is not an object.", where=where, remedy=MAKE_AGAIN)
        if path:
            _check_package(path, package, _at(text, path, where))
        else:
            _check_dependencies(package, where)
    return data


def _object(text: str, where: Path) -> dict[str, Any]:
    try:
        data = json.loads(text)
        digest_of(data)  # Python accepts numbers and characters that JSON does not allow
    except (ValueError, RecursionError) as error:
        raise BadInput(f"not valid JSON ({visible(str(error))}).", where=where) from None
    if not isinstance(data, dict):
        raise BadInput("is not a JSON object.", where=where)
    return data


def _check_dependencies(package: dict[str, Any], where: Path) -> None:
    if package.get("workspaces"):
        raise BadInput("has 'workspaces'.", where=where, remedy="Use one package.")
    for group in GROUPS:
        dependencies = package.get(group) or {}
        if not isinstance(dependencies, dict):
            raise BadInput(f"'{group}' is not an object.", where=where)
        for name, version in dependencies.items():
            if not isinstance(version, str) or not VERSION.fullmatch(version):
                raise BadInput(
                    f"'{visible(name)}' of '{group}' does not come from a registry.",
                    where=where,
                    remedy="Use a version. Folders, repositories and URLs are not allowed.",
                )


def _check_package(path: str, package: dict[str, Any], where: str) -> None:
    name = visible(path.rpartition("node_modules/")[2])
    if not FOLDER.fullmatch(path) or ".." in path or package.get("link"):
        raise BadInput(f"'{visible(path)}' is a folder, not a package of a registry.", where=where, remedy=MAKE_AGAIN)
    resolved = package.get("resolved")
    if resolved is not None and not (isinstance(resolved, str) and TARBALL.fullmatch(resolved)):
        raise BadInput(f"'{name}' does not come from a registry.", where=where, remedy="Use a version of it.")
    if package.get("inBundle") is True and package.get("optional") is True:
        return  # It is bundled in another package, and optional packages are not installed.
    integrity = package.get("integrity")
    if not isinstance(integrity, str) or not all(INTEGRITY.fullmatch(each) for each in integrity.split() or [""]):
        raise BadInput(f"'{name}' has no integrity with SHA-256 or stronger.", where=where, remedy=MAKE_AGAIN)


def _at(text: str, path: str, where: Path) -> str:
    position = text.find(json.dumps(path))
    return f"{where}:{text.count(chr(10), 0, position) + 1}" if position >= 0 else str(where)
