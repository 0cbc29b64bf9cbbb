"""A prompt, stored with the run so that a later memeval can build the same requests."""

from __future__ import annotations

from memeval.records.base import Digest, Stored, digest_bytes


class Prompt(Stored):
    """The text of one prompt, with placeholders."""

    name: str
    """Its name, as in the track's ``prompts``."""
    text: str
    """The text, with its placeholders."""

    @property
    def digest(self) -> Digest:
        """The digest of the text's bytes, as in the track."""
        return digest_bytes(self.text.encode())
