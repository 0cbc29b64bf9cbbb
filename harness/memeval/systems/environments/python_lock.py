"""What a submission says of its Python packages: ``requirements.lock`` and PEP 723 metadata, read strictly.

Installers never see these files, only what was understood of them: no line is there that they would read differently.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from memeval.records.errors import BadInput
from memeval.systems.output import visible

REQUIREMENTS = "requirements.lock"

COMPILE = "Compile it with 'uv pip compile --generate-hashes', or 'pip-compile --generate-hashes'."

SCRIPT = re.compile(r"(?m)^# /// script$\s(?P<content>(^#(| .*)$\s)+)^# ///$")
"""The block of PEP 723, as its reference implementation finds it."""

DIGITS = {"sha256": 64, "sha384": 96, "sha512": 128}
"""Hash algorithms that count, and how many hexadecimal digits each writes."""

LONGEST = 1000
"""How long a package's name, extras, version and marker may be together: installers take hours over long versions.

There is no ``$`` in them either: installers put variables of memeval's own in place of ``${NAME}``.
"""

OPTIONS = {
    "-r": "another file is taken in",
    "--requirement": "another file is taken in",
    "-c": "another file is taken in",
    "--constraint": "another file is taken in",
    "-e": "an editable package has no hash",
    "--editable": "an editable package has no hash",
    "-i": "where packages come from is for whoever runs it to say",
    "--index-url": "where packages come from is for whoever runs it to say",
    "--extra-index-url": "where packages come from is for whoever runs it to say",
    "-f": "where packages come from is for whoever runs it to say",
    "--find-links": "where packages come from is for whoever runs it to say",
    "--trusted-host": "where packages come from is for whoever runs it to say",
}
"""Options of requirements files that are refused by name, and why; every other is unknown here."""


@dataclass(frozen=True)
class Pin:
    """One package of a lock: a name, one version, and the digests that its file may have."""

    requirement: Requirement
    """Name, extras, version and marker."""
    hashes: tuple[str, ...]
    """Digests, each written ``sha256:`` and so on."""
    line: int
    """Where it stands, from 1."""

    @property
    def name(self) -> str:
        """The name, in the form in which names are compared."""
        return canonicalize_name(self.requirement.name)

    @property
    def version(self) -> Version:
        """The version."""
        return Version(next(iter(self.requirement.specifier)).version)

    def __str__(self) -> str:
        return " ".join([str(self.requirement), *(f"--hash={digest}" for digest in self.hashes)])


@dataclass(frozen=True)
class Script:
    """What a file says of itself inline, by PEP 723."""

    dependencies: tuple[Requirement, ...]
    """Packages it needs."""
    python: SpecifierSet
    """Versions of Python it runs on."""
    line: int
    """Where the block begins, from 1."""


def read_pins(text: str, where: Path) -> tuple[Pin, ...]:
    """Read a ``requirements.lock``: every line one package at one version, with its digests.

    Args:
        text: what the file holds.
        where: the file, named in refusals.

    Raises:
        BadInput: something else stands there; with file and line.
    """
    return tuple(_pin(line, f"{where}:{number}", number) for number, line in _logical_lines(text))


def write_pins(pins: Iterable[Pin]) -> str:
    """Return the lock in the form in which installers get it."""
    return "".join(f"{pin}\n" for pin in pins)


def read_script(text: str, where: Path) -> Script | None:
    """Read the PEP 723 metadata of a Python file; ``None`` where it has none.

    Args:
        text: the file's source.
        where: the file, named in refusals.

    Raises:
        BadInput: the block is not what it should be, or there are two.
    """
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
    except (ValueError, RecursionError) as error:  # Python reads no number of more than 4,300 digits
        raise BadInput(f"the '# /// script' block is not valid TOML: {visible(str(error))}.", where=at) from None
    named = data.get("dependencies", [])
    if not isinstance(named, list) or not all(isinstance(each, str) for each in named):
        raise BadInput("'dependencies' of the '# /// script' block is not a list of texts.", where=at)
    python = data.get("requires-python", "")
    try:
        specifiers = SpecifierSet(python if isinstance(python, str) else "?")
    except InvalidSpecifier:
        raise BadInput(
            f"'requires-python' of the '# /// script' block is no range of versions: {visible(str(python))}.",
            where=at,
            remedy='Write one such as ">=3.11".',
        ) from None
    if unknown := sorted(set(data) - {"dependencies", "requires-python", "tool"}):
        raise BadInput(f"unknown key '{visible(unknown[0])}' in the '# /// script' block.", where=at)
    return Script(tuple(_requirement(each, at) for each in named), specifiers, line)


def check_covered(script: Script, pins: Iterable[Pin], where: Path, lock: Path) -> None:
    """Refuse a lock that does not pin what the script beside it asks for.

    Raises:
        BadInput: a package is missing from the lock, or pinned at a version that does not fit.
    """
    pinned: dict[str, list[Version]] = {}
    for pin in pins:
        pinned.setdefault(pin.name, []).append(pin.version)
    for wanted in script.dependencies:
        versions = pinned.get(canonicalize_name(wanted.name), [])
        if not any(wanted.specifier.contains(version, prereleases=True) for version in versions):
            raise BadInput(
                f"asks for '{wanted}', which {lock.name} does not pin.",
                where=f"{where}:{script.line}",
                remedy=f"Compile {lock.name} again.",
            )


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines with their numbers: comments taken away, and lines that end in a backslash joined to the next."""
    held, start = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        bare = re.sub(r"(^|\s)#.*$", "", line).strip()
        start = start or number
        if bare.endswith("\\"):
            held += bare[:-1] + " "
            continue
        if whole := (held + bare).strip():
            yield start, whole
        held, start = "", 0
    if held.strip():
        yield start, held.strip()


def _pin(line: str, where: str, number: int) -> Pin:
    if line.startswith("-"):
        option = re.split(r"[\s=]", line, maxsplit=1)[0]
        why = OPTIONS.get(option, "it is no package")
        raise BadInput(f"'{visible(option)}' has no place in a lock: {why}.", where=where, remedy="Delete the line.")
    written, *options = re.split(r" (?=--)", " ".join(line.split()))
    requirement = _requirement(written, where)
    specifiers = list(requirement.specifier)
    if len(specifiers) != 1 or specifiers[0].operator != "==" or specifiers[0].version.endswith(".*"):
        raise BadInput(f"'{requirement.name}' is not pinned to one version with '=='.", where=where, remedy=COMPILE)
    for option in options:
        found = re.fullmatch(r"--hash=(sha256|sha384|sha512):([0-9a-f]+)", option)
        if found is None or len(found[2]) != DIGITS[found[1]]:
            raise BadInput(f"'{visible(option[:80])}' is no hash of '{requirement.name}'.", where=where, remedy=COMPILE)
    if not options:
        raise BadInput(f"'{requirement.name}' has no hash.", where=where, remedy=COMPILE)
    return Pin(requirement, tuple(option.removeprefix("--hash=") for option in options), number)


def _requirement(text: str, where: str) -> Requirement:
    try:
        if len(text) > LONGEST or "$" in text:
            raise InvalidRequirement
        requirement = Requirement(text)
        for specifier in requirement.specifier:
            if specifier.operator != "===":
                Version(specifier.version.removesuffix(".*"))
    except (InvalidRequirement, InvalidVersion, RecursionError):
        raise BadInput(
            f"'{visible(text[:80])}' is no package of an index.",
            where=where,
            remedy="Give it by name and version; files, folders and repositories have no place here.",
        ) from None
    if requirement.url is not None:
        raise BadInput(
            f"'{requirement.name}' comes from an address.", where=where, remedy="Give it by name and version."
        )
    return requirement
