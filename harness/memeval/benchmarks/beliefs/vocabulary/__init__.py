"""What people in the benchmark talk about: topics by family, names, and talk that means nothing."""

from memeval.benchmarks.beliefs.vocabulary import diet, family, health, hobbies, home, tech, travel, work
from memeval.benchmarks.beliefs.vocabulary.topic import Form, Topic, TopicGroup, TopicValue, clause, values

_FAMILIES = (tech, diet, travel, family, work, home, hobbies, health)

TOPICS: tuple[Topic, ...] = tuple(topic for module in _FAMILIES for topic in module.TOPICS)
"""Topics that stand for themselves."""

GROUPS: tuple[TopicGroup, ...] = tuple(module.GROUP for module in _FAMILIES)
"""Topics that rest on one another, a group for each family."""

BY_ID: dict[str, Topic] = {
    topic.id: topic for topic in (*TOPICS, *(t for group in GROUPS for t in (group.root, *group.dependents)))
}
"""Every topic by its id."""

__all__ = ["BY_ID", "GROUPS", "TOPICS", "Form", "Topic", "TopicGroup", "TopicValue", "clause", "values"]
