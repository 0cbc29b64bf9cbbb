"""Which systems are configurations of one product, and what a reader calls it: product, library, reference system.

The systems whose products have one name share a page. What stands in brackets at the end of a name is left out: “mem0”
and “Mem0 (cloud)” are one product. A system without a product has a page of its own.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from memeval.records.run import SystemIdentity, SystemKind
from memeval.records.submission import Submission
from memeval.site.model.labels import name_key
from memeval.site.model.urls import segment, system_url

LIBRARIES = frozenset(
    (
        *("apsw", "bm25s", "chromadb", "haystack-ai", "lancedb", "llama-index-core"),
        *("pgserver", "qdrant-client", "redis", "txtai"),
    )
)
"""Packages that are parts to build a memory with, and no memory by themselves: the board calls them libraries."""

REFERENCE = "reference system"
"""How the caveat begins with which a configuration says that it is nobody's product."""


class ProductKind(StrEnum):
    PRODUCT = "product"
    LIBRARY = "library"
    """Something to build a memory with, such as a search index."""
    REFERENCE = "reference system"
    """Written for comparison, by memeval's authors or after a paper."""
    MOCK = "mock"
    """In every configuration here, a stand-in replaces a part that the product needs."""
    CONTROL = "control"


@dataclass(frozen=True)
class ProductGroup:
    """A product, with all systems that are configurations of it."""

    slug: str
    """The shortest slug of its systems, so that its address is that of the plainest configuration."""
    name: str
    """Untrusted text."""
    kind: ProductKind
    systems: tuple[str, ...]
    """Slugs, the product's own first, also of submissions without a run."""

    @property
    def url(self) -> str:
        return system_url(self.slug)


@dataclass(frozen=True)
class Products:
    groups: tuple[ProductGroup, ...]
    """In the order of their names."""

    @cached_property
    def by_slug(self) -> Mapping[str, ProductGroup]:
        """The product of each system, by the slug of the system."""
        return {slug: group for group in self.groups for slug in group.systems}

    @cached_property
    def _moved(self) -> Mapping[str, str]:
        pairs = ((slug, group) for slug, group in self.by_slug.items() if slug != group.slug)
        return {system_url(slug): f"{group.url}#{segment(slug)}" for slug, group in pairs}

    def address(self, url: str) -> str:
        """Return an address of the site; for that of a system, the place on the page of its product."""
        return self._moved.get(url, url)


def products_of(systems: Iterable[SystemIdentity], submissions: Mapping[str, Submission]) -> Products:
    """Return the products.

    Args:
        systems: the system of each run, newest first.
        submissions: the submissions at hand, by slug. Those that name a product belong to it even without a run.
    """
    found: dict[str, SystemIdentity | Submission] = {}
    for system in systems:
        found.setdefault(system.slug, system)
    variants = {slug for each in submissions.values() for slug, name in each.slugs.items() if name is not None}
    for slug, each in submissions.items():
        if each.product is not None and slug not in variants:
            found.setdefault(slug, each)
    members: dict[tuple[bool, str], list[str]] = defaultdict(list)
    for slug, said in found.items():
        members[(True, name_key(_plain(said.product.name))) if said.product else (False, slug)].append(slug)
    groups = []
    for slugs in members.values():
        slugs.sort(key=lambda slug: (len(slug), slug))
        said = found[slugs[0]]
        name = _plain(said.product.name) if said.product else said.name
        kind = ProductKind.MOCK if all(found[slug].mock for slug in slugs) else kind_of(said)
        groups.append(ProductGroup(slugs[0], name, kind, tuple(slugs)))
    return Products(tuple(sorted(groups, key=lambda group: (name_key(group.name), group.slug))))


def _plain(name: str) -> str:
    return re.sub(r"\s*\([^()]*\)$", "", name.strip()) or name


def kind_of(said: SystemIdentity | Submission) -> ProductKind:
    """Return what a reader calls one configuration, mock or not."""
    if said.kind is SystemKind.CONTROL:
        return ProductKind.CONTROL
    if said.product is not None:
        return ProductKind.LIBRARY if said.product.package in LIBRARIES else ProductKind.PRODUCT
    caveats = said.configuration.caveats if said.configuration else ()
    return ProductKind.REFERENCE if any(each.startswith(REFERENCE) for each in caveats) else ProductKind.PRODUCT
