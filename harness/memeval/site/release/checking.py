"""Checks a published or downloaded copy of the site against its releases, byte for byte."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from memeval.archive.ledger import Ledger
from memeval.archive.signatures import SignatureState, Signers
from memeval.evaluation.verify.findings import Check, Finding
from memeval.leaderboard.board_settings import board_settings
from memeval.leaderboard.release_checks import check_form, check_release_signature, signature_check
from memeval.leaderboard.releases import ReleaseFile, age, release_path
from memeval.objects.base import in_threads
from memeval.records.base import Digest, digest_bytes
from memeval.records.errors import BadInput, MemevalError
from memeval.records.release import Release
from memeval.site.model.files import SHARED
from memeval.site.release.roots import (
    LATEST,
    LATEST_PAGE,
    NOT_FOUND,
    OWN_FILES,
    RELEASE_FILE,
    TAKEN,
    VERSIONS_FILE,
    latest_page,
    root_files,
)
from memeval.site.release.targets.base import Entry, EntryKind, Target
from memeval.systems.channel import visible

AGAIN = "Download it again, or publish it again."

DOMAIN, PLAIN = "CNAME", ".nojekyll"
"""Files at the root that a host reads: the domain of the board, and an empty file."""

Entries = Mapping[str, Entry]


def check_published(target: Target, results: Path, signers: Signers, version: str | None = None) -> list[Check]:
    """Check a published or downloaded copy.

    The list of files comes from the release in the results folder. Without it, it comes from the copy, and is the
    copy's own word unless a known key signed it or the ledger of the checkout has its digest.

    Args:
        results: the results folder of the checkout that verifies; it may lack the releases.
        version: check only this version; ``None`` for all versions.

    Returns:
        One check per version, the check ``versions`` of the files next to them, and the check ``signature``. The check
        ``versions`` is left out if one version was asked for and the copy has no ``versions.json``.

    Raises:
        BadInput: the target has no release, or not the named one.
    """
    entries = target.entries()
    folders = _versions(entries, results)
    if version is not None and version not in folders:
        raise BadInput(
            f"there is no release {version} here.", where=target.url, remedy="Name the folder of the versions."
        )
    if not folders:
        raise BadInput(
            "there is no published release here.", where=target.url, remedy="Name the folder of the versions."
        )
    checks, files, signed = [], {}, []
    known: dict[str, Digest | Finding] = {}
    for name in folders:
        if version in (None, name):
            check, file = _check_version(target, name, entries, results, signers, known)
            checks.append(check)
            signed += [] if file is None else check_release_signature(file, signers)
        else:
            file, _ = _release_of(target, name, entries, results)
        if file is not None:
            files[name] = file
    if version is None or VERSIONS_FILE in entries:
        absent = [path.stem for path in sorted((results / "releases").glob("*.json")) if path.stem not in folders]
        reason = f"not in this copy: {', '.join(absent)}" if absent else None
        checks.append(
            Check(
                "versions",
                (*_root_findings(target, entries, files, folders), *_domain_findings(target, entries, results)),
                reason,
            )
        )
    return [*checks, signature_check(signed, signers)]


def differences(
    target: Target,
    release: Release,
    entries: Entries,
    folder: str | None = None,
    known: dict[str, Digest | Finding] | None = None,
) -> Iterator[Finding]:
    """Yield each file that differs from a release: changed or added, missing, then shared files.

    Args:
        release: the release; no path of it is opened that the target does not list.
        folder: the folder of its pages; ``None`` for that of its version.
        known: the digests of shared files that were read already; new ones are added.
    """
    base, files = f"{folder or release.version}/", release.files
    own = [path for path in entries if path.startswith(base) and path != base + RELEASE_FILE]
    for path, digest in _digests(target, own, entries):
        name = path.removeprefix(base)
        if isinstance(digest, Finding):
            yield digest
        elif name not in files:
            yield Finding(f"{target.url}/{path}", "is not part of the release.", "Delete it.")
        elif digest != files[name]:
            yield Finding(f"{target.url}/{path}", "differs from the release.", AGAIN)
    for name in sorted(files.keys() - {path.removeprefix(base) for path in own}):
        yield Finding(f"{target.url}/{base}{name}", "is missing.", AGAIN)
    yield from _shared_findings(target, release.data_files, entries, {} if known is None else known)


def _shared_findings(
    target: Target, paths: Sequence[str], entries: Entries, known: dict[str, Digest | Finding]
) -> Iterator[Finding]:
    """Check files that are named by their digest; each is read once."""
    known |= dict(_digests(target, [path for path in paths if path in entries and path not in known], entries))
    for path in paths:
        digest = known.get(path)
        if digest is None:
            yield Finding(f"{target.url}/{path}", "is missing.", AGAIN)
        elif isinstance(digest, Finding):
            yield digest
        elif not _has_name(path, digest):
            yield Finding(f"{target.url}/{path}", "differs from its digest.", AGAIN)


def _has_name(path: str, digest: Digest) -> bool:
    value = digest.removeprefix("sha256:")
    return re.fullmatch(rf"{SHARED}{value[:2]}/{value}[.-][0-9A-Za-z._-]+", path) is not None


def _versions(entries: Entries, results: Path) -> list[str]:
    folders = {path.partition("/")[0] for path in entries if "/" in path} - TAKEN
    return sorted(
        name for name in folders if f"{name}/{RELEASE_FILE}" in entries or release_path(results, name).is_file()
    )


def _release_of(
    target: Target, name: str, entries: Entries, results: Path
) -> tuple[ReleaseFile | None, tuple[ReleaseFile | None, list[Finding]]]:
    """Return the release of a folder, that of the results folder first; then the published one with its problems."""
    path, kept = f"{name}/{RELEASE_FILE}", release_path(results, name)
    where, own, findings = f"{target.url}/{path}", None, []
    if path in entries:
        content = _content(target, path, entries)
        if isinstance(content, Finding):
            findings.append(content)
        else:
            try:
                own = ReleaseFile(Path(where), content, Release.parse(content, where))
            except MemevalError as error:
                findings.append(Finding(error.where or where, error.problem, AGAIN))
    try:
        file = ReleaseFile.read(kept) if kept.is_file() else own
    except MemevalError as error:
        findings.append(Finding(error.where or str(kept), error.problem, error.remedy or AGAIN))
        file = None
    return file, (own, findings)


def _check_version(
    target: Target, name: str, entries: Entries, results: Path, signers: Signers, known: dict[str, Digest | Finding]
) -> tuple[Check, ReleaseFile | None]:
    """Check the folder of a version; return the check, and the release if one can be read."""
    copied, kept = f"{target.url}/{name}/{RELEASE_FILE}", release_path(results, name)
    file, (own, findings) = _release_of(target, name, entries, results)
    if file is None:
        return Check(name, tuple(findings)), None
    if file.release.version != name:
        problem = f"contains release {file.release.version}, not {name}."
        return Check(name, (*findings, Finding(str(file.path), problem, AGAIN))), None
    if not findings and (own is None or own.content != file.content):
        problem = "is missing." if own is None else f"differs from {kept}."
        findings.append(Finding(copied, problem, AGAIN))
    form = check_form(file).findings
    findings += [*form, *(differences(target, file.release, entries, known=known))]
    if file is not own:
        return Check(name, tuple(findings)), file
    ledger = Ledger(results)
    named = {entry.release_digest for entry in ledger.entries() if entry.release_version == name}
    if named - {file.digest}:
        findings.append(Finding(copied, f"differs from its digest in {ledger.path}.", AGAIN))
    ((_, result),) = check_release_signature(file, signers)
    if named or result.state is SignatureState.GOOD:
        return Check(name, tuple(findings)), file
    reason = f"the list of files is the copy's own word: it is {result.state}, and {kept} is not here"
    return Check(name, tuple(findings), reason), file


def _root_findings(
    target: Target, entries: Entries, files: Mapping[str, ReleaseFile], folders: Iterable[str]
) -> Iterator[Finding]:
    newest_first = sorted(files.values(), key=lambda file: age(file.release), reverse=True)
    versions = [file.release.version for file in newest_first]
    wanted = root_files(versions)
    if NOT_FOUND not in entries and not newest_first:
        del wanted[NOT_FOUND]
    # Another memeval may have written them: then the newest release has their digests.
    stated = newest_first[0].release.root_files if newest_first else {}
    for name, content in wanted.items():
        found = _content(target, name, entries)
        if isinstance(found, Finding):
            yield found
        elif found != content and digest_bytes(found) != stated.get(name):
            listed = f"the releases here are {', '.join(versions)}" if name == VERSIONS_FILE else "it is another page"
            yield Finding(f"{target.url}/{name}", f"differs from what memeval publishes: {listed}.", AGAIN)
    if versions:
        yield from _latest_findings(target, newest_first[0], entries)
    shared = {path for file in newest_first for path in file.release.data_files}
    inside = {path for path in entries if path.startswith(SHARED)}
    strays = {path.partition("/")[0] for path in entries.keys() - inside - OWN_FILES} - {LATEST, *wanted, *folders}
    strays |= inside - shared
    for name in sorted(strays):
        yield Finding(f"{target.url}/{name}", "is not part of a release.", "Delete it.")


def _domain_findings(target: Target, entries: Entries, results: Path) -> Iterator[Finding]:
    """Check that nothing sends readers to another domain than that of the board's address."""
    address = board_settings(results).settings.site_url
    expected = "" if address is None else urlsplit(address).hostname or ""
    for name, content in ((DOMAIN, expected.encode()), (PLAIN, b"")):
        found = _content(target, name, entries) if name in entries else content
        if isinstance(found, Finding):
            yield found
        elif found.strip().lower() != content:
            domain = found[:80].decode("utf-8", "replace").strip()
            problem = f"has {visible(domain)!r}, but the board's address has {expected or 'not been set'!r}."
            yield Finding(f"{target.url}/{name}", problem, "Delete it, or set site_url in memeval.toml.")


def _latest_findings(target: Target, newest: ReleaseFile, entries: Entries) -> Iterator[Finding]:
    """Check the alias of the newest version: a link, a page, or, in a downloaded copy, a folder with its files."""
    version, where = newest.release.version, f"{target.url}/{LATEST}"
    inside = [path for path in entries if path.startswith(f"{LATEST}/")]
    if LATEST in entries:
        if entries[LATEST].kind is not EntryKind.LINK:
            yield Finding(where, "is not a link to a version.", AGAIN)
        elif entries[LATEST].points_at != version:
            problem = f"points at {entries[LATEST].points_at}, but the newest release is {version}."
            yield Finding(where, problem, f"Point it at {version}: publish again.")
    elif not inside:
        yield Finding(where, "is missing.", AGAIN)
    elif inside == [LATEST_PAGE]:
        page = _content(target, LATEST_PAGE, entries)
        stated = newest.release.root_files.get(LATEST_PAGE)
        if page != latest_page(version) and (isinstance(page, Finding) or digest_bytes(page) != stated):
            yield Finding(f"{target.url}/{LATEST_PAGE}", f"does not lead to {version}, the newest release.", AGAIN)
    else:
        yield from differences(target, newest.release, entries, LATEST, {})
        path = f"{LATEST}/{RELEASE_FILE}"
        found = _content(target, path, entries)
        if isinstance(found, Finding):
            yield found
        elif found != newest.content:
            yield Finding(f"{target.url}/{path}", f"is not release {version}.", AGAIN)


def _digests(target: Target, paths: Sequence[str], entries: Entries) -> Iterator[tuple[str, Digest | Finding]]:

    def digest_of(path: str) -> tuple[str, Digest | Finding]:
        found = _content(target, path, entries)
        return path, found if isinstance(found, Finding) else digest_bytes(found)

    return in_threads(digest_of, paths)


def _content(target: Target, path: str, entries: Entries) -> bytes | Finding:
    where, entry = f"{target.url}/{path}", entries.get(path)
    if entry is None:
        return Finding(where, "is missing.", AGAIN)
    if entry.kind is EntryKind.LINK:
        return Finding(where, "is a symlink.", "Replace it with the file itself.")
    if entry.kind is EntryKind.OTHER:
        return Finding(where, "is not a plain file.", "Delete it.")
    try:
        return target.read(path)
    except KeyError:
        return Finding(where, "is missing.", AGAIN)
    except MemevalError as error:
        return Finding(where, error.problem, error.remedy or "Check its permissions.")
