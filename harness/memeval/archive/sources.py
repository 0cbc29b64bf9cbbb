"""Stored sources of submissions, plain files for review: ``results/sources/<slug>/<digits>-<digits>/``.

The first 16 digits are of the submission digest, the last 8 of the digest of the manifest: a description may change
without what runs, and each run stays beside the description that it had.
"""

import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from memeval.execution.secrets import redact
from memeval.records.base import SLUG, Digest, digest_bytes
from memeval.records.errors import BadInput
from memeval.records.run import SystemKind
from memeval.storage import listed, unwritable
from memeval.systems.folder import behaviour_digest, examined_files, is_unchanged
from memeval.systems.manifest import MANIFEST, examined_manifest
from memeval.systems.source import SUBMISSIONS, SystemSource, examined_folder

SOURCES = "sources"

DIGITS = 16

MANIFEST_DIGITS = 8

CHANGED = "its files changed after the start"

_NAME = re.compile(rf"[0-9a-f]{{{DIGITS}}}-[0-9a-f]{{{MANIFEST_DIGITS}}}")


def source_path(results: Path, slug: str, digest: Digest, manifest: bytes) -> Path:
    if SLUG.fullmatch(slug) is None:
        raise ValueError(f"not a slug: {slug!r}")
    return results / SOURCES / slug / f"{_digits(digest, DIGITS)}-{_digits(digest_bytes(manifest), MANIFEST_DIGITS)}"


def stored_sources(results: Path, digest: Digest | None = None) -> list[Path]:
    name = "*" if digest is None else f"{_digits(digest, DIGITS)}-*"
    return [path for path in listed(results / SOURCES, f"*/{name}") if _NAME.fullmatch(path.name)]


def is_in_source(path: Path) -> bool:
    """Return whether a path is inside a stored source, where no file is a run."""
    return any(_NAME.fullmatch(each.name) and each.parent.parent.name == SOURCES for each in path.parents)


def keep_source(results: Path, source: SystemSource) -> str | None:
    """Store the files of a submission, under its own slug for its variants too; see :func:`store_source`."""
    if source.kind is not SystemKind.SUBMISSION:
        return None
    files, whole = source.launch.files, source.launch.digest
    if whole is not None and not is_unchanged(files, whole):
        return CHANGED
    submission = examined_manifest(files[MANIFEST])[0]
    slug = submission.slug if submission else source.slug
    return store_source(results, slug, source.submission_digest, files)


def store_source(results: Path, slug: str, digest: Digest, files: Mapping[str, Path]) -> str | None:
    """Store the files of a submission, unless they are stored. The folder appears whole or not at all.

    ``slug``: the slug of the submission, without a variant. Returns ``None`` if the source is stored; else why not, as
    a phrase. Raises ``BadInput`` if the folder cannot be written.
    """
    folder = source_path(results, slug, digest, _manifest_bytes(files))
    if folder.is_dir():
        return None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".part-", dir=folder.parent) as temporary:
            copy = Path(temporary) / folder.name
            refused = _copied(files, copy, digest)
            if refused is None and not folder.is_dir():
                copy.rename(folder)
    except OSError as error:
        if folder.is_dir():  # another process stored it meanwhile
            return None
        raise unwritable(folder, error) from None
    return refused


def _copied(files: Mapping[str, Path], copy: Path, digest: Digest) -> str | None:
    copy.mkdir(mode=0o755)
    for inside, path in files.items():
        relative = PurePosixPath(inside)
        if relative.is_absolute() or ".." in relative.parts or path.is_symlink():
            return f"{path.name} is not a plain file inside the submission"
        target = copy / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    found, faults = examined_files(copy)
    if faults:
        return f"{Path(str(faults[0].where)).name} {faults[0].problem.rstrip('.')}"
    for inside, path in found.items():
        text = path.read_bytes().decode("utf-8", "replace")
        if redact(text) != text:
            return f"{inside} seems to contain a secret"
    return None if _digest_in(found) == digest else CHANGED


def _digest_in(files: Mapping[str, Path]) -> Digest | None:
    submission = examined_manifest(files[MANIFEST])[0] if MANIFEST in files else None
    return None if submission is None else behaviour_digest(submission, files)


def find_sources(results: Path, digest: Digest, slug: str, submissions: Path = SUBMISSIONS) -> Iterator[SystemSource]:
    """Yield the submissions with a digest, from the stored sources, then from the folder of submissions.

    There may be several: a description can change without the digest. ``slug``: the slug of a run, which begins with
    that of the submission.
    """
    words = slug.split("-")
    named = (submissions / "-".join(words[:count]) for count in range(len(words), 0, -1))
    for folder in (*stored_sources(results, digest), *named):
        source, _faults = examined_folder(folder)
        if source is not None and source.submission_digest == digest:
            yield source


def source_fault(folder: Path) -> BadInput | None:
    """Return the error of a stored source whose files are not those of its name; ``None`` if they are."""
    if folder.is_symlink() or not folder.is_dir():
        return BadInput("is not a folder.", where=folder, remedy="Restore the folder.")
    files, faults = examined_files(folder)
    if faults:
        return faults[0]
    digest = _digest_in(files)
    if digest is None or source_path(folder, "name", digest, _manifest_bytes(files)).name != folder.name:
        return BadInput("does not match its digest: a file was changed.", where=folder, remedy="Restore the folder.")
    return None


def _manifest_bytes(files: Mapping[str, Path]) -> bytes:
    return files[MANIFEST].read_bytes() if MANIFEST in files else b""


def _digits(digest: Digest, count: int) -> str:
    return digest.removeprefix("sha256:")[:count]
