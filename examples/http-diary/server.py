"""A small memory behind HTTP: a diary in one file that is searched by rare words. Only the standard library."""

from __future__ import annotations

import json
import math
import os
import re
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

DIARY = Path("diary.jsonl")


def lines() -> list[dict[str, Any]]:
    return [json.loads(line) for line in DIARY.read_text("utf-8").splitlines()] if DIARY.exists() else []


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def reset() -> None:
    DIARY.unlink(missing_ok=True)


def take_in(session: dict[str, Any], timestamp: str) -> None:
    with DIARY.open("a", encoding="utf-8") as diary:
        for turn in session["turns"]:
            text = f"[{timestamp}] {turn.get('speaker') or turn['role']}: {turn['content']}"
            diary.write(json.dumps({"text": text, "turn": turn["turn_id"]}) + "\n")


def search(query: str, k: int, timestamp: str | None = None) -> dict[str, Any]:
    told = lines()
    seen = Counter(word for line in told for word in set(words(line["text"])))
    asked = set(words(query))

    def score(line: dict[str, Any]) -> float:
        return sum(math.log(1 + len(told) / seen[word]) for word in asked & set(words(line["text"])))

    best = sorted(told, key=lambda line: -score(line))[:k]
    return {"items": [{"text": one["text"], "source_ids": [one["turn"]], "score": score(one)} for one in best]}


CALLS = {"reset": reset, "take_in": take_in, "search": search}


class Diary(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.answer(200 if self.path == "/healthz" else 404, {})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or "{}")
        call = self.path.lstrip("/")
        if call == "load":
            self.answer(200, {"capabilities": list(CALLS), "packages": {"diary": "0.1.0"}})
        elif call in CALLS:
            self.answer(200, CALLS[call](**body))
        else:
            self.answer(404, {"detail": f"no call {call}"})

    def answer(self, status: int, value: Any) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing for a call."""


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Diary).serve_forever()
