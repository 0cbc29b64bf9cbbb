"""What of a conversation is kept: when it was, who spoke, and all that was said."""

from __future__ import annotations

from memeval.conformance.check import ContractViolation
from memeval.conformance.checks.seen import found, listed
from memeval.conformance.facts import PlantedFact
from memeval.conformance.subject import ACKNOWLEDGED, CheckedSystem, Observation, PlantedTurn, quoted

YEARS = 3 * 365
"""Days between the two dates of a fact that changed."""

TIME = (
    "Keep the `timestamp` of `ingest_session` with what is stored: put it into the text of items or of the context, "
    "or go by the `timestamp` of `query` and `search`."
)


def event_time(subject: CheckedSystem) -> str:
    """The same thing is said anew years later. One of three must hold: the dates can be read in what comes; the
    question's own date decides; or what comes first follows the dates, and not the words or the order of telling.
    """
    facts = subject.facts
    topic = facts.topic()
    older, newer = facts.fact(topic), facts.fact(topic)
    memory = subject.memory()
    early, late = facts.day, facts.after(YEARS)
    memory.tell(early, older)
    memory.tell(late, newer)
    now = memory.ask(topic.asked)
    shown = [day for fact, day in ((older, early), (newer, late)) if now.shows(fact.word)]
    if shown and all(map(now.names_year, shown)):
        return "What it brings up says when it was."
    then = memory.ask(topic.asked, at=facts.after(YEARS // 2))
    if then.shows(older.word) and not then.shows(newer.word):
        return "Asked as of a day in between, it knows nothing of what came later."
    # The same words with their dates exchanged, and told in the other order: only the dates can keep the order.
    memory = subject.memory()
    memory.tell(late, older)
    memory.tell(early, newer)
    exchanged = memory.ask(topic.asked)
    first, first_exchanged = (each.first_of(older.word, newer.word) for each in (now, exchanged))
    if None not in (first, first_exchanged) and first != first_exchanged:
        return "What it brings up first follows the dates."
    raise ContractViolation(
        f"It was told {quoted(older.said)} on {early} and {quoted(newer.said)} on {late}. What it gave for "
        f"{quoted(topic.asked)} tells no date, and changes with neither the dates nor the day of the question: {now}.",
        TIME,
    )


def assistant_kept(subject: CheckedSystem) -> str:
    """A fact that only the assistant said."""
    memory = subject.memory()
    fact = subject.facts.recommended()
    asked = PlantedTurn("Where could we go on Saturday, if it pours?")
    memory.ingest(
        memory.session(subject.facts.day, asked, PlantedTurn(fact.said, "assistant"), PlantedTurn("I will try it."))
    )
    found(
        memory,
        fact,
        "after the assistant had said so",
        "Keep the turns of the role `assistant` in `ingest_session` too: benchmarks ask for what it said.",
    )
    return "What the assistant said was found."


def second_speaker_kept(subject: CheckedSystem) -> str:
    """A fact that the second of two named people said."""
    memory = subject.memory()
    one, other = subject.facts.people
    first, second = subject.facts.facts(2)
    memory.ingest(
        memory.session(
            subject.facts.day, PlantedTurn(first.said, speaker=one), PlantedTurn(second.said, speaker=other)
        ),
    )
    remedy = "Keep every turn in `ingest_session`, whoever its `speaker` is, and the name with it."
    for fact, person in ((second, other), (first, one)):
        asked_of = PlantedFact(fact.said, fact.word, fact.asked_of.format(person))
        found(memory, asked_of, f"after {person} had said so in a talk of two people", remedy)
    return "What either of two named people said was found."


def people_apart(subject: CheckedSystem) -> str:
    """Two named people say the same kind of thing of themselves; asked for one, the other's must not be the answer."""
    memory = subject.memory()
    topic = subject.facts.topic()
    said = {person: subject.facts.fact(topic) for person in subject.facts.people}
    memory.ingest(
        memory.session(subject.facts.day, *(PlantedTurn(fact.said, speaker=person) for person, fact in said.items()))
    )
    one, other = said
    for person, stranger in ((one, other), (other, one)):
        evidence = memory.ask(topic.asked_of.format(person))
        if not _tells_apart(evidence, said[person], said[stranger], stranger):
            raise ContractViolation(
                f"{person} had said {quoted(said[person].said)} and {stranger} {quoted(said[stranger].said)} "
                f"Asked {quoted(evidence.question)}, it gave {evidence}.",
                "Keep the `speaker` of each turn in `ingest_session` with its text, and mind who is asked about.",
            )
    return "Two people who said the same kind of thing were told apart."


def _tells_apart(evidence: Observation, own: PlantedFact, strange: PlantedFact, stranger: str) -> bool:
    """Whether the person's own value is the answer, comes first, or can be told from the stranger's by the name."""
    if evidence.answers(own.word) or evidence.answers(strange.word):
        return evidence.answers(own.word)
    if not evidence.shows(own.word):
        return False
    named = all(stranger in line for line in evidence.lines() if strange.word in line)
    return named or evidence.first_of(own.word, strange.word) == own.word


def unicode_kept(subject: CheckedSystem) -> str:
    """Words in other scripts come back as they were, or in another normal form."""
    memory = subject.memory()
    facts = subject.facts.in_scripts()
    memory.ingest(memory.session(subject.facts.day, *(PlantedTurn(fact.said) for _script, fact in facts)))
    lost = [script for script, fact in facts if not memory.ask(fact.asked).shows(fact.word)]
    if lost:
        raise ContractViolation(
            f"Words in other scripts were not found again: {listed(lost)}.",
            "Store text as it comes in `ingest_session`: no ASCII folding, no dropping of what is not a letter.",
        )
    return f"Words in other scripts were found again: {listed([script for script, _fact in facts])}."


def long_kept(subject: CheckedSystem) -> str:
    """Facts at the start, in the middle and at the end of a very long message."""
    memory = subject.memory()
    message, facts = subject.facts.long_message()
    memory.ingest(memory.session(subject.facts.day, PlantedTurn(message), ACKNOWLEDGED))
    lost = [where for where, fact in facts if not memory.ask(fact.asked).shows(fact.word)]
    if lost:
        raise ContractViolation(
            f"Of a message of {len(message):,} characters, the fact at the {listed(lost)} was not found.",
            "Split long messages in `ingest_session` before an embedding model or a prompt cuts them off.",
        )
    return f"Facts at the start, in the middle and at the end of {len(message):,} characters were found."


def taken_in_twice(subject: CheckedSystem) -> str:
    """The same session twice, as after a repeated request: no error, and the fact is still found."""
    memory = subject.memory()
    fact = subject.facts.fact()
    session = memory.session(subject.facts.day, PlantedTurn(fact.said), ACKNOWLEDGED)
    memory.ingest(session)
    memory.ingest(session)
    evidence = found(
        memory,
        fact,
        "after the same session had been taken in twice",
        "Let `ingest_session` take a `session_id` that it knows: replace what it has, or keep both.",
    )
    copies = max((evidence.items.count(text) for text in evidence.items if fact.word in text), default=1)
    noted = "; it now brings the fact up more than once" if copies > 1 else ""
    return f"The same session taken in twice changed nothing in what was found{noted}."
