"""Builds a site: puts the pages of the board and of the guide into their frame, and writes all files."""

import tempfile
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from urllib.parse import urlsplit

from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder
from memeval.leaderboard.traces import Traces
from memeval.processes import without_garbage_collection
from memeval.records.errors import BadInput
from memeval.records.release import Release
from memeval.site.frame.guide import guide_files
from memeval.site.frame.not_found import not_found_page
from memeval.site.frame.page_frame import PageFrame, theme_style_sheets
from memeval.site.frame.search_index import SearchIndex, sitemap
from memeval.site.frame.site_folder import SiteFolder, inputs_of, is_current, remember
from memeval.site.items.kept_contents import keep_contents
from memeval.site.model.content import FindBenchmark, SiteModel, read_site, runs_of
from memeval.site.model.file_digests import files_read_once
from memeval.site.model.files import Asset, GeneratedFile, Page
from memeval.site.pages.publisher import brought_files, publishers
from memeval.storage import writable


def generate(site: SiteModel, folder: SiteFolder) -> None:
    """Write the whole site.

    Raises ``BadInput`` if a page of the guide cannot be converted, or a page of another package cannot be used.
    """
    frame, index, urls = PageFrame(site), SearchIndex(), []
    taken: set[str] = set()

    def write(made: GeneratedFile) -> None:
        if isinstance(made, Asset):
            taken.add(made.path.partition("/")[0])
            folder.write(made)
            return
        urls.append(made.url)
        taken.add(made.url.partition("/")[0])
        if isinstance(made, Page):
            index.add(made)
            folder.write(frame.file(made))
        else:
            for file in frame.files(made):
                folder.write(file)

    own = (each.publish(site) for each in publishers())
    for made in chain(chain.from_iterable(own), guide_files(site.is_memevals), theme_style_sheets()):
        write(made)
    for brought in brought_files(site, taken):
        write(brought)
    folder.write(index.file())
    home = "/" if site.address is None else urlsplit(site.address).path or "/"
    folder.write(Asset("404.html", not_found_page(site.settings.title, home).encode()))
    if site.address is not None:
        for file in sitemap(site.address, urls, site.latest):
            folder.write(file)


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
    out = out.resolve()
    inputs = None  # of a site that shows something else than its results folder, they are not known
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
        with writable(out.parent):
            folder = SiteFolder(made, out if out.exists() else None)
            generate(site, folder)
            contents = folder.contents()
            folder.move_to(out)
    if inputs is not None:
        remember(out, inputs, contents)


def refuse_place(results: Path, out: Path) -> None:
    """Check that a site may be built into a folder.

    Raises ``BadInput`` if the folder is inside the results folder, where copied runs would count; or it contains
    something else.
    """
    if out.resolve().is_relative_to(results.resolve()):
        raise BadInput("this is inside the results folder.", where=out, remedy="Name a folder outside of it.")
    if out.exists() and not _is_ours(out):
        raise BadInput(
            "this folder contains files that are not a site of memeval.", where=out, remedy="Name another folder."
        )


def make_folder(folder: Path) -> None:
    """Create a folder and its parents. Raises ``BadInput`` if the folder cannot be created."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(
            f"the folder cannot be created ({error.strerror}).", where=folder, remedy="Name another folder."
        ) from None


def _is_ours(out: Path) -> bool:
    return out.is_dir() and (not any(out.iterdir()) or (out / "assets" / "memeval.css").is_file())
