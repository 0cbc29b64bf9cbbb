"""The catalogue: facts about each benchmark, as a data file beside its code."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources

from memeval.records.base import validated
from memeval.records.benchmark import BenchmarkInfo
from memeval.records.errors import BadInput


@cache
def load(package: str) -> BenchmarkInfo:
    """Return the catalogue entry of a benchmark; read once.

    Args:
        package: the package with ``catalogue.toml``.

    Raises:
        BadInput: the file is not a valid catalogue.
    """
    path = resources.files(package) / "catalogue.toml"
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(f"not valid TOML ({error}).", where=path) from None
    return validated(BenchmarkInfo, data, path)
