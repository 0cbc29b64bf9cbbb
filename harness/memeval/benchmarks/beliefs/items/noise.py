"""noise-resistance: one fact among many unrelated sessions, some about other people."""

from __future__ import annotations

import re
from datetime import timedelta

from memeval.benchmarks.beliefs import facts
from memeval.benchmarks.beliefs.history import Made, Writer, ordinals
from memeval.benchmarks.beliefs.items.common import Sessions, one_question
from memeval.benchmarks.beliefs.timeline import Manner
from memeval.benchmarks.beliefs.vocabulary import BY_ID
from memeval.keys import NoiseKey

SESSIONS = {"light": (15, 19), "heavy": (36, 40)}
"""Minimum and maximum number of sessions, by level."""

BEFORE = {"early": (0.12, 0.28), "late": (0.72, 0.88)}
"""Minimum and maximum share of sessions before the relevant one, by position."""

OVERLAP = 0.5
"""Maximum share of the words of the question in an unrelated session."""

SPARE = 1
"""Maximum number of unrelated sessions above that share."""

_COMMON = frozenset(
    {
        *(
            "a",
            "the",
            "of",
            "to",
            "for",
            "on",
            "in",
            "at",
            "by",
            "with",
            "or",
            "and",
            "is",
            "are",
            "was",
            "has",
            "have",
        ),
        *("do", "does", "did", "who", "what", "which", "where", "how", "now", "these", "days", "s", "her", "his"),
    }
)
"""Function words, which are ignored in a question."""


def make(writer: Writer) -> Made:
    """Return an item that asks for one value among unrelated sessions."""
    life, person, rng = writer.life, writer.life.person, writer.rng
    timeline, topic = life.timeline, BY_ID[life.focus[writer.need.scenario_id]]
    level, _, position = str(writer.need.traits["cell"]).partition("/")
    (event,) = timeline.of(topic.id)
    others = timeline.others(topic.id)
    writer.tell((event,))
    writer.tell(others)
    total = rng.randint(*SESSIONS[level])
    before = round(total * rng.uniform(*BEFORE[position]))
    avoid = frozenset((topic.id,))
    for count, sign in ((before, -1), (total - 1 - before, 1)):
        missing = count - sum(1 for other in others if (other.on > event.on) == (sign > 0))
        span = timedelta(days=max(24, 3 * count))
        start, end = (
            (event.on - span, event.on - timedelta(days=1))
            if sign < 0
            else (event.on + timedelta(days=1), event.on + span)
        )
        missing -= writer.background(min(missing, total // 8), start, end, avoid)
        writer.chatter(max(0, missing), start, end)
    asked, sessions = writer.later(), writer.sessions()
    question = _question(writer, sessions, topic.now)
    key = NoiseKey(
        reference=facts.holds(person, topic.id, event.value),
        distractors=tuple(facts.of_another(person, other) for other in others),
    )
    points = (level == "heavy") + (event.manner is Manner.INDIRECT) + (position == "early")
    return one_question(
        writer,
        sessions,
        question,
        asked,
        key,
        ordinals(sessions, (event,)),
        {
            "announced": event.manner.value,
            "difficulty": facts.difficulty(points),
            "family": topic.family,
            "noise": level,
            "position": position,
        },
    )


def overlap(question: str, text: str, name: str) -> float:
    """Return the share of the content words of the question, without the name, that occur in ``text``.

    0 for a single shared word.
    """
    words = set(re.findall(r"\w+", question.lower())) - _COMMON - set(re.findall(r"\w+", name.lower()))
    shared = words & set(re.findall(r"\w+", text.lower()))
    return len(shared) / len(words) if len(shared) > 1 else 0.0


def _question(writer: Writer, sessions: Sessions, templates: tuple[str, ...]) -> str:
    """Return a question that shares few words with unrelated sessions.

    Raises:
        ValueError: none of the ``templates`` gives such a question.
    """
    person, focus = writer.life.person, writer.life.focus[writer.need.scenario_id]
    noise = [
        " ".join(turn.content for turn in step.session.turns)
        for draft, step in sessions
        if draft.event is None or draft.event.topic != focus
    ]
    for template in writer.rng.sample(templates, len(templates)):
        question = template.format(name=writer.name(), my=person.her)
        if sum(overlap(question, text, person.name) > OVERLAP for text in noise) <= SPARE:
            return question
    raise ValueError(f"{writer.need.scenario_id}: too much of the noise sounds like the question.")
