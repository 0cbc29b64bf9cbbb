"""The site of some results, what publishers make of it, and the words that a reader sees."""

import html
import json
import re
from pathlib import Path
from typing import Any

from memeval.site.model.content import SiteModel, read_site
from memeval.site.model.files import Asset, Page, file_bytes
from memeval.site.pages.api import FOLDER, ApiFiles
from memeval.site.pages.compare import comparison
from memeval.site.pages.publisher import Publisher
from memeval.site.table.tables import view
from tests.site.conftest import whole
from tests.site.factory import FakeBenchmark, Made, make_run


def site_of(results: Path, *made: Made, benchmark: FakeBenchmark | None = None, **more: Any) -> SiteModel:
    """Write runs of the fake benchmark, and read the results; ``more``: arguments of ``read_site``."""
    benchmark = benchmark or FakeBenchmark()
    for each in made:
        make_run(results, each, benchmark)
    return read_site(results, find=lambda _name: benchmark, **more)


def submitted(results: Path, slug: str, manifest: str) -> None:
    """Write the manifest of a submission beside the results."""
    folder = results.parent / "submissions" / slug
    folder.mkdir(parents=True)
    (folder / "submission.toml").write_text(manifest, "utf-8")


def pages_of(site: SiteModel, *publishers: type[Publisher]) -> dict[str, str]:
    """Return the body of each page by its address."""
    files = (file for each in publishers for file in whole(each().publish(site)))
    return {file.url: str(file.body) for file in files if isinstance(file, Page)}


def assets_of(site: SiteModel, publisher: type[Publisher]) -> dict[str, bytes]:
    """Return the bytes of each file that is no page, by its path."""
    return {file.path: file_bytes(file) for file in whole(publisher().publish(site)) if isinstance(file, Asset)}


def api_of(site: SiteModel, name: str) -> Any:
    """Return the entries of a file of the API, such as ``runs``."""
    return json.loads(assets_of(site, ApiFiles)[f"{FOLDER}{name}.json"])[name]


def compared(site: SiteModel) -> dict[str, Any]:
    """Return the data of the comparison on the one table of a site."""
    (table,) = site.board.tables
    made = comparison(view(site, table))
    assert made is not None
    data: dict[str, Any] = json.loads(file_bytes(made.file))
    return data


def words_of(markup: str) -> str:
    """Return the text between tags, with single spaces."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", markup)).split())


def said(site: Path, page: str = "published") -> str:
    """Return the words of a page of a built site."""
    return words_of((site / page / "index.html").read_text())
