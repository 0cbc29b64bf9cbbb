"""The submissions of real systems that run with no key.

Only one of them, the lightest, is installed and run here: the environments of the others take 20 to 480 MB each. What
is checked of those is what can be read: that their manifests, locks, adapters and pages are what they should be.
"""

import ast
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.support.products import LOAD_ADAPTER, SUBMISSIONS, drive, pins, submission_of

ROOT = Path(__file__).parents[2]
SYSTEMS = ("bm25s", "minilm", "hybrid", "chroma", "astrocyte", "mem0", "langmem", "graphiti")
MOCKS = {"astrocyte": "mock provider", "langmem": "scripted model"}
"""The submissions that are mocks, and their model."""
MODELS = MOCKS | {"mem0": "Qwen2.5-Coder 1.5B", "graphiti": "Qwen2.5-Coder 1.5B"}

AS_MEMEVAL_CALLS = (
    LOAD_ADAPTER
    + """
said = json.load(sys.stdin)
first, second = adapter.BM25S(), adapter.BM25S()
for session in said["sessions"]:
    first.ingest_session(session, session["date"])
first.settle(1)
found = {
    "now": first.search(said["question"], 3),
    "then": first.search(said["question"], 3, timestamp=said["then"]),
    "nothing": first.search("of the", 3),
    "other": second.search(said["question"], 3),
}
first.reset()
found["reset"] = first.search(said["question"], 3)
json.dump(found, sys.stdout)
"""
)

IN_BANKS = (
    LOAD_ADAPTER
    + """
memory = adapter.BM25S()
for text in json.load(sys.stdin):
    memory.retain(**text)
def brought(*args, **how):
    return [item["source_ids"][0] for item in memory.recall(*args, **how)]
ask = ("Where is the tin?", 9)
found = {
    "bank": brought(*ask, bank="a"),
    "default": brought(*ask),
    "tags": brought(*ask, bank="a", tags=["green", "red"]),
    "range": brought(*ask, bank="a", since="2024-02-01T00:00:00Z", until="2024-03-01T00:00:00Z"),
    "until": brought(*ask, bank="a", until="2024-02-01"),
    "asked": brought(*ask, bank="a", timestamp="2024-02-01T01:00:00+01:00"),
    "kept": sorted(item["source_ids"][0] for item in memory.export_memories()),
    "one": memory.forget(bank="a", ids=["s002", "s009"]),
    "left": brought(*ask, bank="a"),
    "all": memory.forget(bank="a"),
    "others": brought(*ask, bank="b"),
    "end": len(memory.export_memories()),
}
json.dump(found, sys.stdout)
"""
)


@pytest.mark.parametrize("slug", SYSTEMS)
class TestEachSubmission:
    def test_is_found_as_a_system_and_is_a_mock_where_its_model_is_none(self, slug: str) -> None:
        submission = submission_of(slug)
        assert submission.mock == (slug in MOCKS)
        assert submission.configuration is not None and submission.configuration.model == MODELS.get(slug, "no LLM")
        assert bool(submission.declared_models) == (slug in ("mem0", "langmem", "graphiti"))
        assert submission.hosts == ()

    def test_pins_what_its_list_of_requirements_asks_for(self, slug: str) -> None:
        asked = (SUBMISSIONS / slug / "requirements.in").read_text("utf-8").lower().split()
        pinned = {f"{name}=={version}".lower() for name, version in pins(slug).items()}
        assert [one for one in asked if not any(pin == one or pin.startswith(one + "==") for pin in pinned)] == []

    def test_says_how_it_deals_with_the_usual_faults(self, slug: str) -> None:
        page = (SUBMISSIONS / slug / "README.md").read_text("utf-8")
        faults = ("Event time", "Indexing", "Speakers", "Limits", "Private store")
        assert [fault for fault in faults if f"- **{fault}.** " not in page] == []
        assert (MOCKS.get(slug) or "") in page


@pytest.mark.products
def test_bm25s_searches_in_its_own_environment_and_keeps_to_the_asked_time() -> None:
    sessions = [
        session("s001", "2024-01-01", "Ana", "I live in Porto."),
        session("s002", "2024-02-01", "Bo", "My sister lives in Lyon."),
        session("s003", "2024-03-01", "Ana", "I live in Oslo now."),
    ]
    asked = {"sessions": sessions, "question": "Where is Ana living?", "then": "2024-02-01"}
    found = drive("bm25s", AS_MEMEVAL_CALLS, told=asked)
    assert {item["source_ids"][0] for item in found["now"]} == {"s001:t01", "s002:t01", "s003:t01"}
    assert "s003:t01" not in {item["source_ids"][0] for item in found["then"]}
    assert found["then"][0]["text"] == "[2024-01-01] Ana: I live in Porto."
    assert found["nothing"] == found["other"] == found["reset"] == []


@pytest.mark.products
def test_bm25s_keeps_texts_in_banks_and_filters_by_tags_and_half_open_times() -> None:
    dates = ("2024-01-01", "2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z", None)
    texts = [
        {"content": f"The tin is on shelf {n}.", "bank": "a", "timestamp": date, "tags": tags, "source_id": f"s00{n}"}
        for n, (date, tags) in enumerate(zip(dates, (["red"], ["blue", "green"], ["blue"], None), strict=True), 1)
    ]
    texts += [{"content": "The tin is mine.", "bank": "b", "timestamp": None, "tags": None, "source_id": "s005"}]
    assert drive("bm25s", IN_BANKS, told=texts) == {
        "bank": ["s001", "s002", "s003", "s004"],
        "default": [],
        "tags": ["s001", "s002"],
        "range": ["s002"],
        "until": ["s001", "s004"],
        "asked": ["s001", "s002", "s004"],
        "kept": ["s001", "s002", "s003", "s004", "s005"],
        "one": 1,
        "left": ["s001", "s003", "s004"],
        "all": 3,
        "others": ["s005"],
        "end": 1,
    }


class TestAstrocytesVariants:
    def test_are_the_five_presets_and_one_whose_filters_hold_each_told_on_its_page(self) -> None:
        submission = submission_of("astrocyte")
        page = (SUBMISSIONS / "astrocyte" / "README.md").read_text("utf-8")
        presets = {"baseline", "fast-recall", "hindsight-parity", "hindsight-balanced", "quality-max"}
        assert set(submission.variants) == {"filters-safe", *presets}
        assert [name for name in submission.variants if f"| `{name}` |" not in page] == []

    def test_switch_what_there_is_to_switch_and_no_two_alike(self) -> None:
        submission = submission_of("astrocyte")
        tables = ast.parse((SUBMISSIONS / "astrocyte" / "features.py").read_text("utf-8")).body
        named = {
            str(ast.literal_eval(key))
            for node in tables
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)
            for key in node.value.keys
            if key is not None
        }
        parameters = [variant.parameters for variant in submission.variants.values()]
        assert {name for each in parameters for name in each} <= named
        assert len({json.dumps(each, sort_keys=True) for each in parameters}) == len(parameters)


def session(name: str, date: str, speaker: str, content: str) -> dict[str, Any]:
    turn = {"turn_id": f"{name}:t01", "role": "user", "speaker": speaker, "content": content, "kind": "message"}
    return {"session_id": name, "date": date, "turns": [turn]}


@pytest.fixture(scope="module")
def scripted() -> Iterator[str]:
    """The base URL of the scripted model, started as its page says."""
    command = [sys.executable, str(ROOT / "examples/scripted-model/server.py"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        guard = threading.Timer(30, server.kill)
        guard.start()
        try:
            yield server.stdout.readline().strip().removeprefix("OPENAI_BASE_URL=")
        finally:
            guard.cancel()
            server.kill()


def ask(base: str, path: str, body: Any) -> dict[str, Any]:
    request = Request(base + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urlopen(request, timeout=10) as reply:
        answer: dict[str, Any] = json.load(reply)
        return answer


TOLD = "[2024-01-01] Ana: I live in Porto.\n[2024-01-01] Bo: Do you?\n[2024-02-01] Ana: I live in Oslo now."


class TestScriptedModel:
    def test_gives_dated_statements_back_as_calls_of_the_tool_that_notes_them(self, scripted: str) -> None:
        tool = {"type": "function", "function": {"name": "Memory", "parameters": {"properties": {"content": {}}}}}
        asked = {"model": "m", "messages": [{"role": "user", "content": TOLD}], "tools": [tool]}
        (choice,) = ask(scripted, "/chat/completions", asked)["choices"]
        calls = [call["function"] for call in choice["message"]["tool_calls"]]
        assert [call["name"] for call in calls] == ["Memory", "Memory"]
        assert [json.loads(call["arguments"])["content"] for call in calls] == [
            "[2024-01-01] Ana: I live in Porto.",
            "[2024-02-01] Ana: I live in Oslo now.",
        ]

    def test_reads_only_what_is_new_in_a_prompt_that_says_what_is_known(self, scripted: str) -> None:
        known = '## Existing Memories\n[{"text": "[2023-01-01] Ana: I live in Rome."}]\n\n'
        prompt = f"{known}## New Messages\nuser: {TOLD}\n\n## Current Date\n2026-01-01"
        asked = {"model": "m", "messages": [{"role": "user", "content": prompt}]}
        reply = ask(scripted, "/chat/completions", {**asked, "response_format": {"type": "json_object"}})
        memory = json.loads(reply["choices"][0]["message"]["content"])["memory"]
        assert [one["text"] for one in memory] == [
            "[2024-01-01] Ana: I live in Porto.",
            "[2024-02-01] Ana: I live in Oslo now.",
        ]

    def test_answers_with_the_latest_statement_that_fits_or_says_that_it_does_not_know(self, scripted: str) -> None:
        for question, answer in (
            ("Where does Ana live?", "[2024-02-01] Ana: I live in Oslo now."),
            ("Which car?", "I don't know."),
        ):
            asked = {"model": "m", "messages": [{"role": "user", "content": f"{TOLD}\n{question}"}]}
            (choice,) = ask(scripted, "/chat/completions", asked)["choices"]
            assert choice["message"]["content"] == answer

    def test_embeds_texts_that_share_words_near_one_another_and_always_alike(self, scripted: str) -> None:
        texts = ["Ana lives in Porto", "Porto, where Ana lived", "a wholly different matter"]
        asked = {"model": "e", "input": texts, "dimensions": 64}
        first = ask(scripted, "/embeddings", asked)
        assert first == ask(scripted, "/embeddings", asked)
        near, same, far = (row["embedding"] for row in first["data"])
        assert len(near) == 64
        assert dot(near, near) == pytest.approx(1, abs=1e-4)
        assert dot(near, same) > 0.6 > dot(near, far)

    @pytest.mark.parametrize(
        ("path", "body"),
        [
            ("/chat/completions", {"model": "m", "messages": []}),
            ("/chat/completions", {"model": "m", "messages": [{"role": "user", "content": "?"}], "stream": True}),
            ("/chat/completions", ["no object"]),
            ("/embeddings", {"model": "e", "input": [[1, 2]]}),
            ("/models", {}),
        ],
    )
    def test_refuses_what_it_cannot_answer_in_the_form_of_the_api(self, scripted: str, path: str, body: Any) -> None:
        with pytest.raises(HTTPError) as refused:
            ask(scripted, path, body)
        with refused.value as reply:
            assert reply.code == 400
            assert json.load(reply)["error"]["message"].endswith(".")


def dot(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))
