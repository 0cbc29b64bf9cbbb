"""A suite: its records, and reading it from YAML, with all problems and their lines in one error."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator

from memeval.benchmarks.yaml_nodes import (
    LONGEST_NAME,
    Date,
    Document,
    Name,
    Part,
    Place,
    Scalars,
    Text,
    Version,
    check_size,
    misfit,
)
from memeval.grading.recall import holds, moment, passes
from memeval.keys import Fact
from memeval.records.base import Digest, digest_bytes
from memeval.records.errors import BadInput, did_you_mean
from memeval.records.scenario import Recall, Reflect, Retain
from memeval.systems.channel import visible

MAIN = "main"
"""Bank of entries that name none. Calls to a system send no bank for it."""


@dataclass(frozen=True)
class RecallCase:
    step: Recall
    category: str | None
    absent: bool = False
    keywords: tuple[str, ...] = ()
    one_keyword: bool = False
    """Whether one keyword is enough."""
    relevant: tuple[str, ...] = ()
    """Ordinals of the relevant texts; empty if the correct result is empty or unknown."""
    min_score: float | None = None
    """Results with a lower score do not count."""

    @property
    def graded(self) -> bool:
        return self.absent or bool(self.relevant)


@dataclass(frozen=True)
class ReflectCase:
    step: Reflect
    category: str | None
    points: tuple[Fact, ...] = ()
    """Points that the answer should state, the central point first."""
    forbidden: tuple[Fact, ...] = ()

    @property
    def graded(self) -> bool:
        return bool(self.points or self.forbidden)


@dataclass(frozen=True)
class Suite:
    name: str
    version: str | int
    digest: Digest
    texts: tuple[Retain, ...]
    recalls: tuple[RecallCase, ...]
    reflects: tuple[ReflectCase, ...]
    warnings: tuple[str, ...]
    """Warnings for the author of the suite, as sentences."""


@dataclass(frozen=True)
class RelevantTexts:
    relevant: tuple[str, ...] = ()
    one_keyword: bool = False


MOST_RESULTS = 1000

RESULTS = 10


def _as_fact(value: object) -> object:
    return {"text": value, "phrases": [value]} if isinstance(value, str) else value


def _ordered(dates: list[str]) -> list[str]:
    if len(dates) != 2:
        raise misfit("must be two dates, start and end.")
    if moment(dates[0]) >= moment(dates[1]):
        raise misfit(f"starts at {dates[0]}, but ends at {dates[1]}. The end must be later.")
    return dates


def _in_range(results: int) -> int:
    if not 1 <= results <= MOST_RESULTS:
        raise misfit(f"must be from 1 to {MOST_RESULTS}.")
    return results


class _Fact(Part):
    text: Text
    phrases: list[Text] = []

    def fact(self) -> Fact:
        return Fact(text=self.text, phrases=tuple(self.phrases) or (self.text,))


class _Retain(Part):
    id: Name | None = None
    content: Text
    tags: list[Name] = []
    fact_type: Name | None = None
    metadata: Scalars = {}
    occurred_at: Date | None = None
    bank: Name = MAIN


class _Recall(Part):
    id: Name | None = None
    query: Text
    expected_contains: list[Text] = []
    expected_ids: list[Name] = []
    expected_absent: bool = False
    tags: list[Name] = []
    time_range: Annotated[list[Date], AfterValidator(_ordered)] | None = None
    bank: Name = MAIN
    category: Name | None = None
    max_results: Annotated[int, AfterValidator(_in_range)] = RESULTS
    query_time: Date | None = None
    min_score: float | None = None


class _Reflect(Part):
    id: Name | None = None
    query: Text
    expected_topics: list[Annotated[_Fact, BeforeValidator(_as_fact)]] = []
    forbidden: list[Annotated[_Fact, BeforeValidator(_as_fact)]] = []
    bank: Name = MAIN
    category: Name | None = None
    query_time: Date | None = None


class _Suite(Part):
    name: Name | None = None
    version: Version = 1
    retain: list[_Retain]
    recall: list[_Recall] = []
    reflect: list[_Reflect] = []


PARTS: dict[str, type[Part]] = {
    "the suite": _Suite,
    "retain": _Retain,
    "recall": _Recall,
    "reflect": _Reflect,
    "reflect: expected_topics": _Fact,
    "reflect: forbidden": _Fact,
}

ENDINGS = (".yaml", ".yml")


def read(path: Path, data: bytes | None = None, categories: Collection[str] | None = None) -> Suite:
    """Return a suite.

    Raises ``BadInput``: the file is unreadable or invalid. Lists all problems of its entries. ``path``: the file; its
    stem is the default name of the suite. ``categories``: the allowed categories, one of which each search must have;
    ``None`` for any.
    """
    if path.suffix not in ENDINGS:
        raise BadInput(f"not a YAML file: expected the suffix {' or '.join(ENDINGS)}.", where=path)
    if data is None:
        try:
            check_size(path, path.stat().st_size)
            data = path.read_bytes()
        except OSError as error:
            raise BadInput(f"cannot read the file ({error.strerror}).", where=path) from None
    document = Document(path, data)
    suite = document.fitted(_Suite, PARTS)
    if not suite.recall and not suite.reflect:
        raise BadInput("the suite has no questions. Add 'recall' or 'reflect'.", where=f"{path}:1")
    rules = _Rules(document, suite, categories)
    recalls = tuple(rules.recall(each, number) for number, each in enumerate(suite.recall))
    reflects = tuple(rules.reflect(each, number) for number, each in enumerate(suite.reflect))
    document.check()
    every: list[RecallCase | ReflectCase] = [*recalls, *reflects]
    warnings = tuple(
        f"{case.step.question_id}: no_ground_truth: it has no expected result and is not scored."
        for case in every
        if not case.graded
    )
    name = suite.name or path.stem[:LONGEST_NAME]
    return Suite(name, suite.version, digest_bytes(data), rules.texts, recalls, reflects, warnings)


class _Rules:
    """What must hold between the parts of a suite; what does not is added to the problems of the file."""

    def __init__(self, document: Document, suite: _Suite, categories: Collection[str] | None) -> None:
        self._document, self._categories = document, categories
        self._lines: dict[tuple[str, str], int] = {}
        self.texts = tuple(
            Retain(
                text_id=f"s{number:03}",
                content=each.content,
                occurred_at=each.occurred_at or "",
                bank=_bank(each.bank),
                tags=_tags(each.tags),
                fact_type=each.fact_type,
                metadata=each.metadata,
                source_id=self._id(("retain", number - 1), each.id, f"r{number}"),
            )
            for number, each in enumerate(suite.retain, 1)
        )
        self._by_id = {text.source_id: text for text in self.texts}
        self._banks = {text.bank for text in self.texts} or {None}

    def recall(self, case: _Recall, number: int) -> RecallCase:
        place: Place = ("recall", number)
        since, until = case.time_range or (None, None)
        step = Recall(
            question_id=self._id(place, case.id, f"q{number + 1}"),
            question=case.query,
            timestamp=case.query_time,
            k=case.max_results,
            bank=self._known_bank(place, case.bank),
            tags=_tags(case.tags),
            since=since,
            until=until,
        )
        if case.expected_absent and (case.expected_ids or case.expected_contains):
            self._document.add((*place, "expected_absent"), "conflicts with expected results. Keep one of them.")
        if self._categories is not None and case.category not in self._categories:
            self._document.add((*place, "category"), f"must be one of: {', '.join(self._categories)}.")
        found = self._relevant(place, step, dict.fromkeys(case.expected_ids), case.expected_contains)
        return RecallCase(
            step=step,
            category=case.category,
            absent=case.expected_absent,
            keywords=tuple(case.expected_contains),
            one_keyword=found.one_keyword,
            relevant=() if case.expected_absent else found.relevant,
            min_score=case.min_score,
        )

    def reflect(self, case: _Reflect, number: int) -> ReflectCase:
        place: Place = ("reflect", number)
        step = Reflect(
            question_id=self._id(place, case.id, f"f{number + 1}"),
            question=case.query,
            timestamp=case.query_time,
            bank=self._known_bank(place, case.bank),
        )
        points, forbidden = (tuple(each.fact() for each in part) for part in (case.expected_topics, case.forbidden))
        return ReflectCase(step, case.category, points, forbidden)

    def _id(self, place: Place, given: str | None, default: str) -> str:
        """Return the id of an entry, which no other text, or no other question, may have."""
        name, kind = given or default, "text" if place[0] == "retain" else "question"
        line = self._document.line(place)
        if self._lines.setdefault((kind, name), line) != line:
            self._document.add((*place, "id"), f"'{visible(name)}' is already used in line {self._lines[kind, name]}.")
        return name

    def _known_bank(self, place: Place, named: str) -> str | None:
        if _bank(named) not in self._banks:
            names = sorted(name or MAIN for name in self._banks)
            hint = did_you_mean(named, names, f"Choose one of: {', '.join(names)}.")
            self._document.add((*place, "bank"), f"names '{named}', a bank without texts. {hint}")
        return _bank(named)

    def _relevant(self, place: Place, asked: Recall, ids: Iterable[str], keywords: Sequence[str]) -> RelevantTexts:
        """Return the relevant texts of a search: those it names, else those that contain its keywords.

        Only texts in its bank that pass its filter count. They must contain all keywords; if none does, one keyword is
        enough. Adds a problem for each impossible id or keyword.
        """
        candidates = [text for text in self.texts if text.bank == asked.bank and passes(asked, text)]
        for keyword in keywords:
            if not any(holds(text.content, (keyword,), one=False) for text in candidates):
                sentence = f"has '{visible(keyword[:64])}', which no text for this search contains."
                self._document.add((*place, "expected_contains"), sentence)
        named = [text for name in ids if (text := self._named(place, name, asked)) is not None]
        every = [text for text in candidates if holds(text.content, keywords, one=False)]
        some = [text for text in candidates if holds(text.content, keywords, one=True)]
        relevant = named or every or some
        return RelevantTexts(tuple(text.text_id for text in relevant), one_keyword=bool(some and not every))

    def _named(self, place: Place, name: str, asked: Recall) -> Retain | None:
        text = self._by_id.get(name)
        problem = None
        if text is None:
            problem = f"names '{visible(name)}', which is not the id of a text. {did_you_mean(name, self._by_id)}"
        elif text.bank != asked.bank:
            problem = f"names '{name}', which is in the bank '{text.bank or MAIN}'."
        elif not passes(asked, text):
            problem = f"names '{name}', which does not pass the filter of this search."
        if problem is not None:
            self._document.add((*place, "expected_ids"), problem.rstrip())
        return text


def _bank(name: str) -> str | None:
    return None if name == MAIN else name


def _tags(names: Iterable[str]) -> tuple[str, ...] | None:
    return tuple(dict.fromkeys(names)) or None
