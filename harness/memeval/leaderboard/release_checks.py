"""Checks of releases and signatures: what a release says is computed again from the runs and the ledger."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path, PurePosixPath
from typing import Any

from memeval.archive.ledger import Ledger
from memeval.archive.rows import indented
from memeval.archive.runs import RunFolder, runs_under
from memeval.archive.signatures import (
    NOT_SIGNED,
    RELEASE_NAMESPACE,
    SignatureResult,
    SignatureState,
    Signers,
    signed_bytes,
)
from memeval.evaluation.verify.findings import Check, Finding
from memeval.leaderboard.board import build_board
from memeval.leaderboard.releases import RANKS_METHOD, ReleaseFile, derived, release_files, release_path
from memeval.leaderboard.traces import Traces
from memeval.records.errors import MemevalError
from memeval.records.ledger import LedgerEvent
from memeval.removed import why_removed

RESTORE = "Restore the file from version control."
RESTORE_LEDGER = "Restore the ledger from version control."


def check_results(results: Path, signers: Signers, traces: Traces | None = None) -> list[Check]:
    """Check all releases, and the signatures of the ledger and of the releases.

    Nothing is checked if the ledger is damaged: see ``evaluation.verify.stored_results.checks_of_results``. Returns:
    The checks ``release`` and ``signature``.
    """
    ledger = Ledger(results)
    if not ledger.path.exists() and not (results / "releases").is_dir():
        return []
    try:
        ledger.entries()
    except MemevalError:
        return [Check(name, not_checked="the ledger is damaged") for name in ("release", "signature")]
    known = traces or Traces()
    try:
        files = release_files(results)
        checks = [check for file in files for check in file_checks(file, results, known)]
        missing = list(_missing(results, files))
    except MemevalError as error:
        return [Check("release", (_finding(error, results),)), check_signatures(results, [], signers)]
    findings = tuple(finding for check in checks for finding in check.findings) + tuple(missing)
    reasons = dict.fromkeys(check.not_checked for check in checks if check.not_checked is not None)
    reason = "; ".join(reasons) or (None if files or missing else "there is no release here")
    return [Check("release", findings, reason), check_signatures(results, files, signers)]


def check_release(results: Path, version: str, signers: Signers) -> list[Check]:
    try:
        file = ReleaseFile.read(release_path(results, version))
    except MemevalError as error:
        return [Check("release", (_finding(error, results),))]
    return [*file_checks(file, results), signature_check(check_release_signature(file, signers), signers)]


def check_signatures(results: Path, files: Sequence[ReleaseFile], signers: Signers) -> Check:
    ledger = Ledger(results)
    try:
        lines = [(f"{ledger.path}:{number}", each) for number, each in enumerate(ledger.signatures(signers), start=1)]
        found = [*lines, *(pair for file in files for pair in check_release_signature(file, signers))]
    except MemevalError as error:
        return Check("signature", (_finding(error, results),))
    return signature_check(found, signers)


def signature_check(found: Iterable[tuple[str, SignatureResult]], signers: Signers) -> Check:
    """Return the check of signatures.

    A signature by a key that the signers file does not list is a problem if the file lists any key. Otherwise nothing
    can be said about it.
    """
    try:
        has_keys = signers.has_keys()
    except MemevalError as error:
        return Check("signature", (_finding(error, signers.path),))
    failures = {SignatureState.BAD}
    if has_keys:
        failures |= {SignatureState.UNKNOWN_KEY, SignatureState.EXPIRED}
    findings = []
    unchecked: Counter[str] = Counter()
    total = 0
    for where, result in found:
        total += 1
        if result.state in failures:
            remedy = "Restore it from version control."
            if result.state is not SignatureState.BAD:
                remedy = f"Restore it from version control, or correct {signers.path}."
            findings.append(Finding(where, f"{result}.", remedy))
        elif result.state is not SignatureState.GOOD:
            unchecked[str(result)] += 1
    reasons = [f"{count} of {total} {state}" for state, count in unchecked.items()]
    if not has_keys and any(
        state.startswith((SignatureState.UNKNOWN_KEY, SignatureState.EXPIRED)) for state in unchecked
    ):
        reasons.append(f"{signers.path} lists no key")
    return Check("signature", tuple(findings), "; ".join(reasons) or (None if total else "nothing is signed"))


def check_form(file: ReleaseFile) -> Check:
    release = file.release
    findings = []
    if (problem := file.wrong_state()) is not None:
        findings.append(Finding(f"{file.path}: state", problem, RESTORE))
    if file.content != indented(file.data):
        findings.append(Finding(str(file.path), "is not written as memeval writes it.", RESTORE))
    for path in (*release.files, *release.data_files):
        if not is_safe(path):
            problem = f"names {path!r}, which is not a path inside the published folder."
            findings.append(Finding(f"{file.path}: files", problem, "Do not use this release. " + RESTORE))
    return Check("state", tuple(findings))


def is_safe(path: str) -> bool:
    """Return whether a path of a manifest is relative, has no ``..``, and has one spelling only."""
    pure = PurePosixPath(path)
    parts = pure.parts
    odd = "\\" in path or "\0" in path or str(pure) != path
    return bool(parts) and not odd and not pure.is_absolute() and ".." not in parts and path != "."


def file_checks(file: ReleaseFile, results: Path, traces: Traces | None = None) -> Iterator[Check]:
    """Yield the checks of a release, without that of its signature; see :func:`check_release`."""
    release = file.release
    yield check_form(file)
    folders = {folder.path.name: folder for folder in runs_under(results) if folder.path.name in release.runs}
    yield Check("runs", tuple(_run_findings(file, folders)))
    ledger = Ledger(results)
    try:
        entries = ledger.entries()
    except MemevalError as error:
        yield Check("ledger", (_finding(error, ledger.path),))
        return
    if release.ledger_digest is not None and release.ledger_digest not in ledger.states():
        problem = f"lines that release {release.version} depends on were changed or removed."
        yield Check("ledger", (Finding(str(ledger.path), problem, RESTORE_LEDGER),))
        return
    named = [(number, each) for number, each in enumerate(entries, start=1) if each.release_version == release.version]
    findings = [
        Finding(f"{ledger.path}:{number}", f"names release {release.version}, whose file has changed.", RESTORE)
        for number, entry in named
        if entry.release_digest != file.digest
    ]
    if not named:
        publish = f"Restore the ledger from version control, or publish again: --release {release.version}."
        findings.append(Finding(str(file.path), f"no line of {ledger.path} names this release.", publish))
    yield Check("ledger", tuple(findings))
    yield _rows(file, folders, ledger.until(release.ledger_digest), traces or Traces())


def _run_findings(file: ReleaseFile, folders: Mapping[str, RunFolder]) -> Iterator[Finding]:
    for run_id, digest in file.release.runs.items():
        where = f"{file.path}: runs.{run_id}"
        if run_id not in folders:
            yield Finding(where, "the run is missing.", "Restore the run from version control.")
        elif folders[run_id].digest != digest:
            yield Finding(where, f"{folders[run_id].path}/run.json has another digest.", RESTORE)
    for number, row in enumerate(file.release.rows):
        if file.release.runs.get(row.run_id) != row.run_digest:
            yield Finding(f"{file.path}: rows.{number}", "its run_digest is not the one in 'runs'.", RESTORE)


def _rows(file: ReleaseFile, folders: Mapping[str, RunFolder], ledger: Ledger, traces: Traces) -> Check:
    method = file.release.ranks_method
    if method != RANKS_METHOD:
        problem = why_removed(method) or f"is {method}, and this memeval has {RANKS_METHOD}."
        return Check("rows", (Finding(f"{file.path}: ranks_method", problem, "Publish the board again."),))
    try:
        computed = derived(build_board(folders.values(), ledger, traces))
    except MemevalError as error:
        return Check("rows", (_finding(error, file.path),))
    data = file.data
    findings = []
    for number, (stored, wanted) in enumerate(zip_longest(data["rows"], computed["rows"])):
        if stored != wanted:
            findings.append(Finding(f"{file.path}: rows.{number}", _difference(stored, wanted), RESTORE))
            break
    for name in ("weights", "price_lists"):
        if data[name] != computed[name]:
            findings.append(Finding(f"{file.path}: {name}", "differs from that of the runs.", RESTORE))
    return Check("rows", tuple(findings))


def _difference(stored: dict[str, Any] | None, computed: dict[str, Any] | None) -> str:
    if stored is None or computed is None or stored["run_id"] != computed["run_id"]:
        rows = [f"the row of {row['system']}, run {row['run_id']}" if row else "no row" for row in (stored, computed)]
        return f"is {rows[0]}, but the runs and the ledger give {rows[1]}."
    name = next(name for name in stored if stored[name] != computed.get(name))
    return f"{name} of {stored['system']} is {stored[name]}, but the runs and the ledger give {computed.get(name)}."


def _missing(results: Path, files: Sequence[ReleaseFile]) -> Iterator[Finding]:
    ledger, known = Ledger(results), {file.release.version for file in files}
    for number, entry in enumerate(ledger.entries(), start=1):
        if entry.event is LedgerEvent.RELEASED and entry.release_version not in known:
            problem = f"names release {entry.release_version}, whose file is missing."
            yield Finding(f"{ledger.path}:{number}", problem, "Restore the release from version control.")


def check_release_signature(file: ReleaseFile, signers: Signers) -> list[tuple[str, SignatureResult]]:
    """Return the place and the state of a release's signature, as the only pair of a list.

    Raises BadInput: the signers file cannot be read.
    """
    if file.release.signature is None:
        return [(str(file.path), NOT_SIGNED)]
    signers.refuse_syntax_errors()
    at = f"{file.release.date}T23:59:59+00:00"
    data = signed_bytes(file.data)
    return [(str(file.path), signers.check(data, file.release.signature, RELEASE_NAMESPACE, at))]


def _finding(error: MemevalError, where: Path) -> Finding:
    return Finding(error.where or str(where), error.problem, error.remedy or RESTORE)
