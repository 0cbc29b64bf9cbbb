"""The released data, where this machine has it."""

from pathlib import Path

import pytest

from memeval.benchmarks import find
from memeval.benchmarks.base import Dataset
from tests.support.data import test_data


@pytest.fixture(scope="session")
def data() -> Path:
    """Return the folder of benchmark data."""
    return test_data("locomo/locomo10.json").parents[1]


@pytest.fixture(scope="session")
def dataset(data: Path) -> Dataset:
    return find("locomo").open(data)
