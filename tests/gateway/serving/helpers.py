"""A server for systems in front of a real upstream, and plain HTTP to it."""

import http.client
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from memeval.gateway.endpoints import Endpoint
from memeval.gateway.record import CallRecord
from memeval.gateway.serving import ModelEndpoint, ModelServer
from memeval.records.call import Call
from tests.support.model_server import ModelServer as Upstream

KEY = "sk-real-key-that-no-system-may-see"
MODELS = ("small", "large", "vectors")


class UpstreamWithTools(Upstream):
    """Calls the first tool it is given with the arguments that ``arguments`` holds."""

    arguments = '{"city": "Ü"}'
    finish = "stop"

    def _good(self, body: dict[str, Any], path: str, text: str | None) -> dict[str, Any]:
        reply = super()._good(body, path, text)
        if path.endswith("embeddings"):
            return reply
        choice = reply["choices"][0]
        choice["finish_reason"] = self.finish
        if body.get("tools"):
            name = body["tools"][0]["function"]["name"]
            call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": self.arguments}}
            choice["message"] = {"role": "assistant", "content": None, "tool_calls": [call]}
            choice["finish_reason"] = "tool_calls"
        reply["choices"] += [{**choice, "index": place} for place in range(1, body.get("n", 1))]
        return reply


class Answer(NamedTuple):
    """What came back over HTTP."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def events(self) -> list[Any]:
        """The data of server-sent events."""
        return [json.loads(line[6:]) for line in self.text.splitlines() if line.startswith("data: {")]

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.text.splitlines()]


@dataclass
class Rig:
    """A server for systems, with all that is around it."""

    upstream: UpstreamWithTools
    own: CallRecord
    endpoint: ModelEndpoint
    server: ModelServer
    logged: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def calls(self) -> list[Call]:
        return list(self.own.rows())

    def post(self, path: str, body: Any, endpoint: ModelEndpoint | None = None) -> Answer:
        """Post JSON, or bytes as they are, with the endpoint's token."""
        return send((endpoint or self.endpoint), "POST", path, body)


Open = Callable[..., Rig]
"""Opens a rig; see the fixture ``rig``."""


def send(
    endpoint: ModelEndpoint, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
) -> Answer:
    """Send a request on a connection of its own."""
    parts = urlsplit(endpoint.environment["ANTHROPIC_BASE_URL"])
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
    try:
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        given = {"Authorization": f"Bearer {endpoint.token}"} if headers is None else headers
        connection.request(method, path, data, given)
        response = connection.getresponse()
        return Answer(response.status, dict(response.getheaders()), response.read().decode())
    finally:
        connection.close()


def endpoint_to(upstream: Upstream) -> Endpoint:
    return Endpoint(upstream.url, KEY)
