"""Keeps from build to build what MkDocs would do again with equal input. Each result depends on its key alone."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from jinja2 import Environment, FileSystemBytecodeCache
from material.plugins.search import plugin as search
from mkdocs.theme import Theme
from pymdownx import highlight as blocks


def keep_common_work(patch: pytest.MonkeyPatch, compiled: Path) -> None:
    """Keep compiled templates, the names of the theme's files, coloured code, and what the search finds in a page.

    Args:
        patch: what undoes it.
        compiled: the folder of the compiled templates, which processes may share.
    """
    compiled.mkdir(exist_ok=True)
    patch.setattr(Theme, "get_env", _with_cache(Theme.get_env, FileSystemBytecodeCache(str(compiled))))
    patch.setattr(blocks, "highlight", _once(blocks.highlight))
    patch.setattr(search, "Parser", KnownPages)


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
