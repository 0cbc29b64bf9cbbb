"""Building a site: it appears whole or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from memeval.records.errors import BadInput
from memeval.records.release import Release
from memeval.site.generator import generate
from memeval.site.model import FindBenchmark, read_site


def build(
    results: Path,
    out: Path,
    *,
    site_url: str | None = None,
    version: str | None = None,
    releases: Iterable[Release] | None = None,
    find: FindBenchmark | None = None,
) -> None:
    """Build the whole site from a results folder; equal inputs give equal bytes.

    Args:
        results: the results folder.
        out: where the site goes; a site built there before is replaced, anything else is refused.
        site_url: where it will stand, if that is known; its links are relative either way.
        version: the version it is published as; its pages then offer the others, from ``../versions.json``.
        releases: frozen leaderboards; ``None`` reads those in the results folder.
        find: gives a benchmark by id; ``None`` asks memeval's own.

    Raises:
        BadInput: something in the results cannot be read, or ``out`` holds something else.
    """
    if not results.is_dir():
        raise BadInput("there is no results folder here.", where=results, remedy="Run a system first: memeval run.")
    refuse_place(results, out)
    out = out.absolute()  # MkDocs takes what is relative from where its configuration lies
    site = read_site(results, version=version, releases=releases, find=find)
    make_folder(out.parent)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as scratch:
        made = Path(scratch) / "site"
        made.mkdir(mode=0o755)
        generate(site, made, site_url)
        if out.exists():
            out.rename(Path(scratch) / "old")
        made.rename(out)
        shutil.rmtree(Path(scratch) / "old", ignore_errors=True)


def refuse_place(results: Path, out: Path) -> None:
    """Refuse a place where no site may go.

    Raises:
        BadInput: it lies among the stored runs, whose copies in the site would then be taken for runs; or it holds
            something else.
    """
    if out.resolve().is_relative_to(results.resolve()):
        raise BadInput("this is inside the results folder.", where=out, remedy="Name a folder outside of it.")
    if out.exists() and not _is_ours(out):
        raise BadInput(
            "this folder holds something that is not a site of memeval.", where=out, remedy="Name another folder."
        )


def make_folder(folder: Path) -> None:
    """Make a folder and those above it.

    Raises:
        BadInput: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(
            f"the folder cannot be made ({error.strerror}).", where=folder, remedy="Name another folder."
        ) from None


def _is_ours(out: Path) -> bool:
    return out.is_dir() and (not any(out.iterdir()) or (out / "assets" / "memeval.css").is_file())
