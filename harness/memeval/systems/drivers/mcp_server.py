"""The driver for servers of the Model Context Protocol: it maps the calls of an adapter to tools."""

from __future__ import annotations

import json
import os
import re
import shutil

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from memeval.systems.drivers.mcp_client import McpClient, ToolFailed, ToolResult, is_wrong_argument
    from memeval.systems.drivers.mcp_wire import HttpTransport, McpFailed, StdioTransport
    from memeval.systems.drivers.printed import ServerDied
    from memeval.systems.drivers.serving import ServerProcess, base_url, bearer
    from memeval.systems.drivers.web import HttpServer
else:
    from mcp_client import McpClient, ToolFailed, is_wrong_argument
    from mcp_wire import HttpTransport, McpFailed, StdioTransport
    from printed import ServerDied
    from serving import ServerProcess, base_url, bearer
    from web import HttpServer

PATH = "/mcp"
"""The default path of servers over HTTP."""

CALLS = ("forget", "ingest_session", "query", "recall", "reflect", "reset", "retain", "search", "settle")

PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
PLACEHOLDERS = (
    *("bank", "content", "dispositions", "fact_type", "id", "k", "metadata", "query", "question", "role"),
    *("session_id", "since", "speaker", "tags", "timestamp", "until"),
)

TURN = re.compile(r":t\d+$")
"""The end of a turn's id; what is before it is the id of its session."""

TEXTS = ("text", "content", "memory", "fact", "summary", "value")
SOURCES = ("source_ids", "source_id", "session_id", "turn_id")


class McpServer:
    """An MCP server as an adapter.

    A server that is started here is restarted for each scenario, with an empty ``HOME``, unless a tool is mapped to
    ``reset``. If the arguments of ``retain`` lack the speaker or the time, they are put into the content.

    Args:
        command: starts the server; it speaks HTTP if an argument contains ``{port}``, else its standard streams.
            Empty if the server already runs.
        endpoint_variable: the variable with the address of a server that already runs.
        parameters: must be empty.
        tools: for each call the tool's ``name``, its ``arguments``, and ``result``: the path of the items or the answer
            in its structured result, as keys separated by dots. For ``retain`` and ``ingest_session`` also ``id``: the
            path of the id that the product gave to the text.

    Raises:
        McpFailed: the mapping is invalid, or the server does not follow the protocol.
        ServerFailed: the server does not start.
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
        tools: Mapping[str, Mapping[str, Any]] = {},
    ) -> None:
        if parameters:
            raise McpFailed(f"An MCP server takes no parameters. Remove {sorted(parameters)[0]!r} from [parameters].")
        check_mapping(tools, restarts=bool(command))
        self._command, self._folder, self._start_seconds = list(command), folder, start_seconds
        self._endpoint_variable, self._endpoint_path = endpoint_variable, endpoint_path
        self._key_variable = key_variable
        self._tools = tools
        self._home = os.environ["HOME"]
        self._starts = 0
        self._fresh = True
        self._client: McpClient | None = None
        self._needed: dict[str, list[str]] = {}
        """The arguments that the tool of each call needs."""
        self._given: dict[str, list[str | int]] = {}
        """The ids that the product gave to a text, by the id that memeval knows it by."""
        self._start()
        offered = {"reset", *tools} | ({"ingest_session"} if "retain" in tools else set())
        for call in CALLS:
            if call not in offered:
                vars(self)[call] = None  # the worker must not find it
        if "reflect" in tools and "dispositions" in self._named("reflect"):
            vars(self)["reflect"] = self.reflect_under  # this method accepts the keyword

    def reset(self) -> None:
        """Empty the memory, by its tool or by a restart of the server."""
        if "reset" in self._tools:
            self._call("reset", {})
        elif not self._fresh:
            self._start()
        self._fresh = True
        self._given.clear()

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        """Ingest a session: as a whole if there is a tool for that, else turn by turn."""
        name = session["session_id"]
        if "ingest_session" in self._tools:
            lines = (f"[{timestamp}] {speaker_of(turn)}: {turn['content']}" for turn in session["turns"])
            values = {"content": "\n".join(lines), "timestamp": timestamp, "session_id": name, "id": name}
            self._store("ingest_session", values)
            return
        named = self._named("retain")
        for turn in session["turns"]:
            content = turn["content"]
            if not named & {"speaker", "role"}:
                content = f"{speaker_of(turn)}: {content}"
            if "timestamp" not in named:
                content = f"[{timestamp}] {content}"
            who = {"role": turn["role"], "speaker": speaker_of(turn)}
            at = {"timestamp": timestamp, "session_id": name, "id": turn.get("turn_id") or name}
            self._store("retain", {"content": content, **who, **at})

    def retain(self, content: str, source_id: str | None = None, timestamp: str | None = None, **about: Any) -> None:
        if timestamp is not None and "timestamp" not in self._named("retain"):
            content = f"[{timestamp}] {content}"
        who = {"role": "user", "speaker": "user", "timestamp": timestamp, "session_id": source_id, "id": source_id}
        self._store("retain", {"content": content, **about, **who})

    def settle(self, timeout: float) -> bool:
        """Wait until the server has indexed everything; return false if its tool returns false."""
        return self._at("settle", self._call("settle", {})) is not False

    def search(self, query: str, k: int, timestamp: str | None = None) -> list[dict[str, Any]]:
        found = self._call("search", {"query": query, "question": query, "k": k, "timestamp": timestamp})
        return self._items("search", found)[:k]

    def recall(self, query: str, k: int = 10, **about: Any) -> list[dict[str, Any]]:
        found = self._call("recall", {"query": query, "question": query, "k": k, **about})
        return self._items("recall", found)[:k]

    def query(self, question: str, timestamp: str | None = None) -> str:
        return self._answer("query", {"query": question, "question": question, "timestamp": timestamp})

    def reflect(self, query: str, bank: str | None = None, timestamp: str | None = None) -> str:
        return self.reflect_under(query, bank=bank, timestamp=timestamp)

    def reflect_under(self, query: str, **about: Any) -> str:
        return self._answer("reflect", {"query": query, "question": query, **about})

    def forget(self, ids: Sequence[str] | None = None, bank: str | None = None, query: str | None = None) -> None:
        """Delete texts: one call per id, if there are ids. A text with ids of the product is deleted by these.

        Raises McpFailed: the tool has no argument for what selects the texts.
        """
        named = self._named("forget")
        for placeholder, given in (("id", ids), ("bank", bank), ("query", query)):
            if given is not None and placeholder not in named:
                raise McpFailed(f"[tools.forget] has no argument {{{placeholder}}}. Add it to 'arguments'.")
        if ids is None:
            self._call("forget", {"bank": bank, "query": query})
        for one in ids or ():
            for each in self._ids_of_product(one):
                self._call("forget", {"id": each, "bank": bank, "query": query})

    def _ids_of_product(self, one: str) -> list[str | int]:
        """Return the ids under which the product keeps a text, or the turns of a session, and forget them here."""
        if not any("id" in self._tools.get(call, {}) for call in ("retain", "ingest_session")):
            return [one]
        stored = [name for name in self._given if name == one or TURN.sub("", name) == one]
        return [each for name in stored for each in self._given.pop(name)]

    def versions(self) -> dict[str, str]:
        server = self._client.server if self._client is not None else {}
        name, version = server.get("name"), server.get("version")
        return {name: version} if isinstance(name, str) and name and isinstance(version, str) else {}

    def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.end()

    def _start(self) -> None:
        self.close()
        if self._command:
            if self._starts:
                shutil.rmtree(os.environ["HOME"], ignore_errors=True)
            self._starts += 1
            os.environ["HOME"] = f"{self._home}/server-{self._starts}"
            os.makedirs(os.environ["HOME"])  # noqa: PTH103
        wire = self._wire()
        try:
            client = McpClient(wire)
            self._needed = check_tools(self._tools, client.tools())
        except BaseException:
            wire.end()
            raise
        self._client = client

    def _wire(self) -> StdioTransport | HttpTransport:
        over_http = not self._command or any("{port}" in part for part in self._command)
        if not over_http:
            return StdioTransport(self._command, self._folder, self._start_seconds)
        server = ServerProcess(self._command, self._folder, self._start_seconds, None) if self._command else None
        base = base_url(server, self._endpoint_variable, "")
        web = HttpServer(base, {**bearer(self._key_variable), "User-Agent": "memeval"})
        return HttpTransport(web, self._endpoint_path or PATH, server)

    def _named(self, call: str) -> set[str]:
        return placeholders_in(self._tools[call].get("arguments", {}))

    def _store(self, call: str, values: Mapping[str, Any]) -> None:
        """Store a text, and keep the ids that the product gave to it."""
        result = self._call(call, values)
        path = self._tools[call].get("id")
        if path is None or values.get("id") is None:
            return
        found = self._at(call, result, "id")
        ids = found if isinstance(found, list) else [found]
        if not ids or not all(isinstance(one, (str, int)) and not isinstance(one, bool) for one in ids):
            raise McpFailed(
                f"In the result of the tool {self._tools[call]['name']!r}, {path!r} is {str(found)[:80]!r}, not an id. "
                f"Correct 'id' in [tools.{call}]."
            )
        self._given.setdefault(values["id"], []).extend(ids)

    def _call(self, call: str, values: Mapping[str, Any]) -> ToolResult:
        if self._client is None:
            raise ServerDied("The server is not running.")
        self._fresh = False
        tool = self._tools[call]
        arguments: dict[str, Any] = filled(tool.get("arguments", {}), values)
        for name in self._needed.get(call, ()):
            if name not in arguments:
                empty = tool["arguments"][name]
                raise McpFailed(
                    f"The tool {tool['name']!r} needs the argument {name!r}, but {empty} has no value in this call. "
                    f"Put it into a text, such as 'at {empty}', or pass something else. {_correct(call)}"
                )
        try:
            return self._client.call(tool["name"], arguments)
        except ToolFailed as error:
            if not is_wrong_argument(str(error), tool["name"], arguments):
                raise
            raise McpFailed(f"{error} Correct 'arguments' in [tools.{call}].") from None

    def _at(self, call: str, result: ToolResult, field: str = "result") -> Any:
        """Return the value of a result at the path in a field of the mapping; without a path, the whole result.

        A path is keys and places in lists, separated by dots. Raises McpFailed: there is no such path.
        """
        value, path = structured(result), self._tools[call].get(field)
        for key in path.split(".") if path is not None else ():
            if isinstance(value, str):
                value = parsed(value)
            if isinstance(value, dict) and key in value:
                value = value[key]
            elif isinstance(value, list) and key.isdigit() and int(key) < len(value):
                value = value[int(key)]
            else:
                raise McpFailed(
                    f"The result of the tool {self._tools[call]['name']!r} has no {path!r}. {shape_of(result)} "
                    f"Correct '{field}' in [tools.{call}]."
                )
        return value

    def _items(self, call: str, result: ToolResult) -> list[dict[str, Any]]:
        """Return the items of a result: the list at the mapping's path, else its texts."""
        if self._tools[call].get("result") is None:
            return [{"text": text} for text in result.texts]
        found = self._at(call, result)
        if isinstance(found, str):
            found = parsed(found)
        if not isinstance(found, list):
            raise McpFailed(
                f"{self._tools[call]['result']!r} is not a list in the result of the tool "
                f"{self._tools[call]['name']!r}. {shape_of(result)} Correct 'result' in [tools.{call}]."
            )
        ours = {str(one): name for name, given in self._given.items() for one in given}
        return [as_item(one, ours) for one in found]

    def _answer(self, call: str, values: Mapping[str, Any]) -> str:
        result = self._call(call, values)
        if self._tools[call].get("result") is None:
            return "\n".join(result.texts)
        answer = self._at(call, result)
        return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)


def check_mapping(tools: Mapping[str, Mapping[str, Any]], *, restarts: bool) -> None:
    """Check the placeholders of a mapping, and that the memory can be emptied.

    ``restarts``: whether the server can be restarted.
    """
    for call, tool in tools.items():
        for argument, value in tool.get("arguments", {}).items():
            if unknown := placeholders_in(value).difference(PLACEHOLDERS):
                raise McpFailed(
                    f"[tools.{call}]: unknown placeholder {{{min(unknown)}}} in the argument {argument!r}. "
                    f"Known are {', '.join(f'{{{name}}}' for name in PLACEHOLDERS)}."
                )
    if not restarts and "reset" not in tools:
        raise McpFailed("memeval cannot restart a server at an 'endpoint'. Name a tool that clears it: [tools.reset].")


def check_tools(
    tools: Mapping[str, Mapping[str, Any]], offered: Mapping[str, Mapping[str, Any]]
) -> dict[str, list[str]]:
    """Check that the server has the tools, and that they take the arguments.

    ``offered``: the schema of the arguments of each tool of the server. Returns the arguments that each call's tool
    needs, as far as its schema says.
    """
    needed_by: dict[str, list[str]] = {}
    for call, tool in tools.items():
        name, arguments = tool["name"], tool.get("arguments", {})
        if name not in offered:
            has = f"It has: {', '.join(offered)}." if offered else "It has none."
            raise McpFailed(f"The server has no tool {name!r}. {has} Correct 'name' in [tools.{call}].")
        known = offered[name].get("properties")
        if not isinstance(known, dict) or offered[name].get("additionalProperties"):
            continue
        takes = f"It takes: {', '.join(map(repr, known)) or 'none'}."
        for argument in arguments:
            if argument not in known:
                raise McpFailed(f"The tool {name!r} has no argument {argument!r}. {takes} {_correct(call)}")
        needed = offered[name].get("required")
        needed_by[call] = needed if isinstance(needed, list) else []
        for argument in needed_by[call]:
            if argument not in arguments:
                raise McpFailed(f"The tool {name!r} needs the argument {argument!r}. {takes} {_correct(call)}")
    return needed_by


def _correct(call: str) -> str:
    return f"Correct 'arguments' in [tools.{call}]."


def placeholders_in(value: Any) -> set[str]:
    """Return the placeholders in an argument, tables and lists included."""
    if isinstance(value, str):
        return set(PLACEHOLDER.findall(value))
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {name for part in parts for name in placeholders_in(part)}


def filled(value: Any, values: Mapping[str, Any]) -> Any:
    """Return an argument, or a table of arguments, with its placeholders filled.

    A placeholder that is a whole text keeps the type of its value; without a value, it is left out of the table or list
    around it. Within a text, a missing value is empty.
    """
    if isinstance(value, dict):
        ready = {name: filled(part, values) for name, part in value.items()}
        return {name: part for name, part in ready.items() if part is not None}
    if isinstance(value, list):
        return [part for part in (filled(each, values) for each in value) if part is not None]
    if not isinstance(value, str):
        return value
    if (alone := PLACEHOLDER.fullmatch(value)) is not None:
        return values.get(alone[1])
    return PLACEHOLDER.sub(lambda found: str("" if values.get(found[1]) is None else values[found[1]]), value)


def structured(result: ToolResult) -> Any:
    """Return the structured result of a tool, else its only text parsed as JSON; ``None`` if there is neither.

    Libraries put a tool's text into a table, as its only key ``result``. JSON in such a text is the result.
    """
    alone = parsed(result.texts[0]) if len(result.texts) == 1 else None
    wraps = isinstance(alone, (dict, list)) and result.data == {"result": result.texts[0]}
    return alone if wraps or result.data is None else result.data


def shape_of(result: ToolResult) -> str:
    """Return what a tool's result holds, as a sentence: the keys of an object, else its kind."""
    data = structured(result)
    if isinstance(data, dict):
        return f"It has: {', '.join(map(repr, data)) or 'no keys'}."[:200]
    if data is None:
        return "It is text, not JSON."
    return "It is a list." if isinstance(data, list) else f"It is {data!r}."[:200]


def as_item(found: Any, ours: Mapping[str, str] = {}) -> dict[str, Any]:
    """Return a search result as an item, with its text, sources and score if it has them.

    ``ours``: the id that memeval knows a text by, by the id that the product gave to it.
    """
    if not isinstance(found, dict):
        return {"text": found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)}
    text = next((found[key] for key in TEXTS if isinstance(found.get(key), str)), None)
    item: dict[str, Any] = {"text": json.dumps(found, ensure_ascii=False) if text is None else text}
    metadata = found.get("metadata")
    sources = [*sources_in(found), *sources_in(metadata if isinstance(metadata, dict) else {})]
    if not sources and str(found.get("id")) in ours:
        sources = [ours[str(found["id"])]]
    if sources:
        item["source_ids"] = sources
    if isinstance(found.get("score"), (int, float)) and not isinstance(found["score"], bool):
        item["score"] = found["score"]
    return item


def sources_in(found: Mapping[str, Any]) -> Iterator[str]:
    for key in SOURCES:
        ids = found.get(key)
        yield from [one for one in (ids if isinstance(ids, list) else [ids]) if isinstance(one, str)]


def parsed(text: str) -> Any:
    """Return a text parsed as JSON; ``None`` if it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def speaker_of(turn: Mapping[str, Any]) -> str:
    return str(turn.get("speaker") or turn["role"])
