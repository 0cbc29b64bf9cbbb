"""Synthetic users for the tests of MemoryCD."""

from pathlib import Path

import pytest

from tests.support.memorycd import users, write_data


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of six synthetic users with metadata, in the layout that was released."""
    return write_data(tmp_path_factory.mktemp("memorycd"), users(6))
