"""The process of a model: one state for every request, and no life of its own."""

import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from memeval.local import PREFIX_HEADER, server
from memeval.local.catalogue import find_model
from memeval.local.server import MOST_STARTS, LocalServer, ServerEnded, memory_needed
from memeval.records.errors import BadInput
from tests.support.tiny_model import NAME, gguf, pin, posted, stand_in

RULES = "Answer the question from the context, and say nothing else. " * 2
"""What all requests begin with."""


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[LocalServer]:
    pin(monkeypatch, tmp_path, gguf(), longest_answer=50)
    stand_in(monkeypatch)
    with LocalServer(find_model(NAME)) as made:
        yield made


def refusal(made: LocalServer, body: Any, path: str = "/chat/completions", **headers: str) -> tuple[int, str]:
    with pytest.raises(urllib.error.HTTPError) as error:
        posted(made, body, path, **headers)
    return error.value.code, error.value.read().decode()


def asked(made: LocalServer, text: str, prefix: int = 0, **more: Any) -> Any:
    return posted(made, {"messages": [{"role": "user", "content": text}], **more}, **{PREFIX_HEADER: str(prefix)})


def said(reply: Any) -> str:
    return str(reply["choices"][0]["message"]["content"])


def test_a_prefix_is_computed_once_and_restored_before_every_request(started: LocalServer) -> None:
    def computed(question: str, prefix: int = len(RULES)) -> str:
        return said(asked(started, RULES + question, prefix)).split()[0]

    first = computed("one two")
    kept, others = map(int, first.split("+"))
    assert kept == len(f"<user>{RULES}") - 4, "the last tokens may be joined to what follows"
    assert others == len("one two<assistant>") + 4
    computed("another question, which shares more with the next one than the prefix")
    assert computed("another question, which shares more with the next one") == computed(
        "another question, which shares more with the next one"
    )
    assert computed("one two") == first, "whatever was asked before"
    assert computed("one two", prefix=0) == f"0+{len(f'<user>{RULES}one two<assistant>')}"


def test_system_messages_are_a_prefix_by_themselves(started: LocalServer) -> None:
    def computed(system: str) -> str:
        messages = [{"role": "system", "content": system}, {"role": "user", "content": "hello"}]
        return said(posted(started, {"messages": messages})).split()[0]

    long = computed(RULES)
    assert not long.startswith("0+")
    others = [computed(f"{RULES}{number}") for number in range(6)]
    assert others[0] == computed(f"{RULES}0")
    assert computed(RULES) == long, "after its state had to make room for others"
    assert computed("Short.").startswith("0+")


def test_requests_are_greedy_and_their_answers_end(started: LocalServer) -> None:
    reply = asked(started, "hello", temperature=0.9, seed=7, n=1)
    assert reply["sent"] == {"temperature": 0, "seed": 42, "max_tokens": 50}
    assert asked(started, "hello", max_completion_tokens=20)["sent"]["max_tokens"] == 20
    endless = asked(started, "STOP-NEVER", max_tokens=4_000)
    assert endless["choices"][0]["finish_reason"] == "length"
    assert endless["usage"]["completion_tokens"] == 50


def test_requests_at_the_same_time_are_answered_one_after_the_other(started: LocalServer) -> None:
    started.address()
    with ThreadPoolExecutor(8) as pool:
        replies = pool.map(lambda number: said(asked(started, f"{RULES}question {number}", len(RULES))), range(16))
    for number, reply in enumerate(replies):
        assert reply == f"{len(RULES) + 2}+{len(f'question {number}<assistant>') + 4} {number}"


def test_a_prompt_longer_than_the_context_is_refused_with_both_numbers(started: LocalServer) -> None:
    status, text = refusal(started, {"messages": [{"role": "user", "content": "word " * 1000}]})
    assert status == 400
    assert "exceeds the available context size (4096 tokens)" in text


@pytest.mark.parametrize(
    ("body", "path", "status"),
    [
        (b"not JSON", "/chat/completions", 400),
        (b"[]", "/chat/completions", 400),
        ({"messages": []}, "/nothing", 404),
        ({"input": "text"}, "/embeddings", 404),
        ({}, "/chat/completions", 500),
    ],
)
def test_other_requests_are_refused_and_the_next_is_answered(
    started: LocalServer, body: Any, path: str, status: int
) -> None:
    assert refusal(started, body, path)[0] == status
    assert said(asked(started, "hello again")).endswith("again")


def test_only_who_has_the_key_is_answered(started: LocalServer) -> None:
    body = {"messages": [{"role": "user", "content": "hello"}]}
    assert refusal(started, body, Authorization="Bearer other")[0] == 401
    assert refusal(started, body, Authorization="")[0] == 401


def test_a_killed_server_starts_again(started: LocalServer) -> None:
    first = started.address()
    answer = said(asked(started, RULES, len(RULES)))
    _kill(started)
    assert started.address() != first
    assert said(asked(started, RULES, len(RULES))) == answer


def test_a_server_that_ends_again_and_again_is_given_up(started: LocalServer) -> None:
    for _ in range(MOST_STARTS):
        started.address()
        _kill(started)
    with pytest.raises(ServerEnded, match=r"ended 4 times, the last time by signal 9, as .* memory.*resume"):
        started.address()


def test_the_server_ends_with_its_run_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pin(monkeypatch, tmp_path, gguf())
    stand_in(monkeypatch)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    with LocalServer(find_model(NAME)) as made:
        asked(made, RULES, len(RULES))
        process = _process(made)
    assert not psutil.pid_exists(process.pid)
    assert not list(tmp_path.glob("memeval-model-*"))
    with pytest.raises(ServerEnded, match="closed"):
        made.address()


def test_a_broken_connection_waits_for_a_server_that_is_ending(started: LocalServer) -> None:
    first = started.address()
    ending = threading.Timer(0.3, _process(started).kill)
    ending.start()
    started.broke()
    assert not started.runs()
    assert started.address() != first
    ending.join()


def test_the_server_ends_if_the_process_that_started_it_is_killed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pin(monkeypatch, tmp_path, gguf())
    stand_in(monkeypatch)
    code = (
        "import time; from memeval.local.catalogue import find_model; from memeval.local.server import LocalServer\n"
        f"made = LocalServer(find_model('{NAME}')); made.address()\n"
        "print(made._process.pid, flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        child = psutil.Process(int(owner.stdout.readline()))
        owner.kill()
    child.wait(10)


@pytest.mark.parametrize(
    ("end", "problem"),
    [
        (b"MEMORY", "does not start. There is not enough memory to load it."),
        (b"INIT", "does not start. The engine cannot load it: too little memory, or weights that this version"),
        (b"BAD", "does not start. The engine says: RuntimeError: tensor 'blk.0' is missing"),
    ],
)
def test_weights_that_do_not_load_are_named_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, end: bytes, problem: str
) -> None:
    pin(monkeypatch, tmp_path, gguf(end=end))
    stand_in(monkeypatch)
    with LocalServer(find_model(NAME)) as made, pytest.raises(ServerEnded, match=problem):
        made.address()


def test_too_little_memory_is_found_before_the_model_is_loaded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pin(monkeypatch, tmp_path, gguf())
    monkeypatch.setattr(server, "memory_needed", lambda _model: 10**15)
    with LocalServer(find_model(NAME)) as made, pytest.raises(BadInput, match=r"needs about 1000000.0 GB of memory"):
        made.address()
    assert memory_needed(find_model(NAME)) > find_model(NAME).bytes


def test_a_missing_engine_in_the_process_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pin(monkeypatch, tmp_path, gguf())
    folder = tmp_path / "broken" / "xllamacpp"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("raise ModuleNotFoundError('gone', name='xllamacpp')")
    monkeypatch.setenv("PYTHONPATH", str(folder.parent))
    with LocalServer(find_model(NAME)) as made, pytest.raises(ServerEnded, match="package xllamacpp is not installed"):
        made.address()


def test_a_port_in_use_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pin(monkeypatch, tmp_path, gguf())
    stand_in(monkeypatch)
    with LocalServer(find_model(NAME), open_to_all=True) as first:
        port = int(first.address().rpartition(":")[2].partition("/")[0])
        with LocalServer(find_model(NAME), port=port) as other, pytest.raises(ServerEnded, match=f"Port {port} cannot"):
            other.address()
        assert said(asked(first, "still here")).endswith("here"), "and needs no key"


def test_threads_of_an_engine_sleep_while_they_wait(started: LocalServer) -> None:
    started.address()
    given = _process(started).environ()
    assert (given["OMP_WAIT_POLICY"], given["GOMP_SPINCOUNT"]) == ("passive", "0")


def _process(made: LocalServer) -> psutil.Process:
    assert made._process is not None
    return psutil.Process(made._process.pid)


def _kill(made: LocalServer) -> None:
    assert made._process is not None
    made._process.kill()
    made._process.wait(10)
