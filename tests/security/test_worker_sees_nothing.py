"""What a hostile adapter finds when it looks around: sessions, questions and times, and nothing of memeval's."""

import json
import sys
from pathlib import Path

import pytest

from memeval.records.track import Limits
from memeval.systems.child import Launch
from memeval.systems.process import SystemProcess
from tests.security.memory import in_memory, memory_holds

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
