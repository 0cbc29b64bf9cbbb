"""MemoryCD's two ways of choosing what is remembered."""

from typing import Any

import pytest

from tests.support.products import SUBMISSIONS, adapter_of

BM25, LONG = (adapter_of(SUBMISSIONS / slug) for slug in ("memorycd-bm25", "memorycd-long-context"))


def searcher(texts: list[str], **parameters: Any) -> Any:
    system = BM25.BM25Reviews(**parameters)
    for number, text in enumerate(texts, start=1):
        system.retain(text, source_id=f"s{number:03}")
    return system


def test_scores_are_those_of_the_library_the_authors_use() -> None:
    scores = BM25.okapi([["a", "b"], ["a", "c"], ["a"]], ["a", "c"])
    assert scores == pytest.approx([-0.070662, 0.39798537, -0.09392875], abs=1e-6)
    mean = (-1.9459101490553132 + 2 * 0.5108256237659907) / 3
    assert scores[2] == pytest.approx(0.25 * mean * 2.5 / (1 + 1.5 * (0.25 + 0.75 * 0.6)), abs=1e-12)


def test_a_corpus_without_a_word_scores_nothing() -> None:
    assert (BM25.okapi([[], [], []], ["a"]), BM25.okapi([], ["a"])) == ([0.0, 0.0, 0.0], [])


def test_a_review_is_searched_by_its_words_and_its_products() -> None:
    told = {"title": "Bright", "text": "Good light.", "product": "Lamp", "category": "Lights", "description": "x" * 600}
    assert BM25.document("rendered", told) == f"Bright Good light. Lamp Lights {'x' * 500}"
    assert BM25.document("rendered", {"rating": 4.0, "item": "B0AAAAAAA1", "title": ""}) == ""
    assert BM25.document("rendered", {}) == "rendered"


def test_the_best_are_handed_over_by_time_and_named_by_score() -> None:
    system = searcher(["red boat", "a kite in the wind", "blue boat", "green boat", "Kite"], max_items=2)
    found = system.search("kite", 3)
    assert found["context"] == "a kite in the wind\n\nKite"
    assert [item["source_ids"] for item in found["items"]] == [["s005"], ["s002"], ["s001"]]


def test_of_equal_scores_the_older_comes_first() -> None:
    system = searcher([f"text {number}" for number in range(12)], max_items=3)
    assert system.search("nothing of it", 10)["context"] == "text 0\n\ntext 1\n\ntext 2"


@pytest.mark.parametrize("most", [0, 3, 4])
def test_where_there_are_no_more_than_asked_for_all_are_handed_over_by_time(most: int) -> None:
    system = searcher(["c", "a", "b"], max_items=most)
    assert system.search("a", 1)["context"] == "c\n\na\n\nb"
    assert [item["text"] for item in system.search("a", 1)["items"]] == ["a"]


def test_long_context_hands_over_all_or_the_last_in_their_order() -> None:
    for most, expected in ((0, "c\n\na\n\nb"), (2, "a\n\nb"), (5, "c\n\na\n\nb")):
        system = LONG.LongContext(max_items=most)
        for number, text in enumerate("cab", start=1):
            system.retain(text, source_id=f"s{number:03}")
        found = system.search("whatever", 2)
        assert found["context"] == expected
        assert [item["source_ids"] for item in found["items"]] == [["s003"], ["s002"]]
        system.reset()
        assert system.search("whatever", 2) == {"context": "", "items": []}


@pytest.mark.parametrize("kind", [BM25.BM25Reviews, LONG.LongContext])
def test_sessions_of_other_benchmarks_are_taken_as_dated_lines(kind: Any) -> None:
    system = kind()
    turns = [{"role": "user", "speaker": "Ada", "content": "I moved."}, {"role": "assistant", "content": "Where to?"}]
    system.ingest_session({"session_id": "s001", "date": "2024-01-01", "turns": turns}, "2024-01-01")
    (item,) = system.search("moved", 5)["items"]
    assert item["text"] == "[2024-01-01] Ada: I moved.\n[2024-01-01] assistant: Where to?"
    assert item["source_ids"] == ["s001"]
