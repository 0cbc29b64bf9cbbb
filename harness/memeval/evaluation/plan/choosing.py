"""Chooses the systems and benchmarks of a plan: groups of systems, and the benchmarks that can run here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from memeval.benchmarks import all_benchmarks
from memeval.benchmarks.base import Benchmark
from memeval.records.benchmark import BenchmarkInfo
from memeval.systems.controls import controls_of
from memeval.systems.source import MANIFEST, SUBMISSIONS, SystemSource, find_system, folder_source

CONTROLS, ALL_SUBMISSIONS = "controls", "submissions"
"""Names of groups of systems."""


def offline_submissions(submissions: Path = SUBMISSIONS) -> list[SystemSource]:
    """Return the submissions that declare no model and no host: they need no key and no network.

    Raises:
        BadInput: a submission is not valid.
    """
    found = [folder_source(manifest.parent) for manifest in sorted(submissions.glob(f"*/{MANIFEST}"))]
    return [each for each in found if each.submission and not (each.declared_models or each.submission.hosts)]


def systems_named(name: str, info: BenchmarkInfo, submissions: Path = SUBMISSIONS) -> list[SystemSource]:
    """Return the systems of a group for a benchmark, or the one system with the name.

    Raises:
        BadInput: there is no such system, or it is invalid.
    """
    if name == CONTROLS:
        return [find_system(slug) for slug in controls_of(info.id)]
    return offline_submissions(submissions) if name == ALL_SUBMISSIONS else [find_system(name, submissions)]


def readers_for(
    source: SystemSource, info: BenchmarkInfo, protocol: str | None, named: Sequence[str]
) -> Iterator[str | None]:
    """Yield the readers of a system under a protocol: the named ones, or else its own; ``None`` for the default."""
    fixed = next(each.reader for each in info.protocols if protocol in (None, each.name))
    if fixed is not None:
        yield None
    elif named:
        yield from named
    elif source.control is not None:
        yield from source.control.readers
    else:
        yield None


def left_out(tier: str | None = None, protocol: str | None = None) -> dict[str, tuple[str, str]]:
    """Return the benchmarks that run only by name: by id, the reason in a few words and as sentences.

    Args:
        tier: a tier that the others have.
        protocol: a protocol that the others have.
    """
    reasons = {each.info.id: _reason(each, tier, protocol) for each in all_benchmarks()}
    return {name: reason for name, reason in reasons.items() if reason is not None}


def runnable(tier: str | None = None, protocol: str | None = None) -> list[str]:
    """Return the ids of the benchmarks that are not left out, in catalogue order; see :func:`left_out`."""
    skipped = left_out(tier, protocol)
    return [each.info.id for each in all_benchmarks() if each.info.id not in skipped]


def _reason(benchmark: Benchmark, tier: str | None, protocol: str | None) -> tuple[str, str] | None:
    info = benchmark.info
    if info.brought:
        command = f"--benchmark {info.id} --data FILE"
        return f"needs your own file ({command})", f"Its data is your own file. Run it with {command}."
    if info.by_name_only:
        return f"takes long (--benchmark {info.id})", f"It takes long. Run it with --benchmark {info.id}."
    for kind, wanted, known in (
        ("tier", tier, [each.name for each in info.tiers]),
        ("protocol", protocol, [each.name for each in info.protocols]),
    ):
        if wanted is not None and wanted not in known:
            return f"no {kind} '{wanted}'", f"It has no {kind} '{wanted}'. It has: {', '.join(known)}."
    if benchmark.available():
        return None
    command = f"memeval data pull {info.name}" if info.sources else f"memeval data list {info.name}"
    return f"no data ({command})", f"Its data is not on this machine. {benchmark.remedy()}"
