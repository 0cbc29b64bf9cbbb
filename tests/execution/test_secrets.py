"""What looks like a secret is blotted out; ordinary words stay."""

from pathlib import Path

import pytest

from memeval.execution.secrets import (
    LineRedactor,
    names_a_secret,
    redact,
    redacted,
    redacted_words,
    secrets_of,
)


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-" + "a1B2" * 8,
        "ghp_" + "a1B2" * 9,
        "AKIA" + "ABCD" * 4,
        "hf_" + "a1B2" * 8,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-DEF_123",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_known_key_formats_are_redacted(secret: str) -> None:
    assert redact(f"connecting with {secret} now") == "connecting with [secret] now"


def test_headers_and_addresses_lose_their_secret_and_keep_the_rest() -> None:
    assert redact("Authorization: Bearer abcdefghijklmnop") == "Authorization: Bearer [secret]"
    assert redact("postgres://me:hunter22@localhost/db") == "postgres://[secret]@localhost/db"
    assert redact("redis://:hunter22@localhost") == "redis://[secret]@localhost"


KEY = ("-----BEGIN RSA PRIVATE KEY-----", "Proc-Type: 4,ENCRYPTED", "", "  MIIEpAIBAAKCAQEA7+/=\\r", "Qm9k")


@pytest.mark.parametrize("end", ["-----END RSA PRIVATE KEY-----", "It has no end."])
def test_a_private_key_that_is_printed_line_by_line_is_redacted_to_its_end(end: str) -> None:
    redactor = LineRedactor()
    told = [redactor.redact(line) for line in ("Starts.", *KEY, end, "Goes on.", "ready")]
    last = "[secret]" if "END" in end else end
    assert told == ["Starts.", *["[secret]"] * len(KEY), last, "Goes on.", "ready"]


def test_values_of_secret_variables_are_redacted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACME_API_KEY", "correct-horse-battery")
    assert redact("using correct-horse-battery") == "using [secret]"


def test_short_values_and_plain_variables_are_no_secrets() -> None:
    assert secrets_of({"API_KEY": "short", "HOME": "/home/somebody", "MY_TOKEN": "long enough"}) == {"long enough"}


@pytest.mark.parametrize("text", ["The task-list is at sk-1.", "I keep my keys in a bowl.", "See http://example.org/a"])
def test_ordinary_text_stays(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        *((name, True) for name in ("api_key", "apiKey", "APIKEY", "OPENAI_API_KEY", "key", "db.password", "passwd")),
        *((name, True) for name in ("accessToken", "auth-token", "api_tokens", "clientSecret", "credentials", "DSN")),
        *((name, True) for name in ("Authorization", "auth", "AWSSecretKey", "token")),
        *((name, False) for name in ("tokenizer", "max_tokens", "maxTokens", "author", "authors", "keyword", "monkey")),
        *((name, False) for name in ("keywords", "tokens", "keyboard", "turnkey", "authority", "passage", "model", "")),
    ],
)
def test_a_setting_is_redacted_by_the_whole_words_of_its_name(name: str, secret: bool) -> None:
    assert names_a_secret(name) is secret
    assert redacted({name: "a value"}) == {name: "[secret]" if secret else "a value"}


def test_a_secret_is_redacted_by_its_shape_under_any_name() -> None:
    assert redacted({"tokenizer": "sk-abcdefghijklmnopqrstuv"}) == {"tokenizer": "[secret]"}


def test_redacting_leaves_plain_data() -> None:
    assert redacted({"authors": ["a"], "token": "", "n": None, "path": Path("x"), "auth": ("u", "p")}) == {
        "authors": ["a"],
        "token": "",
        "n": None,
        "path": "x",
        "auth": ["[secret]", "[secret]"],
    }


def test_a_secret_is_redacted_below_its_name_and_in_a_pair() -> None:
    settings = {"credentials": {"value": "hunter2", "port": 5}, "headers": [("X-Api-Key", "hunter2"), ("Accept", "a")]}
    assert redacted(settings) == {
        "credentials": {"value": "[secret]", "port": 5},
        "headers": [["X-Api-Key", "[secret]"], ["Accept", "a"]],
    }


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("--openai-key hunter2 --limit 3", "--openai-key [secret] --limit 3"),
        ("--openai-key=hunter2 file.py", "--openai-key=[secret] file.py"),
        ("--auth --db=postgres://me:hunter2@h/db", "--auth --db=postgres://[secret]@h/db"),
        (f"--model sk-{'a1' * 12} --tokens-per-minute 9", "--model [secret] --tokens-per-minute 9"),
    ],
)
def test_a_command_line_is_stored_without_secrets(words: str, kept: str) -> None:
    assert " ".join(redacted_words(words.split())) == kept
