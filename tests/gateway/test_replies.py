"""Replies are hostile: what can be read is read, all else has a sentence."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.gateway.provider_errors import error_in
from memeval.gateway.replies import ModelReply, UnusableReply, read, text_of
from memeval.gateway.reply_words import without_thinking
from memeval.records.call import Api, Call, ModelRequest
from tests.support.audits import make_call

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
COUNT = JSON | st.integers(0, 1000)
LIKE_A_REPLY = st.fixed_dictionaries(
    {"choices": JSON | st.lists(st.fixed_dictionaries({"message": JSON | st.fixed_dictionaries({"content": JSON})}))},
    optional={
        "model": JSON,
        "system_fingerprint": JSON,
        "usage": JSON
        | st.fixed_dictionaries({"prompt_tokens": COUNT, "completion_tokens": COUNT, "prompt_tokens_details": JSON}),
    },
)


def reply(**fields: Any) -> str:
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": "yes"}}]} | fields)


def recorded(text: str | None, error: str | None = None) -> Call:
    return make_call(ModelRequest(endpoint="http://127.0.0.1/v1", api=Api.CHAT, body={"model": "m"}), text, error=error)


@given(st.text() | LIKE_A_REPLY.map(json.dumps) | JSON.map(json.dumps))
def test_any_reply_is_parsed_or_refused_and_can_be_stored(text: str) -> None:
    for api in Api:
        try:
            told = read(text, api)
        except UnusableReply as refusal:
            assert str(refusal).endswith(".")
            continue
        for name in (told.model, told.fingerprint):
            assert name is None or (name.encode() and len(name) <= 200)
        for count in (told.prompt_tokens, told.completion_tokens):
            assert count is None or (type(count) is int and count >= 0)
        assert 0 <= told.cached_tokens <= (told.prompt_tokens or 0)
    if not any("\ud800" <= sign <= "\udfff" for sign in text):
        (text_of(recorded(text)) or "").encode()


def test_the_metadata_of_a_reply_is_parsed() -> None:
    usage = {"prompt_tokens": 12, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 8}}
    told = read(reply(model="m-2026", system_fingerprint="fp", usage=usage), Api.CHAT)
    assert told == ModelReply("m-2026", "fp", 12, 3, 8)


@pytest.mark.parametrize("count", [-1, True, "12", 1.5, None, 10**12, [1]])
def test_an_invalid_token_count_is_none(count: Any) -> None:
    assert read(reply(usage={"prompt_tokens": count}), Api.CHAT).prompt_tokens is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("<html>", "web page"),
        ('{"choices": [{"mess', "truncated"),
        ("[" * 100_000, "not JSON"),
        ("1" * 10_000, "not JSON"),
        ("[]", "not a JSON object"),
        ("{}", "no choices"),
        ('{"choices": []}', "no choices"),
        ('{"choices": ["yes"]}', "no message"),
        ('{"choices": [{"message": {"content": 7}}]}', "no message"),
    ],
)
def test_a_body_without_a_completion_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(UnusableReply, match=why):
        read(text, Api.CHAT)


def test_an_empty_list_of_embeddings_is_refused() -> None:
    assert read('{"data": [{"embedding": [0.5]}]}', Api.EMBEDDINGS).completion_tokens == 0
    with pytest.raises(UnusableReply, match="no embeddings"):
        read('{"data": []}', Api.EMBEDDINGS)


def test_what_a_reply_says_of_its_end_can_be_stored() -> None:
    half = r'{"choices": [{"message": {"content": "a"}, "finish_reason": "len\ud800gth"}]}'
    assert read(half, Api.CHAT).ended_early == "len\ufffdgth"
    filtered = r'{"choices": [], "prompt_filter_results": [{"content_filter_results": {"\ud800": {"filtered": true}}}]}'
    with pytest.raises(UnusableReply) as refusal:
        read(filtered, Api.CHAT)
    str(refusal.value).encode()


@given(st.text() | st.text(alphabet="<think>/ \nab|chanel[]THINK"))
def test_thinking_is_removed_once_and_text_without_it_is_unchanged(text: str) -> None:
    left = without_thinking(text)
    assert "<think>" in text or "</think>" in text or "|" in text or "[" in text or left == text
    left.encode(errors="surrogatepass")


@pytest.mark.parametrize(
    "text",
    [
        *("<|channel|>" * 150_000, "<|channel|>x<|message|>" * 80_000, "<think>" * 250_000, "</think>" * 200_000),
        *("analysisx" + "assistantfina" * 150_000, "<think></think>" + "<answer>" * 200_000),
        *(f"<think></think>x{('</answer>' + ' ' * 990) * 1_900}x", f"<think>a</think>{chr(10) * 1_900_000}"),
        *(
            f"{part}{sign}" * 100_000
            for part in ("<", "[", "```think", "<think ", "&lt;think", "analysis")
            for sign in ("", " ")
        ),
        *("Here is my thought process:" + "Here is my response" * 90_000, f"<|channel|>{'a' * 1_900_000}"),
    ],
    ids=range(22),
)
def test_a_hostile_text_is_read_fast(text: str) -> None:
    began = time.monotonic()
    without_thinking(text)
    error_in(json.dumps({"error": {"message": text}}))
    assert time.monotonic() - began < 10


def test_the_text_of_a_call() -> None:
    assert text_of(recorded(reply())) == "yes"
    assert text_of(recorded('{"choices": [{"message": {"content": null, "tool_calls": []}}]}')) == ""
    assert text_of(recorded(reply(), error="It broke.")) is None
    assert (text_of(recorded(None, error="It broke.")), text_of(recorded("cut o"))) == (None, None)
    half = '{"choices": [{"message": {"content": "a\\ud800b"}}]}'
    assert text_of(recorded(half)) == "a\ufffdb"
