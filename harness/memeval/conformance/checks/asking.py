"""Checks of questions: they must not change the memory, return too many items or omit token counts."""

from memeval.conformance.check import ContractViolation, MethodMissing
from memeval.conformance.facts import PlantedFact
from memeval.conformance.subject import CheckedMemory, CheckedSystem, Observation, quoted

READS_ONLY = (
    "Make `query` and `search` read-only: store no question, answer or use count in the memory. If the product's "
    "own call writes to it, use another call."
)

TOGETHER = 6
"""How many questions are asked at the same time."""


def k_honoured(subject: CheckedSystem) -> str:
    """``search`` returns at most ``k`` of five matching facts."""
    memory = subject.memory()
    topic = subject.facts.topic()
    memory.ingest_facts(subject.facts.day, *(subject.facts.fact(topic) for _ in range(5)))
    for k in (1, 3):
        items = memory.search(topic.question, k, subject.facts.after(30)).items
        if items is None:
            raise MethodMissing("search returns a context and no items.")
        if len(items) > k:
            raise ContractViolation(
                f"search was asked for {k} {'item' if k == 1 else 'items'} and returned {len(items)}.",
                "Cut what `search(query, k)` returns to the first `k` items.",
            )
    return "search returned at most 1 and at most 3 items, as asked."


def repeatable(subject: CheckedSystem) -> str:
    """The same sessions and questions in two processes give equal replies."""
    facts = subject.facts.facts(3)
    first = _ingest_and_ask(subject.memory(), subject, facts, facts)
    with subject.another() as second:
        again = _ingest_and_ask(second, subject, facts, facts)
    for fact in facts:
        if not first[fact.word].same_as(again[fact.word]):
            raise ContractViolation(
                f"Asked {quoted(fact.question)} in two identical runs, it returned {first[fact.word]}, "
                f"and then {again[fact.word]}.",
                "Fix every seed and sort the results of `query` and `search`, or set `deterministic = false` in "
                "submission.toml.",
            )
    return "Two identical runs gave equal replies."


def question_order(subject: CheckedSystem) -> str:
    """Ask three questions, then the first again; then ask an equal memory in reverse order."""
    facts = subject.facts.facts(3)
    memory = subject.memory()
    forwards = _ingest_and_ask(memory, subject, facts, facts)
    repeated = memory.ask(facts[0].question)
    if not _equal(subject, forwards[facts[0].word], repeated, facts):
        raise ContractViolation(
            f"Asked {quoted(repeated.question)} again after other questions, it returned {repeated}. "
            f"The first time, it returned {forwards[facts[0].word]}.",
            READS_ONLY,
        )
    backwards = _ingest_and_ask(subject.memory(), subject, facts, facts[::-1])
    for fact in facts:
        one, other = forwards[fact.word], backwards[fact.word]
        if not _equal(subject, one, other, facts):
            raise ContractViolation(
                f"The reply to {quoted(fact.question)} depends on earlier questions: {one}, or {other}.", READS_ONLY
            )
    return "Replies did not depend on the order of questions or on a repeated question."


def questions_together(subject: CheckedSystem) -> str:
    """Ask questions one by one, then at the same time: the replies are equal, each to its own question."""
    memory = subject.memory()
    if memory.process.adapter.questions_at_once == 1:
        raise MethodMissing("The system declares no questions_at_once.")
    facts = subject.facts.facts(TOGETHER)
    alone = _ingest_and_ask(memory, subject, facts, facts)
    together = memory.ask_together([fact.question for fact in facts])
    for fact, one in zip(facts, together, strict=True):
        if not _equal(subject, alone[fact.word], one, facts):
            raise ContractViolation(
                f"Asked {quoted(fact.question)} together with {TOGETHER - 1} other questions, it returned {one}. "
                f"Asked alone, it returned {alone[fact.word]}.",
                "Keep what belongs to one question in local variables of `query` and `search`, or do not declare "
                "`questions_at_once`.",
            )
    return f"{TOGETHER} questions asked at the same time got the replies of questions asked one by one."


def question_not_remembered(subject: CheckedSystem) -> str:
    memory = subject.memory()
    known, mentioned = subject.facts.facts(2)
    memory.ingest_facts(subject.facts.day, known)
    memory.ask(f"{mentioned.statement} {known.question}")
    after = memory.ask(mentioned.question)
    if after.shows(mentioned.word):
        raise ContractViolation(
            f"Only a question mentioned “{mentioned.word}”. Asked {quoted(mentioned.question)} next, "
            f"it returned {after}.",
            READS_ONLY,
        )
    return "A fact that only a question mentioned was not stored."


def context_tokens(subject: CheckedSystem) -> str:
    """``get_context_tokens`` returns a count for each question."""
    memory = subject.memory()
    fact = subject.facts.fact()
    memory.ingest_facts(subject.facts.day, fact)
    observation = memory.ask(fact.question)
    remedy = "Return from `get_context_tokens` the tokens of context that the last `query` used."
    if observation.tokens is None:
        raise ContractViolation("The system has get_context_tokens, but reported no tokens for a question.", remedy)
    if observation.tokens == 0 and observation.answers(fact.word):
        raise ContractViolation(
            "The system reported 0 context tokens for an answer that it can only know from its memory.", remedy
        )
    return f"The system reported {observation.tokens:g} context tokens for a question."


def _ingest_and_ask(
    memory: CheckedMemory, subject: CheckedSystem, ingested: list[PlantedFact], asked: list[PlantedFact]
) -> dict[str, Observation]:
    memory.ingest_facts(subject.facts.day, *ingested)
    return {fact.word: memory.ask(fact.question) for fact in asked}


def _equal(subject: CheckedSystem, one: Observation, other: Observation, facts: list[PlantedFact]) -> bool:
    """Whether two replies are equal. If the system is not deterministic: whether they show the same facts."""
    if subject.deterministic:
        return one.same_as(other)
    return all(one.shows(fact.word) == other.shows(fact.word) for fact in facts)
