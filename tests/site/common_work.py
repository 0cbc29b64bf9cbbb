"""Keeps from build to build what MkDocs would do again with equal input. Each result depends on its key alone."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from jinja2 import Environment, FileSystemBytecodeCache
from material.plugins.search import plugin as search
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure import pages
from mkdocs.structure.files import Files
from mkdocs.theme import Theme
from pymdownx import highlight as blocks

from memeval.site import rendering


def keep_common_work(patch: pytest.MonkeyPatch, compiled: Path) -> None:
    """Keep compiled templates, the theme's file names, coloured code, pages as HTML, and what the search finds in them.

    Args:
        patch: what undoes it.
        compiled: the folder of the compiled templates, which processes may share.
    """
    compiled.mkdir(exist_ok=True)
    bytecode = FileSystemBytecodeCache(str(compiled))
    patch.setattr(Theme, "get_env", _with_cache(Theme.get_env, bytecode))
    patch.setattr(rendering.environment(), "bytecode_cache", bytecode)
    patch.setattr(blocks, "highlight", _once(blocks.highlight))
    patch.setattr(search, "Parser", KnownPages)
    patch.setattr(pages.Page, "render", _rendered_once(pages.Page.render))


def _with_cache(get_env: Callable[[Theme], Environment], cache: FileSystemBytecodeCache) -> Callable[[Theme], Any]:
    names: dict[tuple[object, ...], list[str]] = {}

    def with_cache(theme: Theme) -> Environment:
        environment = get_env(theme)
        environment.bytecode_cache = cache
        every = environment.list_templates

        def list_templates(extensions: None = None, filter_func: Callable[[str], bool] | None = None) -> list[str]:
            key = tuple(theme.dirs), frozenset(theme.static_templates)  # on these alone MkDocs's filter depends
            if key not in names:
                names[key] = every(extensions, filter_func)
            return names[key]

        patched: Any = environment
        patched.list_templates = list_templates
        return environment

    return with_cache


def _once(highlight: Callable[..., str]) -> Callable[..., str]:
    coloured: dict[tuple[object, ...], str] = {}

    def once(code: str, lexer: Any, formatter: Any) -> str:
        options = (sorted(each.options.items()) for each in (lexer, formatter))
        key = code, type(lexer), type(formatter), repr([*options])
        if key not in coloured:
            coloured[key] = highlight(code, lexer, formatter)
        return coloured[key]

    return once


MOST = 500
"""Pages that are kept: a few tens of megabytes."""


class _Links(pages._RelativePathTreeprocessor):
    """MkDocs's resolver of links, which notes where each leads."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.found: dict[str, str] = {}

    def path_to_url(self, url: str) -> str:
        self.found[url] = super().path_to_url(url)
        return self.found[url]


@dataclass(frozen=True)
class _Rendered:
    """What rendering gave a page."""

    made: dict[str, Any]
    """Attributes of the page."""
    links: dict[str, str]
    """Where its links lead."""


def _rendered_once(render: Callable[[pages.Page, MkDocsConfig, Files], None]) -> Callable[..., None]:
    known: dict[tuple[object, ...], _Rendered] = {}
    names = "content", "toc", "_title_from_render", "present_anchor_ids"

    def rendered(page: pages.Page, config: MkDocsConfig, files: Files) -> None:
        settings = repr((config.markdown_extensions, config.mdx_configs, config.validation))
        key = page.markdown, page.file.src_uri, page.file.dest_uri, settings
        links = _Links(page.file, files, config)
        if key in known and all(links.path_to_url(url) == place for url, place in known[key].links.items()):
            for name, value in known[key].made.items():
                setattr(page, name, copy.deepcopy(value))
            page.links_to_anchors = links.links_to_anchors
            return
        links = _Links(page.file, files, config)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(pages, "_RelativePathTreeprocessor", lambda *_: links)
            render(page, config, files)
        if len(known) == MOST:
            known.clear()
        known[key] = _Rendered({name: copy.deepcopy(getattr(page, name)) for name in names}, links.found)

    return rendered


@lru_cache(maxsize=200)
def _sections(content: str) -> list[Any]:
    parser = READER()
    parser.feed(content)
    parser.close()
    sections: list[Any] = parser.data
    return sections


READER: Any = search.Parser


class KnownPages(READER):  # type: ignore[misc]
    """The search's reader of pages, which reads equal ones once."""

    def feed(self, data: str) -> None:
        self.data = [copy.copy(section) for section in _sections(data)]  # the search gives a section a title
