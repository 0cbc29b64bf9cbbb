"""Shards of a run and of a benchmark's data: what repeats is written once, and long texts are bounded."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.archive import run_cache
from memeval.archive.runs import RunFolder
from memeval.execution.contexts import TurnTexts
from memeval.records.base import canonical_json, digest_bytes
from memeval.records.call import Call
from memeval.records.response import Context, ContextPart, Response
from memeval.records.scenario import Forget, Ingest, Recall, Retain, Scenario, Session, Turn, dated_line
from memeval.site import build
from memeval.site.items.benchmark_shards import benchmark_shards
from memeval.site.items.calls import PROMPT_CHARACTERS, REPLY_CHARACTERS, PromptTable, _encoded
from memeval.site.items.run_shards import TEXT_CHARACTERS, RunShards, run_shards
from memeval.site.model.files import SHARD_BYTES, Asset, encode, joined, packed
from memeval.site.model.text import BIDI
from memeval.site.release.checking import _has_name
from tests.site.conftest import Built
from tests.site.factory import HOSTILE, HOSTILE_REPLY, REMINDER, SECRET, FakeBenchmark, Made, make_run
from tests.support.archives import contents
from tests.support.tiny import TinyDataset, scenario


def opened(asset: Asset) -> dict[str, Any]:
    assert isinstance(asset.content, bytes)
    data: dict[str, Any] = json.loads(gzip.decompress(asset.content))
    return data


def shards(folder: RunFolder, words: bool = True) -> list[dict[str, Any]]:
    found = [opened(asset) for asset in run_shards(folder, words, {}).assets]
    assert found
    return found


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return make_run(tmp_path, Made("acme", "Acme"), FakeBenchmark())


def test_equal_answers_at_other_times_give_equal_shards(folder: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run_shards(folder, True, {})
    later = [
        row.model_copy(update={"timings": row.timings.model_copy(update={"ask_seconds": 7.0, "started": "2027"})})
        for row in folder.responses()
    ]
    monkeypatch.setattr(RunFolder, "responses", lambda _folder: iter(later))
    second = run_shards(folder, True, {})
    assert [asset.path for asset in first.assets] == [asset.path for asset in second.assets]
    assert first.items[0]["times"] != second.items[0]["times"] and second.items[0]["times"][0][0] == 7.0


def test_a_shard_leads_from_places_to_every_retrieved_text_and_context(folder: RunFolder) -> None:
    contexts = {(row.scenario_id, row.digest): row for row in folder.contexts()}
    stored = {row.question_id: row for row in folder.responses()}
    shown = 0
    for shard in shards(folder):
        for answer in (answer for item in shard["items"] for answer in item["responses"]):
            response: Response = stored[answer["question_id"]]
            for item, (place, score) in zip(response.items or (), answer.get("items", []), strict=True):
                source = shard["sources"][place]
                assert (item.turn_id, list(item.source_ids), item.text) == (
                    source.get("turn_id"),
                    source["source_ids"],
                    source.get("text"),
                )
                assert score == (None if item.score is None else float(f"{item.score:.3g}"))
            if response.context_digest:
                parts = [shard["parts"][place] for place in shard["contexts"][answer["context"]]]
                context = contexts[response.scenario_id, response.context_digest]
                assert parts == [part.turn_id or {"text": part.text} for part in context.parts]
                shown += 1
    assert shown > 0


def test_one_text_is_shown_as_the_turns_of_the_scenario_that_it_answers(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        row.model_copy(update={"parts": (ContextPart(turn_id=f"s{number:03}:t01"),)})
        for number, row in enumerate(folder.contexts())
    ]
    assert len({row.digest for row in rows}) == 1 and len({row.scenario_id for row in rows}) > 20
    own = {row.scenario_id: [part.turn_id for part in row.parts] for row in rows}
    answers = {row.question_id: row.scenario_id for row in folder.responses() if row.context_digest}
    monkeypatch.setattr(RunFolder, "contexts", lambda _folder: iter(rows))
    shown = {
        answer["question_id"]: [shard["parts"][place] for place in shard["contexts"][answer["context"]]]
        for shard in shards(folder)
        for item in shard["items"]
        for answer in item["responses"]
        if answer["context"] is not None
    }
    assert shown == {question: own[scenario] for question, scenario in answers.items()}


def test_where_text_is_private_no_word_of_answers_errors_and_reasons_is_shown(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [row.model_copy(update={"answer": "", "error": f"Cannot read {SECRET}."}) for row in folder.responses()]
    assert any(SECRET in (grade.reason or "") for grade in folder.grades())
    for answers in (rows, list(folder.responses())):
        monkeypatch.setattr(RunFolder, "responses", lambda _folder, rows=answers: iter(rows))
        for words in (True, False):
            contents = [asset.content for asset in run_shards(folder, words, {}).assets]
            text = b"".join(gzip.decompress(each) for each in contents if isinstance(each, bytes))
            assert (SECRET.encode() in text) is words


def test_metrics_are_named_once_for_all_items_that_have_the_same(folder: RunFolder) -> None:
    stored = {grade.item_id: grade.metrics for grade in folder.grades()}
    for shard in shards(folder):
        for item in shard["items"]:
            names, values = shard["metrics"][item["metrics"][0]], item["metrics"][1]
            assert dict(zip(names, values, strict=True)) == stored[item["id"]]


def test_a_long_text_is_cut_and_says_how_much_is_left_out(folder: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "x" * (TEXT_CHARACTERS + 5)
    contexts = [
        Context(digest=row.digest, scenario_id=row.scenario_id, parts=(ContextPart(text=text),))
        for row in folder.contexts()
    ]
    monkeypatch.setattr(RunFolder, "contexts", lambda _folder: iter(contexts))
    shard = shards(folder)[0]
    assert {"text": {"text": text[:TEXT_CHARACTERS], "left_out": 5}} in shard["parts"]
    withheld = shards(folder, words=False)[0]
    assert {"text": {"digest": digest_bytes(text.encode()), "bytes": len(text)}} in withheld["parts"]


def test_the_index_names_the_shard_of_each_item_and_its_cause(folder: RunFolder) -> None:
    made = run_shards(folder, True, {})
    index = opened(made.index({"run_id": "r"}, {made.items[0]["id"]: {"cause": "error", "rank": None}}))
    assert index["items"][0]["cause"] == "error" and "rank" not in index["items"][0]
    shards = [opened(asset) for asset in made.assets]
    for item in index["items"]:
        assert any(one["id"] == item["id"] for one in shards[item["shard"]]["items"])


JSON = st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3), max_leaves=6)


@given(st.lists(JSON, max_size=4), st.dictionaries(st.sampled_from("ab"), JSON))
def test_an_object_is_joined_from_texts_as_if_encoded_whole(values: list[Any], others: dict[str, Any]) -> None:
    assert json.loads(joined("values", map(encode, values), others)) == {"values": values, **others}


@given(st.binary(max_size=50))
def test_a_packed_file_is_named_by_its_digest_and_that_of_its_text(content: bytes) -> None:
    asset = packed(content)
    assert isinstance(asset.content, bytes) and gzip.decompress(asset.content) == content
    assert _has_name(asset.path, digest_bytes(asset.content))
    assert asset.path.endswith(f"-{digest_bytes(content).removeprefix('sha256:')}.json.gz")
    assert asset == packed(content), "equal bytes at any time"


def test_shards_are_the_same_after_they_were_kept(folder: RunFolder) -> None:
    made = run_shards(folder, True, {})
    assert RunShards.from_bytes(made.to_bytes()) == made


def test_a_site_has_equal_bytes_wherever_it_is_built_with_and_without_the_cache(
    built: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_cache, "cache_home", lambda: tmp_path / "cache")
    for name in ("first", "second"):
        build(built.results, tmp_path / name, find=lambda _name: built.benchmark)
        assert list((tmp_path / "cache/site").iterdir())
    assert contents(built.out) == contents(tmp_path / "first") == contents(tmp_path / "second")


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


def test_where_text_is_private_a_shard_has_no_word_and_no_time_of_the_data() -> None:
    made = scenario(0)
    asked = made.steps[-1].model_copy(update={"timestamp": "2031-03-04T09:00:00Z"})
    of_bank = (
        Retain(text_id="s009", content="Rex barks.", bank="zoe", fact_type="canine", source_id="9"),
        Forget(query="about ferrets"),
        Recall(question_id="q9", question="Who barks?", bank="yves", tags=("indoors",), since="2032-05-06"),
    )
    dataset = TinyDataset([made.model_copy(update={"steps": (*made.steps[:-1], *of_bank, asked)})])
    for words in (True, False):
        contents = [shard.content for shard in benchmark_shards(dataset, words)]
        text = b"".join(gzip.decompress(each) for each in contents if isinstance(each, bytes)).decode()
        for said in ("Lima", "Which city", "Good to know", "2025-01-05", "2031-03-04", "Ada"):
            assert (said in text) is words, said
        for said in ("Rex", "zoe", "canine", "ferrets", "yves", "indoors", "2032-05-06"):
            assert (said in text) is words, said
        assert "tiny-000" in text and "s001:t01" in text
