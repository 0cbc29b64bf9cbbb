"""Stored answers judged by a model whose server fails, dies, lies and bills: what comes of it, and what it costs."""

import gzip
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from memeval.archive.runs import RunFolder, sealed_runs
from memeval.records.errors import ExitCode
from memeval.records.grade import GradeState
from tests.support.adapters import plain_adapter
from tests.support.calling import Said
from tests.support.commands import ServerProcess, Started, memeval, start
from tests.support.model_server import ModelServer, digest, yes_or_no
from tests.support.waiting import wait_until

ITEMS, JUDGED = 58, 55
"""Items that a judge is asked about; the others are graded by their figures."""
SMALL = ("--benchmark", "beliefs@2", "--parameter", "size=5")
JUDGE = ("--judge", "openai:gpt-4o", "--judge-label", "loopback")
KEY = "sk-a-key-that-nobody-may-ever-see-0123456789"
RECORD = Path("results/.record/calls.jsonl")


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one run whose answers wait for a judge."""
    folder = tmp_path_factory.mktemp("answered")
    said = memeval("run", str(plain_adapter(folder)), *SMALL, where=folder)
    assert said.code == ExitCode.DONE, said.err
    return folder


@pytest.fixture
def place(answered: Path, tmp_path: Path) -> Path:
    shutil.copytree(answered / "results", tmp_path / "results")
    return tmp_path


def begin(place: Path, url: str, *more: str, key: str = KEY, judge: tuple[str, ...] = JUDGE) -> Started:
    return start(*words(*more, judge=judge), where=place, MEMEVAL_JUDGE_BASE_URL=url, MEMEVAL_JUDGE_API_KEY=key)


def regrade(place: Path, url: str, *more: str, key: str = KEY, judge: tuple[str, ...] = JUDGE) -> Said:
    return begin(place, url, *more, key=key, judge=judge).said()


def words(*more: str, judge: tuple[str, ...] = JUDGE) -> tuple[str, ...]:
    return ("regrade", "results", *judge, "--concurrency", "8", *more)


def judged(place: Path) -> RunFolder:
    (run,) = (run for run in sealed_runs(place / "results") if run.run.track.judge != "rules@3")
    return run


def recorded(place: Path) -> list[dict[str, Any]]:
    """Return the calls on record, whole lines only, each after its checksum."""
    path = place / RECORD
    data = path.read_bytes() if path.exists() else b""
    return [json.loads(line.partition(b" ")[2]) for line in data[: data.rfind(b"\n") + 1].splitlines()]


def asked(calls: list[dict[str, Any]]) -> set[str]:
    """Return what the server counts recorded requests under."""
    return {digest(call["request"]["body"]) for call in calls}


def test_no_fault_of_a_server_changes_a_verdict_or_is_paid_for_twice(answered: Path, tmp_path: Path) -> None:
    calm, rough = tmp_path / "calm", tmp_path / "rough"
    for folder in (calm, rough):
        shutil.copytree(answered / "results", folder / "results")
    with ModelServer() as server:
        assert regrade(calm, server.url).code == ExitCode.DONE
    faults = dict.fromkeys(("429", "500", "dropped", "garbage", "empty", "slow"), 0.1)
    with ModelServer(faults=faults, slow_seconds=1.0, port=server.port) as faulty:
        said = regrade(rough, faulty.url, "--concurrency", "64")
    assert said.code == ExitCode.DONE, said.err
    assert set(faulty.faulted) == set(faults)
    assert set(faulty.answered.values()) == {1}
    assert set(faulty.answered) == set(server.answered)
    assert [grade.to_json() for grade in judged(rough).grades()] == [grade.to_json() for grade in judged(calm).grades()]
    assert Counter(grade.state for grade in judged(rough).grades()) == {GradeState.GRADED: ITEMS}


def test_a_server_killed_halfway_costs_no_judgment_twice_and_is_not_needed_afterwards(place: Path) -> None:
    slow = ("--latency", "0.1")
    with ServerProcess(*slow) as server:
        process = start(*words(), where=place, MEMEVAL_JUDGE_BASE_URL=server.url)
        wait_until(lambda: len(recorded(place)) >= JUDGED // 4 or process.poll() is not None)
        server.kill()
        said = process.said()
    assert said.code == ExitCode.BAD_INPUT
    assert "Nothing listens at the endpoint" in said.err and "Run the same command to resume" in said.err
    before = recorded(place)
    assert JUDGED // 4 <= len(before) < JUDGED
    with ServerProcess(*slow, "--port", server.port) as again:
        said = regrade(place, again.url, key="")
        assert said.code == ExitCode.DONE, said.err
        seen = again.seen()
    assert not asked(before) & set(seen["answered"])
    assert recorded(place)[: len(before)] == before
    assert seen["requests"] == len(recorded(place)) - len(before)
    said = memeval("reproduce", str(judged(place).path), where=place)
    assert (said.code, said.out.rpartition(": ")[2]) == (ExitCode.DONE, "equal\n")
    assert memeval("verify", where=place).code == ExitCode.DONE


def test_a_cap_on_dollars_stops_before_it_and_a_higher_one_finishes(place: Path) -> None:
    with ModelServer(latency=0.02) as server:
        said = regrade(place, server.url, "--max-cost-usd", "0.01", "--concurrency", "64")
        assert said.code == ExitCode.BUDGET
        assert "$0.01" in said.err and "Run the same command to resume" in said.err
        first = recorded(place)
        assert 0 < sum(call["cost_usd"] for call in first) <= 0.01
        assert len(sealed_runs(place / "results")) == 1
        assert regrade(place, server.url, "--max-cost-usd", "1").code == ExitCode.DONE
    calls = recorded(place)
    assert calls[: len(first)] == first
    assert server.requests == len(calls) == len(asked(calls))
    usage = judged(place).run.usage
    (spent,) = (phase.usd for phase in usage.values())
    assert spent == pytest.approx(sum(call["cost_usd"] for call in calls))


@dataclass(frozen=True)
class Stop:
    """A server that nothing can be had from, and how a call of the command line should end."""

    said: str
    code: ExitCode = ExitCode.BAD_INPUT
    server: dict[str, Any] = field(default_factory=dict)
    most_requests: int | None = None


STOPS = {
    "quota": Stop("the quota is used up (429)", ExitCode.BUDGET, {"faults": {"quota": 1.0}, "most_faults": None}, 8),
    "key": Stop("refused the key (401)", server={"key": "sk-another"}, most_requests=8),
    "model": Stop("has no model 'gpt-4o-2024-08-06'", server={"models": frozenset({"other"})}, most_requests=8),
    "html": Stop("The reply is a web page", server={"faults": {"html": 1.0}, "most_faults": None}),
    "down": Stop("Nothing listens at the endpoint"),
    "tls": Stop("no secure connection to https://127.0.0.1"),
}


def flooding() -> Callable[[dict[str, Any]], str]:
    """Return what answers one request, whichever comes first, with ten megabytes each time."""
    flooded: list[str] = []

    def answer(body: dict[str, Any]) -> str:
        flooded.extend([] if flooded else [digest(body)])
        return "x" * 10_000_000 if digest(body) == flooded[0] else yes_or_no(body)

    return answer


Outcome = tuple[Said, ModelServer, Path]


@pytest.fixture(scope="module")
def waits(answered: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """What came of judging over servers that make memeval wait; they are called at once, to wait together."""
    servers = {name: stop.server for name, stop in STOPS.items()} | {"flood": {"answer": flooding()}}
    begun: dict[str, tuple[Started, ModelServer, Path]] = {}
    with ExitStack() as up:
        for name, options in servers.items():
            folder = tmp_path_factory.mktemp(name)
            shutil.copytree(answered / "results", folder / "results")
            with ExitStack() as own:
                server = own.enter_context(ModelServer(**options))
                url = server.url.replace("http:", "https:") if name == "tls" else server.url
                if name != "down":
                    up.push(own.pop_all())
            begun[name] = begin(folder, url), server, folder
        return {name: (process.said(), server, folder) for name, (process, server, folder) in begun.items()}


@pytest.mark.parametrize("name", STOPS)
def test_what_no_call_can_pass_stops_with_a_sentence_and_leaves_no_key(waits: dict[str, Outcome], name: str) -> None:
    stop, (said, server, folder) = STOPS[name], waits[name]
    assert said.code == stop.code, said.err
    assert stop.said in said.err and "Run the same command to resume" in said.err
    assert said.out == ""
    assert stop.most_requests is None or server.requests <= stop.most_requests
    assert len(sealed_runs(folder / "results")) == 1
    assert recorded(folder) == []
    assert not list(holding(KEY, folder)) and KEY not in said.err


def holding(text: str, folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.is_file():
            data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            if text.encode() in data:
                yield path


def test_a_key_that_the_provider_gives_back_is_on_no_record(place: Path) -> None:
    class Telling(ModelServer):
        def _good(self, body: dict[str, Any], path: str, text: str | None) -> dict[str, Any]:
            return super()._good(body, path, text) | {"system_fingerprint": f"you sent {KEY}", "debug": KEY}

    with Telling() as server:
        said = regrade(place, server.url)
    assert said.code == ExitCode.DONE, said.err
    assert recorded(place)[0]["fingerprint"] == "you sent [secret]"
    assert not list(holding(KEY, place)) and KEY not in said.err + said.out


def test_a_reply_of_ten_megabytes_is_not_read_and_fails_its_row_alone(waits: dict[str, Outcome]) -> None:
    said, _server, folder = waits["flood"]
    assert said.code == ExitCode.DONE, said.err
    run = judged(folder)
    (lost,) = (grade for grade in run.grades() if grade.state is not GradeState.GRADED)
    assert lost.state is GradeState.JUDGE_ERROR
    assert "larger than 2,000,000 bytes" in (lost.reason or "")
    assert max(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < 1_000_000
    assert memeval("reproduce", str(run.path), where=folder).code == ExitCode.DONE
