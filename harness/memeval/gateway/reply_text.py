"""The text of a model's message, whatever its form, and what of it is thinking."""

from __future__ import annotations

import re
from typing import Any

from memeval.gateway.reply_words import reply_words

_DEEPEST = 8
"""Parts inside parts that are read."""

_CHANNEL = "<|channel|>"
_CHANNELS = re.compile(
    r"<\|channel\|>\s{0,9}(?P<name>\w{0,99})[^<]{0,999}(?:<\|constrain\|>[^<]{0,99})?<\|message\|>"
    r"(?P<text>.*?)(?=<\|(?:end|return|call|start|channel)\|>|\Z)",
    re.S,
)
"""A message of gpt-oss in its own format (Harmony): a channel's name and its text."""


def joined(content: Any, depth: int = 0) -> str:
    """Return the text in a message's content, without the parts that are thinking, images or calls.

    Args:
        content: a text, a part, or a list of these; anything else has no text.
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
