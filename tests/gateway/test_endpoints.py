"""Endpoints and keys from the environment; a key goes only where it is meant for."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.gateway.endpoints import OPENAI, Endpoint, base_url, endpoint_for, is_makers
from memeval.records.call import Caller
from memeval.records.errors import BadInput

KEY, OTHER = "sk-one-0123456789", "sk-two-0123456789"


@pytest.mark.parametrize(
    ("caller", "environment", "expected"),
    [
        (Caller.JUDGE, {"OPENAI_API_KEY": KEY}, Endpoint(OPENAI, KEY)),
        (Caller.SYSTEM, {"OPENAI_API_KEY": KEY, "MEMEVAL_JUDGE_API_KEY": OTHER}, Endpoint(OPENAI, KEY)),
        (Caller.JUDGE, {"OPENAI_API_KEY": KEY, "MEMEVAL_JUDGE_API_KEY": OTHER}, Endpoint(OPENAI, OTHER)),
        (Caller.READER, {"OPENAI_API_KEY": KEY, "MEMEVAL_JUDGE_API_KEY": OTHER}, Endpoint(OPENAI, KEY)),
        (Caller.SYSTEM, {"OPENAI_BASE_URL": "http://localhost:8080/v1/"}, Endpoint("http://localhost:8080/v1", None)),
        (Caller.READER, {"MEMEVAL_READER_BASE_URL": "http://h/v1", "OPENAI_API_KEY": KEY}, Endpoint("http://h/v1")),
        (Caller.JUDGE, {"OPENAI_BASE_URL": "http://h/v1", "OPENAI_API_KEY": f" {KEY}\n"}, Endpoint("http://h/v1", KEY)),
    ],
)
def test_a_caller_has_its_own_endpoint_or_the_common_one(
    caller: Caller, environment: dict[str, str], expected: Endpoint
) -> None:
    assert endpoint_for(caller, environment) == expected


@pytest.mark.parametrize(
    "url", ["https://acme.example/openai/deployments/x", "https://acme.services.ai.azure.com/models"]
)
def test_the_query_of_a_base_url_is_kept_apart_from_the_address(url: str) -> None:
    query = "api-version=2024-06-01"
    endpoint = endpoint_for(Caller.JUDGE, {"OPENAI_BASE_URL": f"{url}?{query}", "OPENAI_API_KEY": KEY})
    assert (endpoint.url, endpoint.query) == (url, query)


def test_a_user_in_a_base_url_is_refused_and_not_shown() -> None:
    with pytest.raises(BadInput, match="a user in the URL is not sent to the endpoint") as raised:
        endpoint_for(Caller.READER, {"MEMEVAL_READER_BASE_URL": "https://ann:s3cret@host/v1"})
    assert "s3cret" not in str(raised.value) and "MEMEVAL_READER_API_KEY" in str(raised.value)


@pytest.mark.parametrize(
    ("end", "sentence"),
    [
        ("#v2", "what follows # in the URL is not sent to the endpoint. Remove it."),
        ("/chat/completions", "the URL is that of a call, not a base URL. Remove /chat/completions from its end."),
        ("/chat/completions/?api-version=1", "Remove /chat/completions from its end."),
        ("/embeddings", "Remove /embeddings from its end."),
    ],
)
def test_a_part_of_a_base_url_that_no_request_has_or_that_each_adds_is_refused(end: str, sentence: str) -> None:
    with pytest.raises(BadInput, match=re.escape(sentence)):
        endpoint_for(Caller.SYSTEM, {"OPENAI_BASE_URL": f"https://acme.example/v1{end}"})


def test_without_key_and_base_url_the_variable_to_set_is_named() -> None:
    with pytest.raises(
        BadInput, match=r"MEMEVAL_JUDGE_API_KEY and OPENAI_API_KEY are not set. Set one of them, or set MEMEVAL_JUDGE_"
    ):
        endpoint_for(Caller.JUDGE, {"OPENAI_API_KEY": " "})


@pytest.mark.parametrize(
    "url", ["localhost:8080", "ftp://h/v1", "http://", "http://[::1", "http://h:99999/v1", "http://h/ v1", "h", "//h"]
)
def test_an_invalid_url_is_refused_with_its_variable(url: str) -> None:
    with pytest.raises(BadInput, match="OPENAI_BASE_URL: not an http or https URL"):
        endpoint_for(Caller.JUDGE, {"OPENAI_BASE_URL": url})


@pytest.mark.parametrize(
    ("given_url", "expected"),
    [
        ("HTTP://Host:80/v1/", "http://host/v1"),
        ("https://user:pass@host:443/v1?key=1#part", "https://host/v1"),
        ("http://[::1]:8080", "http://[::1]:8080"),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
    ],
)
def test_a_base_url_has_one_form_and_no_secrets(given_url: str, expected: str) -> None:
    assert base_url(given_url, "OPENAI_BASE_URL") == expected
    assert base_url(expected, "OPENAI_BASE_URL") == expected


@given(st.text(max_size=40) | st.builds("http://{}".format, st.text(max_size=40)))
def test_any_text_is_a_base_url_or_refused(text: str) -> None:
    try:
        url = base_url(text, "OPENAI_BASE_URL")
    except BadInput:
        return
    assert base_url(url, "OPENAI_BASE_URL") == url
    assert "@" not in url.removeprefix("http://").split("/")[0]


@pytest.mark.parametrize("key", ["sk-\nInjected: header", "sk-ключ", "sk with space"])
def test_a_key_that_no_header_carries_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(BadInput, match="the key has a character that an HTTP header cannot hold") as raised:
        endpoint_for(Caller.JUDGE, {"OPENAI_API_KEY": key})
    assert key not in str(raised.value)


def test_a_key_is_never_shown() -> None:
    endpoint = Endpoint(OPENAI, KEY)
    assert KEY not in repr(endpoint) + str(endpoint) + f"{endpoint}"


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("http://127.0.0.1:1/v1", True),
        ("http://127.8.0.1/v1", True),
        ("http://[::1]/v1", True),
        ("http://localhost/v1", True),
        ("http://localhost.example.org/v1", False),
        ("http://10.0.0.1/v1", False),
    ],
)
def test_only_loopback_addresses_are_loopback(url: str, loopback: bool) -> None:
    assert Endpoint(url).is_loopback is loopback


@pytest.mark.parametrize(
    ("url", "model", "makers"),
    [
        (OPENAI, "gpt-4o-2024-08-06", True),
        (OPENAI, "o1-mini", True),
        (OPENAI, "claude-sonnet-4-5", False),
        ("https://api.anthropic.com/v1", "claude-sonnet-4-5", True),
        ("https://api.openai.com.evil.example/v1", "gpt-4o", False),
        ("http://127.0.0.1/v1", "gpt-4o", False),
    ],
)
def test_a_makers_endpoint_is_the_makers_host_with_its_own_models(url: str, model: str, makers: bool) -> None:
    assert is_makers(url, model) is makers
