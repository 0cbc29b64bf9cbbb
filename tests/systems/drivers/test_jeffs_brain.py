"""The driver for jeffs-brain daemons: against the daemon from npm, and against one that misbehaves on demand."""

import json
import os
import re
import shutil
import signal
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.archive.runs import RunFolder
from memeval.benchmarks.qa import QaSmokeBenchmark
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.records.response import Outcome
from memeval.systems.child import Launch
from memeval.systems.drivers import serving
from memeval.systems.drivers.brain import parts_of, place_of, without_front_matter
from memeval.systems.errors import AdapterRaised, SystemDied
from memeval.systems.messages import FoundItem
from memeval.systems.process import SystemProcess
from memeval.systems.source import folder_source
from tests.support import http_server
from tests.support.model_server import ModelServer
from tests.support.products import product
from tests.systems.helpers import PATIENT, gone, session, sessions

ROOT = Path(__file__).parents[3]
DRIVER = Path(serving.__file__).with_name("jeffs_brain.py")
FAKE = Path(__file__).with_name("fake_daemon.py")
SUBMISSION = ROOT / "submissions/jeffs-brain"

Start = Callable[..., SystemProcess]


@pytest.fixture(scope="module")
def programs() -> Path:
    """The folder of programs of the submission's Node packages, installed from its lock by memeval."""
    (folder,) = product("jeffs-brain").path
    return folder


def speaking(started: list[SystemProcess], log: list[str]) -> Start:
    """Return what starts a system behind the driver."""

    def start(
        command: list[str],
        *,
        path: tuple[Path, ...] = (),
        environment: dict[str, str] | None = None,
        key_variable: str | None = None,
        folder: Path = ROOT,
        **parameters: Any,
    ) -> SystemProcess:
        keywords = {"command": command, "folder": str(folder), "start_seconds": 20.0, "parameters": parameters}
        keywords["key_variable"] = key_variable
        launch = Launch(DRIVER, "JeffsBrain", parameters=keywords, shown=(DRIVER.parent,), path=path)
        process = SystemProcess(launch, PATIENT, log.append, environment or {})
        started.append(process)
        process.start()
        process.reset()
        return process

    return start


@pytest.fixture
def start(log: list[str]) -> Iterator[Start]:
    started: list[SystemProcess] = []
    yield speaking(started, log)
    for process in started:
        process.close()


@pytest.fixture
def fake(start: Start) -> Start:
    """Start a system whose daemon is the fake one, with its options."""
    return lambda *options, **named: start([sys.executable, str(FAKE), "{port}", *options], **named)


@pytest.fixture(scope="module")
def answering() -> Iterator[SystemProcess]:
    """A system whose daemon answers as the question says, for tests that change nothing of it."""
    started: list[SystemProcess] = []
    yield speaking(started, [])([sys.executable, str(FAKE), "{port}"])
    for process in started:
        process.close()


def real(start: Start, programs: Path, **named: Any) -> SystemProcess:
    told = tomllib.loads((SUBMISSION / "submission.toml").read_text("utf-8"))
    return start(told["command"], path=(programs,), **{**told["parameters"], **named})


def facts(process: SystemProcess) -> None:
    """Have three sessions taken in."""
    said = ["Drone CI builds the site.", "Her parrot is called Kiwi.", "She moved to Lisbon in May."]
    process.ingest([(session(number, text), f"2025-01-0{number}") for number, text in enumerate(said, 1)])


@pytest.mark.products
class TestTheDaemonFromNpm:
    def test_what_was_taken_in_is_found_with_its_time_and_speaker_and_k_is_honoured(
        self, start: Start, programs: Path
    ) -> None:
        process = real(start, programs)
        facts(process)
        assert process.settle() is not None
        (best,) = process.search("What is the name of the parrot?", 1).items or ()
        assert best.source_ids == ("s002",)
        assert best.text == "[2025-01-02] user: Her parrot is called Kiwi."
        assert not process.adapter.can("query")

        process.reset()
        facts_of_another = session(7, "The parrot talks.")
        process.ingest([(facts_of_another, "2025-02-01")])
        items = process.search("What is the name of the parrot?", 10).items or ()
        assert [item.source_ids for item in items] == [("s007",)]

    def test_texts_have_banks_tags_and_times_and_can_be_forgotten(self, start: Start, programs: Path) -> None:
        process = real(start, programs)
        process.retain("Kim likes pears.", bank="one", source_id="a", timestamp="2025-01-01", tags=["fruit"])
        process.retain("Kim likes plums.", bank="one", source_id="b", timestamp="2025-02-01", tags=["stone"])
        process.retain("Kim likes tea.", bank="two", source_id="c")

        def found(**what: Any) -> list[tuple[str, ...]]:
            return sorted(item.source_ids for item in process.recall("What does Kim like?", 9, **what).items or ())

        assert (found(bank="one"), found(bank="one", tags=["stone"])) == ([("a",), ("b",)], [("b",)])
        assert found(bank="one", until="2025-02-01") == [("a",)]
        assert found(bank="one", since="2025-02-01") == [("b",)]
        assert process.forget(bank="one", ids=["a"]) == 1
        assert found(bank="one") == [("b",)]
        assert process.forget(bank="one") == 1
        assert (found(bank="one"), found(bank="two")) == ([], [("c",)])

    def test_without_a_model_an_answer_is_an_error_and_a_daemon_that_died_is_named(
        self, start: Start, programs: Path, log: list[str]
    ) -> None:
        process = real(start, programs, scenario="ask")
        facts(process)
        with pytest.raises(AdapterRaised, match="could not answer: no LLM provider configured"):
            process.ask("Where does she live?")
        (line,) = [line for line in log if "listening on" in line]
        port = re.findall(r"\d+$", line)[0]
        daemon = serving_at(int(port))
        os.kill(daemon, signal.SIGKILL)
        said = r"The server was killed by signal 9 during POST search. Last output: .*listening"
        with pytest.raises(SystemDied, match=said):
            process.search("Where does she live?", 1)
        assert gone(daemon)

    def test_it_answers_through_a_model_at_the_address_that_memeval_gives(self, start: Start, programs: Path) -> None:
        with models() as (origin, requests):
            given = {"OPENAI_BASE_URL": f"{origin}/v1", "OPENAI_API_KEY": "placeholder"}
            process = real(start, programs, scenario="ask", environment={**given, "JB_LLM_MODEL": "tiny"})
            facts(process)
            reply = process.ask("What is the name of the parrot?")
        assert reply.answer == "Kiwi, I think."
        assert reply.context is not None and "Her parrot is called Kiwi." in reply.context
        (asked,) = requests
        assert asked["path"] == "/v1/chat/completions" and asked["key"] == "Bearer placeholder"
        assert asked["body"]["model"] == "tiny"
        assert "Her parrot is called Kiwi." in json.dumps(asked["body"]["messages"])

    def test_the_submission_needs_nothing_but_its_home(self, start: Start, programs: Path, tmp_path: Path) -> None:
        before = sorted(SUBMISSION.rglob("*"))
        process = real(start, programs, folder=SUBMISSION)
        facts(process)
        assert process.child is not None and list(process.child.folder.rglob("s001.md"))
        assert sorted(SUBMISSION.rglob("*")) == before


@pytest.mark.products
class TestQuestionSetsAndTheDaemonFromNpm:
    """The built-in set through the whole of memeval: scenario, driver, daemon, grades."""

    @pytest.fixture
    def asked(self, programs: Path, tmp_path: Path) -> Callable[..., RunFolder]:
        """Run the submission, or a variant of it, with the daemon that is installed already."""
        folder = tmp_path / "jeffs-brain"
        folder.mkdir()
        manifest = folder / "submission.toml"
        shutil.copyfile(SUBMISSION / "submission.toml", manifest)

        def run(variant: str | None, protocol: str, models: bool = True, **parameters: str) -> RunFolder:
            if not models:
                manifest.write_text(re.sub("declared_models = .*", "", manifest.read_text("utf-8")), "utf-8")
            session = BenchmarkSession.open(QaSmokeBenchmark(), None, parameters, protocol=protocol)
            options = RunOptions(results=tmp_path / "results", skip_conformance=True)
            source = folder_source(folder, variant)
            return run_system(replace(source, launch=replace(source.launch, path=(programs,))), session, options)

        return run

    def test_a_prepared_store_is_found_whole_and_an_empty_one_fails(self, asked: Callable[..., RunFolder]) -> None:
        whole = asked(None, "search-retrieve-only").run.scores
        assert (whole.overall.correct, whole.overall.planned, whole.overall.errors) == (20, 20, 0)
        assert whole.categories[0].metrics["session_mrr"] == 1.0
        nothing = asked(None, "search-retrieve-only", store="empty").run.scores
        assert (nothing.overall.correct, nothing.overall.errors, nothing.states["empty"]) == (0, 0, 20)

    def test_without_a_model_every_answer_is_an_error_that_says_so(self, asked: Callable[..., RunFolder]) -> None:
        folder = asked("ask-basic", "ask-basic", models=False)
        assert folder.run.scores.states["adapter_error"] == 20
        rows = list(folder.responses())
        assert {row.outcome for row in rows} == {Outcome.ADAPTER_ERROR}
        assert all("no LLM provider configured" in (row.error or "") for row in rows)

    @pytest.mark.parametrize("scenario", ["ask-basic", "ask-augmented"])
    def test_a_model_that_repeats_what_it_is_sent_passes_every_row(
        self, asked: Callable[..., RunFolder], monkeypatch: pytest.MonkeyPatch, scenario: str
    ) -> None:
        with ModelServer(answer=lambda body: str(body["messages"][-1]["content"])) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.url)
            monkeypatch.setenv("OPENAI_API_KEY", "placeholder")
            folder = asked(scenario, scenario)
        assert folder.run.scores.overall.correct == 20
        assert folder.run.system.slug == f"jeffs-brain-{scenario}"
        assert folder.run.system.declared_models == ("gpt-4o-mini-2024-07-18",)
        sent = [json.dumps(body) for body in server.bodies]
        assert len(sent) == 20
        assert any("2026-01-15" in body for body in sent) == (scenario == "ask-augmented")


def serving_at(port: int) -> int:
    """Return the process that listens at a port of loopback, found by its command."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if f"127.0.0.1:{port}".encode() in words:
                return int(folder.name)
    raise AssertionError("nothing listens there")


@contextmanager
def models() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Serve a model's endpoint that streams one answer; yield its origin, and what it is asked."""
    asked: list[dict[str, Any]] = []

    def stream(call: http_server.Call) -> None:
        asked.append({"path": call.path, "key": call.headers["Authorization"], "body": json.loads(call.body())})
        chunks = [{"index": 0, "delta": {"content": part}} for part in ("Kiwi, ", "I think.")]
        chunks.append({"index": 0, "delta": {}, "finish_reason": "stop"})
        events = [*(json.dumps({"choices": [chunk]}) for chunk in chunks), "[DONE]"]
        text = "".join(f"data: {event}\n\n" for event in events)
        call.reply(200, text.encode(), {"Content-Type": "text/event-stream"})

    with http_server.serving(stream) as url:
        yield url, asked


@pytest.mark.parametrize("dialect", ["plain", "token", "ids", "lines", "answer", "unknown"])
def test_every_dialect_of_an_answer_is_understood(answering: SystemProcess, dialect: str) -> None:
    assert answering.ask(dialect).answer == "Drone CI"


def test_what_an_answer_draws_on_comes_with_it(answering: SystemProcess) -> None:
    reply = answering.ask("plain")
    assert reply.context == "Drone CI."
    assert reply.items == (FoundItem("Drone CI.", ("s001",), 0.5),)


def test_citations_stand_in_where_nothing_is_said_of_what_was_retrieved(answering: SystemProcess) -> None:
    assert answering.ask("cited").items == (FoundItem("Two", ("s002",), 1.0),)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("error", "could not answer: no LLM provider configured. It had written 5 characters: 'Drone'"),
        ("error-and-ok", "could not answer: the model has gone"),
        ("not-ok", "could not answer: it reported a failure without a reason"),
        ("truncated", r"truncated_stream: .* without the event 'done'. It had written 5 characters: 'Drone'"),
        ("garbled", "event 'answer_delta' is not a JSON object: '{oops'"),
        ("500", r"answered ask with status 500: an HTML page \('Traceback"),
        ("problem", "answered ask with status 400: validation_error: readerMode must be basic"),
        ("json", "reply to ask is not an event stream"),
        ("for-ever", "event stream exceeds 33554432 bytes. It had written"),
    ],
)
def test_an_answer_that_cannot_be_used_is_an_error_in_a_sentence(
    answering: SystemProcess, question: str, said: str
) -> None:
    with pytest.raises(AdapterRaised, match=said):
        answering.ask(question)
    assert answering.alive


def test_tokens_that_the_daemon_tells_are_summed_until_the_next_reset(fake: Start) -> None:
    process = fake()
    assert process.usage().prompt_tokens is None
    for _ in range(2):
        process.ask("answer")
    assert (process.usage().prompt_tokens, process.usage().completion_tokens) == (14, 4)
    process.reset()
    assert process.usage().prompt_tokens is None


def test_k_is_honoured_by_a_daemon_that_gives_more_and_both_speakers_are_kept(fake: Start) -> None:
    process = fake(scenario="search", mode="bm25")
    turns = [
        {"turn_id": "s001:t01", "role": "user", "speaker": "Ann", "content": "I use Drone — naïvely 🦜."},
        {"turn_id": "s001:t02", "role": "user", "speaker": "Ben", "content": "---\nI use Jenkins."},
    ]
    two = {"session_id": "s001", "date": "2025-01-02", "turns": turns}
    process.ingest([(two, "2025-01-02"), *sessions(3)[1:]])
    items = process.search("I use Drone", 2).items or ()
    assert len(items) == 2
    assert items[0].text == "[2025-01-02] Ann: I use Drone — naïvely 🦜.\n[2025-01-02] Ben: ---\nI use Jenkins.\n"


def test_a_text_lies_where_its_metadata_say_and_nowhere_else(fake: Start) -> None:
    process = fake(scenario="search")
    for number, told in enumerate(("smoke/s001.md", "../../escape.md", "/root.md")):
        process.retain(f"Kiwi number {number}.", source_id=f"s00{number}", metadata={"path": told})
    found = {item.text.strip(): item.source_ids for item in process.search("Kiwi", 9).items or ()}
    assert found == {f"Kiwi number {number}.": (f"s00{number}",) for number in range(3)}
    assert place_of("raw/texts", "s001", {"path": "smoke/s001.md"}) == "smoke/s001"
    unfit: tuple[object, ...] = ("../../escape.md", "/root.md", "a/../b.md", "a.txt", ".md", 7, None)
    for odd in unfit:
        assert place_of("raw/texts", "s001", {"path": odd}) == "raw/texts/s001"


def test_a_long_session_becomes_several_documents_of_one_source(fake: Start) -> None:
    process = fake(scenario="search")
    process.ingest([(session(1, "Kiwi talks. " * 60_000), "2025-01-02")])
    items = process.search("Kiwi", 9).items or ()
    assert len(items) > 1
    assert {item.source_ids for item in items} == {("s001",)}


def test_what_the_daemon_refuses_is_named(fake: Start) -> None:
    process = fake()
    said = "answered PUT documents with status 413: payload_too_large: the body exceeds 7 bytes"
    with pytest.raises(AdapterRaised, match=said):
        process.ingest([(session(1, "This is too much."), "2025-01-02")])


def test_a_daemon_that_dies_is_named_with_its_last_output(fake: Start) -> None:
    process = fake()
    with pytest.raises(SystemDied, match=r"exit code 3 during POST search. Last output: I have had enough."):
        process.search("die", 1)


def test_a_daemon_that_finds_nothing_is_not_ready(fake: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    copy = shutil.copytree(DRIVER.parent, tmp_path / "drivers")
    file = copy / "jeffs_brain.py"
    file.write_text(file.read_text("utf-8").replace("PROBE_SECONDS = 10.0", "PROBE_SECONDS = 0.2"), "utf-8")
    monkeypatch.setitem(globals(), "DRIVER", file)
    with pytest.raises(AdapterRaised, match=r"The daemon is not ready: its search for .* does not find .* Check its"):
        fake("blind")


def test_settle_waits_until_the_daemon_has_indexed(fake: Start) -> None:
    process = fake("slow-index", scenario="search")
    process.ingest(sessions(1))
    assert process.settle() is not None
    process.search("Drone", 1)
    assert process.search("Drone", 1).items


def test_a_brain_whose_deletion_tears_the_connection_is_deleted_all_the_same(fake: Start) -> None:
    process = fake("torn-delete", scenario="search")
    process.ingest(sessions(1))
    process.reset()
    assert process.search("Drone", 5).items == ()


def test_the_key_is_presented(fake: Start) -> None:
    process = fake("key=sesame", key_variable="JB_KEY", environment={"JB_KEY": "sesame"})
    assert process.search("Drone", 5).items == ()
    with pytest.raises(AdapterRaised, match="answered POST brains with status 401: unauthorized: give the key"):
        fake("key=sesame", key_variable="JB_KEY", environment={"JB_KEY": "abracadabra"})


def test_a_daemon_that_tells_its_version_has_it_in_the_run(answering: SystemProcess) -> None:
    assert answering.adapter.packages["jeffs-brain-daemon"] == "9.9"


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"mod": "bm25"}, "Unknown parameter 'mod'. Known are scenario, mode"),
        ({"mode": "best"}, "Invalid parameter mode: 'best'. Use one of auto, hybrid"),
        ({"model": "two\nlines"}, "Give the name of a model"),
        ({"top_k": "5"}, "Invalid parameter top_k: '5'. Give a whole number"),
    ],
)
def test_a_wrong_parameter_is_refused(fake: Start, parameters: dict[str, Any], said: str) -> None:
    with pytest.raises(AdapterRaised, match=said):
        fake(**parameters)


@given(st.text(alphabet="aé🦜\n", max_size=60), st.integers(4, 20))
def test_the_parts_of_a_text_are_short_and_make_it_up(text: str, limit: int) -> None:
    parts = list(parts_of(text, limit))
    assert "".join(parts) == text
    assert all(len(part.encode()) <= limit for part in parts)


def test_only_front_matter_is_cut_off() -> None:
    assert without_front_matter("---\na: b\n---\none\n---\ntwo") == "one\n---\ntwo"
    assert without_front_matter("one\n---\ntwo") == "one\n---\ntwo"
