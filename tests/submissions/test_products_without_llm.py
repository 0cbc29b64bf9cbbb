"""The products that run without an LLM. Only Haystack and LlamaIndex, the lightest, are installed here."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

from memeval.systems.source import find_system
from tests.support.products import drive

ROOT = Path(__file__).parents[2]
SUBMISSIONS = ROOT / "submissions"
PRODUCTS = {
    "haystack": "haystack-ai",
    "langgraph-store": "langgraph",
    "llamaindex": "llama-index-core",
    "mcp-memory-service": "mcp-memory-service",
    "mem0-verbatim": "mem0ai",
    "mempalace": "mempalace",
    "txtai": "txtai",
}
"""The slug of each product, and its package."""
PIN = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)(?: ;.*?)?((?: --hash=sha256:[0-9a-f]{64})+)$")

DRIVE = """
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("adapter", sys.argv[1])
adapter = importlib.util.module_from_spec(spec)
spec.loader.exec_module(adapter)
one, other = [getattr(adapter, sys.argv[2])() for _ in range(2)]
turns = json.load(sys.stdin)
session = {"session_id": "s001", "date": "2024-01-01", "turns": turns}
one.ingest_session(session, session["date"])
one.ingest_session(session, session["date"])
found = {"found": one.search("Which river flows in Porto?", 2), "other": other.search("river", 2)}
found["kept"] = len(one.export_memories())
one.reset()
found["reset"] = one.search("river", 2)
json.dump(found, sys.stdout)
"""


def pins(slug: str) -> dict[str, str]:
    """The version of each package in a lock; a line without a digest has none."""
    text = (SUBMISSIONS / slug / "requirements.lock").read_text("utf-8").replace("\\\n", " ")
    lines = [" ".join(line.split()) for line in text.splitlines() if line and not line.startswith("#")]
    matches = [PIN.match(line) for line in lines]
    return {line: "" for line, match in zip(lines, matches, strict=True) if match is None} | {
        match[1]: match[2] for match in matches if match is not None
    }


@pytest.mark.parametrize("slug", PRODUCTS)
class TestEachProduct:
    def test_states_its_configuration_and_needs_no_model_and_no_host(self, slug: str) -> None:
        submission = find_system(slug, SUBMISSIONS).submission
        assert submission is not None and submission.configuration is not None and not submission.mock
        assert submission.configuration.model == "no LLM" and submission.configuration.caveats
        assert (submission.declared_models, submission.hosts) == ((), ())

    def test_pins_every_package_by_digest_and_the_product_at_its_own_version(self, slug: str) -> None:
        pinned = pins(slug)
        manifest = tomllib.loads((SUBMISSIONS / slug / "submission.toml").read_text("utf-8"))
        assert "" not in pinned.values()
        assert pinned[PRODUCTS[slug]] == manifest["version"]

    def test_imports_nothing_of_memeval(self, slug: str) -> None:
        for path in (SUBMISSIONS / slug).glob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
                names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                assert not [name for name in names if name.partition(".")[0] == "memeval"]

    def test_says_what_the_adapter_stores_and_what_the_product_does(self, slug: str) -> None:
        page = (SUBMISSIONS / slug / "README.md").read_text("utf-8")
        for part in ("Storing", "Searching", "Time", "Indexing", "Fresh memory"):
            assert f"- **{part}.** " in page

    def test_is_listed_on_the_page_of_products(self, slug: str) -> None:
        assert f"(`{slug}`)" in (ROOT / "site" / "products.md").read_text("utf-8")


@pytest.mark.parametrize("slug", ["langgraph-store", "mem0-verbatim"])
@pytest.mark.parametrize("name", ["minilm.py", "vocab.txt"])
def test_a_product_that_accepts_an_embedder_gets_that_of_the_baseline(slug: str, name: str) -> None:
    assert (SUBMISSIONS / slug / name).read_bytes() == (SUBMISSIONS / "minilm" / name).read_bytes()


def test_the_embedder_is_the_same_in_all_products_that_bring_one() -> None:
    folders = [SUBMISSIONS / slug for slug in ("mempalace", "mcp-memory-service")]
    assert len({(folder / "weights.py").read_bytes() for folder in folders}) == 1
    assert {(folder / "vocab.txt").read_bytes() for folder in folders} == {
        (SUBMISSIONS / "minilm" / "vocab.txt").read_bytes()
    }


@pytest.mark.products
@pytest.mark.parametrize(("slug", "name"), [("haystack", "Haystack"), ("llamaindex", "LlamaIndex")])
def test_a_keyword_retriever_finds_dated_turns_keeps_each_once_and_forgets_them(slug: str, name: str) -> None:
    texts = ("I live in Porto.", "My sister lives in Lyon.", "The river in Porto is the Douro.")
    turns = [
        {"turn_id": f"s001:t0{number}", "role": "user", "speaker": "Ana", "content": text}
        for number, text in enumerate(texts, 1)
    ]
    told = drive(slug, DRIVE, name, told=turns)
    assert told["found"][0]["text"] == "[2024-01-01] Ana: The river in Porto is the Douro."
    assert [item["source_ids"] for item in told["found"]] == [["s001:t03"], ["s001:t01"]]
    assert (told["other"], told["kept"], told["reset"]) == ([], 3, [])
