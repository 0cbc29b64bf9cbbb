"""From what the user names to a system that can be started."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from memeval.records.base import SLUG, Digest
from memeval.records.base import SLUG_LENGTH as SLUG_LENGTH
from memeval.records.errors import BadInput
from memeval.records.run import SystemKind, View
from memeval.records.submission import Submission, variant_slug
from memeval.systems.child import Launch
from memeval.systems.controls import CONTROLS, Control
from memeval.systems.errors import SystemFailure
from memeval.systems.folder import examined_files, files_digest, text_of
from memeval.systems.imported import files_of
from memeval.systems.launching import DRIVERS as DRIVERS
from memeval.systems.launching import DRIVERS_FOLDER, submission_launch
from memeval.systems.manifest import MANIFEST as MANIFEST
from memeval.systems.manifest import examined_manifest, line_of
from memeval.systems.messages import AdapterInfo
from memeval.systems.output import visible
from memeval.systems.process import SystemProcess

SUBMISSIONS = Path("submissions")
"""Where slugs are looked up, below the working folder."""


@dataclass(frozen=True)
class SystemSource:
    """A system, found and checked, not yet started."""

    slug: str
    """Its name in paths and URLs."""
    name: str
    """Its name for people; text from outside."""
    version: str
    """Its version; text from outside. ``0`` for a bare file."""
    kind: SystemKind
    """Where it comes from."""
    launch: Launch
    """How it is started."""
    submission_digest: Digest
    """Digest of its files."""
    declared_models: tuple[str, ...] = ()
    """Models it says it uses."""
    view: View = View.ALL
    """Which sessions it is shown."""
    submission: Submission | None = None
    """All that it says of itself, where it has a ``submission.toml``."""
    variant: str | None = None
    """Which variant of the submission it is; ``None`` for it as it stands."""
    control: Control | None = None
    """Its line in the table of controls, where it is one."""

    @property
    def parameters(self) -> Mapping[str, str | int | float | bool]:
        """Its parameters."""
        return self.submission.parameters if self.submission else {}

    @property
    def light(self) -> bool:
        """Whether it runs in seconds with no key and no download."""
        return self.submission.light if self.submission else self.control is not None


def find_system(named: str, submissions: Path = SUBMISSIONS) -> SystemSource:
    """Return the system that ``named`` stands for.

    Args:
        named: a control's name, a slug under ``submissions`` or a folder with a ``submission.toml``, either with,
            after a colon, one of its variants; or a ``.py`` file with, after a colon, the class to load. A name goes
            before a folder of that name; ``./name`` is the folder.
        submissions: the folder that slugs are looked up in.

    Raises:
        BadInput: there is no such system, or it cannot be what it should be.
    """
    if named in CONTROLS:
        return control_source(CONTROLS[named])
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
        raise BadInput("there is no such file or folder.", where=path, remedy="Check the path.")
    raise BadInput(f"there is no system called '{visible(named)}'.", remedy=_hint(named, submissions))


def control_source(control: Control) -> SystemSource:
    """Return a shipped control as a system."""
    return SystemSource(
        slug=control.slug,
        name=control.title,
        version="1",
        kind=SystemKind.CONTROL,
        launch=Launch(control.file, control.class_name),
        submission_digest=files_digest([(control.filename, control.file)]),
        view=control.view,
        control=control,
    )


def file_source(path: Path, class_name: str | None = None) -> SystemSource:
    """Return the system in a ``.py`` file: the file, and the modules of its folder that it imports.

    Raises:
        BadInput: the file, or one of these modules, is not Python.
    """
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

    Args:
        folder: the folder.
        variant: one of the submission's variants; ``None`` for it as it stands.

    Raises:
        BadInput: the first of what :func:`examined_folder` finds, or there is no such variant.
    """
    source, faults = examined_folder(folder)
    if source is None or faults:
        raise faults[0]
    return source if variant is None else variant_source(source, variant)


def variant_source(source: SystemSource, name: str) -> SystemSource:
    """Return a variant of a submission as a system.

    Args:
        source: the submission as it stands.
        name: what the variant is called in its ``submission.toml``.

    Raises:
        BadInput: there is none of that name.
    """
    submission = source.submission
    known = submission.variants if submission else {}
    if submission is None or name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        remedy = f"Did you mean '{source.slug}:{near[0]}'?" if near else f"There are: {', '.join(known)}."
        raise BadInput(
            f"{source.slug} has no variant '{visible(name)}'.",
            where=source.launch.folder and source.launch.folder / MANIFEST,
            remedy=remedy if known else f"Name it as '{source.slug}'; it has none.",
        )
    return _set_up(source, submission.varied(name), name)


def altered_source(
    source: SystemSource, name: str, parameters: Mapping[str, str | int | float | bool], summary: str | None = None
) -> SystemSource:
    """Return a submission under other parameters, as a system of its own.

    Args:
        source: the submission, or a variant of one.
        name: what it is called besides: part of its slug and its name.
        parameters: those that are other than its own.
        summary: what is different about it, in a sentence.

    Raises:
        BadInput: it is no submission, and so takes no parameters; or its name would be too long.
    """
    if source.submission is None:
        raise BadInput(
            f"'{source.slug}' takes no parameters: it has no {MANIFEST}.", remedy=f"Give it a {MANIFEST}, or none."
        )
    submission = source.submission.altered(name, parameters, summary)
    if len(submission.slug) > SLUG_LENGTH:
        raise BadInput(f"'{submission.slug}' has more than {SLUG_LENGTH} characters.", remedy="Give it a shorter name.")
    return _set_up(source, submission, None)


def _set_up(source: SystemSource, submission: Submission, variant: str | None) -> SystemSource:
    """Return a system as another set-up of the same files."""
    here = source.launch
    launch = submission_launch(submission, here.file.parent if here.folder is None else here.folder, here.files)
    return replace(
        source,
        slug=submission.slug,
        name=submission.name,
        launch=replace(launch, files=here.files, digest=here.digest),
        submission=submission,
        variant=variant,
        declared_models=submission.declared_models,
    )


def examined_folder(folder: Path) -> tuple[SystemSource | None, list[BadInput]]:
    """Return the system in a folder with a ``submission.toml``, and all that is wrong with the folder.

    Returns:
        The system, or ``None`` where its manifest or its files cannot be what they should be; and the faults: none
        where all is well.
    """
    manifest = folder / MANIFEST
    if folder.is_symlink():
        remedy = "Name the folder itself; a submission holds plain files only."
        return None, [BadInput("is a symbolic link.", where=folder, remedy=remedy)]
    if not manifest.is_file():
        remedy = f"Name the adapter file itself, or write a {MANIFEST} beside it."
        return None, [BadInput(f"is a folder without a {MANIFEST}.", where=folder, remedy=remedy)]
    submission, faults = examined_manifest(manifest)
    files, unfit = examined_files(folder)
    faults += unfit
    if submission is None:
        return None, faults
    faults += _slug_clashes(submission, folder)
    try:
        launch = submission_launch(submission, folder, files)
    except BadInput as fault:
        return None, [*faults, *([] if fault.where in {each.where for each in faults} else [fault])]
    if unfit:
        return None, faults
    digest = files_digest(files.items())
    here = {inside: path.absolute() for inside, path in files.items()}
    source = SystemSource(
        slug=submission.slug,
        name=submission.name,
        version=submission.version,
        kind=SystemKind.SUBMISSION,
        launch=replace(launch, files=here, digest=digest),
        submission_digest=digest,
        declared_models=submission.declared_models,
        submission=submission,
    )
    return source, faults


def _slug_clashes(submission: Submission, folder: Path) -> Iterator[BadInput]:
    """Yield what else bears the name of a submission or of a variant of it: a control, or a folder beside it."""
    stand: dict[str, str] = {}
    for slug, variant in submission.slugs.items():
        stand[slug] = line_of(folder / MANIFEST, ("slug",) if variant is None else ("variants", variant))
        if slug in CONTROLS:
            yield BadInput(f"'{slug}' is the name of a shipped control.", where=stand[slug], remedy="Take another.")
    if folder.absolute().parent.name != SUBMISSIONS.name:
        return
    name = folder.absolute().name
    if name != submission.slug:
        yield BadInput(
            f"the slug is '{submission.slug}', and the folder is called '{visible(name)}'.",
            where=stand[submission.slug],
            remedy="Give both the same name.",
        )
    for other in sorted(folder.absolute().parent.iterdir()):
        if other.name == name or not (other / MANIFEST).is_file():
            continue
        whole, varied = _slugs_in(other / MANIFEST)
        for slug, where in stand.items():
            if slug in (other.name.casefold(), whole) or slug in varied:
                what = "a variant of the submission" if slug in varied else "the submission"
                yield BadInput(
                    f"'{slug}' is also the name of {what} in {visible(other.name)}.",
                    where=where,
                    remedy="Take another.",
                )


def _slugs_in(manifest: Path) -> tuple[object, tuple[str, ...]]:
    """Return the names that another submission gives itself and its variants, whatever else is wrong with it."""
    try:
        data = tomllib.loads(text_of(manifest))
    except (BadInput, ValueError, RecursionError):
        return None, ()
    slug, variants = data.get("slug"), data.get("variants")
    varied = variants if isinstance(slug, str) and isinstance(variants, dict) else {}
    return slug, tuple(variant_slug(str(slug), name) for name in varied)


def start_system(source: SystemSource, process: SystemProcess) -> AdapterInfo:
    """Start a system's process, and return what it said of itself.

    Args:
        source: the system.
        process: its process, not started yet; the caller closes it.

    Raises:
        BadInput: it cannot be loaded; a run would be nothing but errors.
    """
    try:
        return process.start()
    except SystemFailure as failure:
        launch = source.launch
        where = launch.folder / MANIFEST if launch.folder and launch.file.parent == DRIVERS_FOLDER else launch.file
        raise BadInput(failure.sentence, where=where) from None


def _split_class(named: str) -> tuple[Path, str | None]:
    head, colon, class_name = named.rpartition(":")
    if colon and head.endswith(".py") and class_name.isidentifier() and not Path(named).exists():
        return Path(head), class_name
    return Path(named), None


def _slug_of(stem: str) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-")[:SLUG_LENGTH].strip("-") or "system"
    return f"{slug[: SLUG_LENGTH - 5]}-file" if slug in CONTROLS else slug


def _hint(named: str, submissions: Path) -> str:
    known = [*CONTROLS]
    if submissions.is_dir():
        known += sorted(path.name for path in submissions.iterdir() if (path / MANIFEST).is_file())
    near = difflib.get_close_matches(named, known, n=1)
    return f"Did you mean '{near[0]}'?" if near else f"There are: {', '.join(known)}; or name a folder or a .py file."
