"""The released data, where this machine has it, and a made-up user."""

from pathlib import Path

import pytest

from memeval.benchmarks.lifebench import LifeBenchBenchmark
from memeval.benchmarks.lifebench.dataset import LifeBenchDataset
from tests.benchmarks.lifebench.samples import write_user
from tests.support.data import test_data


@pytest.fixture(scope="session")
def data() -> Path:
    """Return the folder of LifeBench's released data."""
    return test_data("lifebench/LICENSE").parent


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with one made-up user."""
    return write_user(tmp_path_factory.mktemp("lifebench"))


@pytest.fixture(scope="session")
def dataset(small: Path) -> LifeBenchDataset:
    """Return the made-up user, opened."""
    return LifeBenchBenchmark().opened(small, None, "retrieval", "quick")
