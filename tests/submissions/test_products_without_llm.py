"""The products that run without an LLM. Only Haystack and LlamaIndex, the lightest, are installed here."""

from pathlib import Path

import pytest

from tests.support.products import LOAD_ADAPTER, SUBMISSIONS, drive, pins, submission_of

ROOT = Path(__file__).parents[2]
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

DRIVE = (
    LOAD_ADAPTER
    + """
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
)


@pytest.mark.parametrize("slug", PRODUCTS)
class TestEachProduct:
    def test_states_its_configuration_and_needs_no_model_and_no_host(self, slug: str) -> None:
        submission = submission_of(slug)
        assert submission.configuration is not None and not submission.mock
        assert submission.configuration.model == "no LLM" and submission.configuration.caveats
        assert (submission.declared_models, submission.hosts) == ((), ())

    def test_pins_the_product_at_its_own_version(self, slug: str) -> None:
        assert pins(slug)[PRODUCTS[slug]] == submission_of(slug).version

    def test_says_what_the_adapter_stores_and_what_the_product_does(self, slug: str) -> None:
        page = (SUBMISSIONS / slug / "README.md").read_text("utf-8")
        for part in ("Storing", "Searching", "Time", "Indexing", "Fresh memory"):
            assert f"- **{part}.** " in page

    def test_is_listed_on_the_page_of_products(self, slug: str) -> None:
        assert f"(`{slug}`)" in (ROOT / "site" / "products.md").read_text("utf-8")


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
