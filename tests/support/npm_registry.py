"""A small registry of Node packages over HTTP, with made packages and their dates."""

import base64
import hashlib
import io
import json
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from tests.support.http_server import Call, serving

JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True)
class Made:
    """A released version of a package."""

    version: str
    day: str
    code: str = ""
    """Its module, ``index.cjs``."""
    needs: Mapping[str, str] = field(default_factory=dict)
    deprecated: str | None = None


@dataclass
class Registry:
    packages: Mapping[str, Sequence[Made]]
    asked: list[str] = field(default_factory=list)
    address: str = ""

    def answer(self, call: Call) -> None:
        path = unquote(call.path).strip("/")
        self.asked.append(path)
        name, _, file = path.partition("/-/")
        if not file and name in self.packages:
            call.reply(200, json.dumps(self._about(name)).encode(), JSON)
            return
        for made in self.packages.get(name, ()):
            if file == f"{name}-{made.version}.tgz":
                call.reply(200, packed(name, made))
                return
        call.reply(404, b"{}", JSON)

    def _about(self, name: str) -> dict[str, Any]:
        made = self.packages[name]
        return {
            "name": name,
            "dist-tags": {"latest": made[-1].version},
            "time": {each.version: f"{each.day}T12:00:00.000Z" for each in made},
            "versions": {each.version: self._version(name, each) for each in made},
        }

    def _version(self, name: str, made: Made) -> dict[str, Any]:
        digest = base64.b64encode(hashlib.sha512(packed(name, made)).digest()).decode()
        address = f"{self.address}/{name}/-/{name}-{made.version}.tgz"
        about = {**manifest(name, made), "dist": {"tarball": address, "integrity": f"sha512-{digest}"}}
        return about | ({"deprecated": made.deprecated} if made.deprecated else {})


def manifest(name: str, made: Made) -> dict[str, Any]:
    return {
        "name": name,
        "version": made.version,
        "main": "index.cjs",
        "dependencies": dict(made.needs),
    }


def packed(name: str, made: Made) -> bytes:
    """Return the archive of a version, the same bytes every time."""
    out = io.BytesIO()
    files = {"package/package.json": json.dumps(manifest(name, made)), "package/index.cjs": made.code}
    with tarfile.open(fileobj=out, mode="w:gz", compresslevel=0) as archive:
        for path, text in files.items():
            entry = tarfile.TarInfo(path)
            entry.size, entry.mtime = len(text.encode()), 1577836800
            archive.addfile(entry, io.BytesIO(text.encode()))
    content = bytearray(out.getvalue())
    content[4:8] = bytes(4)  # the time in the head of the archive
    return bytes(content)


@contextmanager
def npm_registry(packages: Mapping[str, Sequence[Made]]) -> Iterator[Registry]:
    registry = Registry(packages)
    with serving(registry.answer) as address:
        registry.address = address
        yield registry
