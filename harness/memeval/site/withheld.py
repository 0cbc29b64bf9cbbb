"""What the data of the drill-down is made of, and what stands in it for text that may not be published."""

from __future__ import annotations

from typing import Any

from memeval.records.base import digest_bytes

Data = dict[str, Any]


def lean(data: Data) -> Data:
    """Return ``data`` without what is absent; readers take what is not there for absent."""
    return {name: value for name, value in data.items() if value is not None}


def withheld(text: str) -> Data:
    """Return what may be said of text that may not be published."""
    data = text.encode("utf-8", "surrogatepass")
    return {"digest": digest_bytes(data), "bytes": len(data)}
