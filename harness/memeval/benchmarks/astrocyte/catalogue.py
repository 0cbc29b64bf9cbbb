"""Catalogues of the suites: common fields, with one file per suite on top."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

from memeval.records.base import validated
from memeval.records.benchmark import BenchmarkInfo
from memeval.toml import parse_toml

COMMON = "common"


@cache
def load(name: str) -> BenchmarkInfo:
    """Return the catalogue of a suite; read once.

    Args:
        name: stem of its file.

    Raises:
        BadInput: the file is not a valid catalogue.
    """
    common, own = _read(COMMON), _read(name)
    measures = common.pop("measures")
    metrics = [metric for kind in own.pop("measures", ()) for metric in measures[kind]]
    return validated(BenchmarkInfo, {**common, "metrics": metrics, **own}, f"{name}.toml")


def _read(name: str) -> dict[str, Any]:
    path = resources.files(__package__) / "catalogues" / f"{name}.toml"
    return parse_toml(path.read_bytes(), path).data
