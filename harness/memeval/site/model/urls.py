"""Addresses inside the site, all relative, and untrusted addresses from outside."""

import posixpath
import re
from urllib.parse import quote, urlsplit

from memeval.records.base import digest_bytes

_SAFE = re.compile(r"[0-9A-Za-z][0-9A-Za-z._@-]*")


def segment(name: str) -> str:
    if len(name) <= 96 and _SAFE.fullmatch(name):
        return name
    return "x" + digest_bytes(name.encode("utf-8", "replace"))[7:31]


def system_url(slug: str) -> str:
    return f"systems/{segment(slug)}/"


def run_url(run_id: str) -> str:
    return f"runs/{segment(run_id)}/"


def items_url(run_id: str, item_id: str | None = None, **filters: str) -> str:
    """Return the drill-down of a run, optionally at one item or with filters, such as ``cause`` and ``evidence``."""
    address = f"items/?run={quote(segment(run_id), safe='')}"
    address += "".join(f"&{name}={quote(value, safe='')}" for name, value in filters.items())
    return address if item_id is None else f"{address}#q={quote(item_id, safe='')}"


def benchmark_url(benchmark: str) -> str:
    return f"benchmarks/{segment(benchmark)}/"


def samples_url(benchmark: str) -> str:
    return f"{benchmark_url(benchmark)}samples/"


def table_url(track_id: str) -> str:
    """Return the address of a table's own page. That of the first table of a benchmark is on the benchmark's page."""
    return f"tracks/{segment(track_id)}/"


def track_url(track_id: str) -> str:
    return f"tracks/#{segment(track_id)}"


def compare_url(track_id: str, *run_ids: str) -> str:
    runs = f"&runs={','.join(map(segment, run_ids))}" if run_ids else ""
    return f"compare/?board={segment(track_id)}{runs}"


def trade_offs_url(track_id: str) -> str:
    return f"trade-offs/#track-{segment(track_id)}"


def relative(page: str, target: str) -> str:
    """Return the relative link from ``page`` to ``target``; both are relative to the site's root.

    ``page``: a page's address: empty, or with a slash at the end. ``target``: an address, optionally with query and
    fragment.
    """
    path, mark, rest = _split(target)
    here = posixpath.relpath("/" + path, "/" + page) if path or page else "."
    if path.endswith("/") or not path:
        here = "./" if here == "." else here + "/"
    return quote(here, safe="/@.") + mark + rest


def shared_link(page: str, path: str, version: str | None) -> str:
    """Return the relative link from ``page`` to a file that all releases share.

    Args:
        page: a page's address: empty, or with a slash at the end.
        path: the path of the file; it needs no quoting.
        version: the version of the site; published versions are folders beside the shared files.
    """
    return relative(page, "") + ("" if version is None else "../") + path


def _split(address: str) -> tuple[str, str, str]:
    for place, character in enumerate(address):
        if character in "?#":
            return address[:place], character, address[place + 1 :]
    return address, "", ""


def issue_form(repository: str | None) -> str | None:
    """Return the address of the form for a new issue in a repository; ``None`` without a repository.

    GitLab has its own address; other hosts use that of GitHub.
    """
    if repository is None:
        return None
    host = urlsplit(repository).hostname or ""
    return f"{repository.rstrip('/')}{'/-' if 'gitlab' in host else ''}/issues/new"


def outside(address: str | None) -> str | None:
    """Return an address from outside if it may be linked (``http`` and ``https`` with a host), else ``None``."""
    if not address or any(ord(character) <= 32 for character in address):
        return None
    try:
        parts = urlsplit(address)
    except ValueError:
        return None
    return address if parts.scheme in ("http", "https") and parts.netloc else None
