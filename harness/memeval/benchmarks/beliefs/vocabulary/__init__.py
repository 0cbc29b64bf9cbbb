"""What people in the benchmark talk about: topics by family, names, and talk that means nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace

from memeval.benchmarks.beliefs.vocabulary.topic import Form, Topic, TopicGroup, TopicValue, clause
from memeval.words import read_words


@dataclass(frozen=True)
class Family:
    """The content of the file of a part of life."""

    topics: tuple[Topic, ...]
    """Topics that stand for themselves."""
    chain: tuple[Topic, ...]
    """Topics that rest on one another, each on the one before it."""


def _family(name: str) -> Family:
    read = read_words(__package__, f"{name}.toml", Family)
    return Family(*(tuple(replace(topic, family=name) for topic in topics) for topics in (read.topics, read.chain)))


_FAMILIES = tuple(map(_family, ("tech", "diet", "travel", "family", "work", "home", "hobbies", "health")))

TOPICS: tuple[Topic, ...] = tuple(topic for family in _FAMILIES for topic in family.topics)
"""Topics that stand for themselves."""

GROUPS: tuple[TopicGroup, ...] = tuple(TopicGroup(family.chain[0], family.chain[1:]) for family in _FAMILIES)
"""Topics that rest on one another, a group for each family."""

BY_ID: dict[str, Topic] = {
    topic.id: topic for topic in (*TOPICS, *(t for group in GROUPS for t in (group.root, *group.dependents)))
}
"""Every topic by its id."""

__all__ = ["BY_ID", "GROUPS", "TOPICS", "Form", "Topic", "TopicGroup", "TopicValue", "clause"]
