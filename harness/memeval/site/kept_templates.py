"""Keeps compiled templates from build to build: to compile those of the theme takes seconds."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version

from jinja2 import BytecodeCache
from jinja2.bccache import Bucket

from memeval.archive.run_cache import find_by_name, keep_by_name

KIND = "template"
"""The kind of the kept content."""


class KeptTemplates(BytecodeCache):
    """Compiled templates, by their path and for the same source."""

    def load_bytecode(self, bucket: Bucket) -> None:
        """Read a compiled template if it is kept."""
        found = find_by_name(bucket.key, KIND, _depends(bucket))
        if found is not None:
            bucket.bytecode_from_string(found)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a compiled template."""
        keep_by_name(bucket.key, KIND, _depends(bucket), bucket.bytecode_to_string())


def _depends(bucket: Bucket) -> str:
    return f"{bucket.checksum} {_tools()}"


@cache
def _tools() -> str:
    """Return the versions of what sets how templates are compiled."""
    return " ".join(version(tool) for tool in ("jinja2", "mkdocs", "mkdocs-material"))
