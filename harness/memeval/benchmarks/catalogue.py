"""The catalogue: facts about each benchmark, as a data file beside its code."""

from __future__ import annotations

from functools import cache
from importlib import resources

from memeval.records.benchmark import BenchmarkInfo
from memeval.toml import parse_toml


@cache
def load(package: str) -> BenchmarkInfo:
    """Return the catalogue entry of a benchmark; read once.

    Args:
        package: the package with ``catalogue.toml``.

    Raises:
        BadInput: the file is not a valid catalogue.
    """
    path = resources.files(package) / "catalogue.toml"
    return parse_toml(path.read_bytes(), path).record(BenchmarkInfo)
