"""The files of a submission: which belong to it, which may not be there, and how large it may be."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from memeval.records.base import Digest, digest_bytes, digest_of
from memeval.records.errors import BadInput
from memeval.systems.output import visible

TOTAL_BYTES = 2_000_000
"""All files of a submission together, its locks aside."""

LOCK_BYTES = 5_000_000
"""One lock file."""

FILE_LIMIT = 200
"""How many files a submission has at most."""

DEPTH_LIMIT = 12
"""How deep folders lie in one another at most."""

LOCKS = frozenset({"requirements.lock", "package-lock.json"})
"""Files that pin a system's dependencies, at the top of its folder."""

LEFT_OUT = frozenset(
    {"__pycache__", ".DS_Store", ".git", ".gitattributes", ".gitignore", ".gitkeep"}
    | {".hypothesis", ".idea", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".venv", ".vscode"}
)
"""What tools leave in a folder; no part of a submission."""

BUILT = frozenset({"node_modules", "venv", "site-packages"})
"""What is installed from a lock and never handed in."""

TEXT_SUFFIXES = frozenset(
    {"", ".cjs", ".css", ".csv", ".html", ".js", ".json", ".lock", ".md", ".mjs", ".py", ".sh", ".sql", ".toml"}
    | {".ts", ".txt", ".yaml", ".yml"}
)
"""Endings of files that are text, and so UTF-8."""

_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)
_UNFIT = re.compile(r'[<>:"|?*\\]')


def left_out(folder: Path) -> tuple[Path, ...]:
    """Return the folders inside a submission's that are no part of it, such as ``.git``: no digest covers them."""
    return tuple(path for name in sorted(LEFT_OUT) for path in folder.rglob(name) if path.is_dir())


def examined_files(folder: Path) -> tuple[dict[str, Path], list[BadInput]]:
    """Return the files of a submission by their path inside it, and all that is wrong with them.

    Links, sockets and the like, names that not every file system can hold, names that differ only by case, hidden and
    installed files, text that is not UTF-8, and more or larger files than a submission may have are refused.
    """
    files: dict[str, Path] = {}
    faults: list[BadInput] = []
    for inside, path, fault in _walk(folder, "", 0):
        if fault is not None:
            faults.append(fault)
        else:
            files[inside] = path
        if len(files) + len(faults) > FILE_LIMIT:
            faults.append(
                BadInput(
                    f"holds more than {FILE_LIMIT} files.",
                    where=folder,
                    remedy="Leave out what is made or downloaded; a submission is a few small files.",
                )
            )
            return files, faults
    return files, [*faults, *_clashes(files), *_sizes(folder, files), *_not_text(files)]


def files_digest(files: Iterable[tuple[str, Path]]) -> Digest:
    """Return the digest of files: of the JSON of their digests by their paths."""
    return digest_of({name: digest_bytes(path.read_bytes()) for name, path in files})


def text_of(path: Path) -> str:
    """Return the text of a file.

    Raises:
        BadInput: it is not UTF-8, with the line; or cannot be read.
    """
    try:
        data = path.read_bytes()
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadInput("is not UTF-8 text.", where=f"{path}:{line}", remedy="Save the file as UTF-8.") from None
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror}).", where=path) from None


def _walk(folder: Path, below: str, depth: int) -> Iterator[tuple[str, Path, BadInput | None]]:
    """Yield what lies in a folder: its path inside the submission, its path, and what is wrong with it."""
    try:
        entries = sorted(folder.iterdir(), key=lambda path: path.name)
    except OSError as error:
        yield below, folder, BadInput(f"cannot be read ({error.strerror}).", where=visible(str(folder)))
        return
    for path in entries:
        if path.name in LEFT_OUT:
            continue
        mode = path.lstat().st_mode
        inside = below + path.name
        fault = _name_fault(path) or _type_fault(path, mode)
        if fault is None and stat.S_ISDIR(mode):
            if depth < DEPTH_LIMIT:
                yield from _walk(path, inside + "/", depth + 1)
                continue
            fault = BadInput(f"lies more than {DEPTH_LIMIT} folders deep.", where=path, remedy="Flatten the folders.")
        yield inside, path, fault


def _name_fault(path: Path) -> BadInput | None:
    name, where = path.name, visible(str(path))
    if name in BUILT:
        return BadInput(
            "was made by an installer.", where=where, remedy="Delete it; memeval installs from the lock file."
        )
    if name.startswith("."):
        return BadInput("is hidden; a submission has no hidden files.", where=where, remedy="Delete or rename it.")
    if not name.isprintable() or not _is_unicode(name) or _UNFIT.search(name) or name.endswith((" ", ".")):
        return BadInput(
            "has a name that not every file system can hold.", where=where, remedy="Use letters, digits, '-', '_', '.'."
        )
    if _RESERVED.fullmatch(name):
        return BadInput("has a name that Windows reserves.", where=where, remedy="Rename it.")
    return None


def _is_unicode(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _type_fault(path: Path, mode: int) -> BadInput | None:
    if stat.S_ISDIR(mode) or stat.S_ISREG(mode):
        return None
    what = "a symbolic link" if stat.S_ISLNK(mode) else "neither a file nor a folder"
    return BadInput(f"is {what}.", where=path, remedy="A submission holds plain files only.")


def _clashes(files: dict[str, Path]) -> Iterator[BadInput]:
    seen: dict[str, str] = {}
    for inside, path in files.items():
        for end in [place for place, sign in enumerate(inside) if sign == "/"] + [len(inside)]:
            part = inside[:end]
            other = seen.setdefault(part.casefold(), part)
            if other != part:
                yield BadInput(
                    f"differs from '{other}' only by upper and lower case, which some file systems cannot tell apart.",
                    where=path,
                    remedy="Rename one of them.",
                )


def _sizes(folder: Path, files: dict[str, Path]) -> Iterator[BadInput]:
    total = 0
    for inside, path in files.items():
        size = path.lstat().st_size
        if inside not in LOCKS:
            total += size
        elif size > LOCK_BYTES:
            yield BadInput(f"has {size} bytes, and a lock may have {LOCK_BYTES}.", where=path, remedy="Depend on less.")
    if total > TOTAL_BYTES:
        yield BadInput(
            f"holds {total} bytes, and a submission may have {TOTAL_BYTES} beside its locks.",
            where=folder,
            remedy="Leave out data and models; pin them as dependencies.",
        )


def _not_text(files: dict[str, Path]) -> Iterator[BadInput]:
    for inside, path in files.items():
        if path.suffix.lower() in TEXT_SUFFIXES and path.lstat().st_size <= max(TOTAL_BYTES, LOCK_BYTES):
            try:
                if "\0" in text_of(path):
                    yield BadInput("holds a NUL, so it is not text.", where=path, remedy=f"Fix or rename {inside}.")
            except BadInput as fault:
                yield fault
