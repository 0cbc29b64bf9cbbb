"""A pinned model of a few bytes, and a stand-in for the engine, so that tests need neither weights nor llama.cpp."""

import json
import os
import struct
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from memeval.local.catalogue import VARIABLE
from memeval.local.server import LocalServer
from memeval.records.base import digest_bytes

ENGINE = Path(__file__).with_name("stand_ins")
TEMPLATE = "{{ messages }}"
NAME = "tiny"


def gguf(architecture: str = "llama", template: str | None = TEMPLATE, end: bytes = b"weights") -> bytes:
    """Return the bytes of a GGUF file with a few keys, and something in place of tensors."""
    keys: dict[str, Any] = {"general.architecture": architecture, "llama.block_count": 2, "tokens": ["a", "b"]}
    if template is not None:
        keys["tokenizer.chat_template"] = template
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, len(keys))
    return head + b"".join(_text(name) + _value(value) for name, value in keys.items()) + end


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text)) + text.encode()


def _value(value: Any) -> bytes:
    if isinstance(value, str):
        return struct.pack("<I", 8) + _text(value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(_text, value))


def pinned(weights: bytes, **fields: Any) -> str:
    """Return a models.toml with a model of these weights. ``fields``: more or other ones; ``None``: absent."""
    entry: dict[str, Any] = {
        "name": NAME,
        "title": "A model of a few bytes",
        "file": f"{NAME}.gguf",
        "bytes": len(weights),
        "digest": digest_bytes(weights),
        "architecture": "llama",
        "template": digest_bytes(TEMPLATE.encode()),
        "licence": "Apache-2.0",
        "licence_stated": "https://example.org/licence",
        "context": 4096,
        **fields,
    }
    return "[[model]]\n" + "".join(f"{name} = {_toml(value)}\n" for name, value in entry.items() if value is not None)


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{name} = {_toml(each)}" for name, each in value.items()) + " }"
    return str(value) if isinstance(value, int) else f'"{value}"'


def pin(monkeypatch: pytest.MonkeyPatch, folder: Path, weights: bytes, *, here: bool = True, **fields: Any) -> Path:
    """Pin a model for this test, with a cache of its own; return the path of its file, which is ``here`` or not."""
    (folder / "models.toml").write_text(pinned(weights, **fields))
    monkeypatch.setenv(VARIABLE, str(folder / "models.toml"))
    monkeypatch.setenv("MEMEVAL_CACHE", str(folder / "cache"))
    path = folder / "cache" / "models" / f"{NAME}.gguf"
    if here:
        path.parent.mkdir(parents=True)
        path.write_bytes(weights)
    return path


def posted(server: LocalServer, body: Any, path: str = "/chat/completions", **headers: str) -> Any:
    """Return the reply of a local server to JSON, or to bytes as they are."""
    given = {"Content-Type": "application/json", "Authorization": f"Bearer {server.key}", **headers}
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(server.address() + path, data, given)
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.load(response)


def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the stand-in for llama.cpp in this process and in those that it starts."""
    monkeypatch.syspath_prepend(str(ENGINE))
    before = os.environ.get("PYTHONPATH")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(ENGINE), before))))
