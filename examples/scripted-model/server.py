"""A scripted stand-in for a language model: an OpenAI-compatible server that copies out what it was told.

It understands nothing. It takes the dated statements out of the last message and gives them back in the form that it
was asked for, and its embeddings are counts of words. The same request always gets the same reply. Standard library
only; it listens on this machine alone and needs no key.

    python server.py --port 8099
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections import Counter
from contextlib import suppress
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MOST_BYTES = 10_000_000
"""The largest request that is read."""

DIMENSIONS = 256
"""Length of an embedding, where the request names none."""

STATEMENT = re.compile(r"\[\d{4}-\d\d-\d\d[^\]\n]*\] [^:\n]{1,60}: [^\n]*")
"""A dated statement: ``[2024-02-01] Ana: I moved to Porto.``"""

SECTION = re.compile(r"^## New Messages\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
"""Where a prompt of mem0's has what is new; around it stands what is known already."""


class Refusal(Exception):
    """A request that is not answered; the text says why."""


def statements(messages: list[dict[str, Any]]) -> list[str]:
    """Return the dated statements of the last message, in order, without what is only asked."""
    text = str(messages[-1].get("content") or "")
    new = SECTION.search(text)
    found = (" ".join(line.split()) for line in STATEMENT.findall(new[1] if new else text))
    return [line for line in dict.fromkeys(found) if not line.endswith("?")]


def words(text: str) -> Counter[str]:
    """Return the words of a text, without their endings, and how often each occurs."""
    return Counter(re.sub(r"(ing|ed|es|s)$", "", word) for word in re.findall(r"\w\w\w+", text.lower()))


def embedding(text: str, dimensions: int) -> list[float]:
    """Return how often each word occurs, each at a place and with a sign drawn from its hash, scaled to length 1."""
    vector = [0.0] * dimensions
    for word, count in words(text).items():
        drawn = int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "big")
        vector[(drawn >> 1) % dimensions] += count if drawn & 1 else -count
    length = math.sqrt(sum(number * number for number in vector))
    return [round(number / length, 6) if number else 0.0 for number in vector]


def embeddings(asked: dict[str, Any]) -> dict[str, Any]:
    """Answer ``/v1/embeddings``."""
    texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
    if not all(isinstance(text, str) for text in texts):
        raise Refusal("'input' holds something that is no text: tokens are not read here.")
    dimensions = asked.get("dimensions") or DIMENSIONS
    rows = [
        {"object": "embedding", "index": place, "embedding": embedding(text, dimensions)}
        for place, text in enumerate(texts)
    ]
    used = sum(map(len, map(str.split, texts)))
    usage = {"prompt_tokens": used, "total_tokens": used}
    return {"object": "list", "model": asked["model"], "data": rows, "usage": usage}


def completion(asked: dict[str, Any]) -> dict[str, Any]:
    """Answer ``/v1/chat/completions``: by calls of a tool, in JSON, or in words, as the request wants it."""
    if asked.get("stream"):
        raise Refusal("Streams are not served here.")
    facts = statements(asked["messages"])
    form = (asked.get("response_format") or {}).get("type", "text")
    message: dict[str, Any] = {"role": "assistant", "content": None}
    if tool := noting(asked.get("tools") or []):
        message["tool_calls"] = [
            {
                "id": f"call_{place}",
                "type": "function",
                "function": {"name": tool, "arguments": json.dumps({"content": fact})},
            }
            for place, fact in enumerate(facts)
        ]
    elif form == "json_object":
        memory = [{"id": str(place), "text": fact, "attributed_to": "user"} for place, fact in enumerate(facts)]
        message["content"] = json.dumps({"memory": memory}, ensure_ascii=False)
    elif form == "text":
        message["content"] = answer(asked["messages"], facts)
    else:
        raise Refusal(f"The response format '{form}' is not served here.")
    if not message.get("tool_calls", True):
        message = {"role": "assistant", "content": "There is nothing to note."}
    calls = "tool_calls" in message
    read, written = len(json.dumps(asked["messages"]).split()), len(json.dumps(message).split())
    return {
        "id": "scripted",
        "object": "chat.completion",
        "created": 0,
        "model": asked["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}],
        "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written},
    }


def noting(tools: list[dict[str, Any]]) -> str | None:
    """Return the first tool that notes something down: one with a parameter called ``content``."""
    for tool in tools:
        if "content" in tool["function"].get("parameters", {}).get("properties", {}):
            return str(tool["function"]["name"])
    return None


def answer(messages: list[dict[str, Any]], facts: list[str]) -> str:
    """Return the statement that shares most words with the last line, the latest of equals."""
    lines = str(messages[-1].get("content") or "").strip().splitlines()
    asked = words(lines[-1]) if lines else Counter()
    shared = [(sum((words(fact) & asked).values()), place) for place, fact in enumerate(facts)]
    most, place = max(shared, default=(0, 0))
    return facts[place] if most else "I don't know."


ANSWERS = {"/v1/chat/completions": completion, "/v1/embeddings": embeddings}


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 300

    def do_POST(self) -> None:
        """Answer a request, or say why not."""
        status = 200
        try:
            size = int(self.headers.get("Content-Length", ""))
            if size > MOST_BYTES:
                raise Refusal(f"The request is larger than {MOST_BYTES:,} bytes.")
            asked = json.loads(self.rfile.read(size))
            if self.path not in ANSWERS:
                raise Refusal(f"There is nothing here but {' and '.join(ANSWERS)}.")
            reply = ANSWERS[self.path](asked)
        except (Refusal, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            said = str(error) if isinstance(error, Refusal) else "The request is not in the form of the OpenAI API."
            status, reply = 400, {"error": {"message": said, "type": "invalid_request_error"}}
            self.close_connection = True
        body = json.dumps(reply, ensure_ascii=False).encode()
        head = f"HTTP/1.1 {status} {self.responses[status][0]}\r\nContent-Type: application/json\r\n"
        close = "Connection: close\r\n" if self.close_connection else ""
        self.wfile.write(f"{head}{close}Content-Length: {len(body)}\r\n\r\n".encode() + body)


class Server(ThreadingHTTPServer):
    """Answers many connections at once."""

    daemon_threads = True
    request_queue_size = 256


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description="A scripted stand-in for a language model.")
    parser.add_argument("--port", type=int, default=8099, help="port of 127.0.0.1; 0 for a free one")
    with Server(("127.0.0.1", parser.parse_args().port), Handler) as server:
        print(f"OPENAI_BASE_URL=http://127.0.0.1:{server.server_port}/v1", flush=True)
        with suppress(KeyboardInterrupt):
            server.serve_forever()


if __name__ == "__main__":
    main()
