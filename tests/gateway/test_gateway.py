"""The gateway: nothing is paid for twice, everything is on record, and it ends when it is told to."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from memeval.gateway.endpoints import Endpoint
from memeval.gateway.gateway import Gateway
from memeval.gateway.record import CallRecord
from memeval.gateway.replies import text_of
from memeval.gateway.stops import GatewayStopped, NotRecorded
from memeval.records.call import Api, Call, Caller, ModelRequest, Phase
from memeval.records.errors import ExitCode
from tests.gateway.asking import KEY, MODEL, ask, ask_all, new_gateway, options, pass_on, question
from tests.support.model_server import FINGERPRINT, ModelServer, yes_or_no


def test_a_call_is_recorded_with_all_its_metadata(tmp_path: Path) -> None:
    with ModelServer() as server, new_gateway(tmp_path / "calls.jsonl") as gateway:
        gateway.open_run("run-1", CallRecord(None))
        call = ask(gateway, server)
    assert call == next(CallRecord(tmp_path / "calls.jsonl").rows())
    assert (call.request, call.key) == (question(server.url), call.request.key)
    assert server.bodies == [call.request.body]
    assert text_of(call) == yes_or_no(server.bodies[0])
    assert (call.run_id, call.caller, call.phase) == ("run-1", Caller.JUDGE, Phase.JUDGE)
    assert (call.model, call.fingerprint, call.tries, call.error) == (MODEL, FINGERPRINT, 1, None)
    assert call.prompt_tokens is not None
    assert call.completion_tokens == 1
    assert call.cost_usd == pytest.approx(call.prompt_tokens * 0.15e-6 + 0.6e-6)
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_a_recorded_call_is_never_sent_again(tmp_path: Path) -> None:
    with ModelServer() as server:
        with new_gateway(tmp_path / "calls.jsonl") as gateway:
            first = ask_all(gateway, server, range(10))
        with new_gateway(tmp_path / "calls.jsonl") as gateway:
            assert ask_all(gateway, server, range(12))[:10] == first
            assert (gateway.made, gateway.cached) == (2, 10)
    assert (set(server.answered.values()), server.requests) == ({1}, 12)


def test_a_recorded_call_needs_no_endpoint_and_no_client(tmp_path: Path) -> None:
    with ModelServer() as server, new_gateway(tmp_path / "calls.jsonl") as gateway:
        ask_all(gateway, server, range(3))
    again = (
        # The helpers import the server's module, and with it aiohttp; the gateway itself must not.
        "import sys, types; from pathlib import Path; fake = types.ModuleType('tests.support.model_server');"
        "fake.ModelServer = object; sys.modules[fake.__name__] = fake; from tests.gateway.asking import *;"
        f"gateway = new_gateway(Path({str(tmp_path / 'calls.jsonl')!r})); gateway.__enter__();"
        f"server = type('Gone', (), {{'url': {server.url!r}}});"
        "print(len(ask_all(gateway, server, range(3))), gateway.cached);"
        "gateway.__exit__(None, None, None);"
        "print([name for name in ('openai', 'aiohttp', 'genai_prices') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", again], capture_output=True, text=True, timeout=30, check=False)
    assert done.stdout.split("\n")[:2] == ["3 3", "[]"], done.stderr


def test_the_same_request_in_flight_is_sent_once() -> None:
    with ModelServer(latency=0.05) as server, new_gateway() as gateway:
        calls = ask_all(gateway, server, [1] * 30 + [2] * 30)
        assert gateway.made == server.requests == 2
    assert len({call.key for call in calls}) == 2


def test_a_joined_call_survives_the_cancellation_of_its_first_caller() -> None:
    with ModelServer(latency=0.1) as server, new_gateway() as gateway:
        endpoint = Endpoint(server.url, KEY)

        async def first_gives_up() -> Call:
            asked = [
                asyncio.create_task(gateway.ask(question(server.url), endpoint, Caller.JUDGE, Phase.JUDGE))
                for _asker in range(2)
            ]
            await asyncio.sleep(0.02)
            asked[0].cancel()
            return await asked[1]

        assert gateway.run(first_gives_up()).error is None
    assert server.requests == 1


def test_a_failed_call_stays_in_its_run_and_is_made_again(tmp_path: Path) -> None:
    shared, own = CallRecord(tmp_path / "shared.jsonl"), CallRecord(tmp_path / "own.jsonl")
    with ModelServer(most_faults=2) as server, new_gateway(shared, tries=2) as gateway:
        gateway.open_run("run-1", own)
        good = ask(gateway, server, 99)
        server.faults = {"html": 1.0}
        failed = ask(gateway, server)
        assert failed.error == "The reply is a web page, not JSON."
        assert failed.reply is not None and failed.reply.startswith("<!doctype html>")
        assert ask(gateway, server).error is None
    assert list(own.rows()) == [failed]
    assert [row.error for row in shared.rows()] == [None, None]
    assert next(shared.rows()) == good


def test_a_systems_calls_are_sent_every_time_and_kept_with_the_run(tmp_path: Path) -> None:
    shared, own = CallRecord(tmp_path / "shared.jsonl"), CallRecord(tmp_path / "own.jsonl")
    with ModelServer() as server, new_gateway(shared) as gateway:
        gateway.open_run("run-1", own)
        calls = [pass_on(gateway, server, 1, "s1", ordinal) for ordinal in range(5)]
        assert (gateway.made, gateway.cached) == (5, 0)
    assert server.requests == 5
    assert list(own.rows()) == calls
    assert list(shared.rows()) == []
    assert len({call.key for call in calls}) == 5
    assert [call.key for call in calls] == [call.request.key_in("s1", call.ordinal or 0) for call in calls]


def test_calls_before_the_first_run_is_opened_belong_to_it(tmp_path: Path) -> None:
    own = CallRecord(tmp_path / "own.jsonl")
    with ModelServer() as server, new_gateway() as gateway:
        early = pass_on(gateway, server, 1, None, 0)
        gateway.open_run("run-1", own)
        later = pass_on(gateway, server, 2, "s1", 0)
    assert early.run_id is None
    assert list(own.rows()) == [early.model_copy(update={"run_id": "run-1"}), later]


def test_a_sealed_runs_calls_can_be_reused() -> None:
    with ModelServer() as server:
        with new_gateway() as gateway:
            sealed = ask_all(gateway, server, range(5))
        with new_gateway() as gateway:
            gateway.reuse(sealed)
            assert ask_all(gateway, server, range(5)) == sealed
            assert (gateway.made, gateway.cached) == (0, 5)


def test_a_replay_answers_from_the_record_only_and_names_a_missing_call() -> None:
    with ModelServer() as server, new_gateway() as gateway:
        calls = [pass_on(gateway, server, number, "s1", 0) for number in range(3)] + ask_all(gateway, server, range(3))
    own = CallRecord(None)
    with Gateway(CallRecord(None), options(), replay=[*calls[:2], *calls[3:]]) as gateway:
        gateway.open_run("run-2", own)
        assert ask_all(gateway, server, range(3)) == calls[3:]
        assert [pass_on(gateway, server, number, "s1", 0) for number in range(2)] == calls[:2]
        assert (gateway.made, gateway.cached) == (0, 5)
        missing = question(server.url, 2)
        with pytest.raises(
            NotRecorded, match=f"no call of the system in scenario s1 to {MODEL}: {missing.key}"
        ) as raised:
            pass_on(gateway, server, 2, "s1", 0)
        assert raised.value.exit_code is ExitCode.BAD_INPUT
        with pytest.raises(NotRecorded, match=missing.key):
            pass_on(gateway, server, 0, "s1", 0)
    assert list(own.rows()) == calls[:2]


def test_a_replay_returns_a_failed_call_unchanged() -> None:
    with ModelServer(faults={"400": 1.0}, most_faults=None) as server, new_gateway() as gateway:
        failed = ask(gateway, server)
    with Gateway(CallRecord(None), options(), replay=[failed]) as gateway:
        assert ask(gateway, server) == failed


def test_a_replay_finds_calls_made_under_a_cap() -> None:
    with ModelServer() as server:
        request = ModelRequest(endpoint=server.url, api=Api.CHAT, body={"model": "m", "messages": []})
        limited = ModelRequest(endpoint=server.url, api=Api.CHAT, body=request.body | {"max_tokens": 4096})
        with new_gateway() as gateway:
            call = pass_on(gateway, server, limited)
    with Gateway(CallRecord(None), options(), replay=[call]) as gateway:
        assert pass_on(gateway, server, request) == call


@pytest.mark.parametrize("key", [KEY, "sk-with/slashes/and+more=="])
def test_no_recorded_byte_and_no_sentence_holds_the_key(tmp_path: Path, key: str) -> None:
    echo = {"answer": lambda body: f"your key is {key}, Bearer {key}"}
    shared, own = tmp_path / "shared.jsonl", tmp_path / "own.jsonl"
    said: list[str] = []
    with ModelServer(**echo, faults={"400": 0.3}) as server, new_gateway(shared) as gateway:  # type: ignore[arg-type]
        gateway.open_run("run", CallRecord(own))
        calls = ask_all(gateway, server, range(20), key=key)
        assert "your key is [secret], Bearer [secret]" in [text_of(call) for call in calls]
        said += [str(call.error) for call in calls]
        server.faults = {"key": 1.0}
        with pytest.raises(GatewayStopped) as raised:
            ask(gateway, server, 99, key=key)
        said.append(str(raised.value))
    assert server.headers[0]["authorization"] == f"Bearer {key}"
    assert key not in "".join(said)
    for path in (shared, own):
        assert path.stat().st_size > 0
        assert key.encode() not in path.read_bytes()


def test_an_escaped_key_in_a_reply_is_redacted() -> None:
    key = "sk-with/slashes/0123456789"
    spelt = key.replace("/", r"\/")
    reply = f'{{"choices": [{{"message": {{"content": "{spelt}"}}}}]}}'
    with ModelServer(refusal=(200, reply)) as server, new_gateway() as gateway:
        call = ask(gateway, server, key=key)
    assert text_of(call) == "[secret]"


def test_a_write_in_progress_is_completed_when_the_gateway_closes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entered, release, sync = threading.Event(), threading.Event(), os.fsync

    def slow(handle: int) -> None:
        entered.set()
        release.wait(5)
        sync(handle)

    path = tmp_path / "calls.jsonl"
    with ModelServer() as server:
        with new_gateway(path) as gateway:
            monkeypatch.setattr(os, "fsync", slow)
            asking = [threading.Thread(target=_quietly, args=(gateway, server, [number])) for number in range(2)]
            asking[0].start()
            assert entered.wait(5)
            asking[1].start()
            deadline = time.monotonic() + 5
            while gateway.made < 2 and time.monotonic() < deadline:
                time.sleep(0.005)
            threading.Timer(0.2, release.set).start()
        for thread in asking:
            thread.join(5)
    assert len(list(CallRecord(path).rows())) == len(server.answered) == 2


def test_openai_organization_and_project_are_sent_only_with_the_openai_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "sk-of-the-environment")
    with ModelServer() as server, new_gateway() as gateway:
        for number, endpoint in enumerate((Endpoint(server.url), Endpoint(server.url, KEY, "MEMEVAL_JUDGE_API_KEY"))):
            gateway.call(question(server.url, number), endpoint, Caller.JUDGE, Phase.JUDGE)
        none, own = server.headers
    assert "authorization" not in none
    assert own["authorization"] == f"Bearer {KEY}"
    assert "sk-of-the-environment" not in own.values()


def test_it_closes_without_waiting_for_calls_and_keeps_answered_ones(tmp_path: Path) -> None:
    with ModelServer() as server:
        with new_gateway(tmp_path / "calls.jsonl") as gateway:
            done = ask_all(gateway, server, range(5))
            server.latency = 30
            asking = threading.Thread(target=_quietly, args=(gateway, server, range(100, 110)))
            asking.start()
            server.wait_for(15)
            began = time.monotonic()
        assert time.monotonic() - began < 5
        asking.join(5)
        assert not asking.is_alive()
    assert list(CallRecord(tmp_path / "calls.jsonl").rows()) == done


def child(path: Path, server: ModelServer, body: str, **named: Any) -> subprocess.Popen[str]:
    """Start a process of its own that uses a gateway with the record at a path."""
    program = (
        "import signal, sys; from pathlib import Path; from tests.gateway.asking import *\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background has it ignored\n"
        "server = type('There', (), {'url': sys.argv[2]})\n"
        f"with new_gateway(Path(sys.argv[1]), concurrency=8) as gateway:\n    {body}"
    )
    return subprocess.Popen([sys.executable, "-c", program, str(path), server.url], text=True, **named)


def _quietly(gateway: Gateway, server: ModelServer, numbers: Iterable[int]) -> None:
    with pytest.raises(GatewayStopped, match="the run ended"):
        ask_all(gateway, server, numbers)


def test_a_gateway_without_calls_closes() -> None:
    with new_gateway() as gateway:
        assert (gateway.made, gateway.cached, gateway.spent_usd) == (0, 0, 0.0)


def test_an_interrupt_ends_a_run_and_keeps_what_was_answered(tmp_path: Path) -> None:
    path, asks = tmp_path / "calls.jsonl", "ask_all(gateway, server, range(5)); ask_all(gateway, server, range(5, 15))"
    with ModelServer() as server:
        server.answer = lambda body: _slower_after(server, 5)
        running = child(path, server, asks, stderr=subprocess.PIPE)
        server.wait_for(13, timeout=30)
        os.kill(running.pid, signal.SIGINT)
        _out, told = running.communicate(timeout=15)  # the open requests would take 30 s
    assert running.returncode != 0 and told.strip().endswith("KeyboardInterrupt")
    assert "never retrieved" not in told
    assert len(list(CallRecord(path).rows())) == 5


def _slower_after(server: ModelServer, requests: int) -> str:
    if server.requests >= requests:
        server.latency = 30
    return "yes"


def test_the_record_of_a_killed_process_can_be_resumed(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    answered = 50 - 8
    with ModelServer(latency=0.02) as server:
        server.answer = lambda body: _slower_after(server, 50)
        running = child(path, server, "ask_all(gateway, server, range(100))")
        deadline = time.monotonic() + 30
        while not path.exists() or path.read_bytes().count(b"\n") < answered:
            assert time.monotonic() < deadline, "what is answered is not on the disk"
            time.sleep(0.01)
        running.kill()
        running.wait(10)
        server.latency, server.answer = 0.0, yes_or_no
        kept = {row.key for row in CallRecord(path).rows()}
        assert answered <= len(kept) < 100
        with new_gateway(path) as gateway:
            calls = ask_all(gateway, server, range(100))
            assert gateway.made == 100 - len(kept)
    assert {call.key for call in calls} == {question(server.url, number).key for number in range(100)}


def test_two_processes_that_need_the_same_calls_pay_for_each_once(tmp_path: Path) -> None:
    asks = "print(len(ask_all(gateway, server, range(40))), gateway.made, gateway.cached)"
    with ModelServer(latency=0.1) as server:
        children = [child(tmp_path / "calls.jsonl", server, asks, stdout=subprocess.PIPE) for _ in range(2)]
        told = [list(map(int, each.communicate(timeout=60)[0].split())) for each in children]
        assert (set(server.answered.values()), server.requests) == ({1}, 40)
    assert [asked for asked, _made, _cached in told] == [40, 40]
    assert sum(made for _asked, made, _cached in told) == sum(cached for _asked, _made, cached in told) == 40


def test_a_call_that_a_killed_process_was_making_is_made_by_another(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    with ModelServer(latency=30) as server:
        running = child(path, server, "ask(gateway, server, 1)")
        server.wait_for(1, timeout=30)
        server.latency = 0.0
        record = CallRecord(path)
        assert not record.claim(question(server.url, 1).key)
        assert record.claim(question(server.url, 2).key)
        record.close()
        running.kill()
        running.wait(10)
        with new_gateway(path) as gateway:
            assert ask(gateway, server, 1).error is None


def test_a_request_for_another_endpoint_is_not_sent() -> None:
    with (
        ModelServer() as server,
        new_gateway() as gateway,
        pytest.raises(ValueError, match="the request names the endpoint"),
    ):
        gateway.call(question("http://127.0.0.1:9/v1"), Endpoint(server.url, KEY), Caller.JUDGE, Phase.JUDGE)
    assert server.requests == 0
