"""The wheel of the memeval that makes a board, in the board itself, and the commands that install it.

A checkout and an installed memeval make the same bytes: files in order, without compression, with one fixed date.
"""

import base64
import hashlib
import io
import os
import zipfile
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import quote

import memeval
from memeval.evaluation.run.provenance import DISTRIBUTION, memeval_version
from memeval.project import project
from memeval.site.model.content import SiteModel
from memeval.site.model.files import Asset, GeneratedFile, assets_root
from memeval.site.pages.publisher import Publisher

FOLDER = "harness/"

WHEEL = "Wheel-Version: 1.0\nGenerator: memeval\nRoot-Is-Purelib: true\nTag: py3-none-any\n"

ASSETS = ("mkdocs.yml", "site", "templates")
"""What a wheel holds beside the package, in its folder ``_assets``."""

_STAMP = (1980, 1, 1, 0, 0, 0)


class HarnessFile(Publisher):
    name = "harness"
    order = 95

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        if (name := wheel_name()) is not None:
            yield Asset(f"{FOLDER}{name}", wheel)


def wheel_name() -> str | None:
    """Return the name of the wheel, with the digest of the package; ``None`` if memeval is not installed."""
    return None if _installed() is None else f"{_stem()}-py3-none-any.whl"


def wheel() -> bytes:
    about, stem = _installed(), _stem()
    assert about is not None, "without its metadata, memeval has no wheel"  # noqa: S101
    files = dict(_files())
    for name, text in _about(about):
        files[f"{stem}.dist-info/{name}"] = text
    record = f"{stem}.dist-info/RECORD"
    lines = [f"{name},sha256={_hash(content)},{len(content)}" for name, content in files.items()]
    files[record] = "\n".join([*lines, f"{record},,", ""]).encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, content in files.items():
            member = zipfile.ZipInfo(name, _STAMP)
            member.external_attr = 0o644 << 16
            archive.writestr(member, content)
    return out.getvalue()


def install_steps() -> str:
    """Return how to install memeval from the board that is read, as Markdown with HTML; else from a clone.

    ``templates/frame/scheme.js`` completes the address. Without scripts, the reader does.
    """
    if (name := wheel_name()) is None:
        return project().install_steps()
    path = f"{FOLDER}{quote(name)}"
    return (
        "From this board (needs Python 3.11 or newer):\n\n"
        '<div class="highlight"><pre><code>$ python3 -m venv memeval &amp;&amp; . memeval/bin/activate\n'
        f'$ pip install "<span data-address="../{path}">ADDRESS/{path}</span>"</code></pre></div>\n\n'
        '<p class="mv-address"><noscript>ADDRESS is the address of this board, or its folder on your computer. '
        f'</noscript>The <a href="../{path}" download>wheel</a> is the memeval that made this board. pip takes other '
        "packages from its index. Without a network, give it a folder of them: "
        "<code>--no-index --find-links FOLDER</code>.</p>\n\n"
        f"{project().install_steps()}"
    )


@cache
def _installed() -> Distribution | None:
    try:
        return distribution(DISTRIBUTION)
    except PackageNotFoundError:
        return None


def _stem() -> str:
    return f"{DISTRIBUTION.replace('-', '_')}-{memeval_version()}"


def _files() -> Iterator[tuple[str, bytes]]:
    """Yield the files of the package and its assets, by path in the wheel."""
    package = Path(memeval.__file__).resolve().parent
    found = {f"memeval/{name}": path for name, path in _below(package) if not name.startswith("_assets/")}
    for each in ASSETS:
        place = assets_root() / each
        inside = _below(place) if place.is_dir() else [("", place)]
        found |= {f"memeval/_assets/{each}/{name}".rstrip("/"): path for name, path in inside}
    for name in sorted(found):
        yield name, found[name].read_bytes()


def _below(folder: Path) -> Iterator[tuple[str, Path]]:
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in names:
            path = Path(place, name)
            yield path.relative_to(folder).as_posix(), path


def _about(about: Distribution) -> Iterator[tuple[str, bytes]]:
    """Yield the files about the package: its metadata with this version and without the README, which is no code."""
    head = (about.read_text("METADATA") or "").partition("\n\n")[0].rstrip("\n").split("\n")
    kept = [f"Version: {memeval_version()}" if line.startswith("Version: ") else line for line in head]
    yield "METADATA", "\n".join([*(line for line in kept if not line.startswith("Description-")), ""]).encode()
    yield "WHEEL", WHEEL.encode()
    for name in ("entry_points.txt", "licenses/LICENSE"):
        if (text := about.read_text(name)) is not None:
            yield name, text.encode()


def _hash(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
