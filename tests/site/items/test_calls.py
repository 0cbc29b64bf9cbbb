"""Model calls in the drill-down: word for word, bounded, and nothing where text may not be published."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.archive.runs import RunFolder
from memeval.execution.contexts import TurnTexts
from memeval.records.base import canonical_json
from memeval.records.call import Call
from memeval.records.scenario import Ingest, Scenario, Session, Turn, dated_line
from memeval.site.items.calls import PROMPT_CHARACTERS, REPLY_CHARACTERS, PromptTable, _encoded
from memeval.site.items.run_shards import run_shards
from memeval.site.model.files import SHARD_BYTES
from memeval.site.model.text import BIDI
from tests.site.factory import HOSTILE, HOSTILE_REPLY, REMINDER, FakeBenchmark, Made, make_run

MODEL = "openai:gpt-4o-2024-08-06@1"

TURNS = (
    Turn(turn_id="s001:t01", role="user", content="I moved."),
    Turn(turn_id="s001:t02", role="user", content="a\nb"),
)
SESSION = Session(session_id="s001", date="2026-01-01", turns=TURNS)
SCENARIO = Scenario(scenario_id="sc", steps=(Ingest(session=SESSION, source_id="x"),))


def whole(encoded: list[Any], lines: list[str]) -> str:
    turns = {
        (turn.turn_id, dated): dated_line(SESSION, turn) if dated else turn.content
        for turn in TURNS
        for dated in (0, 1)
    }
    return "\n".join(lines[part] if isinstance(part, int) else turns[tuple(part)] for part in encoded)


LINE = st.sampled_from(["I moved.", "[2026-01-01] user: I moved.", "a", "b", "", "a\nb"]) | st.text(max_size=9)


@given(st.lists(LINE, min_size=1, max_size=12).map("\n".join))
def test_a_prompt_is_put_together_again_word_for_word(text: str) -> None:
    lines = PromptTable()
    assert whole(_encoded(text, TurnTexts(SCENARIO), lines), lines.table) == text


def test_a_turn_of_the_history_is_not_written_again() -> None:
    lines = PromptTable()
    assert _encoded("Read:\n[2026-01-01] user: I moved.", TurnTexts(SCENARIO), lines) == [0, ["s001:t01", 1]]
    assert lines.table == ["Read:"]


@given(st.lists(st.integers(0, 3 * PROMPT_CHARACTERS // 4), min_size=1, max_size=8))
def test_a_long_prompt_loses_its_middle_and_says_how_much(lengths: list[int]) -> None:
    text, lines = "\n".join("x" * length for length in lengths), PromptTable()
    encoded = _encoded(text, None, lines)
    kept = [lines.table[part] for part in encoded if isinstance(part, int)]
    left = [part["left_out"] for part in encoded if isinstance(part, dict)]
    assert sum(map(len, kept)) <= PROMPT_CHARACTERS
    assert (left == []) == (sum(lengths) <= PROMPT_CHARACTERS)
    assert sum(len(line) + 1 for line in kept) + sum(left) == len(text) + 1


def shards(folder: RunFolder, words: bool = True) -> list[dict[str, Any]]:
    assets = run_shards(folder, words, {}).assets
    found = [json.loads(gzip.decompress(asset.content)) for asset in assets if isinstance(asset.content, bytes)]
    assert found
    return found


def items(folder: RunFolder, words: bool = True) -> dict[str, dict[str, Any]]:
    return {item["id"]: item | {"lines": shard["lines"]} for shard in shards(folder, words) for item in shard["items"]}


def said(item: dict[str, Any], call: dict[str, Any]) -> str:
    return "\n".join(item["lines"][place] for place in call["messages"][0]["text"])


def turned(text: str) -> str:
    """Return a text without the characters that turn its direction, as data of the site has it."""
    return "".join("\ufffd" if ord(letter) in BIDI else letter for letter in text)


def sent(call: Call) -> list[str]:
    messages: Any = call.request.body["messages"]
    return [turned(message["content"]) for message in messages]


def test_a_judgment_shows_request_reply_and_what_was_read(tmp_path: Path) -> None:
    folder = make_run(tmp_path, Made("acme", "Acme", judge=MODEL), FakeBenchmark())
    stored = {call.key: call for call in folder.judgments()}
    for grade in folder.grades():
        item = items(folder)[grade.item_id]
        [call] = item["judged"]
        kept = stored[call["key"]]
        assert [said(item, call)] == sent(kept)
        assert call["reply"] == ("yes" if grade.verdict else "no") and call["read"] is grade.verdict
        assert call["body"] == kept.reply
        break


def test_a_judge_that_was_asked_again_shows_both_calls_in_order(tmp_path: Path) -> None:
    folder = make_run(tmp_path, Made("acme", "Acme", judge=MODEL, replies=(HOSTILE_REPLY,)), FakeBenchmark())
    unparsed, settled = items(folder)["belief-update-00"], items(folder)["belief-update-01"]
    assert [call["read"] for call in unparsed["judged"]] == [None, None]
    assert [call["read"] for call in settled["judged"]] == [None, False]
    first, second = settled["judged"]
    assert said(settled, second) == f"{said(settled, first)}\n{REMINDER}"
    assert first["reply"] == turned(HOSTILE_REPLY)


def test_a_judge_that_failed_shows_why(tmp_path: Path) -> None:
    folder = make_run(tmp_path, Made("acme", "Acme", judge=MODEL, replies=(None,)), FakeBenchmark())
    [call] = items(folder)["belief-update-00"]["judged"]
    assert "no usable reply" in call["error"] and "reply" not in call and call["read"] is None


def test_a_reader_shows_its_request_and_reply(tmp_path: Path) -> None:
    folder = make_run(tmp_path, Made("acme", "Acme", reader=MODEL), FakeBenchmark())
    item = items(folder)["belief-update-03"]
    call = item["responses"][0]["read"]
    [kept] = [stored for stored in folder.calls() if stored.key == call["key"]]
    assert [said(item, call)] == sent(kept)
    assert call["reply"] == turned(next(folder.responses()).answer)


def test_a_reply_of_any_length_is_cut_and_said_so(tmp_path: Path) -> None:
    made = Made("acme", "Acme", reader=MODEL, answer="x" * 9000)
    call = items(make_run(tmp_path, made, FakeBenchmark()))["belief-update-00"]["responses"][0]["read"]
    assert call["reply"] == {"text": "x" * REPLY_CHARACTERS, "left_out": 9000 - REPLY_CHARACTERS}
    assert call["body"]["left_out"] > 0


@pytest.mark.parametrize("answer", ["short", "x" * 30_000, "line\n" * 6_000])
def test_shards_stay_within_their_bounds(tmp_path: Path, answer: str) -> None:
    made = Made("acme", "Acme", judge=MODEL, reader=MODEL, answer=answer, replies=(HOSTILE_REPLY,))
    sizes = [len(canonical_json(shard)) for shard in shards(make_run(tmp_path, made, FakeBenchmark()))]
    assert max(sizes) < SHARD_BYTES + 150_000, "a shard is closed by the item that makes it too large"


def test_nothing_of_a_call_but_digests_and_numbers_where_text_is_private(tmp_path: Path) -> None:
    made = Made("acme", "Acme", judge=MODEL, reader=MODEL, answer=HOSTILE, replies=(HOSTILE_REPLY, None))
    folder = make_run(tmp_path, made, FakeBenchmark())
    for shard in shards(folder, words=False):
        assert shard["lines"] == []
        for item in shard["items"]:
            for call in [*item["judged"], item["responses"][0]["read"]]:
                hidden = [message["text"] for message in call["messages"]]
                hidden += [call[name] for name in ("reply", "body", "error") if name in call]
                assert all(set(value) == {"digest", "bytes"} for value in hidden), call
