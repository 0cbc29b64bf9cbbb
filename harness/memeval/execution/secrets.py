"""Redacts secrets in stored text, such as errors and output of systems. Answers are not changed."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise

REDACTED = "[secret]"

_SHAPES = re.compile(
    r"""
    \b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}                          # keys of model providers
    | \bgh[pousr]_[A-Za-z0-9]{20,} | \bgithub_pat_\w{20,}       # GitHub
    | \bAKIA[0-9A-Z]{16}\b                                      # Amazon
    | \bAIza[0-9A-Za-z_-]{30,}                                  # Google
    | \bxox[abprs]-[A-Za-z0-9-]{10,}                            # Slack
    | \bhf_[A-Za-z0-9]{20,}                                     # Hugging Face
    | (?<=[Bb]earer\ )[A-Za-z0-9._~+/-]{12,}=*                  # headers
    | \beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[\w-]*       # JSON web tokens
    | -----BEGIN[ A-Z]*PRIVATE\ KEY-----[^-]*(?:-----END[ A-Z]*PRIVATE\ KEY-----)?
    | (?<=://)[^/\s:@]*:[^/\s@]+(?=@)                           # user and password in an address
    """,
    re.VERBOSE,
)
_KEY_BEGIN = re.compile(r"-----BEGIN[ A-Z]*PRIVATE KEY-----")
_KEY_END = re.compile(r"-----END[ A-Z]*PRIVATE KEY-----")
_KEY_LINE = re.compile(r"\s*(?:[\w-]+: )?\S*\s*")
"""A line of a printed private key: one word, or a header."""
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SECRET = frozenset(
    {"accesskey", "accesstoken", "apikey", "apitoken", "auth", "authorization", "authtoken", "bearer", "cookie"}
    | {"credential", "credentials", "creds", "dsn", "key", "keys", "passphrase", "passwd", "password", "passwords"}
    | {"privatekey", "pwd", "secret", "secretkey", "secrets", "token"}
)
"""Words in the name of a setting whose value is a secret."""
_SECRET_TOKENS = frozenset({"access", "api", "auth", "refresh", "secret"})
"""Words before "tokens" in the name of a secret; other "tokens" are a number."""
_MIN_LENGTH = 8
"""Shorter values of environment variables are not redacted: that would remove ordinary words."""


def redact(text: str) -> str:
    """Return text without secrets: known formats of keys, and values of environment variables with secret names."""
    for value in _secret_values(frozenset(os.environ.items())):
        text = text.replace(value, REDACTED)
    return _SHAPES.sub(REDACTED, text)


class LineRedactor:
    """Redacts the lines that one system prints, also a private key on several lines."""

    def __init__(self) -> None:
        self._in_key = False

    def redact(self, line: str) -> str:
        """Return the next line without secrets. A key without its end is over at the first line of several words."""
        ends = _KEY_END.search(line) is not None
        if self._in_key and (ends or _KEY_LINE.fullmatch(line)):
            self._in_key = not ends
            return REDACTED
        self._in_key = not ends and _KEY_BEGIN.search(line) is not None
        return redact(line)


@cache
def _secret_values(environment: frozenset[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(sorted(secrets_of(dict(environment)), key=len, reverse=True))


def secrets_of(environment: Mapping[str, str]) -> set[str]:
    """Return the values of variables with names such as ``API_KEY`` or ``TOKEN``."""
    return {value for name, value in environment.items() if _SECRET_NAME.search(name) and len(value) >= _MIN_LENGTH}


def redacted(value: object, secret: bool = False) -> object:
    """Return plain data without secrets, found by their names and by their form.

    ``secret``: whether the value is below the name of a secret. A number, such as a token limit, is not a secret.
    """
    match value:
        case Mapping():
            return {str(name): redacted(each, secret or names_a_secret(str(name))) for name, each in value.items()}
        case [str(name), each] if names_a_secret(name):  # a header as a pair
            return [name, redacted(each, secret=True)]
        case list() | tuple() | set():
            return [redacted(each, secret) for each in value]
        case bool() | int() | float() | None:
            return value
        case _:
            text = str(value)
            return REDACTED if secret and text else redact(text)


def redacted_words(words: Iterable[str]) -> Iterator[str]:
    """Yield the words of a command line without secrets: ``--token=…``, ``--token …``, and known formats of keys."""
    after = False
    for word in words:
        name, equals, value = word.partition("=")
        is_option = word.startswith("-")
        if equals and value and names_a_secret(name):
            yield f"{name}={REDACTED}"
        else:
            yield REDACTED if after and not is_option else redact(word)
        after = is_option and not equals and names_a_secret(name)


def names_a_secret(name: str) -> bool:
    """Return whether the name of a setting has a word for secrets; ``apiKey`` has two words."""
    words = [word.lower() for word in _WORD.findall(name)]
    tokens = any(before in _SECRET_TOKENS for before, word in pairwise(words) if word == "tokens")
    return tokens or not _SECRET.isdisjoint(words)
