"""Publishing: verify, build, freeze, upload the version, and switch ``latest`` as the last step."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from memeval.archive.ledger import Ledger, author_of
from memeval.archive.rows import indented
from memeval.archive.runs import RunFolder, sealed_runs
from memeval.evaluation.run.provenance import memeval_version
from memeval.evaluation.verify.checks.track import NAME as TRACK
from memeval.evaluation.verify.findings import Check
from memeval.evaluation.verify.stored_results import checks_of_results
from memeval.leaderboard.board import WITHDRAWN, Board, build_board, is_plumbing
from memeval.leaderboard.board_settings import board_settings, shown_runs
from memeval.leaderboard.release_checks import file_checks
from memeval.leaderboard.releases import (
    ReleaseFile,
    frozen,
    is_of_board,
    keep,
    release_files,
    release_path,
    require_version,
)
from memeval.leaderboard.traces import Traces
from memeval.objects.base import in_threads
from memeval.records.errors import BadInput, CheckFailed
from memeval.records.release import Release
from memeval.site.release.checking import differences
from memeval.site.release.roots import DATA, RELEASE_FILE, TAKEN
from memeval.site.release.staging import (
    NotRebuilt,
    Stage,
    complete_releases,
    forget,
    is_switched,
    paths_of,
    stage_again,
    stage_new,
    stages,
    switch,
)
from memeval.site.release.targets.base import Entry, NewFile, Target


def publish(
    results: Path,
    target: Target,
    *,
    version: str | None = None,
    dry_run: bool = False,
    key: Path | None = None,
    by: str | None = None,
) -> Iterator[str]:
    """Publish the board of a results folder, and yield one line per action.

    The same call completes an interrupted publication. Publishing the same state again writes nothing.

    Args:
        version: version of the release; ``None`` for today's date, or the earlier release of the same board.
        dry_run: verify and build, yield the plan, and publish nothing.
        key: file of an SSH key that signs the release and its line in the ledger; ``None`` to sign nothing.
        by: author of the line in the ledger; ``None`` for the login name.

    Raises:
        CheckFailed: a stored run fails verification, or scores no higher than the no-memory control without a review;
            or the published files of a frozen release differ from it. Nothing is published.
        BadInput: there is no run, another board has the version, the target cannot be written, or the author is
            unknown.
    """
    if version in TAKEN:
        raise BadInput(f"the name '{version}' is reserved.", remedy="Choose another version with --release.")
    if version is not None:
        require_version(version)
    author = author_of(by)
    folders = _runs(results)
    target.check_place(results)
    traces = Traces()
    checks = checks_of_results(results, traces)
    findings = [finding for check in checks for finding in check.findings]
    if findings:
        others = f" {len(findings) - 1} more: memeval verify shows all." if len(findings) > 1 else ""
        raise CheckFailed(f"{findings[0]}{others} Nothing was published.")
    yield from _verified(len(folders), checks)
    board = build_board(folders, Ledger(results), traces)
    release, is_new = frozen(board, results, version, memeval_version())
    if is_new or is_of_board(release, board, results, memeval_version()):
        yield from _unaccepted(board)
        _refuse_doubtful(board)
    else:
        yield (
            f"note: release {release.version} is frozen, and the board has changed since. The frozen release is "
            "published. Publish the change under another version."
        )
    _refuse_bad_releases(results, release.version, traces)
    entries = target.entries()
    if not is_new and _is_complete(target, release, results, entries):
        yield from _finish(results, target, release, entries, dry_run, key, author)
        return
    with stages(results) as folder:
        try:
            stage = (
                stage_new(results, folder, release, key, traces)
                if is_new
                else stage_again(results, folder, release, traces)
            )
        except NotRebuilt as error:
            if version is not None:
                raise
            yield f"note: {error.problem} The same board gets a new release."
            release, is_new = frozen(board, results, None, memeval_version(), anew=True)
            stage = stage_new(results, folder, release, key, traces)
        yield from _publish_stage(results, target, stage, entries, dry_run, key, author)
        forget(results, stage.release.version)


def _publish_stage(
    results: Path,
    target: Target,
    stage: Stage,
    entries: Mapping[str, Entry],
    dry_run: bool,
    key: Path | None,
    author: str,
) -> Iterator[str]:
    release = stage.release
    data, pages = list(stage.data_files()), list(stage.pages())
    claim, kept = _claim(results, release), release_path(results, release.version)
    is_new = not kept.exists()
    if is_new and (taken := entries.get(claim.path)) is not None and not target.holds(claim, taken):
        alone = [path for path in entries if path.startswith(f"{release.version}/")] == [claim.path]
        first = (
            f"Only {RELEASE_FILE} is there: delete it if nobody publishes it now"
            if alone
            else "Restore the release from version control"
        )
        raise BadInput(
            f"this is a published release {release.version}, and {kept} is missing.",
            where=f"{target.url}/{release.version}",
            remedy=f"{first}, or publish under another version.",
        )
    missing = _missing(target, [claim, *data, *pages], entries, release)
    if dry_run:
        yield f"{target.url}: release {release.version} would be {'frozen and ' if is_new else ''}published."
        yield f"  {DATA}: {_sizes(data, missing)}"
        yield f"  {release.version}: {_sizes([claim, *pages], missing)}"
        yield "  then versions.json, latest, 404.html and index.html, if they change"
        return
    yield from target.prepare()
    if claim.path in missing and not target.create(claim):
        _missing(target, [claim], target.entries(), release)
    keep(release, results, key, author)
    if is_new:
        signed = "signed" if release.signature else "not signed"
        yield f"{kept}: frozen, {len(release.rows)} rows, {signed}."
    for name, files in ((DATA, data), (release.version, pages)):
        for file in in_threads(lambda file: None if target.create(file) else file, _only(files, missing)):
            if file is not None:  # another process has published it meanwhile
                _missing(target, [file], target.entries(), release)
        yield f"{target.url}/{name}: {_sizes(files, missing)}"
    yield from switch(target, results)
    yield from target.finish(f"Publish release {release.version}")


def _runs(results: Path) -> list[RunFolder]:
    """Return the runs to publish. Raises ``BadInput`` if absent, or one only tests the software."""
    folders = shown_runs(sealed_runs(results), board_settings(results).settings)
    if not folders:
        raise BadInput("no finished run to publish.", where=results, remedy="Run a system first: memeval run SYSTEM.")
    for folder in folders:
        if is_plumbing(folder.run.track):
            raise BadInput(
                "the judge has the label 'plumbing': it tests the software, and its verdicts mean nothing.",
                where=folder.path,
                remedy="Move the run out of the results folder, and publish again.",
            )
    return folders


def _verified(runs: int, checks: Iterable[Check]) -> Iterator[str]:
    """Yield how many runs were verified with the data of their benchmark, and what was not checked in the others."""
    reasons = Counter((check.name, check.not_checked) for check in checks if check.not_checked is not None)
    partly = sum(count for (name, _reason), count in reasons.items() if name == TRACK)
    yield f"verified: {runs - partly}." + (f" Not checked against their benchmark: {partly}." if partly else "")
    for (name, reason), count in reasons.items():
        yield f"  not checked: {name} of {count}: {reason}"


def _unaccepted(board: Board) -> Iterator[str]:
    counted = [row for row in board.runs if row.standing not in WITHDRAWN]
    if unaccepted := [row for row in counted if not row.accepted]:
        yield (
            f"warning: {len(unaccepted)} of {len(counted)} runs are not accepted, and are published with that mark. "
            "Accept a run: memeval ledger accept RUN --reason TEXT"
        )
        yield from (f"  not accepted: {row.folder.path}" for row in unaccepted)


def _refuse_doubtful(board: Board) -> None:
    """Check that no run scores as low as the no-memory control.

    Raises ``CheckFailed`` if a run does, and no maintainer has reviewed it.
    """
    for row in board.runs:
        if row.doubtful:
            raise CheckFailed(
                f"{row.folder.path} scores no more than the no-memory control: something is probably broken.",
                remedy="Check the run, and record what you found: memeval ledger review RUN --reason TEXT.",
            )


def _refuse_bad_releases(results: Path, completed: str, traces: Traces) -> None:
    """Check the releases that the site shows.

    Raises ``CheckFailed`` if a release failed. The release ``completed`` may lack its line in the ledger, after an
    interrupted publication.
    """
    for file in release_files(results):
        for check in file_checks(file, results, traces):
            if check.findings and (check.name, file.release.version) != ("ledger", completed):
                raise CheckFailed(f"{check.findings[0]} Nothing was published.")


def _is_complete(target: Target, release: Release, results: Path, entries: Mapping[str, Entry]) -> bool:
    """Return whether all files of a frozen release are published.

    Raises:
        CheckFailed: a published file differs from the release. Reading them from a bucket is left to ``--check``.
    """
    if not paths_of(release) <= entries.keys():
        return False
    path = f"{release.version}/{RELEASE_FILE}"
    if target.read(path) != ReleaseFile.read(release_path(results, release.version)).content:
        raise CheckFailed(f"{target.url}/{path}: differs from the release.", remedy="Delete it, and publish again.")
    found = next(differences(target, release, entries), None) if target.reads_locally else None
    if found is not None:
        raise CheckFailed(f"{found.where}: {found.problem}", remedy="Delete it, and publish again.")
    return True


def _finish(
    results: Path,
    target: Target,
    release: Release,
    entries: Mapping[str, Entry],
    dry_run: bool,
    key: Path | None,
    author: str,
) -> Iterator[str]:
    """Complete the publication of a release whose files are all there, and yield one line per action."""
    versions = [each.version for each in complete_releases(target, results, entries)]
    if dry_run:
        if is_switched(target, versions, entries):
            yield f"{target.url}: release {release.version} is published, and nothing has changed."
        else:
            yield f"{target.url}: versions.json, latest, 404.html or index.html would change."
        return
    keep(release, results, key, author)
    done = [*switch(target, results), *target.finish(f"Publish release {release.version}")]
    forget(results, release.version)
    yield from done or [f"{target.url}: release {release.version} is published, and nothing has changed."]


def _claim(results: Path, release: Release) -> NewFile:
    """Return the published copy of a release. It is uploaded first: a second release of its version is then refused."""
    path = release_path(results, release.version)
    content = ReleaseFile.read(path).content if path.exists() else indented(release.data())
    return NewFile(f"{release.version}/{RELEASE_FILE}", content)


def _missing(target: Target, files: Sequence[NewFile], entries: Mapping[str, Entry], release: Release) -> set[str]:
    """Return the paths that the target lacks.

    Raises:
        CheckFailed: a file is published with other bytes.
        BadInput: the folder of the version has a file that is not of the release.
    """
    missing = set()
    for file in files:
        entry = entries.get(file.path)
        if entry is None:
            missing.add(file.path)
        elif not target.holds(file, entry):
            raise CheckFailed(
                f"{target.url}/{file.path}: is published with other content.",
                remedy=f"Publish under another version than {release.version}, or delete it there.",
            )
    own = paths_of(release)
    for path in entries:
        if (path.startswith(f"{release.version}/") and path not in own) or path == release.version:
            raise BadInput(
                f"this is not part of release {release.version}.",
                where=f"{target.url}/{path}",
                remedy="Delete it, or publish under another version with --release.",
            )
    return missing


def _only(files: Sequence[NewFile], paths: set[str]) -> list[NewFile]:
    return [file for file in files if file.path in paths]


def _sizes(files: Sequence[NewFile], missing: set[str]) -> str:
    new = _only(files, missing)
    size, whole = sum(file.size for file in new), sum(file.size for file in files)
    return (
        f"{len(new)} new files, {size / 1e6:.1f} MB; "
        f"{len(files) - len(new)} already there, {(whole - size) / 1e6:.1f} MB."
    )
