"""Systems that cheat, in a real sandbox, and what a hostile adapter finds when it looks around: nothing."""

import ctypes
import dataclasses
import json
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memeval.records.submission import Resources
from memeval.records.track import Limits
from memeval.systems.child import Launch
from memeval.systems.errors import AdapterRaised, SystemDied, SystemTimedOut
from memeval.systems.process import SystemProcess
from memeval.systems.sandbox import Sandbox, SandboxMode, find_sandbox
from tests.security.memory import in_memory, memory_holds

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is for Linux")

CANARIES = Path(__file__).with_name("canaries")
NEEDLE = "the-answer-nobody-may-see"
SCENARIO = "deepmemeval-q0042"

Release = Callable[..., SystemProcess]


@dataclasses.dataclass(frozen=True)
class Surroundings:
    """What lies about on the machine while a canary runs."""

    results: Path
    home: Path
    submission: Path
    environment: Path
    endpoint: Path

    @property
    def secrets(self) -> list[Path]:
        """Files that hold the needle."""
        return [self.results / "runs" / SCENARIO / "items.jsonl", self.home / ".netrc"]


@pytest.fixture
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Surroundings:
    around = Surroundings(
        results=tmp_path / "results",
        home=tmp_path / "home",
        submission=tmp_path / "submission",
        environment=tmp_path / "environment",
        endpoint=tmp_path / "endpoint.sock",
    )
    for folder in (around.home, around.submission, around.environment, *(path.parent for path in around.secrets)):
        folder.mkdir(parents=True, exist_ok=True)
    for path in around.secrets:
        path.write_text(NEEDLE)
    (around.environment / "module.py").write_text("")
    monkeypatch.setenv("HOME", str(around.home))
    monkeypatch.setenv("MEMEVAL_TEST_SECRET", NEEDLE)
    return around


@pytest.fixture
def release(surroundings: Surroundings) -> Iterator[Release]:
    """Start a canary by its file's name, inside the sandbox or outside; ended after the test."""
    found = find_sandbox(SandboxMode.BWRAP, print)
    assert found is not None
    held = dataclasses.replace(found, hidden=(surroundings.results,))
    started: list[SystemProcess] = []

    def start(name: str, *, held_by: Sandbox | None = held, ask_seconds: float = 20.0, **named: Any) -> SystemProcess:
        file = surroundings.submission / f"{name}.py"
        file.write_bytes((CANARIES / f"{name}.py").read_bytes())
        launch = Launch(file, folder=surroundings.submission, shown=(surroundings.environment,), **named)
        process = SystemProcess(launch, Limits(ask_seconds=ask_seconds), print, sandbox=held_by)
        started.append(process)
        process.start()
        process.reset()
        return process

    yield start
    for process in started:
        process.close()


def loot(process: SystemProcess, told: object) -> Any:
    """Ask a canary what it came away with."""
    return json.loads(process.ask(json.dumps(told)).answer or "")


def test_files_and_environments_of_others_are_not_to_be_read(release: Release, surroundings: Surroundings) -> None:
    told: dict[str, Any] = {"paths": [*map(str, surroundings.secrets), str(Path(__file__).parents[2] / "results")]}
    told |= {"needle": NEEDLE, "python": sys.base_prefix, "root": "/"}
    assert loot(release("reads_files"), told) == []
    found = loot(release("reads_files", held_by=None), {**told, "root": str(surroundings.results.parent)})
    assert set(found) == {*told["paths"], *map(str, surroundings.secrets)}, "without a sandbox it finds them"


def test_stack_and_heap_hold_no_answer_and_no_name(release: Release) -> None:
    words = [word[::-1] for word in (NEEDLE, SCENARIO, "answer_key", "deepmemeval", "item_id")]
    assert loot(release("walks_frames"), words) == []
    assert loot(release("walks_frames"), ['"ksa":"llac"']) != [], "it does see what is there"


def test_memeval_and_other_processes_are_out_of_reach(release: Release) -> None:
    kept = ctypes.create_string_buffer(NEEDLE.encode())
    told = {"memeval": os.getpid(), "address": ctypes.addressof(kept), "needle": NEEDLE}
    assert loot(release("looks_into_processes"), told) == []


@pytest.fixture
def servers(surroundings: Surroundings) -> Iterator[dict[str, socket.socket]]:
    """One server of each kind, on the machine."""
    kinds: dict[str, tuple[int, int, Any]] = {
        "tcp": (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
        "udp": (socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
        "path": (socket.AF_UNIX, socket.SOCK_STREAM, str(surroundings.endpoint)),
        "abstract": (socket.AF_UNIX, socket.SOCK_STREAM, f"\0memeval-canary-{os.getpid()}"),
    }
    open_ones: dict[str, socket.socket] = {}
    for name, (family, kind, address) in kinds.items():
        open_ones[name] = socket.socket(family, kind)
        open_ones[name].bind(address)
        if kind == socket.SOCK_STREAM:
            open_ones[name].listen()
        open_ones[name].setblocking(False)
    yield open_ones
    for server in open_ones.values():
        server.close()


def test_no_socket_leads_anywhere(
    release: Release, surroundings: Surroundings, servers: dict[str, socket.socket]
) -> None:
    told: dict[str, Any] = {name: servers[name].getsockname()[1] for name in ("tcp", "udp")}
    told |= {"path": str(surroundings.endpoint), "abstract": f"memeval-canary-{os.getpid()}"}
    told["hosts"] = [socket.gethostbyname(socket.gethostname()), "10.0.2.2", "169.254.169.254", "8.8.8.8"]
    assert loot(release("calls_out"), told) == []
    with pytest.raises(BlockingIOError):
        servers["udp"].recv(100)
    told["hosts"] = []
    found = loot(release("calls_out", held_by=None), told)
    assert {what.split()[0] for what in found} >= {"tcp", "unix"}, "without a sandbox it gets through"


def marked(mark: str) -> list[int]:
    """Return the processes that have an argument."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "cmdline").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def none_left(mark: str) -> bool:
    """Wait for no process with an argument to be left."""
    deadline = time.monotonic() + 5
    while left := marked(mark):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return not left


@pytest.mark.parametrize("held", [True, False])
def test_nothing_it_leaves_behind_lives_on(release: Release, held: bool) -> None:
    where = {} if held else {"held_by": None}
    mark = f"quiet-{os.getpid()}"
    process = release("leaves_processes", **where)
    assert process.ask(mark).answer == "[]"
    assert marked(mark), "they run while it does"
    process.close()
    assert none_left(mark)
    mark = f"hang-{os.getpid()}"
    process = release("leaves_processes", ask_seconds=1.0, **where)
    with pytest.raises(SystemTimedOut):
        process.ask(mark)
    assert none_left(mark)


def test_space_ends_and_the_system_goes_on(release: Release) -> None:
    process = release("takes_too_much", resources=Resources(disk_mb=16))
    assert json.loads(process.ask("space").answer or "") <= 16
    process.reset()
    assert json.loads(process.ask("space").answer or "") <= 16


def test_memory_and_processes_end_the_system_with_a_sentence(release: Release) -> None:
    process = release("takes_too_much", resources=Resources(memory_mb=128, processes=40))
    with pytest.raises(SystemDied, match="was stopped during query: it used more than 128 MiB of memory"):
        process.ask("memory")
    process.start()
    with pytest.raises((SystemDied, AdapterRaised), match=r"it ran more than 40 processes|Resource temporarily"):
        process.ask("processes")
    process.start()
    process.reset()
    assert process.alive, "memeval goes on"


def test_nothing_of_memevals_or_its_own_can_be_written(release: Release, surroundings: Surroundings) -> None:
    own = [surroundings.submission / "writes_about.py", surroundings.submission, surroundings.environment]
    own += [surroundings.environment / "module.py", surroundings.results, *surroundings.secrets]
    machine = ["/usr/bin/env", "/usr", "/etc/passwd", "/etc", "/run/memeval/worker.pyc", "/run/memeval", os.__file__]
    before = {path: path.read_bytes() for path in surroundings.submission.parent.rglob("*") if path.is_file()}
    assert loot(release("writes_about"), [*map(str, own), *machine]) == []
    after = {path: path.read_bytes() for path in surroundings.submission.parent.rglob("*") if path.is_file()}
    after.pop(surroundings.submission / "writes_about.py")
    assert after == before


def test_no_note_outlasts_its_process(release: Release) -> None:
    process = release("keeps_notes")
    assert loot(process, "first") == []
    assert "the module" in loot(process, "second"), "what stays in one process is the conformance checks' to find"
    process.start()
    process.reset()
    assert (loot(process, "third"), loot(release("keeps_notes"), "fourth")) == ([], [])


def test_nothing_around_it_tells_what_is_measured(release: Release, surroundings: Surroundings) -> None:
    repository = str(Path(__file__).parents[2])
    words = ["deepmemeval", "benchmark", "scenario", "category", NEEDLE, SCENARIO, repository]
    assert loot(release("looks_around"), words) == []
    assert loot(release("looks_around"), [str(surroundings.submission)]) != [], "it does see its own folder"


CANARY = """
import gc, json, os, sys, threading

class Canary:
    def reset(self): pass
    def ingest_session(self, session, timestamp): self.session = session
    def query(self, question, timestamp="now"):
        seen = {
            "modules": sorted(sys.modules),
            "files": sorted({str(getattr(m, "__file__", "")) for m in list(sys.modules.values())}),
            "environ": dict(os.environ),
            "argv": sys.argv + sys.orig_argv,
            "path": sys.path,
            "cmdline": open("/proc/self/cmdline").read().split("\\0"),
            "open": [os.readlink(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd") if n != "x"
                     and os.path.islink(f"/proc/self/fd/{n}")],
            "threads": [thread.name for thread in threading.enumerate()],
            "frames": [], "locals": [], "types": [],
        }
        for frame in sys._current_frames().values():
            while frame:
                seen["frames"].append(frame.f_code.co_filename)
                seen["locals"].append(sorted(frame.f_locals))
                frame = frame.f_back
        for thing in gc.get_objects():
            kind = type(thing)
            seen["types"].append(f"{kind.__module__}.{kind.__qualname__}")
            if isinstance(thing, dict):
                seen["locals"].append([key for key in thing if isinstance(key, str)])
        seen["types"] = sorted(set(seen["types"]))
        return json.dumps(seen)
"""

NEVER = ("memeval", "scenario", "gold", "expected_answer", "answer_key")


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    path = tmp_path / "canary.py"
    path.write_text(CANARY)
    return path


def ingest(process: SystemProcess, content: str) -> None:
    turn = {"turn_id": "s001:t01", "role": "user", "content": content}
    process.reset()
    process.ingest([({"session_id": "s001", "date": "2025-01-02", "turns": [turn]}, "2025-01-02")])


def test_a_canary_finds_no_trace_of_memeval(canary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMEVAL_JUDGE_API_KEY", "secret-of-the-judge")
    with SystemProcess(Launch(canary), Limits(), print) as process:
        ingest(process, "Uses Drone CI.")
        seen = json.loads(process.ask("What does Jim use?").answer)
    everything = json.dumps({name: seen[name] for name in seen if name not in ("path", "argv", "cmdline")})
    assert "secret-of-the-judge" not in everything
    harness = str(Path(__file__).parents[2] / "harness")
    assert harness not in json.dumps(seen)
    assert not [name for name in seen["modules"] if name.partition(".")[0] in ("memeval", "pydantic", "numpy")]
    for word in NEVER:
        assert not [kind for kind in seen["types"] if word in kind.lower()], word
        assert not [names for names in seen["locals"] if any(word in name.lower() for name in names)], word
    assert not [place for place in seen["path"] if "site-packages" in place]
    assert [place for place in seen["open"] if place.startswith("/") and place != "/dev/null"] == [
        place for place in seen["open"] if place.startswith("/proc/")
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_workers_memory_holds_what_it_was_told_and_nothing_of_its_parents(canary: Path) -> None:
    # Put together at run time, so that no file on the way holds them whole.
    told, secret, wide = ("-".join(("drone", "ci", str(number))) for number in range(3))
    kept = {secret: in_memory(secret)}  # As an answer key would lie in memeval's memory.
    with SystemProcess(Launch(canary), Limits(), print) as process:
        ingest(process, f"{told} {wide} 🙂")
        child = process.child
        assert child is not None
        assert memory_holds(child.pid, in_memory(told)), "the scan finds what is there"
        assert memory_holds(child.pid, [wide.encode("utf-32-le")]), "and finds it in wide text"
        assert memory_holds(child.pid, kept[secret]) == set()
