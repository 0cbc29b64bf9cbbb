"""Publishers: each makes the pages of one kind.

memeval's own are the classes in the modules of ``memeval.site.pages``. Those of other packages are entry points of the
group ``memeval.pages``: ``freshness = "memeval_freshness:FreshnessPage"``. The name is the folder of their files.
"""

import importlib
import pkgutil
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from memeval.benchmarks.registry import Extension, extensions
from memeval.records.errors import BadInput
from memeval.site.model.content import SiteModel
from memeval.site.model.files import Asset, GeneratedFile, KeptPage, Page, file_bytes

GROUP = "memeval.pages"

_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")


class Publisher(ABC):
    name: ClassVar[str]
    order: ClassVar[int]
    """Publishers run in ascending order; it affects only the order of the output."""
    title: ClassVar[str | None] = None
    """Of another package's page: its link in the menu, under *More results*; ``None`` for no link."""

    @abstractmethod
    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        """Yield the files of this kind."""


@dataclass(frozen=True)
class BroughtPage:
    """A publisher of another package."""

    extension: Extension
    publisher: Publisher

    @property
    def name(self) -> str:
        """Its folder in the site."""
        return self.extension.name

    def files(self, site: SiteModel) -> Iterator[Page | Asset]:
        """Yield its files with their contents, all of them in its folder.

        Raises ``BadInput`` if the page raises, or wants to write outside its folder.
        """
        try:
            for made in self.publisher.publish(site):
                yield from self._confined(made)
        except (Exception, SystemExit) as error:  # foreign code may raise anything
            raise self.extension.unusable(error) from error

    def _confined(self, made: object) -> Iterator[Page | Asset]:
        if isinstance(made, KeptPage):  # what is kept would outlive another version of the package
            for each in made.make():
                yield from self._confined(each)
            return
        if not isinstance(made, Page | Asset):
            raise BadInput(f"it gives {type(made).__name__}, and not a Page or an Asset.")
        path = f"{made.url}index.html" if isinstance(made, Page) else made.path
        first, *rest = path.split("/")
        if first != self.name or not rest or "\\" in path or not all(part.strip(".") for part in rest):
            raise BadInput(f"it wants to write {path!r}, outside its folder {self.name}/.")
        yield made if isinstance(made, Page) else Asset(path, file_bytes(made))


def publishers() -> list[Publisher]:
    """Return one of each of memeval's own publishers, in order."""
    package = importlib.import_module(__package__)
    found: dict[str, Publisher] = {}
    for module_info in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{module_info.name}")
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, Publisher) and value is not Publisher:
                found[value.name] = value()
    return sorted(found.values(), key=lambda publisher: (publisher.order, publisher.name))


@cache
def brought_pages() -> tuple[BroughtPage, ...]:
    """Return the publishers of other packages, by name.

    Raises ``BadInput`` if one of them cannot be imported, is no publisher, or has an invalid name or that of another.
    """
    found: dict[str, BroughtPage] = {}
    for extension in extensions(GROUP, "page"):
        made = BroughtPage(extension, _publisher(extension))
        other = found.setdefault(made.name, made)
        if other.extension.entry.value != extension.entry.value:
            raise extension.unusable(BadInput(f"{other.extension.package} has a page of this name."))
    return tuple(found.values())


def brought_files(site: SiteModel, taken: Collection[str]) -> Iterator[Page | Asset]:
    """Yield the files of other packages' pages.

    ``taken``: the folders and files at the root of the site that memeval makes. Raises ``BadInput`` if a page cannot be
    used, raises, or wants to write outside its folder.
    """
    for page in brought_pages():
        if page.name in taken:
            raise page.extension.unusable(BadInput(f"memeval has a page {page.name}/."))
        yield from page.files(site)


def _publisher(extension: Extension) -> Publisher:
    kind = extension.load()
    try:
        made = kind() if callable(kind) else kind
        if not isinstance(made, Publisher):
            raise BadInput(f"{extension.entry.value} makes {type(made).__name__}, and not a Publisher.")
        if not _NAME.fullmatch(extension.name):
            raise BadInput("its name has other characters than a-z, 0-9 and -, or more than 40.")
    except (Exception, SystemExit) as error:
        raise extension.unusable(error) from error
    return made
