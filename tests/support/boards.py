"""Boards whose sites have a few files: what is tested is how they are published."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from memeval.archive.runs import RunFolder, sealed_runs
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.records.release import Release
from memeval.site.model.files import shared
from memeval.site.release.publish import publish
from memeval.site.release.targets import EntryKind, Target
from memeval.systems.source import find_system
from tests.support.tiny import TinyBenchmark


def add_run(results: Path, system: str) -> None:
    run_system(find_system(system), BenchmarkSession.open(TinyBenchmark()), RunOptions(results=results))


def small_build(
    results: Path,
    out: Path,
    *,
    version: str,
    releases: Iterable[Release],
    sealed: Sequence[RunFolder] | None = None,
    **_: Any,
) -> None:
    """Write a site as the real build does: a page, a style sheet, a page and shared data for each run."""
    known = ", ".join(release.version for release in releases)
    files = {"index.html": f"<title>{version}</title><p>{known}</p>".encode(), "assets/memeval.css": b"p {}"}
    for folder in sealed_runs(results) if sealed is None else sealed:
        files[f"runs/{folder.run.run_id}/index.html"] = folder.run.run_id.encode()
        for content, suffix in ((folder.head_bytes, ".json"), (folder.file("grades.jsonl").read_bytes(), "-grades.gz")):
            asset = shared(content, suffix)
            files[asset.path] = content
    for path, content in files.items():
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        (out / path).write_bytes(content)


def published(results: Path, target: Target, version: str | None = None) -> list[str]:
    return list(publish(results, target, version=version, by="tester"))


def content_of(target: Target) -> dict[str, bytes]:
    return {path: target.read(path) for path, entry in target.entries().items() if entry.kind is EntryKind.FILE}
