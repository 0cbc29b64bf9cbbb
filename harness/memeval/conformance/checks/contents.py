"""Checks of stored conversations: dates, speakers, full texts, and whether they survive a restart."""

import tempfile
from pathlib import Path

from memeval.conformance.check import ContractViolation, expect_found, listed
from memeval.conformance.facts import PlantedFact
from memeval.conformance.subject import ACKNOWLEDGED, CheckedSystem, Observation, PlantedTurn, quoted

YEARS = 3 * 365
"""Days between the two dates of a fact that changed."""

DATES = (
    "Store the `timestamp` of `ingest_session`: put it into the text of items or context, or use the `timestamp` of "
    "`query` and `search` as a filter."
)

STORAGE = (
    "Store everything below the folder in `MEMEVAL_STORAGE`, write it out at the latest in `close`, and open what is "
    "there when the class is made, without `reset`."
)


def event_time(subject: CheckedSystem) -> str:
    """A fact changes years later. The system passes in one of three ways.

    Its reply shows the dates; or the date of the question decides; or the rank of the facts follows their dates, and
    not their words or the order of ingestion.
    """
    facts = subject.facts
    topic = facts.topic()
    older, newer = facts.fact(topic), facts.fact(topic)
    memory = subject.memory()
    early, late = facts.day, facts.after(YEARS)
    memory.ingest_facts(early, older)
    memory.ingest_facts(late, newer)
    now = memory.ask(topic.question)
    shown = [day for fact, day in ((older, early), (newer, late)) if now.shows(fact.word)]
    if shown and all(map(now.names_year, shown)):
        return "The reply shows the dates."
    then = memory.ask(topic.question, at=facts.after(YEARS // 2))
    if then.shows(older.word) and not then.shows(newer.word):
        return "Asked as of a day in between, the system returned only the earlier fact."
    # The same facts with exchanged dates, ingested in the other order: only the dates can explain an equal rank.
    memory = subject.memory()
    memory.ingest_facts(late, older)
    memory.ingest_facts(early, newer)
    exchanged = memory.ask(topic.question)
    first, first_exchanged = (each.first_of(older.word, newer.word) for each in (now, exchanged))
    if None not in (first, first_exchanged) and first != first_exchanged:
        return "The order of the results follows the dates."
    raise ContractViolation(
        f"The system ingested {quoted(older.statement)} on {early} and {quoted(newer.statement)} on {late}. The reply "
        f"to {quoted(topic.question)} shows no date, and depends neither on the dates nor on the day of the question: "
        f"{now}.",
        DATES,
    )


def assistant_kept(subject: CheckedSystem) -> str:
    memory = subject.memory()
    fact = subject.facts.recommended()
    asked = PlantedTurn("Where could we go on Saturday, if it pours?")
    memory.ingest(
        memory.session(
            subject.facts.day, asked, PlantedTurn(fact.statement, "assistant"), PlantedTurn("I will try it.")
        )
    )
    expect_found(
        memory,
        fact,
        "after the assistant stated it",
        "Store the turns with the role `assistant` in `ingest_session` too: benchmarks ask for them.",
    )
    return "A fact that the assistant stated was found."


def second_speaker_kept(subject: CheckedSystem) -> str:
    memory = subject.memory()
    one, other = subject.facts.people
    first, second = subject.facts.facts(2)
    memory.ingest(
        memory.session(
            subject.facts.day, PlantedTurn(first.statement, speaker=one), PlantedTurn(second.statement, speaker=other)
        )
    )
    remedy = "Store the turns of every `speaker` in `ingest_session`, with the name."
    for fact, person in ((second, other), (first, one)):
        asked_of = PlantedFact(fact.statement, fact.word, fact.question_about.format(person))
        expect_found(memory, asked_of, f"after {person} stated it in a session of two speakers", remedy)
    return "Facts of both speakers were found."


def people_apart(subject: CheckedSystem) -> str:
    """Two speakers state similar facts. The answer about one must not be the fact of the other."""
    memory = subject.memory()
    topic = subject.facts.topic()
    facts = {person: subject.facts.fact(topic) for person in subject.facts.people}
    memory.ingest(
        memory.session(
            subject.facts.day, *(PlantedTurn(fact.statement, speaker=person) for person, fact in facts.items())
        )
    )
    first, second = facts
    for person, other in ((first, second), (second, first)):
        observation = memory.ask(topic.question_about.format(person))
        if not _is_distinguished(observation, facts[person], facts[other], other):
            raise ContractViolation(
                f"{person} stated {quoted(facts[person].statement)} and {other} {quoted(facts[other].statement)} "
                f"Asked {quoted(observation.question)}, the system returned {observation}.",
                "Store the `speaker` of each turn in `ingest_session` with its text, and use it to answer.",
            )
    return "Similar facts of two speakers were not confused."


def _is_distinguished(observation: Observation, own: PlantedFact, others: PlantedFact, other: str) -> bool:
    """Whether the person's own fact is the answer, comes first, or differs from the other's by the name beside it."""
    if observation.answers(own.word) or observation.answers(others.word):
        return observation.answers(own.word)
    if not observation.shows(own.word):
        return False
    named = all(other in line for line in observation.lines() if others.word in line)
    return named or observation.first_of(own.word, others.word) == own.word


def unicode_kept(subject: CheckedSystem) -> str:
    """Words in other scripts are returned unchanged, or in another normal form."""
    memory = subject.memory()
    facts = subject.facts.in_scripts()
    memory.ingest(memory.session(subject.facts.day, *(PlantedTurn(fact.statement) for _script, fact in facts)))
    lost = [script for script, fact in facts if not memory.ask(fact.question).shows(fact.word)]
    if lost:
        raise ContractViolation(
            f"Words in other scripts were not found: {listed(lost)}.",
            "Store text unchanged in `ingest_session`: do not fold it to ASCII, and do not remove symbols.",
        )
    return f"Words in other scripts were found: {listed([script for script, _fact in facts])}."


def long_kept(subject: CheckedSystem) -> str:
    """Facts at the start, middle and end of a long message are found."""
    memory = subject.memory()
    message, facts = subject.facts.long_message()
    memory.ingest(memory.session(subject.facts.day, PlantedTurn(message), ACKNOWLEDGED))
    lost = [position for position, fact in facts if not memory.ask(fact.question).shows(fact.word)]
    if lost:
        raise ContractViolation(
            f"The fact at the {listed(lost)} of a message of {len(message):,} characters was not found.",
            "Split long messages in `ingest_session`, so that no embedding model or prompt cuts them off.",
        )
    return f"Facts at the start, middle and end of {len(message):,} characters were found."


def taken_in_twice(subject: CheckedSystem) -> str:
    """Ingesting a session again, as after a retry, causes no error, and the fact is still found."""
    memory = subject.memory()
    fact = subject.facts.fact()
    session = memory.session(subject.facts.day, PlantedTurn(fact.statement), ACKNOWLEDGED)
    memory.ingest(session)
    memory.ingest(session)
    observation = expect_found(
        memory,
        fact,
        "after the same session was ingested twice",
        "Accept a known `session_id` in `ingest_session`: replace the stored session, or keep both.",
    )
    copies = max((observation.items.count(text) for text in observation.items if fact.word in text), default=1)
    note = "; the fact is now returned more than once" if copies > 1 else ""
    return f"After the same session was ingested twice, the fact was still found{note}."


def survives_restart(subject: CheckedSystem) -> str:
    """Two facts are found after a clean stop and a start on the same folder, and another one can be added."""
    one, other, later = subject.facts.facts(3)
    with (
        tempfile.TemporaryDirectory(prefix="memeval-storage-") as folder,
        subject.another(Path(folder)) as memory,
    ):
        memory.ingest_facts(subject.facts.day, one, other)
        memory.process.close()
        memory.start()
        when = "after a clean stop and a start on the same storage folder"
        for fact in (one, other):
            expect_found(memory, fact, when, STORAGE)
        memory.ingest_facts(subject.facts.after(30), later)
        expect_found(memory, later, f"that it ingested {when}", STORAGE)
    return "Two facts were found after a clean stop and a start on the same storage folder."
