"""Thinking in an answer: what a model wrote for itself before it answered. It is no part of the answer."""

import re

_NAMES = (
    r"(?:[a-z]+:)?(?:think|thinking|thinks|thought|thoughts|reasoning|reason|reflection|reflect|scratchpad|analysis"
    r"|inner_monologue|chain_of_thought|cot|internal)"
)
_TAG = re.compile(
    rf"(?<![`'\"])(?:<\s?(?P<end>/)?\s?{_NAMES}(?:\s[^<>\n]{{0,80}})?\s?>"
    r"|[\[◁](?P<stop>/)?(?:think|thinking)[\]▷]"
    r"|<\|(?P<side>begin|start|end)_?(?:of_)?(?:thought|thinking|think|reasoning)\|>"
    r"|&lt;(?P<slash>/)?(?:think|thinking|reasoning)&gt;)",
    re.IGNORECASE,
)
"""A tag that opens or closes thinking. One in quotes is spoken about."""
_CHANNEL = re.compile(r"<\|channel\|?>\s?(?P<name>\w+)[^<]{0,80}(?:<\|message\|>|\n|(?<=>))?", re.IGNORECASE)
_SPECIAL = re.compile(r"<\|(?:end|start|return|call|message|constrain|channel)\|>|<(?:channel|turn)\|>", re.IGNORECASE)
_STARTS_AGAIN = re.compile(r"<\|(?:end|start|return|call)\|>|<(?:channel|turn)\|>", re.IGNORECASE)
_BARE = re.compile(r"\s*analysis(?P<thinking>.*)assistant\s?final(?P<answer>.*)", re.IGNORECASE | re.DOTALL)
"""The channels of a reply whose marks were removed."""
_FENCED = re.compile(r"```(?:think|thinking|thought|reasoning)\b.*?(?:```|\Z)", re.IGNORECASE | re.DOTALL)


def without_thinking(answer: str) -> str:
    """Return an answer without its thinking; blank if it is all thinking.

    Thinking is what stands between tags such as ``<think>`` and ``</think>``, before a tag that only closes, after one
    that only opens, and in every channel of a reply but ``final``.
    """
    if not any(mark in answer for mark in ("<", "[", "◁", "&lt;", "```")) and not _begins_bare(answer):
        return answer
    found = _final_channel(answer)
    if "```" in found:
        found = _FENCED.sub(" ", found)
    return _untagged(found) if found == answer else _untagged(found).strip()


def _begins_bare(answer: str) -> bool:
    return answer.lstrip()[:8].lower() == "analysis"


def _final_channel(answer: str) -> str:
    """Return what stands in the channel ``final`` of a reply with channels; other replies as they are."""
    channels = list(_CHANNEL.finditer(answer)) if "channel" in answer.lower() else []
    if not channels:
        bare = _BARE.fullmatch(answer) if _begins_bare(answer) else None
        return bare["answer"] if bare else answer
    parts = []
    for place, channel in enumerate(channels):
        end = channels[place + 1].start() if place + 1 < len(channels) else len(answer)
        stop = _STARTS_AGAIN.search(answer, channel.end(), end)
        if channel["name"].lower() == "final":
            parts.append(answer[channel.end() : stop.start() if stop else end])
        elif place + 1 == len(channels) and stop is not None and stop.group().startswith("<channel"):
            parts.append(answer[stop.end() :])
    return _SPECIAL.sub(" ", " ".join(parts))


def _untagged(text: str) -> str:
    kept: list[str] = []
    thinks, at = False, 0
    for tag in _TAG.finditer(text):
        closes = bool(tag["end"] or tag["stop"] or tag["slash"] or (tag["side"] or "").lower() == "end")
        if not thinks:
            kept = [] if closes else [*kept, text[at : tag.start()]]
        thinks, at = not closes, tag.end()
    if not thinks:
        kept.append(text[at:])
    return " ".join(part.strip() for part in kept if part.strip()) if at else text
