"""The driver for jeffs-brain daemons: one brain per scenario, one document per session, ``/search`` and ``/ask``.

The API is that of the daemons of github.com/jeffs-brain/memory. There are three, and their dialects differ.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
import uuid
from urllib.parse import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from memeval.systems.drivers import brain as daemon
    from memeval.systems.drivers.printed import DriverFailed
    from memeval.systems.drivers.serving import ServerProcess, base_url, bearer
    from memeval.systems.drivers.web import HttpReply, HttpServer, WebFailed, trouble, unreachable
else:
    import brain as daemon
    from serving import ServerProcess, base_url, bearer
    from web import HttpServer, WebFailed, trouble, unreachable

FILTERED_ITEMS = 50
"""The fewest items to request for a filtered search: daemons ignore filters, so the driver applies them."""

TRIES = 3
PAUSE_SECONDS = 0.2
"""How often a repeatable request is sent, and the wait before the second attempt, which then doubles."""

PROBE_SECONDS = 10.0
"""How long a new daemon may take until it finds two documents."""

CHECK_SECONDS = 0.05

PROBES = (
    ("The lighthouse at Kerrow Point was painted vermilion.", "Which colour has the lighthouse at Kerrow?"),
    ("Ottoline keeps three tortoises in the orangery.", "How many tortoises has Ottoline?"),
)
"""What a new daemon must find: a text, and a question in other words."""


class JeffsBrain:
    """A daemon as an adapter.

    Args:
        command: starts the daemon; empty if it already runs.
        endpoint_variable: the variable with the address of a daemon that already runs.
        parameters: the submission's own; see ``brain.DEFAULTS``.

    Raises:
        DaemonFailed: a parameter is invalid, or the daemon does not find its own documents.
        ServerFailed: the daemon does not start.
    """

    def __init__(
        self,
        command: Sequence[str],
        folder: str,
        start_seconds: float,
        endpoint_variable: str | None = None,
        endpoint_path: str = "",
        key_variable: str | None = None,
        parameters: Mapping[str, Any] = {},
    ) -> None:
        self._set = daemon.checked(parameters)
        self._server: ServerProcess | None = None
        self._brains: dict[str, daemon.BrainDocuments] = {}
        self._used: dict[str, int] = {}
        self._traced = True
        if command:
            daemon.prepare_environment(self._set)
            self._server = ServerProcess(command, folder, start_seconds, "/healthz")
        try:
            headers = {**bearer(key_variable), "User-Agent": "memeval"}
            self._web = HttpServer(base_url(self._server, endpoint_variable, endpoint_path), headers)
            self._probe()
        except BaseException:
            self.close()
            raise
        self.query = self._query if self._set["scenario"] == "ask" else None
        """Asks a question; ``None`` if memeval's reader answers instead of the daemon."""

    def reset(self) -> None:
        for bank in list(self._brains):
            self._drop(bank)
        self._used.clear()
        self._brain(None)

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        """Store a session as one document, or several if it is long; each turn has its time and speaker."""
        lines = [f"[{timestamp}] {turn.get('speaker') or turn['role']}: {turn['content']}" for turn in session["turns"]]
        name = session["session_id"]
        self._put(self._brain(None), daemon.place_of("raw/lme", name, None), "\n".join(lines), name, timestamp)

    def retain(
        self,
        content: str,
        source_id: str | None = None,
        bank: str | None = None,
        timestamp: str | None = None,
        tags: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Store a text as a document, at the path in its metadata; each bank is a separate brain."""
        brain = self._brain(bank)
        name = source_id or f"text-{len(brain.documents) + 1}"
        self._put(brain, daemon.place_of("raw/texts", name, metadata), content, name, timestamp, tags)

    def settle(self, timeout: float) -> bool:
        """Wait until the daemon finds a document that was stored after all others; return whether it does."""
        deadline = time.monotonic() + timeout
        for brain in self._brains.values():
            if brain.settled:
                continue
            word = f"settled{uuid.uuid4().hex[:12]}"
            path = document_path(brain, f"raw/probe/{word}.md")
            self._exchange("PUT", path, word.encode("ascii"), "text/markdown")
            while not any(word in daemon.chunk_path(chunk) for chunk in self._found(brain, word, 10)):
                if time.monotonic() > deadline:
                    return False
                time.sleep(CHECK_SECONDS)
            self._exchange("DELETE", path, missing_is_fine=True)
            brain.settled = True
        return True

    def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        brain = self._brain(None)
        return [daemon.item_of(brain, chunk) for chunk in self._found(brain, query, k, timestamp)]

    def recall(
        self,
        query: str,
        k: int = 10,
        bank: str | None = None,
        timestamp: str = "now",
        tags: Sequence[str] = (),
        since: str | None = None,
        until: str | None = None,
    ) -> list[dict[str, Any]]:
        """Return the ``k`` best documents of a bank with one of the tags, between the two times."""
        brain = self._brain(bank)

        def fits(chunk: Mapping[str, Any]) -> bool:
            document = brain.documents.get(daemon.chunk_path(chunk)) or daemon.Document("", None, ())
            if tags and not document.tags.intersection(tags):
                return False
            if since is None and until is None:
                return True
            at = document.timestamp
            return at is not None and (since is None or since <= at) and (until is None or at < until)

        filtered = bool(tags) or since is not None or until is not None
        chunks = self._found(brain, query, max(4 * k, FILTERED_ITEMS) if filtered else k, timestamp)
        return [daemon.item_of(brain, chunk) for chunk in chunks if not filtered or fits(chunk)][:k]

    def forget(self, ids: Sequence[str] | None = None, bank: str | None = None, query: str | None = None) -> int:
        """Delete the documents with some ids, or all of a bank; return how many were deleted.

        Raises DaemonFailed: a query is given.
        """
        if query is not None:
            raise daemon.DaemonFailed("The daemon cannot forget by a query. It deletes documents by their ids.")
        brain = self._brain(bank)
        if ids is None:
            forgotten = len(brain.documents)
            self._drop(bank)
            return forgotten
        paths = [path for path, document in brain.documents.items() if document.source_id in set(ids)]
        for path in paths:
            self._exchange("DELETE", document_path(brain, path), missing_is_fine=True)
            del brain.documents[path]
        return len(paths)

    def _query(self, question: str, timestamp: str = "now") -> dict[str, Any]:
        """Return the daemon's answer, with the items that it is based on."""
        brain = self._brain(None)
        body = {"question": question, "topK": self._set["top_k"], "readerMode": self._set["reader_mode"]}
        answer = daemon.StreamedAnswer()
        path = f"/v1/brains/{brain.name}/ask"
        try:
            with self._web.open(
                "POST", path, as_json({**body, **self._options(timestamp)}), {"Content-Type": "application/json"}
            ) as response:
                if response.status != 200:
                    raise refusal("ask", self._web.whole(response))
                if response.headers.get_content_type() != "text/event-stream":
                    raise daemon.DaemonFailed(
                        "The daemon's reply to ask is not an event stream. Send 'text/event-stream'."
                    )
                for event in self._web.events(response):
                    if answer.take(event.name, event.data):
                        break
        except WebFailed as error:
            raise self._broken("POST ask", error, answer.partial()) from None
        text = answer.text()
        for name, count in answer.usage.items():
            self._used[name] = self._used.get(name, 0) + count
        items = [daemon.item_of(brain, chunk) for chunk in answer.retrieved or answer.cited]
        return {"answer": text, "context": "\n\n".join(item["text"] for item in items), "items": items}

    def usage(self) -> dict[str, int]:
        return dict(self._used)

    def versions(self) -> dict[str, str]:
        with contextlib.suppress(WebFailed):
            reply = self._web.ask("GET", "/version")
            about = reply.json() if reply.status == 200 else None
            if isinstance(about, dict) and isinstance(about.get("version"), str):
                return {"jeffs-brain-daemon": about["version"]}
        return {}

    def close(self) -> None:
        """End a daemon that was started here; at any other, delete the brains."""
        if self._server is not None:
            self._server.end()
            return
        for bank in list(self._brains):
            self._drop(bank)

    def _probe(self) -> None:
        """Check that the daemon finds its own documents."""
        deadline = time.monotonic() + PROBE_SECONDS
        brain = self._brain("the probe of memeval")
        for number, (text, _) in enumerate(PROBES):
            self._put(brain, f"raw/lme/probe-{number}", text, f"probe-{number}", "2025-01-02")
        for text, question in PROBES:
            while True:
                found = self._found(brain, question, 2)
                if any(text in str(chunk.get("text")) for chunk in found):
                    break
                if time.monotonic() > deadline:
                    raise daemon.DaemonFailed(
                        f"The daemon is not ready: its search for {question!r} does not find the document {text!r}. "
                        f"It found {len(found)} others. Check its search index."
                    )
                time.sleep(CHECK_SECONDS)
        self._drop("the probe of memeval")

    def _brain(self, bank: str | None) -> daemon.BrainDocuments:
        name = bank or ""
        if name not in self._brains:
            brain = daemon.BrainDocuments()
            self._exchange("POST", "/v1/brains", as_json({"brainId": brain.name}))
            self._brains[name] = brain
        return self._brains[name]

    def _drop(self, bank: str | None) -> None:
        """Delete the brain of a bank. If the daemon closes the connection, check that the brain is gone."""
        brain = self._brains[bank or ""]
        path = f"/v1/brains/{brain.name}"
        try:
            reply = self._send("DELETE", path, None, {"X-Confirm-Delete": "yes"})
        except daemon.DaemonFailed:
            if self._send("GET", path).status != 404:
                raise
        else:
            if reply.status != 404 and not reply.status < 300:
                raise refusal("DELETE brain", reply)
        del self._brains[bank or ""]

    def _put(
        self,
        brain: daemon.BrainDocuments,
        place: str,
        text: str,
        source_id: str,
        timestamp: str | None,
        tags: Sequence[str] = (),
    ) -> None:
        """Store a text as one document, or several if it is long; the same place again replaces it."""
        for path, data in daemon.files_of(place, text, source_id, timestamp, tags):
            self._exchange("PUT", document_path(brain, path), data, "text/markdown")
            brain.documents[path] = daemon.Document(source_id, timestamp, tags)
        brain.settled = False

    def _found(self, brain: daemon.BrainDocuments, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        """Return at most ``k`` chunks that a search finds."""
        body = {"query": query, "topK": k, **self._options(timestamp)}
        found = self._exchange("POST", f"/v1/brains/{brain.name}/search", as_json(body)).json()
        if not isinstance(found, dict):
            raise daemon.DaemonFailed("The daemon's reply to search is not a JSON object.")
        if self._traced and "trace" not in found:
            self._traced = False
            line = "The daemon's search returns no trace: it may have used a simpler search."
            print(line, file=sys.stderr, flush=True)
        return daemon.chunks_of(found)[:k]

    def _options(self, timestamp: str) -> dict[str, Any]:
        options: dict[str, Any] = {"mode": self._set["mode"]}
        for name, key in (("candidate_k", "candidateK"), ("rerank_top_n", "rerankTopN")):
            if self._set[name]:
                options[key] = self._set[name]
        if timestamp != "now":
            options["questionDate"] = timestamp
        return options

    def _exchange(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        content_type: str = "application/json",
        missing_is_fine: bool = False,
    ) -> HttpReply:
        reply = self._send(method, path, body, {} if body is None else {"Content-Type": content_type})
        if reply.status >= 300 and not (missing_is_fine and reply.status == 404):
            raise refusal(call_of(method, path), reply)
        return reply

    def _send(self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] = {}) -> HttpReply:
        """Send a request, repeatedly if that is safe, and return the reply with any status.

        Raises DaemonFailed: there is no reply.
        """
        tries = 1 if method == "POST" else TRIES
        for number in range(tries):
            last = number == tries - 1
            try:
                reply = self._web.ask(method, path, body, headers)
                if reply.status not in (429, 502, 503, 504) or last:
                    return reply
            except WebFailed as error:
                if last or (self._server is not None and not self._server.alive):
                    raise self._broken(call_of(method, path), error) from None
            time.sleep(PAUSE_SECONDS * 2**number)
        raise AssertionError

    def _broken(self, call: str, error: WebFailed, partial: str = "") -> DriverFailed:
        """Return the error for a call without a reply: the daemon has ended, or the connection failed."""
        died = self._server.died(call) if self._server is not None else None
        return died or daemon.DaemonFailed(f"{error}{partial}")


def document_path(brain: daemon.BrainDocuments, path: str) -> str:
    return f"/v1/brains/{brain.name}/documents?path={quote(path)}"


def as_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8")


def call_of(method: str, path: str) -> str:
    """Return the name of a request for messages: its method and the last part of its path."""
    return f"{method} {path.partition('?')[0].rpartition('/')[2]}"


def refusal(what: str, reply: HttpReply) -> daemon.DaemonFailed:
    if (cause := unreachable(reply.status, reply.body, "daemon")) is not None:
        return daemon.DaemonFailed(cause)
    reason = trouble(reply.body, reply.headers.get_content_type())
    head = f"The daemon answered {what} with status {reply.status}{f': {reason}' if reason else ''}."
    if reply.status == 404 and what == "POST brains":
        return daemon.DaemonFailed(
            f"{head} This server has no jeffs-brain API (POST /v1/brains). Correct 'kind' or 'endpoint'."
        )
    return daemon.DaemonFailed(head)
