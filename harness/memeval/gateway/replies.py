"""What of a model's reply is an answer: its text without thinking, or the reason why the try failed."""

import json
from dataclasses import dataclass, replace
from typing import Any

from memeval.gateway.budget import price_of
from memeval.gateway.provider_errors import ProviderError, error_of, quoted, reported
from memeval.gateway.reply_words import message_text, reply_words, without_thinking
from memeval.gateway.settings import VARIABLE
from memeval.records.call import Api, Call, Caller

_LONGEST_NAME = 200
_MOST_TOKENS = 10**9


class UnusableReply(Exception):
    """A body is no completion, or has no usable text; the text gives the reason.

    ``error``: the provider's error in the body; ``None`` if it reports none. ``is_reply``: whether the endpoint and the
    model worked, and this one reply has no usable text.
    """

    def __init__(self, sentence: str, error: ProviderError | None = None, *, is_reply: bool = False) -> None:
        super().__init__(sentence if sentence.endswith(".") else f"{sentence}.")
        self.error, self.is_reply = error, is_reply


@dataclass(frozen=True)
class ModelReply:
    model: str | None
    fingerprint: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    """Tokens of the reply, as the provider counted them; 0 for embeddings."""
    cached_tokens: int
    """Tokens of the request that the provider billed at its lower price for cached tokens."""
    ended_early: str | None = None
    """The provider's word for an end before the model finished, such as ``length``; ``None`` if absent."""

    @property
    def tokens(self) -> int | None:
        """All tokens; ``None`` if the provider did not count them."""
        if self.prompt_tokens is None or self.completion_tokens is None:
            return None
        return self.prompt_tokens + self.completion_tokens

    def price(self, model: str) -> float | None:
        """Return the cost in US dollars if ``model`` was requested; ``None`` if unknown."""
        if self.prompt_tokens is None or self.completion_tokens is None:
            return None
        return price_of(model, self.prompt_tokens, self.completion_tokens, self.cached_tokens)


NO_REPLY = ModelReply(model=None, fingerprint=None, prompt_tokens=None, completion_tokens=None, cached_tokens=0)


def read(text: str, api: Api, *, calls_tools: bool = False) -> ModelReply:
    """Return the metadata of a usable reply.

    A chat reply is usable if it has text without thinking, or if the model finished and said nothing. An error of the
    provider is none, whatever text came before it.

    ``calls_tools``: whether a call of a tool is usable too, as for systems. Raises UnusableReply: the body has no
    completion, no usable text, or no embeddings.
    """
    data = _object(text)
    if (error := reported(data)) is not None:
        raise _failed(error)
    ended = None
    if api is Api.CHAT:
        ended = _usable_end(data, calls_tools)
    elif not isinstance(data.get("data"), list) or not data["data"]:
        raise _without(data, "The reply has no embeddings.")
    return replace(_metadata(data, api), ended_early=ended)


def counted(text: str, api: Api) -> ModelReply:
    """Return the metadata of a reply, usable or not; nothing is known if it is not a JSON object."""
    try:
        return _metadata(_object(text), api)
    except UnusableReply:
        return NO_REPLY


def _metadata(data: dict[str, Any], api: Api) -> ModelReply:
    usage = _inside(data, "usage")
    prompt = _count(usage.get("prompt_tokens"))
    return ModelReply(
        model=_name(data.get("model")),
        fingerprint=_name(data.get("system_fingerprint")),
        prompt_tokens=prompt,
        completion_tokens=_count(usage.get("completion_tokens")) if api is Api.CHAT else 0,
        cached_tokens=min(_count(_inside(usage, "prompt_tokens_details").get("cached_tokens")) or 0, prompt or 0),
    )


def read_call(call: Call) -> ModelReply:
    """Return the metadata of a recorded reply; see :func:`read`.

    Raises UnusableReply: there is no reply, or it cannot be used.
    """
    if call.error is not None or call.reply is None:
        raise UnusableReply(call.error or "There is no reply.")
    return read(call.reply, call.request.api, calls_tools=call.caller is Caller.SYSTEM)


def is_usable(call: Call) -> bool:
    """Return whether a recorded call has a usable reply, so that it is never made again."""
    try:
        read_call(call)
    except UnusableReply:
        return False
    return True


def text_of(call: Call) -> str | None:
    """Return the text of a chat reply without its thinking: what a reader answers, and what a judge says.

    Returns: Empty if the model finished without text; ``None`` if the call failed or its reply cannot be used.
    """
    try:
        read_call(call)
    except UnusableReply:
        return None
    return _text(_choices(_object(call.reply or ""))[0])


def _usable_end(data: dict[str, Any], calls_tools: bool) -> str | None:
    """Return the word for an early end of the first usable choice. Raises UnusableReply: no choice is usable."""
    problem: UnusableReply | None = None
    choices = _choices(data)
    for choice in choices if calls_tools else choices[:1]:
        try:
            return _end_of(choice, data, calls_tools)
        except UnusableReply as error:
            problem = problem or error
    raise problem or UnusableReply("The reply has no choices.")


def _end_of(choice: Any, data: dict[str, Any], calls_tools: bool) -> str | None:
    if not isinstance(choice, dict):
        raise UnusableReply("The reply's first choice has no message.")
    message = choice.get("message")
    for place in (choice, message):
        if isinstance(place, dict) and (error := reported(place)) is not None:
            raise _failed(error)
    words = reply_words().ends
    ends = words.of(_end(choice))
    stated = f"(finish_reason {json.dumps(choice.get('finish_reason'))[:_LONGEST_NAME]})"
    if ends & words.failed:
        raise UnusableReply(f"The provider failed before the reply was complete {stated}.")
    filters = _filters(choice) or ([] if choice.get("message") else _filters(data))
    is_filtered = bool(ends & words.filtered or filters)
    has_message = isinstance(message, dict) and isinstance(message.get("content"), str | list | dict | None)
    if not has_message and not is_filtered and not ends & words.cut:
        raise UnusableReply("The reply's first choice has no message.")
    early = _name(str(_end(choice)).lower()) if ends & (words.cut | words.filtered) else None
    if has_message and (_text(choice).strip() or (calls_tools and _calls_tool(message))):
        return early
    if is_filtered:
        names = f": {', '.join(filters)}" if filters else ""
        raise UnusableReply(f"The provider's filter left no text {stated}{names}.", is_reply=True)
    if ends & words.cut:
        raise UnusableReply(
            f"The reply was cut at the limit of tokens before it had any text {stated}."
            + ("" if calls_tools else f" Raise more_tokens of the model in a file that {VARIABLE} names."),
            is_reply=True,
        )
    if ends & words.called or _calls_tool(message):
        raise UnusableReply(f"The model called a tool and gave no text {stated}.", is_reply=True)
    if "finish_reason" in choice and not ends & words.finished:
        raise UnusableReply(f"The reply has no text, and the model did not finish {stated}.", is_reply=True)
    return None


def _end(choice: dict[str, Any]) -> Any:
    return choice.get("finish_reason", choice.get("stop_reason"))


def _filters(place: dict[str, Any]) -> list[str]:
    """Return the names of the filters that removed text, as Azure and Gemini report them."""
    if reason := _inside(place, "promptFeedback").get("blockReason"):
        return [_encodable(str(reason))[:_LONGEST_NAME]]
    results = place.get("content_filter_results")
    if results is None:
        prompts = place.get("prompt_filter_results")
        first = prompts[0] if isinstance(prompts, list) and prompts else None
        results = first.get("content_filter_results") if isinstance(first, dict) else None
    if not isinstance(results, dict):
        return []
    return sorted(
        _encodable(name)[:_LONGEST_NAME]
        for name, each in results.items()
        if isinstance(each, dict) and each.get("filtered") is True
    )


def _calls_tool(message: Any) -> bool:
    return isinstance(message, dict) and bool(message.get("tool_calls") or message.get("function_call"))


def _text(choice: Any) -> str:
    message = choice.get("message") if isinstance(choice, dict) else None
    return without_thinking(_encodable(message_text(message))) if isinstance(message, dict) else ""


def _failed(error: ProviderError) -> UnusableReply:
    stated = "" if error.status is None else f" ({error.status})"
    return UnusableReply(f"The endpoint replied with an error{stated}{quoted(error.message)}", error)


def _without(data: Any, sentence: str) -> UnusableReply:
    """Return the error for a body without what was asked for, which may say why."""
    error = error_of(data)
    return _failed(error) if error.message else UnusableReply(sentence)


def _object(text: str) -> dict[str, Any]:
    if not text.strip():
        raise UnusableReply("The reply is empty.")
    if text.lstrip().startswith("<"):
        raise UnusableReply("The reply is a web page, not JSON.")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise UnusableReply("The reply is not JSON, or is truncated.") from None
    if not isinstance(data, dict):
        raise _without(data, "The reply is not a JSON object.")
    return data


def _choices(data: dict[str, Any]) -> list[Any]:
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices:
        if filters := _filters(data):
            raise UnusableReply(f"The provider's filter refused the request: {', '.join(filters)}.", is_reply=True)
        raise _without(data, "The reply has no choices.")
    return choices


def _inside(data: dict[str, Any], name: str) -> dict[str, Any]:
    value = data.get(name)
    return value if isinstance(value, dict) else {}


def _count(value: Any) -> int | None:
    counts = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS
    return value if counts else None


def _name(value: Any) -> str | None:
    return _encodable(value)[:_LONGEST_NAME] if isinstance(value, str) and value else None


def _encodable(text: str) -> str:
    """Return text that UTF-8 can encode: JSON strings may contain unpaired surrogates."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
