"""Makes the submission of a released version: today's files with its lock, its form of the adapter and its manifest."""

import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from memeval.evaluation.history.locking import (
    PythonWanted,
    Resolution,
    pinned,
    required,
    resolve_npm,
    resolve_python,
)
from memeval.evaluation.history.released import Release, Releases
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from memeval.records.history import AdapterForm, HistoryDeclaration, PackageIndex, ProductVersion
from memeval.records.run import SystemKind
from memeval.records.submission import AdapterKind, Submission
from memeval.systems.environments.python_lock import PACKAGE, PACKAGE_LOCK, REQUIREMENTS, read_package
from memeval.systems.folder import PAST, PAST_FILE
from memeval.systems.manifest import MANIFEST
from memeval.systems.source import SystemSource, folder_source, variant_source
from memeval.toml import read_toml

LOCKS = (REQUIREMENTS, PACKAGE_LOCK)

REMEDIES = {
    "forms": 'Write [[forms]] with versions = "<1" and file = "adapter_lt1.py".',
    "package": "Write the name of the package in its index.",
    "both": "Write a version that the form and the present adapter both accept.",
}


@dataclass(frozen=True)
class Past:
    """A submission of which old versions are measured."""

    source: SystemSource
    submission: Submission
    folder: Path
    declaration: HistoryDeclaration
    package: str
    index: PackageIndex

    @property
    def adapter(self) -> str:
        """The file with the adapter, inside the folder."""
        submission = self.submission
        if submission.kind is AdapterKind.PYTHON:
            return submission.entry.partition(":")[0]
        return next((word for word in submission.command if (self.folder / word).is_file()), MANIFEST)

    def form_of(self, version: Release) -> AdapterForm | None:
        """Return the form of the adapter for a version; ``None`` for the present adapter."""
        for form in self.declaration.forms:
            if SpecifierSet(form.versions).contains(version.order, prereleases=True):
                return form
        return None


def read_past(source: SystemSource) -> Past:
    """Read how old versions of a submission are run.

    Raises ``BadInput`` if the system is not a submission with a package, or its ``history.toml`` is not valid.
    """
    folder = source.launch.files.get(MANIFEST, Path()).parent
    submission = source.submission
    if source.kind is not SystemKind.SUBMISSION or submission is None:
        raise BadInput(
            f"'{source.slug}' has no released versions: it is not a submission.",
            remedy="Name a submission whose submission.toml has a [product] with a package.",
        )
    path = folder / PAST / PAST_FILE
    declaration = read_toml(path).record(HistoryDeclaration, REMEDIES) if path.is_file() else HistoryDeclaration()
    product = submission.product
    package = declaration.package or (product.package if product else None)
    if package is None or product is None:
        raise BadInput(
            f"'{source.slug}' states no package whose versions could be listed.",
            where=folder / MANIFEST,
            remedy="Add [product] with 'package'.",
        )
    for form in declaration.forms:
        _check_form(form, path)
    index = PackageIndex.NPM if (folder / PACKAGE).is_file() else PackageIndex.PYPI
    return Past(source, submission, folder, declaration, package, index)


def _check_form(form: AdapterForm, path: Path) -> None:
    try:
        SpecifierSet(form.versions)
    except InvalidSpecifier:
        raise BadInput(
            f"'{form.versions}' is no version specifier.", where=path, remedy="Write <1, or >=1,<2."
        ) from None
    name = Path(form.file)
    if name.name != form.file or not (path.parent / name).is_file():
        raise BadInput(f"there is no file '{form.file}' beside it.", where=path, remedy="Add it, or correct 'file'.")


def resolved(past: Past, releases: Releases, release: Release) -> tuple[Resolution, dict[str, str]]:
    """Return the lock of a version, and the text of every other file that names the version.

    Raises ``BadInput`` if nothing fits.
    """
    day = releases.day_of(release)
    if past.index is PackageIndex.NPM:
        where = past.folder / PACKAGE
        package = read_package(where.read_text("utf-8"), where)
        resolution, text = resolve_npm(package, past.package, release.version, day)
        return resolution, {PACKAGE: text}
    declaration = past.declaration
    own = set(map(canonicalize_name, (past.package, *declaration.together)))
    brings = declaration.brings or [name for name in required(past.folder) if name not in own]
    wanted = PythonWanted(past.package, release.version, day, declaration.together, pinned(past.folder, brings))
    resolution = resolve_python(wanted)
    lines = "".join(f"{each}\n" for each in wanted.requirements)
    return resolution, {"requirements.in": lines} if (past.folder / "requirements.in").is_file() else {}


def assemble(
    past: Past, release: Release, resolution: Resolution, others: dict[str, str], folder: Path, *, present: bool = False
) -> None:
    """Write the submission of a version into an empty folder.

    ``others``: text of other files that name the version. ``present``: whether to take the present adapter, whatever
    form is for the version.
    """
    form = None if present else past.form_of(release)
    for inside, path in past.source.launch.files.items():
        if inside not in LOCKS:
            (folder / inside).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, folder / inside)
    for name, text in {resolution.file: resolution.text, **others}.items():
        (folder / name).write_text(text, "utf-8")
    if form is not None:
        shutil.copy(past.folder / PAST / form.file, folder / (form.replaces or past.adapter))
    manifest = folder / MANIFEST
    manifest.write_text(_manifest(manifest.read_text("utf-8"), past, release.version), "utf-8")


def version_source(past: Past, folder: Path, stated: ProductVersion) -> SystemSource:
    """Return the system of a version from its folder. Raises ``BadInput`` if the folder is not valid."""
    source = folder_source(folder)
    product = source.submission.product if source.submission else None
    if product is None or (product.package, product.version) != (stated.package, stated.version):
        raise BadInput(
            f"[product] does not name {stated.package} {stated.version}.",
            where=folder / MANIFEST,
            remedy="Write [product] of the submission with one line for each key.",
        )
    if past.source.variant is not None:
        source = variant_source(source, past.source.variant)
    return replace(source, product_version=stated)


def product_version(
    past: Past, releases: Releases, release: Release, lock: str, substituted: Sequence[str]
) -> ProductVersion:
    form = past.form_of(release)
    return ProductVersion(
        package=past.package,
        version=release.version,
        index=past.index,
        released=releases.day_of(release),
        form=past.adapter if form is None else f"{PAST}/{form.file}",
        lock=digest_bytes(lock.encode()),
        substituted=tuple(substituted),
    )


_TABLE = re.compile(r"(?m)^\[")
_LINE = re.compile(r'(?m)^(package|version|licence|licence_digest)[ \t]*=[ \t]*("[^"\n]*"|\'[^\'\n]*\')[^\n]*\n')


def _manifest(text: str, past: Past, version: str) -> str:
    """Return the manifest of a version: its product has the version and its package, and no licence of today."""
    head, mark, rest = text.partition("\n[product]\n")
    if not mark:
        return text
    end = _TABLE.search(rest)
    table, after = (rest, "") if end is None else (rest[: end.start()], rest[end.start() :])
    product = past.submission.product
    if product is not None and past.submission.version == product.version:
        top = _TABLE.search(head)
        first = head if top is None else head[: top.start()]
        named = re.sub(r'(?m)^version[ \t]*=[ \t]*["\'][^\n]*$', f"version = {json.dumps(version)}", first, count=1)
        head = named + head[len(first) :]
    stated = f"package = {json.dumps(past.package)}\nversion = {json.dumps(version)}\n"
    return f"{head}{mark}{stated}{_LINE.sub('', table)}{after}"
