"""The driver for MCP servers, against a server made with the ``mcp`` package, as a process of its own."""

import re
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memeval.systems.child import Launch
from memeval.systems.drivers import serving
from memeval.systems.errors import AdapterRaised, SystemDied, SystemFailure
from memeval.systems.messages import FoundItem
from memeval.systems.process import SystemProcess
from memeval.systems.source import find_system
from tests.systems.helpers import PATIENT, elsewhere, gone, session, sessions

DRIVER = Path(serving.__file__).with_name("mcp_server.py")
NOTES = Path(__file__).with_name("mcp_notes.py")

Tools = dict[str, dict[str, Any]]


def tool(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


FOUND = {"result": "found.notes"}
TOOLS: Tools = {
    "retain": tool("add_note", text="{content}", when="{timestamp}", source="{session_id}"),
    "search": tool("find_notes", query="{query}", limit="{k}") | FOUND,
}
STDIO = [sys.executable, str(NOTES), "stdio"]
HTTP = [sys.executable, str(NOTES), "{port}"]

SMALL = """
import json, os, sys
if len(sys.argv) > 1:
    with open(sys.argv[1], "w") as note:
        note.write(str(os.getpid()))
tools = [{"name": "add_note"}, {"name": "find_notes"}]
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("params", {}).get("name") == "find_notes":
        sys.exit("I have had enough.")
    if "id" in asked:
        result = {"protocolVersion": "2025-06-18", "capabilities": {}, "tools": tools, "content": []}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""
"""A server over its standard streams that is quick to start, and ends when it is searched."""

Start = Callable[..., SystemProcess]


@pytest.fixture
def start(log: list[str]) -> Iterator[Start]:
    started: list[SystemProcess] = []

    def start(
        command: list[str], tools: Tools = TOOLS, environment: dict[str, str] | None = None, **more: Any
    ) -> SystemProcess:
        keywords = {"command": command, "folder": str(NOTES.parent), "start_seconds": 20.0, "tools": tools, **more}
        launch = Launch(DRIVER, "McpServer", parameters=keywords, shown=(DRIVER.parent,))
        process = SystemProcess(launch, PATIENT, log.append, environment or {})
        started.append(process)
        process.start()
        return process

    yield start
    for process in started:
        process.close()


@pytest.mark.parametrize("command", [STDIO, HTTP], ids=["stdio", "http"])
def test_a_session_is_taken_in_turn_by_turn_found_and_gone_after_a_reset(start: Start, command: list[str]) -> None:
    process = start(command)
    process.reset()
    turns = [
        {"turn_id": "s001:t01", "role": "user", "speaker": "Ann", "content": "My parrot — naïve 🦜 — is Kiwi."},
        {"turn_id": "s001:t02", "role": "user", "speaker": "Ben", "content": "{query} and {k} are no placeholders."},
    ]
    process.ingest([({"session_id": "s001", "date": "2025-01-02", "turns": turns}, "2025-01-02"), *sessions(2)[1:]])
    assert process.search("Ann parrot", 2).items == (
        FoundItem("Ann: My parrot — naïve 🦜 — is Kiwi.", ("s001",), 2.0),
        FoundItem("Ben: {query} and {k} are no placeholders.", ("s001",), 0.0),
    )
    process.reset()
    assert process.search("parrot", 5).items == ()
    assert process.adapter.packages["notes"] == "1.2.3"
    assert not process.adapter.can("query") and not process.adapter.can("settle")
    assert not process.adapter.can("dispositions")


def test_every_call_goes_to_the_tool_that_stands_for_it(start: Start) -> None:
    about = "{fact_type} {metadata}"
    tools: Tools = {
        "reset": {"name": "wipe"},
        "ingest_session": tool("add_note", text="{content}", source="{session_id}"),
        "retain": tool("add_note", text="{content}", source="{id}", bank="in {bank}", when=about),
        "reflect": tool("answer", question="{question} {dispositions}"),
        "search": tool("list_texts", query="{query}"),
        "recall": tool("find_notes", query="{query}", limit="{k}", bank="in {bank}") | FOUND,
        "query": tool("answer", question="{question}"),
        "forget": tool("drop_note", source="{id}"),
        "settle": tool("answer", question="that"),
    }
    process = start(STDIO, tools)
    process.reset()
    process.ingest([(session(1, "One."), "2025-01-02")])
    kind: dict[str, Any] = {"fact_type": "world", "metadata": {"sure": True}}
    process.retain("Two.", bank="b", source_id="two", timestamp="2025-01-03", **kind)
    process.retain("Three.", bank="c", source_id="three")
    assert process.settle() is not None
    found = process.search("anything", 9).items or ()
    assert [item.text for item in found] == ["[2025-01-02] user: One.", "[2025-01-03] Two.", "Three."]
    assert [item.text for item in process.recall("two", 9, bank="b").items or ()] == ["[2025-01-03] Two."]
    assert process.ask("parrots?").answer == "3 notes, but no idea about parrots?"
    assert process.adapter.can("dispositions")
    told = process.reflect("parrots?", dispositions={"literalism": 5}).answer
    assert told == "3 notes, but no idea about parrots? {'literalism': 5}"
    process.forget(ids=["two", "three"])
    assert process.ask("parrots?").answer == "1 notes, but no idea about parrots?"
    with pytest.raises(AdapterRaised, match=r"\[tools\.forget\] has no argument \{query\}"):
        process.forget(query="parrots")
    process.reset()
    assert process.ask("parrots?").answer == "0 notes, but no idea about parrots?"


def test_what_a_tool_reports_as_an_error_is_one_and_so_is_a_result_that_is_not_where_it_should_be(start: Start) -> None:
    process = start(STDIO, changed("search", result="found.nodes"))
    with pytest.raises(AdapterRaised, match=r"tool 'find_notes' has no 'found\.nodes'\. It has: 'found'"):
        process.search("Drone", 5)
    with pytest.raises(AdapterRaised, match=r"The tool 'add_note' failed: .*such things are not noted"):
        process.ingest([(session(1, "Something unspeakable."), "2025-01-02")])


def test_a_server_over_http_that_dies_is_named_with_its_last_output(start: Start) -> None:
    process = start(HTTP)
    with pytest.raises(SystemDied, match=r"The server ended with exit code 3 during tools/call\. .*had enough"):
        process.search("die", 1)


def test_a_server_over_its_standard_streams_that_dies_is_named_and_comes_back_with_the_system(start: Start) -> None:
    process = start([sys.executable, "-c", SMALL])
    for _ in range(2):
        if not process.alive:
            process.start()
        process.reset()
        process.ingest(sessions(1))
        said = r"The server ended with exit code 1 during tools/call\. Last output: I have had enough"
        with pytest.raises(SystemDied, match=said):
            process.search("die", 1)


def test_a_server_that_runs_elsewhere_is_reached_by_its_address(start: Start, tmp_path: Path) -> None:
    tools: Tools = {**TOOLS, "reset": {"name": "wipe"}}
    port = serving.free_port()
    endpoint = {"endpoint_variable": "NOTES_URL", "endpoint_path": "/mcp"}
    environment = {"NOTES_URL": f"http://127.0.0.1:{port}"}
    with elsewhere([sys.executable, NOTES, str(port), "json"], port, HOME=str(tmp_path)):
        process = start([], tools, environment, **endpoint)
        process.reset()
        process.ingest(sessions(1))
        assert len(process.search("Drone", 5).items or ()) == 1
        process.close()


def changed(call: str, **how: Any) -> Tools:
    return {**TOOLS, call: {**TOOLS[call], **how}}


NO_TOOL = "no tool 'ad_note'. It has: add_note, find_notes. Correct 'name' in [tools.retain]."
CONTENTS = "unknown placeholder {contents} in the argument"


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        (changed("retain", name="ad_note"), NO_TOOL),
        (changed("retain", arguments={"text": "{contents}"}), f"[tools.retain]: {CONTENTS} 'text'"),
    ],
)
def test_a_mapping_that_cannot_be_is_refused(start: Start, tools: Tools, said: str) -> None:
    with pytest.raises(AdapterRaised) as caught:
        start([sys.executable, "-c", SMALL], tools)
    assert said in str(caught.value)


ENTRIES = Path(__file__).parents[3] / "examples/mcp-ids"


def entries(start: Start, **changes: Any) -> SystemProcess:
    """Start the example, with changes in its table for ``retain``."""
    tools = tomllib.loads((ENTRIES / "submission.toml").read_text("utf-8"))["tools"]
    tools["retain"] |= changes
    process = start([sys.executable, "server.py"], tools, folder=str(ENTRIES))
    process.reset()
    return process


def test_tables_and_lists_are_filled_and_the_ids_of_the_product_name_sources_and_what_to_forget(start: Start) -> None:
    process = entries(start)
    process.ingest([(session(1, "My parrot is Kiwi."), "2025-01-02")])
    process.retain("My parrot is Rio.", bank="ida", source_id="r001")
    kiwi = FoundItem("[2025-01-02] user: My parrot is Kiwi.", ("s001:t01",), 1.0)
    assert process.search("parrot", 5).items == (kiwi,)
    assert process.recall("parrot", 5, bank="ida").items == (FoundItem("[] user: My parrot is Rio.", ("r001",), 1.0),)
    process.forget(ids=["r001"], bank="ida")
    assert process.recall("parrot", 5, bank="ida").items == ()
    assert len(process.search("parrot", 5).items or ()) == 1
    assert not (ENTRIES / "memory.db").exists()
    process.retain("My parrot is Pip.", source_id="s001:note")
    process.forget(ids=["s001"])
    assert [item.source_ids for item in process.search("parrot", 5).items or ()] == [("s001:note",)]
    process.reset()
    process.ingest([(session(1, "My parrot is Kiwi."), "2025-01-02")])
    process.reset()
    assert process.search("parrot", 5).items == ()


def test_a_reset_that_restarts_the_server_has_the_time_of_a_start(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(ENTRIES, tmp_path / "slow"))
    server = folder / "server.py"
    slow = server.read_text("utf-8").replace("import json\n", "import json\nimport time\ntime.sleep(1)\n")
    server.write_text(slow, "utf-8")
    limits = PATIENT.model_copy(update={"reset_seconds": 0.5})
    with SystemProcess(find_system(str(folder)).launch, limits, print) as process:
        process.ingest(sessions(1), afresh=True)
        process.reset()
        assert process.search("Drone", 5).items == ()


def test_an_argument_that_a_tool_needs_and_that_has_no_value_is_named_with_what_to_write(start: Start) -> None:
    dated = tool("add_dated", text="{content}", day="{timestamp}")
    process = start(STDIO, {**TOOLS, "retain": dated, "reset": {"name": "wipe"}})
    process.reset()
    process.retain("One.", timestamp="2025-01-02")
    said = "'add_dated' needs the argument 'day', but {timestamp} has no value in this call. Put it into a text, such"
    with pytest.raises(AdapterRaised, match=re.escape(said)):
        process.retain("Two.")


def test_a_wrong_path_in_json_of_a_text_is_named_with_its_keys(start: Start) -> None:
    process = start(STDIO, changed("retain", name="add_as_json", id="key", arguments={"text": "{content}"}))
    process.reset()
    with pytest.raises(AdapterRaised, match=r"'add_as_json' has no 'key'\. It has: 'status', 'id'\. Correct 'id' in"):
        process.ingest(sessions(1))


@pytest.mark.parametrize("inner", [False, True])
def test_json_in_a_text_is_read_like_a_structured_result(start: Start, inner: bool) -> None:
    tools: Tools = {
        "retain": tool("add_as_json", text="{content}") | {"id": "id"},
        "search": tool("find_as_json", query="{query}", inner=inner) | {"result": "notes"},
    }
    process = start(STDIO, tools)
    process.reset()
    process.ingest([(session(1, "My parrot is Kiwi."), "2025-01-02")])
    assert process.search("parrot", 5).items == (FoundItem("[2025-01-02] user: My parrot is Kiwi.", ("s001:t01",)),)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"arguments": {"entrys": ["{content}"]}}, "'add_entries' has no argument 'entrys'. It takes: 'entries'"),
        ({"arguments": {"entries": [{"text": "{contents}"}]}}, f"{CONTENTS} 'entries'"),
        ({"id": "created.0.text"}, "has no 'created.0.text'. It has: 'created'. Correct 'id' in [tools.retain]."),
        ({"id": "created"}, "'created' is \"[{'id': 1}]\", not an id. Correct 'id' in [tools.retain]."),
    ],
)
def test_an_argument_that_a_tool_does_not_take_and_a_wrong_path_of_an_id_are_named(
    start: Start, change: dict[str, Any], said: str
) -> None:
    with pytest.raises(AdapterRaised) as caught:
        entries(start, **change).retain("One.", source_id="r001")
    assert said in str(caught.value)


def test_a_server_that_does_not_flush_its_replies_is_told_so(start: Start) -> None:
    unflushed = [sys.executable, "-c", SMALL.replace(", flush=True", "")]
    with pytest.raises(AdapterRaised, match=r"reply to initialize within 1\.8 s\. It has read the request\. Flush"):
        start(unflushed, start_seconds=2.0)
    with pytest.raises(AdapterRaised, match=r"within 0\.9 s\. It has not read the request\. Read messages from stand"):
        start(["sleep", "60"], start_seconds=1.0)


def speaks(line: str) -> list[str]:
    """A server that answers whatever it is asked with a line of Python's, ``asked`` being the request."""
    code = f"import json, sys\nfor line in sys.stdin:\n    asked = json.loads(line)\n    {line}"
    return [sys.executable, "-c", code]


def replies(part: str) -> list[str]:
    """A server that replies with a part of a message."""
    return speaks(f"print(json.dumps({{'jsonrpc': '2.0', 'id': asked['id'], {part}}}), flush=True)")


OLD = "'result': {'protocolVersion': '1999-01-01', 'capabilities': {}, 'serverInfo': {}}"
SPEAKS_OLD = "The server speaks version '1999-01-01' of the protocol. memeval speaks 2025"
NOT_TODAY = [sys.executable, "-c", "import sys; sys.exit('not today')"]
WELCOME = "a line that is not JSON-RPC: 'Welcome!'. Print to standard error instead."


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["no-such-program"], "Command not found: 'no-such-program'"),
        (NOT_TODAY, "exit code 1 during initialize. Last output: not today"),
        (speaks("print('Welcome!', flush=True)"), WELCOME),
        (replies("'error': {'message': 'no'}"), "The server answered initialize with an error: no."),
        (replies(OLD), SPEAKS_OLD),
    ],
)
def test_a_server_that_does_not_take_part_is_refused(start: Start, command: list[str], said: str) -> None:
    with pytest.raises(SystemFailure) as caught:
        start(command)
    assert said in str(caught.value)


def test_what_a_server_asks_meanwhile_is_answered(start: Start) -> None:
    talk = """
import json, sys
def say(**message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def hear(): return json.loads(sys.stdin.readline())
asked = hear()
say(id=asked["id"], result={"protocolVersion": "2025-06-18", "capabilities": {}})
assert hear()["method"] == "notifications/initialized"
asked = hear()
say(method="notifications/message", params={"data": "hm"})
say(id="p", method="ping")
assert hear() == {"jsonrpc": "2.0", "id": "p", "result": {}}
say(id="r", method="roots/list")
assert hear()["error"]["code"] == -32601
say(id=asked["id"], result={"tools": [{"name": "add_note"}], "nextCursor": "more"})
asked = hear()
assert asked["params"] == {"cursor": "more"}
say(id=asked["id"], result={"tools": [{"name": "find_notes"}]})
asked = hear()
say(id=asked["id"], result={"content": [{"type": "text", "text": '{"found": {"notes": ["Drone"]}}'}]})
hear()
"""
    process = start([sys.executable, "-c", talk])
    assert process.search("Drone", 5).items == (FoundItem("Drone"),)


def test_a_server_over_its_standard_streams_ends_with_the_system(start: Start, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    process = start([sys.executable, "-c", SMALL, str(note)])
    process.close()
    assert gone(int(note.read_text("utf-8")))
