"""What other processes compute before a build: the build finds all of it, and gives the same bytes."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from memeval.archive.runs import RunFolder, sealed_runs
from memeval.evaluation.verify import reproduce
from memeval.site import build
from memeval.site.frame import building
from memeval.site.items import run_shards
from memeval.site.items.kept_contents import keep_contents
from tests.support.archives import contents

ROOT = Path(__file__).parents[3]


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stored runs on two data sets, and an empty cache that other processes have too."""
    results = tmp_path / "results"
    for name in ("beliefs/always-hedge", "qa-smoke/no-memory", "qa-smoke/bm25s"):
        run = min((ROOT / "results" / name).rglob("run.json"))
        shutil.copytree(run.parent, results / run.parent.relative_to(ROOT / "results"))
    monkeypatch.setenv("MEMEVAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("memeval.archive.run_cache.cache_home", lambda: tmp_path / "cache")
    return results


def kept_of_runs(folder: Path) -> dict[str, bytes]:
    kinds = {"failures", "scores", "shards", "trace"}
    files = (folder / "cache/site").iterdir()
    return {path.name: path.read_bytes() for path in files if path.name.partition("-")[2] in kinds}


def test_with_more_processes_the_build_computes_nothing_of_what_they_keep_and_the_site_has_the_same_bytes(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(results, tmp_path / "one")
    one = kept_of_runs(tmp_path)
    shutil.rmtree(tmp_path / "cache")
    kept: dict[str, bytes] = {}

    def keep(folders: Sequence[RunFolder], jobs: int) -> None:
        keep_contents(folders, jobs)
        kept.update(kept_of_runs(tmp_path))

    def refuse(*_: object) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr(building, "keep_contents", keep)
    monkeypatch.setattr(reproduce, "failures_of_run", refuse)
    monkeypatch.setattr(run_shards, "run_shards", refuse)
    build(results, tmp_path / "two", jobs=2)
    assert one.items() <= kept.items() and len(kept) == 12
    assert contents(tmp_path / "two") == contents(tmp_path / "one")


def test_a_run_that_cannot_be_read_is_left_to_the_build(results: Path) -> None:
    run = sealed_runs(results)[0]
    run.file("responses.jsonl").write_bytes(b"no rows")
    keep_contents([*sealed_runs(results), RunFolder(results / "nowhere")], 2)
    kept = {path.name for path in run.path.parents[3].joinpath("cache/site").iterdir()}
    assert not any(name.startswith(run.digest.removeprefix("sha256:") + "-shards") for name in kept) and kept
