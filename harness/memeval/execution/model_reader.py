"""The model reader: a pinned model that answers from retrieved context, under one fixed prompt."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Sequence
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, NamedTuple

from pydantic import JsonValue

from memeval.execution.readers import distinct_lines
from memeval.execution.reading import ReaderAnswer, ReaderFailed
from memeval.gateway.endpoints import dated
from memeval.gateway.settings import settings_for, settings_text
from memeval.records.base import Digest, digest_bytes
from memeval.records.call import Api, Caller, ModelRequest, Phase
from memeval.records.errors import BadInput
from memeval.systems.output import visible
from memeval.tokens import count_tokens

if TYPE_CHECKING:
    from memeval.gateway.endpoints import Endpoint
    from memeval.gateway.gateway import Gateway

PREFIX = "openai:"
"""How the names of model readers begin."""

VERSION = 1
"""Goes up with every change of what is sent for the same question and context."""

PROMPT = "reader/answer"
"""The name of the one prompt, in tracks."""

SETTINGS = "reader/settings"
"""The name, beside that of the prompt, under which other settings than the usual ones stand in a track."""

MAX_TOKENS = 512
"""The longest answer, in tokens, without those of reasoning."""

SEED = 42
"""The seed of every request."""

USUAL: dict[str, JsonValue] = {"temperature": 0, "seed": SEED, "max_tokens": MAX_TOKENS}
"""The settings of every request, but for models of a family that refuses some of them."""

_SPEC = re.compile(rf"{PREFIX}(?P<model>[^\s@]\S*?)(?:@(?P<version>\d{{1,3}}))?")


class FittedContext(NamedTuple):
    """Context within a reader's budget, and what was left out of it, as a sentence."""

    text: str
    note: str | None


class ModelReader:
    """Answers with what a model says, given the question, the time it is asked as of, and the context as data.

    Args:
        model: ``openai:MODEL``, with or without the version; a name that moves stands for a dated model.
        endpoint: where it is reached.
        gateway: makes and records the calls.
        reader_tokens: the most context it is sent for one question, in tokens of the track's tokenizer.

    Raises:
        BadInput: there is no such model reader.
    """

    def __init__(self, model: str, endpoint: Endpoint, gateway: Gateway, reader_tokens: int) -> None:
        self.model = _model_of(model)
        self.settings = settings_for(self.model, endpoint.url, USUAL)
        """What is sent beside the model and the message."""
        self._endpoint = endpoint
        self._gateway = gateway
        self._reader_tokens = reader_tokens
        self._text = files("memeval.execution").joinpath("prompts", "reader.txt").read_text("utf-8")

    @property
    def name(self) -> str:
        """See :class:`memeval.execution.reading.Reader`."""
        return f"{PREFIX}{self.model}@{VERSION}"

    @property
    def endpoint(self) -> str:
        """The base URL at which the model is reached."""
        return self._endpoint.url

    @property
    def texts(self) -> dict[str, str]:
        """The prompt, and settings that are not the usual ones as JSON, by their names."""
        text = settings_text(self.settings, USUAL)
        return {PROMPT: self._text} | ({} if text is None else {SETTINGS: text})

    @property
    def prompts(self) -> dict[str, Digest]:
        """The digests of :attr:`texts`, by their names."""
        return {name: digest_bytes(text.encode()) for name, text in self.texts.items()}

    def read(self, question: str, timestamp: str | None, contexts: Sequence[str]) -> ReaderAnswer:
        """Answer a question; see :class:`memeval.execution.reading.Reader`.

        One delivery is sent as it came; of several, the distinct lines in the order they first came. What goes over
        the budget is left out from the end, in whole lines: the worst of what was delivered last goes first.
        """
        from memeval.gateway.replies import text_of

        sent = self.bounded(contexts)
        request = self.request(question, timestamp, sent.text)
        call = self._gateway.call(request, self._endpoint, Caller.READER, Phase.READ)
        answer = text_of(call)
        if call.error is not None or answer is None:
            raise ReaderFailed(call.error or "The model's reply holds no text.", call.key)
        return ReaderAnswer(answer, call.key, sent.note)

    def bounded(self, contexts: Sequence[str]) -> FittedContext:
        """Return what of some deliveries of context is sent; see :meth:`read`."""
        lines = contexts[0].split("\n") if len(contexts) == 1 else distinct_lines(contexts)
        kept = lines[: _fitting(lines, self._reader_tokens)]
        left_out = len(lines) - len(kept)
        note = f"{left_out} of {len(lines)} lines of context go over {self._reader_tokens} tokens and were not sent."
        return FittedContext("\n".join(kept), note if left_out else None)

    def request(self, question: str, timestamp: str | None, context: str) -> ModelRequest:
        """Return what is sent for a question.

        The context is fenced by lines with a digest of it, so that no text can hold its own fence.
        """
        content = Template(self._text).substitute(
            question=question,
            asked=timestamp or "no time is given",
            context=context,
            fence=hashlib.sha256(context.encode()).hexdigest()[:16],
        )
        body: dict[str, JsonValue] = {
            "model": self.model,
            "messages": [{"role": "user", "content": content}],
            **self.settings,
        }
        return ModelRequest(endpoint=self._endpoint.url, api=Api.CHAT, body=body)


def _model_of(spec: str) -> str:
    """Return the model that a reader's name stands for."""
    found = _SPEC.fullmatch(spec)
    if found is None:
        raise BadInput(f"there is no reader '{visible(spec)}'.", remedy=f"Readers: native, extractive, {PREFIX}MODEL.")
    if found["version"] not in (None, str(VERSION)):
        raise BadInput(
            f"there is no version {found['version']} of the model reader.", remedy=f"This memeval has @{VERSION}."
        )
    return dated(found["model"])


def _fitting(lines: Sequence[str], tokens: int) -> int:
    """Return how many lines, from the first, have no more than so many tokens together."""
    counts = range(len(lines) + 1)
    if count_tokens("\n".join(lines)) <= tokens:
        return len(lines)
    return bisect_right(counts, tokens, key=lambda count: count_tokens("\n".join(lines[:count]))) - 1
