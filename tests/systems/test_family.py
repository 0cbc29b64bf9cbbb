"""All processes of a system without a sandbox: counted together, and ended together."""

import os
import sys
from pathlib import Path

import pytest

from memeval.records.submission import Resources
from memeval.systems.errors import SystemDied, SystemTimedOut
from memeval.systems.family import Process, excess_of, family, memory_of, processes
from tests.systems.helpers import PATIENT, Start, child_of, gone

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux is what tells of processes in files")

DAEMON = """
if os.fork() == 0:
    os.setsid()
    pid = os.fork()
    if pid == 0:
        {own}
        time.sleep(60)
    open('pid.new', 'w').write(str(pid))
    os.rename('pid.new', 'pid')
    os._exit(0)
os.wait()
return open('pid').read()
"""


def test_a_grandchild_with_a_session_and_a_parent_of_its_own_is_ended_too(system: Start) -> None:
    process = system(DAEMON.format(own=""))
    daemon = int(process.ask("q").answer)
    assert Path(f"/proc/{daemon}").exists()
    process.close()
    assert gone(daemon)


def test_one_without_the_environment_is_ended_while_it_descends_from_the_system(system: Start, tmp_path: Path) -> None:
    body = f"""
    child = subprocess.Popen(['/bin/sleep', '60'], start_new_session=True, env={{}})
    with open({str(tmp_path / "pid")!r}, 'w') as file: file.write(str(child.pid))
    time.sleep(60)
    """
    process = system(body, limits=PATIENT.model_copy(update={"ask_seconds": 0.5}))
    with pytest.raises(SystemTimedOut):
        process.ask("q")
    assert gone(int((tmp_path / "pid").read_text()))


def test_memory_of_all_processes_together_is_limited(system: Start) -> None:
    body = """
    for _ in range(4):
        subprocess.Popen([sys.executable, '-S', '-c', 'import time; kept = b"x" * (40 << 20); time.sleep(60)'])
    time.sleep(60)
    """
    process = system(body, resources=Resources(memory_mb=100))
    pid = child_of(process).pid
    with pytest.raises(SystemDied, match="was stopped during query: it used more than 100 MiB of memory"):
        process.ask("q")
    assert gone(pid)


def test_memory_that_processes_share_counts_once(system: Start) -> None:
    body = """
    import mmap
    kept = mmap.mmap(-1, 60 << 20)
    for _ in range(60): kept.write(b'x' * (1 << 20))
    for _ in range(4):
        if os.fork() == 0:
            sum(kept[::4096])
            time.sleep(60)
            os._exit(0)
    time.sleep(1)
    return 'fine'
    """
    assert system(body, resources=Resources(memory_mb=120)).ask("q").answer == "fine"


def test_a_family_is_all_that_descend_and_no_one_else() -> None:
    everybody = {pid: Process(pid, parent, 1, 1, 0) for pid, parent in ((1, 0), (2, 1), (3, 2), (4, 3), (5, 1))}
    assert {member.pid for member in family(2, everybody)} == {2, 3, 4}
    del everybody[2]
    assert {member.pid for member in family(2, everybody)} == {3, 4}


def test_this_process_is_seen_with_its_threads_and_memory() -> None:
    me = processes()[os.getpid()]
    assert me.parent == os.getppid()
    assert me.threads >= 1
    assert 0 < memory_of([me]) < 1 << 40
    assert excess_of([me], Resources()) == ""
    assert excess_of([me._replace(threads=300)], Resources()) == "it ran more than 256 processes and threads at once"
