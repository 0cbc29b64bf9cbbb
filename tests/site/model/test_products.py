"""Which systems share a product, and what a reader calls it."""

from typing import Any

import pytest

from memeval.records.base import digest_of
from memeval.records.run import SystemIdentity, SystemKind
from memeval.records.submission import Configuration, Product, Submission, Variant
from memeval.site.model.products import ProductKind, products_of
from memeval.site.model.urls import system_url
from memeval.systems.manifest import examined_manifest
from tests.site.pages.test_product_pages import LONG as NAME
from tests.support.commands import ROOT


def identity(slug: str, product: str | None = None, **fields: Any) -> SystemIdentity:
    return SystemIdentity(
        slug=slug,
        name=f"The system {slug}",
        version="1.0",
        kind=fields.pop("kind", SystemKind.SUBMISSION),
        adapter_class="Adapter",
        submission_digest=digest_of(slug),
        environment_digest=digest_of("environment"),
        product=None if product is None else Product(name=product, package=fields.pop("package", None)),
        **fields,
    )


def unrun(slug: str, product: str, *variants: str) -> dict[str, Submission]:
    found = Submission(
        slug=slug,
        name=slug,
        version="1",
        product=Product(name=product),
        variants={name: Variant(summary="Other.", parameters={}) for name in variants},
    )
    return dict.fromkeys(found.slugs, found)


def test_configurations_share_the_page_of_their_product_at_its_shortest_slug() -> None:
    found = products_of(
        [identity("mem0-verbatim", "mem0"), identity("notebook")],
        unrun("mem0-cloud", "Mem0 (cloud)") | unrun("mem0", "mem0"),
    )
    mem0, notebook = found.groups
    assert (mem0.name, mem0.systems) == ("mem0", ("mem0", "mem0-cloud", "mem0-verbatim"))
    assert found.address(system_url("mem0-verbatim")) == "systems/mem0/#mem0-verbatim"
    assert found.address(system_url("mem0")) == "systems/mem0/"
    assert found.address(system_url("notebook")) == notebook.url == "systems/notebook/"
    assert found.address("runs/mem0-verbatim/") == "runs/mem0-verbatim/"


def test_names_that_a_reader_cannot_tell_apart_are_one_product_and_long_ones_are_whole() -> None:
    found = products_of([identity("a", NAME), identity("b", f" {NAME.upper()}"[:80]), identity("c", NAME)], {})
    assert {group.systems: group.name for group in found.groups} == {("a", "c"): NAME, ("b",): NAME.upper()[:79]}
    named = products_of([identity("mine", "Mem0"), identity("other", " MEM0"), identity("bare")], {})
    assert [group.systems for group in named.groups] == [("mine", "other"), ("bare",)]


def test_a_product_is_a_mock_only_if_all_its_configurations_are() -> None:
    only, both = identity("only", "Only", mock=True), identity("both", "Both", mock=True)
    found = products_of([only, both, identity("both-real", "Both")], {}).by_slug
    assert (found["only"].kind, found["both"].kind) == (ProductKind.MOCK, ProductKind.PRODUCT)


def test_a_product_without_a_run_has_a_group_and_its_variants_only_with_one() -> None:
    found = products_of([identity("big-nine", "Big")], unrun("big", "Big", *(f"v{n}" for n in range(10))))
    assert [group.systems for group in found.groups] == [("big", "big-nine")]


@pytest.mark.parametrize(
    "system, kind",
    [
        (identity("chroma", "Chroma", package="chromadb"), ProductKind.LIBRARY),
        (identity("zep", "Zep", package="zep-cloud"), ProductKind.PRODUCT),
        (identity("acme"), ProductKind.PRODUCT),
        (
            identity("ours", configuration=Configuration(caveats=("reference system of memeval",))),
            ProductKind.REFERENCE,
        ),
        (identity("bm25", kind=SystemKind.CONTROL), ProductKind.CONTROL),
    ],
)
def test_the_word_for_a_system_follows_from_its_package_and_caveats(system: SystemIdentity, kind: ProductKind) -> None:
    assert products_of([system], {}).by_slug[system.slug].kind is kind


def test_the_shipped_submissions_are_products_and_libraries_or_say_that_they_are_for_reference() -> None:
    shipped = [examined_manifest(path)[0] for path in sorted((ROOT / "submissions").glob("*/submission.toml"))]
    ran = [identity(each.slug, configuration=each.configuration) for each in shipped if each and not each.product]
    found = products_of(ran, {each.slug: each for each in shipped if each})
    kinds = {kind: {group.slug for group in found.groups if group.kind is kind} for kind in ProductKind}
    databases = {"lancedb", "pgvector", "qdrant-local", "redis", "sqlite-fts5"}
    assert kinds[ProductKind.LIBRARY] == {"bm25s", "chroma", "haystack", "llamaindex", "txtai"} | databases
    assert kinds[ProductKind.REFERENCE] == {each.slug for each in ran}
    assert kinds[ProductKind.PRODUCT] >= {"mem0", "langgraph-store", "mempalace", "mcp-memory", "zep", "letta"}
    assert found.by_slug["mem0-verbatim"].slug == found.by_slug["mem0-cloud"].slug == "mem0"
