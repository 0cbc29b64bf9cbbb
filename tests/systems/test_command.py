"""Programs in any language that speak the lines: the example, the published conversation, and those that misspeak."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memeval.records.submission import AdapterKind
from memeval.records.track import Limits
from memeval.systems.child import WORKER, WORKER_ERRORS, Launch
from memeval.systems.errors import (
    AdapterMisbehaved,
    AdapterRaised,
    NoAdapter,
    SystemDied,
    SystemFailure,
    SystemTimedOut,
)
from memeval.systems.messages import FoundItem
from memeval.systems.process import SystemProcess
from memeval.systems.source import folder_source
from tests.systems.helpers import PATIENT, session, write

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/node-command"
PAGE = (ROOT / "site/protocol.md").read_text("utf-8")

Program = Callable[..., SystemProcess]


@pytest.fixture
def program(tmp_path: Path, log: list[str]) -> Iterator[Program]:
    """Start a program in Python from its source; ended after the test."""
    started: list[SystemProcess] = []

    def start(source: str = "", *, program: tuple[str, ...] = (), limits: Limits = PATIENT) -> SystemProcess:
        file = write(tmp_path, HELPER + source, "program.py")
        launch = Launch(file, program=program or (sys.executable, "-u", str(file)), folder=tmp_path)
        process = SystemProcess(launch, limits, log.append)
        started.append(process)
        process.start()
        return process

    yield start
    for process in started:
        process.close()


HELPER = """
import json, os, sys, time
def requests():
    for line in sys.stdin:
        yield json.loads(line)
def say(**reply):
    print(json.dumps(reply, ensure_ascii=False))
MINIMAL = {"capabilities": ["take_in", "ask"]}
"""

ANSWERING = """
for request in requests():
    if request["call"] == "load":
        say(id=request["id"], value=MINIMAL)
    elif request["call"] == "ask":
{asked}
    else:
        say(id=request["id"], value=None)
"""


def answering(asked: str) -> str:
    """Return the source of a program that does one thing when it is asked."""
    return ANSWERING.format(asked="\n".join(f"        {line}" for line in asked.splitlines()))


def test_the_example_in_node_remembers_by_event_time(log: list[str]) -> None:
    source = folder_source(EXAMPLE)
    assert source.submission is not None and source.submission.kind is AdapterKind.COMMAND
    with SystemProcess(source.launch, PATIENT, log.append) as process:
        assert process.adapter.implementation.startswith("node ")
        told = [
            (session(1, "We deploy with Drone."), "2025-01-02"),
            (session(2, "Grüße: the café opens at nine."), "2025-02-03"),
            (session(3, "We deploy with Forgejo Actions now."), "2025-03-04"),
        ]
        process.ingest(told, afresh=True)
        assert process.ask("What do we deploy with?").answer == "We deploy with Forgejo Actions now."
        assert process.ask("What do we deploy with?", "2025-02-28").answer == "We deploy with Drone."
        found = process.search("When does the café open?", 1).items
        assert found is not None
        assert found[0].text == "[2025-01-02] user: Grüße: the café opens at nine."
        assert found[0].source_ids == ("s002:t01",)
        assert process.ask("Who is the mayor?").answer.startswith("I don't know")
        process.ingest([], afresh=True)
        assert process.search("deploy", 5).items == ()
    assert log == []


def conversation(title: str) -> list[tuple[str, str]]:
    """Return requests and replies of the published page whose examples bear a title, by the ids of the requests."""
    blocks = re.findall(rf'^```json title="{title}"\n(.+)\n(.+)\n```$', PAGE, re.M)
    return sorted(blocks, key=lambda block: int(json.loads(block[0])["id"]))


def test_the_published_conversation_is_what_the_example_says() -> None:
    published = conversation(r"\w+")
    assert len(published) == 15
    requests = "".join(f"{request}\n" for request, _ in published)
    done = subprocess.run(
        ["node", "adapter.mjs"], cwd=EXAMPLE, input=requests, capture_output=True, text=True, timeout=30, check=True
    )
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip("v\n")
    expected = [reply.replace("node 20.20.2", f"node {version}") for _, reply in published]
    assert done.stdout.splitlines() == expected


SCRIPTED = """
import json
class Memory:
    def __init__(self, **script): self.script = {call: list(values) for call, values in script.items()}
    def reset(self): pass
    def ingest_session(self, session, timestamp): assert session["turns"] and timestamp
    def settle(self, timeout): return self.script["settle"].pop(0)
    def query(self, question, timestamp="now"): return self.script["ask"].pop(0)
    def search(self, query, k, timestamp="now"): return self.script["search"].pop(0)
    def retain(self, content, bank, timestamp, tags, source_id): assert content and bank and timestamp and tags
    def recall(self, query, k, bank, tags, since, until, timestamp="now"): return self.script["recall"].pop(0)
    def reflect(self, query, bank, timestamp): return self.script["reflect"].pop(0)
    def forget(self, bank, ids, query=None): return len(ids)
    def export_memories(self): return self.script["export"].pop(0)
    def usage(self): return self.script["usage"].pop(0)
"""


def worker_says(folder: Path, requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what the worker replies to requests; a copy, for it deletes what it lies in when it is left alone."""
    lines = "".join(json.dumps(request) + "\n" for request in [*requests, {"id": 99, "call": "close"}])
    shutil.copy(WORKER_ERRORS, folder / "worker_errors.py")
    command = [sys.executable, "-P", "-B", "-S", shutil.copy(WORKER, folder / "worker.py")]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=30, start_new_session=True)
    return [json.loads(line) for line in done.stdout.splitlines()[:-1]]


def test_the_published_conversation_is_what_the_worker_says(tmp_path: Path) -> None:
    published = [(json.loads(request), json.loads(reply)) for request, reply in conversation(r"\w+")]
    kept = [(request, reply) for request, reply in published if request["call"] not in ("load", "dream")]
    script: dict[str, list[Any]] = {}
    for request, reply in kept:
        script.setdefault(request["call"], []).append(reply["value"])
    file = write(tmp_path, SCRIPTED, "scripted.py")
    load = {"id": 1, "call": "load", "file": str(file), "class": None, "parameters": script, "reply_bytes": 4_000_000}
    _, *said = worker_says(tmp_path, [load, *(request for request, _ in kept)])
    assert said == [reply for _, reply in kept]


def test_the_worker_says_of_itself_and_of_exceptions_what_is_published(tmp_path: Path) -> None:
    source = """
        class Memory:
            def reset(self): pass
            def ingest_session(self, session, timestamp): pass
            def query(self, question, timestamp="now"):
                facts = {}
                # what is published says line 9


                return facts["drone"]
    """
    file = write(tmp_path, source.replace("\n", "", 1))
    (load, loaded), (ask, asked) = ((json.loads(q), json.loads(a)) for q, a in conversation(r"worker: \w+"))
    hello, error = worker_says(tmp_path, [{**load, "file": str(file)}, ask])
    assert loaded["value"].keys() == hello["value"].keys()
    assert {**hello["value"], "python": "3.11.2"} == loaded["value"]
    asked["error"]["trace"] = [line.replace("/submission", str(tmp_path)) for line in asked["error"]["trace"]]
    assert error["error"] == asked["error"]


def test_a_program_that_leaves_out_all_it_may_is_a_system(program: Program) -> None:
    process = program(answering('say(id=request["id"], value={"answer": "naïve \\u2028 🙂"})'))
    hello = process.adapter
    assert (hello.class_name, hello.implementation, hello.capabilities) == ("", "", ("ingest_session", "query"))
    process.ingest([(session(1), "2025-01-02")], afresh=True)
    assert process.settle() is None
    reply = process.ask("q")
    assert reply.answer == "naïve \u2028 🙂"


def test_a_plain_text_is_an_error_and_the_program_goes_on(program: Program) -> None:
    asked = """
    if request["question"] == "bad": say(id=request["id"], error="the disk is full.\\x1b")
    else: say(id=request["id"], value={"answer": "fine"})
    """
    process = program(answering(asked.replace("\n    ", "\n").strip()))
    with pytest.raises(AdapterRaised) as raised:
        process.ask("bad")
    assert raised.value.sentence == "query failed: the disk is full.\\x1b."
    assert process.ask("good").answer == "fine"


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ('print("Searching…")', "The reply to query is not JSON ('Searching…'). Write only replies to standard output"),
        ("print()", "is not JSON (''). Write only replies to standard output: print to standard error."),
        ("sys.stdout.buffer.write(bytes([255, 10])); sys.stdout.flush()", "is not UTF-8 ('\\xff'). Write UTF-8"),
        ('say(id=request["id"] + 1, value={"answer": ""})', "does not have the id"),
        ('say(id=request["id"], value={"answer": ""}, error="x")', "needs either 'value' or 'error'."),
        ('say(value="text")', "has no 'id' ('{\"value\": \"text\"}'). Copy the 'id' of the request into the reply."),
        ('say(id=1, value="text")', "is a second reply to the request 1 ("),
        ('say(id=request["id"], value="text")', 'has "text" instead of an object.'),
        ('say(id=request["id"], value={"answer": "x", "tokens": "1"})', "instead of a number."),
        ('say(id=request["id"], error=5)', "has an 'error' that is neither a string nor an object."),
        ('say(id=request["id"], value={"answer": "x" * 4_000_000})', "The reply to query exceeds the limit of 1 MB."),
        ("os.close(1); time.sleep(60)", "The system closed its connection to memeval during query."),
    ],
)
def test_rubbish_where_replies_belong_ends_the_program(program: Program, asked: str, sentence: str) -> None:
    process = program(answering(asked))
    with pytest.raises(AdapterMisbehaved) as raised:
        process.ask("q")
    assert sentence in raised.value.sentence
    assert not process.alive


def test_a_reply_to_a_question_without_an_answer_is_an_error_and_the_program_goes_on(program: Program) -> None:
    process = program(answering('say(id=request["id"], value={"text": "Drone"})'))
    for _ in range(2):
        with pytest.raises(AdapterMisbehaved, match=r"reply to query has no 'answer' \(it has 'text'\)\. Reply with"):
            process.ask("q")
    assert process.alive


LOADING = "during loading the adapter"
SERACH = r"unknown capability, 'serach'\. Known are ask, close, dispositions, export, forget, "


def able(*capabilities: str) -> str:
    return f"say(id=1, value={{'capabilities': {[*capabilities]}}})"


@pytest.mark.parametrize(
    ("source", "kind", "sentence"),
    [
        ("import nowhere", SystemDied, rf"ended with exit code 1 {LOADING}\. .*No module named 'nowhere'"),
        ("sys.exit(0)", SystemDied, f"ended with exit code 0 {LOADING}"),
        ("print('> acme@1.0.0 start')", AdapterMisbehaved, r"is not JSON \('> acme@1\.0\.0 start'\)"),
        ("os.close(1); time.sleep(60)", AdapterMisbehaved, f"closed its connection to memeval {LOADING}"),
        ("say(id=1, error='no model')", AdapterRaised, "load failed: no model"),
        ("say(id=1, value=None)", AdapterMisbehaved, "instead of an object"),
        ("say(id=1, value={})", AdapterMisbehaved, "instead of an array"),
        (able("take_in", "serach"), AdapterMisbehaved, SERACH),
        (able("retain", "ask"), NoAdapter, r"capabilities are retain, ask; it needs take_in"),
        (able(), NoAdapter, "capabilities are none; it needs take_in"),
        ("say(id=1, value={**MINIMAL, 'packages': ['x']})", AdapterMisbehaved, "instead of an object"),
    ],
)
def test_a_program_that_does_not_come_up_is_refused_with_a_sentence(
    program: Program, source: str, kind: type[SystemFailure], sentence: str
) -> None:
    with pytest.raises(kind, match=sentence):
        program(source)


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("sys.stdin.readline(); print('{}', end=''); time.sleep(60)", "It has read the request: flush standard output"),
        ("time.sleep(60)", "It has not read the request: read standard input, one request a line."),
    ],
)
def test_a_start_without_a_reply_says_whether_the_request_was_read(
    program: Program, source: str, sentence: str
) -> None:
    file = "import sys, time; " + source
    with pytest.raises(SystemTimedOut) as late:
        program(program=(sys.executable, "-c", file), limits=PATIENT.model_copy(update={"load_seconds": 1.0}))
    assert "loading the adapter took longer than 1 s" in late.value.sentence and sentence in late.value.sentence


def test_the_error_is_named_and_not_what_is_printed_after_it(program: Program, tmp_path: Path) -> None:
    with pytest.raises(SystemDied) as died:
        program("import atexit; atexit.register(print, 'bye', file=sys.stderr)\nimport nowhere")
    line = (tmp_path / "program.py").read_text("utf-8").splitlines().index("import nowhere") + 1
    assert died.value.sentence == (
        "The process ended with exit code 1 during loading the adapter. "
        f"Its output: ModuleNotFoundError: No module named 'nowhere' (program.py:{line}). "
        "Add 'nowhere' to requirements.lock."
    )


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_a_missing_file_of_node_is_named(program: Program, tmp_path: Path) -> None:
    with pytest.raises(SystemDied) as died:
        program(program=("node", "main.mjs"))
    assert died.value.sentence.endswith("/work/main.mjs'. Correct the file name in 'command'.")


def test_an_error_is_told_with_the_line_of_the_stack_that_was_printed(program: Program, tmp_path: Path) -> None:
    asked = """
    try: {}[request["question"]]
    except KeyError as error:
        import traceback; traceback.print_exc()
        say(id=request["id"], error=str(error) if request["question"] == "one" else "the disk is full")
    """
    process = program(answering(asked.replace("\n    ", "\n").strip()))
    source = (tmp_path / "program.py").read_text("utf-8").splitlines()
    line = next(number for number, text in enumerate(source, 1) if "{}[request" in text)
    with pytest.raises(AdapterRaised) as raised:
        process.ask("one")
    assert raised.value.sentence == f"query failed: 'one' (program.py:{line})."
    with pytest.raises(AdapterRaised, match=r"^query failed: the disk is full\.$"):  # another error than printed
        process.ask("two")


def test_a_program_that_is_not_there_is_named(program: Program) -> None:
    with pytest.raises(SystemFailure, match="no-such-program"):
        program(program=("no-such-program", "--fast"))


def test_sessions_on_their_way_together_are_answered_in_order(program: Program) -> None:
    process = program(
        """
kept = []
for request in requests():
    value = None
    if request["call"] == "load":
        value = {"capabilities": ["take_in", "search"]}
    elif request["call"] == "take_in":
        kept.append({"text": request["session"]["session_id"]})
    elif request["call"] == "search":
        value = {"items": kept}
    say(id=request["id"], value=value)
"""
    )
    process.ingest(((session(number), "2025-01-02") for number in range(1, 101)), afresh=True)
    assert process.search("q", 100).items == tuple(FoundItem(f"s{number:03d}") for number in range(1, 101))
