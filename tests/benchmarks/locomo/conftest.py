"""The released data, where this machine has it."""

import os
from pathlib import Path

import pytest

from memeval.benchmarks.base import Dataset
from memeval.benchmarks.locomo import LocomoBenchmark

FULL = "locomo/locomo10.json"


@pytest.fixture(scope="session")
def data() -> Path:
    """Return the folder of benchmark data."""
    folder = os.environ.get("MEMEVAL_TEST_DATA")
    if not folder or not (Path(folder) / FULL).is_file():
        pytest.skip(f"MEMEVAL_TEST_DATA names no folder with {FULL}")
    return Path(folder)


@pytest.fixture(scope="session")
def dataset(data: Path) -> Dataset:
    """Return the released data, opened."""
    return LocomoBenchmark().open(data)
