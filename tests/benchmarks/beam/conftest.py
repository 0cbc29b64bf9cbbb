"""The released data, where this machine has it, and made-up chats."""

from pathlib import Path

import pytest

from memeval.benchmarks.beam import BeamBenchmark
from memeval.benchmarks.beam.dataset import BeamDataset
from tests.benchmarks.beam.samples import write_size
from tests.support.data import test_data


@pytest.fixture(scope="session")
def data() -> Path:
    """Return the folder of BEAM's released data."""
    return test_data("beam/MANIFEST.json").parent


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with twenty made-up chats."""
    return write_size(tmp_path_factory.mktemp("beam"))


@pytest.fixture(scope="session")
def dataset(small: Path) -> BeamDataset:
    """Return the made-up chats, opened."""
    return BeamBenchmark().opened(small, None, "retrieval", "100k")
