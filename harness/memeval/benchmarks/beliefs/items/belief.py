"""belief-update: the value after the last change."""

from __future__ import annotations

from memeval.benchmarks.beliefs import facts
from memeval.benchmarks.beliefs.history import Made, Writer, ordinals
from memeval.benchmarks.beliefs.items.common import one_question, surround
from memeval.benchmarks.beliefs.timeline import Act
from memeval.benchmarks.beliefs.vocabulary import BY_ID
from memeval.keys import BeliefKey


def make(writer: Writer) -> Made:
    """Return an item that asks for the last of several values."""
    life, person = writer.life, writer.life.person
    timeline, topic = life.timeline, BY_ID[life.focus[writer.need.scenario_id]]
    own = timeline.of(topic.id)
    writer.tell(own)
    writer.tell(timeline.others(topic.id))
    surround(writer, frozenset((topic.id,)))
    asked, sessions = writer.later(), writer.sessions()
    states = timeline.states(topic.id, asked)
    key = BeliefKey(
        current=facts.holds(person, topic.id, states[-1].value),
        stale=(
            *(facts.held(person, topic.id, state.value) for state in states[:-1]),
            *facts.not_taken_up(person, timeline, topic.id),
        ),
    )
    evidence = ordinals(sessions, [event for event in own if event.act is not Act.MUSE])
    return one_question(
        writer,
        sessions,
        writer.rng.choice(topic.now).format(name=writer.name(), my=person.her),
        asked,
        key,
        evidence,
        {
            "announced": facts.announced(timeline, topic.id),
            "depth": str(len(states)),
            "difficulty": facts.difficulty(len(states) - 2 + facts.detours(timeline, topic.id)),
            "family": topic.family,
            "noise": facts.noise(len(sessions), len(own)),
        },
    )
