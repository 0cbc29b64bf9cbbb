"""Every shipped submission states its configuration, and its product as its lock file and its package have it."""

import ast
import json
import re
from pathlib import Path

import pytest

from memeval.records.base import digest_bytes
from tests.support.products import SUBMISSIONS, drive, pins, product, submission_of
from tests.tools.install_tools import SYSTEMS

SLUGS = sorted(path.parent.name for path in SUBMISSIONS.glob("*/submission.toml"))
OWN = {"hybrid", "longmemeval-bm25", "memorycd-bm25", "memorycd-long-context", "minilm", "notebook"}
"""Reference systems of memeval: no product."""


EMBEDDER = {
    ("minilm.py", "vocab.txt"): (
        *("minilm", "hybrid", "chroma", "langgraph-store", "mem0-verbatim"),
        *("lancedb", "pgvector", "qdrant-local", "chroma-stored", "mem0-stored", "langgraph-sqlite"),
    ),
    ("weights.py",): ("mempalace", "mcp-memory-service", "mcp-memory-service-stored"),
    ("vocab.txt",): ("minilm", "mempalace", "mcp-memory-service", "mcp-memory-service-stored"),
}
"""Files of the embedder, and the submissions that carry the same."""


def locked(slug: str) -> dict[str, str]:
    """Return the versions of the packages in the lock files of a submission."""
    found = pins(slug) if (SUBMISSIONS / slug / "requirements.lock").exists() else {}
    if (SUBMISSIONS / slug / "package-lock.json").exists():
        packages = json.loads((SUBMISSIONS / slug / "package-lock.json").read_text("utf-8"))["packages"]
        found |= {path.removeprefix("node_modules/"): each.get("version", "") for path, each in packages.items()}
    return found


@pytest.mark.parametrize("lock", sorted(SUBMISSIONS.glob("*/requirements.lock")), ids=lambda lock: lock.parent.name)
def test_a_lock_pins_every_package_by_digest_and_names_no_index(lock: Path) -> None:
    assert pins(lock.parent.name)
    assert not re.search("index-url|://", lock.read_text("utf-8"))


@pytest.mark.parametrize("slug", SLUGS)
def test_an_adapter_imports_nothing_of_memeval(slug: str) -> None:
    for path in (SUBMISSIONS / slug).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not [name for name in names if name.partition(".")[0] == "memeval"]


@pytest.mark.parametrize(("names", "slugs"), list(EMBEDDER.items()))
def test_the_embedder_is_the_same_in_every_submission_that_carries_it(
    names: tuple[str, ...], slugs: tuple[str, ...]
) -> None:
    for name in names:
        assert len({(SUBMISSIONS / slug / name).read_bytes() for slug in slugs}) == 1


@pytest.mark.parametrize("slug", SLUGS)
def test_a_configuration_is_stated_and_a_product_where_there_is_one(slug: str) -> None:
    stated = submission_of(slug)
    assert stated.configuration is not None and stated.configuration.model and stated.configuration.mode
    assert (stated.product is None) == (slug in OWN)


@pytest.mark.parametrize("slug", sorted(set(SLUGS) - OWN))
def test_the_package_of_a_product_is_pinned_at_the_stated_version(slug: str) -> None:
    stated = submission_of(slug)
    assert stated.product is not None and stated.product.package is not None
    version = locked(slug)[stated.product.package]
    assert (stated.product.version or stated.version.removeprefix("client ")) == version
    assert (stated.product.licence is None) != (stated.product.licence_digest is None)


def test_only_what_has_a_stand_in_is_a_mock() -> None:
    assert [slug for slug in SLUGS if submission_of(slug).mock] == ["astrocyte", "langmem"]


METADATA = """
import importlib.metadata, json, sys
found = importlib.metadata.distribution(json.load(sys.stdin))
data = found.metadata
classified = [one.rpartition(" :: ")[2] for one in data.get_all("Classifier", []) if one.startswith("License ::")]
files = [str(found.locate_file(one)) for one in found.files or () if "licen" in one.name.lower()]
stated = [data.get("License-Expression"), data.get("License"), *classified]
print(json.dumps({"version": found.version, "licences": [one for one in stated if one], "files": files}))
"""


@pytest.mark.products
@pytest.mark.parametrize("slug", SYSTEMS)
def test_licence_and_version_of_a_product_are_those_of_its_installed_package(slug: str) -> None:
    stated = submission_of(slug)
    assert stated.product is not None and stated.product.package is not None
    if stated.product.package.startswith("@"):
        modules = Path(product(slug).variables["NODE_PATH"])
        package = json.loads((modules / stated.product.package / "package.json").read_text("utf-8"))
        found = {"version": package["version"], "licences": [package["license"]], "files": []}
    else:
        found = drive(slug, METADATA, told=stated.product.package)
    assert (stated.product.version or stated.version.removeprefix("client ")) == found["version"]
    if stated.product.licence is None:
        assert found["licences"] == []
        assert stated.product.licence_digest in [digest_bytes(Path(one).read_bytes()) for one in found["files"]]
    else:
        assert stated.product.licence in found["licences"]
