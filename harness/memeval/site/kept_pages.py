"""What MkDocs makes of pages, kept from build to build: the HTML of their Markdown, and pages with their frame.

MkDocs and its theme need 60 ms for a page, whether it has changed or not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache, partial
from importlib.metadata import version
from typing import Any

from jinja2 import Environment
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocs.structure.toc import AnchorLink, TableOfContents
from mkdocs.utils.templates import TemplateContext

from memeval.archive.run_cache import kept_by_name
from memeval.records.base import Digest, digest_bytes
from memeval.site.files import assets_root
from memeval.site.rendering import templates_digest

PACKAGES = ("markdown", "mkdocs", "mkdocs-material", "pygments", "pymdown-extensions")
"""What turns Markdown into HTML, and HTML into pages."""

LINKS, HTML, FRAMED = "links", "html", "framed"
"""The kinds of the kept contents."""


def keep_html(page: Page) -> None:
    """Let a page take the HTML of its Markdown from an earlier build, if the text and the linked files are the same.

    Called before MkDocs converts the page.
    """
    vars(page)["render"] = partial(_render, page)  # MkDocs makes the pages, so that they cannot be of another class


def leave_empty(page: Page) -> None:
    """Spare a page without Markdown the conversion, which takes 5 ms."""
    vars(page)["render"] = lambda *_: _fill(page, _NOTHING, Files([]))


_NOTHING: dict[str, Any] = {"content": "", "title": None, "toc": [], "ids": [], "anchors": {}}


def _render(page: Page, config: MkDocsConfig, files: Files) -> None:
    """Convert the Markdown of a page, or take the result of an earlier build."""
    looked_up = _LookedUp(files)

    def convert() -> None:
        if page.content is None:
            Page.render(page, config, looked_up)  # type: ignore[arg-type]  # it asks for files by path only

    def links() -> bytes:
        convert()
        return json.dumps(sorted(looked_up.paths)).encode()

    def html() -> bytes:
        convert()
        return json.dumps(_content(page)).encode()

    name, inputs = page.file.src_uri, [page.markdown, page.file.url, _tools()]
    paths = json.loads(kept_by_name(name, LINKS, _digest(inputs), links))
    urls = [file and file.url for file in map(files.get_file_from_path, paths)]
    if None in urls:  # MkDocs warns of each link without a file
        convert()
    else:
        found = kept_by_name(name, HTML, _digest([inputs, paths, urls]), html)
        if page.content is None:
            _fill(page, json.loads(found), files)


class _LookedUp:
    """The files of a site, with the paths for which MkDocs has asked."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self.paths: set[str] = set()

    def get_file_from_path(self, path: str) -> File | None:
        """Return the file at a path."""
        self.paths.add(path)
        return self._files.get_file_from_path(path)


def _content(page: Page) -> dict[str, Any]:
    """Return what the conversion has set in a page."""
    links = (page.links_to_anchors or {}).items()
    return {
        "content": page.content,
        "title": page._title_from_render,
        "toc": _entries(page.toc),
        "ids": sorted(page.present_anchor_ids or ()),
        "anchors": {file.src_uri: anchors for file, anchors in links},
    }


def _fill(page: Page, found: dict[str, Any], files: Files) -> None:
    """Set in a page what the conversion would set."""
    page.content, page._title_from_render = found["content"], found["title"]
    page.toc = TableOfContents(_links(found["toc"]))
    page.present_anchor_ids = set(found["ids"])
    targets = {uri: files.get_file_from_path(uri) for uri in found["anchors"]}
    page.links_to_anchors = {file: found["anchors"][uri] for uri, file in targets.items() if file is not None}


def _entries(links: Iterable[AnchorLink]) -> list[Any]:
    return [[link.title, link.id, link.level, _entries(link.children)] for link in links]


def _links(entries: Iterable[Any]) -> list[AnchorLink]:
    made = []
    for title, name, level, children in entries:
        made.append(AnchorLink(title, name, level))
        made[-1].children = _links(children)
    return made


class KeptTemplates:
    """The theme's templates. One is loaded only for a page that no earlier build has kept.

    Args:
        config: the configuration of the site.
    """

    def __init__(self, templates: Environment, config: MkDocsConfig) -> None:
        self._templates = templates
        self._config = _digest(
            [
                _tools(),
                templates_digest(),
                *(str(config.get(name)) for name in ("site_name", "site_url", "repo_url", "repo_name")),
                [str(each) for each in (*config.extra_css, *config.extra_javascript)],
                json.dumps(dict(config.extra), sort_keys=True),
            ]
        )
        self._nav: list[Any] | None = None

    def get_template(self, name: str) -> KeptTemplate:
        """Return a template, as MkDocs asks for it."""
        return KeptTemplate(self, name)

    def render(self, name: str, context: TemplateContext) -> str:
        """Return a page with its frame, or a file that belongs to no page."""
        page = context["page"]

        def made() -> bytes:
            return self._templates.get_template(name).render(context).encode("utf-8", "surrogatepass")

        if page is None:
            return made().decode("utf-8", "surrogatepass")
        if self._nav is None:
            self._nav = _items(context["nav"])
        inputs = _digest([name, self._config, self._nav, _shown(page)])
        return kept_by_name(page.url, FRAMED, inputs, made).decode("utf-8", "surrogatepass")


class KeptTemplate:
    """A template of :class:`KeptTemplates`."""

    def __init__(self, templates: KeptTemplates, name: str) -> None:
        self._templates, self._name = templates, name

    def render(self, context: TemplateContext) -> str:
        """Render the template."""
        return self._templates.render(self._name, context)


def _shown(page: Page) -> list[Any]:
    """Return all of a page that its frame shows; its place in the navigation follows from its address."""
    around = [each and [each.title, each.url] for each in (page.previous_page, page.next_page)]
    content = digest_bytes((page.content or "").encode("utf-8", "surrogatepass"))
    meta = repr(sorted(page.meta.items()))
    return [page.url, page.title, page.canonical_url, page.edit_url, meta, _entries(page.toc), around, content]


def _items(items: Navigation | Iterable[Any]) -> list[Any]:
    """Return what the theme shows of a navigation."""
    return [
        [item.title, getattr(item, "url", None), repr(getattr(item, "meta", None)), _items(item.children or ())]
        for item in items
    ]


def _digest(value: object) -> Digest:
    return digest_bytes(json.dumps(value, sort_keys=True).encode())


@cache
def _tools() -> Digest:
    """Return the digest of the configuration, and of the versions of what reads it."""
    return _digest(
        [digest_bytes((assets_root() / "mkdocs.yml").read_bytes()), {name: version(name) for name in PACKAGES}]
    )
