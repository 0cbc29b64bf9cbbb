"""The vocabulary of an edition: the packs it mixes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from memeval.benchmarks.beliefs.wording.packs import Frames, Theme, WordedTopic, WordingPack


@dataclass(frozen=True)
class Vocabulary:
    """The topics, sentences and small talk of several packs.

    A topic is spoken of in the frames of any of the packs, so that no frame tells which pack a topic is from.
    """

    packs: tuple[WordingPack, ...]

    @cached_property
    def topics(self) -> tuple[WordedTopic, ...]:
        """The topics that do not depend on each other."""
        return tuple(topic for pack in self.packs for topic in pack.topics)

    @cached_property
    def chains(self) -> tuple[tuple[WordedTopic, ...], ...]:
        """The topics that depend on each other, each on the one before it."""
        return tuple(chain for pack in self.packs for chain in pack.chains)

    @cached_property
    def by_id(self) -> dict[str, WordedTopic]:
        """Every topic by its id."""
        return {topic.id: topic for pack in self.packs for topic in pack.all_topics}

    @cached_property
    def frames(self) -> Frames:
        """The frames of all packs."""
        mixed = {
            name: tuple(frame for pack in self.packs for frame in getattr(pack.frames, name))
            for name in Frames.model_fields
        }
        return Frames.model_validate(mixed)

    @cached_property
    def themes(self) -> tuple[Theme, ...]:
        """The subjects of small talk."""
        return tuple(theme for pack in self.packs for theme in pack.themes)

    @cached_property
    def dependent(self) -> frozenset[str]:
        """The ids of the topics in chains."""
        return frozenset(topic.id for chain in self.chains for topic in chain)
