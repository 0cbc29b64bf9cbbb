"""A small Python package index over HTTP, with made wheels, their dates, and what can be wrong with a release."""

import base64
import hashlib
import io
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.support.http_server import Call, serving

JSON = {"Content-Type": "application/vnd.pypi.simple.v1+json"}
HTML = {"Content-Type": "text/html"}


@dataclass(frozen=True)
class Made:
    """A released file of a package."""

    version: str
    day: str
    module: str = ""
    """Its Python code; its module has the name of the package."""
    needs: Sequence[str] = ()
    tag: str = "py3-none-any"
    python: str = ">=3.8"
    yanked: bool | str = False
    wheel: bool = True
    """Whether it is a wheel; else a source archive, which would have to be built."""


@dataclass
class Index:
    packages: dict[str, list[Made]] = field(default_factory=dict)
    dated: bool = True
    asked: list[str] = field(default_factory=list)
    address: str = ""

    def answer(self, call: Call) -> None:
        self.asked.append(call.path)
        kind, _, name = call.path.strip("/").partition("/")
        if kind == "simple" and name in self.packages:
            rows = [self._row(name, made) for made in self.packages[name]]
            if self.dated:
                data = {"meta": {"api-version": "1.1"}, "name": name, "files": rows}
                call.reply(200, json.dumps(data).encode(), JSON)
            else:
                links = "".join(f'<a href="{row["url"]}">{row["filename"]}</a>' for row in rows)
                call.reply(200, f"<html><body>{links}</body></html>".encode(), HTML)
        elif kind == "files" and (content := self._file(name)) is not None:
            call.reply(200, content)
        else:
            call.reply(404)

    def _row(self, name: str, made: Made) -> dict[str, Any]:
        filename, content = named(name, made), content_of(name, made)
        return {
            "filename": filename,
            "url": f"{self.address}/files/{filename}",
            "hashes": {"sha256": hashlib.sha256(content).hexdigest()},
            "requires-python": made.python,
            "size": len(content),
            "upload-time": f"{made.day}T12:00:00.000000Z",
            "yanked": made.yanked,
        }

    def _file(self, filename: str) -> bytes | None:
        for name, releases in self.packages.items():
            for made in releases:
                if named(name, made) == filename:
                    return content_of(name, made)
        return None


def named(name: str, made: Made) -> str:
    return f"{name}-{made.version}-{made.tag}.whl" if made.wheel else f"{name}-{made.version}.tar.gz"


def content_of(name: str, made: Made) -> bytes:
    """Return the wheel, the same bytes every time."""
    if not made.wheel:
        return f"sources of {name} {made.version}".encode()
    about = f"{name}-{made.version}.dist-info"
    needs = "".join(f"Requires-Dist: {each}\n" for each in made.needs)
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {made.version}\nRequires-Python: {made.python}\n{needs}"
    wheel = f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: {made.tag}\n"
    files = {f"{name}.py": made.module, f"{about}/METADATA": metadata, f"{about}/WHEEL": wheel}
    record = "".join(f"{path},sha256={_digest(text)},{len(text)}\n" for path, text in files.items())
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path, text in {**files, f"{about}/RECORD": record + f"{about}/RECORD,,\n"}.items():
            archive.writestr(zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0)), text)
    return packed.getvalue()


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


@contextmanager
def package_index(packages: Mapping[str, Sequence[Made]]) -> Iterator[Index]:
    index = Index({name: list(made) for name, made in packages.items()})
    with serving(index.answer) as address:
        index.address = address
        yield index
