"""The first program in a system's process: sets limits, starts services, then becomes the system.

Run by the system's own interpreter, so it needs nothing but the standard library of Python 3.9 or later. Its one
argument is a JSON object: ``limits`` (``data_bytes``, ``file_bytes``, ``processes``, ``cpus``; null for none),
``endpoint`` (the Unix socket to which loopback connections are forwarded, or null), ``services`` (each with ``name``
and ``variable``), and ``program`` (the command to become; if empty, the worker beside this file).
"""
# Few imports, and no pathlib: this runs at every start.
# ruff: noqa: PTH100, PTH120

from __future__ import annotations

import contextlib
import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from typing import Any

GATEWAY_PORT = 7878
"""The port of memeval's endpoint inside the sandbox."""

OPEN_FILES = 65_536

CONNECTIONS = 400
"""How many connections are forwarded at a time; further ones wait."""

BUFFER_BYTES = 1 << 18
"""The most bytes of a connection that are buffered while the receiver does not read."""


def limit(limits: dict[str, Any]) -> None:
    import resource

    bounds = {"RLIMIT_CORE": 0, "RLIMIT_NOFILE": OPEN_FILES, "RLIMIT_DATA": limits["data_bytes"]}
    bounds.update({"RLIMIT_FSIZE": limits["file_bytes"], "RLIMIT_NPROC": limits["processes"]})
    for name, most in bounds.items():
        if most is not None:
            kind = getattr(resource, name)
            hard = resource.getrlimit(kind)[1]
            value = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (value, value))
    if limits["cpus"] is not None:
        free = sorted(os.sched_getaffinity(0))
        first = int.from_bytes(os.urandom(2), "big") % len(free)  # other processors for every system
        os.sched_setaffinity(0, (free + free)[first : first + min(limits["cpus"], len(free))])


def forward(listener: socket.socket, endpoint: str) -> None:
    """Forward connections of a listening socket to a Unix socket, both ways, until this process ends."""
    import selectors
    import socket

    class End:
        def __init__(self, line: socket.socket) -> None:
            self.line = line
            self.other = self
            self.buffer = bytearray()
            self.done = False
            """Whether this side sends no more bytes."""
            self.ended = False
            """Whether the end of the other side's bytes was signalled to this side."""

        def wanted(self) -> int:
            """Return the events to wait for; 0 for none."""
            has_space = len(self.other.buffer) < BUFFER_BYTES
            reads = selectors.EVENT_READ if has_space and not self.done else 0
            return reads | (selectors.EVENT_WRITE if self.buffer else 0)

    ready = selectors.DefaultSelector()
    watched: dict[int, int] = {}

    def wait_for(end: End, events: int) -> None:
        key = end.line.fileno()
        if events == watched.get(key, 0):
            return
        if key in watched:
            ready.unregister(end.line)
            del watched[key]
        if events:
            ready.register(end.line, events, end)
            watched[key] = events

    def serve(end: End, events: int) -> None:
        if events & selectors.EVENT_READ:
            chunk = end.line.recv(1 << 16)
            end.done = not chunk
            end.other.buffer += chunk
        for side in (end, end.other):
            if side.buffer:
                with contextlib.suppress(BlockingIOError):
                    del side.buffer[: side.line.send(side.buffer)]
            if side.other.done and not side.buffer and not side.ended:
                side.ended = True
                side.line.shutdown(socket.SHUT_WR)

    def close(end: End) -> None:
        for side in (end, end.other):
            wait_for(side, 0)
            side.line.close()

    connections = 0
    listener.setblocking(False)
    ready.register(listener, selectors.EVENT_READ)
    listening = True
    while True:
        for key, events in ready.select():
            end = key.data
            if end is None:
                try:
                    line = listener.accept()[0]
                except OSError:
                    continue
                try:
                    target = socket.socket(socket.AF_UNIX)
                    target.connect(endpoint)
                except OSError:
                    line.close()
                    continue
                sides = End(line), End(target)
                sides[0].other, sides[1].other = sides[1], sides[0]
                for side in sides:
                    side.line.setblocking(False)
                    wait_for(side, side.wanted())
                connections += 1
            elif end.line.fileno() >= 0:
                try:
                    serve(end, events)
                    done = end.ended and end.other.ended
                except OSError:
                    done = True
                if done:
                    close(end)
                    connections -= 1
                else:
                    wait_for(end, end.wanted())
                    wait_for(end.other, end.other.wanted())
        if listening != (connections < CONNECTIONS):
            listening = not listening
            if listening:
                ready.register(listener, selectors.EVENT_READ)
            else:
                ready.unregister(listener)


def open_gateway_socket(endpoint: str) -> None:
    """Listen for connections to memeval's endpoint, and forward them from a separate process."""
    import socket

    listener = socket.socket(socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", GATEWAY_PORT))
    listener.listen(1024)
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        listener.close()
        return
    if os.fork():  # so that it is not a child of the system, which may wait for its children
        os._exit(0)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    try:
        forward(listener, endpoint)
    finally:
        os._exit(1)


def become(program: list[str]) -> None:
    """Replace this program by another, with the signals that Python ignores restored."""
    import signal

    for name in ("SIGPIPE", "SIGXFSZ"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    try:
        os.execvp(program[0], program)  # noqa: S606 - no shell is wanted
    except OSError as error:
        if isinstance(error, FileNotFoundError) and "/" not in program[0]:
            searched = os.environ.get("PATH", "")
            problem = f"Command not found: '{program[0]}' (PATH: {searched}). Install it there, or correct 'command'."
        else:
            problem = (
                f"The command '{program[0]}' cannot be run ({error.strerror}). Correct 'command' in submission.toml."
            )
        sys.stderr.write(f"{problem}\n")
        sys.stderr.flush()
        os._exit(127)


def main() -> None:
    """Apply the JSON argument, then run the system."""
    settings = json.loads(sys.argv.pop())
    folder = os.path.dirname(os.path.abspath(__file__))
    if sys.path[:1] != [folder]:
        sys.path.insert(0, folder)
    if settings["limits"] is not None:
        limit(settings["limits"])
    if settings["endpoint"] is not None:
        open_gateway_socket(settings["endpoint"])
    if settings["services"]:
        from importlib import import_module

        os.environ.update(import_module("inside_services").start(settings["services"]))
    if TYPE_CHECKING:
        from memeval.systems import worker
    else:
        import worker

    del sys.modules["worker"]  # a module of the system may have this name
    if settings["program"]:
        worker.give_up_privileges()
        become(settings["program"])
    worker.serve()


if __name__ == "__main__":
    main()
