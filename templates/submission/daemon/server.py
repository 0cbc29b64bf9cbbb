"""Serves the memory over the HTTP API of jeffs-brain: a brain is a memory, and ask streams events."""

from __future__ import annotations

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from memory import Memory

brains: dict[str, Memory] = {}


def front_matter(text: str) -> tuple[str, str]:
    """Return a document's text, and its date from the front matter."""
    head, dashes, rest = text.removeprefix("---\n").partition("\n---\n")
    if not text.startswith("---\n") or not dashes:
        return text, ""
    date = re.search(r"^session_date:\s*\"?([^\"\n]*)", head, re.MULTILINE)
    return rest.strip(), date[1] if date else ""


def search_chunks(memory: Memory, query: str, request: dict) -> list[dict]:
    """Return search results as chunks of documents."""
    items = memory.search(query, request.get("topK", 10), request.get("questionDate", "now"))
    return [
        {"chunkId": path, "documentId": path, "path": path, "text": item["text"], "score": item["score"]}
        for item in items
        for path in item["source_ids"]
    ]


class Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection."""

    protocol_version = "HTTP/1.1"

    def handle_request(self) -> None:
        """Route a request by its method and path."""
        url = urlsplit(self.path)
        words = url.path.strip("/").split("/")
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if url.path == "/healthz":
            return self.answer(200, {"ok": True})
        if words[:2] != ["v1", "brains"]:
            return self.answer(404, {"title": "unknown path"})
        if len(words) == 2 and self.command == "POST":
            name = json.loads(body)["brainId"]
            brains[name] = Memory()
            return self.answer(201, {"brainId": name})
        memory = brains.get(words[2]) if len(words) > 2 else None
        if memory is None:
            return self.answer(404, {"title": "unknown brain"})
        route = (self.command, *words[3:])
        if route == ("DELETE",):
            del brains[words[2]]
            return self.answer(204)
        if route == ("PUT", "documents"):
            memory.keep(parse_qs(url.query)["path"][0], *front_matter(body.decode()))
            return self.answer(204)
        if route == ("DELETE", "documents"):
            removed = memory.notes.pop(parse_qs(url.query)["path"][0], None)
            return self.answer(204 if removed else 404)
        if route == ("POST", "search"):
            request = json.loads(body)
            return self.answer(200, {"chunks": search_chunks(memory, request["query"], request), "trace": {}})
        if route == ("POST", "ask"):
            request = json.loads(body)
            chunks = search_chunks(memory, request["question"], request)
            text = chunks[0]["text"] if chunks else "I do not know."
            return self.stream(
                ("retrieve", {"chunks": chunks}), ("answer_delta", {"text": text}), ("done", {"ok": True})
            )
        return self.answer(404, {"title": "unknown path"})

    do_GET = do_POST = do_PUT = do_DELETE = handle_request

    def answer(self, status: int, value: object = None) -> None:
        """Answer with JSON, or without a body."""
        self.send(status, "application/json", b"" if value is None else json.dumps(value).encode())

    def stream(self, *events: tuple[str, object]) -> None:
        """Answer with server-sent events."""
        text = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events)
        self.send(200, "text/event-stream", text.encode())

    def send(self, status: int, kind: str, body: bytes) -> None:
        """Answer with a body."""
        self.send_response(status)
        if body:
            self.send_header("Content-Type", kind)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Log no requests."""


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
