"""Resolves the lock of a released version as of the day of its release."""

import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from memeval.evaluation.history.released import Release, installable_day, released
from memeval.records.errors import BadInput
from memeval.records.history import PackageIndex
from memeval.systems.environments.install import UV_FLAGS, is_of_the_machine, npm_refusal, python_refusal
from memeval.systems.environments.python_lock import (
    PACKAGE_LOCK,
    REQUIREMENTS,
    Pin,
    read_package_lock,
    read_pins,
    write_pins,
)
from memeval.systems.environments.tools import (
    ToolFailed,
    base_python,
    find_uv,
    node_tool,
    run_tool,
    uv_settings,
)

LATER_DAYS = (7, 30, 90, 180, 365, None)
"""How many days after a release its packages are looked for, if they cannot be resolved as of its day."""

ALWAYS = "2999-01-01T00:00:00Z"
"""The end of the time for packages that the adapter brings."""

CUDA = re.compile(r"nvidia-.+|triton|cuda-.+")

UNDATED = "The index gives no dates that rise with the versions, so all other packages are of today."


@dataclass(frozen=True)
class Resolution:
    file: str
    """Name of the lock file."""
    text: str
    """Its text."""
    substituted: tuple[str, ...] = ()
    """Packages of a later day, each in a sentence."""


@dataclass(frozen=True)
class PythonWanted:
    package: str
    version: str
    day: str | None
    """UTC date of the release; ``None`` resolves all packages as of today."""
    together: tuple[str, ...]
    """Other packages of the product, of the same day."""
    brings: Mapping[str, str]
    """Packages that the adapter brings, each with its version, whatever the day."""

    @property
    def requirements(self) -> list[str]:
        brought = [f"{name}=={version}" for name, version in sorted(self.brings.items())]
        return [f"{self.package}=={self.version}", *self.together, *brought]


def resolve_python(wanted: PythonWanted) -> Resolution:
    """Return the lock of a Python package as of a day.

    Where no version of that day can be installed, the packages concerned are taken from a later day, and named.
    Raises ``BadInput`` if nothing fits, or a CUDA package is needed.
    """
    if wanted.day is None:
        return _resolution(_compiled(wanted, None, {}), (UNDATED,))
    end = date.fromisoformat(wanted.day)
    try:
        return _resolution(_compiled(wanted, end, {}))
    except BadInput as first:
        for days in LATER_DAYS:
            later = None if days is None else end + timedelta(days=days)
            try:
                pins = _compiled(wanted, later, {})
            except BadInput:
                continue
            return _with_fewest_later(wanted, end, later, pins)
        raise first from None


def _with_fewest_later(wanted: PythonWanted, end: date, later: date | None, pins: tuple[Pin, ...]) -> Resolution:
    """Return a lock in which only the packages are of a later day that must be."""
    listed: dict[str, Mapping[str, Release]] = {}

    def late(found: Sequence[Pin]) -> dict[str, str | None]:
        days = {pin.name: _day(pin, listed) for pin in found if pin.name not in _names(wanted.brings)}
        return {name: day for name, day in days.items() if day is None or day > end.isoformat()}

    until = ALWAYS if later is None else _end_of(later)
    exempt, fewest = dict.fromkeys(late(pins), until), pins
    for name in (None, *exempt):
        fewer = {each: until for each in exempt if each != name}
        try:
            fewest = _compiled(wanted, end, fewer)
        except BadInput:
            if name is None:  # something else of a later day is needed, too
                break
        else:
            exempt = fewer
    versions = {pin.name: str(pin.version) for pin in fewest}
    said = "no version of the release's day can be installed here."
    substituted = (
        f"{name} {versions[name]} is of {'an unknown day' if day is None else day}: {said}"
        for name, day in sorted(late(fewest).items())
    )
    return _resolution(fewest, tuple(substituted))


def _day(pin: Pin, listed: dict[str, Mapping[str, Release]]) -> str | None:
    """Return the first day of a pinned version; ``None`` if the index does not list it, or gives no date.

    ``listed``: the versions of the packages asked for so far. Raises ``BadInput`` if the index gives no answer.
    """
    if pin.name not in listed:
        try:
            every = released(pin.name, PackageIndex.PYPI).every
        except BadInput as error:
            if is_of_the_machine(error):
                raise
            every = ()
        listed[pin.name] = {str(each.order): each for each in every}
    release = listed[pin.name].get(str(pin.version))
    return None if release is None else installable_day(release)


def _resolution(pins: tuple[Pin, ...], substituted: tuple[str, ...] = ()) -> Resolution:
    if cuda := sorted({pin.name for pin in pins if CUDA.fullmatch(pin.name)}):
        raise BadInput(
            f"needs CUDA packages ({cuda[0]} and {len(cuda) - 1} more), which memeval history does not install.",
            remedy="Run this version by hand.",
        )
    return Resolution(REQUIREMENTS, write_pins(pins), substituted)


def _compiled(wanted: PythonWanted, end: date | None, exempt: Mapping[str, str]) -> tuple[Pin, ...]:
    """Resolve the packages with uv.

    ``end``: the last day of the other packages; ``None`` for today. ``exempt``: other ends of single packages. Raises
    ``BadInput`` if nothing fits.
    """
    tool = find_uv()
    if tool is None:
        raise BadInput("uv is not installed; only it resolves packages as of a day.", remedy="Run: pip install uv.")
    flags = ["--generate-hashes", "--no-header", "--no-annotate", "--python", str(base_python())]
    if end is not None:
        flags += ["--exclude-newer", _end_of(end)]
        for name, until in {**dict.fromkeys(sorted(_names(wanted.brings)), ALWAYS), **exempt}.items():
            flags += ["--exclude-newer-package", f"{name}={until}"]
    lines = wanted.requirements
    with tempfile.TemporaryDirectory(prefix="memeval-history-") as name:
        folder = Path(name)
        (folder / "requirements.in").write_text("".join(f"{each}\n" for each in lines), "utf-8")
        try:
            command = [*tool.command, "pip", "compile", *UV_FLAGS, *flags, "requirements.in"]
            text = run_tool(command, folder, uv_settings())
        except ToolFailed as failure:
            raise python_refusal(failure, tool, lines[0], lambda _name: lines[0]) from None
        return read_pins(text, folder / REQUIREMENTS)


def _end_of(day: date) -> str:
    """Return the end of a UTC day as uv reads it: files before this time count."""
    return f"{(day + timedelta(days=1)).isoformat()}T00:00:00Z"


def _names(brings: Mapping[str, str]) -> frozenset[str]:
    return frozenset(canonicalize_name(name) for name in brings)


def pinned(folder: Path, names: Sequence[str]) -> dict[str, str]:
    """Return the versions of packages in the lock of a submission. Raises ``BadInput`` if the lock lacks one.

    Of a package with several pins, the one for this Python counts.
    """
    lock = folder / REQUIREMENTS
    listed = read_pins(lock.read_text("utf-8"), lock) if lock.is_file() else ()
    pins = {pin.name: pin for pin in listed if pin.requirement.marker is None or pin.requirement.marker.evaluate()}
    found: dict[str, str] = {}
    for name in names:
        pin = pins.get(canonicalize_name(name))
        if pin is None:
            raise BadInput(
                f"does not pin '{name}', which the adapter brings.",
                where=lock,
                remedy="Correct 'brings' in history/history.toml, or compile the lock again.",
            )
        found[pin.name] = str(pin.version)
    return found


def required(folder: Path) -> list[str]:
    """Return the names of the packages in ``requirements.in`` of a submission; empty without the file."""
    path = folder / "requirements.in"
    names: list[str] = []
    for line in path.read_text("utf-8").splitlines() if path.is_file() else []:
        with suppress(InvalidRequirement):
            names.append(canonicalize_name(Requirement(line.partition(" #")[0].strip()).name))
    return names


def resolve_npm(package: Mapping[str, Any], name: str, version: str, day: str | None) -> tuple[Resolution, str]:
    """Return the lock of a Node package as of a day, and the text of its ``package.json``.

    ``package``: the ``package.json`` of the submission. ``day``: UTC date of the release; ``None`` resolves all other
    packages as of today. Raises ``BadInput`` if nothing fits.
    """
    npm = node_tool("npm")
    changed = {**package, "dependencies": {**package.get("dependencies", {}), name: version}}
    text = json.dumps(changed, ensure_ascii=False, indent=2) + "\n"
    flags = ["--package-lock-only", "--ignore-scripts", "--omit-lockfile-registry-resolved", "--no-audit", "--no-fund"]
    if day is not None:
        flags.append(f"--before={date.fromisoformat(day) + timedelta(days=1)}")
    with tempfile.TemporaryDirectory(prefix="memeval-history-") as place:
        folder = Path(place)
        (folder / "package.json").write_text(text, "utf-8")
        try:
            run_tool([*npm.command, "install", *flags], folder)
        except ToolFailed as failure:
            raise npm_refusal(failure, npm, folder / "package.json", {"packages": {}}) from None
        lock = (folder / PACKAGE_LOCK).read_text("utf-8")
        read_package_lock(lock, folder / PACKAGE_LOCK)
    return Resolution(PACKAGE_LOCK, lock, () if day is not None else (UNDATED,)), text
