"""Answers of an offline reader follow from the stored contexts: ``reproduce`` runs the reader again."""

from __future__ import annotations

from collections.abc import Callable, Collection
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from memeval.benchmarks.session import session_of_run
from memeval.evaluation.reproduction import reproduce_run
from memeval.keys import BeliefKey
from memeval.records.run import Run
from tests.support.forging import Forger

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


def forger(results: Path, category: str | None = None, items: int = ITEMS) -> Forger:
    """Return a copy of a run of the BM25 control with a few items."""
    run = "beliefs/bm25"
    chosen = [grade["item_id"] for grade in copied(run).grades if category in (None, grade["category"])]
    return of_items(run, results, chosen[:items])


def found(made: Forger) -> list[str]:
    """Seal the run as a forger does, and return what ``reproduce`` finds."""
    made.regrade()
    return [str(finding) for finding in reproduce_run(made.seal()).findings]


@pytest.mark.parametrize("category", [None, "delta-efficiency"])
def test_an_honest_run_is_read_again_and_equal(tmp_path: Path, category: str | None) -> None:
    assert found(forger(tmp_path, category=category, items=3 if category else ITEMS)) == []


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


def test_an_answer_from_the_twentieth_context_alone_is_found(tmp_path: Path) -> None:
    """In a scenario whose agent keeps context, the reader gets all contexts so far."""
    made = forger(tmp_path, category="delta-efficiency", items=1)
    swapped = {"answer": made.responses[0]["answer"]}
    assert swapped["answer"] != made.responses[-1]["answer"]
    made.responses[-1] |= swapped
    (finding,) = found(made)
    assert f"responses.jsonl.gz:{len(made.responses)}: " in finding


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
