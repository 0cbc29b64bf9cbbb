"""The hand-written pages: MkDocs turns their Markdown into HTML and checks their links.

Another generator would replace this module and its plugin, and nothing else: the frame is that of all pages.
"""

import logging
import os
import tempfile
from collections.abc import Iterator
from importlib.metadata import version

from memeval.records.errors import BadInput
from memeval.site.frame.navigation import STATUS
from memeval.site.model.file_digests import digest_file
from memeval.site.model.files import Asset, Page, assets_root, entries_of
from memeval.site.pages.harness_wheel import install_steps
from memeval.site.pages.kept_files import kept_files

PACKAGES = ("markdown", "mkdocs", "mkdocs-material", "pygments", "pymdown-extensions")


def guide_files(own: bool) -> Iterator[Page | Asset]:
    """Yield the hand-written pages, and the hand-written files that are published unchanged.

    ``own``: whether the board is that of memeval's repository. Raises ``BadInput`` if MkDocs rejects the guide.
    """
    root = assets_root()
    folder = root / "site"
    paths = [path for path, _ in entries_of(folder) if not path.rpartition("/")[2].startswith(".")]
    texts = [path for path in paths if path.endswith(".md")]
    inputs = [
        digest_file(root / "mkdocs.yml"),
        [[path, digest_file(folder / path)] for path in texts],
        paths,
        install_steps(),
        {name: version(name) for name in PACKAGES},
    ]
    for made in kept_files("guide", inputs, _converted):
        if own or not isinstance(made, Page) or made.url != STATUS:
            yield made
    for path in paths:
        if not path.endswith(".md"):
            yield Asset(path, folder / path, digest_file(folder / path))


def _converted() -> list[Page]:
    os.environ.setdefault("NO_MKDOCS_2_WARNING", "1")  # else Material prints an announcement
    with tempfile.TemporaryDirectory(prefix="memeval-guide-") as scratch:
        from mkdocs.commands.build import build
        from mkdocs.config import load_config
        from mkdocs.exceptions import MkDocsException

        from memeval.site.frame.guide_plugin import GuidePlugin

        logging.getLogger("mkdocs").setLevel(logging.WARNING)
        try:
            config = load_config(str(assets_root() / "mkdocs.yml"), site_dir=scratch)
            plugin = config.plugins["memeval"] = GuidePlugin()
            build(config)
        except MkDocsException as error:
            raise BadInput(f"MkDocs cannot convert the guide: {error}") from error
        return plugin.pages
