"""Checks the files of a run: schema, digests, ids and the folder."""

from collections.abc import Iterator, Mapping

from memeval.archive.rows import inner_digest
from memeval.archive.runs import HISTORY, ROW_FILES, RunFolder
from memeval.evaluation.verify.findings import REMEDY, Check, Finding
from memeval.records.errors import MemevalError
from memeval.records.run import FileDigest, Inputs, Isolation, Network, Run, SystemKind
from memeval.storage import listed

NAME = "digests"


def check_files(folder: RunFolder, digests: Mapping[str, FileDigest] | None = None) -> Check:
    """Check the ids in the head of a run, its folder, and the digests of its files.

    ``digests``: what was found in files that were read just now, by name; other files are read. Raises ``MemevalError``
    if the head cannot be read.
    """
    head = str(folder.path / "run.json")
    return Check(NAME, (*_identity(folder, folder.run, head), *_files(folder, folder.run, head, digests or {})))


def _identity(folder: RunFolder, run: Run, head: str) -> Iterator[Finding]:
    if run.track_id != run.track.id:
        yield Finding(f"{head}: track_id", f"is {run.track_id}, but the track's parts give {run.track.id}.")
    inputs = Inputs.of(run.track, run.system, run.coverage.limit)
    if run.fingerprint != inputs.fingerprint:
        yield Finding(f"{head}: fingerprint", "does not follow from the track, system and parameters in the file.")
    if not run.run_id.endswith("-" + run.fingerprint[:8]):
        yield Finding(f"{head}: run_id", "does not end in the first digits of the fingerprint.")
    sandboxed = run.isolation is Isolation.SANDBOXED
    if sandboxed is (run.sandbox is None) or sandboxed is (run.network is Network.OPEN):
        fields = f"isolation {run.isolation}, network {run.network}, sandbox {run.sandbox or 'none'}"
        yield Finding(f"{head}: isolation", f"contradicts the other fields: {fields}.")
    imported = (run.imported is not None, run.system.kind is SystemKind.IMPORTED, run.isolation is Isolation.ELSEWHERE)
    if len(set(imported)) > 1:
        origin = "an" if run.imported else "no"
        fields = f"kind {run.system.kind}, isolation {run.isolation}, {origin} origin of imported answers"
        yield Finding(f"{head}: imported", f"contradicts the other fields: {fields}.")
    actual = folder.path.resolve().parts[-3:]
    expected = (run.track.benchmark.partition("@")[0], run.system.slug, run.run_id)
    if actual != expected:
        yield Finding(
            str(folder.path),
            f"the run belongs in {'/'.join(expected)}, not in {'/'.join(actual)}.",
            "Move the folder back.",
        )
    yield from _released_version(folder, run, head)


def _released_version(folder: RunFolder, run: Run, head: str) -> Iterator[Finding]:
    stated, product = run.product_version, run.system.product
    if stated is None:
        return
    if product is None or (product.package, product.version) != (stated.package, stated.version):
        ran = "no product" if product is None else f"{product.package} {product.version}"
        yield Finding(f"{head}: product_version", f"is {stated.package} {stated.version}, but the system is {ran}.")
    expected = (HISTORY, run.system.slug, stated.version)
    if folder.path.resolve().parts[-6:-3] != expected:
        problem = f"a run of a released version belongs in {'/'.join(expected)}."
        yield Finding(str(folder.path), problem, "Move the folder back.")


def _files(folder: RunFolder, run: Run, head: str, digests: Mapping[str, FileDigest]) -> Iterator[Finding]:
    for name in sorted(set(run.files) - set(ROW_FILES)):
        yield Finding(f"{head}: files", f"lists an unknown file {name!r}.")
    for name in ("responses.jsonl", "contexts.jsonl", "grades.jsonl", "log.jsonl"):
        if name not in run.files:
            yield Finding(f"{head}: files", f"does not list {name}.")
    for path in (folder.path / "run.json", *(folder.file(name) for name in run.files if name in ROW_FILES)):
        if path.is_symlink():
            yield Finding(str(path), "is a symlink.", "Replace it with the file itself.")
    for name, stated in run.files.items():
        path = folder.file(name)
        if name not in ROW_FILES or path.is_symlink():
            continue
        try:
            found = digests.get(name) or inner_digest(path, stated.rows)
        except MemevalError as error:
            yield Finding(error.where or str(path), error.problem, error.remedy or REMEDY)
            continue
        if found.rows != stated.rows:
            yield Finding(str(path), f"has {found.rows} rows, but run.json says {stated.rows}.")
        if found.digest != stated.digest:
            yield Finding(str(path), "does not match its digest in run.json.")
    known = {f"{name}.gz" for name in run.files} | {"run.json"}
    for path in listed(folder.path, "*"):
        if path.name not in known:
            yield Finding(str(path), "does not belong to the run.", "Remove it.")
