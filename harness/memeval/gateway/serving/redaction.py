"""Removes a key from a host's reply, even where the key is split between two pieces."""

from __future__ import annotations

from urllib.parse import quote


class Redaction:
    """Replaces the key with the placeholder, in one body that arrives in pieces.

    Args:
        key: the key to remove; ``None`` if there is none.
    """

    def __init__(self, key: str | None, placeholder: str) -> None:
        forms = () if key is None else (key, key.replace("/", r"\/"), quote(key, safe=""), quote(key))
        # Plain, as some JSON writers escape it, and as URLs encode it; the longest first.
        self._forms = sorted({form.encode() for form in forms}, key=len, reverse=True)
        self._placeholder = placeholder.encode()
        self._held = b""

    def feed(self, piece: bytes) -> bytes:
        """Add a piece; return the bytes that can be forwarded: all but an end that may be the start of the key."""
        text = self._replaced(self._held + piece)
        held = max((_overlap(text, form) for form in self._forms), default=0)
        self._held = text[len(text) - held :]
        return text[: len(text) - held]

    def rest(self) -> bytes:
        """Return the bytes held back; call it after the last piece."""
        held, self._held = self._held, b""
        return held

    def text(self, value: str) -> str:
        return self._replaced(value.encode(errors="replace")).decode()

    def _replaced(self, data: bytes) -> bytes:
        for form in self._forms:
            data = data.replace(form, self._placeholder)
        return data


def _overlap(data: bytes, form: bytes) -> int:
    """Return the length of the longest proper prefix of ``form`` that ends ``data``."""
    longest = min(len(data), len(form) - 1)
    return next((size for size in range(longest, 0, -1) if data.endswith(form[:size])), 0)
