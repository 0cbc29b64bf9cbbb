"""Checks a published or downloaded copy of the site against its releases, byte for byte and offline."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from memeval.archive.ledger import Ledger
from memeval.archive.signatures import SignatureState, Signers
from memeval.evaluation.findings import Check, Finding
from memeval.leaderboard.release_checks import check_form, check_release_signature, signature_check
from memeval.leaderboard.releases import ReleaseFile, age, release_path
from memeval.records.base import Digest
from memeval.records.errors import BadInput, MemevalError

LATEST = "latest"
"""The link to the newest version."""

RELEASE_FILE = "release.json"
"""The release, in the folder of its version."""

VERSIONS_FILE = "versions.json"
"""The list of the versions, in the format of Material's version selector."""

ROOT_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>memeval</title>
<meta http-equiv="refresh" content="0; url=latest/">
<p><a href="latest/">The latest board</a></p>
</html>
"""
"""The page at the root of the published versions."""

AGAIN = "Download it again, or publish it again."


def manifest(folder: Path) -> dict[str, Digest]:
    """Return the digest of each file in the folder of a version, by path; without its ``release.json``.

    Raises:
        BadInput: the folder contains a symlink or another special file, or a file cannot be read.
    """
    found: dict[str, Digest] = {}
    for name, digest in _walk(folder):
        if isinstance(digest, Finding):
            raise BadInput(digest.problem, where=digest.where, remedy=digest.remedy)
        found[name] = digest
    return found


def differences(folder: Path, files: Mapping[str, Digest]) -> Iterator[Finding]:
    """Yield each file in the folder of a version that differs from the release: changed, added, then missing.

    Args:
        folder: the folder.
        files: the digests of the published files, by path. No path of it is opened.
    """
    present: set[str] = set()
    for name, digest in _walk(folder):
        if isinstance(digest, Finding):
            yield digest
        elif name not in files:
            yield Finding(str(folder / name), "is not part of the release.", "Delete it.")
        elif digest != files[name]:
            yield Finding(str(folder / name), "differs from the release.", AGAIN)
        present.add(name)
    for name in sorted(files.keys() - present):
        yield Finding(f"{folder}/{name}", "is missing.", AGAIN)


def selector(versions: Iterable[str]) -> bytes:
    """Return ``versions.json``, given the versions, latest first."""
    entries = [
        {"version": version, "title": version, "aliases": [LATEST] if place == 0 else []}
        for place, version in enumerate(versions)
    ]
    return (json.dumps(entries, indent=1) + "\n").encode()


def check_published(to: Path, results: Path, signers: Signers, version: str | None = None) -> list[Check]:
    """Check a published or downloaded copy.

    The list of files comes from the release in the results folder. Without it, it comes from the copy, and is the
    copy's own word unless a known key signed it or the ledger of the checkout has its digest.

    Args:
        to: the folder of the published versions.
        results: the results folder of the checkout that verifies; it may lack the releases.
        signers: the keys that may sign.
        version: check only this version; ``None`` for all versions.

    Returns:
        One check per version, the check ``versions`` of the files next to them, and the check ``signature``. The check
        ``versions`` is left out if one version was asked for and the copy has no ``versions.json``.

    Raises:
        BadInput: the folder has no release, or not the named one.
    """
    folders = _version_folders(to, results)
    if version is not None and version not in folders:
        raise BadInput(f"there is no release {version} here.", where=to, remedy="Name the folder of the versions.")
    if not folders:
        raise BadInput("there is no published release here.", where=to, remedy="Name the folder of the versions.")
    checks, files, signed = [], {}, []
    for name in folders:
        check, file = _check_version(to / name, results, signers)
        if file is not None:
            files[name] = file
        if version in (None, name):
            checks.append(check)
            signed += [] if file is None else check_release_signature(file, signers)
    if version is None or os.path.lexists(to / VERSIONS_FILE):
        absent = [path.stem for path in sorted((results / "releases").glob("*.json")) if path.stem not in folders]
        reason = f"not in this copy: {', '.join(absent)}" if absent else None
        checks.append(Check("versions", tuple(_root_findings(to, files, folders)), reason))
    return [*checks, signature_check(signed, signers)]


def _version_folders(to: Path, results: Path) -> list[str]:
    try:
        entries = sorted(os.scandir(to), key=lambda entry: entry.name)
    except OSError as error:
        raise BadInput(
            f"the folder cannot be read ({error.strerror}).", where=to, remedy="Name the folder of the versions."
        ) from None
    return [
        entry.name
        for entry in entries
        if entry.name != LATEST
        and entry.is_dir(follow_symlinks=False)
        and (os.path.lexists(to / entry.name / RELEASE_FILE) or release_path(results, entry.name).is_file())
    ]


def _check_version(folder: Path, results: Path, signers: Signers) -> tuple[Check, ReleaseFile | None]:
    """Check the folder of a version; return the check, and the release if one can be read."""
    name = folder.name
    copied, kept = folder / RELEASE_FILE, release_path(results, name)
    try:
        own = ReleaseFile.read(copied) if os.path.lexists(copied) else None
    except MemevalError as error:
        own, findings = None, [Finding(error.where or str(copied), error.problem, AGAIN)]
    else:
        findings = []
    try:
        file = ReleaseFile.read(kept) if kept.is_file() else own
    except MemevalError as error:
        return Check(name, (*findings, Finding(error.where or str(kept), error.problem, error.remedy or AGAIN))), None
    if file is None:
        return Check(name, tuple(findings)), None
    if file.release.version != name:
        problem = f"contains release {file.release.version}, not {name}."
        return Check(name, (*findings, Finding(str(file.path), problem, AGAIN))), None
    if file.release.files is None:
        reason = f"release {name} has schema version 1, without a list of its files"
        return Check(name, tuple(findings), reason), file
    if not findings and (own is None or own.content != file.content):
        problem = "is missing." if own is None else f"differs from {kept}."
        findings.append(Finding(str(copied), problem, AGAIN))
    findings += [*check_form(file).findings, *differences(folder, file.release.files)]
    if file is not own:
        return Check(name, tuple(findings)), file
    ledger = Ledger(results)
    named = {entry.release_digest for entry in ledger.entries() if entry.release_version == name}
    if named - {file.digest}:
        findings.append(Finding(str(copied), f"differs from its digest in {ledger.path}.", AGAIN))
    ((_, result),) = check_release_signature(file, signers)
    if named or result.state is SignatureState.GOOD:
        return Check(name, tuple(findings)), file
    reason = f"the list of files is the copy's own word: it is {result.state}, and {kept} is not here"
    return Check(name, tuple(findings), reason), file


def _root_findings(to: Path, files: Mapping[str, ReleaseFile], folders: Iterable[str]) -> Iterator[Finding]:
    """Check the files next to the versions: they follow from the releases."""
    versions = [file.release.version for file in sorted(files.values(), key=lambda file: age(file.release))][::-1]
    for name, content in ((VERSIONS_FILE, selector(versions)), ("index.html", ROOT_PAGE.encode())):
        path = to / name
        found = _content(path)
        if isinstance(found, Finding):
            yield found
        elif found != content:
            listed = f"the releases here are {', '.join(versions)}" if name == VERSIONS_FILE else "it is another page"
            yield Finding(str(path), f"differs from what memeval publishes: {listed}.", AGAIN)
    if versions:
        yield from _latest_findings(to / LATEST, files[versions[0]])
    known = {LATEST, VERSIONS_FILE, "index.html", ".git", *folders}
    for entry in sorted(to.iterdir()):
        if entry.name not in known:
            yield Finding(str(entry), "is not part of a release.", "Delete it.")


def _latest_findings(path: Path, newest: ReleaseFile) -> Iterator[Finding]:
    """Check the alias of the newest version: a link to it, or, in a downloaded copy, a folder with its files."""
    version = newest.release.version
    if path.is_symlink():
        if str(path.readlink()) != version:
            problem = f"points at {path.readlink()}, but the newest release is {version}."
            yield Finding(str(path), problem, f"Point it at {version}: publish again.")
    elif not path.is_dir():
        yield Finding(str(path), "is missing." if not path.exists() else "is not a link to a version.", AGAIN)
    elif newest.release.files is not None:
        yield from differences(path, newest.release.files)
        found = _content(path / RELEASE_FILE)
        if isinstance(found, Finding):
            yield found
        elif found != newest.content:
            yield Finding(str(path / RELEASE_FILE), f"is not release {version}.", AGAIN)


def _walk(folder: Path) -> Iterator[tuple[str, Digest | Finding]]:
    """Yield the path of each file in a folder and its digest, or a finding if it is no plain file; without links."""
    for parent, folders, names in os.walk(folder):
        folders.sort()
        inner = Path(parent)
        links = [name for name in folders if (inner / name).is_symlink()]
        for name in sorted([*names, *links]):
            path = inner / name
            shown = path.relative_to(folder).as_posix()
            if shown != RELEASE_FILE:
                yield shown, _digest(path)


def _digest(path: Path) -> Digest | Finding:
    if (problem := _not_plain(path)) is not None:
        return problem
    try:
        with path.open("rb") as stream:
            return "sha256:" + hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        return Finding(str(path), f"cannot be read ({error.strerror}).", "Check its permissions.")


def _content(path: Path) -> bytes | Finding:
    if (problem := _not_plain(path)) is not None:
        return problem
    try:
        return path.read_bytes()
    except OSError as error:
        return Finding(str(path), f"cannot be read ({error.strerror}).", "Check its permissions.")


def _not_plain(path: Path) -> Finding | None:
    """Return a finding if a path is missing, a link or a special file."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return Finding(str(path), "is missing.", AGAIN)
    if stat.S_ISLNK(mode):
        return Finding(str(path), "is a symlink.", "Replace it with the file itself.")
    return None if stat.S_ISREG(mode) else Finding(str(path), "is not a plain file.", "Delete it.")
