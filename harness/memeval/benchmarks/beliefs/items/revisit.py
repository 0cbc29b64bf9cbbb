"""cascade-propagation and uncertainty-abstention: facts whose basis may have changed, and control items."""

from __future__ import annotations

from datetime import date

from memeval.benchmarks.beliefs import facts
from memeval.benchmarks.beliefs.history import Made, Writer, ordinals
from memeval.benchmarks.beliefs.items.common import one_question, surround
from memeval.benchmarks.beliefs.timeline import Act, DependentStatus, Timeline
from memeval.benchmarks.beliefs.vocabulary import BY_ID, Form, Topic, clause
from memeval.benchmarks.beliefs.vocabulary.people import Person
from memeval.keys import CascadeKey, Fact, Stance, UncertaintyKey

_STILL = (
    "Does {name} still {do}?",
    "Is it safe to assume that {name} {does}?",
    "I'd like to be sure: does {name} {do}?",
    "Can I take it that {name} still {does}?",
    "Is it right that {name} {does} these days?",
)
"""Questions that name the fact in doubt."""


def make(writer: Writer) -> Made:
    """Return an item on a dependent fact. The timeline decides whether its basis has changed."""
    person, timeline = writer.life.person, writer.life.timeline
    topic = BY_ID[writer.life.focus[writer.need.scenario_id]]
    chain = (topic.id, *timeline.ground(topic.id))
    own = [event for name in chain for event in timeline.of(name)]
    writer.tell(own)
    writer.tell(timeline.others(topic.id))
    surround(writer, frozenset())
    asked, sessions = writer.later(), writer.sessions()
    standing = timeline.standing(topic.id, asked)
    account = _Account(person, timeline, topic, asked)
    stance = Stance.DOUBT if standing is DependentStatus.UNREVISITED else Stance.CONFIDENT
    name = writer.name()
    if writer.need.category == "cascade-propagation":
        question = writer.rng.choice(topic.now).format(name=name, my=person.her)
        key: CascadeKey | UncertaintyKey = CascadeKey(
            root_change=account.change(), dependent=account.fact(), stance=stance, reference=account.answer(standing)
        )
    else:
        value = account.value
        do, does = (clause(topic, value, form, person.her) for form in (Form.BASE, Form.THIRD))
        question = writer.rng.choice(_STILL).format(name=name, do=do, does=does)
        key = UncertaintyKey(
            reason=account.reason(standing), dependent=account.fact(), stance=stance, reference=account.answer(standing)
        )
    announced = facts.announced(timeline, chain[-1])
    return one_question(
        writer,
        sessions,
        question,
        asked,
        key,
        ordinals(sessions, [event for event in own if event.act is not Act.MUSE]),
        {
            "announced": announced,
            "depth": str(len(chain) - 1),
            "difficulty": facts.difficulty(len(chain) - 2 + facts.detours(timeline, chain[-1])),
            "family": topic.family,
            "noise": facts.noise(len(sessions), len(own)),
            "twin": standing.value,
        },
    )


class _Account:
    """Describes a dependent fact and its basis in words."""

    def __init__(self, person: Person, timeline: Timeline, topic: Topic, now: date) -> None:
        self.person = person
        self.topic = topic
        self.root = BY_ID[timeline.ground(topic.id)[-1]]
        self.states = timeline.states(self.root.id, now)
        self.chain = tuple(
            (BY_ID[name], state)
            for name in (topic.id, *timeline.ground(topic.id)[:-1])
            if (state := timeline.current(name, now)) is not None
        )
        self.value = self.chain[0][1].value
        self.dropped = tuple(event.value.text for event in timeline.taken_back(self.root.id, now))

    def fact(self) -> Fact:
        """Return the dependent fact."""
        return facts.holds(self.person, self.topic.id, self.value)

    def change(self) -> str:
        """Return the changes of the root as ``old → new``, or that it is unchanged."""
        if len(self.states) > 1:
            return f"{self.root.label}: " + " → ".join(state.value.text for state in self.states)
        extra = "".join(f"; a change to {text} was announced and taken back" for text in self.dropped)
        return f"{self.root.label}: {self.states[0].value.text}, unchanged{extra}"

    def grounds(self) -> str:
        """Return the basis of the fact, link by link."""
        links = [self.states[0].value.text, *(state.value.text for _, state in reversed(self.chain))]
        return ", ".join(f"{links[i + 1]} because of {links[i]}" for i in range(len(links) - 1))

    def reason(self, standing: DependentStatus) -> str:
        """Return why the fact is uncertain, or why it is not."""
        first = f"It rested on something else: {self.grounds()}."
        if standing is DependentStatus.UNCHANGED:
            return f"Not uncertain. {first} Nothing of that has changed ({self.change()})."
        since = self.states[-1].since
        then = f"{first} That has changed ({self.change()}, last on {since.isoformat()})"
        if standing is DependentStatus.RECONFIRMED:
            return f"Not uncertain. {then}, and the fact was confirmed afterwards."
        return f"{then}, and nobody has come back to the fact since."

    def answer(self, standing: DependentStatus) -> str:
        """Return a correct answer."""
        does = clause(self.topic, self.value, Form.THIRD, self.person.her)
        did = clause(self.topic, self.value, Form.PAST, self.person.her)
        if standing is DependentStatus.UNREVISITED:
            return (
                f"That is not certain. When last heard, {self.person.first} {did}, but what that rested on has "
                f"changed since ({self.change()}), and it has not come up again."
            )
        if standing is DependentStatus.RECONFIRMED:
            return f"{self.person.name} {does}, and said so after what it rested on had changed ({self.change()})."
        return f"{self.person.name} {does}."
