"""Where tests find benchmark data that may not be part of the project."""

import os
from pathlib import Path

import pytest


def test_data(name: str) -> Path:
    """Return a file of the folder that ``MEMEVAL_TEST_DATA`` names; skip the test where it is not here."""
    folder = os.environ.get("MEMEVAL_TEST_DATA")
    path = Path(folder) / name if folder else None
    if path is None or not path.is_file():
        pytest.skip(f"{name} is not here; MEMEVAL_TEST_DATA names the folder of benchmark data")
    return path


test_data.__test__ = False  # type: ignore[attr-defined]
