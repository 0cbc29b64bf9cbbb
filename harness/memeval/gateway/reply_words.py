"""The text of a model's message in any form, and the words of providers for ends, parts and errors."""

import re
from functools import cache, cached_property
from importlib import resources
from typing import Annotated, Any

from pydantic import BeforeValidator, field_validator

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
    filtered: frozenset[str]
    called: frozenset[str]
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
    thinking: frozenset[str]
    other: frozenset[str]
    """Neither thinking nor text."""
    text: tuple[str, ...]


class Thinking(Record):
    """Regular expressions for the marks around thinking in a text."""

    tags: tuple[str, ...]
    opens: tuple[str, ...]
    closes: tuple[str, ...]
    starts: tuple[str, ...]
    answers: tuple[str, ...]

    @cached_property
    def marks(self) -> re.Pattern[str]:
        """Finds a mark that is not quoted; the groups ``open`` and ``close`` tell which."""
        name = rf"\s?(?:[a-z]+:)?(?:{'|'.join(self.tags)})"
        opens = "|".join((rf"<{name}(?:\s[^<>\n]{{0,80}})?\s?>", *self.opens))
        closes = "|".join((rf"<\s?/{name}\s?>", *self.closes))
        return re.compile(rf"(?<![`'\"])(?:(?P<open>{opens})|(?P<close>{closes}))", re.I)

    @cached_property
    def first(self) -> re.Pattern[str]:
        """Finds thinking at the start of a text that no mark encloses."""
        return re.compile(rf"\A\s*(?:{'|'.join(self.starts)})", re.S)

    @cached_property
    def around(self) -> re.Pattern[str]:
        """Finds a mark at the start or the end of an answer."""
        marks = "|".join(self.answers)
        return re.compile(rf"\A\s*(?:{marks})|(?:{marks})\s*\Z", re.I)


Patterns = Annotated[re.Pattern[str], BeforeValidator(lambda lines: re.compile("|".join(lines), re.I))]
"""One pattern for regular expressions, each a line of the file."""


class Errors(Record):
    holders: tuple[str, ...]
    details: tuple[str, ...]
    messages: tuple[str, ...]
    codes: tuple[str, ...]
    statuses: tuple[str, ...]
    quota: frozenset[str]
    setting: frozenset[str]
    text: frozenset[str]
    quota_messages: Patterns
    passing_messages: Patterns
    text_messages: Patterns
    daily: str
    status_of: dict[str, int]


class ReplyWords(Record):
    ends: Ends
    parts: Parts
    thinking: Thinking
    errors: Errors


@cache
def reply_words() -> ReplyWords:
    content = resources.files("memeval.gateway").joinpath(_FILE).read_bytes()
    return parse_toml(content, _FILE).record(ReplyWords)


_DEEPEST = 8

_CHANNEL = "<|channel|>"
_CHANNELS = re.compile(
    r"<\|channel\|>\s{0,9}(?P<name>\w{0,99})[^<]{0,999}(?:<\|constrain\|>[^<]{0,99})?<\|message\|>"
    r"(?P<text>.*?)(?=<\|(?:end|return|call|start|channel)\|>|\Z)",
    re.S,
)
"""A message of gpt-oss in its own format (Harmony): a channel's name and its text."""


def joined(content: Any, depth: int = 0) -> str:
    """Return the text in a message's content, without the parts that are thinking, images or calls.

    ``content``: a text, a part, or a list of these; anything else has no text.
    """
    if isinstance(content, str):
        return content
    if depth > _DEEPEST:
        return ""
    if isinstance(content, list):
        return "".join(joined(part, depth + 1) for part in content)
    if not isinstance(content, dict):
        return ""
    words, kind = reply_words().parts, str(content.get("type") or "text").lower()
    if kind in words.thinking or kind in words.other or content.get("thought") is True:
        return ""
    texts = (joined(content.get(name), depth + 1) for name in words.text)
    return next(filter(None, texts), "")


def message_text(message: dict[str, Any]) -> str:
    """Return the text of a message as the model wrote it; the words of a refusal are its text."""
    return joined(message.get("content")) or joined(message.get("refusal"))


def without_thinking(text: str) -> str:
    """Return what a model said, without its thinking; a text without thinking is unchanged.

    Text before a closing mark that no opening mark precedes is thinking: the prompt had the opening mark. An opening
    mark that is not closed counts at the start of a line, and everything after it is thinking.
    """
    if _CHANNEL in text and (channels := list(_CHANNELS.finditer(text))):
        return "".join(each["text"] for each in channels if each["name"] == "final").strip()
    words = reply_words().thinking
    left = _without_marked(words.first.sub("", text))
    return text if left == text else words.around.sub("", left.strip()).strip()


def _without_marked(text: str) -> str:
    kept: list[str] = []
    place = 0
    opened: re.Match[str] | None = None
    for mark in reply_words().thinking.marks.finditer(text):
        if mark["close"] is None:
            if opened is None:
                kept.append(text[place : mark.start()])
                opened = mark
        else:
            if opened is None:
                kept.clear()
            opened, place = None, mark.end()
    if opened is None:
        kept.append(text[place:])
    elif text[: opened.start()].rpartition("\n")[2].strip():  # the answer names the mark
        kept.append(text[opened.start() :])
    return "".join(kept)
