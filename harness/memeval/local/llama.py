"""llama.cpp behind the front: greedy, one slot, and a prompt's fixed prefix restored before every request.

A prefix that is merely kept from the request before changes some answers, because tokens are then computed in other
batches. So the state after a prefix is computed once from nothing, saved, and restored before each request that begins
with it: what is computed for a request follows from the request alone.
"""

import hashlib
import importlib
import json
import os
import secrets
import urllib.error
import urllib.request
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from memeval.local.front import Refused, refused

SEED = 42

KEPT_PREFIXES = 4
"""Prefixes whose state is kept. One more, and the one that was not used for longest is computed again when needed."""

SHORTEST_PREFIX = 64
"""Tokens of the shortest prefix that is worth it."""

_MARGIN = 4
"""Last tokens of a prefix that are left out: what follows may join them to another token."""

_ENDS = ("0", "1")
"""Two texts after a prefix; where the prompts differ, the prefix ends."""


class Llama:
    def __init__(self, settings: dict[str, Any]) -> None:
        library: Any = importlib.import_module("xllamacpp")
        self.name = settings["name"]
        self._folder = Path(settings["folder"])
        self._longest_answer = settings["longest_answer"]
        self._saved: OrderedDict[str, int] = OrderedDict()
        self._key = secrets.token_urlsafe(24)
        self._library_server = library.Server(_parameters(library, settings, self._key))
        self._address = self._library_server.listening_address

    def answer(self, path: str, body: dict[str, Any], prefix: int) -> dict[str, Any] | Iterator[bytes]:
        if path.rstrip("/") != "/v1/chat/completions":
            raise refused(404, f"this model has no {path[:100]}: it answers at /v1/chat/completions")
        restored = self._restore(body, prefix)
        sent = body | {
            "temperature": 0,
            "seed": SEED,
            "n": 1,
            "id_slot": 0,
            "cache_prompt": restored,
            "max_tokens": self._limit(body),
        }
        sent.pop("max_completion_tokens", None)
        return self._stream(sent) if body.get("stream") else self._post("/v1/chat/completions", sent)

    def _limit(self, body: dict[str, Any]) -> int:
        asked = [body[name] for name in ("max_tokens", "max_completion_tokens") if isinstance(body.get(name), int)]
        return int(min([self._longest_answer, *(limit for limit in asked if limit > 0)]))

    def _restore(self, body: dict[str, Any], characters: int) -> bool:
        """Bring the slot to the state after the prefix of a request; return whether the request has one."""
        try:
            tokens = self._prefix(body, characters)
        except Refused:  # the request itself will say what is wrong with it
            return False
        if len(tokens) < SHORTEST_PREFIX:
            return False
        name = hashlib.sha256(json.dumps(tokens).encode()).hexdigest()[:32] + ".bin"
        if name not in self._saved:
            self._compute(tokens, name)
        self._saved.move_to_end(name)
        restored = self._post("/slots/0?action=restore", {"filename": name})
        if restored.get("n_restored") != len(tokens):
            raise refused(500, "the saved state of the prompt's prefix cannot be restored")
        return True

    def _compute(self, tokens: Sequence[int], name: str) -> None:
        while len(self._saved) >= KEPT_PREFIXES:
            oldest, _size = self._saved.popitem(last=False)
            (self._folder / oldest).unlink(missing_ok=True)
        asked = {"prompt": tokens, "n_predict": 0, "cache_prompt": False, "id_slot": 0, "temperature": 0}
        self._post("/completion", asked)
        saved = self._post("/slots/0?action=save", {"filename": name})
        if saved.get("n_saved") != len(tokens):
            raise refused(500, "the state of the prompt's prefix cannot be saved: is the disk full?")
        self._saved[name] = len(tokens)

    def _prefix(self, body: dict[str, Any], characters: int) -> list[int]:
        """Return the tokens with which all requests begin that share the prefix of this one; empty if too few.

        They follow from the request alone: from the first characters of its first message, or its system messages.
        """
        messages = body.get("messages")
        if not isinstance(messages, list) or not messages or not all(isinstance(each, dict) for each in messages):
            return []
        first = messages[0].get("content")
        if characters and isinstance(first, str) and characters < len(first):
            ends: Any = [[messages[0] | {"content": first[:characters] + end}] for end in _ENDS]
        else:
            systems = 0
            while systems < len(messages) and messages[systems].get("role") == "system":
                systems += 1
            if not systems:
                return []
            ends = [[*messages[:systems], {"role": "user", "content": end}] for end in _ENDS]
        fields: dict[str, Any] = {
            name: body[name] for name in ("tools", "tool_choice", "chat_template_kwargs") if name in body
        }
        prompts = [self._post("/apply-template", {"messages": each, **fields})["prompt"] for each in (messages, *ends)]
        head = os.path.commonprefix(prompts)  # noqa: RUF071 - texts, not paths
        if len(head) < SHORTEST_PREFIX:
            return []
        tokens = self._tokens(head)[:-_MARGIN]
        return tokens if self._tokens(prompts[0])[: len(tokens)] == tokens else []

    def _tokens(self, text: str) -> list[int]:
        asked = {"content": text, "add_special": True, "parse_special": True}
        tokens: list[int] = self._post("/tokenize", asked)["tokens"]
        return tokens

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        with self._open(path, body) as response:
            reply: dict[str, Any] = json.load(response)
        return reply

    def _stream(self, body: dict[str, Any]) -> Iterator[bytes]:
        response = self._open("/v1/chat/completions", body)

        def pieces() -> Iterator[bytes]:
            with response:
                while piece := response.read1(65_536):
                    yield piece

        return pieces()

    def _open(self, path: str, body: dict[str, Any]) -> Any:
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"}
        request = urllib.request.Request(self._address + path, json.dumps(body).encode(), headers)  # noqa: S310
        try:
            return urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request)
        except urllib.error.HTTPError as error:
            with error:
                text = error.read(100_000).decode(errors="replace")
            try:
                reply = json.loads(text)
            except ValueError:
                reply = {"error": {"message": text[:500], "code": error.code}}
            raise Refused(error.code, reply) from None
        except OSError as error:  # not the client's connection, which the front would take as gone
            raise refused(500, f"the engine gave no reply ({error})") from None


def _parameters(library: Any, settings: dict[str, Any], key: str) -> Any:
    given = library.CommonParams()
    given.model.path, given.model_alias = settings["path"], {settings["name"]}
    given.hostnames, given.port, given.api_keys = ["127.0.0.1"], 0, [key]
    given.n_ctx, given.n_batch, given.n_ubatch = settings["context"], settings["batch"], settings["batch"]
    given.cpuparams.n_threads = given.cpuparams_batch.n_threads = settings["threads"]
    given.n_predict = settings["longest_answer"]
    # One slot, and nothing kept from request to request but what is restored by name.
    given.n_parallel, given.cache_prompt, given.cache_ram_mib, given.n_ctx_checkpoints = 1, True, 0, 0
    given.cache_idle_slots, given.ctx_shift, given.fit_params = False, False, False
    given.slot_save_path, given.endpoint_slots = f"{settings['folder']}/", True
    given.warmup, given.ui, given.verbosity = False, False, -1
    return given
