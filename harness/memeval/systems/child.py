"""The process of a system: its start, folder, environment and process group, and its end."""

import atexit
import contextlib
import functools
import importlib.util
import json
import marshal
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from memeval.records.base import Digest
from memeval.records.errors import BadInput
from memeval.records.submission import Resources, Service
from memeval.storage import unwritable
from memeval.systems.channel import Channel, Log, OutputReader, has_ended, visible
from memeval.systems.drivers.printed import line_of_message
from memeval.systems.family import OWN_PROCESSES, WATCH, family, handles, kill_leftovers, marked, processes
from memeval.systems.folder import is_unchanged
from memeval.systems.sandbox import INSIDE_FOLDER, INSIDE_HOME, INSIDE_SOCKET, INSIDE_STORAGE, Sandbox

WORKER = Path(__file__).with_name("worker.py")
WORKER_ERRORS = Path(__file__).with_name("worker_errors.py")
WORKER_TOGETHER = Path(__file__).with_name("worker_together.py")
INSIDE = Path(__file__).with_name("inside.py")
INSIDE_SERVICES = Path(__file__).with_name("inside_services.py")
"""The files that run in the system's process. They are copied into one folder, for memeval's own Python compiled."""

HASH_SEED = 42
"""``PYTHONHASHSEED`` of every system, as DeepMemEval requires."""

RESERVED = frozenset(("HOME", "PATH", "PYTHONHASHSEED", "TMPDIR"))
"""Variables that a submission must not set. It may override memeval's other variables."""

STORAGE = "MEMEVAL_STORAGE"
"""The variable with the path of the storage folder."""

PLACEHOLDER = "{storage}"
"""Stands for that path in variables, parameters and commands of a submission."""

GONE_SECONDS = 10.0
"""How long killed processes may take to be gone: one may wait for its disk."""

ENDING_SECONDS = 1.0
"""How long a process may take to end after it was asked to."""

STACK_SECONDS = 0.5

PRINTED_SECONDS = 0.1
"""How long to wait for what a program printed before its reply."""

_BEGAN = time.time()
"""When this memeval started, in seconds since 1970."""

STACK_PAUSE_SECONDS = 0.05
"""A printed stack is complete if no frame is added for this long."""


@dataclass(frozen=True)
class Launch:
    """How a system's process is started."""

    file: Path
    """The adapter file: the system's own, or the shipped driver for its server."""
    class_name: str | None = None
    """The class to load; ``None`` for the only adapter class, the file's own before imported ones."""
    interpreter: Path = field(default_factory=lambda: Path(sys.executable))
    own_interpreter: bool = True
    """Whether it is memeval's own Python: its installed packages are then hidden from the system."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Keyword arguments of the class, plain JSON data."""
    program: tuple[str, ...] = ()
    """A command that implements the line protocol and replaces the worker; empty for a Python class."""
    folder: Path | None = None
    """The submission's folder, which the system can read."""
    shown: tuple[Path, ...] = ()
    """Other folders that the system may read in the sandbox, for example its environment."""
    path: tuple[Path, ...] = ()
    """Folders of programs that come first in ``PATH``."""
    variables: Mapping[str, str] = field(default_factory=dict)
    resources: Resources = field(default_factory=Resources)
    services: tuple[Service, ...] = ()
    stores: bool = False
    """Whether it has a storage folder, which it finds in ``MEMEVAL_STORAGE``."""
    restarts: bool = False
    """Whether its ``reset`` restarts a server."""
    files: Mapping[str, Path] = field(default_factory=dict)
    """Its files, by their names in ``digest``."""
    digest: Digest | None = None
    """Digest of these files when they were read; ``None`` skips the check."""

    @property
    def is_bare(self) -> bool:
        """Whether the system is a single file with the modules it imports, without other files of its folder."""
        return self.folder is None and bool(self.files)

    def command(self, script: str) -> list[str]:
        """Return the command that runs ``script``.

        ``-I`` and ``-E`` would isolate more, but ignore ``PYTHONHASHSEED`` too.
        """
        flags = ["-P", "-B", "-S"] if self.own_interpreter else ["-B"]
        return [str(self.interpreter), *flags, script]


class WorkerProcess:
    """A running process of a system: started by the constructor; :meth:`end` ends it and deletes its folder.

    Args:
        line_limit: the longest line it may write, in bytes.
        log: receives each line that it prints, from another thread.
        sandbox: the sandbox; ``None`` runs it without one, with access to files and network.
        storage: the folder of a system that stores; it is not deleted. ``None`` for one that ends with the process.
            Ignored for a system that does not store.

    Raises:
        BadInput: the interpreter cannot be run, the launch sets a reserved variable, or its files were changed.
    """

    def __init__(
        self,
        launch: Launch,
        line_limit: int,
        log: Log,
        environment: Mapping[str, str] = {},
        sandbox: Sandbox | None = None,
        storage: Path | None = None,
    ) -> None:
        _close_memory()
        _refuse_variables(launch.variables, environment)
        _refuse_changes(launch)
        self._sandboxed = sandbox is not None
        self.storage = ""
        """Path of its storage folder as it sees it; blank without one."""
        self.excess = ""
        """Which limit it exceeded, in words, if it was killed for that."""
        self.folder = Path(INSIDE_HOME) if sandbox is not None else _new_folder()
        self.file = launch.file.absolute()
        try:
            if launch.is_bare and sandbox is None:
                self.file = _copied_files(launch, self.folder / "adapter")
            ours, theirs = _pipes()
            try:
                if launch.stores:
                    self.storage = _storage_folder(storage, self.folder, sandbox)
                    launch = stored_at(launch, self.storage)
                variables = {**environment, **_environment(launch, self.folder), **launch.variables}
                if launch.stores:
                    variables[STORAGE] = self.storage
                if sandbox is not None:
                    self._process = _start_inside(sandbox, launch, variables, theirs, storage)
                else:
                    self._process = _start(launch, variables, theirs, self.folder)
            except BaseException as error:
                for descriptor in ours:
                    os.close(descriptor)
                if isinstance(error, OSError):
                    raise BadInput(
                        f"the system's Python cannot be run ({error.strerror}).", where=launch.interpreter
                    ) from None
                raise
            finally:
                for descriptor in theirs:
                    os.close(descriptor)
        except BaseException:
            self._delete_folder()
            raise
        self.pid = self._process.pid
        self._pipe_ends = ours[:2]
        self._output = OutputReader(ours[2], log)
        self._output.start()
        self.channel = Channel(self.pid, ours[0], ours[1], line_limit)
        WATCH.add(self.pid, launch.resources, self._kill_for)
        if not _LIVE:  # at memeval's exit, even if nobody closed it
            atexit.unregister(_end_all)
            atexit.register(_end_all)
        _LIVE.add(self)

    @property
    def last_lines(self) -> tuple[str, ...]:
        return tuple(self._output.last_lines)

    def line_of(self, message: str, folders: Sequence[str]) -> str:
        """Return the program's own file and line of a printed error with this message; blank if absent.

        A program prints its error before it replies, but another thread reads what it prints.
        """
        deadline = time.monotonic() + PRINTED_SECONDS
        while not (found := line_of_message(self.last_lines, message, folders)) and time.monotonic() < deadline:
            time.sleep(0.005)
        return found

    @property
    def last_frame(self) -> str:
        """The adapter's innermost frame of the last printed stack; blank if absent."""
        root = self.file.parent
        for file, line, name in list(self._output.stack):
            path = Path(file)
            if path.is_relative_to(root) and "site-packages" not in path.parts:
                position = f"{path.relative_to(root)}:{line}"
                return visible(position if name == "<module>" else f"{position} in {name}")[:300]
        return ""

    def request_frame(self) -> str:
        """Make the worker print its stack; return the adapter's innermost frame, blank if unknown."""
        self._output.stack.clear()
        worker = self._worker_pid()
        if worker is None:
            return ""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(worker, signal.SIGUSR1)
        deadline, frames, since = time.monotonic() + STACK_SECONDS, 0, time.monotonic()
        while (now := time.monotonic()) < deadline:
            if (length := len(self._output.stack)) != frames:
                frames, since = length, now
            elif frames and now - since > STACK_PAUSE_SECONDS:
                break
            time.sleep(0.005)
        return self.last_frame

    def _worker_pid(self) -> int | None:
        """Return the oldest process of the system that handles ``SIGUSR1``, on which it prints its stack."""
        members = sorted(member.pid for member in family(self.pid, processes())) or [self.pid]
        return next((pid for pid in members if handles(pid, signal.SIGUSR1)), None)

    def _kill_for(self, excess: str) -> None:
        self.excess = excess
        self.kill()

    def _delete_folder(self) -> None:
        if not self._sandboxed:
            shutil.rmtree(self.folder, ignore_errors=True)

    def ends_by_itself(self) -> bool:
        """Wait a moment for the process to end by itself; return whether it did."""
        deadline = time.monotonic() + ENDING_SECONDS
        while not (ended := has_ended(self.pid)) and time.monotonic() < deadline:
            time.sleep(0.002)
        return ended

    def kill(self) -> None:
        """Kill the process and its group. Its id is not reused before it is reaped."""
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)

    def crash(self) -> int:
        """Kill the process and all that it started with SIGKILL, as a crash does; return how many they were.

        All are listed before the first is killed, so that none sees another one end and shuts down in order.
        """
        members = marked(self.pid, "" if self._sandboxed else f"TMPDIR={self.folder}")
        for pid in (*sorted(members - {self.pid}), self.pid):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        self.kill()
        deadline = time.monotonic() + GONE_SECONDS
        while members & processes().keys() and time.monotonic() < deadline:
            time.sleep(0.002)
        return len(members)

    def end(self) -> int:
        """Kill all processes, reap, delete the folder; return the exit code, negative for a signal."""
        WATCH.drop(self.pid)
        if not self._sandboxed and self._process.returncode is None:
            kill_leftovers(self.pid, f"TMPDIR={self.folder}")
        self.kill()
        code = self._process.wait()
        ends, self._pipe_ends = self._pipe_ends, ()
        for descriptor in ends:
            os.close(descriptor)
        self._output.join(ENDING_SECONDS)
        self._delete_folder()
        _LIVE.discard(self)
        # bubblewrap reports a signal like a shell: 128 + its number.
        return 128 - code if self._sandboxed and code - 128 in set(signal.Signals) else code


def _storage_folder(storage: Path | None, private: Path, sandbox: Sandbox | None) -> str:
    """Return the path of the storage folder as the system sees it; make one that ends with the process if needed."""
    if sandbox is not None:
        return INSIDE_STORAGE
    folder = private / "storage" if storage is None else storage.absolute()
    folder.mkdir(exist_ok=True)
    return str(folder)


def stored_at(launch: Launch, storage: str) -> Launch:
    """Return a launch with the path of the storage folder in place of ``{storage}``."""

    def put(value: Any) -> Any:
        if isinstance(value, str):
            return value.replace(PLACEHOLDER, storage)
        if isinstance(value, Mapping):
            return {name: put(each) for name, each in value.items()}
        return [put(each) for each in value] if isinstance(value, list | tuple) else value

    return replace(
        launch,
        variables=put(launch.variables),
        parameters=put(launch.parameters),
        program=tuple(put(launch.program)),
    )


def _new_folder() -> Path:
    try:
        return Path(tempfile.mkdtemp(prefix="system-"))
    except OSError as error:
        raise unwritable(Path(tempfile.gettempdir()), error) from None


def _start(
    launch: Launch, variables: Mapping[str, str], pipes: tuple[int, ...], folder: Path
) -> subprocess.Popen[bytes]:
    through_inside = bool(launch.program or launch.services)
    for name, content in _own_files(launch, through_inside).items():
        _written(content, folder / name)
    if through_inside:
        command = [*launch.command(str(folder / _name(INSIDE, launch))), _inside_arguments(launch, None, None)]
    else:
        command = launch.command(str(folder / _name(WORKER, launch)))
    return subprocess.Popen(
        command,
        stdin=pipes[0],
        stdout=pipes[1],
        stderr=pipes[2],
        cwd=folder,
        env=dict(variables),
        start_new_session=True,
    )


def _start_inside(
    sandbox: Sandbox,
    launch: Launch,
    variables: Mapping[str, str],
    pipes: tuple[int, ...],
    storage: Path | None,
) -> subprocess.Popen[bytes]:
    if launch.own_interpreter:  # without its virtual environment, which the system does not need
        launch = replace(launch, interpreter=launch.interpreter.resolve())
    resources = launch.resources
    limits = {
        "data_bytes": resources.memory_mb << 20,
        "file_bytes": resources.disk_mb << 20,
        "processes": resources.processes + OWN_PROCESSES if _counts_by_namespace() else None,
        "cpus": resources.cpus,
    }
    inside_arguments = _inside_arguments(launch, limits, None if sandbox.socket is None else INSIDE_SOCKET)
    return sandbox.start(
        [*launch.command(f"{INSIDE_FOLDER}/{_name(INSIDE, launch)}"), inside_arguments],
        shown=_readable_paths(launch),
        files=_own_files(launch, through_inside=True),
        disk_mb=resources.disk_mb,
        environment=variables,
        pipes=pipes,
        stores=launch.stores,
        storage=storage,
    )


def _own_files(launch: Launch, through_inside: bool) -> dict[str, bytes]:
    files = [WORKER, WORKER_ERRORS, WORKER_TOGETHER]
    if through_inside:
        files += [INSIDE, INSIDE_SERVICES] if launch.services else [INSIDE]
    return {_name(file, launch): _content(file, launch.own_interpreter) for file in files}


def _name(file: Path, launch: Launch) -> str:
    return file.with_suffix(".pyc").name if launch.own_interpreter else file.name


@functools.cache
def _content(file: Path, compiled: bool) -> bytes:
    """Return one of memeval's files for a system's process; compiling it there would take half of each start."""
    source = file.read_bytes()
    if not compiled:
        return source
    code = compile(source, f"{INSIDE_FOLDER}/{file.name}", "exec", dont_inherit=True)
    return importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code)


def _inside_arguments(launch: Launch, limits: Mapping[str, int | None] | None, endpoint: str | None) -> str:
    services = [service.model_dump(mode="json") for service in launch.services]
    folder = str(launch.folder.absolute()) if launch.folder else None
    return json.dumps(
        {"limits": limits, "endpoint": endpoint, "services": services, "program": launch.program, "folder": folder}
    )


def _readable_paths(launch: Launch) -> list[Path]:
    """Return the paths of this machine that a system may read, besides programs and libraries.

    Raises BadInput: the adapter file is a link out of the submission's folder.
    """
    paths = [*launch.shown, *launch.path, *_prefixes(launch.interpreter)]
    file, folder = launch.file.absolute(), launch.folder and launch.folder.absolute()
    if folder is not None:
        paths.append(folder)
    if folder is None or not file.is_relative_to(folder):
        paths += launch.files.values() if launch.is_bare else (file,)
    elif not file.resolve().is_relative_to(folder.resolve()):
        raise BadInput("is a link that leads out of the submission's folder.", where=file)
    return paths


def _prefixes(interpreter: Path) -> Iterator[Path]:
    """Yield the folders of a Python: its virtual environment, its base installation, and links between them.

    A link in a folder with other programs, such as ``~/.local/bin``, is yielded without its folder.
    """
    path = interpreter.absolute()
    for _ in range(40):
        prefix = path.parent.parent
        if not path.is_relative_to("/usr") and not path.is_relative_to("/bin"):
            whole = not path.is_symlink() or (prefix / "pyvenv.cfg").exists() or any(prefix.glob("lib/python3*/os.py"))
            yield prefix if whole else path
        if not path.is_symlink():
            return
        path = Path(os.path.normpath(path.parent / path.readlink()))


@functools.cache
def _counts_by_namespace() -> bool:
    """Whether the kernel limits processes per user namespace (Linux 5.14 or later)."""
    return tuple(map(int, re.findall(r"\d+", os.uname().release)[:2])) >= (5, 14)


def _refuse_variables(requested: Mapping[str, str], environment: Mapping[str, str]) -> None:
    """Refuse variables that a submission must not set. Raises BadInput: memeval or the loader uses one of them."""
    for name in requested:
        if name in RESERVED or name in environment or name.startswith("LD_"):
            raise BadInput(f"The submission must not set the variable {name}.", remedy="Remove it from [variables].")


def _refuse_changes(launch: Launch) -> None:
    """Refuse files that changed after their digest was computed. Raises BadInput: a file was changed or deleted."""
    if launch.digest is None or is_unchanged(launch.files, launch.digest):
        return
    late = [name for name, path in launch.files.items() if not path.is_file() or path.stat().st_mtime > _BEGAN]
    data = [visible(name) for name in late if not name.endswith((".py", ".toml", ".lock"))]
    if data and launch.folder is not None:
        raise BadInput(
            f"{', '.join(data[:3])} was written after it had been read, probably by the system itself.",
            where=launch.folder,
            remedy="Let it write to its working folder ({work} in 'command') or to HOME, and delete the file here.",
        )
    raise BadInput(
        "was changed after it had been read.",
        where=launch.folder or launch.file,
        remedy="Do not edit a system during its run. Run it again.",
    )


def _written(content: bytes, to: Path) -> None:
    try:
        to.write_bytes(content)
    except OSError as error:
        raise unwritable(to, error) from None


def _copied_files(launch: Launch, folder: Path) -> Path:
    for inside, path in launch.files.items():
        (folder / inside).parent.mkdir(parents=True, exist_ok=True)
        _written(path.read_bytes(), folder / inside)
    return folder / next(inside for inside, path in launch.files.items() if path == launch.file)


def _pipes() -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return memeval's ends and the child's ends of three pipes: to the child, from it, and its printed output."""
    child_in, to_child = os.pipe()
    from_child, child_out = os.pipe()
    printed, child_print = os.pipe()
    return (to_child, from_child, printed), (child_in, child_out, child_print)


def _environment(launch: Launch, folder: Path) -> dict[str, str]:
    return {
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "PATH": ":".join((*map(str, launch.path), "/usr/local/bin:/usr/bin:/bin")),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": str(HASH_SEED),
        "PYTHONUTF8": "1",
        "TMPDIR": str(folder),
    }


@functools.cache
def _close_memory() -> None:
    """Hide memeval's memory and environment, with its keys, from processes of the same user. Linux only.

    Root can still read it unless it has no capabilities: see ``give_up_privileges`` in the worker.
    """
    if sys.platform == "linux":
        import ctypes

        pr_set_dumpable = 4
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(pr_set_dumpable, 0, 0, 0, 0)


_LIVE: set[WorkerProcess] = set()


def _end_all() -> None:
    for child in list(_LIVE):
        child.end()
