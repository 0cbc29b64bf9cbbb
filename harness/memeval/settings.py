"""Reads ``memeval.toml``, the settings of a board."""

from __future__ import annotations

from pathlib import Path

from memeval.records.settings import Settings
from memeval.toml import read_toml

SETTINGS = "memeval.toml"


def read_settings(folder: Path = Path()) -> Settings:
    """Return the settings of a board; the defaults if the folder has no ``memeval.toml``.

    Args:
        folder: the folder of the board, which contains ``results/`` and ``submissions/``.

    Raises:
        BadInput: the file cannot be read, or a value is not valid.
    """
    path = folder / SETTINGS
    return read_toml(path).record(Settings) if path.exists() else Settings()
