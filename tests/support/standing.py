"""Made-up runs count as runs of shipped systems on built-in data, so that boards of tests can rank them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from memeval.leaderboard import standing
from memeval.records.run import Run
from memeval.systems.known import known

_digests: set[str] = set()
_benchmarks: set[str] = set()


def made_up(run: Run) -> None:
    """Let the system and the benchmark of a run count as shipped and built in, in this process."""
    _digests.add(run.system.submission_digest)
    _benchmarks.add(run.track.benchmark)


def allow_made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    catalogue_of = standing.catalogue_of

    def shipped(digest: str) -> Any:
        return (digest,) if digest in _digests else known().submissions_with(digest)

    def catalogue(benchmark: str) -> Any:
        return SimpleNamespace(generated=True) if benchmark in _benchmarks else catalogue_of(benchmark)

    monkeypatch.setattr(standing, "known", lambda: SimpleNamespace(submissions_with=shipped))
    monkeypatch.setattr(standing, "catalogue_of", catalogue)
