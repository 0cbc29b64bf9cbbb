"""Starts a driver's server on a free loopback port, waits until it is ready, logs its output, and ends it.

It stays in the driver's process group, so that it never outlives the system.
"""
# No pathlib: it would take a tenth of the start.
# ruff: noqa: PTH100, PTH103, PTH115, PTH118, PTH123, PTH208, PTH211

from __future__ import annotations

import contextlib
import http.client
import os
import socket
import subprocess
import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memeval.systems.drivers.printed import DriverFailed, PrintedLines, ServerDied, not_found
else:
    from printed import DriverFailed, PrintedLines, ServerDied, not_found

LOOPBACK = "127.0.0.1"

TRIES = 3
"""How often a server is started if its port is taken meanwhile."""

CHECK_SECONDS = 0.1
"""The interval between two health checks of a starting server."""

ELSEWHERE_SECONDS = 3.0
"""How long a starting server may answer its health path with 404, or listen on another port only."""

HEALTH_SECONDS = 2.0

ENDING_SECONDS = 5.0
"""How long a server may take to end after SIGTERM."""

LAST_OUTPUT_SECONDS = 0.5
"""How long to wait for the last output of a server that has ended; its own children may keep the pipe open."""


class ServerFailed(DriverFailed):
    """A server could not be started, or was not ready in time."""


class ServerProcess:
    """A running server: started and ready once the constructor returns.

    It gets this process's environment and ``PORT``. Its output is copied to this process's stderr, line by line.

    Args:
        command: the program and its arguments; ``{port}`` in an argument is replaced by its port, ``{work}`` by its
            working folder.
        start_seconds: how long it may take to get ready; a part is left to say why it is not.
        health: the path that answers 2xx to GET once it is ready; ``None`` if it only has to listen.

    Raises:
        ServerFailed: it could not be started, ended, or was not ready in time.
    """

    def __init__(self, command: Sequence[str], folder: str, start_seconds: float, health: str | None) -> None:
        start_seconds = patience(start_seconds)
        deadline = time.monotonic() + start_seconds
        self._never = ""
        for _ in range(TRIES):
            self.port = free_port()
            self.origin = f"http://{LOOPBACK}:{self.port}"
            self._start(command, folder)
            try:
                problem = self._wait(health, deadline)
            except BaseException:
                self.end()
                raise
            if problem is None:
                return
            if self.alive:
                self.end()
                if self._never:
                    raise ServerFailed(f"The server cannot get ready: {self._never}{self.printed.last()}")
                raise ServerFailed(
                    f"The server was not ready after {start_seconds:g} s: {problem}{self.printed.last()}"
                )
            if not self._port_was_taken():
                break
        raise ServerFailed(self.how_it_ended("before it was ready"))

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def died(self, call: str) -> ServerDied | None:
        """Wait a moment for a server whose connection broke off to end; return that it did, ``None`` if it runs.

        ``call``: the call during which the connection broke off, such as ``POST /ask``.
        """
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(LAST_OUTPUT_SECONDS)
        if not self.alive:
            return ServerDied(self.how_it_ended(f"during {call}"))
        try:
            socket.create_connection((LOOPBACK, self.port), HEALTH_SECONDS).close()
        except ConnectionRefusedError:
            return ServerDied(f"The server no longer listens on port {self.port} ({call}).{self.printed.last()}")
        except OSError:
            pass
        return None

    def how_it_ended(self, when: str) -> str:
        """Return how a server that no longer runs ended, with its last lines of output."""
        code = self._process.wait()
        self._reader.join(LAST_OUTPUT_SECONDS)
        return self.printed.ended(code, when)

    def end(self) -> None:
        """End the server: terminate it, then kill it."""
        self._process.terminate()
        try:
            self._process.wait(ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(LAST_OUTPUT_SECONDS)

    def _start(self, command: Sequence[str], folder: str) -> None:
        work = work_folder(folder)
        arguments = [part.replace("{port}", str(self.port)).replace("{work}", work) for part in command]
        self.printed = PrintedLines(folder, work)
        try:
            self._process = subprocess.Popen(
                arguments,
                cwd=work,
                env={**os.environ, "PORT": str(self.port)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        except (OSError, ValueError) as error:
            raise ServerFailed(not_found(arguments[0], error)) from None
        self._reader = threading.Thread(target=self.printed.copy, args=(self._process.stdout,), daemon=True)
        self._reader.start()

    def _wait(self, health: str | None, deadline: float) -> str | None:
        """Return ``None`` once the server is ready, or the last observation once it has ended or time is up."""
        mistaken = 0.0
        while True:
            problem = self._unhealthy(health)
            if not self.alive:  # then another server answered
                return "it has ended"
            if problem is None or time.monotonic() > deadline:
                return problem
            if not self._never:
                mistaken = 0.0
            elif time.monotonic() > (mistaken := mistaken or time.monotonic() + ELSEWHERE_SECONDS):
                return problem
            time.sleep(CHECK_SECONDS)

    def _unhealthy(self, health: str | None) -> str | None:
        """Return why the server is not ready; ``None`` if it is."""
        self._never = ""
        if health is None:
            try:
                socket.create_connection((LOOPBACK, self.port), HEALTH_SECONDS).close()
            except OSError:
                return self._not_listening()
            return None
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=HEALTH_SECONDS)
        try:
            connection.request("GET", health, headers={"Connection": "close"})
            status = connection.getresponse().status
        except ConnectionRefusedError:
            return self._not_listening()
        except (OSError, http.client.HTTPException) as error:
            problem = f"gave no answer ({type(error).__name__})"
        else:
            if 200 <= status < 300:
                return None
            problem = f"has status {status}"
            if status in (404, 405):
                self._never = f"GET {health} {problem}. Add this path, and answer it with status 200 once it is ready."
        finally:
            connection.close()
        return f"GET {health} {problem}. Answer it with status 200, or raise resources.start_seconds."

    def _not_listening(self) -> str:
        others = listening_ports(self._process.pid)
        if others:
            self._never = (
                f"it listens on port {', '.join(map(str, sorted(others)))} and not on {self.port}. "
                "Pass {port} in 'command', or read the variable PORT."
            )
        return (
            f"nothing listens on port {self.port}. Listen on the port that {{port}} and PORT hold, "
            "or raise resources.start_seconds."
        )

    def _port_was_taken(self) -> bool:
        """Whether a server ended because another program took its port."""
        self._reader.join(LAST_OUTPUT_SECONDS)
        if "address already in use" in self.printed.last().lower():
            return True
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((LOOPBACK, self.port))
            except OSError:
                return True
        return False


def patience(start_seconds: float) -> float:
    """Return how long a driver waits for its server: less than memeval waits for the driver, to be able to say why."""
    return start_seconds - min(5.0, start_seconds / 10)


def work_folder(folder: str) -> str:
    """Return the private working folder of a server. It has links to the submission's files, so relative paths hold."""
    work = os.path.join(os.environ["HOME"], "work")
    os.makedirs(work, exist_ok=True)
    for name in os.listdir(folder):
        with contextlib.suppress(FileExistsError):
            os.symlink(os.path.join(os.path.abspath(folder), name), os.path.join(work, name))
    return work


def listening_ports(pid: int) -> set[int]:
    """Return the TCP ports on which a process and its descendants listen; none where there is no ``/proc``."""
    members, sockets = {pid}, set()
    with contextlib.suppress(OSError):
        parents = {int(name): _parent(name) for name in os.listdir("/proc") if name.isdigit()}
        while more := {child for child, parent in parents.items() if parent in members} - members:
            members |= more
    for member in members:
        with contextlib.suppress(OSError):
            for descriptor in os.listdir(f"/proc/{member}/fd"):
                with contextlib.suppress(OSError):
                    sockets.add(os.readlink(f"/proc/{member}/fd/{descriptor}"))
    ports = set()
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(OSError), open(f"/proc/net/{table}", encoding="ascii") as lines:
            for fields in map(str.split, lines):
                if fields[3:4] == ["0A"] and f"socket:[{fields[9]}]" in sockets:
                    ports.add(int(fields[1].rpartition(":")[2], 16))
    return ports


def _parent(pid: str) -> int:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            return int(stat.read().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


def base_url(server: ServerProcess | None, endpoint_variable: str | None, endpoint_path: str) -> str:
    """Return the base URL of a server, without a trailing slash.

    ``endpoint_variable``: the variable with the URL of one that already runs.
    """
    origin = server.origin if server is not None else os.environ.get(endpoint_variable or "", "")
    if not origin:
        raise ServerFailed("The submission names no server. Give it a 'command' or an 'endpoint'.")
    return (origin.rstrip("/") + "/" + endpoint_path.strip("/")).rstrip("/")


def bearer(key_variable: str | None) -> dict[str, str]:
    """Return the header with the key from a variable; no header without a variable."""
    if key_variable is None:
        return {}
    key = os.environ.get(key_variable)
    if not key:
        raise ServerFailed(f"The variable {key_variable} is not set. Set it to the server's key.")
    return {"Authorization": f"Bearer {key}"}
