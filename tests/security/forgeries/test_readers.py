"""Answers of an offline reader follow from the stored contexts: ``reproduce`` runs the reader again."""

from collections.abc import Callable, Collection
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from memeval.benchmarks.base import Dataset, Parameters
from memeval.benchmarks.deepmemeval import DeepMemEvalBenchmark
from memeval.benchmarks.session import session_of_run
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.evaluation.verify.reproduce import reproduce_run
from memeval.keys import BeliefKey
from memeval.records.run import Run
from memeval.systems.source import file_source
from tests.benchmarks.deepmemeval.rows import rows, sessions
from tests.support.elsewhere import deepmemeval_exam
from tests.support.forging import Forger
from tests.support.registered import register

Json = dict[str, Any]
ITEMS = 12


@cache
def copied(run: str) -> Forger:
    """Return a copy of a stored run, not to be changed."""
    return Forger.of(run, Path())


def of_items(run: str, results: Path, items: Collection[str]) -> Forger:
    """Return a copy of a run with these items, and the contexts that they name."""
    whole = copied(run)
    made = Forger(results, deepcopy(whole.head), dict(whole.rows))
    made.keep(lambda grade: grade["item_id"] in items)
    named = {row["context_digest"] for row in made.responses}
    contexts = [row for row in made.rows["contexts.jsonl"] if row["digest"] in named]
    made.rows = deepcopy(made.rows | {"contexts.jsonl": contexts})
    return made


def forger(results: Path, category: str | None = None) -> Forger:
    """Return a copy of a run of the BM25 control with a few items that have an answer."""
    run = "beliefs/bm25"
    answered = {row["item_id"] for row in copied(run).responses if row["answer"]}
    chosen = [grade["item_id"] for grade in copied(run).grades if category in (None, grade["category"])]
    return of_items(run, results, [item for item in chosen if item in answered][:ITEMS])


def found(made: Forger) -> list[str]:
    """Seal the run as a forger does, and return what ``reproduce`` finds."""
    made.regrade()
    return [str(finding) for finding in reproduce_run(made.seal()).findings]


def test_an_honest_run_is_read_again_and_equal(tmp_path: Path) -> None:
    assert found(forger(tmp_path)) == []


KEY, POOL = "I keep the spare key at Lantern Bakery.", "I swim at the Heron Pool."

SENDS_ONCE = """
class SendsOnce:
    def reset(self):
        self.told = []

    def ingest_session(self, session, timestamp):
        self.told += [(turn["turn_id"], turn["content"]) for turn in session["turns"] if turn["role"] == "user"]

    def search(self, query, k, timestamp=None):
        found, self.told = self.told, []
        return [{"text": text, "source_ids": [place]} for place, text in found]
"""
"""A system that sends each text to the agent once, at the first question."""


@pytest.fixture
def conversation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Forger:
    """A run of that system over twenty questions to an agent that keeps context."""
    (row,) = (each for each in rows() if each["scenario_type"] == "delta-efficiency")
    asked = [*19 * ["Where do I keep the spare key?"], "Where do I swim?"]
    row["conversation_history"] = sessions(KEY, POOL)
    row["metadata"]["established_facts_by_turn_5"] = [KEY, POOL]
    row["evaluation_turns"] = [{"question": text, "turn": turn} for turn, text in enumerate(asked)]
    exam = deepmemeval_exam([row])

    class MadeUp(DeepMemEvalBenchmark):
        def open(self, path: Path | None = None, parameters: Parameters | None = None) -> Dataset:
            return exam.dataset

    register(monkeypatch, {"deepmemeval@1": MadeUp})
    (tmp_path / "sends_once.py").write_text(SENDS_ONCE)
    options = RunOptions(results=tmp_path / "honest", reader="extractive@2")
    return Forger.of(run_system(file_source(tmp_path / "sends_once.py"), exam, options), tmp_path / "forged")


def test_where_the_agent_keeps_context_the_reader_gets_all_contexts_so_far_again(conversation: Forger) -> None:
    assert [row["answer"] for row in conversation.responses] == [*19 * [KEY], POOL]
    assert [bool(row["items"]) for row in conversation.responses] == [True, *19 * [False]]
    assert found(conversation) == []


def test_right_answers_under_an_offline_reader_are_found(tmp_path: Path) -> None:
    made = forger(tmp_path, category="belief-update")
    head = Run.from_data(made.head, "forged")
    keys = {key.item_id: key.key for key in session_of_run(head).keys}
    for row in made.responses:
        key = keys[row["item_id"]]
        assert isinstance(key, BeliefKey)
        row["answer"], row["outcome"] = key.current.text, "ok"
    findings = found(made)
    assert len(findings) == ITEMS
    assert all(f"responses.jsonl.gz:{n}: " in text for n, text in enumerate(findings, start=1))
    assert "the answer is '" in findings[0]
    assert "but the reader extractive@2 gives '" in findings[0]


@pytest.mark.parametrize("forged", [{"answer": KEY}, {"answer": "", "outcome": "empty"}])
def test_another_answer_than_that_of_all_contexts_so_far_is_found(conversation: Forger, forged: Json) -> None:
    """The answer of an earlier question, and that from the twentieth context alone."""
    conversation.responses[-1] |= forged
    (finding,) = found(conversation)
    assert "responses.jsonl.gz:20: " in finding
    assert f"but the reader extractive@2 gives '{POOL}'" in finding


@pytest.mark.parametrize(
    "drop",
    [
        lambda row: row.update(context_digest=None, context_tokens=None),
        lambda row: row.update(context_digest=None, context_tokens=None, items=None),
    ],
)
def test_dropped_contexts_are_found(tmp_path: Path, drop: Callable[[Json], None]) -> None:
    made = forger(tmp_path)
    for row in made.responses:
        drop(row)
    made.rows["contexts.jsonl"] = []
    findings = found(made)
    assert len(findings) == ITEMS
    assert "but the reader extractive@2 gives ''." in findings[0]


def test_context_rows_that_are_missing_are_found(tmp_path: Path) -> None:
    made = forger(tmp_path)
    del made.rows["contexts.jsonl"][3]
    (finding,) = found(made)
    assert "responses.jsonl.gz:4: " in finding
    assert "its context is missing or cannot be read." in finding


def test_an_answer_beside_an_error_or_a_false_outcome_is_found(tmp_path: Path) -> None:
    made = forger(tmp_path)
    made.responses[0] |= {"outcome": "timeout", "error": "It took too long."}
    made.responses[1] |= {"outcome": "empty"}
    findings = found(made)
    assert "but the reader extractive@2 gives ''." in findings[0]
    assert "the outcome is 'empty', but the reader's answer makes it 'ok'." in findings[1]


def test_a_reader_that_does_not_exist_is_named(tmp_path: Path) -> None:
    made = forger(tmp_path)
    made.track["reader"] = "extractive@9"
    (finding,) = found(made)
    assert "run.json: track.reader: this memeval has no reader 'extractive@9'." in finding


def test_a_false_digest_of_the_responses_is_found(tmp_path: Path) -> None:
    made = forger(tmp_path)
    made.regrade()
    sealed = made.seal(responses_digest="sha256:" + "0" * 64)
    (finding,) = reproduce_run(sealed).findings
    assert "run.json: responses_digest: is sha256:000" in str(finding)
