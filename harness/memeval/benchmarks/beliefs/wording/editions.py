"""The wording of each tier: the packs it mixes. A withheld pack is published as a digest first (commit and reveal)."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import date
from functools import cache, cached_property
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from memeval.benchmarks.beliefs.wording.packs import FRAMES, Frames, Theme, WordedTopic, WordingPack, read_pack
from memeval.records.base import Digest, Record, digest_bytes
from memeval.records.errors import BadInput
from memeval.storage import write_whole
from memeval.toml import parse_toml


@dataclass(frozen=True)
class Vocabulary:
    """The topics, sentences and small talk of several packs.

    A topic is spoken of in the frames of any of the packs, so that no frame tells which pack a topic is from.
    """

    packs: tuple[WordingPack, ...]

    def __hash__(self) -> int:
        return hash(tuple(pack.name for pack in self.packs))

    @cached_property
    def topics(self) -> tuple[WordedTopic, ...]:
        return tuple(topic for pack in self.packs for topic in pack.topics)

    @cached_property
    def chains(self) -> tuple[tuple[WordedTopic, ...], ...]:
        return tuple(chain for pack in self.packs for chain in pack.chains)

    @cached_property
    def by_id(self) -> dict[str, WordedTopic]:
        return {topic.id: topic for pack in self.packs for topic in pack.all_topics}

    @cached_property
    def frames(self) -> Frames:
        return {name: tuple(frame for pack in self.packs for frame in pack.frames[name]) for name in FRAMES}

    @cached_property
    def themes(self) -> tuple[Theme, ...]:
        return tuple(theme for pack in self.packs for theme in pack.themes)


FILENAME = "editions.toml"


class CommittedPack(Record):
    name: str
    digest: Digest
    committed: date
    """Day on which the digest was published."""
    opens: date
    """First day on which the file may be published."""


class WithdrawnText(Record):
    pack: str
    text: str
    why: str


class Wordings(Record):
    schema_version: int = 1
    packs: tuple[CommittedPack, ...]
    tiers: Mapping[str, tuple[str, ...]]
    withdrawn: tuple[WithdrawnText, ...] = ()
    """Sentences that are not used. A published pack never changes, so they are listed here."""

    def pack(self, name: str) -> CommittedPack:
        found = next((each for each in self.packs if each.name == name), None)
        if found is None:
            known = ", ".join(each.name for each in self.packs)
            raise BadInput(f"no wording pack is called '{name}'.", where=FILENAME, remedy=f"There are: {known}.")
        return found


def folder() -> Traversable:
    return resources.files(__package__)


@cache
def wordings() -> Wordings:
    path = folder() / FILENAME
    return parse_toml(path.read_bytes(), path).record(Wordings)


@cache
def wording(tier: str) -> Vocabulary:
    """Return the vocabulary of a tier.

    Raises ``BadInput``: a pack of the tier is withheld, or its file has not the published digest.
    """
    return mixed(wordings(), tier, folder())


def mixed(published: Wordings, tier: str, packs: Traversable) -> Vocabulary:
    return vocabulary(published, published.tiers[tier], packs)


def vocabulary(published: Wordings, names: Sequence[str], packs: Traversable) -> Vocabulary:
    """Return some packs as one vocabulary. Raises ``BadInput``: a name is unknown, or see :func:`wording`."""
    return Vocabulary(tuple(_used(published, name, packs) for name in names))


def _used(published: Wordings, name: str, packs: Traversable) -> WordingPack:
    texts = frozenset(each.text for each in published.withdrawn if each.pack == name)
    return opened(published.pack(name), packs, texts)


def opened(pack: CommittedPack, packs: Traversable, withdrawn: Set[str] = frozenset()) -> WordingPack:
    """Return a pack, if its file is there and has the published digest.

    ``withdrawn``: sentences of the pack that are left out. Raises ``BadInput``: the pack is withheld, is not the
    published one, or lacks a withdrawn sentence.
    """
    path = packs / f"{pack.name}.toml"
    if not path.is_file():
        raise BadInput(
            f"the wording pack '{pack.name}' is withheld. Only its digest is published ({pack.digest}, on "
            f"{pack.committed.isoformat()}).",
            remedy=f"Use another tier, or wait: it may be published from {pack.opens.isoformat()}.",
        )
    content = path.read_bytes()
    found = digest_bytes(content)
    if found != pack.digest:
        raise BadInput(
            f"the wording pack has the digest {found}, but {pack.digest} was published on "
            f"{pack.committed.isoformat()}.",
            where=path,
            remedy="Restore the published file. A pack that differs from its digest proves nothing.",
        )
    return read_pack(content, path, withdrawn)


def add(published: Wordings, text: bytes, file: Path, opens: date, today: date) -> bytes:
    """Return the text of ``editions.toml`` with the digest of one more pack.

    Raises ``BadInput``: the name is taken, or the pack would open before today.
    """
    if any(each.name == file.stem for each in published.packs):
        raise BadInput(
            f"the digest of a pack '{file.stem}' is published already.",
            where=FILENAME,
            remedy="A published digest never changes. Give the pack another name.",
        )
    if opens < today:
        raise BadInput(
            f"{opens.isoformat()} is past.", remedy="Name a day from today on: the first on which it may be revealed."
        )
    entry = (
        f'[[packs]]\nname = "{file.stem}"\ndigest = "{digest_bytes(file.read_bytes())}"\n'
        f'committed = "{today.isoformat()}"\nopens = "{opens.isoformat()}"\n\n'
    )
    before, tiers, after = text.decode().partition("[tiers]")
    return f"{before}{entry}{tiers}{after}".encode()


def reveal(file: Path, home: Path, today: date) -> None:
    """Copy a withheld pack to the packs.

    Raises ``BadInput``: no such digest is published, the pack has another one, or it is too early.
    """
    place = home / FILENAME
    pack = parse_toml(place.read_bytes(), place).record(Wordings).pack(file.stem)
    if today < pack.opens:
        raise BadInput(
            f"the pack '{pack.name}' may be published from {pack.opens.isoformat()} on.",
            remedy="Wait until that day. A pack revealed early measures nothing.",
        )
    opened(pack, file.parent)
    write_whole(home / f"{pack.name}.toml", file.read_bytes())
