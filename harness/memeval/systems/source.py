"""Finds the system that a user names, and prepares its launch."""

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from memeval.records.base import SLUG, SLUG_LENGTH, Digest
from memeval.records.errors import BadInput, NotLoaded, did_you_mean
from memeval.records.history import ProductVersion
from memeval.records.run import SystemKind, View
from memeval.records.submission import Submission, variant_slug
from memeval.storage import readable
from memeval.systems.channel import visible
from memeval.systems.child import Launch
from memeval.systems.controls import Control, all_controls
from memeval.systems.errors import SystemFailure
from memeval.systems.folder import behaviour_digest, examined_files, files_digest
from memeval.systems.launching import DRIVERS_FOLDER, submission_launch
from memeval.systems.manifest import MANIFEST, MANIFEST_BYTES, examined_manifest, line_of
from memeval.systems.messages import AdapterInfo
from memeval.systems.methods import files_of
from memeval.systems.process import SystemProcess
from memeval.toml import parse_toml, toml_content

SUBMISSIONS = Path("submissions")
"""The folder in which slugs are looked up, relative to the working folder."""


@dataclass(frozen=True)
class SystemSource:
    slug: str
    name: str
    version: str
    """Its version; text from outside. ``0`` for a bare file."""
    kind: SystemKind
    launch: Launch
    submission_digest: Digest
    """Digest of its files; for a submission, of what decides what runs: see :func:`behaviour_digest`."""
    declared_models: tuple[str, ...] = ()
    view: View = View.ALL
    submission: Submission | None = None
    variant: str | None = None
    control: Control | None = None
    product_version: ProductVersion | None = None
    """The released version of the product, in a history of versions; ``None`` for all other runs."""

    @property
    def parameters(self) -> Mapping[str, str | int | float | bool]:
        return self.submission.parameters if self.submission else {}

    @property
    def light(self) -> bool:
        """Whether it runs in seconds without a key and without a download."""
        return self.submission.light if self.submission else self.control is not None


def find_system(named: str, submissions: Path = SUBMISSIONS) -> SystemSource:
    """Return the system that a user names.

    ``named``: the name of a control; or ``SLUG[:VARIANT]`` for a folder of ``submissions``; or ``FOLDER[:VARIANT]``
    with a ``submission.toml``; or ``FILE.py[:CLASS]``. A control or slug takes precedence over a folder of the same
    name; ``./name`` is the folder. Raises BadInput: there is no such system, or it is invalid or cannot be read.
    """
    with readable(visible(named), "Check the name."):
        return _found(named, submissions)


def _found(named: str, submissions: Path) -> SystemSource:
    if (control := all_controls().get(named)) is not None:
        return control_source(control)
    slug, colon, variant = named.partition(":")
    if SLUG.fullmatch(slug) and (submissions / slug).is_dir():
        return folder_source(submissions / slug, variant if colon else None)
    path, class_name = _split_class(named)
    if path.is_dir():
        return folder_source(path)
    head, colon, variant = named.rpartition(":")
    if colon and Path(head).is_dir():
        return folder_source(Path(head), variant)
    if path.is_file():
        return file_source(path, class_name)
    if path.suffix == ".py" or "/" in named:
        raise BadInput("file or folder not found.", where=path, remedy="Check the path.")
    raise BadInput(f"there is no system called '{visible(named)}'.", remedy=_hint(named, submissions))


def control_source(control: Control) -> SystemSource:
    if missing := [path for path in control.files.values() if not path.is_file()]:
        raise BadInput(
            f"the control {control.slug} of {control.benchmark or 'memeval'} has no such file.",
            where=missing[0],
            remedy="Add it, correct 'file' or 'reads' in controls.toml, or install the package again.",
        )
    digest = files_digest(control.files.items())
    launch = Launch(control.file, control.class_name, stores=control.stores)
    if control.reads:
        launch = replace(launch, files=control.files, digest=digest)
    return SystemSource(
        slug=control.slug,
        name=control.title,
        version="1",
        kind=SystemKind.CONTROL,
        launch=launch,
        submission_digest=digest,
        view=control.view,
        control=control,
    )


def file_source(path: Path, class_name: str | None = None) -> SystemSource:
    """Return the system in a ``.py`` file, with the modules of its folder that it imports."""
    files = files_of(path)
    digest = files_digest(files.items())
    return SystemSource(
        slug=_slug_of(path.stem),
        name=path.stem,
        version="0",
        kind=SystemKind.FILE,
        launch=Launch(path.absolute(), class_name, files=files, digest=digest),
        submission_digest=digest,
    )


def folder_source(folder: Path, variant: str | None = None) -> SystemSource:
    """Return the system in a folder with a ``submission.toml``.

    ``variant``: a variant of the submission; ``None`` for the submission itself.
    """
    source, faults = examined_folder(folder)
    if source is None or faults:
        raise faults[0]
    return source if variant is None else variant_source(source, variant)


def variant_source(source: SystemSource, name: str) -> SystemSource:
    """Return a variant of a submission as a system. ``name``: the name of the variant in its ``submission.toml``."""
    submission = source.submission
    known = submission.variants if submission else {}
    if submission is None or name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        remedy = f"Did you mean '{source.slug}:{near[0]}'?" if near else f"Its variants: {', '.join(known)}."
        raise BadInput(
            f"{source.slug} has no variant '{visible(name)}'.",
            where=source.launch.folder and source.launch.folder / MANIFEST,
            remedy=remedy if known else f"It has no variants: use '{source.slug}'.",
        )
    return with_submission(source, submission.varied(name), name)


def altered_source(
    source: SystemSource, name: str, parameters: Mapping[str, str | int | float | bool], summary: str | None = None
) -> SystemSource:
    """Return a submission with other parameters, as a separate system.

    Raises BadInput: the system is not a submission and takes no parameters; or its slug is too long.
    """
    if source.submission is None:
        raise BadInput(
            f"'{source.slug}' takes no parameters: it has no {MANIFEST}.",
            remedy=f"Add a {MANIFEST}, or remove the parameters.",
        )
    submission = source.submission.altered(name, parameters, summary)
    if len(submission.slug) > SLUG_LENGTH:
        raise BadInput(f"'{submission.slug}' has more than {SLUG_LENGTH} characters.", remedy="Use a shorter name.")
    return with_submission(source, submission, None)


def with_submission(source: SystemSource, submission: Submission, variant: str | None) -> SystemSource:
    old = source.launch
    launch = submission_launch(submission, old.file.parent if old.folder is None else old.folder, old.files)
    return replace(
        source,
        slug=submission.slug,
        name=submission.name,
        launch=replace(launch, files=old.files, digest=old.digest),
        submission=submission,
        variant=variant,
        declared_models=submission.declared_models,
    )


def examined_folder(folder: Path) -> tuple[SystemSource | None, list[BadInput]]:
    """Return the system in a folder with a ``submission.toml``, and all errors of the folder.

    Returns: The system, or ``None`` if its manifest or its files are invalid; and the errors, empty if there are none.
    """
    manifest = folder / MANIFEST
    if folder.is_symlink():
        remedy = "Use the path of the folder itself; a submission holds plain files only."
        return None, [BadInput("is a symbolic link.", where=folder, remedy=remedy)]
    if not manifest.is_file():
        remedy = f"Use the path of the adapter file, or add a {MANIFEST} to the folder."
        return None, [BadInput(f"is a folder without a {MANIFEST}.", where=folder, remedy=remedy)]
    submission, faults = examined_manifest(manifest)
    files, file_faults = examined_files(folder)
    faults += file_faults
    if submission is None:
        return None, faults
    faults += _slug_clashes(submission, folder)
    try:
        launch = submission_launch(submission, folder, files)
    except BadInput as fault:
        return None, [*faults, *([] if fault.where in {each.where for each in faults} else [fault])]
    if file_faults:
        return None, faults
    absolute = {inside: path.absolute() for inside, path in files.items()}
    source = SystemSource(
        slug=submission.slug,
        name=submission.name,
        version=submission.version,
        kind=SystemKind.SUBMISSION,
        launch=replace(launch, files=absolute, digest=files_digest(files.items())),
        submission_digest=behaviour_digest(submission, files),
        declared_models=submission.declared_models,
        submission=submission,
    )
    return source, faults


def _slug_clashes(submission: Submission, folder: Path) -> Iterator[BadInput]:
    lines: dict[str, str] = {}
    for slug, variant in submission.slugs.items():
        lines[slug] = line_of(folder / MANIFEST, ("slug",) if variant is None else ("variants", variant))
        if slug in all_controls():
            yield BadInput(f"'{slug}' is the name of a shipped control.", where=lines[slug], remedy="Use another slug.")
    if folder.absolute().parent.name != SUBMISSIONS.name:
        return
    name = folder.absolute().name
    if name != submission.slug:
        yield BadInput(
            f"the slug is '{submission.slug}', but the folder is '{visible(name)}'.",
            where=lines[submission.slug],
            remedy="Use the same name for both.",
        )
    for other in sorted(folder.absolute().parent.iterdir()):
        if other.name == name or not (other / MANIFEST).is_file():
            continue
        other_slug, other_variants = _slugs_in(other / MANIFEST)
        for slug, where in lines.items():
            if slug in (other.name.casefold(), other_slug) or slug in other_variants:
                what = "a variant of the submission" if slug in other_variants else "the submission"
                yield BadInput(
                    f"'{slug}' is also the name of {what} in {visible(other.name)}.",
                    where=where,
                    remedy="Use another slug.",
                )


def _slugs_in(manifest: Path) -> tuple[object, tuple[str, ...]]:
    """Return the slugs of another submission and its variants, even if its manifest is invalid."""
    try:
        return _slugs_of(toml_content(manifest, MANIFEST_BYTES))
    except BadInput:
        return None, ()


@lru_cache(maxsize=1024)  # whoever looks at all submissions asks it of each manifest as often as there are submissions
def _slugs_of(content: bytes) -> tuple[object, tuple[str, ...]]:
    data = parse_toml(content, MANIFEST).data
    slug, variants = data.get("slug"), data.get("variants")
    names = variants if isinstance(slug, str) and isinstance(variants, dict) else {}
    return slug, tuple(variant_slug(str(slug), name) for name in names)


def start_system(source: SystemSource, process: SystemProcess) -> AdapterInfo:
    """Start a system's process, and return its reply to ``load``.

    ``process``: its process, not started yet; the caller closes it. Raises ``NotLoaded`` if the system fails.
    """
    try:
        return process.start()
    except SystemFailure as failure:
        launch = source.launch
        where = launch.folder / MANIFEST if launch.folder and launch.file.parent == DRIVERS_FOLDER else launch.file
        raise NotLoaded(failure.sentence, where=where) from None


def _split_class(named: str) -> tuple[Path, str | None]:
    head, colon, class_name = named.rpartition(":")
    if colon and head.endswith(".py") and class_name.isidentifier() and not Path(named).exists():
        return Path(head), class_name
    return Path(named), None


def _slug_of(stem: str) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-")[:SLUG_LENGTH].strip("-") or "system"
    return f"{slug[: SLUG_LENGTH - 5]}-file" if slug in all_controls() else slug


def _hint(named: str, submissions: Path) -> str:
    known = [*all_controls()]
    if submissions.is_dir():
        known += sorted(path.name for path in submissions.iterdir() if (path / MANIFEST).is_file())
    others = f"Known systems: {', '.join(known)}. Or give the path of a folder or a .py file."
    return did_you_mean(named, known, others)
