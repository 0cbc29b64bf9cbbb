"""The head of a GGUF file: what kind of model it is, read without loading it.

The format is that of https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, versions 2 and 3: magic, version,
number of tensors, number of keys, then each key with a type and a value.
"""

import struct
from pathlib import Path
from typing import IO, Any

from memeval.records.base import Digest, digest_bytes
from memeval.records.errors import BadInput

MAGIC = b"GGUF"

_SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_STRING, _ARRAY = 8, 9
_MOST_KEYS = 10_000
_MOST_BYTES = 16_000_000
"""Maximum bytes of a text, or of the items of a list."""
_MOST_ITEMS = 4_000_000


def gguf_metadata(path: Path) -> dict[str, Any]:
    """Return the keys of a GGUF file with their values; a list is left out, and ``None`` stands for it.

    Raises BadInput: the file cannot be read, is not GGUF, or is cut within its head.
    """
    try:
        with path.open("rb") as stream:
            return _Reader(stream, path).metadata()
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror or error}).", where=path) from None


def template_digest(metadata: dict[str, Any]) -> Digest | None:
    template = metadata.get("tokenizer.chat_template")
    return digest_bytes(template.encode()) if isinstance(template, str) and template.strip() else None


class _Reader:
    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self._stream, self._path = stream, path

    def metadata(self) -> dict[str, Any]:
        if self._stream.read(4) != MAGIC:
            raise BadInput("not a GGUF file.", where=self._path, remedy="Give the file of the weights itself.")
        version = self._number("<I")
        if version not in (2, 3):
            raise self._damaged(f"its version is {version}")
        self._number("<Q")
        keys = self._number("<Q")
        if keys > _MOST_KEYS:
            raise self._damaged(f"it states {keys:,} keys")
        return {self._text(): self._value(self._number("<I")) for _ in range(keys)}

    def _value(self, kind: int, depth: int = 0) -> Any:
        if kind == _STRING:
            return self._text()
        if kind == _ARRAY and depth < 4:
            inner, count = self._number("<I"), self._number("<Q")
            if count > _MOST_ITEMS:
                raise self._damaged(f"it states a list of {count:,} items")
            if inner in _SCALARS:
                self._bytes(struct.calcsize(_SCALARS[inner]) * count)
            else:
                for _ in range(count):
                    self._value(inner, depth + 1)
            return None
        if kind not in _SCALARS:
            raise self._damaged(f"it has a value of kind {kind}")
        return self._number(_SCALARS[kind])

    def _text(self) -> str:
        return self._bytes(self._number("<Q")).decode(errors="replace")

    def _number(self, form: str) -> Any:
        return struct.unpack(form, self._bytes(struct.calcsize(form)))[0]

    def _bytes(self, size: int) -> bytes:
        if size > _MOST_BYTES:
            raise self._damaged(f"it states a text of {size:,} bytes")
        data = self._stream.read(size)
        if len(data) < size:
            raise self._damaged("it ends within its head")
        return data

    def _damaged(self, what: str) -> BadInput:
        return BadInput(f"the GGUF file is cut or damaged: {what}.", where=self._path, remedy="Fetch it again.")
