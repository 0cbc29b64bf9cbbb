"""Takes a run from a published board: from its web address, or from a folder with the board's files."""

import json
import tempfile
import urllib.request
from http.client import HTTPException, HTTPMessage
from pathlib import Path
from typing import IO
from urllib.parse import unquote, urljoin, urlsplit

from memeval.archive.remote.layout import head_key
from memeval.archive.rows import check_rows
from memeval.archive.runs import RunFolder
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from memeval.records.run import Run
from memeval.storage import cache_home, writable, write_whole

HEAD, FILES = "files/run.json", "files/files.json"
"""Files in the folder of a run's page: its head, and the relative paths of its row files by name."""

LARGEST_HEAD = 20_000_000
LARGEST_ROWS = 1_000_000_000
"""Maximum bytes of a fetched file: of a head or a list, and of a compressed file of rows."""

TIMEOUT_SECONDS = 60.0


def is_published(named: str) -> bool:
    """Return whether this is a web address, or a folder with a run's page."""
    return named.startswith(("http://", "https://")) or (Path(named) / FILES).is_file()


def published_run(named: str) -> RunFolder:
    """Return a run of a published board, copied into the cache and checked against its digests.

    ``named``: address or folder of the run's page, such as ``https://board.example/latest/runs/RUN/``. Raises BadInput:
    it is not there, has unusable names, or does not match its digests.
    """
    base = named.removesuffix("index.html").rstrip("/") + "/"
    head = _read(base, HEAD, LARGEST_HEAD)
    run = Run.parse(head, base + HEAD)
    key = head_key(run, digest_bytes(head), base + HEAD)
    folder = cache_home() / "published" / key.digest[7:23] / key.run
    if (folder / "run.json").is_file():
        return RunFolder(folder)
    links = _links(base)
    if missing := [name for name in run.files if name not in links]:
        raise BadInput(
            f"the board does not offer {missing[0]} of this run.",
            where=base,
            remedy="The benchmark's licence may forbid it: see the page of the run.",
        )
    with writable(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".part-", dir=folder.parent) as scratch:
            made = Path(scratch) / "run"
            made.mkdir()
            for name, stated in run.files.items():
                path = made / f"{name}.gz"
                write_whole(path, _read(f"{base}files/", links[name], LARGEST_ROWS))
                check_rows(path, stated, base + FILES)
            write_whole(made / "run.json", head)
            if not folder.exists():
                made.rename(folder)
    return RunFolder(folder)


class _OneServer(urllib.request.HTTPRedirectHandler):
    """Follows a redirect only on the same server."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> urllib.request.Request | None:
        _check_server(req.full_url, newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _check_server(base: str, url: str) -> None:
    if urlsplit(url)[:2] != urlsplit(base)[:2]:
        raise BadInput("leads to another server.", where=url, remedy="Give the address of the board that has the run.")


def _links(base: str) -> dict[str, str]:
    try:
        files = json.loads(_read(base, FILES, LARGEST_HEAD))["files"]
        return {str(name): str(link) for name, link in files.items()}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise BadInput("is not a list of a run's files.", where=base + FILES) from None


def _read(base: str, path: str, largest: int) -> bytes:
    """Return a file beside a run's page. Neither a link nor a redirect leads to another server."""
    try:
        if not base.startswith(("http://", "https://")):
            place = Path(base, unquote(path))
            if not place.is_file():
                raise BadInput("is missing.", where=place, remedy="Name the folder of a run's page.")
            with place.open("rb") as stream:
                data = stream.read(largest + 1)
        else:
            url = urljoin(base, path)
            _check_server(base, url)
            with urllib.request.build_opener(_OneServer).open(url, timeout=TIMEOUT_SECONDS) as reply:
                data = reply.read(largest + 1)
    except (OSError, HTTPException, ValueError) as error:  # urllib raises ValueError for text that is no address
        raise BadInput(f"cannot be read ({error}).", where=base + path, remedy="Check the address.") from None
    if len(data) > largest:
        raise BadInput(f"has more than {largest:,} bytes.", where=base + path)
    return data
