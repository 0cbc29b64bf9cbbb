"""The last step: MkDocs turns Markdown and finished bodies into framed pages. Another generator would replace this
module and the plugin, and nothing else.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memeval.project import project
from memeval.records.errors import BadInput
from memeval.site.assets import assets_root
from memeval.site.model import SiteModel
from memeval.site.pages.board_files import COLOURS_FILE, has_colours


def generate(site: SiteModel, out: Path, site_url: str | None) -> None:
    """Write the whole site.

    Args:
        site: the content of the site.
        out: an empty folder.
        site_url: address of the published site, if known; links are relative anyway.

    Raises:
        BadInput: MkDocs rejects the configuration.
    """
    with _environment(NO_MKDOCS_2_WARNING="1", SOURCE_DATE_EPOCH=str(_epoch(site.latest))):
        from mkdocs.commands.build import build
        from mkdocs.config import load_config
        from mkdocs.exceptions import MkDocsException

        logging.getLogger("mkdocs").setLevel(logging.WARNING)
        values: dict[str, Any] = {"site_dir": str(out), "site_url": site_url or "", "site_name": site.settings.title}
        if repository := site.settings.repository or project().repository:
            values |= {"repo_url": repository, "repo_name": "Repository"}
        try:
            config = load_config(str(assets_root() / "mkdocs.yml"), **values)
            config.plugins["memeval"].config["site"] = site
            if has_colours(site.settings):
                config.extra_css.append(COLOURS_FILE)
            if site.version is not None:
                config.extra["version"] = {"provider": "mike"}
                config.extra["release"] = site.version
            build(config)
        except MkDocsException as error:
            raise BadInput(f"MkDocs cannot build the site: {error}") from error
    if site_url is None:
        for name in ("sitemap.xml", "sitemap.xml.gz"):
            (out / name).unlink(missing_ok=True)


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
