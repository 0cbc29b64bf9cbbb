"""The words of providers for the ends of replies, the parts of their content and their errors, from a data file."""

from __future__ import annotations

import re
from functools import cache, cached_property
from importlib import resources

from pydantic import field_validator

from memeval.records.base import Record
from memeval.toml import parse_toml

_FILE = "replies.toml"
_LONGEST_WORD = 200


def plain(word: str) -> str:
    """Return a provider's word without case, separators and the name of its list: ``FinishReason.MAX_TOKENS``."""
    return re.sub(r"[^a-z0-9]", "", word.lower()).removeprefix("finishreason")


class Ends(Record):
    """Words for the reasons that end a reply, as :func:`plain` writes them."""

    finished: frozenset[str]
    cut: frozenset[str]
    """A limit of tokens."""
    filtered: frozenset[str]
    called: frozenset[str]
    """A call of a tool."""
    failed: frozenset[str]

    @field_validator("*")
    @classmethod
    def _plain(cls, words: frozenset[str]) -> frozenset[str]:
        return frozenset(map(plain, words))

    def of(self, word: object) -> frozenset[str]:
        """Return the parts of a provider's word for an end, in plain form; empty if it is no text."""
        parts = re.split("[:.]", word[:_LONGEST_WORD]) if isinstance(word, str) else []
        return frozenset(map(plain, parts))

    def usual(self, word: object) -> str:
        """Return OpenAI's word for an end; ``stop`` if it has none."""
        found = self.of(word)
        kinds = (("length", self.cut), ("content_filter", self.filtered), ("tool_calls", self.called))
        return next((usual for usual, words in kinds if found & words), "stop")


class Parts(Record):
    """Types of the parts of a message's content."""

    thinking: frozenset[str]
    """Thinking."""
    other: frozenset[str]
    """Neither thinking nor text."""
    text: tuple[str, ...]
    """Names under which a part has its text."""


class Thinking(Record):
    """Regular expressions for the marks around thinking in a text."""

    opens: tuple[str, ...]
    closes: tuple[str, ...]
    starts: tuple[str, ...]
    answers: tuple[str, ...]

    @cached_property
    def marks(self) -> re.Pattern[str]:
        """Finds a mark that is not quoted; the groups ``open`` and ``close`` tell which."""
        return re.compile(rf"(?<![`'\"])(?:(?P<open>{'|'.join(self.opens)})|(?P<close>{'|'.join(self.closes)}))", re.I)

    @cached_property
    def first(self) -> re.Pattern[str]:
        """Finds thinking at the start of a text that no mark encloses."""
        return re.compile(rf"\A\s*(?:{'|'.join(self.starts)})", re.S)

    @cached_property
    def around(self) -> re.Pattern[str]:
        """Finds a mark at the start or the end of an answer."""
        marks = "|".join(self.answers)
        return re.compile(rf"\A\s*(?:{marks})|(?:{marks})\s*\Z", re.I)


class Errors(Record):
    """Names and words in the bodies of errors."""

    holders: tuple[str, ...]
    details: tuple[str, ...]
    messages: tuple[str, ...]
    codes: tuple[str, ...]
    statuses: tuple[str, ...]
    quota: frozenset[str]
    setting: frozenset[str]
    text: frozenset[str]
    quota_messages: tuple[str, ...]
    passing_messages: tuple[str, ...]
    text_messages: tuple[str, ...]
    daily: str
    status_of: dict[str, int]

    @cached_property
    def says_quota(self) -> re.Pattern[str]:
        """Finds that a quota is used up."""
        return re.compile("|".join(self.quota_messages), re.I)

    @cached_property
    def says_passing(self) -> re.Pattern[str]:
        """Finds that a limit passes by itself."""
        return re.compile("|".join(self.passing_messages), re.I)

    @cached_property
    def says_text(self) -> re.Pattern[str]:
        """Finds that the text of the request is the cause."""
        return re.compile("|".join(self.text_messages), re.I)


class ReplyWords(Record):
    """The data file."""

    ends: Ends
    parts: Parts
    thinking: Thinking
    errors: Errors


@cache
def reply_words() -> ReplyWords:
    content = resources.files("memeval.gateway").joinpath(_FILE).read_bytes()
    return parse_toml(content, _FILE).record(ReplyWords)
