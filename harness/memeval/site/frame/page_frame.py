"""The frame of every page: head, header with navigation and search, table of contents, footer.

What is kept of the pages of runs, most of a large board, are the digests of their files: if the earlier site has them,
a page is not even read.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from markupsafe import Markup

from memeval.archive.run_cache import kept_by_name
from memeval.project import project
from memeval.records.base import digest_bytes, digest_of
from memeval.records.errors import BadInput
from memeval.site.frame.csp import POLICY
from memeval.site.frame.navigation import guide, navigation
from memeval.site.model.content import SiteModel
from memeval.site.model.files import Asset, KeptPage, Page, content_of, encode, file_bytes
from memeval.site.pages.board_files import COLOURS_FILE, has_colours
from memeval.site.pages.pictures import PICTURE, has_picture
from memeval.site.pages.rendering import environment, templates_digest

STYLE_SHEETS = ("assets/memeval.css", "assets/frame.css", "assets/trends.css", "assets/compare.css")

_FOLDER = Path("assets", "stylesheets")


@cache
def theme_style_sheets() -> Sequence[Asset]:
    """Return Material's style sheets for text and for colours, unchanged. Raises ``BadInput`` if a file is missing."""
    spec = find_spec("material")
    folder = Path(spec.origin).parent / "templates" / _FOLDER if spec is not None and spec.origin else Path()
    found = [path for name in ("main", "palette") for path in folder.glob(f"{name}.*.min.css")]
    if len(found) != 2:
        raise BadInput(
            "Material's style sheets are missing.",
            where=folder,
            remedy="Install mkdocs-material again, in the version that memeval names.",
        )
    return tuple(Asset((_FOLDER / path.name).as_posix(), path) for path in found)


KIND = "framed-files"
"""The kind of the kept content: the digest of each file."""


class PageFrame:
    def __init__(self, site: SiteModel) -> None:
        self._site_wide: dict[str, Any] = {
            "site_name": site.settings.title,
            "version": site.version,
            "own": site.is_memevals,
            "address": site.address,
            "repository": site.settings.repository or project().repository,
            "picture": site.address + PICTURE if site.address is not None and has_picture(site) else None,
            "style_sheets": [
                *(sheet.path for sheet in theme_style_sheets()),
                *STYLE_SHEETS,
                *([COLOURS_FILE] if has_colours(site.settings) else []),
            ],
        }
        self._navigation, self._guide = navigation(site.is_memevals), guide(site.is_memevals)
        self.digest = digest_of([templates_digest(), self._site_wide, repr(self._navigation)])
        self._template = environment().get_template("frame/page.html")
        script = environment().get_template("frame/scheme.js").render()
        self._site_wide |= {
            "policy": Markup(POLICY),  # noqa: S704 - our own text
            "scheme": Markup(script),  # noqa: S704 - our own text
            "navigation": self._navigation,
        }

    def files(self, page: KeptPage) -> Iterator[Asset]:
        @cache
        def contents() -> Mapping[str, bytes]:
            made = (self.file(file) if isinstance(file, Page) else file for file in page.make())
            return {file.path: file_bytes(file) for file in made}

        def digests() -> bytes:
            return encode({path: digest_bytes(content) for path, content in contents().items()})

        for path, digest in json.loads(
            kept_by_name(page.url, KIND, digest_of([page.inputs, self.digest]), digests)
        ).items():
            yield Asset(path, partial(content_of, contents, path), digest)

    def file(self, page: Page) -> Asset:
        return Asset(f"{page.url}index.html", self.around(page).encode(errors="xmlcharrefreplace"))

    def around(self, page: Page) -> str:
        depth = page.url.count("/")
        shared = self._site_wide
        picture = shared["address"] + page.picture if shared["address"] and page.picture else shared["picture"]
        return self._template.render(
            page=page,
            root="../" * depth or "./",
            section=next((each for each in self._navigation if each.leads_to(page.url)), None),
            beside=self._guide if self._guide.leads_to(page.url) else None,
            **shared | {"picture": picture},
        )
