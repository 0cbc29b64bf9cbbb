"""The model reader: a pinned model that answers from retrieved context with one fixed prompt."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, NamedTuple

from pydantic import JsonValue

from memeval.gateway.endpoints import dated
from memeval.gateway.settings import settings_for, settings_text
from memeval.local import PREFIX, is_local
from memeval.reading import ReaderAnswer, ReaderFailed
from memeval.records.base import Digest, digest_bytes
from memeval.records.call import Api, Caller, ModelRequest, Phase
from memeval.records.errors import BadInput
from memeval.systems.channel import visible
from memeval.tokens import count_tokens

if TYPE_CHECKING:
    from memeval.gateway.endpoints import Endpoint
    from memeval.gateway.stops import MakesReaderCalls

PREFIXES = ("openai:", PREFIX)
"""What the names of model readers begin with."""

VERSION = 1
"""Increases with every change of the request for the same question and context."""

PROMPT = "reader/answer"

SETTINGS = "reader/settings"
"""The name of changed settings in tracks, next to the prompt."""

SETUP = "reader/model"
"""The name in tracks of what decides the answers of a model on this machine."""

MAX_TOKENS = 512

SEED = 42

USUAL: dict[str, JsonValue] = {"temperature": 0, "seed": SEED, "max_tokens": MAX_TOKENS}
"""The settings of every request, except for families of models that refuse some of them."""

_SPEC = re.compile(r"(?:openai|local):(?P<model>[^\s@]\S*?)(?:@(?P<version>\d{1,3}))?")


class FittedContext(NamedTuple):
    """Context within a reader's budget, and a sentence about omitted lines, if any."""

    text: str
    note: str | None


class ModelReader:
    """Answers with a model that receives the question, its time, and the context as data.

    ``model``: ``openai:MODEL`` or ``local:MODEL``, with or without the version; an alias selects its dated model.
    ``reader_tokens``:
    maximum context per question, in tokens of the track's tokenizer. Raises BadInput: the name is not a model reader.
    """

    def __init__(self, model: str, endpoint: Endpoint, gateway: MakesReaderCalls, reader_tokens: int) -> None:
        self.model = _model_of(model)
        self.settings = settings_for(self.model, endpoint.url, USUAL)
        self._gateway = gateway
        self._reader_tokens = reader_tokens
        self._text = prompt_text()
        self._endpoint = replace(endpoint, prefix=self._text.partition("$")[0])

    @property
    def name(self) -> str:
        return f"{PREFIXES[is_local(self.endpoint)]}{self.model}@{VERSION}"

    @property
    def endpoint(self) -> str:
        return self._endpoint.url

    @property
    def texts(self) -> dict[str, str]:
        """The prompt, changed settings, and the setup of a model on this machine, by name in a track."""
        texts = {PROMPT: self._text, SETTINGS: settings_text(self.settings, USUAL), SETUP: self._endpoint.setup}
        return {name: text for name, text in texts.items() if text is not None}

    @property
    def prompts(self) -> dict[str, Digest]:
        return {name: digest_bytes(text.encode()) for name, text in self.texts.items()}

    def read(self, question: str, timestamp: str | None, contexts: Sequence[str]) -> ReaderAnswer:
        """Answer a question; see :class:`memeval.reading.Reader`.

        Lines beyond the budget are omitted from the end, where the lowest-ranked items are.
        """
        from memeval.gateway.replies import text_of

        sent = self.bounded(contexts)
        request = self.request(question, timestamp, sent.text)
        call = self._gateway.call(request, self._endpoint, Caller.READER, Phase.READ)
        answer = text_of(call)
        if answer is None:
            raise ReaderFailed(call.error or "The model's reply has no usable text.", call.key)
        early = None if call.ended_early is None else f"The model's reply is not complete: {call.ended_early}."
        return ReaderAnswer(answer, call.key, " ".join(filter(None, (sent.note, early))) or None)

    def bounded(self, contexts: Sequence[str]) -> FittedContext:
        return fitted(contexts, self._reader_tokens)

    def request(self, question: str, timestamp: str | None, context: str) -> ModelRequest:
        """Return the request for a question."""
        content = filled_prompt(self._text, question, timestamp, context)
        body: dict[str, JsonValue] = {
            "model": self.model,
            "messages": [{"role": "user", "content": content}],
            **self.settings,
        }
        return ModelRequest(endpoint=self._endpoint.url, api=Api.CHAT, body=body)


def prompt_text() -> str:
    """Return the prompt, in which the question, its time and the context are missing."""
    return files("memeval.execution").joinpath("prompts", "reader.txt").read_text("utf-8")


def filled_prompt(text: str, question: str, timestamp: str | None, context: str) -> str:
    """Return the prompt for a question.

    The context is between two lines with its digest, so no text can contain its own delimiter.
    """
    return Template(text).substitute(
        question=question,
        asked=timestamp or "no time is given",
        context=context,
        fence=hashlib.sha256(context.encode()).hexdigest()[:16],
    )


def fitted(contexts: Sequence[str], tokens: int) -> FittedContext:
    """Return the context to send, without whole lines at the end that exceed a number of tokens.

    One context is sent unchanged; of several, the distinct lines are sent, in order of first occurrence.
    """
    lines = [line for context in contexts for line in context.split("\n")]
    lines = lines if len(contexts) == 1 else list(dict.fromkeys(lines))
    kept = lines
    if count_tokens("\n".join(lines)) > tokens:
        counts = range(len(lines) + 1)
        kept = lines[: bisect_right(counts, tokens, key=lambda count: count_tokens("\n".join(lines[:count]))) - 1]
    omitted = len(lines) - len(kept)
    note = f"{omitted} of {len(lines)} lines of context exceed {tokens} tokens and were not sent."
    return FittedContext("\n".join(kept), note if omitted else None)


def _model_of(spec: str) -> str:
    found = _SPEC.fullmatch(spec)
    if found is None:
        raise BadInput(
            f"there is no reader '{visible(spec)}'.", remedy="Readers: native, extractive, local:NAME, openai:MODEL."
        )
    if found["version"] not in (None, str(VERSION)):
        raise BadInput(f"there is no version {found['version']} of the model reader.", remedy=f"Use @{VERSION}.")
    return dated(found["model"])
