"""The released data, where this machine has it, and a made-up user."""

import os
from pathlib import Path

import pytest

from memeval.benchmarks.lifebench import LifeBenchBenchmark
from memeval.benchmarks.lifebench.dataset import LifeBenchDataset
from tests.benchmarks.lifebench.samples import write_user


@pytest.fixture(scope="session")
def data() -> Path:
    """Return the folder of LifeBench's released data."""
    folder = os.environ.get("MEMEVAL_TEST_DATA")
    if not folder or not (Path(folder) / "lifebench" / "data_en").is_dir():
        pytest.skip("MEMEVAL_TEST_DATA names no folder with lifebench/data_en")
    return Path(folder) / "lifebench"


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with one made-up user."""
    return write_user(tmp_path_factory.mktemp("lifebench"))


@pytest.fixture(scope="session")
def dataset(small: Path) -> LifeBenchDataset:
    """Return the made-up user, opened."""
    return LifeBenchBenchmark().opened(small, None, "retrieval", "quick")
