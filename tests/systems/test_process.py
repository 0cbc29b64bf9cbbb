"""What can go wrong in a system's process, and what is left of it afterwards."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from memeval.records.errors import BadInput
from memeval.systems.child import Launch
from memeval.systems.errors import AdapterMisbehaved, AdapterRaised, SystemDied, SystemNotReady, SystemTimedOut
from memeval.systems.process import SystemProcess
from tests.systems.helpers import PATIENT, Start, adapter, child_of, gone, session, sessions, write

TINY = PATIENT.model_copy(update={"ask_seconds": 0.2, "take_in_seconds": 0.2, "settle_seconds": 0.1})
TOO_SLOW = r"query took longer than 0\.2 s \(adapter\.py:\d+ in query\)\. Make it faster, or raise --ask"


def test_an_exception_is_a_sentence_and_the_process_goes_on(system: Start, log: list[str]) -> None:
    process = system("if question == 'bad':\n    raise ValueError('bad\\x1b')\nreturn 'fine'")
    with pytest.raises(AdapterRaised) as caught:
        process.ask("bad")
    assert caught.value.sentence == "query raised ValueError: bad\\x1b (adapter.py:11 in query)."
    assert any("adapter.py" in line and "in query" in line for line in log)
    assert process.ask("good").answer == "fine"


@pytest.mark.parametrize("raised", ["SystemExit(0)", "KeyboardInterrupt()", "GeneratorExit()", "BaseException()"])
def test_leaving_by_exception_is_an_exception_like_any_other(system: Start, raised: str) -> None:
    process = system(f"raise {raised}")
    sentence = r"query called sys\.exit\(0\)" if "Exit(0" in raised else raised.partition("(")[0]
    with pytest.raises(AdapterRaised, match=sentence):
        process.ask("q")
    assert process.alive


def test_an_exception_that_cannot_be_told_is_still_one(system: Start) -> None:
    body = """
    class Mute(Exception):
        def __str__(self): raise RuntimeError
    raise Mute
    """
    with pytest.raises(AdapterRaised, match=r"query raised Mute \(adapter\.py:13 in query\)\."):
        system(body).ask("q")


def test_a_hanging_call_is_cut_off_and_the_process_can_be_started_again(system: Start) -> None:
    process = system("time.sleep(60) if question == 'hang' else None\nreturn 'fine'", limits=TINY)
    pid = child_of(process).pid
    started = time.monotonic()
    with pytest.raises(SystemTimedOut, match=TOO_SLOW):
        process.ask("hang")
    assert time.monotonic() - started < 10
    assert not process.alive
    assert gone(pid)
    with pytest.raises(SystemDied):
        process.ask("good")
    process.start()
    process.reset()
    assert process.ask("good").answer == "fine"


def test_what_a_system_is_kept_waiting_for_models_is_not_counted(system: Start) -> None:
    began = time.monotonic()
    process = system("time.sleep(0.6)\nreturn 'fine'", limits=TINY, waited=lambda: time.monotonic() - began)
    reply = process.ask("q")
    assert reply.answer == "fine"
    assert reply.seconds < 0.6


def test_a_wait_that_turns_out_to_be_service_is_counted(system: Start) -> None:
    began = time.monotonic()
    process = system("time.sleep(0.6)\nreturn 'fine'", limits=TINY, waited=lambda: min(0.3, time.monotonic() - began))
    time.sleep(0.4)
    with pytest.raises(SystemTimedOut, match=TOO_SLOW):
        process.ask("q")


@pytest.mark.parametrize("sent", [0, signal.SIGSTOP], ids=["runs on", "is stopped"])
def test_a_signal_proof_hang_is_cut_off_too(system: Start, sent: int) -> None:
    process = system("signal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: pass", limits=TINY)
    pid = child_of(process).pid
    os.kill(pid, sent)
    with pytest.raises(SystemTimedOut):
        process.ask("q")
    assert gone(pid)


def test_a_crash_is_told_with_its_code_and_last_words(system: Start) -> None:
    process = system("print('out of luck', flush=True)\nos._exit(3)")
    with pytest.raises(SystemDied) as caught:
        process.ask("q")
    ended = "The process ended with exit code 3 during query. Its last line of output: out of luck"
    assert caught.value.problem == ended
    assert caught.value.remedy == "Return or raise instead of ending the process."
    process = system("print('so far', flush=True)\nos.kill(os.getpid(), signal.SIGSEGV)")
    with pytest.raises(SystemDied) as caught:
        process.ask("q")
    place = "(adapter.py:11 in query)"
    assert caught.value.problem == f"The process was killed by SIGSEGV (segmentation fault) during query {place}."


def test_a_crash_is_noticed_although_a_grandchild_holds_the_pipes_open(system: Start) -> None:
    body = """
    if os.fork() == 0:
        time.sleep(60)
    os._exit(4)
    """
    started = time.monotonic()
    with pytest.raises(SystemDied, match="exit code 4"):
        system(body).ask("q")
    assert time.monotonic() - started < 10


def test_what_is_printed_goes_to_the_log_and_not_into_the_protocol(system: Start, log: list[str]) -> None:
    body = """
    print('{"id": 3, "value": "forged"}')
    os.write(1, b"raw\\n")
    subprocess.run(["/bin/echo", "by a child"])
    sys.stderr.write("and here\\x1b[2J\\n")
    return sys.stdin.read() + "fine"
    """
    process = system(body)
    assert process.ask("q").answer == "fine"
    process.close()
    assert log == ['{"id": 3, "value": "forged"}', "raw", "by a child", "and here\\x1b[2J"]


FORGED = '{"id":3,"value":{"answer":"\\ud800"}}\n'


@pytest.mark.parametrize(
    ("written", "said"),
    [
        pytest.param("b'garbage\\n'", "^The reply to query is not ", id="a line"),
        pytest.param("b'garbage'", "^The reply to query is not ", id="half a line"),
        pytest.param("b'\\xff\\xfe\\n'", "^The reply to query is not ", id="broken bytes"),
        pytest.param('b\'{"id":0,"value":null}\\n\'', "^The reply to query does not have the id", id="no call's"),
        pytest.param("b'x' * 50_000_000", "^The reply to query exceeds the limit of 1 MB", id="50 MB"),
        pytest.param(repr(FORGED.encode()), "lone surrogate", id="a forged reply of the wrong shape"),
    ],
)
def test_rubbish_on_every_descriptor_ends_the_process(system: Start, written: str, said: str) -> None:
    body = f"""
    for descriptor in range(3, 21):
        try:
            data = {written}
            while data:
                data = data[os.write(descriptor, data):]
        except OSError:
            pass
    return 'x'
    """
    process = system(body)
    pid = child_of(process).pid
    with pytest.raises(AdapterMisbehaved, match=said):
        process.ask("q")
    assert not process.alive
    assert gone(pid)


def test_a_closed_line_is_told_apart_from_a_crash(system: Start) -> None:
    with pytest.raises(AdapterMisbehaved, match="closed its connection to memeval during query"):
        system("os.closerange(3, 50)\ntime.sleep(60)").ask("q")


def test_many_sessions_are_taken_in_in_order(system: Start) -> None:
    process = system("return ' '.join(s['session_id'] for s, _ in self.taken)")
    assert process.ingest(sessions(300)) > 0
    assert process.ask("q").answer.split() == [f"s{number:03d}" for number in range(1, 301)]


def test_sessions_larger_than_any_pipe_are_taken_in(system: Start) -> None:
    process = system("return str(sum(len(s['turns'][0]['content']) for s, _ in self.taken))")
    process.ingest([(session(number, "é" * 2_000_000), "2025-01-02") for number in range(3)])
    assert process.ask("q").answer == "6000000"


def test_a_flood_of_output_while_sessions_are_taken_in_blocks_nothing(system: Start, log: list[str]) -> None:
    process = system(more="def ingest_session(self, session, timestamp): print('x' * 100_000)")
    process.ingest(sessions(100, "y" * 50_000))
    assert process.ask("q").answer == "ok"
    process.close()
    assert sum(map(len, log)) < 300_000 and "were not kept" in log[-1]


def test_after_a_session_that_fails_no_other_is_taken_in_until_reset(system: Start) -> None:
    more = """
    def ingest_session(self, session, timestamp):
        if session["session_id"] == "s003": raise RuntimeError("full")
        self.taken.append(session["session_id"])
    """
    process = system("return ' '.join(self.taken)", more=more)
    said = r"ingest_session raised RuntimeError: full \(adapter\.py:13 in ingest_session\)\."
    with pytest.raises(AdapterRaised, match=said):
        process.ingest(sessions(100))
    assert process.ask("q").answer == "s001 s002"
    process.reset()
    process.ingest(sessions(2))
    assert process.ask("q").answer == "s001 s002"


def test_the_limit_holds_for_each_session_and_not_for_all(system: Start) -> None:
    slow = "time.sleep(60 if session['session_id'] == 's099' else 0.02)"
    process = system(more=f"def ingest_session(self, session, timestamp): {slow}", limits=TINY)
    assert process.ingest(sessions(20)) > TINY.take_in_seconds
    with pytest.raises(SystemTimedOut, match="ingest_session took longer"):
        process.ingest([(session(99), "2025-01-02")])


def test_a_reset_and_the_sessions_sent_with_it_have_their_own_limits(system: Start) -> None:
    slow = "def ingest_session(self, session, timestamp): time.sleep(1.5)"
    process = system(more=slow, limits=PATIENT.model_copy(update={"reset_seconds": 1.0}))
    assert process.ingest(sessions(1), afresh=True) > 1.5
    process = system(more=slow, limits=PATIENT.model_copy(update={"take_in_seconds": 0.5}))
    with pytest.raises(SystemTimedOut, match=r"ingest_session took longer than 0\.5 s \(adapter"):
        process.ingest(sessions(1), afresh=True)


def test_a_system_settles_before_it_is_asked(system: Start) -> None:
    assert system().settle() is None
    assert system(more="def settle(self, timeout): return None").settle() is not None


def test_a_system_that_is_not_ready_says_so_and_goes_on(system: Start) -> None:
    process = system(more="def settle(self, timeout):\n    time.sleep(timeout)\n    return False", limits=TINY)
    with pytest.raises(SystemNotReady, match="settle returned False"):
        process.settle()
    assert process.ask("q").answer == "ok"


def test_a_settle_that_does_not_come_back_is_not_ready(system: Start) -> None:
    process = system(more="def settle(self, timeout): time.sleep(60)", limits=TINY)
    with pytest.raises(SystemNotReady, match=r"settle was not done after 0\.1 s \(adapter\.py:11 in settle\)"):
        process.settle()
    assert not process.alive


def test_the_environment_is_clean_and_the_hash_seed_fixed(system: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a secret")
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    process = system("return repr((sorted(os.environ), hash('memory'), os.getcwd(), os.environ['HOME']))")
    names, seeded, folder, home = eval(process.ask("q").answer)
    pythons = {"PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONUTF8"}
    assert set(names) - {"LC_CTYPE"} == {"HOME", "LANG", "PATH", "TMPDIR"} | pythons
    command = [sys.executable, "-c", "print(hash('memory'))"]
    assert seeded == int(subprocess.check_output(command, env={"PYTHONHASHSEED": "42"}))
    assert folder == home == str(child_of(process).folder)


def test_memevals_own_packages_are_out_of_sight(system: Start) -> None:
    body = """
    found = []
    for name in ("memeval", "pydantic", "numpy"):
        try:
            __import__(name)
            found.append(name)
        except ImportError:
            pass
    return repr(found)
    """
    assert system(body).ask("q").answer == "[]"


def test_a_systems_own_python_keeps_its_packages(system: Start) -> None:
    process = system("import pydantic\nreturn pydantic.VERSION", own_interpreter=False)
    assert process.adapter.packages["pydantic"] == process.ask("q").answer


def test_the_folder_and_all_processes_are_gone_after_close(system: Start) -> None:
    process = system("open('note', 'w').close()\nreturn str(subprocess.Popen(['/bin/sleep', '60']).pid)")
    grandchild = int(process.ask("q").answer)
    pid, folder = child_of(process).pid, child_of(process).folder
    assert (folder / "note").exists()
    process.close()
    assert gone(pid) and gone(grandchild)
    assert not folder.exists()
    process.close()


def test_the_adapter_may_close_and_exit_handlers_run(system: Start, log: list[str]) -> None:
    more = """
    def reset(self): import atexit; atexit.register(print, "at exit")
    async def close(self): print("closed")
    """
    system(more=more).close()
    assert log == ["closed", "at exit"]


def test_an_adapter_that_fails_to_close_is_closed_all_the_same(system: Start, log: list[str]) -> None:
    process = system(more="def close(self): raise OSError('stuck')")
    pid = child_of(process).pid
    process.close()
    assert gone(pid)
    assert "While closing: close raised OSError: stuck (adapter.py:11 in close)." in log


def test_an_error_inside_the_context_ends_the_process(tmp_path: Path) -> None:
    with (
        pytest.raises(ZeroDivisionError),
        SystemProcess(Launch(write(tmp_path, adapter("return 'x'"))), PATIENT, print) as process,
    ):
        pid, folder = child_of(process).pid, child_of(process).folder
        raise ZeroDivisionError
    assert gone(pid)
    assert not folder.exists()


def test_a_failed_start_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    process = SystemProcess(Launch(write(tmp_path, "import time; time.sleep(60)")), PATIENT, print)
    process._limits = PATIENT.model_copy(update={"load_seconds": 0.3})
    with pytest.raises(SystemTimedOut, match=r"loading the adapter took longer than 0\.3 s"):
        process.start()
    with pytest.raises(BadInput, match="cannot be run"):
        SystemProcess(Launch(tmp_path / "adapter.py", interpreter=tmp_path / "nowhere"), PATIENT, print).start()
    assert list((tmp_path / "temporary").iterdir()) == []


def test_another_thread_can_end_a_call(system: Start) -> None:
    process = system("time.sleep(60)", limits=PATIENT)
    threading.Timer(0.2, process.kill).start()
    with pytest.raises(SystemDied, match="SIGKILL"):
        process.ask("q")


PARENT = """
import os, signal, sys, time
from pathlib import Path
from memeval.records.track import Limits
from memeval.systems.child import Launch
from memeval.systems.process import SystemProcess
process = SystemProcess(Launch(Path(sys.argv[1])), Limits(), print)
process.start()
print(process.child.pid, process.child.folder, process.ask("q").answer, flush=True)
{end}
"""


@pytest.mark.parametrize(
    "end", ["sys.exit(0)", "raise KeyboardInterrupt", "os.kill(os.getpid(), signal.SIGKILL)", "process.ask('hang')"]
)
def test_nothing_outlives_memeval_however_it_ends(tmp_path: Path, end: str) -> None:
    body = """
    if question == 'hang':
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60)
    return str(subprocess.Popen(['/bin/sleep', '60']).pid)
    """
    pid, folder, grandchild = _said_by_a_parent(tmp_path, body, end)
    assert gone(int(pid)) and gone(int(grandchild))
    assert not Path(folder).exists()


@pytest.mark.parametrize("temporary", ["last", "precious"])
def test_a_reply_that_nobody_reads_any_more_leaves_only_what_is_not_the_systems(tmp_path: Path, temporary: str) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    body = """
    os.environ['TMPDIR'] = question
    if question != 'q':
        parent = os.getppid()
        os.kill(parent, signal.SIGKILL)
        while os.getppid() == parent:
            time.sleep(0.001)
    return str(subprocess.Popen(['/bin/sleep', '60']).pid)
    """
    pid, folder, grandchild = _said_by_a_parent(tmp_path, body, f"process.ask({str(tmp_path / temporary)!r})")
    assert gone(int(pid)) and gone(int(grandchild))
    assert precious.is_dir() and not Path(folder).exists()


def _said_by_a_parent(tmp_path: Path, body: str, end: str) -> list[str]:
    """Run a memeval of its own to a given end; return the ids of its system and grandchild, and the folder between."""
    file = write(tmp_path, adapter(body))
    script = tmp_path / "parent.py"
    script.write_text(textwrap.dedent(PARENT).format(end=end))
    harness = Path(__file__).parents[2] / "harness"
    environment = {**os.environ, "PYTHONPATH": str(harness)}
    command = [sys.executable, str(script), str(file)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    return ended.stdout.split()[:3]
