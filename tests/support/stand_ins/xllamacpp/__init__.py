"""Stands in for llama.cpp in tests: the same parameters, the same HTTP paths, and an answer that is easy to foresee.

A token is a character. The answer says which tokens were computed for it, and the last word of the last message. Words
in the last message make it misbehave: ``STOP-NEVER``, ``DIE``, ``DIE-ONCE``, ``SLOW``. The file of the weights can ask
for faults at load: see :class:`Server`.
"""

import json
import os
import signal
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

SLOW_SECONDS = 1.2
"""Seconds of a slow answer, unless ``STAND_IN_SECONDS`` in the environment says others."""

BUILD_INFO = {"build": "stand-in"}


def get_system_info() -> str:
    return "no processor"


class CommonParams(SimpleNamespace):
    def __init__(self) -> None:
        threads = SimpleNamespace
        super().__init__(model=SimpleNamespace(), cpuparams=threads(), cpuparams_batch=threads(), api_keys=[])


class Server:
    """``params``: as llama.cpp's; weights that end with ``MEMORY`` or ``BAD`` do not load."""

    def __init__(self, params: CommonParams) -> None:
        weights = Path(params.model.path)
        self.end = weights.read_bytes()[-6:]
        if self.end == b"MEMORY":
            raise RuntimeError("std::bad_alloc")
        if self.end.endswith(b"INIT"):
            raise RuntimeError("Failed to init server, please check the input params.")
        if self.end.endswith(b"BAD"):
            raise RuntimeError("tensor 'blk.0' is missing")
        self.params, self.slot = params, ""
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                allowed = self.headers["Authorization"] == f"Bearer {params.api_keys[0]}"
                status, reply = server.answer(self.path, body) if allowed else (401, {})
                data = json.dumps(reply).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_words: Any) -> None: ...

        http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=http.serve_forever, daemon=True).start()
        self.listening_address = f"http://127.0.0.1:{http.server_port}"

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if path == "/apply-template":
            return 200, {"prompt": rendered(body["messages"])}
        if path == "/tokenize":
            return 200, {"tokens": [ord(letter) for letter in body["content"]]}
        if path == "/completion":
            self.slot = "".join(map(chr, body["prompt"]))
            return 200, {"content": ""}
        if path.startswith("/slots/0"):
            return self.slots(path, Path(self.params.slot_save_path) / body["filename"])
        return self.chat(body)

    def slots(self, path: str, file: Path) -> tuple[int, dict[str, Any]]:
        if path.endswith("save"):
            file.write_text(self.slot)
            return 200, {"n_saved": len(self.slot)}
        self.slot = file.read_text()
        return 200, {"n_restored": len(self.slot)}

    def chat(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        prompt, said = rendered(body["messages"]), str(body["messages"][-1]["content"])
        if "DIE-ONCE" in said and not (mark := Path(self.params.model.path).with_suffix(".died")).exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if "SLOW" in said.split():
            time.sleep(float(os.environ.get("STAND_IN_SECONDS", SLOW_SECONDS)))
        if "DIE" in said.split():
            os.kill(os.getpid(), signal.SIGKILL)
        if len(prompt) > self.params.n_ctx:
            message = f"request ({len(prompt)} tokens) exceeds the available context size ({self.params.n_ctx} tokens)"
            return 400, {"error": {"code": 400, "message": message, "type": "exceed_context_size_error"}}
        kept = os.path.commonprefix([self.slot, prompt]) if body["cache_prompt"] else ""  # noqa: RUF071
        self.slot = prompt
        words = (
            ["word"] * 10_000 if "STOP-NEVER" in said else [f"{len(kept)}+{len(prompt) - len(kept)}", last_word(said)]
        )
        finish = "length" if len(words) > body["max_tokens"] else "stop"
        text = " ".join(words[: body["max_tokens"]])
        usage = {"prompt_tokens": len(prompt), "completion_tokens": min(len(words), body["max_tokens"])}
        choices = [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}]
        sent = {name: body[name] for name in ("temperature", "seed", "max_tokens")}
        return 200, {"choices": choices, "usage": usage, "model": body.get("model"), "sent": sent}


def last_word(text: str) -> str:
    return (text.split() or [""])[-1]


def rendered(messages: list[dict[str, Any]]) -> str:
    return "".join(f"<{each['role']}>{each['content']}" for each in messages) + "<assistant>"
