"""A server of memeval's HTTP contract, and one that does everything wrong that it is asked to.

``python memory_server.py PORT NOTES [FAULT]``: what comes in is noted line by line in the file NOTES.
"""

import json
import os
import signal
import sys
import threading
import time
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

PORT, NOTES, FAULT = int(sys.argv[1]), Path(sys.argv[2]), (sys.argv[3:] or [""])[0]
CALLS = ["take_in", "ask", "search", "settle", "retain", "recall", "reflect", "forget", "export", "usage", "close"]
BORN = time.monotonic()
JSON = "application/json"
WRONG: dict[str, tuple[int, str | None, bytes]] = {
    "500": (500, "application/problem+json", b'{"title": "t", "detail": "the disk\\nis full", "status": 500}'),
    "html": (502, "text/html", b"<h1>Bad\xff gateway</h1>" + b"x" * 9000),
    "moved": (307, None, b""),
    "text": (200, "text/plain", b'{"answer": "x"}'),
    "rubbish": (200, JSON, b'{"answer": "x"'),
    "nan": (200, JSON, b'{"answer": "x", "tokens": NaN}'),
    "latin": (200, JSON, b'{"answer": "caf\xe9"}'),
    "deep": (200, JSON, b"[" * 100_000),
    "shape": (200, JSON, b'{"answer": 5}'),
}
"""Replies that no client can use, by the question."""
memory: list[dict[str, str]] = []


def words(text: str) -> set[str]:
    return set(text.lower().replace("?", " ").replace(".", " ").split())


def found(query: str, k: int) -> list[dict[str, Any]]:
    hits = sorted(memory, key=lambda one: -len(words(query) & words(one["text"])))
    return [{"text": one["text"], "source_ids": [one["id"]], "score": 0.5} for one in hits[:k]]


def value_of(call: str, body: dict[str, Any]) -> Any:
    if call == "load":
        few = [name for name in CALLS if name in ("take_in", "ask")]
        can = few if FAULT == "few" else CALLS if FAULT == "plain" else [*CALLS, "dispositions", "texts_together"]
        return {"capabilities": can, "packages": {"server": body["parameters"]["version"]}}
    if call == "reset":
        memory.clear()
    if call == "take_in":
        memory.extend({"text": turn["content"], "id": turn["turn_id"]} for turn in body["session"]["turns"])
    if call == "settle":
        return body["timeout"] > 0
    if call in ("ask", "reflect"):
        items = found(body.get("question") or body["query"], 1)
        return {"answer": items[0]["text"] if items else "", "context": "c", "items": items, "tokens": 12}
    if call in ("search", "recall"):
        return {"items": found(body["query"], body["k"])}
    if call == "retain":
        memory.append({"text": body["content"], "id": body.get("source_id", "none")})
    if call == "forget":
        gone = [one for one in memory if one["id"] in body["ids"]]
        memory[:] = [one for one in memory if one not in gone]
        return {"forgotten": len(gone)}
    if call == "export":
        return {"items": [{"text": one["text"], "source_ids": [one["id"]]} for one in memory]}
    if call == "usage":
        return {"prompt_tokens": 3}
    return None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def send(self, status: int, kind: str | None, data: bytes, length: int | None = None) -> None:
        self.send_response(status)
        if kind:
            self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data) if length is None else length))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        print("asked for its health", flush=True)
        ready = FAULT != "never" and time.monotonic() - BORN > 0.05
        self.send(200 if self.path == "/v1/healthz" and ready else 503, "text/plain", b"")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        call = self.path.removeprefix("/v1/")
        with NOTES.open("a") as notes:
            headers = {name.lower(): value for name, value in self.headers.items()}
            notes.write(json.dumps({"call": call, "body": body, "headers": headers, "pid": os.getpid()}) + "\n")
        fault = body.get("question", "").partition(" ")[0] if call == "ask" else ""
        if fault in WRONG:
            self.send(*WRONG[fault])
        elif fault == "cut":
            self.send(200, JSON, b'{"answer": ', 5000)
            self.close_connection = True
        elif fault == "goodbye":
            self.send(200, JSON, b'{"answer": "closing"}')
            self.close_connection = True
        elif fault == "raise":
            raise KeyError("index")
        elif fault == "bare":
            traceback.print_exception(ValueError("no index"))
            self.send(500, "text/plain", b"Internal Server Error")
        elif fault == "silence":
            self.close_connection = True
        elif fault in ("flood", "drip"):
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b"100000\r\n" + b"x" * 0x100000 + b"\r\n" if fault == "flood" else b"1\r\nx\r\n")
                    time.sleep(0 if fault == "flood" else 0.01)
            except OSError:
                self.close_connection = True
        elif fault == "die":
            print("out of memory", flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        else:
            value = value_of(call, body)
            self.send(200, "application/json; charset=utf-8", json.dumps(value, ensure_ascii=False).encode())


if FAULT == "at once":
    print("no licence\nno luck", file=sys.stderr)
    sys.exit(3)
if FAULT == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if FAULT == "taken" and not NOTES.exists():
    NOTES.touch()
    print("OSError: [Errno 98] Address already in use", flush=True)
    sys.exit(1)
print(f"listening at {PORT}, told {os.environ['PORT']}", flush=True)
threading.Thread(target=ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever).start()
