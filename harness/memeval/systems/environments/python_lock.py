"""Reads the lock files of a submission and PEP 723 metadata strictly.

Installers never read these files. They get a lock written from the parsed data, so they cannot read a line differently.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from memeval.records.base import digest_of
from memeval.records.errors import BadInput
from memeval.systems.channel import visible

REQUIREMENTS = "requirements.lock"

COMPILE = "Compile it with 'uv pip compile --generate-hashes', or 'pip-compile --generate-hashes'."

SCRIPT = re.compile(r"(?m)^# /// script$\s(?P<content>(^#(| .*)$\s)+)^# ///$")
"""The metadata block, as the reference implementation of PEP 723 finds it."""

DIGITS = {"sha256": 64, "sha384": 96, "sha512": 128}
"""Accepted hash algorithms, each with its number of hexadecimal digits."""

MOST_LINES = 20
"""How many further wrong lines of a lock an error names."""

REQUIREMENT_LENGTH = 1000
"""The most characters of a requirement: installers need hours for very long versions.

A requirement must not contain ``$`` either: installers replace ``${NAME}`` by environment variables of memeval.
"""

INDEX_OPTIONS = ("-i", "--index-url", "--extra-index-url", "-f", "--find-links", "--trusted-host")
OPTIONS = {
    **dict.fromkeys(("-r", "--requirement", "-c", "--constraint"), "a lock must not include other files"),
    **dict.fromkeys(("-e", "--editable"), "an editable package has no hash"),
    **dict.fromkeys(INDEX_OPTIONS, "the user chooses the package index"),
}
"""Refused options of requirements files, each with the reason. All other options are refused as unknown."""


@dataclass(frozen=True)
class Pin:
    requirement: Requirement
    hashes: tuple[str, ...]
    """Digests such as ``sha256:…``."""
    line: int

    @property
    def name(self) -> str:
        return canonicalize_name(self.requirement.name)

    @property
    def version(self) -> Version:
        return Version(next(iter(self.requirement.specifier)).version)

    def __str__(self) -> str:
        return " ".join([str(self.requirement), *(f"--hash={digest}" for digest in self.hashes)])


@dataclass(frozen=True)
class Script:
    dependencies: tuple[Requirement, ...]
    python: SpecifierSet
    file: Path
    line: int
    """The first line of the block, from 1."""

    @property
    def where(self) -> str:
        return f"{self.file}:{self.line}"


def read_pins(text: str, where: Path) -> tuple[Pin, ...]:
    """Read a ``requirements.lock``: each line is one package with its version and digests.

    Raises BadInput: the first wrong line, with the numbers of the others.
    """
    pins: list[Pin] = []
    wrong: list[tuple[int, BadInput]] = []
    for number, line in _logical_lines(text):
        try:
            pins.append(_pin(line, f"{where}:{number}", number))
        except BadInput as error:
            wrong.append((number, error))
    if wrong:
        (_, first), *others = wrong
        if others:
            numbers = ", ".join(str(number) for number, _ in others[:MOST_LINES])
            more = f" and {len(others) - MOST_LINES} more" if len(others) > MOST_LINES else ""
            problem = f"{first.problem} Lines {numbers}{more} are wrong, too."
            raise BadInput(problem, where=first.where, remedy=first.remedy)
        raise first
    return tuple(pins)


def write_pins(pins: Iterable[Pin]) -> str:
    return "".join(f"{pin}\n" for pin in pins)


def read_script(text: str, where: Path) -> Script | None:
    """Read the PEP 723 metadata of a Python file; ``None`` where it has none."""
    blocks = list(SCRIPT.finditer(text.replace("\r\n", "\n")))
    if not blocks:
        return None
    line = text.count("\n", 0, blocks[0].start()) + 1
    at = f"{where}:{line}"
    if len(blocks) > 1:
        raise BadInput("there are two '# /// script' blocks.", where=where, remedy="Leave one.")
    content = "".join(
        row[2:] if row.startswith("# ") else row[1:] for row in blocks[0]["content"].splitlines(keepends=True)
    )
    try:
        data = tomllib.loads(content)
    except (ValueError, RecursionError) as error:  # Python refuses numbers of more than 4,300 digits
        raise BadInput(f"the '# /// script' block is not valid TOML: {visible(str(error))}.", where=at) from None
    dependencies = data.get("dependencies", [])
    if not isinstance(dependencies, list) or not all(isinstance(each, str) for each in dependencies):
        raise BadInput("'dependencies' of the '# /// script' block is not a list of texts.", where=at)
    python = data.get("requires-python", "")
    try:
        specifiers = SpecifierSet(python if isinstance(python, str) else "?")
    except InvalidSpecifier:
        raise BadInput(
            f"'requires-python' of the '# /// script' block is not a version range: {visible(str(python))}.",
            where=at,
            remedy='Write for example ">=3.11".',
        ) from None
    if unknown := sorted(set(data) - {"dependencies", "requires-python", "tool"}):
        raise BadInput(f"unknown key '{visible(unknown[0])}' in the '# /// script' block.", where=at)
    return Script(tuple(_requirement(each, at) for each in dependencies), specifiers, where, line)


def check_covered(script: Script, pins: Iterable[Pin], lock: Path) -> None:
    """Refuse a lock that does not pin the dependencies of the script beside it.

    Raises BadInput: a dependency is missing from the lock, or pinned at another version.
    """
    pinned: dict[str, list[Version]] = {}
    for pin in pins:
        pinned.setdefault(pin.name, []).append(pin.version)
    for wanted in script.dependencies:
        versions = pinned.get(canonicalize_name(wanted.name), [])
        if not any(wanted.specifier.contains(version, prereleases=True) for version in versions):
            raise BadInput(
                f"needs '{wanted}', which {lock.name} does not pin.",
                where=script.where,
                remedy=f"Compile {lock.name} again.",
            )


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines with their numbers, without comments, and with continued lines joined."""
    joined, start = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        bare = re.sub(r"(^|\s)#.*$", "", line).strip()
        start = start or number
        if bare.endswith("\\"):
            joined += bare[:-1] + " "
            continue
        if statement := (joined + bare).strip():
            yield start, statement
        joined, start = "", 0
    if joined.strip():
        yield start, joined.strip()


def _pin(line: str, where: str, number: int) -> Pin:
    if line.startswith("-"):
        option = re.split(r"[\s=]", line, maxsplit=1)[0]
        reason = OPTIONS.get(option, "it is not a package")
        raise BadInput(
            f"'{visible(option)}' is not allowed in a lock: {reason}.", where=where, remedy="Delete the line."
        )
    written, *options = re.split(r" (?=--)", " ".join(line.split()))
    requirement = _requirement(written, where)
    specifiers = list(requirement.specifier)
    if len(specifiers) != 1 or specifiers[0].operator != "==" or specifiers[0].version.endswith(".*"):
        raise BadInput(f"'{requirement.name}' is not pinned to one version with '=='.", where=where, remedy=COMPILE)
    for option in options:
        found = re.fullmatch(r"--hash=(sha256|sha384|sha512):([0-9a-f]+)", option)
        if found is None or len(found[2]) != DIGITS[found[1]]:
            raise BadInput(
                f"'{visible(option[:80])}' is not a valid hash of '{requirement.name}'.", where=where, remedy=COMPILE
            )
    if not options:
        raise BadInput(f"'{requirement.name}' has no hash.", where=where, remedy=COMPILE)
    return Pin(requirement, tuple(option.removeprefix("--hash=") for option in options), number)


def _requirement(text: str, where: str) -> Requirement:
    try:
        if len(text) > REQUIREMENT_LENGTH or "$" in text:
            raise InvalidRequirement
        requirement = Requirement(text)
        for specifier in requirement.specifier:
            if specifier.operator != "===":
                Version(specifier.version.removesuffix(".*"))
    except (InvalidRequirement, InvalidVersion, RecursionError):
        raise BadInput(
            f"'{visible(text[:80])}' is not a package of an index.",
            where=where,
            remedy="Use a name and version. Files, folders and repositories are not allowed.",
        ) from None
    if requirement.url is not None:
        raise BadInput(f"'{requirement.name}' comes from a URL.", where=where, remedy="Use a name and version.")
    return requirement


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
