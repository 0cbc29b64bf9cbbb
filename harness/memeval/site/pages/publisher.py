"""The base class of page publishers. A new page needs only a new module under ``memeval.site.pages``."""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import ClassVar

from memeval.site.model.content import SiteModel
from memeval.site.model.files import GeneratedFile


class Publisher(ABC):
    """Makes the pages of one kind."""

    name: ClassVar[str]
    order: ClassVar[int]
    """Publishers run in ascending order; it affects only the order of the output."""

    @abstractmethod
    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        """Yield the files of this kind."""


def publishers() -> list[Publisher]:
    """Return one of each publisher under ``memeval.site.pages``, in order."""
    package = importlib.import_module("memeval.site.pages")
    found: dict[str, Publisher] = {}
    for module_info in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{module_info.name}")
        for value in vars(module).values():
            if (
                isinstance(value, type)
                and issubclass(value, Publisher)
                and value.__module__ == module.__name__ != __name__
            ):
                found[value.name] = value()
    return sorted(found.values(), key=lambda publisher: (publisher.order, publisher.name))


def publish_all(site: SiteModel) -> Iterator[GeneratedFile]:
    for publisher in publishers():
        yield from publisher.publish(site)
