"""Real systems in a real bubblewrap: what they see, how they reach memeval, and how they end."""

import dataclasses
import json
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memeval.records.errors import BadInput
from memeval.records.submission import Resources
from memeval.records.track import Limits
from memeval.systems import sandbox
from memeval.systems.child import Launch
from memeval.systems.errors import AdapterRaised, SystemDied, SystemTimedOut
from memeval.systems.folder import described_in
from memeval.systems.process import SystemProcess
from memeval.systems.sandbox import Sandbox, SandboxMode, find_sandbox
from tests.systems.helpers import PATIENT, adapter, child_of, gone, session, write

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is for Linux")

Inside = Callable[..., SystemProcess]


@pytest.fixture(scope="module")
def bubblewrap() -> Sandbox:
    found = find_sandbox(SandboxMode.BWRAP, print)
    assert found is not None
    return found


@pytest.fixture
def inside(tmp_path: Path, bubblewrap: Sandbox) -> Iterator[Inside]:
    """Start a system inside, from the body of its ``query``; ended after the test."""
    started: list[SystemProcess] = []

    def start(
        query: str = "return 'ok'",
        *,
        held_by: Sandbox = bubblewrap,
        limits: Limits = PATIENT,
        environment: dict[str, str] | None = None,
        **named: Any,
    ) -> SystemProcess:
        (tmp_path / "own").mkdir(exist_ok=True)
        launch = Launch(write(tmp_path / "own", adapter(query)), **named)
        process = SystemProcess(launch, limits, print, environment or {}, sandbox=held_by)
        started.append(process)
        process.start()
        process.reset()
        return process

    yield start
    for process in started:
        process.close()


@pytest.fixture
def untried() -> Iterator[None]:
    """Have the sandbox looked for anew, before and after."""
    sandbox._tried.cache_clear()
    yield
    sandbox._tried.cache_clear()


def test_it_is_found_and_says_what_it_is(bubblewrap: Sandbox) -> None:
    assert str(bubblewrap).startswith("bubblewrap 0.")
    assert find_sandbox(SandboxMode.AUTO, pytest.fail) is bubblewrap
    assert find_sandbox(SandboxMode.NONE, pytest.fail) is None


@pytest.mark.usefixtures("untried")
def test_without_bubblewrap_it_is_refused_or_said_aloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    said: list[str] = []
    assert find_sandbox(SandboxMode.AUTO, said.append) is None
    assert said[0].startswith("NO SANDBOX: bubblewrap (bwrap) is not installed.")
    with pytest.raises(BadInput, match=r"not installed\. Install bubblewrap"):
        find_sandbox(SandboxMode.BWRAP, pytest.fail)


@pytest.mark.usefixtures("untried")
def test_a_bubblewrap_that_cannot_work_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text(
        "#!/bin/sh\n[ $1 = --version ] && echo bubblewrap 0.8.0 && exit\necho 'bwrap: no namespaces' >&2\nexit 1\n"
    )
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(BadInput, match=r"cannot start one \(no namespaces\)"):
        find_sandbox(SandboxMode.BWRAP, pytest.fail)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become an ordinary user")
@pytest.mark.usefixtures("untried")
def test_an_ordinary_user_can_have_it_too() -> None:
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.setgid(65534)
            os.setuid(65534)
            os.environ["HOME"] = "/nonexistent"
            sandbox._starter.cache_clear()
            code = 0 if isinstance(sandbox._tried(), Sandbox) else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_it_answers_from_a_folder_and_a_user_of_its_own(inside: Inside) -> None:
    process = inside("return repr((os.getcwd(), os.environ['HOME'], os.getuid(), os.uname().nodename, os.getppid()))")
    assert process.ask("q").answer == repr(("/tmp/home", "/tmp/home", 1000, "memeval", 1))


def test_nothing_but_standard_streams_and_the_two_lines_is_open(inside: Inside) -> None:
    body = """
    links = [f'/proc/self/fd/{number}' for number in os.listdir('/proc/self/fd')]
    return ' '.join(sorted(os.readlink(link).split(':')[0] for link in links if os.path.exists(link)))
    """
    assert inside(body).ask("q").answer == "/dev/null pipe pipe pipe pipe"


def test_its_folder_is_seen_and_cannot_be_written(inside: Inside, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "words.txt").write_text("mine")
    (tmp_path / "secret.txt").write_text("not mine")
    body = f"""
    found = [open(__file__.replace('adapter.py', 'words.txt')).read(), os.path.exists({str(tmp_path / "secret.txt")!r})]
    try: open(__file__, 'a')
    except OSError as error: found.append(error.errno)
    return repr(found)
    """
    process = inside(body, folder=tmp_path / "own")
    assert process.ask("q").answer == "['mine', False, 30]"


def test_hidden_folders_are_empty_even_in_a_shown_one(inside: Inside, tmp_path: Path, bubblewrap: Sandbox) -> None:
    results = tmp_path / "own" / "results"
    results.mkdir(parents=True)
    (results / "answers.json").write_text("{}")
    process = inside(
        f"return repr(os.listdir({str(results)!r}))",
        held_by=dataclasses.replace(bubblewrap, hidden=(results,)),
        folder=tmp_path / "own",
    )
    assert process.ask("q").answer == "[]"


def test_what_no_digest_covers_cannot_be_read(inside: Inside, tmp_path: Path, bubblewrap: Sandbox) -> None:
    own = tmp_path / "own"
    own.mkdir()
    for name in ("README.md", "submission.toml", "prompt.md"):
        (own / name).write_text("Be brief.")
    files = {path.name: path for path in own.iterdir()}
    body = f"""
    read = []
    for name in {sorted(files)!r}:
        try: read.append(open({str(own)!r} + '/' + name).read())
        except PermissionError: read.append(None)
    return repr(read)
    """
    process = inside(body, held_by=dataclasses.replace(bubblewrap, hidden=described_in(files)), folder=own)
    assert process.ask("q").answer == "[None, 'Be brief.', None]"


@pytest.mark.parametrize(
    ("shown", "problem"),
    [("/", "home folder"), ("~", "home folder"), ("results", "results or data of memeval"), ("gone", "cannot be")],
)
def test_what_may_not_be_shown_is_refused(
    inside: Inside, tmp_path: Path, bubblewrap: Sandbox, monkeypatch: pytest.MonkeyPatch, shown: str, problem: str
) -> None:
    home, results = tmp_path / "home", tmp_path / "results"
    home.mkdir()
    results.mkdir()
    monkeypatch.setenv("HOME", str(home))
    link = tmp_path / "link"
    link.symlink_to({"~": home, "/": Path("/")}.get(shown, tmp_path / shown))
    with pytest.raises(BadInput, match=problem):
        inside(held_by=dataclasses.replace(bubblewrap, hidden=(results,)), shown=(link,))


def test_an_adapter_file_that_leads_out_of_its_folder_is_refused(tmp_path: Path, bubblewrap: Sandbox) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "adapter.py").symlink_to("/etc/shadow")
    launch = Launch(tmp_path / "own" / "adapter.py", folder=tmp_path / "own")
    with pytest.raises(BadInput, match="leads out of the submission's folder"):
        SystemProcess(launch, PATIENT, print, sandbox=bubblewrap).start()


def test_memevals_own_package_is_not_to_be_read(inside: Inside) -> None:
    package = Path(sandbox.__file__).parents[1]
    process = inside(f"return repr(os.path.exists({str(package)!r}))", shown=(package / "systems" / "controls",))
    assert process.ask("q").answer == "True", "the way to what is shown"
    shown = (package / "systems" / "controls", package.parent)
    process = inside(f"return repr(os.listdir({str(package)!r}))", shown=shown)
    assert process.ask("q").answer == "['systems']"


def test_a_package_behind_a_link_shows_its_controls(
    inside: Inside, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = Path(sandbox.__file__).parents[1]
    link = tmp_path / "memeval"
    link.symlink_to(package)
    monkeypatch.setattr(sandbox, "PACKAGE", link)
    assert inside(shown=(link / "systems" / "controls",)).ask("q").answer == "ok"


def test_a_systems_own_python_keeps_its_packages(inside: Inside) -> None:
    process = inside("import pydantic\nreturn pydantic.VERSION", own_interpreter=False, shown=(Path(sys.prefix),))
    assert process.adapter.packages["pydantic"] == process.ask("q").answer


def test_a_python_behind_a_link_shows_nothing_that_lies_beside_the_link(inside: Inside, tmp_path: Path) -> None:
    (tmp_path / "local" / "bin").mkdir(parents=True)
    (tmp_path / "local" / "secret").write_text("not to be seen")
    link = tmp_path / "local" / "bin" / "python3"
    link.symlink_to(Path(sys.executable).resolve())
    body = f"return repr((os.listdir({str(tmp_path / 'local')!r}), sys.base_prefix))"
    process = inside(body, own_interpreter=False, interpreter=link)
    assert process.ask("q").answer == repr((["bin"], sys.base_prefix))


class Echo(threading.Thread):
    """Gives back, on a Unix socket, what came, once no more comes."""

    def __init__(self, path: Path) -> None:
        super().__init__(daemon=True)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen(64)

    def run(self) -> None:
        while True:
            try:
                line, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.give_back, args=(line,), daemon=True).start()

    def give_back(self, line: socket.socket) -> None:
        with line:
            came = bytearray()
            while chunk := line.recv(1 << 16):
                came += chunk
            line.sendall(b"all of " + came)


def test_memevals_endpoint_is_reached_on_loopback_both_ways(
    inside: Inside, tmp_path: Path, bubblewrap: Sandbox
) -> None:
    server = Echo(tmp_path / "endpoint")
    server.start()
    body = """
    import socket
    lines = [socket.create_connection(('127.0.0.1', 7878)) for _ in range(20)]
    data = b'0123456789' * 300_000
    def send(n):
        lines[n].sendall(data[:len(data) // (n + 1)])
        lines[n].shutdown(1)
    for n in range(20): threading.Thread(target=send, args=(n,)).start()
    time.sleep(0.1)  # nobody reads meanwhile: what is on its way has to wait
    right = 0
    for n, line in enumerate(lines):
        came = bytearray()
        while chunk := line.recv(65536): came += chunk
        right += came == b'all of ' + data[:len(data) // (n + 1)]
    children = open(f'/proc/self/task/{os.getpid()}/children').read()
    return f'{right} {children!r}'
    """
    process = inside(body, held_by=dataclasses.replace(bubblewrap, socket=tmp_path / "endpoint"))
    try:
        assert process.ask("q").answer == "20 ''", "all came back, and the relay is no child of the system"
        assert process.ask("again").answer == "20 ''"
    finally:
        server.listener.close()


def test_without_an_endpoint_nothing_listens(inside: Inside) -> None:
    process = inside("import socket\nreturn str(socket.socket().connect_ex(('127.0.0.1', 7878)))")
    assert process.ask("q").answer == "111"


PROGRAM = """
import json, os, sys
for line in sys.stdin:
    request = json.loads(line)
    value = None
    if request["call"] == "load":
        value = {"class": "Program", "capabilities": ["take_in", "ask"],
                 "implementation": "own", "python": "0", "packages": {}}
    if request["call"] == "ask":
        status = dict(line.split(":", 1) for line in open("/proc/self/status"))
        rights = [status["CapEff"].strip(), status["NoNewPrivs"].strip()]
        open("kept.db", "w").close()
        here = [os.getcwd() == os.path.realpath(sys.argv[1]), os.path.exists("program.py"), os.getcwd() != sys.argv[2]]
        value = {"answer": json.dumps([*here, *rights])}
    print(json.dumps({"id": request["id"], "value": value}), flush=True)
    if request["call"] == "close": break
"""


@pytest.mark.parametrize("held", [True, False])
def test_a_program_has_a_working_folder_of_its_own_and_no_privileges(
    tmp_path: Path, bubblewrap: Sandbox, held: bool
) -> None:
    file = write(tmp_path, PROGRAM, "program.py")
    launch = Launch(file, program=("python3", "program.py", "{work}", str(tmp_path)), folder=tmp_path)
    with SystemProcess(launch, PATIENT, print, sandbox=bubblewrap if held else None) as process:
        assert json.loads(process.ask("q").answer) == [True, True, True, "0" * 16, "1"]
    assert [each.name for each in tmp_path.iterdir()] == ["program.py"]


@pytest.mark.parametrize("held", [True, False])
def test_a_program_that_is_not_there_ends_with_a_sentence(tmp_path: Path, bubblewrap: Sandbox, held: bool) -> None:
    launch = Launch(write(tmp_path, ""), program=("no-such-program",), folder=tmp_path)
    with pytest.raises(SystemDied, match=r"exit code 127 .*Command not found: 'no-such-program'"):
        SystemProcess(launch, PATIENT, print, sandbox=bubblewrap if held else None).start()


def test_a_signal_is_named_as_without_a_sandbox(inside: Inside) -> None:
    said = r"was killed by SIGSEGV \(segmentation fault\) during query \(adapter\.py:10 in query\)"
    with pytest.raises(SystemDied, match=said):
        inside("os.kill(os.getpid(), signal.SIGSEGV)").ask("q")
    for code in (3, 255):
        with pytest.raises(SystemDied, match=f"ended with exit code {code} during query"):
            inside(f"os._exit({code})").ask("q")


def test_a_call_that_hangs_ends_with_its_limit_and_all_it_started(inside: Inside) -> None:
    limits = PATIENT.model_copy(update={"ask_seconds": 0.3})
    process = inside("subprocess.Popen(['sleep', '60'], start_new_session=True)\ntime.sleep(60)", limits=limits)
    pid = child_of(process).pid
    with pytest.raises(SystemTimedOut, match=r"took longer than 0\.3 s \(adapter\.py:11 in query\)\."):
        process.ask("q")
    assert gone(pid)
    process.start()
    process.reset()
    assert process.alive


def test_it_outlives_the_thread_that_started_it(inside: Inside) -> None:
    started: list[SystemProcess] = []
    thread = threading.Thread(target=lambda: started.append(inside()))
    thread.start()
    thread.join()
    for _ in range(20):
        assert started[0].ask("q").answer == "ok"


def test_all_it_writes_is_limited_together(inside: Inside) -> None:
    body = """
    written = 0
    for number, folder in enumerate(('/tmp', '/dev/shm', '/var/tmp', os.environ['HOME'], os.environ['TMPDIR'])):
        try:
            with open(f'{folder}/{number}', 'wb', buffering=0) as file:
                while True: written += file.write(bytes(1 << 16))
        except OSError: pass
    return str(written)
    """
    process = inside(body, resources=Resources(disk_mb=8))
    assert 7 << 20 < int(process.ask("q").answer) <= 8 << 20
    process.reset()


def test_memory_of_all_processes_together_is_limited(inside: Inside) -> None:
    body = """
    for _ in range(4):
        subprocess.Popen([sys.executable, '-S', '-c', 'import time; kept = b"x" * (40 << 20); time.sleep(60)'])
    time.sleep(60)
    """
    with pytest.raises(SystemDied, match="was stopped during query: it used more than 100 MiB of memory"):
        inside(body, resources=Resources(memory_mb=100)).ask("q")


def test_memory_of_one_process_is_limited_at_once(inside: Inside) -> None:
    process = inside("return str(len(bytes(200 << 20)))", resources=Resources(memory_mb=100))
    with pytest.raises(AdapterRaised, match="query ran out of memory"):
        process.ask("q")


def test_processes_and_threads_are_limited(inside: Inside) -> None:
    body = """
    for _ in range(60): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    time.sleep(60)
    """
    with pytest.raises((SystemDied, AdapterRaised), match=r"more than 20 processes|start new thread"):
        inside(body, resources=Resources(processes=20)).ask("q")


def test_processors_can_be_fewer(inside: Inside) -> None:
    assert inside("return str(len(os.sched_getaffinity(0)))", resources=Resources(cpus=1)).ask("q").answer == "1"


@pytest.mark.parametrize(
    "refused",
    [
        "socket.socket(40, socket.SOCK_STREAM)",
        "socket.socket(17, socket.SOCK_RAW)",
        "os.memfd_create('x')",
        "call(libc.syscall(250 if os.uname().machine == 'x86_64' else 219, 0, -3, 1))",
        "call(libc.shmget(0, 1 << 24, 0o1600))",
        "call(libc.unshare(0x10000000))",
    ],
)
def test_what_no_namespace_bounds_is_refused(inside: Inside, refused: str) -> None:
    body = f"""
    import ctypes, socket
    libc = ctypes.CDLL(None)
    def call(result):
        if result == -1: raise OSError('refused')
    try: {refused}
    except OSError: return 'refused'
    return 'done'
    """
    assert inside(body).ask("q").answer == "refused"


def test_no_setting_of_the_machine_can_be_written(inside: Inside) -> None:
    body = """
    open_ones = []
    for folder, _, names in os.walk("/proc"):
        for name in names:
            try: os.close(os.open(os.path.join(folder, name), os.O_WRONLY | os.O_NOFOLLOW))
            except OSError: continue
            open_ones.append(os.path.join(folder, name))
    return " ".join(open_ones)
    """
    # Root without any capability may still write the kernel's settings, which hold for the whole machine.
    assert inside(body).ask("q").answer == ""


def test_small_shared_memory_and_ordinary_sockets_work(inside: Inside) -> None:
    body = """
    import ctypes, multiprocessing, socket
    left, right = socket.socketpair()
    [socket.socket(family) for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX)]
    multiprocessing.Lock()
    return str(ctypes.CDLL(None).shmget(0, 4096, 0o1600) >= 0)
    """
    assert inside(body).ask("q").answer == "True"


def test_a_submissions_variables_are_set_and_memevals_stay(inside: Inside, tmp_path: Path) -> None:
    process = inside(
        "return repr([os.environ[name] for name in ('MODE', 'PATH', 'DOOR')])",
        environment={"DOOR": "open"},
        variables={"MODE": "fast"},
        path=(tmp_path / "own",),
    )
    assert process.ask("q").answer == repr(["fast", f"{tmp_path / 'own'}:/usr/local/bin:/usr/bin:/bin", "open"])
    for name in ("PATH", "HOME", "TMPDIR", "PYTHONHASHSEED", "LD_PRELOAD", "DOOR"):
        with pytest.raises(BadInput, match=f"must not set the variable {name}"):
            inside(environment={"DOOR": "open"}, variables={name: "x"})


def test_a_start_may_take_as_long_as_the_submission_asks(tmp_path: Path, bubblewrap: Sandbox) -> None:
    file = write(tmp_path, "import time\ntime.sleep(0.6)\n" + adapter("return 'slow'"))
    limits = PATIENT.model_copy(update={"load_seconds": 0.3})
    with pytest.raises(SystemTimedOut):
        SystemProcess(Launch(file), limits, print, sandbox=bubblewrap).start()
    patient = Launch(file, resources=Resources(start_seconds=10))
    with SystemProcess(patient, limits, print, sandbox=bubblewrap) as process:
        process.reset()
        process.ingest([(session(1), "2025-01-02")])
        assert process.ask("q").answer == "slow"
