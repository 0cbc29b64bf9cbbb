"""Reading and writing the objects of a Git repository, through one process for each."""

from __future__ import annotations

import subprocess
import weakref
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import IO, cast

from memeval.records.errors import BadInput


class GitObjects:
    """The contents of files in a Git repository, by object id.

    Args:
        folder: a folder inside the repository.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writing, self._reading = Lock(), Lock()

    def write(self, content: bytes | Path) -> str:
        """Store a content without any filter, and return its object id.

        Raises:
            BadInput: Git cannot store it.
        """
        answer = b""
        if isinstance(content, bytes):
            done = subprocess.run(
                ["git", "hash-object", "-w", "--no-filters", "--stdin"],
                cwd=self._folder,
                input=content,
                capture_output=True,
            )
            answer = done.stdout
        else:
            with self._writing, suppress(OSError):
                stdin, stdout = self._writer
                stdin.write(f"{content.absolute()}\n".encode())
                stdin.flush()
                answer = stdout.readline()
        if not answer.strip():
            raise BadInput(
                "Git cannot store a file.", where=self._folder, remedy="Free disk space, and check the folder .git."
            )
        return answer.decode().strip()

    def read(self, name: str) -> bytes:
        """Return the content with an object id.

        Raises:
            BadInput: the object is missing or damaged.
        """
        content = None
        with self._reading, suppress(OSError, ValueError):
            stdin, stdout = self._reader
            stdin.write(f"{name}\n".encode())
            stdin.flush()
            head = stdout.readline().split()
            content = stdout.read(int(head[2]) + 1)[:-1] if len(head) == 3 else None
        if content is None:
            raise BadInput(f"Git cannot read object {name}.", where=self._folder, remedy="Run git fsck.")
        return content

    @cached_property
    def _writer(self) -> tuple[IO[bytes], IO[bytes]]:
        return self._process("hash-object", "-w", "--no-filters", "--stdin-paths")

    @cached_property
    def _reader(self) -> tuple[IO[bytes], IO[bytes]]:
        return self._process("cat-file", "--batch")

    def _process(self, *words: str) -> tuple[IO[bytes], IO[bytes]]:
        """Start a process that answers line by line; it ends with this object."""
        process = subprocess.Popen(
            ["git", *words], cwd=self._folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        weakref.finalize(self, _end, process)
        return cast(IO[bytes], process.stdin), cast(IO[bytes], process.stdout)


def _end(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
    process.wait()
