"""A board on a Git branch, for GitHub Pages and others: one commit a publication, made without a checkout."""

import os
import subprocess
import tempfile
import weakref
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import IO, cast

from memeval.execution.secrets import redact
from memeval.records.errors import BadInput
from memeval.site.release.roots import LATEST_PAGE, OWN_FILES, VERSIONS_FILE, latest_page
from memeval.site.release.targets.base import Entry, EntryKind, NewFile


class GitObjects:
    """The contents of files in a Git repository, by object id."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writing, self._reading = Lock(), Lock()

    def write(self, content: bytes | Path) -> str:
        """Store a content without any filter, and return its object id. Raises ``BadInput`` if Git cannot store it."""
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
        """Return the content with an object id. Raises ``BadInput`` if the object is missing or damaged."""
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


_KINDS = {b"100644": EntryKind.FILE, b"100755": EntryKind.FILE, b"120000": EntryKind.LINK}
_NO_COMMIT = "0" * 40


class GitTarget:
    """Published files on a branch. They become public together: with the commit, or with its push.

    ``remote``: the remote to push to; ``None`` to push nothing.
    """

    reads_locally = True

    def __init__(self, folder: Path, branch: str, remote: str | None) -> None:
        self._folder = folder
        self._branch = branch
        self._ref = f"refs/heads/{branch}"
        self._remote = remote
        self._new: dict[str, Entry] = {}

    @property
    def url(self) -> str:
        return f"git:{self._branch}"

    def check_place(self, results: Path) -> None:
        for line in self._git("worktree", "list", "--porcelain").decode(errors="replace").splitlines():
            if line == f"branch {self._ref}":
                raise BadInput(
                    "this branch is checked out.", where=self.url, remedy="Name another branch, such as git:gh-pages."
                )
        roots = {path.partition("/")[0] for path in self._published}
        if VERSIONS_FILE not in roots and not roots <= OWN_FILES:
            raise BadInput(
                "this branch has files that are not a board of memeval.", where=self.url, remedy="Name another branch."
            )

    def prepare(self) -> list[str]:
        """Add the file without which GitHub Pages leaves out some names."""
        if ".nojekyll" not in self._published:
            self._store(NewFile(".nojekyll", b""))
        return []

    def entries(self) -> Mapping[str, Entry]:
        return {**self._published, **self._new}

    def read(self, path: str) -> bytes:
        entry = self._new.get(path) or self._published[path]
        return self._objects.read(str(entry.tag))

    def create(self, file: NewFile) -> bool:
        if file.path in self._new or file.path in self._published:
            return False
        self._store(file)
        return True

    def holds(self, file: NewFile, entry: Entry) -> bool:
        return entry.size == file.size and self._objects.write(file.content) == entry.tag

    def swap(self, file: NewFile, before: bytes | None) -> bool:
        try:
            now: bytes | None = self.read(file.path)
        except KeyError:
            now = None
        if now != before:
            return False
        self._store(file)
        return True

    def point(self, version: str) -> None:
        """Let the page ``latest/`` lead to a version."""
        self._store(NewFile(LATEST_PAGE, latest_page(version), immutable=False))

    def finish(self, message: str) -> list[str]:
        """Commit, and push if a remote is named.

        Raises ``BadInput`` if another process has changed the branch meanwhile, or the remote refuses.
        """
        done = []
        commit = self._commit(message)
        if commit != self._local:
            self._git("update-ref", "-m", message, self._ref, commit, self._local or _NO_COMMIT)
            done.append(f"{self.url}: commit {commit[:12]}.")
        if self._remote is not None and commit != self._remote_tip:
            self._git("push", "--quiet", self._remote, f"{commit}:{self._ref}")
            done.append(f"{self.url}: pushed to {redact(self._remote)}.")
        return done

    def _commit(self, message: str) -> str:
        """Return the commit with the new files; the last one if it has them all."""
        changed = {path: entry for path, entry in self._new.items() if self._published.get(path) != entry}
        if self._tip is not None and not changed:
            return self._tip
        with tempfile.TemporaryDirectory(prefix="memeval-git-") as folder:
            index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
            if self._tip is not None:
                self._git("read-tree", self._tip, more=index)
            lines = b"".join(f"100644 {entry.tag}\t{path}\0".encode() for path, entry in sorted(changed.items()))
            self._git("update-index", "-z", "--index-info", given=lines, more=index)
            tree = self._git("write-tree", more=index).decode().strip()
        parent = [] if self._tip is None else ["-p", self._tip]
        return self._git("commit-tree", tree, *parent, "-m", message, more=self._author()).decode().strip()

    def _author(self) -> dict[str, str]:
        """Return the author for a machine on which Git has none, such as a runner of a CI service."""
        try:
            self._git("var", "GIT_COMMITTER_IDENT")
        except BadInput:
            name, address = "memeval", "memeval@localhost"
        else:
            return {}
        roles = ("AUTHOR", "COMMITTER")
        return {f"GIT_{role}_NAME": name for role in roles} | {f"GIT_{role}_EMAIL": address for role in roles}

    def _store(self, file: NewFile) -> None:
        self._new[file.path] = Entry(file.size, tag=self._objects.write(file.content))

    @cached_property
    def _objects(self) -> GitObjects:
        return GitObjects(self._folder)

    @cached_property
    def _published(self) -> Mapping[str, Entry]:
        found: dict[str, Entry] = {}
        listing = b"" if self._tip is None else self._git("ls-tree", "-r", "-z", "-l", self._tip)
        for line in listing.split(b"\0")[:-1]:
            head, _, path = line.partition(b"\t")
            mode, _type, name, size = head.split()
            kind = _KINDS.get(mode, EntryKind.OTHER)
            points_at = self._objects.read(name.decode()).decode(errors="replace") if kind is EntryKind.LINK else None
            found[os.fsdecode(path)] = Entry(int(size) if size != b"-" else 0, kind, name.decode(), points_at)
        return found

    @cached_property
    def _local(self) -> str | None:
        """The commit of the branch here; ``None`` without such a branch."""
        self._git("check-ref-format", "--branch", self._branch)
        return self._git("for-each-ref", "--format=%(objectname)", self._ref).decode().strip() or None

    @cached_property
    def _remote_tip(self) -> str | None:
        """The commit of the branch at the remote, after fetching it; ``None`` without remote or branch."""
        if self._remote is None or not self._git("ls-remote", "--heads", self._remote, self._ref).strip():
            return None
        self._git("fetch", "--quiet", "--no-tags", self._remote, self._ref)
        return self._git("rev-parse", "FETCH_HEAD").decode().strip()

    @cached_property
    def _tip(self) -> str | None:
        """The newest commit of the branch, here or at the remote; ``None`` before the first publication.

        Raises ``BadInput`` if both have commits that the other lacks.
        """
        local, remote = self._local, self._remote_tip
        if local is None or remote is None or local == remote:
            return local or remote
        here, there = self._git("rev-list", "--left-right", "--count", f"{local}...{remote}").split()
        if int(here) and int(there):
            shown = redact(self._remote or "")
            raise BadInput(
                f"the branch here and at {shown} have different commits.",
                where=self.url,
                remedy=f"Fetch the branch: git fetch {shown} +{self._branch}:{self._branch}.",
            )
        return local if int(here) else remote

    def _git(self, *words: str, given: bytes = b"", more: Mapping[str, str] | None = None) -> bytes:
        """Return what a command of Git prints. ``given``: its standard input. ``more``: variables of its environment.

        Raises ``BadInput`` if Git is not installed, or refuses.
        """
        try:
            done = subprocess.run(
                ["git", *words],
                cwd=self._folder,
                input=given,
                capture_output=True,
                env={**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", **(more or {})},
            )
        except FileNotFoundError:
            raise BadInput("Git is not installed.", where=self.url, remedy="Install git.") from None
        if done.returncode:
            lines = redact(done.stderr.decode(errors="replace")).strip().splitlines()
            said = [line for line in lines if not line.startswith("hint:")]
            if "not a git repository" in " ".join(said):
                raise BadInput(
                    "this folder is not in a Git repository.", where=self._folder, remedy="Run 'git init' first."
                )
            raise BadInput(
                f"git {words[0]} failed: {said[-1] if said else f'exit code {done.returncode}'}",
                where=self.url,
                remedy="Correct that, and run the same command again.",
            )
        return done.stdout
