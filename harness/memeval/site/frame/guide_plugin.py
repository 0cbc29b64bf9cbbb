"""What MkDocs calls while it converts the guide: its plugin, and an extension of Markdown."""

import re
from collections.abc import Iterable
from html import unescape
from xml.etree.ElementTree import Element

from markdown import Extension, Markdown
from markdown.treeprocessors import Treeprocessor
from markupsafe import Markup
from mkdocs.config.base import Config
from mkdocs.plugins import BasePlugin
from mkdocs.structure.pages import Page as MarkdownPage
from mkdocs.structure.toc import AnchorLink

from memeval.site.model.files import Heading, Page
from memeval.site.pages.harness_wheel import install_steps

INSTALL = re.compile(r"<!-- install -->\n.*?\n<!-- /install -->", re.S)
"""The part of a page that says how to install memeval from a clone; a board says how to install it from the board."""


class GuideOptions(Config):  # type: ignore[no-untyped-call]
    """The options of the plugin: none."""


class GuidePlugin(BasePlugin[GuideOptions]):  # type: ignore[no-untyped-call]
    """Hands the pages over as MkDocs has converted them, by its events."""

    def __init__(self) -> None:
        super().__init__()
        self.pages: list[Page] = []
        """The pages of the last build."""

    def on_page_markdown(self, markdown: str, **_: object) -> str:
        return INSTALL.sub(lambda _: install_steps(), markdown)

    def on_post_page(self, output: str, *, page: MarkdownPage, **_: object) -> str:
        """Take the page: ``main.html`` of the theme is overridden, so that the output is the content alone."""
        sections = [part for entry in page.toc for part in (entry.children if entry.level == 1 else [entry])]
        made = Page(
            url=page.url,
            title=unescape(str(page.title)),
            body=Markup(output),  # noqa: S704 - our own hand-written pages
            description=str(page.meta.get("description", "")),
            headings=_headings(sections),
        )
        self.pages.append(made)
        return output


def _headings(entries: Iterable[AnchorLink]) -> tuple[Heading, ...]:
    return tuple(Heading(each.id, unescape(each.title), _headings(each.children)) for each in entries)


class TableRegions(Extension):
    def extendMarkdown(self, md: Markdown) -> None:
        md.treeprocessors.register(_Regions(md), "memeval-table-regions", 0)


class _Regions(Treeprocessor):
    def run(self, root: Element) -> None:
        number = 0
        for parent in list(root.iter()):
            for place, table in enumerate(parent):
                if table.tag == "table":
                    number += 1
                    attributes = {
                        "class": "mv-scroll",
                        "role": "region",
                        "aria-label": f"Table {number}",
                        "tabindex": "0",
                    }
                    region = Element("div", attributes)
                    region.tail, table.tail = table.tail, None
                    table.set("class", "mv-plain-table")
                    region.append(table)
                    parent[place] = region
