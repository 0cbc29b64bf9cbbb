"""Reads texts that benchmarks and checks are made of: TOML files in the package that uses them."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import TypeVar

from pydantic import TypeAdapter

T = TypeVar("T")


def read_words(package: str, name: str, kind: type[T]) -> T:
    text = (resources.files(package) / name).read_text("utf-8")
    return TypeAdapter(kind).validate_python(tomllib.loads(text))
