"""memeval's HTTP contract against a real server, started, spoken to and ended by the driver in a real process."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import openapi_spec_validator
import pytest
from jsonschema import Draft202012Validator

from memeval.systems.child import Launch
from memeval.systems.drivers import serving
from memeval.systems.errors import (
    AdapterMisbehaved,
    AdapterRaised,
    NoAdapter,
    SystemDied,
    SystemFailure,
    SystemTimedOut,
)
from memeval.systems.messages import CALLS, FoundItem
from memeval.systems.process import SystemProcess
from memeval.systems.worker import DISPOSITIONS, OPTIONAL, TEXTS_TOGETHER
from tests.systems.helpers import PATIENT, elsewhere, gone, sessions

ROOT = Path(__file__).parents[3]
SERVER = Path(__file__).with_name("memory_server.py")
OPENAPI: dict[str, Any] = json.loads((ROOT / "site/openapi/memeval-adapter.json").read_text("utf-8"))

Serve = Callable[..., SystemProcess]


class Served:
    """Systems behind the driver, and what their servers noted."""

    def __init__(self, folder: Path) -> None:
        self.notes = folder / "notes.jsonl"
        self.log: list[str] = []
        self.started: list[SystemProcess] = []

    def process(
        self,
        *fault: str,
        environment: dict[str, str] | None = None,
        seconds: float = 10.0,
        ask_seconds: float = 5.0,
        **keywords: Any,
    ) -> SystemProcess:
        given: dict[str, Any] = {
            "command": [sys.executable, str(SERVER), "{port}", str(self.notes), *fault],
            "folder": str(ROOT),
            "start_seconds": seconds,
            "endpoint_path": "/v1",
            "parameters": {"version": "0.2.0"},
            **keywords,
        }
        file = Path(serving.__file__).with_name("http_contract.py")
        launch = Launch(file, "HttpContract", parameters=given, shown=(file.parent,))
        limits = PATIENT.model_copy(update={"ask_seconds": ask_seconds})
        process = SystemProcess(launch, limits, self.log.append, environment or {})
        self.started.append(process)
        process.start()
        return process

    def said(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.notes.read_text("utf-8").splitlines()]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    made = Served(tmp_path)
    yield made
    for process in made.started:
        process.kill()
        process.close()


def validator(schema: dict[str, Any]) -> Draft202012Validator:
    """Return a validator of a schema that stands somewhere in the published file."""
    return Draft202012Validator({**schema, "components": OPENAPI["components"]})


def test_the_published_file_is_openapi() -> None:
    openapi_spec_validator.validate(OPENAPI)
    behind = {method: call for call, method in CALLS.items()}
    calls = {behind.get(method, method) for method in OPTIONAL} - {"get_context_tokens"}
    assert set(OPENAPI["paths"]) == {f"/{call}" for call in calls | {"healthz", "load", "reset"}}
    listed = OPENAPI["components"]["schemas"]["Capabilities"]["properties"]["capabilities"]["items"]["enum"]
    assert set(listed) == calls | {"load", "reset", DISPOSITIONS, TEXTS_TOGETHER}


def test_a_server_is_run_from_start_to_end_and_all_that_is_said_is_as_published(served: Served) -> None:
    process = served.process()
    assert process.adapter.packages["server"] == "0.2.0"
    assert process.adapter.can("export_memories") and process.adapter.can("texts_together")
    process.ingest(sessions(2, "Ünïted by Drone."), afresh=True)
    assert process.settle() is not None
    reply = process.ask("What by?", "2025-05-06")
    assert (reply.answer, reply.context, reply.reported_tokens) == ("Ünïted by Drone.", "c", 12.0)
    assert process.search("Drone?", 1).items == (FoundItem("Ünïted by Drone.", ("s001:t01",), 0.5),)
    assert min(process.search("Drone?", 1).seconds for _ in range(10)) < 0.03, "an acknowledgement was held back"
    about: dict[str, str | float] = {"heard": "twice", "sure": True}
    process.retain(
        "Likes tea.", bank="b", timestamp="2025-01-02", tags=["t"], source_id="r1", fact_type="world", metadata=about
    )
    recalled = process.recall("tea", 1, bank="b", tags=["t"], since="2025-01-01", until="2025-02-01")
    assert recalled.items == (FoundItem("Likes tea.", ("r1",), 0.5),)
    assert process.adapter.can(DISPOSITIONS)
    assert process.reflect("What tea.", bank="b", dispositions={"skepticism": 5}).answer == "Likes tea."
    assert (len(process.export()), process.forget(ids=["r1"])) == (3, 1)
    assert process.usage().prompt_tokens == 3
    process.close()
    said = served.said()
    bodies = {one["call"]: one["body"] for one in said}
    assert (bodies["retain"]["fact_type"], bodies["retain"]["metadata"]) == ("world", about)
    assert bodies["reflect"]["dispositions"] == {"skepticism": 5}
    assert [one["call"] for one in said[:4]] == ["load", "reset", "take_in", "take_in"]
    assert said[-1]["call"] == "close"
    assert len({one["headers"]["memeval-instance"] for one in said}) == 1
    assert gone(said[0]["pid"])
    assert any(line.startswith("listening at") for line in served.log)
    for one in said:
        content = OPENAPI["paths"][f"/{one['call']}"]["post"]["requestBody"]["content"]
        validator(content["application/json"]["schema"]).validate(one["body"])


def test_what_a_server_does_not_list_is_not_asked_of_it(served: Served) -> None:
    process = served.process("few")
    assert process.adapter.capabilities == ("close", "ingest_session", "query")
    other = served.process("plain")
    assert other.adapter.can("reflect") and not other.adapter.can(DISPOSITIONS)
    assert process.settle() is None
    process.close()
    assert "close" not in {one["call"] for one in served.said()}


def test_every_wrong_answer_is_a_sentence_and_the_server_goes_on(served: Served) -> None:
    process = served.process()
    process.ingest(sessions(1), afresh=True)
    for fault, sentence in {
        "500": "The server answered POST /ask with status 500: the disk is full. Fix the error in the server.",
        "html": "The server answered POST /ask with status 502: an HTML page ('Bad\\xff gateway xxx",
        "moved": "with status 307. Redirects are not followed: answer at this path.",
        "text": "has the content type 'text/plain'. Send it as 'application/json'.",
        "rubbish": 'The answer to POST /ask is not JSON: \'{"answer": "x"\'. Send JSON.',
        "nan": 'The answer to POST /ask is not JSON: \'{"answer": "x", "tokens": NaN}\'. Send JSON.',
        "deep": "The answer to POST /ask is not JSON: '[[[[[[[",
        "latin": 'The answer to POST /ask is not UTF-8 (near \'{"answer": "caf\\xe9"}\'). Encode it as UTF-8.',
        "cut": "The answer to POST /ask ended 4989 bytes early. Check its Content-Length.",
        "silence": "The server closed the connection without an answer to POST /ask. Answer errors with status 500",
        "raise": "to POST /ask. Last output: KeyError: 'index' (tests/systems/drivers/memory_server.py:",
        "bare": "status 500: Internal Server Error. Last output: ValueError: no index. Fix the error in the server.",
        "flood": "The answer to POST /ask exceeds 32 MB. Send less.",
    }.items():
        with pytest.raises(AdapterRaised) as raised:
            process.ask(fault)
        assert sentence.removesuffix(".") in raised.value.sentence.replace("\\\\", "\\"), fault
        assert len(raised.value.sentence) < 500
    with pytest.raises(AdapterMisbehaved, match=r"query returned a dict whose 'answer' is int \(5\), not text"):
        process.ask("shape")
    assert process.ask("goodbye").answer == "closing"
    assert process.ask("What?").answer == "Uses Drone CI."


def test_a_server_that_dies_is_named_with_its_last_output_and_comes_back_with_the_system(served: Served) -> None:
    process = served.process()
    said = r"The server was killed by signal 9 during POST /ask\. Last output: .*out of memory"
    with pytest.raises(SystemDied, match=said):
        process.ask("die")
    assert not process.alive
    process.start()
    process.ingest(sessions(1), afresh=True)
    assert process.ask("What?").answer == "Uses Drone CI."


def test_a_body_that_trickles_for_ever_meets_the_time_limit_and_takes_the_server_along(served: Served) -> None:
    process = served.process(ask_seconds=0.5)
    pid = served.said()[0]["pid"]
    with pytest.raises(SystemTimedOut, match=r"query took longer than 0\.5 s"):
        process.ask("drip")
    assert gone(pid)


def test_a_server_that_ends_at_once_is_named_with_its_last_output(served: Served) -> None:
    with pytest.raises(AdapterRaised) as raised:
        served.process("at once")
    said = "The server ended with exit code 3 before it was ready. Last output: no licence | no luck."
    assert raised.value.sentence == said


def test_a_server_that_never_gets_ready_is_named_with_what_was_seen_last(served: Served) -> None:
    why = r"(GET /v1/healthz has status 503|nothing listens on port \d+)\. .* or raise resources\.start_seconds\."
    with pytest.raises(AdapterRaised, match=rf"^The server was not ready after 0\.9 s: {why}"):
        served.process("never", seconds=1.0)


def test_a_port_that_another_took_meanwhile_is_not_the_end(served: Served) -> None:
    served.process("taken")
    assert any("Address already in use" in line for line in served.log)


@pytest.mark.parametrize(
    ("keywords", "sentence"),
    [
        ({"command": ["no-such-server"]}, "Command not found: 'no-such-server' (PATH: /usr"),
        ({"command": []}, "The submission names no server. Give it a 'command' or an 'endpoint'."),
        ({"key_variable": "ACME_KEY"}, "The variable ACME_KEY is not set"),
    ],
)
def test_what_is_not_there_is_named(served: Served, keywords: dict[str, Any], sentence: str) -> None:
    with pytest.raises(AdapterRaised) as raised:
        served.process(**keywords)
    assert raised.value.sentence.startswith(sentence)


def test_a_server_that_is_deaf_to_politeness_is_killed(
    served: Served, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(serving, "ENDING_SECONDS", 0.2)
    command = [sys.executable, str(SERVER), "{port}", str(served.notes), "deaf"]
    server = serving.ServerProcess(command, str(ROOT), 10.0, None)
    server.end()
    assert not server.alive
    said = "The server was killed by signal 9 at the end. Last output: listening at"
    assert server.how_it_ended("at the end").startswith(said)
    assert capfd.readouterr().err.startswith("listening at")
    server.end()


def test_a_server_that_runs_already_is_spoken_to_with_a_key_and_left_running(served: Served) -> None:
    port = serving.free_port()
    given: dict[str, Any] = {"command": [], "endpoint_variable": "ACME_URL", "key_variable": "ACME_KEY"}
    environment = {"ACME_URL": f"http://127.0.0.1:{port}/", "ACME_KEY": "worthless"}
    with elsewhere([sys.executable, SERVER, str(port), served.notes], port, PORT=""):
        for process in [served.process(environment=environment, **given) for _ in range(2)]:
            process.close()
    headers = [line["headers"] for line in served.said()]
    assert {line["authorization"] for line in headers} == {"Bearer worthless"}
    assert len({line["memeval-instance"] for line in headers}) == 2


def test_a_capability_that_is_none_is_refused(served: Served, tmp_path: Path) -> None:
    source = SERVER.read_text("utf-8").replace('"take_in", "ask", "search"', '"take_in", "ask", "serach"')
    server = tmp_path / "server.py"
    server.write_text(source, "utf-8")
    with pytest.raises(SystemFailure, match=r"the unknown capability 'serach'\. Known are ask, ") as raised:
        served.process(command=[sys.executable, str(server), "{port}", str(served.notes)])
    assert not isinstance(raised.value, NoAdapter)


ELSEWHERE = """
import http.server, sys
class Server(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        open("kept.db", "w").close()
        self.send_response(404)
        self.end_headers()
    def log_message(self, *_): pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Server).serve_forever()
"""
"""A server that writes into its working folder, and has no health path."""


@pytest.mark.parametrize(
    ("port", "why"),
    [
        ("0", r"it listens on port \d+ and not on \d+\. Pass \{port\} in 'command', or read the variable PORT\."),
        ("{port}", r"GET /v1/healthz has status 404\. Add this path, and answer it with status 200"),
    ],
)
def test_a_server_that_can_never_get_ready_is_told_why_within_seconds(
    served: Served, tmp_path: Path, port: str, why: str
) -> None:
    (tmp_path / "own").mkdir()
    began = time.monotonic()
    with pytest.raises(AdapterRaised, match=f"^The server cannot get ready: {why}"):
        served.process(command=[sys.executable, "-c", ELSEWHERE, port], seconds=60, folder=str(tmp_path / "own"))
    assert time.monotonic() - began < 30
    assert not list((tmp_path / "own").iterdir())
