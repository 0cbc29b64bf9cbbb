"""The benchmarks that are installed: entry points of the group ``memeval.benchmarks``, memeval's own and others'.

The name of an entry point is the id of the benchmark, and its object makes the benchmark when called without arguments:
``"locomo@1" = "memeval.benchmarks.locomo:LocomoBenchmark"``. A benchmark is imported on first use. One that cannot be
used is left out and named in :func:`problems`, and the others keep working.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING

from memeval.records.errors import BadInput, did_you_mean
from memeval.records.run import Run
from memeval.removed import why_removed

if TYPE_CHECKING:
    from memeval.benchmarks.base import Benchmark

GROUP = "memeval.benchmarks"
"""The group of the entry points."""

OWN = "memeval-leaderboard"

PACKAGES = ("bpe-openai", "pydantic")
"""Packages whose version can affect scores."""

REINSTALL = "Install memeval again: pip install -e . in its folder."
"""What to do if entry points are missing: an installer writes them once."""

TOLERANCE = 1e-9
"""Largest difference between 1 and the sum of a benchmark's weights."""


class BrokenBenchmark(BadInput):
    """An installed benchmark cannot be used."""


@dataclass(frozen=True)
class Origin:
    package: str
    """Name of the distribution; blank if unknown."""
    version: str
    """Its version; blank if unknown."""

    @property
    def is_own(self) -> bool:
        return self.package == OWN

    def __str__(self) -> str:
        return f"{self.package} {self.version}".strip() or "an unknown package"


@dataclass(frozen=True)
class Extension:
    """What an entry point of a package adds to memeval: a check of ``verify``, or a file format."""

    kind: str
    """What it is, for messages: ``check`` or ``file format``."""
    name: str
    package: str
    """The package with its version."""
    entry: EntryPoint

    def load(self) -> object:
        """Import its object. Raises ``BadInput`` if that fails."""
        try:
            return self.entry.load()
        except (Exception, SystemExit) as error:  # foreign code may raise anything
            raise self.unusable(error) from error

    def unusable(self, error: BaseException) -> BadInput:
        said = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}".rstrip(".")
        problem = error.problem if isinstance(error, BadInput) else f"{said}."
        return BadInput(
            f"the {self.kind} {self.name} of {self.package} cannot be used: {problem}",
            remedy="Ask its authors, or uninstall the package.",
        )


def extensions(group: str, kind: str) -> tuple[Extension, ...]:
    """Return what the installed packages add under a group of entry points, by name. Nothing is imported."""
    return tuple(Extension(kind, entry.name, str(_origin(entry)), entry) for entry in _extending(group))


@cache
def _extending(group: str) -> tuple[EntryPoint, ...]:
    return tuple(sorted(entry_points(group=group), key=lambda entry: entry.name))


def known_ids() -> tuple[str, ...]:
    """Return the ids of the installed benchmarks; nothing is imported."""
    return tuple(_entries())


def origin(benchmark_id: str) -> Origin:
    """Return the package that has a benchmark. Raises ``KeyError``: no package has it."""
    return _origin(_entries()[benchmark_id])


def all_benchmarks() -> tuple[Benchmark, ...]:
    """Return every benchmark that can be used, in the order of boards: memeval's own first."""

    def place(benchmark: Benchmark) -> tuple[bool, int, str]:
        return not origin(benchmark.info.id).is_own, benchmark.info.position, benchmark.info.name

    return tuple(sorted(_working(), key=place))


def quick_benchmark() -> Benchmark:
    """Return the benchmark for a first run and for the check of a submission: the first with ``quick``.

    Raises ``BadInput``: no installed benchmark has it.
    """
    for benchmark in all_benchmarks():
        if benchmark.info.quick is not None:
            return benchmark
    raise BadInput("no installed benchmark suits a quick check.", remedy="Install memeval again.")


def problems() -> tuple[BrokenBenchmark, ...]:
    """Return why installed benchmarks cannot be used, as far as they were needed until now."""
    return tuple(_problems.values())


def find(name: str) -> Benchmark:
    """Return a benchmark by its name or id.

    ``name``: ``beliefs`` for the newest version, or with its version ``beliefs@2``. Raises ``BadInput``: the name or
    the version is unknown or was removed, or the benchmark cannot be used.
    """
    known: dict[str, list[str]] = {}
    for each in sorted(known_ids(), key=_version):
        known.setdefault(each.partition("@")[0], []).append(each)
    found = known[name][-1] if name in known else name
    if found in known_ids():
        return load(found)
    if reason := why_removed(name):
        raise BadInput(reason)
    wanted, _, version = name.partition("@")
    if version and wanted in known:
        raise BadInput(f"{wanted} has no version {version!r}.", remedy=f"This memeval has {', '.join(known[wanted])}.")
    if _is_stale(wanted):
        raise BadInput(f"{wanted} is newer than this installation of memeval.", remedy=REINSTALL)
    names = ", ".join(dict.fromkeys(each.partition("@")[0] for each in known_ids()))
    raise BadInput(
        f"unknown benchmark {name!r}.", remedy=did_you_mean(wanted.lower(), known, f"Choose one of: {names}.")
    )


def _version(benchmark_id: str) -> int:
    """Return the version in an id, 0 without one: other packages may name theirs badly."""
    version = benchmark_id.partition("@")[2]
    return int(version) if version.isdecimal() else 0


def not_installed(run: Run) -> BadInput | None:
    """Return that the benchmark of a run is not installed here, and what had it; ``None`` if it is installed."""
    if run.track.benchmark in known_ids():
        return None
    needed = [f"{name}=={at}" for name, at in run.harness.packages.items() if name not in PACKAGES]
    if _is_stale(run.track.benchmark.partition("@")[0]):
        remedy = REINSTALL
    elif needed and all(_PINNED.fullmatch(each) for each in needed):
        remedy = f"If you trust it: pip install {' '.join(needed)}"
    else:
        remedy = "Install the package that has it."
    return BadInput(f"the benchmark {run.track.benchmark} is not installed here.", remedy=remedy)


def load(benchmark_id: str) -> Benchmark:
    """Return an installed benchmark by its id. Raises ``BrokenBenchmark``: it cannot be used."""
    if benchmark_id in _problems:
        raise _problems[benchmark_id]
    entry = _entries()[benchmark_id]
    try:
        return _made(entry)
    except BrokenBenchmark as problem:
        broken = problem
    except BadInput as fault:
        said = f"{fault.where}: {fault.problem}" if fault.where else fault.problem
        broken = _broken(entry, said, fault.remedy or "Correct it, or ask its authors.")
    except (Exception, SystemExit) as error:  # foreign code may raise anything
        said = " ".join(str(error).split())[:200]
        broken = _broken(entry, f"{entry.value} fails ({type(error).__name__}: {said}).")
        broken.__cause__ = error
    _problems[benchmark_id] = broken
    raise broken


_problems: dict[str, BrokenBenchmark] = {}


@cache
def _made(entry: EntryPoint) -> Benchmark:
    """Make the benchmark of an entry point and check it, once in a process."""
    return _checked(entry.load()(), entry)


_PINNED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}==[A-Za-z0-9][A-Za-z0-9.+!_-]{0,99}")
"""A package with its version. A run may come from anyone, and its reader copies the line into a shell."""


def _is_stale(name: str) -> bool:
    """Return whether memeval has the benchmark's folder, and the installation is too old to have its entry point."""
    return name in _folders() and name not in {each.partition("@")[0] for each in known_ids()}


@cache
def _folders() -> frozenset[str]:
    """Return the names of memeval's folders with a benchmark; a board asks for each run of an unknown benchmark."""
    folders = resources.files(__package__).iterdir()
    return frozenset(each.name for each in folders if (each / "catalogue.toml").is_file())


def _working() -> Iterator[Benchmark]:
    for benchmark_id in known_ids():
        try:
            yield load(benchmark_id)
        except BrokenBenchmark:
            continue


@cache
def _entries() -> dict[str, EntryPoint]:
    """Return the entry points by id. Raises ``BadInput``: memeval's own are missing."""
    listed = sorted(entry_points(group=GROUP), key=lambda entry: not _origin(entry).is_own)
    if not listed:
        raise BadInput("no benchmark is installed.", remedy=REINSTALL)
    found: dict[str, EntryPoint] = {}
    owners: dict[str, EntryPoint] = {}
    for entry in listed:
        owner = owners.setdefault(entry.name.partition("@")[0], entry)
        same = _origin(owner).package == _origin(entry).package
        # A name is a folder of data and of results, so another package cannot have a further version of it.
        first = found.setdefault(entry.name, entry) if same else owner
        if not same or first.value != entry.value:
            key = f"{entry.name} of {_origin(entry)}"
            _problems[key] = _broken(entry, f"{_origin(first)} already has the benchmark {first.name}.", "Rename it.")
    return found


@cache
def _origin(entry: EntryPoint) -> Origin:
    distribution = entry.dist
    return Origin("", "") if distribution is None else Origin(distribution.name, distribution.version)


def _checked(benchmark: object, entry: EntryPoint) -> Benchmark:
    """Return what an entry point made, if it is a benchmark whose description fits.

    Raises ``BrokenBenchmark``: it is not.
    """
    from memeval.benchmarks.base import Benchmark
    from memeval.benchmarks.catalogue import check_charts, check_tab
    from memeval.judging.prompting import SHARED

    if not isinstance(benchmark, Benchmark):
        raise _broken(entry, f"{entry.value} gives {type(benchmark).__name__}, and not a Benchmark.")
    kind = type(benchmark)
    if kind.open is Benchmark.open and kind.opened is Benchmark.opened:
        raise _broken(entry, f"{entry.value} opens no data.", "Define 'open', or 'opened' if protocols differ.")
    info = getattr(benchmark, "info", None)
    if info is None:
        raise _broken(entry, "it has no catalogue ('info').", "Give the class an attribute 'info'.")
    if info.id != entry.name:
        raise _broken(entry, f"its catalogue says {info.id}.", "Use one id in the entry point and in the catalogue.")
    if not info.licence.strip():
        raise _broken(entry, "its catalogue names no licence.", "Write the SPDX expression of the data's licence.")
    for protocol in info.protocols:
        weights = [category.weight for category in benchmark.table(protocol.name)]
        shares = [weight for weight in weights if weight is not None]
        if any(shares) and len(shares) < len(weights):
            raise _broken(
                entry,
                f"some categories of the protocol '{protocol.name}' have a weight, and others have none.",
                "Write a weight for each category, or for none.",
            )
        if len(shares) == len(weights) and not abs(math.fsum(shares) - 1) < TOLERANCE:
            raise _broken(
                entry,
                f"the weights of the protocol '{protocol.name}' sum to {math.fsum(shares):g}.",
                "Write weights that sum to 1, or none.",
            )
    try:
        check_charts(info)
        check_tab(info)
    except BadInput as fault:
        raise _broken(entry, fault.problem, fault.remedy or "") from None
    if benchmark.prompts != SHARED and not (resources.files(benchmark.prompts) / "prompts").is_dir():
        raise _broken(entry, f"{benchmark.prompts} has no folder 'prompts'.", "Add the judge prompts as .txt files.")
    return benchmark


def unusable(benchmark_id: str, problem: str, remedy: str = "") -> BrokenBenchmark:
    """Return the error that a benchmark cannot be used, with the name of its package.

    ``benchmark_id``: its id; it may be of no installed package. ``remedy``: what its author can do, as a sentence;
    blank if only a reinstallation helps.
    """
    entry = _entries().get(benchmark_id)
    return _unusable(benchmark_id, "" if entry is None else f" of {_origin(entry)}", problem, remedy)


def _broken(entry: EntryPoint, problem: str, remedy: str = "") -> BrokenBenchmark:
    return _unusable(entry.name, f" of {_origin(entry)}", problem, remedy)


def _unusable(name: str, package: str, problem: str, remedy: str) -> BrokenBenchmark:
    advice = remedy or "Ask its authors, or uninstall it."
    return BrokenBenchmark(f"the benchmark {name}{package} cannot be used: {problem}", remedy=advice)
