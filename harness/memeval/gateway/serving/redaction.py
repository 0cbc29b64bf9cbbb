"""Taking a key out of what a host replies, wherever the pieces of the reply begin and end."""

from __future__ import annotations

from urllib.parse import quote


class Redaction:
    """Puts the placeholder where the key stands, in one body that arrives in pieces.

    Args:
        key: what may not be seen; ``None`` where there is nothing to hide.
        placeholder: what is shown in its place.
    """

    def __init__(self, key: str | None, placeholder: str) -> None:
        forms = () if key is None else (key, key.replace("/", r"\/"), quote(key, safe=""), quote(key))
        # As it is, as some JSON writers escape it, and as it stands in URLs; the longest first.
        self._forms = sorted({form.encode() for form in forms}, key=len, reverse=True)
        self._placeholder = placeholder.encode()
        self._held = b""

    def feed(self, piece: bytes) -> bytes:
        """Take a piece; return what can be passed on: all but an end that may be the beginning of the key."""
        text = self._replaced(self._held + piece)
        held = max((_overlap(text, form) for form in self._forms), default=0)
        self._held = text[len(text) - held :]
        return text[: len(text) - held]

    def rest(self) -> bytes:
        """Return what was held back; to be called once all is fed."""
        held, self._held = self._held, b""
        return held

    def text(self, value: str) -> str:
        """Return a whole text without the key."""
        return self._replaced(value.encode(errors="replace")).decode()

    def _replaced(self, data: bytes) -> bytes:
        for form in self._forms:
            data = data.replace(form, self._placeholder)
        return data


def _overlap(data: bytes, form: bytes) -> int:
    """Return how many bytes at the end of ``data`` are the beginning of ``form``, short of all of it."""
    longest = min(len(data), len(form) - 1)
    return next((size for size in range(longest, 0, -1) if data.endswith(form[:size])), 0)
