"""Starts the services of a system, and ends them with it. It needs only the standard library.

A separate process starts and watches them, so that they are not children of the system and end in an orderly way: a
database that is killed leaves shared memory behind.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

PROGRAMS = {"postgres": "postgres", "redis": "redis-server", "neo4j": "neo4j"}

SEARCHED = ["usr/local/bin", "usr/bin", "usr/sbin", "usr/lib/postgresql/*/bin"]
"""The folders that are searched for programs, with and without a sandbox; the highest version is used."""

START_SECONDS = 120.0
"""How long a service may take until it answers, in addition to the start of the system."""

END_SECONDS = 5.0
"""How long a service may take to end before it is killed."""

NOBODY = 65534
"""User and group of a service that refuses to run as root, without a sandbox."""


def find(name: str) -> Path | None:
    """Return the path of a service's program; ``None`` if it is not installed."""
    found = [path for folder in SEARCHED for path in Path("/").glob(f"{folder}/{PROGRAMS[name]}")]
    return max((path for path in found if os.access(path, os.X_OK)), key=_version_in, default=None)


def vector_version(postgres: Path) -> str | None:
    """Return the version of pgvector that is installed for a PostgreSQL; ``None`` without pgvector."""
    try:
        command = [str(postgres.resolve().with_name("pg_config")), "--sharedir"]
        output = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
        control = Path(output.stdout.strip(), "extension", "vector.control").read_text("utf-8")
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r"default_version\s*=\s*'([^']+)'", control)
    return found.group(1) if found else None


def start(services: list[dict[str, str]]) -> dict[str, str]:
    """Start services, wait until they answer, and return the variables with their addresses.

    ``services``: each with its ``name`` and the ``variable`` that takes its address.
    Returns: For each service its
    variable with a loopback URL, and ``{variable}_SOCKET`` with its Unix socket: a path for. Redis, a URL with the
    folder for PostgreSQL. Raises SystemExit: a service cannot be started; the text says why.
    """
    reading, writing = os.pipe()
    folder = Path(os.environ["TMPDIR"]).parent / f"services-{os.getpid()}"
    arguments = {"services": services, "system": os.getpid(), "report": writing, "folder": str(folder)}
    child = os.fork()
    if child == 0:  # It ends at once, so that the process that watches the services is not a child of the system.
        try:
            subprocess.Popen(
                [sys.executable, "-I", "-S", __file__, json.dumps(arguments)],
                env={**os.environ, "HOME": str(folder), "TMPDIR": str(folder)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[writing],
                start_new_session=True,
            )
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading, encoding="utf-8") as report:
        text = report.read()
    answer: dict[str, str] = (
        json.loads(text) if text else {"": "The process that watches the services ended at its start."}
    )
    if "" in answer:
        raise SystemExit(answer[""])
    return answer


class Failed(Exception):
    """A service cannot be started; the text says why."""


def watch_services(services: list[dict[str, str]], system: int, report: int, folder: Path) -> None:
    """Start services, report their addresses, and end them when the system has ended.

    Args:
        services: each with its ``name`` and the ``variable`` that takes its address.
        report: descriptor of a pipe for the variables as JSON; an error has a blank name.
        folder: the folder of the services; it is created, and deleted at the end.
    """
    running: list[tuple[subprocess.Popen[bytes], int]] = []
    answer: dict[str, str] = {}
    try:
        try:
            folder.mkdir(0o711)
            for service in services:
                own = folder / str(len(running))
                own.mkdir(0o700)
                answer.update(STARTS[service["name"]](own, service["variable"], running))
        except (Failed, OSError) as failure:
            answer = {"": str(failure)}
        with os.fdopen(report, "w", encoding="utf-8") as out:
            json.dump(answer, out)
        if "" not in answer:
            _wait_for_end(system)
    finally:
        for process, ending in running:
            process.send_signal(ending)
        for process, _ending in running:
            _wait_or_kill(process)
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for_end(system: int) -> None:
    if hasattr(os, "pidfd_open"):
        import select

        try:
            select.select([os.pidfd_open(system)], [], [])
            return
        except OSError:
            pass
    try:
        while True:
            os.kill(system, 0)
            time.sleep(0.2)
    except OSError:
        return


def _wait_or_kill(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _start_postgres(folder: Path, variable: str, running: list[tuple[subprocess.Popen[bytes], int]]) -> dict[str, str]:
    postgres = _program("postgres")
    data, password, port = folder / "data", _password(), _free_port()
    secret = folder / "password"
    _write(secret, password)
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
        folder.chmod(0o711)  # the system gets no more rights here than any other user
        os.chown(secret, NOBODY, NOBODY)
    initdb: list[str | Path] = [postgres.resolve().with_name("initdb"), "-D", data, "-U", "memeval", "--pwfile", secret]
    options = ["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8", "--wal-segsize=4"]
    process = _run_unprivileged([*initdb, *options, "--no-sync"], folder, stdout=subprocess.DEVNULL)
    process.wait()
    if process.returncode:
        raise Failed(f"PostgreSQL's initdb failed with exit code {process.returncode}.")
    settings = {
        "listen_addresses": "'127.0.0.1'",
        "port": str(port),
        "unix_socket_directories": f"'{folder}'",
        "max_connections": "50",
        "shared_buffers": "'32MB'",
        "max_wal_size": "'64MB'",
        "fsync": "off",
        "synchronous_commit": "off",
        "full_page_writes": "off",
        "log_min_messages": "warning",
    }
    with (data / "postgresql.conf").open("a", encoding="utf-8") as conf:
        conf.writelines(f"{name} = {value}\n" for name, value in settings.items())
    if vector_version(postgres) is not None:
        single = _run_unprivileged([postgres, "--single", "-D", data, "postgres"], folder, subprocess.PIPE)
        single.communicate(b"CREATE EXTENSION vector;\n")
    process = _run_unprivileged([postgres, "-D", data], folder)
    running.append((process, signal.SIGQUIT))  # at once, and in order

    def ready() -> bool:
        return (data / "postmaster.pid").read_text("utf-8").split("\n")[7:8] == ["ready   "]

    _wait_for_answer("PostgreSQL", process, ready)
    who = f"postgresql://memeval:{password}"
    return {
        variable: f"{who}@127.0.0.1:{port}/postgres",
        f"{variable}_SOCKET": f"{who}@/postgres?host={folder}&port={port}",
    }


def _start_redis(folder: Path, variable: str, running: list[tuple[subprocess.Popen[bytes], int]]) -> dict[str, str]:
    program = _program("redis")
    password, port, path = _password(), _free_port(), str(folder / "redis.sock")
    settings = ["bind 127.0.0.1", f"port {port}", f"unixsocket {path}", "unixsocketperm 700", f"requirepass {password}"]
    settings += ['save ""', "appendonly no", "daemonize no", f"dir {folder}", "loglevel warning"]
    conf = folder / "redis.conf"
    _write(conf, "\n".join([*settings, ""]))
    process = subprocess.Popen([program, conf], cwd=folder, stdin=subprocess.DEVNULL, stdout=2)
    running.append((process, signal.SIGTERM))

    def ready() -> bool:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(1)
            line.connect(path)
            line.sendall(f"AUTH {password}\r\nPING\r\n".encode())
            reply = b""
            while reply.count(b"\r\n") < 2:
                chunk = line.recv(100)
                if not chunk:
                    return False
                reply += chunk
            return reply == b"+OK\r\n+PONG\r\n"

    _wait_for_answer("Redis", process, ready)
    return {variable: f"redis://:{password}@127.0.0.1:{port}/0", f"{variable}_SOCKET": path}


def _start_neo4j(folder: Path, variable: str, running: list[tuple[subprocess.Popen[bytes], int]]) -> dict[str, str]:
    program = _program("neo4j")
    port = _free_port()
    settings = {f"server.directories.{kind}": str(folder / kind) for kind in ("data", "logs", "run", "import")}
    settings["server.bolt.listen_address"] = f"127.0.0.1:{port}"
    for name in ("server.http.enabled", "server.https.enabled", "dbms.security.auth_enabled"):
        settings[name] = "false"
    _write(folder / "neo4j.conf", "".join(f"{name}={value}\n" for name, value in settings.items()))
    process = subprocess.Popen(
        [program, "console"],
        cwd=folder,
        env={**os.environ, "NEO4J_CONF": str(folder)},
        stdin=subprocess.DEVNULL,
        stdout=2,
    )
    running.append((process, signal.SIGTERM))

    def ready() -> bool:
        with socket.create_connection(("127.0.0.1", port), 1) as line:
            line.sendall(struct.pack(">5I", 0x6060B017, 0x00000404, 0x00000005, 0x00000004, 0x00000003))
            return len(line.recv(4)) > 0

    _wait_for_answer("Neo4j", process, ready)
    return {variable: f"bolt://127.0.0.1:{port}"}


STARTS = {"postgres": _start_postgres, "redis": _start_redis, "neo4j": _start_neo4j}


def _wait_for_answer(title: str, process: subprocess.Popen[bytes], ready: Callable[[], bool]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise Failed(f"{title} ended at its start with exit code {process.returncode}; see its output in the log.")
        try:
            if ready():
                return
        except (OSError, ValueError):
            pass
        time.sleep(0.02)
    raise Failed(f"{title} did not answer within {START_SECONDS:.0f} seconds.")


def _run_unprivileged(
    command: list[str | Path], folder: Path, stdin: int = subprocess.DEVNULL, stdout: int = 2
) -> subprocess.Popen[bytes]:
    """Start a program that refuses to run as root, as another user if needed."""
    if os.geteuid() == 0:
        return subprocess.Popen(
            command, cwd=folder, stdin=stdin, stdout=stdout, user=NOBODY, group=NOBODY, extra_groups=[]
        )
    return subprocess.Popen(command, cwd=folder, stdin=stdin, stdout=stdout)


def _program(name: str) -> Path:
    found = find(name)
    if found is None:
        raise Failed(f"the service '{name}' is not installed: program {PROGRAMS[name]} not found.")
    return found


def _version_in(path: Path) -> list[int]:
    """Return the numbers in the path of a program's real folder."""
    return [int(number) for number in re.findall(r"\d+", str(path.resolve().parent))]


def _free_port() -> int:
    with socket.socket() as line:
        line.bind(("127.0.0.1", 0))
        port: int = line.getsockname()[1]
        return port


def _password() -> str:
    return os.urandom(16).hex()


def _write(path: Path, text: str) -> None:
    path.touch(0o600)
    path.write_text(text, "utf-8")


if __name__ == "__main__":
    settings = json.loads(sys.argv[1])
    watch_services(settings["services"], settings["system"], settings["report"], Path(settings["folder"]))
