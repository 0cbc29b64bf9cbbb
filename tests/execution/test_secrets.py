"""What looks like a secret is blotted out; ordinary words stay."""

import pytest

from memeval.execution.secrets import LineRedactor, redact, secrets_of


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
