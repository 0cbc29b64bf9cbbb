"""The data of a benchmark on this machine: where it is, its download, and its licence, accepted once."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import zlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from memeval.records.base import Digest, digest_bytes
from memeval.records.benchmark import BenchmarkInfo, Source
from memeval.records.errors import BadInput
from memeval.storage import write_whole

if TYPE_CHECKING:
    from memeval.download import Progress


def data_folder() -> Path:
    """Return the folder of benchmark data: ``MEMEVAL_DATA``, or the user's data folder."""
    named = os.environ.get("MEMEVAL_DATA")
    return Path(named).expanduser() if named else platformdirs.user_data_path("memeval")


def locate(info: BenchmarkInfo, path: Path | None = None, name: str | None = None) -> Path:
    """Return where a benchmark's data file is, or would be.

    Raises ``BadInput``: the benchmark has no data file, or none with that name. ``path``: the file itself, or a folder
    with the file in it or in a folder of the benchmark's name; ``None`` for memeval's own data folder. ``name``: name
    of one of the benchmark's files; ``None`` for the first.
    """
    if not info.sources:
        raise BadInput(f"{info.id} has no data file: memeval generates it.")
    source = info.source(name)
    if source is None:
        names = ", ".join(each.name for each in info.sources)
        raise BadInput(f"{info.id} has no file '{name}'.", remedy=f"Choose one of: {names}.")
    folder = data_folder() if path is None else path
    inside = folder / info.name / source.filename
    if path is None:
        return inside
    if not path.is_dir():
        return path
    beside = path / source.filename
    return beside if beside.is_file() else inside


def pull(source: Source, folder: Path, progress: Progress | None = None) -> Path:
    """Download a data file, or resume an interrupted download; an existing file stays as it is.

    The bytes go into a ``.part`` file, which gets its final name once size and digest match. Raises ``BadInput``: the
    file does not exist, the connection was cut, the disk is full, or the digest does not match. Only a resumable
    ``.part`` file stays. ``folder``: where it goes; created if missing.
    Returns: The file.
    """
    # Imported here because most runs only read data, and HTTP and locks take long to import.
    from memeval.download import download

    return download(source, folder, progress or (lambda done, total: None))


def file_bytes(path: Path, largest: int, remedy: str) -> bytes:
    """Return the bytes of a file that a user named or changed.

    Raises ``BadInput``: the file is missing, no file, unreadable or too large. ``largest``: largest accepted size, in
    bytes. ``remedy``: what to do about a file that is not usable, as a sentence.
    """
    try:
        if path.exists() and not path.is_file():
            raise BadInput("this is not a file.", where=path, remedy=remedy)
        with path.open("rb") as stream:
            data = stream.read(largest + 1)
    except FileNotFoundError:
        raise BadInput("file not found.", where=path, remedy=remedy) from None
    except OSError as error:
        raise BadInput(f"cannot read the file ({error.strerror or error}).", where=path, remedy=remedy) from None
    if len(data) > largest:
        raise BadInput(f"the file has more than {largest:,} bytes.", where=path, remedy=remedy)
    return data


def packed_or_plain(path: Path) -> Path | None:
    """Return a file, or the same file with ``.gz`` behind its name; ``None`` if neither exists."""
    return next((each for each in (path, path.with_name(path.name + ".gz")) if each.is_file()), None)


def unpacked(file: Path, largest: int, remedy: str, content: bytes | None = None) -> bytes:
    """Return the bytes of a file, unpacked if its first bytes say that it is gzip.

    Raises ``BadInput``: the file is unreadable, damaged or too large. ``largest``: largest accepted size, unpacked, in
    bytes. ``remedy``: what to do about a file that is not usable, as a sentence. ``content``: its bytes, if it is not
    on disk yet.
    """
    try:
        with file.open("rb") if content is None else BufferedReader(BytesIO(content)) as raw:
            packed = raw.peek(2)[:2] == b"\x1f\x8b"
            stream = gzip.GzipFile(fileobj=raw) if packed else raw
            data = stream.read(largest + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BadInput(f"the gzip file is damaged ({error}).", where=file, remedy=remedy) from None
    except OSError as error:
        raise BadInput(f"cannot read the file ({error.strerror or error}).", where=file, remedy=remedy) from None
    if len(data) > largest:
        raise BadInput(f"the file has more than {largest:,} bytes.", where=file, remedy=remedy)
    return data


def git_object(data: bytes) -> str:
    """Return the name that git gives to a file: SHA-1 of a header and its bytes."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def released_bytes(path: Path, benchmark: str, source: Source, *also: Digest) -> bytes:
    """Return the bytes of a released file, whose digest proves its form.

    Raises ``BadInput``: the file is missing, unreadable, cut off, or another one. ``also``: digests of other versions
    that are as good, none of them larger.
    """
    remedy = f"Use the released file: `memeval data pull {benchmark}` downloads it, --data PATH names your copy."
    data = file_bytes(path, source.bytes, remedy)
    found = digest_bytes(data)
    if found not in (source.digest, *also):
        raise BadInput(
            f"this is not the released file: it has {len(data):,} bytes and the digest {found}, expected"
            f" {source.bytes:,} bytes and {source.digest}.",
            where=path,
            remedy=remedy,
        )
    return data


def refuse_repeats(names: Iterable[str], what: str, where: object, remedy: str | None = None) -> None:
    """Refuse an id that occurs more than once.

    ``what``: what the ids name, such as ``the question id``. Raises ``BadInput``: an id does.
    """
    repeated = next((name for name, times in Counter(names).items() if times > 1), None)
    if repeated is not None:
        raise BadInput(f"{what} '{repeated[:64]}' occurs more than once.", where=where, remedy=remedy)


SAYS = {
    "Apache-2.0": "Use, change and share it, with the licence and notices kept and changes marked. No warranty.",
    "MIT": "Use, change and share it, with the notice kept. No warranty.",
    "CC-BY-NC-4.0": "Use, change and share it, with credit to its authors, but not for profit. No warranty.",
    "CC-BY-4.0": "Use, change and share it, with credit to its authors. No warranty.",
}
"""Common licences in one line, by SPDX name. A reminder: only the licence text is binding."""


@dataclass(frozen=True)
class Licence:
    info: BenchmarkInfo

    @property
    def url(self) -> str:
        return f"https://spdx.org/licenses/{self.info.licence}.html"

    @property
    def shown(self) -> str:
        lines = (
            f"{self.info.title} ({self.info.id}) is third-party data. Its licence is {self.info.licence}.",
            SAYS.get(self.info.licence, ""),
            f"Licence text: {self.url}",
            f"Source: {self.info.homepage}" if self.info.homepage else "",
            f"Cite as: {self.info.citation}" if self.info.citation else "",
            "Results may include its text."
            if self.info.redistribution == "full"
            else "memeval never publishes its text: results hold ids, digests and scores.",
        )
        return "\n".join(filter(None, lines))

    @property
    def accepted(self) -> bool:
        try:
            stored = json.loads(self._file.read_text("utf-8"))
            return bool(stored["benchmark"] == self.info.id and stored["licence"] == self.info.licence)
        except (OSError, ValueError, LookupError, TypeError):
            return False

    def accept(self) -> None:
        """Store that it was accepted. Raises ``BadInput``: the data folder cannot be written."""
        stored = {
            "schema_version": 1,
            "benchmark": self.info.id,
            "licence": self.info.licence,
            "accepted": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._file, (json.dumps(stored, sort_keys=True) + "\n").encode())
        except (OSError, BadInput) as error:
            raise BadInput(
                f"cannot store that you accepted the licence ({error}).",
                where=self._file,
                remedy="Free some space, or set MEMEVAL_DATA to another folder.",
            ) from None

    def refused(self, why: str) -> BadInput:
        """Return the error for data that is not downloaded because its licence was not accepted."""
        about = f"{SAYS.get(self.info.licence, '')} {self.url}".lstrip()
        return BadInput(
            f"the licence of {self.info.id} is not accepted: {why}. It is {self.info.licence} ({about}).",
            remedy="Accept it with --accept-licence. This is needed once.",
        )

    @property
    def _file(self) -> Path:
        return data_folder() / "licences" / f"{self.info.id}.json"
