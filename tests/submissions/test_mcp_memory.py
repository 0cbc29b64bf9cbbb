"""The adapter of the MCP memory server, driven as memeval drives it, with the real server."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.products import product

pytestmark = pytest.mark.products

FOLDER = Path(__file__).parents[2] / "submissions" / "mcp-memory"
TURNS = ("I live in Porto.", "My sister lives in Lyon.", "In Porto I live near the river.")

Replies = list[dict[str, Any]]


@pytest.fixture(scope="module")
def variables() -> dict[str, str]:
    """The adapter's environment variables, with its packages installed from the lock."""
    environment = product("mcp-memory")
    programs = os.pathsep.join([*map(str, environment.path), os.environ["PATH"]])
    return {**os.environ, **environment.variables, "PATH": programs}


@pytest.fixture
def send(variables: dict[str, str], tmp_path: Path) -> Callable[..., Replies]:
    """A function that starts the adapter, sends it calls and returns its replies."""

    def sent(*calls: dict[str, Any]) -> Replies:
        ran = subprocess.run(
            ["node", str(FOLDER / "adapter.mjs")],
            input="".join(json.dumps({"id": number, **call}) + "\n" for number, call in enumerate(calls)),
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
            env={**variables, "TMPDIR": str(tmp_path)},
        )
        return [json.loads(line) for line in ran.stdout.splitlines()]

    return sent


def load(queries: str) -> dict[str, Any]:
    return {"call": "load", "parameters": {"queries": queries}}


def session() -> dict[str, Any]:
    turns = [
        {"turn_id": f"s001:t0{number}", "role": "user", "speaker": "Ana", "content": content}
        for number, content in enumerate(TURNS, 1)
    ]
    return {"call": "take_in", "session": {"session_id": "s001", "turns": turns}, "timestamp": "2024-01-01"}


def search(query: str) -> dict[str, Any]:
    return {"call": "search", "query": query, "k": 9}


def sources(reply: dict[str, Any]) -> list[str]:
    return [item["source_ids"][0] for item in reply["value"]["items"]]


def test_turns_that_match_more_words_come_first_and_reset_forgets_them(send: Callable[..., Replies]) -> None:
    question = search("Which river flows in Porto?")
    _, _, found, _, after = send(load("words"), session(), question, {"call": "reset"}, question)
    assert sources(found) == ["s001:t03", "s001:t01"]
    assert found["value"]["items"][1]["text"] == "[2024-01-01] Ana: I live in Porto."
    assert sources(after) == []


def test_the_whole_question_finds_only_turns_that_contain_it(send: Callable[..., Replies]) -> None:
    _, _, question, piece = send(load("question"), session(), search("Who lives in Lyon?"), search("lives in lyon"))
    assert (sources(question), sources(piece)) == ([], ["s001:t02"])


def test_unknown_queries_are_refused(send: Callable[..., Replies]) -> None:
    (reply,) = send(load("letters"))
    assert reply["error"] == "unknown queries letters"


def test_banks_have_graphs_of_their_own_and_a_deletion_removes_what_it_names(send: Callable[..., Replies]) -> None:
    def retain(bank: str, name: str, content: str) -> dict[str, Any]:
        return {"call": "retain", "content": content, "bank": bank, "source_id": name, "timestamp": "2024-01-01"}

    def recall(bank: str) -> dict[str, Any]:
        return {"call": "recall", "query": "Which locker?", "k": 9, "bank": bank}

    export = {"call": "export"}
    _, _, *replies = send(
        load("words"),
        session(),
        retain("ana", "t1", "My locker has the code 1."),
        retain("ana", "t2", "My locker is blue."),
        retain("", "t1", "My locker has the code 2."),
        recall("ana"),
        recall(""),
        recall("ben"),
        {"call": "forget", "bank": "ana", "ids": ["t1", "missing"]},
        recall("ana"),
        recall(""),
        export,
        {"call": "forget", "query": "lockers"},
        {"call": "forget", "bank": ""},
        recall(""),
        {"call": "forget"},
        export,
        retain("ana", "t1", "My locker has the code 1."),
        recall("ana"),
    )
    found = [sources(reply) if "items" in (reply.get("value") or {}) else reply.get("error") for reply in replies]
    turns = ["s001:t01", "s001:t02", "s001:t03"]
    assert found[3:6] == [["t1", "t2"], ["t1"], []]
    assert found[7:10] == [["t2"], ["t1"], [*turns, "t2", "t1"]]
    assert found[10] == "Nodes are forgotten by their ids or by their bank, not by a query."
    assert found[12] == found[14] == []
    assert found[16] == ["t1"]
