"""Catalogues of the suites: common fields, with one file per suite on top."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Any

from memeval.records.base import validated
from memeval.records.benchmark import BenchmarkInfo
from memeval.records.errors import BadInput

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
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(f"not valid TOML ({error}).", where=path) from None
