"""Builds a site: MkDocs turns Markdown and finished bodies into framed pages.

Another generator would replace this module and the plugin, and nothing else.
"""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder
from memeval.leaderboard.traces import Traces
from memeval.processes import without_garbage_collection
from memeval.project import project
from memeval.records.errors import BadInput
from memeval.records.release import Release
from memeval.site.file_digests import files_read_once
from memeval.site.files import assets_root
from memeval.site.kept_contents import keep_contents
from memeval.site.model import FindBenchmark, SiteModel, read_site, runs_of
from memeval.site.pages.board_files import COLOURS_FILE, has_colours
from memeval.site.pages.picture import PICTURE, has_picture
from memeval.site.site_folder import SiteFolder
from memeval.site.unchanged import inputs_of, is_current, remember
from memeval.storage import unwritable


def generate(site: SiteModel, folder: SiteFolder) -> None:
    """Write the whole site.

    Args:
        folder: the folder of the site, which is empty.

    Raises:
        BadInput: MkDocs rejects the configuration.
    """
    with _environment(NO_MKDOCS_2_WARNING="1", SOURCE_DATE_EPOCH=str(_epoch(site.latest))):
        from mkdocs.commands.build import build as build_pages
        from mkdocs.config import load_config
        from mkdocs.exceptions import MkDocsException

        logging.getLogger("mkdocs").setLevel(logging.WARNING)
        values: dict[str, Any] = {
            "site_dir": str(folder.path),
            "site_url": site.address or "",
            "site_name": site.settings.title,
        }
        if repository := site.settings.repository or project().repository:
            values |= {"repo_url": repository, "repo_name": "Repository"}
        try:
            config = load_config(str(assets_root() / "mkdocs.yml"), **values)
            config.plugins["memeval"].config |= {"site": site, "folder": folder}
            if has_colours(site.settings):
                config.extra_css.append(COLOURS_FILE)
            if site.version is not None:
                config.extra["version"] = {"provider": "mike"}
                config.extra["release"] = site.version
            if site.address is not None and has_picture(site):
                config.extra["picture"] = site.address + PICTURE
            build_pages(config)
        except MkDocsException as error:
            raise BadInput(f"MkDocs cannot build the site: {error}") from error
    if site.address is None:
        for name in ("sitemap.xml", "sitemap.xml.gz"):
            (folder.path / name).unlink(missing_ok=True)


def _epoch(moment: str | None) -> int:
    """Return a time in seconds since 1970. Pages get the date of their data, so equal inputs give equal bytes."""
    try:
        found = datetime.fromisoformat(moment) if moment else datetime(2026, 1, 1, tzinfo=UTC)
    except ValueError:
        found = datetime(2026, 1, 1, tzinfo=UTC)
    return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp())


@contextmanager
def _environment(**values: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@without_garbage_collection()
@files_read_once()
def build(
    results: Path,
    out: Path,
    *,
    version: str | None = None,
    releases: Iterable[Release] | None = None,
    ledger: Ledger | None = None,
    find: FindBenchmark | None = None,
    traces: Traces | None = None,
    jobs: int = 1,
    sealed: Sequence[RunFolder] | None = None,
) -> None:
    """Build the whole site from a results folder; equal inputs give equal bytes.

    A site that was built from equal inputs, and was not changed since, stays as it is.

    Args:
        out: the folder of the site. When all new files are made, they replace those of an earlier site; a folder with
            anything else is an error.
        version: the published version; its pages then link to other versions, from ``../versions.json``.
        releases: frozen leaderboards; ``None`` reads them from the results folder.
        ledger: the ledger; ``None`` for all of that in the results folder.
        find: returns a benchmark by id; ``None`` uses memeval's registry.
        traces: what is known of the runs' responses already; ``None`` to read them, or what an earlier build kept.
        jobs: number of processes that compute what pages show of the rows of runs.
        sealed: all sealed runs of the results folder, if they were read already.

    Raises:
        BadInput: a file of the results cannot be read, or ``out`` contains something else.
        CheckFailed: a process was killed.
    """
    if not results.is_dir():
        raise BadInput("there is no results folder here.", where=results, remedy="Run a system first: memeval run.")
    refuse_place(results, out)
    out = out.resolve()  # MkDocs resolves relative paths from the folder of its configuration
    inputs = None
    if version is None and releases is None and ledger is None and find is None and traces is None:
        inputs = inputs_of(results)
        if inputs is not None and is_current(out, inputs):
            return
    known, runs = traces or Traces(keeps=True), None
    if find is None:  # other processes know memeval's registry only
        runs = runs_of(results, known.keeps, sealed)
        keep_contents(runs, jobs)
    site = read_site(results, version=version, releases=releases, ledger=ledger, find=find, traces=known, runs=runs)
    make_folder(out.parent)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as scratch:
        made = Path(scratch) / "site"
        made.mkdir(mode=0o755)
        try:
            folder = SiteFolder(made, out if out.exists() else None)
            generate(site, folder)
            contents = folder.contents()
            folder.move_to(out)
        except OSError as error:
            raise unwritable(out.parent, error) from None
    if inputs is not None:
        remember(out, inputs, contents)


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
