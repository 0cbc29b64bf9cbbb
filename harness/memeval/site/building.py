"""Building a site atomically."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from memeval.archive.ledger import Ledger
from memeval.leaderboard.traces import Traces
from memeval.records.errors import BadInput
from memeval.records.release import Release
from memeval.site.generator import generate
from memeval.site.model import FindBenchmark, read_site
from memeval.storage import unwritable


def build(
    results: Path,
    out: Path,
    *,
    site_url: str | None = None,
    version: str | None = None,
    releases: Iterable[Release] | None = None,
    ledger: Ledger | None = None,
    find: FindBenchmark | None = None,
    traces: Traces | None = None,
) -> None:
    """Build the whole site from a results folder; equal inputs give equal bytes.

    Args:
        results: the results folder.
        out: the folder of the site. An earlier site is replaced; a folder with anything else is an error.
        site_url: address of the published site, if known; links are relative anyway.
        version: the published version; its pages then link to other versions, from ``../versions.json``.
        releases: frozen leaderboards; ``None`` reads them from the results folder.
        ledger: the ledger; ``None`` for all of that in the results folder.
        find: returns a benchmark by id; ``None`` uses memeval's registry.
        traces: what is known of the runs' responses already; ``None`` to read them.

    Raises:
        BadInput: a file of the results cannot be read, or ``out`` contains something else.
    """
    if not results.is_dir():
        raise BadInput("there is no results folder here.", where=results, remedy="Run a system first: memeval run.")
    refuse_place(results, out)
    out = out.absolute()  # MkDocs resolves relative paths from the folder of its configuration
    site = read_site(results, version=version, releases=releases, ledger=ledger, find=find, traces=traces)
    make_folder(out.parent)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as scratch:
        made = Path(scratch) / "site"
        made.mkdir(mode=0o755)
        try:
            generate(site, made, site_url)
        except OSError as error:
            raise unwritable(out.parent, error) from None
        if out.exists():
            out.rename(Path(scratch) / "old")
        made.rename(out)
        shutil.rmtree(Path(scratch) / "old", ignore_errors=True)


def refuse_place(results: Path, out: Path) -> None:
    """Check that a site may be built into a folder.

    Raises:
        BadInput: the folder is inside the results folder, where copied runs would count as runs; or it contains
            something else.
    """
    if out.resolve().is_relative_to(results.resolve()):
        raise BadInput("this is inside the results folder.", where=out, remedy="Name a folder outside of it.")
    if out.exists() and not _is_ours(out):
        raise BadInput(
            "this folder contains files that are not a site of memeval.", where=out, remedy="Name another folder."
        )


def make_folder(folder: Path) -> None:
    """Create a folder and its parents.

    Raises:
        BadInput: the folder cannot be created.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(
            f"the folder cannot be created ({error.strerror}).", where=folder, remedy="Name another folder."
        ) from None


def _is_ours(out: Path) -> bool:
    return out.is_dir() and (not any(out.iterdir()) or (out / "assets" / "memeval.css").is_file())
