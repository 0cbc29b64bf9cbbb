"""Finds and checks the files of a submission, and tells those that decide what runs from those that describe it."""

import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from memeval.records.base import Digest, digest_bytes, digest_of
from memeval.records.errors import BadInput
from memeval.records.submission import Submission
from memeval.systems.channel import visible
from memeval.systems.manifest import MANIFEST

TOTAL_BYTES = 2_000_000

LOCK_BYTES = 5_000_000

FILE_LIMIT = 200

DEPTH_LIMIT = 12

LOCKS = frozenset({"requirements.lock", "package-lock.json"})
"""Files that pin a system's dependencies, at the top of its folder."""

LEFT_OUT = frozenset(
    {"__pycache__", ".DS_Store", ".git", ".gitattributes", ".gitignore", ".gitkeep"}
    | {".hypothesis", ".idea", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".venv", ".vscode"}
)
"""Files and folders of tools, which are not part of a submission."""

PAST, PAST_FILE = "history", "history.toml"
"""The folder of a submission that says how its old versions are run, with its file. It is no part of what runs today,
so it is left out of every digest, and no run can read it."""

BUILT = frozenset({"node_modules", "venv", "site-packages"})
"""Folders that installers make. They are never submitted."""

TEXT_SUFFIXES = frozenset(
    {"", ".cjs", ".css", ".csv", ".html", ".js", ".json", ".lock", ".md", ".mjs", ".py", ".sh", ".sql", ".toml"}
    | {".ts", ".txt", ".yaml", ".yml"}
)

_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)
_INVALID = re.compile(r'[<>:"|?*\\]')


def uncovered_folders(folder: Path) -> tuple[Path, ...]:
    """Return the subfolders that are not part of a submission, such as ``.git``: no digest covers them."""
    past = (folder / PAST,) if _is_past(folder / PAST, "") else ()
    return (*past, *(path for name in sorted(LEFT_OUT) for path in folder.rglob(name) if path.is_dir()))


def _is_past(path: Path, below: str) -> bool:
    """Return whether a path is the folder about old versions. ``below``: the folder around it, inside a submission."""
    return not below and path.name == PAST and (path / PAST_FILE).is_file()


def examined_files(folder: Path) -> tuple[dict[str, Path], list[BadInput]]:
    """Return the files of a submission by their path inside it, and all errors.

    Errors are links and special files, names that are not portable, names that differ only by case, hidden and
    installed files, text that is not UTF-8, and too many or too large files.
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
                    remedy="Remove generated and downloaded files; a submission is a few small files.",
                )
            )
            return files, faults
    return files, [*faults, *_clashes(files), *_sizes(folder, files), *_text_faults(files)]


def files_digest(files: Iterable[tuple[str, Path]]) -> Digest:
    return digest_of({name: digest_bytes(path.read_bytes()) for name, path in files})


def is_unchanged(files: Mapping[str, Path], digest: Digest) -> bool:
    """Return whether files still have their digest; ``False`` if one cannot be read."""
    try:
        return files_digest(files.items()) == digest
    except OSError:
        return False


def text_of(path: Path) -> str:
    try:
        data = path.read_bytes()
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadInput("is not UTF-8 text.", where=f"{path}:{line}", remedy="Save the file as UTF-8.") from None
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror}).", where=path) from None


def _walk(folder: Path, below: str, depth: int) -> Iterator[tuple[str, Path, BadInput | None]]:
    """Yield the files of a folder: the path inside the submission, the path, and the error or ``None``."""
    try:
        entries = sorted(folder.iterdir(), key=lambda path: path.name)
    except OSError as error:
        yield below, folder, BadInput(f"cannot be read ({error.strerror}).", where=visible(str(folder)))
        return
    for path in entries:
        if path.name in LEFT_OUT or _is_past(path, below):
            continue
        mode = path.lstat().st_mode
        inside = below + path.name
        fault = _name_fault(path) or _type_fault(path, mode)
        if fault is None and stat.S_ISDIR(mode):
            if depth < DEPTH_LIMIT:
                yield from _walk(path, inside + "/", depth + 1)
                continue
            fault = BadInput(
                f"is more than {DEPTH_LIMIT} folders deep.", where=path, remedy="Use fewer nested folders."
            )
        yield inside, path, fault


def _name_fault(path: Path) -> BadInput | None:
    name, where = path.name, visible(str(path))
    if name in BUILT:
        return BadInput(
            "was made by an installer.", where=where, remedy="Delete it; memeval installs from the lock file."
        )
    if name.startswith("."):
        return BadInput("is hidden; a submission has no hidden files.", where=where, remedy="Delete or rename it.")
    if not name.isprintable() or _INVALID.search(name) or name.endswith((" ", ".")):
        return BadInput(
            "has a name that some file systems do not allow.", where=where, remedy="Use letters, digits, '-', '_', '.'."
        )
    if _RESERVED.fullmatch(name):
        return BadInput("has a name that Windows reserves.", where=where, remedy="Rename it.")
    return None


def _type_fault(path: Path, mode: int) -> BadInput | None:
    if stat.S_ISDIR(mode) or stat.S_ISREG(mode):
        return None
    what = "a symbolic link" if stat.S_ISLNK(mode) else "neither a file nor a folder"
    return BadInput(f"is {what}.", where=path, remedy="A submission holds plain files only.")


def _clashes(files: dict[str, Path]) -> Iterator[BadInput]:
    parts: dict[str, str] = {}
    for inside, path in files.items():
        for end in [index for index, sign in enumerate(inside) if sign == "/"] + [len(inside)]:
            part = inside[:end]
            other = parts.setdefault(part.casefold(), part)
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
            yield BadInput(
                f"has {size} bytes; the limit for a lock file is {LOCK_BYTES}.",
                where=path,
                remedy="Use fewer dependencies.",
            )
    if total > TOTAL_BYTES:
        yield BadInput(
            f"holds {total} bytes; the limit without lock files is {TOTAL_BYTES}.",
            where=folder,
            remedy="Remove data and models; pin them as dependencies.",
        )


def _text_faults(files: dict[str, Path]) -> Iterator[BadInput]:
    for inside, path in files.items():
        if path.suffix.lower() in TEXT_SUFFIXES and path.lstat().st_size <= max(TOTAL_BYTES, LOCK_BYTES):
            try:
                if "\0" in text_of(path):
                    yield BadInput(
                        "has a NUL character, so it is not text.", where=path, remedy=f"Fix or rename {inside}."
                    )
            except BadInput as fault:
                yield fault


BEHAVIOUR = frozenset(
    {"kind", "entry", "command", "endpoint", "tools", "self_reported"}
    | {"variables", "parameters", "resources", "hosts", "services", "storage"}
)
"""Fields of a manifest that decide what runs. A field at its default is left out, as in every hashed record."""

_PROSE = re.compile(
    r"(readme|licen[cs]e|copying|notice|changelog|authors|contributing)([-_.][a-z0-9.-]+)?", re.IGNORECASE
)
_PROSE_SUFFIXES = ("", ".md", ".rst", ".txt")


def is_prose(inside: str) -> bool:
    if "/" in inside or _PROSE.fullmatch(inside) is None:
        return False
    dot = inside.rfind(".")
    return inside[dot:].lower() in _PROSE_SUFFIXES if dot > 0 else True


def behaviour_digest(submission: Submission, files: Mapping[str, Path]) -> Digest:
    """Return the digest of what decides what a submission runs: fields of its manifest, code, data and lock files.

    ``files``: all its files, by their path inside it.
    """
    return digest_of(
        {
            "manifest": submission.model_dump(mode="json", include=set(BEHAVIOUR), exclude_defaults=True),
            "files": {
                inside: digest_bytes(path.read_bytes())
                for inside, path in files.items()
                if inside != MANIFEST and not is_prose(inside)
            },
        }
    )


def described_in(files: Mapping[str, Path]) -> tuple[Path, ...]:
    return tuple(path for inside, path in files.items() if inside == MANIFEST or is_prose(inside))
