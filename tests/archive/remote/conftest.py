"""Stores and small runs for tests of the archive."""

from pathlib import Path

import pytest

from memeval.archive.runs import RunFolder
from memeval.objects import ObjectStore, open_store, parse_place
from tests.support.archives import push, small_run
from tests.support.bucket_server import BUCKET, Bucket


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMEVAL_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    """Return an archive in a folder."""
    return open_store(parse_place(str(tmp_path / "archive")))


@pytest.fixture
def in_bucket(tmp_path: Path, bucket: Bucket) -> ObjectStore:
    """Return an archive in a bucket of a real server."""
    return open_store(parse_place(f"s3://{BUCKET}/{tmp_path.name}", endpoint=bucket.endpoint))


@pytest.fixture
def pushed(store: ObjectStore, tmp_path: Path) -> RunFolder:
    """Return a small run of ``results``, which is in the archive."""
    run = small_run(tmp_path / "results")
    push(store, run)
    return run
