"""One download: resumable, checked against its digest, and never half-written.

It uses ``urllib.request`` from the standard library, which is enough for one GET with a Range header. HTTP clients of
other dependencies could change or disappear. Other features of urllib are disabled: only ``http`` and ``https`` work,
also after a redirect, and never ``http`` after ``https``.
"""

import errno
import hashlib
import os
import shutil
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException, HTTPMessage, HTTPResponse
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from memeval.records.benchmark import Source
from memeval.records.errors import BadInput
from memeval.storage import locked

Progress = Callable[[int, int], None]
"""Receives the bytes downloaded and the bytes of the whole file, after every chunk."""

CHUNK_BYTES = 1 << 18
TIMEOUT_SECONDS = 60.0
SPARE_BYTES = 16 << 20
"""Disk space that must stay free after a download."""

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Error numbers of a full disk: no space, user quota reached, file too large."""

_AGAIN = "Run the same command to resume."


def digest_of_file(path: Path) -> str:
    with path.open("rb") as file:
        return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True)
class Remedies:
    """How a command is told where else the file may be, in its messages."""

    option: str = "--data"
    """The option that names a copy of the file."""
    variable: str = "MEMEVAL_DATA"
    """The environment variable that names another folder."""


def download(source: Source, folder: Path, progress: Progress, remedies: Remedies = Remedies()) -> Path:
    """Download a file into a folder, or resume an interrupted download; a good copy there stays as it is.

    Raises ``BadInput``: the file cannot be had, the disk is full, or size or digest differ. Only a resumable ``.part``
    file stays.
    """
    if urlsplit(source.url).scheme not in ("http", "https"):
        raise BadInput(f"{source.url}: only http and https addresses can be downloaded.")
    target = folder / source.filename
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder, busy="another download into this folder is running."):
            if target.is_file() and digest_of_file(target) == source.digest:
                return target
            _Download(source, target, progress, remedies).run()
    except OSError as error:
        if error.errno in _FULL:
            raise BadInput(
                f"the disk is full ({error.strerror}).", where=folder, remedy=f"Free some space. {_AGAIN}"
            ) from None
        raise BadInput(f"cannot write to this folder ({error.strerror or error}).", where=folder) from None
    return target


@dataclass
class _Download:
    source: Source
    target: Path
    progress: Progress
    remedies: Remedies

    def run(self) -> None:
        if self._part_size() > self.source.bytes:
            self._part.unlink(missing_ok=True)
        if self._part_size() < self.source.bytes:
            self._check_space()
            self._fetch()
        found = digest_of_file(self._part)
        if found != self.source.digest:
            self._part.unlink(missing_ok=True)
            raise BadInput(
                f"the download does not match: its digest is {found}, expected {self.source.digest}.",
                where=self.source.url,
                remedy=f"memeval deleted it. Try again later, or give a good copy with {self.remedies.option}.",
            )
        self._part.replace(self.target)

    @property
    def _part(self) -> Path:
        return self.target.with_name(self.target.name + ".part")

    def _part_size(self) -> int:
        return self._part.stat().st_size if self._part.is_file() else 0

    def _check_space(self) -> None:
        needed = self.source.bytes - self._part_size() + SPARE_BYTES
        free = shutil.disk_usage(self.target.parent).free
        if free < needed:
            raise BadInput(
                f"not enough disk space: {needed / 1e6:,.0f} MB needed, {free / 1e6:,.0f} MB free.",
                where=self.target.parent,
                remedy=f"Free some space, or set {self.remedies.variable} to another folder.",
            )

    def _fetch(self) -> None:
        with self._open() as response:
            start = self._agreed_start(response)
            with self._part.open("r+b" if start else "wb") as file:
                file.seek(start)
                self._copy(response, file, start)
                file.flush()
                os.fsync(file.fileno())

    def _open(self) -> HTTPResponse:
        """Request the file from the end of the part on."""
        headers = {"User-Agent": "memeval", "Accept-Encoding": "identity"}
        part_size = self._part_size()
        if part_size:
            headers["Range"] = f"bytes={part_size}-"
        request = urllib.request.Request(self.source.url, headers=headers)  # noqa: S310 - the scheme is checked
        try:
            return opener().open(request, timeout=TIMEOUT_SECONDS)  # type: ignore[no-any-return]
        except urllib.error.HTTPError as error:
            error.close()
            if error.code == 416 and part_size:
                self._part.unlink(missing_ok=True)
                return self._open()
            raise self._refused(error.code) from None
        except (OSError, HTTPException) as error:
            reason = error.reason if isinstance(error, urllib.error.URLError) else error
            if isinstance(reason, BadInput):
                raise reason from None
            raise BadInput(
                f"cannot be reached ({reason}).",
                where=self.source.url,
                remedy=f"Try again, or give a copy with {self.remedies.option}.",
            ) from None

    def _agreed_start(self, response: HTTPResponse) -> int:
        """Return the position of the first byte of the reply; 0 if the server sends the whole file.

        Raises ``BadInput``: the size is not that of the file, or the server sent another part.
        """
        start, total = 0, response.headers.get("Content-Length")
        if response.status == 206:
            span, _, total = response.headers.get("Content-Range", "").removeprefix("bytes ").partition("/")
            start = self._part_size()
            if span.partition("-")[0] != str(start):
                self._part.unlink(missing_ok=True)
                raise BadInput(
                    f"{self.source.url} sent a different part of the file than requested.", remedy="Try again."
                )
        elif response.status != 200:
            raise self._refused(response.status)
        if total is not None and total.isdigit() and int(total) != self.source.bytes:
            self._part.unlink(missing_ok=True)
            raise BadInput(
                f"{self.source.url} has {int(total):,} bytes, expected {self.source.bytes:,}.",
                remedy=f"The file has changed on the server. Give a good copy with {self.remedies.option}.",
            )
        return start

    def _copy(self, response: HTTPResponse, file: IO[bytes], start: int) -> None:
        done, total, cut = start, self.source.bytes, "the connection was cut"
        while done < total:
            try:
                chunk = response.read1(min(CHUNK_BYTES, total - done))
            except (OSError, HTTPException) as error:
                chunk, cut = b"", f"the connection was cut ({error})"
            if not chunk:
                file.flush()
                raise BadInput(f"{cut} after {done:,} of {total:,} bytes.", where=self.source.url, remedy=_AGAIN)
            file.write(chunk)
            done += len(chunk)
            self.progress(done, total)

    def _refused(self, status: int) -> BadInput:
        if status in (404, 410):
            remedy = f"Give a copy with {self.remedies.option}."
            return BadInput(f"file not found ({status}).", where=self.source.url, remedy=remedy)
        if 300 <= status < 400:
            return BadInput(f"redirects to an address that memeval does not follow ({status}).", where=self.source.url)
        return BadInput(f"the server refused the request ({status}).", where=self.source.url, remedy="Try again later.")


class _SafeRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> urllib.request.Request | None:
        scheme = urlsplit(newurl).scheme
        if scheme not in ("http", "https") or (req.type == "https" and scheme == "http"):
            raise BadInput(f"redirects to {newurl}, which memeval does not follow.", where=req.full_url)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def opener() -> urllib.request.OpenerDirector:
    director = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        _SafeRedirects(),
    ):
        director.add_handler(handler)
    return director
