"""Reads the words of the benchmark, which are TOML files beside this module."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import TypeVar

from pydantic import TypeAdapter

T = TypeVar("T")


def read_words(name: str, kind: type[T], package: str = __package__) -> T:
    """Return the content of a file.

    Args:
        name: its name, without ``.toml``.
        kind: the type of its content.
        package: the package that contains it.
    """
    text = (resources.files(package) / f"{name}.toml").read_text("utf-8")
    return TypeAdapter(kind).validate_python(tomllib.loads(text))
