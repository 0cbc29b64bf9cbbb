"""The data type of the drill-down, and the replacement of text that may not be published."""

from __future__ import annotations

from typing import Any

from memeval.records.base import digest_bytes

Data = dict[str, Any]


def lean(data: Data) -> Data:
    """Return ``data`` without empty values; readers treat a missing key as empty."""
    return {name: value for name, value in data.items() if value is not None}


def withheld(text: str) -> Data:
    """Return the publishable data of a private text."""
    data = text.encode("utf-8", "surrogatepass")
    return {"digest": digest_bytes(data), "bytes": len(data)}
