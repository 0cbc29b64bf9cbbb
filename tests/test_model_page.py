"""The page *Run it with a model*: its numbers are those of stored runs, and the tests that it names are there."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from bench import labelled_judge, one_conversation
from bench.labelled_judge import counted
from bench.six_turns import END, FACTS, PAGE, START, TURNS, write
from memeval.api import board
from memeval.archive.runs import RunFolder
from memeval.leaderboard.answer_order import compared_orders
from memeval.records.label import AnswerLabel
from tests.support.data import test_data

ROOT = Path(__file__).resolve().parents[1]

ROW = {
    "product": "Acme",
    "version": "1.0",
    "model": "tiny",
    "calls": 1,
    "prompt_tokens": 8158,
    "completion_tokens": 20,
    "seconds": 203,
    "memories": [],
    "facts": 3,
    "kept": [],
    "replies": ['{"memory": []}'],
}


@pytest.mark.data
def test_the_stored_runs_say_what_one_conversation_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = json.loads((ROOT / one_conversation.OUT).read_text())
    monkeypatch.setenv("MEMEVAL_DATA", str(test_data("locomo/locomo10.json").parents[1]))
    for row in rows:
        assert one_conversation.measured(RunFolder(ROOT / "results" / "locomo" / row["system"] / row["run"])) == row


def test_verdicts_are_counted_by_label_and_missing_ones_apart() -> None:
    right, imprecise, wrong = AnswerLabel
    found = counted([True, False, None, True, True, False], [right, right, right, imprecise, wrong, wrong])
    assert found == {
        "right": {"rows": 3, "accepted": 1, "no_verdict": 1},
        "imprecise": {"rows": 1, "accepted": 1, "no_verdict": 0},
        "wrong": {"rows": 2, "accepted": 1, "no_verdict": 0},
    }
    row = {"sample": "answers", "rows": 6, "grader": "local:tiny@1", "labels": found}
    line = labelled_judge.table_of([row]).splitlines()[-2]
    assert line == "| `answers`, 6 answers | `local:tiny@1` | 1 of 3 | 1 of 1 | 1 of 2 | 1 |"


def test_the_page_says_that_the_judge_accepts_nothing() -> None:
    rows = [row for row in json.loads((ROOT / labelled_judge.OUT).read_text()) if row["grader"].startswith("local:")]
    accepted = sum(label["accepted"] for row in rows for label in row["labels"].values())
    assert ("accepts nothing, not even the right" in (ROOT / PAGE).read_text()) == (bool(rows) and accepted == 0)


def test_every_fault_on_the_page_names_a_test_that_exists() -> None:
    page = (ROOT / PAGE).read_text()
    named = set(re.findall(r"`(test_\w+)`", page.partition("## What goes wrong with real models")[2]))
    assert len(named) > 10
    written = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name in sorted(named) if f"def {name}(" not in written] == []


def test_a_product_that_kept_nothing_is_shown_with_the_models_reply(tmp_path: Path) -> None:
    kept: dict[str, Any] = {**ROW, "product": "Other", "memories": ["Ada `lives`\nin Oslo"], "kept": ["Oslo"]}
    page = tmp_path / "model.md"
    page.write_text(f"before\n{START}old\n{END}after\n")
    write([ROW, kept], tmp_path / "out.json", page)
    text = page.read_text()
    assert text.startswith(f"before\n{START}") and text.endswith(f"{END}after\n") and "old" not in text
    assert "| Acme 1.0 | `tiny` | 1 | 8,158 | 20 | 203 | 0 | 0 of 3 |" in text
    assert '- Acme with `tiny` kept nothing.\n  The model\'s first reply: `{"memory": []}`' in text
    assert "- Other with `tiny` kept `Ada 'lives' in Oslo`." in text


def test_the_facts_are_in_the_turns() -> None:
    said = " ".join(text for _role, _speaker, text in TURNS).casefold()
    assert all(fact.casefold() in said for fact in FACTS)


WORDS = {
    "bm25s": "BM25S",
    "bm25": "BM25",
    "file-grep": "text files and grep",
    "recency-window": "the last turns",
}

VECTORS = ("minilm", "chroma", "langgraph-store", "mem0-verbatim", "mcp-memory-service")

LOCOMO = WORDS | dict.fromkeys(VECTORS, "MiniLM vectors, alone and in four products")

BELIEFS = WORDS | {"haystack": "Haystack", "llamaindex": "LlamaIndex", "minilm": "MiniLM vectors"}


@pytest.mark.parametrize(
    ("benchmark", "answered", "searched", "names"),
    [
        ("locomo", "hundred", "full", LOCOMO),
        ("beliefs", "quick", "quick", BELIEFS),
    ],
)
def test_the_scores_of_answers_on_the_page_are_those_of_the_stored_runs(
    tmp_path: Path, benchmark: str, answered: str, searched: str, names: dict[str, str]
) -> None:
    for file in ROOT.glob(f"results/{benchmark}/*/*/run.json"):
        track = RunFolder(file.parent).run.track
        by_model = track.tier == answered and track.reader.startswith("local:qwen2.5-coder-0.5b")
        if by_model or (track.protocol, track.tier) == ("retrieval", searched):
            shutil.copytree(file.parent, tmp_path / benchmark / file.parent.parent.name / file.parent.name)
    shutil.copy(ROOT / "results/ledger.jsonl", tmp_path)
    tables = [table for table in board(tmp_path).tables if table.rows]
    (found,) = compared_orders(tables)
    page = (ROOT / PAGE).read_text().replace("\n", " ")
    assert {each.row.run.system.slug for each in found.systems} == names.keys()
    for each in found.systems:
        name = names[each.row.run.system.slug]
        assert f"| {name} | {100 * each.answers:.1f} | {100 * each.retrieval:.1f} |" in page
    order = found.agreement
    assert order is not None
    interval = f"(95 % interval: {order.low:.2f} to {order.high:.2f})"
    assert f"\N{GREEK SMALL LETTER TAU} = {order.tau:.2f} {interval}" in page
    scores = {
        row.run.system.slug: row.run.scores.composite.value
        for row in found.answers.rows
        if row.run.scores.composite.value is not None
    }
    assert f"| nothing | {100 * scores['no-memory']:.1f} |" in page
    assert f"the model scores {100 * scores['oracle']:.1f}" in page
