"""Servers that play the vendors of hosted memories, as far as their real clients go: over HTTP, with asynchronous
indexing, the limits that the vendors name, and a key that is asked for.

They understand nothing: what is said becomes a memory word for word, and a search counts shared words.
"""

import json
import re
import threading
import uuid
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, ClassVar, Self
from urllib.parse import parse_qs, urlsplit

from tests.support.http_server import Call, serving

LOOKS = 2
"""How often something must be looked at until it is there."""


class Wrong(Exception):
    """What a vendor refuses."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


@dataclass
class Asked:
    method: str
    path: str
    query: dict[str, str]
    many: dict[str, list[str]]
    body: Any
    headers: dict[str, str]


@dataclass
class Memory:
    text: str
    at: str
    more: dict[str, Any] = field(default_factory=dict)
    key: str = field(default_factory=lambda: str(uuid.uuid4()))
    ready: bool = False

    def told(self, text: str, at: str) -> dict[str, Any]:
        """Return it under a vendor's names."""
        return {"id": self.key, text: self.text, at: self.at}

    def shared(self, query: str) -> int:
        return len(words(self.text) & words(query))


class Vendor:
    """A vendor's server; use it as a context manager.

    Args:
        key: the only key that it takes.

    Attributes:
        asked: every request that carried the key.
        spaces: what is kept, by user, graph or agent.
        failing: whether nothing that is added from now on is ever taken in.
    """

    scheme: ClassVar[str]
    routes: ClassVar[tuple[tuple[str, str, str], ...]]
    """Method, pattern of the path, and the name of what answers."""

    def __init__(self, key: str) -> None:
        self.asked: list[Asked] = []
        self.spaces: dict[str, list[Memory]] = {}
        self.deleted: list[str] = []
        self.failing = False
        self._looks: dict[str, int] = {}
        self._guard = threading.Lock()
        self._key = key
        self._running = ExitStack()

    def __enter__(self) -> Self:
        self.url = self._running.enter_context(serving(self._reply))
        return self

    def __exit__(self, *_error: object) -> None:
        self._running.close()

    def _reply(self, call: Call) -> None:
        try:
            status, told = 200, self._answer(call)
        except Wrong as wrong:
            status, told = wrong.status, {"detail": wrong.sentence, "message": wrong.sentence}
        call.reply(status, json.dumps(told).encode(), {"Content-Type": "application/json"})

    def _answer(self, call: Call) -> Any:
        data = call.body()
        if call.headers.get("Authorization") != f"{self.scheme} {self._key}":
            raise Wrong(401, "Invalid key.")
        parts = urlsplit(call.path)
        many = parse_qs(parts.query)
        asked = Asked(
            call.command,
            parts.path,
            {name: values[-1] for name, values in many.items()},
            many,
            json.loads(data) if data else None,
            dict(call.headers.items()),
        )
        with self._guard:
            self.asked.append(asked)
            for method, pattern, name in self.routes:
                if method == call.command and (found := re.fullmatch(pattern, parts.path)):
                    answer: Callable[..., Any] = getattr(self, name)
                    return answer(asked, *found.groups())
        raise Wrong(404, "There is nothing there.")

    def space(self, name: str) -> list[Memory]:
        """Return what is kept in a space. Raises ``Wrong`` if there is none."""
        if name not in self.spaces:
            raise Wrong(404, f"There is no {name}.")
        return self.spaces[name]

    def drop(self, name: str) -> None:
        self.spaces.pop(name, None)
        self.deleted.append(name)

    def looked_at(self, thing: str) -> bool:
        """Count a look at something; return whether it has been looked at often enough to be there."""
        self._looks[thing] = self._looks.get(thing, 0) + 1
        return self._looks[thing] > LOOKS

    def found(self, memories: list[Memory], query: str, most: int) -> list[Memory]:
        """Return the memories that are indexed and share words with a query, best first."""
        good = [each for each in memories if each.ready and each.shared(query)]
        return sorted(good, key=lambda each: -each.shared(query))[:most]


class Mem0Server(Vendor):
    """Mem0's platform: messages in, events to be polled, searches by filters."""

    scheme = "Token"
    routes = (
        ("GET", r"/v1/ping/", "ping"),
        ("POST", r"/v3/memories/add/", "add"),
        ("GET", r"/v1/event/([^/]+)/", "event"),
        ("POST", r"/v3/memories/search/", "search"),
        ("DELETE", r"/v1/memories/", "delete"),
    )

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.events: dict[str, list[Memory]] = {}

    def ping(self, asked: Asked) -> Any:
        return {"status": "ok", "org_id": "org", "project_id": "project", "user_email": "somebody@example.com"}

    def add(self, asked: Asked) -> Any:
        body = asked.body
        if not body.get("user_id") or not body.get("messages"):
            raise Wrong(400, "An entity id and messages are required.")
        if type(body.get("timestamp")) is not int:
            raise Wrong(400, "timestamp is no Unix time in seconds.")
        at = datetime.fromtimestamp(body["timestamp"], UTC).isoformat()
        made = [
            Memory(each["content"], at, {"role": each["role"], "metadata": body.get("metadata")})
            for each in body["messages"]
        ]
        self.spaces.setdefault(body["user_id"], []).extend(made)
        event = str(uuid.uuid4())
        self.events[event] = made
        return {"message": "Memory processing has been queued.", "status": "PENDING", "event_id": event}

    def event(self, asked: Asked, event: str) -> Any:
        if not self.looked_at(event):
            return {"id": event, "status": "RUNNING"}
        if self.failing:
            return {"id": event, "status": "FAILED"}
        for each in self.events[event]:
            each.ready = True
        return {"id": event, "status": "SUCCEEDED"}

    def search(self, asked: Asked) -> Any:
        body = asked.body
        if not body.get("filters", {}).get("user_id"):
            raise Wrong(400, "filters need an entity id.")
        found = self.found(self.spaces.get(body["filters"]["user_id"], []), body["query"], body.get("top_k", 10))
        scored = [each.told("memory", "created_at") | {"metadata": each.more["metadata"]} for each in found]
        return {"results": [{"score": 0.5, **each} for each in scored]}

    def delete(self, asked: Asked) -> Any:
        if not asked.query.get("user_id"):
            raise Wrong(400, "An entity id is required.")
        self.drop(asked.query["user_id"])
        return {"message": "Memories deleted successfully!"}


class ZepServer(Vendor):
    """Zep's graphs: episodes in, one task after another, searches for edges."""

    scheme = "Api-Key"
    routes = (
        ("POST", r"/api/v4/graphs", "create"),
        ("DELETE", r"/api/v4/graphs/([^/]+)", "delete"),
        ("POST", r"/api/v4/graphs/([^/]+)/episodes", "add"),
        ("GET", r"/api/v4/tasks/([^/]+)", "task"),
        ("POST", r"/api/v4/graphs/([^/]+)/search/edges", "search"),
    )

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.tasks: dict[str, Memory] = {}

    def create(self, asked: Asked) -> Any:
        name = str(uuid.uuid4())
        self.spaces[name] = []
        return {"uuid": name, "name": asked.body["name"], "type": "standard"}

    def delete(self, asked: Asked, graph: str) -> Any:
        self.space(graph)
        self.drop(graph)
        return {"task": {"uuid": str(uuid.uuid4()), "status": "pending"}}

    def add(self, asked: Asked, graph: str) -> Any:
        body = asked.body
        if len(body["data"]) > 10_000:
            raise Wrong(400, "data is longer than 10,000 characters.")
        if body["type"] != "message" or not re.match(r"[^:\n]+ \([a-z]+\): ", body["data"]):
            raise Wrong(400, "A message names its speaker.")
        if datetime.fromisoformat(body["reference_time"]).tzinfo is None:
            raise Wrong(400, "reference_time is no RFC 3339 time.")
        made = Memory(body["data"], body["reference_time"])
        self.space(graph).append(made)
        task = str(uuid.uuid4())
        self.tasks[task] = made
        return {"episode": {"uuid": made.key, "processed": False}, "task": {"uuid": task, "status": "pending"}}

    def task(self, asked: Asked, task: str) -> Any:
        if not self.looked_at(task):
            return {"uuid": task, "status": "processing"}
        if self.failing:
            return {"uuid": task, "status": "failed", "error": {"message": "Extraction failed."}}
        self.tasks[task].ready = True
        return {"uuid": task, "status": "succeeded"}

    def search(self, asked: Asked, graph: str) -> Any:
        if len(asked.body["query"]) > 400:
            raise Wrong(400, "query is longer than 400 characters.")
        size = int(asked.query["page_size"])
        if not 1 <= size <= 50:
            raise Wrong(400, "page_size is not between 1 and 50.")
        found = self.found(self.space(graph), asked.body["query"], size)
        return {
            "items": [
                {"uuid": f"edge-{each.key}", "fact": each.text, "valid_at": each.at, "episode_uuids": [each.key]}
                for each in found
            ]
        }


class LettaServer(Vendor):
    """Letta's agents: passages of an archival memory in, which can be found a little later."""

    scheme = "Bearer"
    routes = (
        ("POST", r"/v1/agents/", "create"),
        ("DELETE", r"/v1/agents/([^/]+)", "delete"),
        ("POST", r"/v1/agents/([^/]+)/archival-memory", "add"),
        ("GET", r"/v1/agents/([^/]+)/archival-memory/search", "search"),
    )

    def create(self, asked: Asked) -> Any:
        if not asked.body.get("model") or not asked.body.get("embedding"):
            raise Wrong(422, "An agent has a model and an embedding model.")
        name = f"agent-{uuid.uuid4()}"
        self.spaces[name] = []
        return {"id": name, "name": asked.body["name"]}

    def delete(self, asked: Asked, agent: str) -> Any:
        self.space(agent)
        self.drop(agent)
        return None

    def add(self, asked: Asked, agent: str) -> Any:
        body = asked.body
        if len(body["text"]) > 30_000:
            raise Wrong(400, "The text is longer than the embedding model reads.")
        at = datetime.fromisoformat(body["created_at"])
        made = Memory(body["text"], at.isoformat(), {"tags": body.get("tags")}, f"passage-{uuid.uuid4()}")
        self.space(agent).append(made)
        return [{"id": made.key, "text": made.text, "created_at": made.at, "tags": body.get("tags")}]

    def search(self, asked: Asked, agent: str) -> Any:
        memories = self.space(agent)
        if self.looked_at(f"{agent} {len(memories)}") and not self.failing:
            for each in memories:
                each.ready = True
        tags = set(asked.many.get("tags", []) + asked.many.get("tags[]", []))
        fitting = [each for each in memories if not tags or tags & set(each.more["tags"])]
        found = self.found(fitting, asked.query["query"], int(asked.query.get("top_k", 10)))
        results = [each.told("content", "timestamp") | {"tags": each.more["tags"]} for each in found]
        return {"count": len(found), "results": results}


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))
