"""The sandbox: bubblewrap around a system, so that it reaches its own files, its own loopback, and memeval's door."""
# Names below /tmp are names inside, where nobody else is.
# ruff: noqa: S108

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from memeval.records.errors import BadInput
from memeval.systems.refused_calls import call_filter

INSIDE_ORIGIN = "http://127.0.0.1:7878"
"""Where memeval's endpoint is reached from inside."""

INSIDE_FOLDER = "/run/memeval"
"""Where memeval's own few files lie inside."""

INSIDE_SOCKET = INSIDE_FOLDER + "/door"
"""Where the Unix socket of memeval's endpoint lies inside."""

INSIDE_HOME = "/tmp/home"
"""The home folder inside. With all else that can be written it lies in one memory of limited size."""

INSIDE_USER = 1000
"""User and group inside, whoever runs memeval: some programs refuse to run as root."""

TRIAL_SECONDS = 20.0

SYSTEM_FOLDERS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
"""Folders of programs and libraries beside ``/usr``; on most machines links into it."""

SETTINGS = (
    *("alternatives", "ca-certificates", "crypto-policies", "debian_version", "fonts", "gai.conf", "java"),
    *("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "locale.alias", "localtime", "mime.types", "nsswitch.conf"),
    *("os-release", "pki/ca-trust/extracted", "pki/tls/certs", "protocols", "services", "ssl/certs"),
    *("ssl/openssl.cnf", "timezone"),
)
"""What programs need of ``/etc``, and nobody minds showing; what a machine lacks is left out."""

DEVICES = ("full", "null", "random", "urandom", "zero")

MADE_UP = {
    "/etc/passwd": f"memeval:x:{INSIDE_USER}:{INSIDE_USER}::{INSIDE_HOME}:/bin/sh\n".encode(),
    "/etc/group": f"memeval:x:{INSIDE_USER}:\n".encode(),
    "/etc/hosts": b"127.0.0.1 localhost memeval\n",
}
"""Files of which no machine's own are shown."""

PACKAGE = Path(__file__).parents[1]


class SandboxMode(StrEnum):
    """Whether systems run in a sandbox."""

    AUTO = "auto"
    """Where there is one."""
    BWRAP = "bwrap"
    """Or not at all."""
    NONE = "none"
    """Never: the system is trusted with the machine."""


@dataclass(frozen=True)
class Sandbox:
    """bubblewrap, found and tried; its text is its name and version.

    What is started in it sees programs and libraries of the machine, the paths it is shown, and its own empty memory
    to write to; no other file, no other process, and no network but a loopback of its own.
    """

    program: Path
    """Where it is."""
    version: str
    """Its version."""
    socket: Path | None = None
    """memeval's endpoint, reached inside under ``INSIDE_ORIGIN``; ``None`` where there is none."""
    hidden: tuple[Path, ...] = ()
    """Folders that exist and are never shown, even where a shown one holds them: results and data, say."""

    def __str__(self) -> str:
        return f"bubblewrap {self.version}"

    def start(
        self,
        command: Sequence[str],
        *,
        shown: Iterable[Path],
        files: Mapping[str, Path] = {},
        disk_mb: int,
        folder: str = INSIDE_HOME,
        environment: Mapping[str, str],
        pipes: tuple[int, ...],
    ) -> subprocess.Popen[bytes]:
        """Start a command inside.

        Everything ends with the returned process, which ends with memeval.

        Args:
            command: the command, as it is found inside.
            shown: files and folders to show read-only, under the names they have here.
            files: files of memeval's own to show, by their names below ``INSIDE_FOLDER``.
            disk_mb: how much may be written, in MiB.
            folder: where it starts.
            environment: all environment variables it gets.
            pipes: descriptors of its standard input, output and error.

        Raises:
            BadInput: a path may not be shown, or does not exist.
            OSError: bubblewrap cannot be started.
        """
        passed: list[int] = []
        with ExitStack() as opened:

            def descriptor_of(content: bytes) -> str:
                descriptor = os.memfd_create("memeval")
                opened.callback(os.close, descriptor)
                passed.append(descriptor)
                os.write(descriptor, content)
                os.lseek(descriptor, 0, os.SEEK_SET)
                return str(descriptor)

            arguments = [*ISOLATED, *_machine(), *_writable(disk_mb), *_bound(shown, (*self.hidden, PACKAGE))]
            if self.socket is not None:
                arguments += ["--ro-bind", str(self.socket), INSIDE_SOCKET]
            own = {f"{INSIDE_FOLDER}/{name}": file.read_bytes() for name, file in files.items()}
            for path, content in (MADE_UP | own).items():  # copied: a mount would tell where memeval lies
                arguments += ["--perms", "0444", "--file", descriptor_of(content), path]
            seccomp = call_filter()
            if seccomp is not None:
                arguments += ["--seccomp", descriptor_of(seccomp)]
            # /proc too: where root runs memeval, the kernel takes settings of the whole machine from its files.
            arguments += [*_fixed("/proc", "/dev", "/"), "--chdir", folder]
            # Off the command line: a system can read its first process's, and so can every user of the machine.
            told = descriptor_of(b"".join(os.fsencode(argument) + b"\0" for argument in arguments))
            # bubblewrap ends with the thread that started it, not with the process: it gets one that stays.
            return (
                _starter()
                .submit(
                    subprocess.Popen,
                    [str(self.program), "--args", told, "--", *command],
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
    """Return the sandbox of this machine, tried for real, once a process.

    Args:
        mode: whether one is wanted.
        note: told, with ``AUTO``, where there is none.

    Raises:
        BadInput: with ``BWRAP``, there is none.
    """
    if mode is SandboxMode.NONE:
        return None
    found = _tried()
    if isinstance(found, Sandbox):
        return found
    if mode is SandboxMode.BWRAP:
        raise BadInput(
            f"There is no sandbox here: {found}.",
            remedy="Install bubblewrap 0.8 or later and allow user namespaces, or run with --sandbox none.",
        )
    note(
        f"NO SANDBOX: {found}. Systems run with your rights: your files and your network are within their reach. "
        "Install bubblewrap 0.8 or later, and run only systems you trust without it."
    )
    return None


ISOLATED = (
    *("--unshare-user", "--unshare-all", "--disable-userns", "--die-with-parent", "--new-session"),
    *("--cap-drop", "ALL", "--uid", str(INSIDE_USER), "--gid", str(INSIDE_USER), "--hostname", "memeval"),
)


@functools.cache
def _tried() -> Sandbox | str:
    """Return the sandbox, or why there is none."""
    where = shutil.which("bwrap")
    if where is None:
        return "bubblewrap (bwrap) is not installed"
    try:
        told = subprocess.run([where, "--version"], capture_output=True, text=True, timeout=TRIAL_SECONDS, check=False)
        version = re.search(r"\d+(\.\d+)+", told.stdout)
        sandbox = Sandbox(Path(where), version.group() if version else "of unknown version")
        with open(os.devnull, "r+b") as nothing, os.fdopen(os.memfd_create("memeval"), "r+b") as said:  # noqa: PTH123
            pipes = (nothing.fileno(), nothing.fileno(), said.fileno())
            with sandbox.start(["true"], shown=(), disk_mb=1, environment=_PLAIN, pipes=pipes) as process:
                try:
                    code = process.wait(TRIAL_SECONDS)
                except subprocess.TimeoutExpired:
                    process.kill()
                    raise
            said.seek(0)
            if code == 0:
                return sandbox
            lines = said.read(2000).decode("utf-8", "replace").split("\n")
            return f"bubblewrap cannot build one ({lines[0].removeprefix('bwrap: ') or f'exit code {code}'})"
    except (OSError, subprocess.SubprocessError) as error:
        return f"bubblewrap cannot be run ({error})"


_PLAIN = {"PATH": "/usr/bin:/bin"}


@functools.cache
def _starter() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "memeval-system-starter")


@functools.cache
def _machine() -> tuple[str, ...]:
    """Return the arguments that show what every program needs of the machine."""
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
    cpus = "/sys/devices/system/cpu"  # libraries count processors there, and complain where they cannot
    arguments += ["--ro-bind-try", cpus, cpus, "--proc", "/proc", "--perms", "0755", "--tmpfs", "/dev"]
    for name in DEVICES:
        arguments += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    for name, target in (("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        arguments += ["--symlink", f"/proc/self/{target}", f"/dev/{name}"]
    return tuple(arguments)


def _writable(disk_mb: int) -> list[str]:
    """Return the arguments that make the one place to write to, under all names that programs know."""
    return [
        *("--perms", "1777", "--size", str(disk_mb << 20), "--tmpfs", "/tmp", "--perms", "0700", "--dir", INSIDE_HOME),
        *("--perms", "1777", "--dir", "/tmp/.shm", "--symlink", "/tmp/.shm", "/dev/shm"),
        *("--symlink", "/tmp", "/var/tmp", "--dir", "/run"),
    ]


def _bound(shown: Iterable[Path], hidden: Iterable[Path]) -> Iterator[str]:
    """Yield the arguments that show paths, outer ones first, with an empty folder over each hidden one in them."""
    real = {path.absolute(): _showable(path, hidden) for path in shown}
    held = {**real, Path("/usr"): Path("/usr")}
    covers = [
        path / secret.relative_to(source)
        for secret in map(Path.resolve, hidden)
        for path, source in held.items()
        if secret != source and secret.is_relative_to(source) and secret.is_dir()
    ]
    for path in sorted({*real, *covers}, key=lambda path: len(path.parts)):
        if path in covers:
            yield from ("--tmpfs", str(path))
        elif path.is_symlink() and any(path != other and real[path].is_relative_to(real[other]) for other in real):
            yield from ("--symlink", str(path.readlink()), str(path))  # a Python finds its library by where it leads
        else:
            yield from ("--ro-bind", str(real[path]), str(path))
    yield from _fixed(*map(str, covers))


def _fixed(*paths: str) -> Iterator[str]:
    """Yield the arguments after which nothing at these mounts can be changed."""
    for path in paths:
        yield from ("--remount-ro", path)


def _showable(path: Path, hidden: Iterable[Path]) -> Path:
    """Return where a path really lies, so that no link made later leads elsewhere.

    Raises:
        BadInput: it does not exist, or shows too much.
    """
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise BadInput(f"cannot be shown to the system ({error}).", where=path) from None
    for kept, named in ((Path.home(), "your home folder"), (Path("/etc"), "the machine's settings")):
        if kept.resolve().is_relative_to(real):
            raise BadInput(
                f"would show {named} to the system.",
                where=path,
                remedy="Put the system into a folder of its own.",
            )
    for kept in hidden:
        if real == kept.resolve() or (real.is_relative_to(kept.resolve()) and not real.is_relative_to(PACKAGE)):
            raise BadInput(
                "would show to the system what memeval keeps from it.",
                where=path,
                remedy="Put the system outside of results and data.",
            )
    return real
