"""Shards of a run: what repeats is written once, clocks are left out, and long texts are cut."""

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.archive import run_cache
from memeval.archive.runs import RunFolder
from memeval.records.base import digest_bytes
from memeval.records.response import Context, ContextPart, Response
from memeval.site import build
from memeval.site.items.run_shards import TEXT_CHARACTERS, RunShards, run_shards
from memeval.site.model.files import Asset, encode, joined, packed
from memeval.site.release.checking import _has_name
from tests.site.conftest import Built
from tests.site.factory import SECRET, FakeBenchmark, Made, make_run


def opened(asset: Asset) -> dict[str, Any]:
    assert isinstance(asset.content, bytes)
    data: dict[str, Any] = json.loads(gzip.decompress(asset.content))
    return data


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
    for shard in map(opened, run_shards(folder, True, {}).assets):
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
        for shard in map(opened, run_shards(folder, True, {}).assets)
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
    for shard in map(opened, run_shards(folder, True, {}).assets):
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
    shard = opened(run_shards(folder, True, {}).assets[0])
    assert {"text": {"text": text[:TEXT_CHARACTERS], "left_out": 5}} in shard["parts"]
    withheld = opened(run_shards(folder, False, {}).assets[0])
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


def digests(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_site_has_equal_bytes_wherever_it_is_built_with_and_without_the_cache(
    built: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_cache, "cache_home", lambda: tmp_path / "cache")
    for name in ("first", "second"):
        build(built.results, tmp_path / name, find=lambda _name: built.benchmark)
        assert list((tmp_path / "cache/site").iterdir())
    assert digests(built.out) == digests(tmp_path / "first") == digests(tmp_path / "second")
