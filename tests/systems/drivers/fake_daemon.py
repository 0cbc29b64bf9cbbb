"""A jeffs-brain daemon that does as the question tells it: for what no real one can be made to do.

``python fake_daemon.py PORT [OPTION…]``; it finds documents by shared words. Options: ``blind`` finds nothing,
``slow-index`` finds a document only when it is asked for the third time, ``torn-delete`` tears the connection after it
deleted a brain, ``key=K`` wants a key.
"""

import json
import os
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

OPTIONS = sys.argv[2:]
BRAINS: dict[str, dict[str, str]] = {}
ASKED: dict[str, int] = {}

CHUNK = {"path": "raw/lme/s001.md", "text": "Drone CI.", "score": 0.5, "metadata": {"session_id": "s001"}}


def sse(*events: tuple[str, Any], end: str = "\n") -> bytes:
    return "".join(f"event: {name}{end}data: {json.dumps(data)}{end}{end}" for name, data in events).encode()


RETRIEVE, DELTA, DONE = (
    ("retrieve", {"chunks": [CHUNK], "topK": 5}),
    ("answer_delta", {"text": "Drone"}),
    ("done", {"ok": True}),
)
STREAMS = {
    "plain": sse(RETRIEVE, DELTA, ("answer_delta", {"text": " CI"}), ("citation", {"path": CHUNK["path"]}), DONE),
    "token": sse(("token", {"content": "Dr"}), ("token", {"delta": "one"}), ("token", {"token": " CI"}), DONE),
    "ids": b": hello\r\nid: 1\r\n" + sse(DELTA, ("answer_delta", {"text": " CI"}), DONE, end="\r\n"),
    "lines": b'event: answer_delta\ndata: {"text":\ndata: "Drone CI"}\n\n' + sse(DONE),
    "answer": sse(("done", {"ok": True, "answer": "Drone CI", "usage": {"input_tokens": 7, "output_tokens": 2}})),
    "cited": sse(DELTA, ("citation", {"path": "raw/lme/s002.md", "title": "Two", "score": 1}), DONE),
    "unknown": sse(("weather", {"sun": True}), DELTA, ("answer_delta", {"text": " CI"}), DONE),
    "error": sse(DELTA, ("error", {"message": "no LLM provider configured"}), ("done", {"ok": False})),
    "error-and-ok": sse(DELTA, ("error", {"message": "the model has gone"}), DONE),
    "not-ok": sse(("done", {"ok": False})),
    "truncated": sse(RETRIEVE, DELTA),
    "garbled": b"event: answer_delta\ndata: {oops\n\n",
}


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass

    def do(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(size)
        url = urlsplit(self.path)
        parts = url.path.strip("/").split("/")
        wanted = [option.partition("=")[2] for option in OPTIONS if option.startswith("key=")]
        if wanted and url.path != "/healthz" and self.headers.get("Authorization") != f"Bearer {wanted[0]}":
            return self.problem(401, "unauthorized", "give the key")
        if url.path == "/healthz":
            return self.reply(200, {"ok": True})
        if url.path == "/version":
            return self.reply(200, {"version": "9.9"})
        if parts == ["v1", "brains"]:
            BRAINS[json.loads(body)["brainId"]] = {}
            return self.reply(201, {})
        brain, call = parts[2], parts[3] if len(parts) > 3 else ""
        if brain not in BRAINS:
            return self.problem(404, "not_found", "no such brain")
        if call == "documents":
            return self.documents(BRAINS[brain], parse_qs(url.query)["path"][0], body)
        if call == "search":
            return self.search(BRAINS[brain], json.loads(body))
        if call == "ask":
            return self.ask(json.loads(body)["question"])
        if self.command == "DELETE":
            if self.headers.get("X-Confirm-Delete") != "yes":
                return self.problem(428, "confirmation_required", "say yes")
            del BRAINS[brain]
            if "torn-delete" in OPTIONS:
                self.connection.close()
                return None
            return self.reply(204, None)
        return self.reply(200, {"brainId": brain})

    do_GET = do_POST = do_PUT = do_DELETE = do

    def documents(self, brain: dict[str, str], path: str, body: bytes) -> None:
        if self.command == "DELETE":
            return self.reply(204 if brain.pop(path, None) is not None else 404, None)
        if b"too much" in body:
            return self.problem(413, "payload_too_large", "the body exceeds 7 bytes")
        brain[path] = body.decode()
        ASKED[path] = 0
        self.reply(204, None)

    def search(self, brain: dict[str, str], asked: dict[str, Any]) -> None:
        if asked["query"] == "die":
            print("I have had enough.", flush=True)
            os._exit(3)
        hits: list[dict[str, Any]] = []
        for path, text in brain.items():
            ASKED[path] += 1
            if "blind" in OPTIONS or ("slow-index" in OPTIONS and ASKED[path] < 3):
                continue
            if shared := len(words(text) & words(asked["query"])):
                hits.append({"path": path, "text": text, "score": shared, "title": ""})
        hits.sort(key=lambda hit: -hit["score"])
        self.reply(200, {"chunks": hits, "asked": asked})  # more than asked for: topK is ignored

    def ask(self, question: str) -> None:
        if question == "500":
            return self.reply(500, None, b"<html>Traceback (most recent call last)</html>", "text/html")
        if question == "problem":
            return self.problem(400, "validation_error", "readerMode must be basic")
        if question == "json":
            return self.reply(200, {"answer": "Drone CI"})
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        if question == "for-ever":
            piece = sse(("answer_delta", {"text": "and so on " * 6000}))
            try:
                while True:
                    self.wfile.write(piece)
            except OSError:
                return None
        self.wfile.write(STREAMS[question])
        return None

    def problem(self, status: int, code: str, detail: str) -> None:
        told = {"status": status, "title": "T", "code": code, "detail": detail}
        self.reply(status, None, json.dumps(told).encode(), "application/problem+json")

    def reply(self, status: int, value: Any, body: bytes = b"", kind: str = "application/json") -> None:
        data = body or (json.dumps(value).encode() if value is not None else b"")
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
