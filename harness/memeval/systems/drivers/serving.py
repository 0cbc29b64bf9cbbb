"""Starts a driver's server on a free loopback port, waits until it is ready, logs its output, and ends it.

It stays in the driver's process group, so that it never outlives the system.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import socket
import subprocess
import sys
import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import IO

    from memeval.systems.drivers.printed import DriverFailed, PrintedLines, ServerDied, ended, last_output, not_found
else:
    from printed import DriverFailed, PrintedLines, ServerDied, ended, last_output, not_found

LOOPBACK = "127.0.0.1"

TRIES = 3
"""How often a server is started if its port is taken meanwhile."""

CHECK_SECONDS = 0.1
"""The interval between two health checks of a starting server."""

HEALTH_SECONDS = 2.0

ENDING_SECONDS = 5.0
"""How long a server may take to end after SIGTERM."""

LAST_OUTPUT_SECONDS = 0.5
"""How long to wait for the last output of a server that has ended; its own children may keep the pipe open."""

LINE_BYTES = 4000
"""Longer lines of output are split."""


class ServerFailed(DriverFailed):
    """A server could not be started, or was not ready in time."""


class ServerProcess:
    """A running server: started and ready once the constructor returns.

    It gets this process's environment and ``PORT``. Its output is copied to this process's stderr, line by line.

    Args:
        command: the program and its arguments; ``{port}`` in an argument is replaced by its port.
        health: the path that answers 2xx to GET once it is ready; ``None`` if it only has to listen.

    Raises:
        ServerFailed: it could not be started, ended, or was not ready in time.
    """

    def __init__(self, command: Sequence[str], folder: str, start_seconds: float, health: str | None) -> None:
        self.printed = PrintedLines(folder)
        deadline = time.monotonic() + start_seconds
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
                raise ServerFailed(f"The server was not ready after {start_seconds:g} s: {problem}{self.last_output()}")
            if not self._port_was_taken():
                break
        raise ServerFailed(self.how_it_ended("before it was ready"))

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def died(self, call: str) -> ServerDied | None:
        """Wait a moment for a server whose connection broke off to end; return that it did, ``None`` if it runs.

        Args:
            call: the call during which the connection broke off, such as ``POST /ask``.
        """
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(LAST_OUTPUT_SECONDS)
        if not self.alive:
            return ServerDied(self.how_it_ended(f"during {call}"))
        try:
            socket.create_connection((LOOPBACK, self.port), HEALTH_SECONDS).close()
        except ConnectionRefusedError:
            pass
        except OSError:
            return None
        else:
            return None
        return ServerDied(f"The server no longer listens on port {self.port} ({call}).{self.last_output()}")

    def last_output(self) -> str:
        """Return the last lines of output as a sentence, after a space; blank if there are none."""
        return last_output(self.printed)

    def how_it_ended(self, when: str) -> str:
        """Return how a server that no longer runs ended, with its last lines of output."""
        code = self._process.wait()
        self._reader.join(LAST_OUTPUT_SECONDS)
        return ended(code, when, self.printed)

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
        arguments = [part.replace("{port}", str(self.port)) for part in command]
        self.printed = PrintedLines(folder)
        try:
            self._process = subprocess.Popen(
                arguments,
                cwd=folder,
                env={**os.environ, "PORT": str(self.port)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise ServerFailed(not_found(arguments[0], reason, os.environ.get("PATH", ""))) from None
        self._reader = threading.Thread(target=self._copy_output, args=(self._process.stdout,), daemon=True)
        self._reader.start()

    def _copy_output(self, printed: IO[bytes]) -> None:
        with printed as output:
            for line in iter(lambda: output.readline(LINE_BYTES), b""):
                self.printed.add(line)
                with contextlib.suppress(OSError):
                    sys.stderr.buffer.write(line if line.endswith(b"\n") else line + b"\n")
                    sys.stderr.buffer.flush()

    def _wait(self, health: str | None, deadline: float) -> str | None:
        """Return ``None`` once the server is ready, or the last observation once it has ended or time is up."""
        while True:
            problem = self._unhealthy(health)
            if not self.alive:  # then another server answered
                return "it has ended"
            if problem is None or time.monotonic() > deadline:
                return problem
            time.sleep(CHECK_SECONDS)

    def _unhealthy(self, health: str | None) -> str | None:
        """Return why the server is not ready; ``None`` if it is."""
        not_listening = (
            f"nothing listens on port {self.port}. Listen on the port that {{port}} and PORT hold, "
            "or raise resources.start_seconds."
        )
        if health is None:
            try:
                socket.create_connection((LOOPBACK, self.port), HEALTH_SECONDS).close()
            except OSError:
                return not_listening
            return None
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=HEALTH_SECONDS)
        try:
            connection.request("GET", health, headers={"Connection": "close"})
            status = connection.getresponse().status
        except ConnectionRefusedError:
            return not_listening
        except (OSError, http.client.HTTPException) as error:
            problem = f"gave no answer ({type(error).__name__})"
        else:
            if 200 <= status < 300:
                return None
            problem = f"has status {status}"
        finally:
            connection.close()
        return f"GET {health} {problem}. Answer it with status 200, or raise resources.start_seconds."

    def _port_was_taken(self) -> bool:
        """Whether a server ended because another program took its port."""
        self._reader.join(LAST_OUTPUT_SECONDS)
        if "address already in use" in self.last_output().lower():
            return True
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((LOOPBACK, self.port))
            except OSError:
                return True
        return False


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


def base_url(server: ServerProcess | None, endpoint_variable: str | None, endpoint_path: str) -> str:
    """Return the base URL of a server, without a trailing slash.

    Args:
        endpoint_variable: the variable with the URL of one that already runs.
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
