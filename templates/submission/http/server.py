"""Serves the memory over memeval's HTTP protocol: each call is a POST, and the response has its value."""

from __future__ import annotations

import json
import sys
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from memory import Memory

memory = Memory()


def load(request: dict) -> dict:
    """Return the calls that this server supports."""
    return {"capabilities": ["take_in", "ask", "search"]}


def reset(request: dict) -> None:
    """Forget everything."""
    memory.reset()


def take_in(request: dict) -> None:
    """Ingest a session."""
    for turn in request["session"]["turns"]:
        text = f"[{request['timestamp']}] {turn.get('speaker') or turn['role']}: {turn['content']}"
        memory.keep(turn["turn_id"], text, request["timestamp"])


def search(request: dict) -> dict:
    """Return at most k items."""
    return {"items": memory.search(request["query"], request["k"], request.get("timestamp", "now"))}


def ask(request: dict) -> dict:
    """Answer a question."""
    items = memory.search(request["question"], 5, request.get("timestamp", "now"))
    answer = items[0]["text"] if items else "I do not know."
    return {"answer": answer, "context": "\n".join(item["text"] for item in items), "items": items}


CALLS = {"/load": load, "/reset": reset, "/take_in": take_in, "/search": search, "/ask": ask}


def described(error: Exception) -> str:
    """Return an exception with its line in this folder."""
    here = Path(__file__).resolve().parent
    places = [(Path(frame.filename).resolve(), frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    own = [f" ({path.name}:{line})" for path, line in places if path.parent == here]
    place = own[-1] if own else ""
    return f"{type(error).__name__}: {error}{place}"


class Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.answer(200 if self.path == "/healthz" else 404, {})

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path not in CALLS:
            self.answer(404, {"title": f"unknown path {self.path}"})
            return
        try:
            status, value = 200, CALLS[self.path](request)
        except Exception as error:
            traceback.print_exc()
            status, value = 500, {"title": "error in the server", "detail": described(error)}
        self.answer(status, value)

    def answer(self, status: int, value: object) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Log no requests."""


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
