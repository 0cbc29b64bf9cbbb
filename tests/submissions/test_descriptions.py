"""Every shipped submission states its configuration, and its product as its lock file and its package have it."""

import json
import re
from pathlib import Path

import pytest

from memeval.records.base import digest_bytes
from memeval.records.submission import Submission
from memeval.systems.source import find_system
from tests.support.products import drive, product
from tests.tools.install_tools import SYSTEMS

SUBMISSIONS = Path(__file__).parents[2] / "submissions"
SLUGS = sorted(path.parent.name for path in SUBMISSIONS.glob("*/submission.toml"))
OWN = {"hybrid", "longmemeval-bm25", "memorycd-bm25", "memorycd-long-context", "minilm", "notebook"}
"""Reference systems of memeval: no product."""


def submission(slug: str) -> Submission:
    found = find_system(slug, SUBMISSIONS).submission
    assert found is not None
    return found


def locked(slug: str) -> dict[str, str]:
    """Return the versions of the packages in the lock files of a submission."""
    found: dict[str, str] = {}
    folder = SUBMISSIONS / slug
    if (folder / "requirements.lock").exists():
        text = (folder / "requirements.lock").read_text("utf-8")
        found |= dict(re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", text, flags=re.MULTILINE))
    if (folder / "package-lock.json").exists():
        packages = json.loads((folder / "package-lock.json").read_text("utf-8"))["packages"]
        found |= {path.removeprefix("node_modules/"): each.get("version", "") for path, each in packages.items()}
    return found


@pytest.mark.parametrize("slug", SLUGS)
def test_a_configuration_is_stated_and_a_product_where_there_is_one(slug: str) -> None:
    stated = submission(slug)
    assert stated.configuration is not None and stated.configuration.model and stated.configuration.mode
    assert (stated.product is None) == (slug in OWN)


@pytest.mark.parametrize("slug", sorted(set(SLUGS) - OWN))
def test_the_package_of_a_product_is_pinned_at_the_stated_version(slug: str) -> None:
    stated = submission(slug)
    assert stated.product is not None and stated.product.package is not None
    version = locked(slug)[stated.product.package]
    assert (stated.product.version or stated.version.removeprefix("client ")) == version
    assert (stated.product.licence is None) != (stated.product.licence_digest is None)


def test_only_what_has_a_stand_in_is_a_mock() -> None:
    assert [slug for slug in SLUGS if submission(slug).mock] == ["astrocyte", "langmem", "mem0"]


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
    stated = submission(slug)
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
