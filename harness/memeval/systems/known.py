"""The digests that the shipped controls and submissions ever had, from ``known.toml``.

``python -m memeval.systems.known`` adds the present ones, in the repository's folder. No line is ever changed.
"""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from memeval.records.base import Digest
from memeval.records.errors import BadInput
from memeval.records.run import View
from memeval.storage import write_whole
from memeval.systems.controls import Control, all_controls
from memeval.systems.manifest import MANIFEST
from memeval.systems.messages import with_storage
from memeval.systems.methods import methods_in
from memeval.systems.source import SUBMISSIONS, control_source, folder_source
from memeval.toml import parse_toml

FILE = Path(__file__).with_name("known.toml")


@dataclass(frozen=True)
class KnownControl:
    slug: str
    name: str
    version: str
    digest: Digest
    view: View
    adapter_class: str
    capabilities: tuple[str, ...]


@dataclass(frozen=True)
class KnownSubmission:
    slug: str
    """Its name in paths and URLs, without a variant."""
    version: str
    digest: Digest


@dataclass(frozen=True)
class Known:
    controls: tuple[KnownControl, ...]
    submissions: tuple[KnownSubmission, ...]

    def controls_with(self, digest: Digest) -> list[KnownControl]:
        """Return the controls with a digest; several may share their files."""
        return [control for control in self.controls if control.digest == digest]

    def submissions_with(self, digest: Digest) -> list[KnownSubmission]:
        """Return the submissions with a digest: several versions may share what runs."""
        return [each for each in self.submissions if each.digest == digest]


@cache
def known() -> Known:
    data = parse_toml(FILE.read_bytes(), FILE).data
    controls = (
        KnownControl(**{**each, "view": View(each["view"]), "capabilities": tuple(each["capabilities"])})
        for each in data.get("control", [])
    )
    return Known(tuple(controls), tuple(KnownSubmission(**each) for each in data.get("submission", [])))


def present_control(control: Control) -> KnownControl:
    """Return what the files of a control say.

    Raises BadInput: a file is missing, or the methods do not follow from the text.
    """
    source, found = control_source(control), methods_in(control.file, control.class_name)
    if found is None:
        raise BadInput("the methods of this control do not follow from its text.", where=control.file)
    return KnownControl(
        slug=source.slug,
        name=source.name,
        version=source.version,
        digest=source.submission_digest,
        view=source.view,
        adapter_class=found.class_name,
        capabilities=with_storage(found.capabilities) if control.stores else found.capabilities,
    )


def present_submissions(submissions: Path) -> Iterator[KnownSubmission]:
    for manifest in sorted(submissions.glob(f"*/{MANIFEST}")):
        source = folder_source(manifest.parent)
        yield KnownSubmission(source.slug, source.version, source.submission_digest)


def missing(submissions: Path) -> list[KnownControl | KnownSubmission]:
    """Return the present controls and submissions that ``known.toml`` does not list."""
    return [
        *(each for each in map(present_control, all_controls().values()) if each not in known().controls),
        *(each for each in present_submissions(submissions) if each not in known().submissions),
    ]


def as_toml(entries: Iterable[KnownControl | KnownSubmission]) -> str:
    return "".join(
        f"\n[[{'control' if isinstance(entry, KnownControl) else 'submission'}]]\n"
        + "".join(f"{name} = {_toml(value)}\n" for name, value in asdict(entry).items())
        for entry in entries
    )


def _toml(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    text = str(value)
    if '"' in text or "\\" in text or not text.isprintable():
        raise ValueError(f"cannot be written: {text!r}")
    return f'"{text}"'


if __name__ == "__main__":
    write_whole(FILE, FILE.read_bytes() + as_toml(missing(SUBMISSIONS)).encode())
