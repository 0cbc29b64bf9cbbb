"""The sandbox: bubblewrap limits a system to its own files, its own loopback and memeval's model endpoint."""

import errno
import functools
import os
import re
import shutil
import socket
import struct
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from memeval.records.errors import BadInput


class _Machine(NamedTuple):
    """System call numbers of Linux on one architecture."""

    audit: int
    socket: int
    shmget: int
    memfd_create: int
    refused: tuple[int, ...]
    """``add_key``, ``request_key``, ``keyctl``: the session keyring would keep data after the system has ended."""


_MACHINES = {
    "x86_64": _Machine(0xC000003E, 41, 29, 319, (248, 249, 250)),
    "aarch64": _Machine(0xC00000B7, 198, 194, 279, (217, 218, 219)),
}

_IO_URING_SETUP = 425
"""``io_uring`` makes other system calls without passing the filter."""

_X32 = 0x40000000
"""The bit of a second set of numbers for the same calls."""

_FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, 16)
"""Socket families that namespaces isolate; the last is ``AF_NETLINK``. ``AF_VSOCK`` could reach the host machine."""

_SHARED_BYTES = 1 << 20
"""The largest System V shared memory segment: it belongs to no process, so no limit counts it."""

_LOAD, _EQUAL, _AT_LEAST, _ABOVE, _RETURN = 0x20, 0x15, 0x35, 0x25, 0x06
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000


@functools.cache
def call_filter() -> bytes | None:
    """Return the filter as bytes for the kernel; ``None`` on an unknown architecture.

    A refused call fails as on a kernel without it, which programs can handle. ``memfd_create`` is refused too, because
    no limit counts its memory.
    """
    machine = _MACHINES.get(os.uname().machine)
    if machine is None:
        return None
    absent = (_RETURN, 0, 0, _FAIL | errno.ENOSYS)
    allowed = (_RETURN, 0, 0, _ALLOW)
    steps = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, machine.audit), absent]
    steps += [(_LOAD, 0, 0, 0)]
    if machine.audit == _MACHINES["x86_64"].audit:
        steps += [(_AT_LEAST, 0, 1, _X32), absent]
    for number in (*machine.refused, machine.memfd_create, _IO_URING_SETUP):
        steps += [(_EQUAL, 0, 1, number), absent]
    steps += [(_EQUAL, 0, 2 + 2 * len(_FAMILIES), machine.socket), (_LOAD, 0, 0, 16)]
    for family in _FAMILIES:
        steps += [(_EQUAL, 0, 1, int(family)), allowed]
    steps += [(_RETURN, 0, 0, _FAIL | errno.EAFNOSUPPORT)]
    steps += [(_EQUAL, 0, 5, machine.shmget), (_LOAD, 0, 0, 28), (_EQUAL, 0, 2, 0)]
    steps += [(_LOAD, 0, 0, 24), (_ABOVE, 0, 1, _SHARED_BYTES), (_RETURN, 0, 0, _FAIL | errno.ENOSPC), allowed]
    return b"".join(struct.pack("HBBI", *step) for step in steps)


# Paths below /tmp are inside the sandbox, where no other user can write.
# ruff: noqa: S108


INSIDE_ORIGIN = "http://127.0.0.1:7878"
"""The address of memeval's model endpoint inside the sandbox."""

INSIDE_FOLDER = "/run/memeval"

INSIDE_SOCKET = INSIDE_FOLDER + "/door"
"""The Unix socket of memeval's model endpoint inside the sandbox."""

INSIDE_HOME = "/tmp/home"
"""The home folder inside the sandbox. All writable folders share one memory file system of limited size."""

INSIDE_STORAGE = "/tmp/storage"
"""The storage folder inside the sandbox, for a system that declares one."""

INSIDE_USER = 1000
"""User and group id inside the sandbox: some programs refuse to run as root."""

TRIAL_SECONDS = 20.0

SYSTEM_FOLDERS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
"""Folders of programs and libraries besides ``/usr``; on most machines they are links into it."""

SETTINGS = (
    *("alternatives", "ca-certificates", "crypto-policies", "debian_version", "fonts", "gai.conf", "java"),
    *("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "locale.alias", "localtime", "mime.types", "nsswitch.conf"),
    *("os-release", "pki/ca-trust/extracted", "pki/tls/certs", "protocols", "services", "ssl/certs"),
    *("ssl/openssl.cnf", "timezone"),
)
"""Files of ``/etc`` that programs need and that hold no secrets. Missing ones are skipped."""

DEVICES = ("full", "null", "random", "urandom", "zero")

GENERATED_FILES = {
    "/etc/passwd": f"memeval:x:{INSIDE_USER}:{INSIDE_USER}::{INSIDE_HOME}:/bin/sh\n".encode(),
    "/etc/group": f"memeval:x:{INSIDE_USER}:\n".encode(),
    "/etc/hosts": b"127.0.0.1 localhost memeval\n",
}
"""Files with generated content, in place of the machine's own."""

PACKAGE = Path(__file__).parents[1]


class SandboxMode(StrEnum):
    AUTO = "auto"
    BWRAP = "bwrap"
    NONE = "none"
    """Use no sandbox: the system can access files and network."""


@dataclass(frozen=True)
class Sandbox:
    """A tested bubblewrap; ``str`` gives its name and version.

    A command in it can read the machine's programs and libraries and the paths that are mounted, and write to its own
    memory file system. It sees no other files, no other processes, and no network except its own loopback.
    """

    program: Path
    version: str
    socket: Path | None = None
    """The socket of memeval's model endpoint, at ``INSIDE_ORIGIN`` inside; ``None`` for no endpoint."""
    hidden: tuple[Path, ...] = ()
    """Folders never mounted, even inside a mounted folder, such as results; and files that cannot be read."""

    def __str__(self) -> str:
        return f"bubblewrap {self.version}"

    def start(
        self,
        command: Sequence[str],
        *,
        shown: Iterable[Path],
        files: Mapping[str, bytes] = {},
        disk_mb: int,
        environment: Mapping[str, str],
        pipes: tuple[int, ...],
        stores: bool = False,
        storage: Path | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start a command in the sandbox.

        All processes end with the returned process, which ends with memeval.

        Args:
            shown: files and folders to mount read-only, at the same paths.
            files: memeval's files to copy: their contents, by their names below ``INSIDE_FOLDER``.
            disk_mb: how much may be written, in MiB.
            stores: whether there is a folder ``INSIDE_STORAGE``, where the command may write.
            storage: the folder to mount there; ``None`` for one in memory.

        Raises:
            BadInput: a path must not be mounted, or does not exist.
            OSError: bubblewrap cannot be started.
        """
        passed: list[int] = []
        with ExitStack() as descriptors:

            def descriptor_of(content: bytes) -> str:
                descriptor = os.memfd_create("memeval")
                descriptors.callback(os.close, descriptor)
                passed.append(descriptor)
                os.write(descriptor, content)
                os.lseek(descriptor, 0, os.SEEK_SET)
                return str(descriptor)

            arguments = [*ISOLATED, *_machine(), *_writable(disk_mb), *_mounts(shown, (*self.hidden, PACKAGE))]
            if stores:
                arguments += ["--dir", INSIDE_STORAGE]
                arguments += [] if storage is None else ["--bind", str(storage.resolve()), INSIDE_STORAGE]
            if self.socket is not None:
                arguments += ["--ro-bind", str(self.socket), INSIDE_SOCKET]
            own = {f"{INSIDE_FOLDER}/{name}": content for name, content in files.items()}
            for path, content in (GENERATED_FILES | own).items():  # copied: a mount would reveal memeval's path
                arguments += ["--perms", "0444", "--file", descriptor_of(content), path]
            seccomp = call_filter()
            if seccomp is not None:
                arguments += ["--seccomp", descriptor_of(seccomp)]
            # /proc too: if root runs memeval, its files change settings of the whole machine.
            arguments += [*_read_only("/proc", "/dev", "/"), "--chdir", INSIDE_HOME]
            # Not on the command line: the system and other users of the machine can read that.
            arguments_file = descriptor_of(b"".join(os.fsencode(argument) + b"\0" for argument in arguments))
            # bubblewrap ends with the thread that started it, not with the process: so use a permanent thread.
            return (
                _starter()
                .submit(
                    subprocess.Popen,
                    [str(self.program), "--args", arguments_file, "--", *command],
                    stdin=pipes[0],
                    stdout=pipes[1],
                    stderr=pipes[2],
                    cwd="/",
                    env=dict(environment),
                    start_new_session=True,
                    pass_fds=passed,
                )
                .result()
            )


def find_sandbox(mode: SandboxMode, note: Callable[[str], None]) -> Sandbox | None:
    """Return the sandbox of this machine, tested once per process.

    ``mode``: whether to use a sandbox. ``note``: receives a warning if absent with ``AUTO``. Raises BadInput: there is
    none with ``BWRAP``.
    """
    if mode is SandboxMode.NONE:
        return None
    found = _tried()
    if isinstance(found, Sandbox):
        return found
    if mode is SandboxMode.BWRAP:
        raise BadInput(
            f"No sandbox: {found}.",
            remedy="Install bubblewrap 0.8 or later and allow user namespaces, or run with --sandbox none.",
        )
    note(
        f"NO SANDBOX: {found}. Systems run with your rights and can access your files and network. "
        "Install bubblewrap 0.8 or later. Without it, run only systems that you trust."
    )
    return None


ISOLATED = (
    *("--unshare-user", "--unshare-all", "--disable-userns", "--die-with-parent", "--new-session"),
    *("--cap-drop", "ALL", "--uid", str(INSIDE_USER), "--gid", str(INSIDE_USER), "--hostname", "memeval"),
)


@functools.cache
def _tried() -> Sandbox | str:
    program = shutil.which("bwrap")
    if program is None:
        return "bubblewrap (bwrap) is not installed"
    try:
        output = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=TRIAL_SECONDS, check=False
        )
        version = re.search(r"\d+(\.\d+)+", output.stdout)
        sandbox = Sandbox(Path(program), version.group() if version else "of unknown version")
        with open(os.devnull, "r+b") as nothing, os.fdopen(os.memfd_create("memeval"), "r+b") as printed:  # noqa: PTH123
            pipes = (nothing.fileno(), nothing.fileno(), printed.fileno())
            with sandbox.start(["true"], shown=(), disk_mb=1, environment=_PLAIN, pipes=pipes) as process:
                try:
                    code = process.wait(TRIAL_SECONDS)
                except subprocess.TimeoutExpired:
                    process.kill()
                    raise
            printed.seek(0)
            if code == 0:
                return sandbox
            lines = printed.read(2000).decode("utf-8", "replace").split("\n")
            return f"bubblewrap cannot start one ({lines[0].removeprefix('bwrap: ') or f'exit code {code}'})"
    except (OSError, subprocess.SubprocessError) as error:
        return f"bubblewrap cannot be run ({error})"


_PLAIN = {"PATH": "/usr/bin:/bin"}


@functools.cache
def _starter() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "memeval-system-starter")


@functools.cache
def _machine() -> tuple[str, ...]:
    """Return the arguments that mount the files of the machine that every program needs."""
    arguments = ["--ro-bind", "/usr", "/usr"]
    for name in SYSTEM_FOLDERS:
        folder = Path("/", name)
        if folder.is_symlink():
            arguments += ["--symlink", str(folder.readlink()), str(folder)]
        elif folder.is_dir():
            arguments += ["--ro-bind", str(folder), str(folder)]
    etc = Path("/etc")
    for file in (*(etc / name for name in SETTINGS), *sorted(etc.glob("java-*-openjdk"))):
        if file.exists():
            arguments += ["--ro-bind", str(file.resolve()), str(file)]
    cpus = "/sys/devices/system/cpu"  # libraries count processors there
    arguments += ["--ro-bind-try", cpus, cpus, "--proc", "/proc", "--perms", "0755", "--tmpfs", "/dev"]
    for name in DEVICES:
        arguments += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    for name, target in (("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        arguments += ["--symlink", f"/proc/self/{target}", f"/dev/{name}"]
    return tuple(arguments)


def _writable(disk_mb: int) -> list[str]:
    """Return the arguments that mount the writable file system, at all usual paths for temporary files."""
    return [
        *("--perms", "1777", "--size", str(disk_mb << 20), "--tmpfs", "/tmp", "--perms", "0700", "--dir", INSIDE_HOME),
        *("--perms", "1777", "--dir", "/tmp/.shm", "--symlink", "/tmp/.shm", "/dev/shm"),
        *("--symlink", "/tmp", "/var/tmp", "--dir", "/run"),
    ]


def _mounts(shown: Iterable[Path], hidden: Iterable[Path]) -> Iterator[str]:
    """Yield the arguments that mount paths, outer ones first, and cover each hidden folder or file in them."""
    real = {path.absolute(): _mountable(path, hidden) for path in shown}
    mounted = {**real, Path("/usr"): Path("/usr")}
    covers = {
        path / secret.relative_to(source): secret.is_dir()
        for secret in map(Path.resolve, hidden)
        for path, source in mounted.items()
        if secret != source and secret.is_relative_to(source) and secret.exists()
    }
    for path in sorted({*real, *covers}, key=lambda path: len(path.parts)):
        if path in covers:
            # The device cannot be opened: the mount forbids devices.
            yield from ("--tmpfs", str(path)) if covers[path] else ("--ro-bind", os.devnull, str(path))
        elif path.is_symlink() and any(path != other and real[path].is_relative_to(real[other]) for other in real):
            yield from (
                "--symlink",
                str(path.readlink()),
                str(path),
            )  # Python finds its library by the target of the link
        else:
            yield from ("--ro-bind", str(real[path]), str(path))
    yield from _read_only(*(str(path) for path, is_folder in covers.items() if is_folder))


def _read_only(*paths: str) -> Iterator[str]:
    for path in paths:
        yield from ("--remount-ro", path)


def _mountable(path: Path, hidden: Iterable[Path]) -> Path:
    """Return the real path of ``path``, so that a later change of a link has no effect.

    Raises BadInput: it does not exist, or contains files that must stay hidden.
    """
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise BadInput(f"cannot be mounted in the sandbox ({error}).", where=path) from None
    for private, name in ((Path.home(), "your home folder"), (Path("/etc"), "the machine's settings")):
        if private.resolve().is_relative_to(real):
            raise BadInput(
                f"would give the system access to {name}.", where=path, remedy="Move the system to its own folder."
            )
    for private in hidden:
        if real == private.resolve() or (
            real.is_relative_to(private.resolve()) and not real.is_relative_to(PACKAGE.resolve())
        ):
            raise BadInput(
                "would give the system access to results or data of memeval.",
                where=path,
                remedy="Move the system out of the results and data folders.",
            )
    return real
