"""Makes scenarios, which systems see, and answer keys, which they do not, from lists of facts."""

from collections.abc import Iterator, Mapping
from datetime import date, timedelta

from memeval.benchmarks.base import LoadedDataset
from memeval.benchmarks.factconsolidation.keys import FactConsolidationKey
from memeval.benchmarks.factconsolidation.released import FactFile, FactList, FactQuestion, matched
from memeval.keys import Fact, ItemKey
from memeval.records.benchmark import Erratum, ErratumKind
from memeval.records.errors import BadInput
from memeval.records.scenario import Ask, Ingest, Scenario, Session, Task, Turn

PER_SESSION = 10
"""Number of facts in a session."""

FIRST_DAY = date(2020, 1, 1)
"""Day of the first session. The source has no dates, so each session is a day, in order."""

MULTI_HOP, UPDATED, UNCHANGED = "multi-hop", "updated", "unchanged"

RULE = """\
Facts were given in order, and a later fact replaces an earlier one about the same thing. Answer by these facts alone, \
even where they are not true. Reply with the answer only."""
"""What the official prompt demands, in memeval's words; shown with the question where an answer is graded."""


class FactConsolidationDataset(LoadedDataset):
    """Lists of facts, each a scenario with all its questions at the end.

    ``answers``: whether questions state the rule by which they are answered.
    """

    def __init__(self, released: FactFile, *, answers: bool = False) -> None:
        self.digest = released.digest
        self.parameters = {}
        self._answers = answers
        self._lists = {each.size: each for each in released.lists}

    @property
    def names(self) -> Mapping[str, FactList]:
        return self._lists

    def keys_of(self, scenario_id: str) -> Iterator[ItemKey]:
        for hops, questions in self._lists[scenario_id].questions.items():
            for place, question in enumerate(questions):
                yield _item(self._lists[scenario_id], hops, place, question)

    def corrected(self, key: ItemKey, erratum: Erratum) -> ItemKey:
        """Return a key with the value of another fact as its answer.

        ``erratum``: a ``wrong_answer``, with the number of the right fact in the list ("1929"). Raises ``BadInput``:
        the entry names no fact about the same thing.
        """
        old = key.key_as(FactConsolidationKey, "an erratum")
        facts = self._lists[key.scenario_id].facts
        number = erratum.corrected if isinstance(erratum.corrected, str) else ""
        named = number.isdecimal() and len(number) < 8 and int(number) < len(facts)
        ordinal = ordinal_of(int(number)) if named else None
        if erratum.kind is not ErratumKind.WRONG_ANSWER or ordinal not in (old.newest, *old.stale):
            raise BadInput(
                f"the erratum of '{key.item_id}' names no fact about the same thing.",
                remedy="Give the number of the right fact, or use the action 'exclude'.",
            )
        values = (old.answer, *old.others)
        right = next(each for each in values if facts[int(number)].endswith(f" {each.text}."))
        others = tuple(each for each in values if each != right)
        return key.model_copy(update={"key": old.model_copy(update={"answer": right, "others": others})})

    def load(self, scenario_id: str) -> Scenario:
        facts = self._lists[scenario_id].facts
        sessions = tuple(
            _session(number, facts[start : start + PER_SESSION])
            for number, start in enumerate(range(0, len(facts), PER_SESSION))
        )
        asked_at = _day(len(sessions))
        asks = tuple(
            self._asked(f"{hops}-{scenario_id}:{place}", question.text, asked_at)
            for hops, questions in self._lists[scenario_id].questions.items()
            for place, question in enumerate(questions)
        )
        return Scenario(scenario_id=scenario_id, steps=(*sessions, *asks))

    def _asked(self, name: str, text: str, day: str) -> Ask | Task:
        if self._answers:
            return Task(question_id=name, question=f"{text}\n{RULE}", query=text, timestamp=day)
        return Ask(question_id=name, question=text, timestamp=day)


def ordinal_of(number: int) -> str:
    """Return the ordinal of a fact. ``number``: its number in the list, from 0."""
    return f"s{number // PER_SESSION + 1:03}:t{number % PER_SESSION + 1:02}"


def _day(number: int) -> str:
    return (FIRST_DAY + timedelta(days=number)).isoformat()


def _session(number: int, facts: tuple[str, ...]) -> Ingest:
    first = number * PER_SESSION
    turns = tuple(
        Turn(turn_id=ordinal_of(place), role="user", content=f"{place}. {fact}")
        for place, fact in enumerate(facts, first)
    )
    session = Session(session_id=f"s{number + 1:03}", date=_day(number), turns=turns)
    return Ingest(source_id=f"{first}-{first + len(facts) - 1}", session=session)


def _item(released: FactList, hops: str, place: int, question: FactQuestion) -> ItemKey:
    name = f"{hops}-{released.size}:{place}"
    key = FactConsolidationKey(answer=_fact(question.answer))
    category = MULTI_HOP
    if hops == "sh":
        key = _single(question, released)
        category = UPDATED if key.stale else UNCHANGED
    return ItemKey(
        item_id=name,
        scenario_id=released.size,
        question_ids=(name,),
        category=category,
        cluster=name,
        slices={"facts": released.size},
        evidence=None if key.newest is None else (key.newest.partition(":")[0],),
        key=key,
    )


def _single(question: FactQuestion, released: FactList) -> FactConsolidationKey:
    start = matched(question, released)
    if start is None:
        return FactConsolidationKey(answer=_fact(question.answer))
    values = {released.numbers[fact]: fact.removeprefix(start)[:-1] for fact in released.starting(start)}
    *stale, newest = values
    return FactConsolidationKey(
        answer=_fact(question.answer),
        others=tuple(_fact(value) for value in values.values() if value != question.answer),
        newest=ordinal_of(newest),
        stale=tuple(map(ordinal_of, stale)),
    )


def _fact(value: str) -> Fact:
    return Fact(text=value, phrases=(value,))
