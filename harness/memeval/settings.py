"""Reads ``memeval.toml``, the settings of a board."""

from __future__ import annotations

import tomllib
from pathlib import Path

from memeval.records.base import validated
from memeval.records.errors import BadInput
from memeval.records.settings import Settings

SETTINGS = "memeval.toml"


def read_settings(folder: Path = Path()) -> Settings:
    """Return the settings of a board; the defaults if the folder has no ``memeval.toml``.

    Args:
        folder: the folder of the board, which contains ``results/`` and ``submissions/``.

    Raises:
        BadInput: the file cannot be read, or a value is not valid.
    """
    path = folder / SETTINGS
    try:
        text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text)
    except FileNotFoundError:
        return Settings()
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror}).", where=path) from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(f"not valid TOML: {error}.", where=path, remedy="Correct the line.") from None
    return validated(Settings, data, path)
