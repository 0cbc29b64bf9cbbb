"""The MkDocs plugin: passes finished pages and files to MkDocs, and adds a content security policy to each page."""

from __future__ import annotations

import re
import shutil
from html import escape
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment
from mkdocs.config import config_options
from mkdocs.config.base import Config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import BasePlugin, event_priority
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page as MkDocsPage
from mkdocs.structure.toc import AnchorLink, TableOfContents
from mkdocs.utils.templates import TemplateContext

from memeval.project import project
from memeval.site.csp import with_policy
from memeval.site.files import FramedPage, Page
from memeval.site.kept_pages import KeptTemplates, keep_html, leave_empty
from memeval.site.model import SiteModel, read_site
from memeval.site.not_found import not_found_page
from memeval.site.page_frame import NAME, Frame, empty_page, with_every_page
from memeval.site.publisher import publish_all
from memeval.site.search_index import KeptSearchIndex
from memeval.site.site_folder import SiteFolder
from memeval.site.text import visible
from memeval.site.theme_script import BUNDLE, lightened

INSTALL_MARK = "<!-- install -->"
"""Placeholder for the installation commands in a hand-written page."""


class MemevalPluginConfig(Config):  # type: ignore[no-untyped-call]
    """The plugin's options in ``mkdocs.yml``."""

    results = config_options.Type(str, default="results")
    """The results folder, relative to the working directory of MkDocs."""
    site = config_options.Optional(config_options.Type(SiteModel))
    """The site's model, if the caller has read it already."""
    folder = config_options.Optional(config_options.Type(SiteFolder))
    """Receives the generated files; ``None`` for the folder into which MkDocs writes."""


class MemevalPlugin(BasePlugin[MemevalPluginConfig]):  # type: ignore[no-untyped-call]
    """Adds generated pages to hand-written pages."""

    def __init__(self) -> None:
        super().__init__()
        self.pages: dict[str, Page] = {}
        self.many: dict[str, list[FramedPage]] = {}
        """Pages that get one frame, by their folder."""
        self.frames: dict[str, Frame] = {}
        """The frames of those pages, by their folder."""

    def on_files(self, files: Files, *, config: MkDocsConfig) -> Files:
        site = self.config.site or read_site(Path(self.config.results))
        search: Any = config.plugins["material/search"]
        search.search_index = KeptSearchIndex(**search.config)
        for file in [file for file in files if BUNDLE.fullmatch(file.src_uri)]:
            files.remove(file)
            files.append(File.generated(config, file.src_uri, content=lightened(file.content_string)))
        self.out = self.config.folder or SiteFolder(Path(config.site_dir))
        for made in publish_all(site):
            if isinstance(made, FramedPage):
                folder = made.url.rstrip("/").rpartition("/")[0] + "/"
                if folder not in self.many:
                    self._add(files, empty_page(folder), config)
                self.many.setdefault(folder, []).append(made)
            elif isinstance(made, Page):
                self._add(files, made, config)
            else:
                # MkDocs has emptied the folder by now. Data goes directly to disk: it may be larger than memory.
                self.out.write(made)
        return files

    def _add(self, files: Files, made: Page, config: MkDocsConfig) -> None:
        """Add a page that MkDocs renders."""
        source = f"{made.url}index.md"
        self.pages[source] = made
        files.append(File.generated(config, source, content="", inclusion=InclusionLevel.NOT_IN_NAV))

    def on_env(  # type: ignore[override]  # MkDocs takes any object with templates
        self, env: Environment, *, config: MkDocsConfig, **_: Any
    ) -> KeptTemplates:
        return KeptTemplates(env, config)

    def on_page_markdown(self, markdown: str, *, page: MkDocsPage, **_: Any) -> str:
        made = self.pages.get(page.file.src_uri)
        if made is None:
            keep_html(page)
            return markdown.replace(INSTALL_MARK, project().install_steps())
        leave_empty(page)
        # The theme does not escape titles and descriptions, so they are escaped here and shown from ``meta`` only.
        page.meta["title"] = escape(visible(made.title))
        page.meta["description"] = escape(visible(made.description))
        page.meta["search"] = {"exclude": not made.searchable}
        hidden = ["navigation", "toc"] if made.wide else ["navigation"]
        page.meta["hide"] = hidden if made.headings else ["navigation", "toc"]
        page.meta["wide"] = made.wide
        return ""

    def on_page_content(self, html: str, *, page: MkDocsPage, **_: Any) -> str:
        made = self.pages.get(page.file.src_uri)
        if made is None:
            return _scrollable(html)
        page.toc = TableOfContents([AnchorLink(escape(visible(h.title)), h.id, 2) for h in made.headings])
        return str(made.body)

    @event_priority(-50)  # after the search has taken the headings of the page
    def on_page_context(self, context: TemplateContext, *, page: MkDocsPage, **_: Any) -> TemplateContext:
        """Keep the theme from writing a hidden table of contents: its script asks where each heading is, at every load.

        The first heading stays: the theme's link past the navigation leads there.
        """
        if "toc" in page.meta.get("hide", ()):
            page.toc = TableOfContents([AnchorLink(each.title, each.id, 1) for each in page.toc][:1])
        return context

    def on_post_page(self, output: str, *, page: MkDocsPage, **_: Any) -> str:
        made = self.pages.get(page.file.src_uri)
        if made is not None and made.url.endswith(f"{NAME}/"):
            self.frames[made.url.removesuffix(f"{NAME}/")] = Frame(output)
        return with_policy(output)

    def on_post_build(self, *, config: MkDocsConfig, **_: Any) -> None:
        """Put the pages with a common frame into it."""
        for folder, pages in self.many.items():
            shutil.rmtree(Path(config.site_dir) / folder / NAME)
            for page in pages:
                for file in self.frames[folder].files(page):
                    self.out.write(file)

    def on_post_template(self, output_content: str, *, template_name: str, config: MkDocsConfig, **_: Any) -> str:
        if template_name == "sitemap.xml":
            for folder, pages in self.many.items():
                names = [page.url.removeprefix(folder).rstrip("/") for page in pages]
                output_content = with_every_page(output_content, folder, names)
            return output_content
        if template_name == "404.html":
            return not_found_page(config.site_name, urlsplit(config.site_url or "").path or "/")
        return with_policy(output_content) if template_name.endswith(".html") else output_content


def _scrollable(html: str) -> str:
    """Return the HTML of a Markdown page whose tables a keyboard can scroll, as on generated pages."""
    numbers = count(1)

    def opened(_table: re.Match[str]) -> str:
        region = f'<div class="mv-scroll" role="region" aria-label="Table {next(numbers)}" tabindex="0">'
        return f'{region}<table class="mv-plain-table">'

    return re.sub("<table>", opened, html).replace("</table>", "</table></div>")
