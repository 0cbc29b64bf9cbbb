"""LongMemEval's lexical baseline gives the scores of its authors' library."""

import pytest

from tests.support.products import SUBMISSIONS, adapter_of

ADAPTER = adapter_of(SUBMISSIONS / "longmemeval-bm25")


def test_scores_are_those_of_the_library_it_was_published_with() -> None:
    scores = ADAPTER.okapi([["a", "b"], ["a", "c"], ["a"]], ["a", "c"])
    assert scores == pytest.approx([-0.070662, 0.39798537, -0.09392875], abs=1e-6)


def test_only_users_words_count_cases_differ_and_later_sessions_win_ties() -> None:
    system = ADAPTER.SessionBM25()
    for number, (said, replied) in enumerate([("a Kite", "zebra"), ("a kite", "kite"), ("a kite", "")], start=1):
        turns = [{"role": "user", "content": said}, {"role": "assistant", "content": replied}]
        system.ingest_session({"session_id": f"s{number:03}", "date": "2024-01-01", "turns": turns}, "2024-01-01")
    assert [item["source_ids"] for item in system.search("Kite", 3)] == [["s001"], ["s003"], ["s002"]]
    assert [item["source_ids"] for item in system.search("zebra", 1)] == [["s003"]]
    assert system.search("Kite", 1)[0]["text"] == "[2024-01-01] user: a Kite"


def test_an_empty_memory_has_nothing() -> None:
    assert ADAPTER.SessionBM25().search("kite", 5) == []
