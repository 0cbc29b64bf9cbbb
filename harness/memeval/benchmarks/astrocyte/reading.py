"""A suite: its records, and reading it from YAML, with all problems and their lines in one error."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from memeval.benchmarks.yaml_nodes import LONGEST_NAME, Entry, Problems, check_size, compose
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


class RelevanceRules:
    def __init__(self, texts: Sequence[Retain]) -> None:
        self._texts = texts
        self._by_id = {text.source_id: text for text in texts}
        self._banks = {text.bank for text in texts} or {None}

    def check_bank(self, entry: Entry, bank: str | None) -> None:
        if bank not in self._banks:
            names = sorted(name or MAIN for name in self._banks)
            hint = did_you_mean(bank or MAIN, names, f"Choose one of: {', '.join(names)}.")
            entry.problem("bank", f"names '{bank or MAIN}', a bank without texts. {hint}")

    def of(self, entry: Entry, asked: Recall, ids: Sequence[str], keywords: Sequence[str]) -> RelevantTexts:
        """Return the relevant texts of a search: those it names, else those that contain its keywords.

        Only texts in its bank that pass its filter count. They must contain all keywords; if none does, one keyword is
        enough. Adds a problem for each impossible id or keyword.
        """
        candidates = [text for text in self._texts if text.bank == asked.bank and passes(asked, text)]
        for keyword in keywords:
            if not any(holds(text.content, (keyword,), one=False) for text in candidates):
                sentence = f"has '{visible(keyword[:64])}', which no text for this search contains."
                entry.problem("expected_contains", sentence)
        named = [text for name in ids if (text := self._named(entry, name, asked)) is not None]
        every = [text for text in candidates if holds(text.content, keywords, one=False)]
        some = [text for text in candidates if holds(text.content, keywords, one=True)]
        relevant = named or every or some
        return RelevantTexts(tuple(text.text_id for text in relevant), one_keyword=bool(some and not every))

    def _named(self, entry: Entry, name: str, asked: Recall) -> Retain | None:
        text = self._by_id.get(name)
        if text is None:
            problem = f"names '{visible(name)}', which is not the id of a text. {did_you_mean(name, self._by_id)}"
            entry.problem("expected_ids", problem.rstrip())
        elif text.bank != asked.bank:
            entry.problem("expected_ids", f"names '{name}', which is in the bank '{text.bank or MAIN}'.")
        elif not passes(asked, text):
            entry.problem("expected_ids", f"names '{name}', which does not pass the filter of this search.")
        return text


ENDINGS = (".yaml", ".yml")

SUITE = ("name", "version", "retain", "recall", "reflect")
RETAIN = ("id", "content", "tags", "fact_type", "metadata", "occurred_at", "bank")
RECALL = (
    *("id", "query", "expected_contains", "expected_ids", "expected_absent", "tags", "time_range", "bank"),
    *("category", "max_results", "query_time", "min_score"),
)
REFLECT = ("id", "query", "expected_topics", "forbidden", "bank", "category", "query_time")
FACT = ("text", "phrases")

MOST_RESULTS = 1000

RESULTS = 10


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
    problems = Problems(path)
    root = Entry(compose(path, data), "the suite", SUITE, problems)
    root.needs("retain")
    texts = _texts(root)
    truth = RelevanceRules(texts)
    cases = _Cases(categories, truth)
    recalls = tuple(cases.recall(entry, place) for place, entry in enumerate(root.entries("recall", RECALL), 1))
    reflects = tuple(cases.reflect(entry, place) for place, entry in enumerate(root.entries("reflect", REFLECT), 1))
    if not recalls and not reflects:
        problems.add(root.line, "the suite has no questions. Add 'recall' or 'reflect'.")
    name = root.name("name", path.stem[:LONGEST_NAME])
    version = _version(root)
    problems.check()
    every: list[RecallCase | ReflectCase] = [*recalls, *reflects]
    warnings = tuple(
        f"{case.step.question_id}: no_ground_truth: it has no expected result and is not scored."
        for case in every
        if not case.graded
    )
    return Suite(name, version, digest_bytes(data), texts, recalls, reflects, warnings)


def _version(root: Entry) -> str | int:
    """Return the version of a suite, a number or a name; 1 by default."""
    found = root.scalar("version")
    if (found is None and "version" in root) or isinstance(found, bool | float):
        root.problem("version", "must be a whole number or text.")
    return found if isinstance(found, int | str) else 1


def _texts(root: Entry) -> tuple[Retain, ...]:
    line_of: dict[str, int] = {}
    texts = []
    for place, entry in enumerate(root.entries("retain", RETAIN), 1):
        entry.needs("content")
        name = entry.name("id", f"r{place}")
        _check_unique(entry, name, line_of)
        texts.append(
            Retain(
                text_id=f"s{place:03}",
                content=entry.text("content"),
                occurred_at=entry.date("occurred_at") or "",
                bank=_bank(entry),
                tags=entry.names("tags") or None,
                fact_type=entry.name("fact_type", "") or None,
                metadata=entry.scalars("metadata"),
                source_id=name,
            )
        )
    return tuple(texts)


class _Cases:
    def __init__(self, categories: Collection[str] | None, truth: RelevanceRules) -> None:
        self._categories, self._truth = categories, truth
        self._lines: dict[str, int] = {}

    def recall(self, entry: Entry, place: int) -> RecallCase:
        entry.needs("query")
        since, until = self._between(entry)
        k = entry.whole("max_results", RESULTS)
        if not 1 <= k <= MOST_RESULTS:
            entry.problem("max_results", f"is {k}; it must be from 1 to {MOST_RESULTS}.")
            k = RESULTS
        step = Recall(
            question_id=self._id(entry, f"q{place}"),
            question=entry.text("query"),
            timestamp=entry.date("query_time"),
            k=k,
            bank=_bank(entry),
            tags=entry.names("tags") or None,
            since=since,
            until=until,
        )
        absent = entry.truth("expected_absent")
        ids, keywords = entry.names("expected_ids"), entry.texts("expected_contains")
        if absent and (ids or keywords):
            entry.problem("expected_absent", "conflicts with expected results. Keep one of them.")
        self._truth.check_bank(entry, step.bank)
        found = self._truth.of(entry, step, ids, keywords)
        return RecallCase(
            step=step,
            category=self._category(entry),
            absent=absent,
            keywords=keywords,
            one_keyword=found.one_keyword,
            relevant=() if absent else found.relevant,
            min_score=entry.number("min_score"),
        )

    def reflect(self, entry: Entry, place: int) -> ReflectCase:
        entry.needs("query")
        step = Reflect(
            question_id=self._id(entry, f"f{place}"),
            question=entry.text("query"),
            timestamp=entry.date("query_time"),
            bank=_bank(entry),
        )
        self._truth.check_bank(entry, step.bank)
        points, forbidden = _facts(entry, "expected_topics"), _facts(entry, "forbidden")
        return ReflectCase(step, entry.name("category", "") or None, points, forbidden)

    def _id(self, entry: Entry, default: str) -> str:
        name = entry.name("id", default)
        _check_unique(entry, name, self._lines)
        return name

    def _category(self, entry: Entry) -> str | None:
        name = entry.name("category", "") or None
        if self._categories is not None and name not in self._categories:
            entry.problem("category", f"must be one of: {', '.join(self._categories)}.")
        return name

    def _between(self, entry: Entry) -> tuple[str | None, str | None]:
        """Return the time range of a search, with its start and without its end."""
        if "time_range" not in entry:
            return None, None
        dates = entry.dates("time_range")
        since, until = dates if len(dates) == 2 else (None, None)
        if len(dates) not in (0, 2):
            entry.problem("time_range", "must be two dates, start and end.")
        elif since is not None and until is not None and moment(since) >= moment(until):
            entry.problem("time_range", f"starts at {since}, but ends at {until}. The end must be later.")
        return since, until


def _bank(entry: Entry) -> str | None:
    name = entry.name("bank", MAIN)
    return None if name == MAIN else name


def _check_unique(entry: Entry, name: str, line_of: dict[str, int]) -> None:
    if name in line_of:
        entry.problem("id", f"'{visible(name)}' is already used in line {line_of[name]}.")
    line_of.setdefault(name, entry.line)


def _facts(entry: Entry, key: str) -> tuple[Fact, ...]:
    """Return points or claims: each a text, optionally with the phrases that state it."""
    found = []
    for each in entry.mixed(key, FACT):
        if isinstance(each, str):
            found.append(Fact(text=each, phrases=(each,)))
            continue
        each.needs("text")
        text = each.text("text")
        found.append(Fact(text=text, phrases=tuple(each.texts("phrases")) or (text,)))
    return tuple(found)
