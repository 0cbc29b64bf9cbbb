"""Small runs in an archive, for tests."""

from pathlib import Path

from memeval.archive.remote.index import listed_heads
from memeval.archive.remote.pulling import Pulled, pull_runs
from memeval.archive.remote.pushing import Pushed, push_runs
from memeval.archive.runs import RunFolder
from memeval.objects import ObjectStore
from tests.support.runs import make_run, make_track

TRACK = make_track(items=2)


def small_run(results: Path, slug: str = "tiny", day: int = 1) -> RunFolder:
    """Write a run of four items that started on a day of November."""
    return make_run(results, slug, {"kept": 1}, track=TRACK, started=f"2026-11-{day:02}T10:00:00.000+00:00")


def push(store: ObjectStore, *folders: RunFolder) -> list[Pushed]:
    return list(push_runs(folders, store))


def pull(store: ObjectStore, results: Path) -> list[Pulled]:
    return list(pull_runs(listed_heads(store), store, results))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
