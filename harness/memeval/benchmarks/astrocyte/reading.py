"""From a suite's YAML to a suite: every key looked at, and every problem told at once, with its line."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from memeval.benchmarks.astrocyte.suite import MAIN, RecallCase, ReflectCase, Suite
from memeval.benchmarks.astrocyte.truth import RelevanceRules
from memeval.benchmarks.yaml_nodes import LONGEST_NAME, Entry, Problems, check_size, compose
from memeval.grading.recall import moment
from memeval.keys import Fact
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from memeval.records.scenario import Recall, Reflect, Retain
from memeval.systems.output import visible

ENDINGS = (".yaml", ".yml")

SUITE = ("name", "version", "retain", "recall", "reflect")
RETAIN = ("id", "content", "tags", "fact_type", "metadata", "occurred_at", "bank")
RECALL = (
    *("id", "query", "expected_contains", "expected_ids", "expected_absent", "tags", "time_range", "bank"),
    *("category", "max_results", "query_time", "min_score"),
)
REFLECT = ("id", "query", "expected_topics", "forbidden", "bank", "category", "query_time")
FACT = ("text", "phrases")
"""The keys of a suite, and of what it lists."""

MOST_RESULTS = 1000
"""The most items that a search may ask for."""

RESULTS = 10
"""How many it asks for unless it says otherwise."""


def read(path: Path, data: bytes | None = None, categories: Collection[str] | None = None) -> Suite:
    """Return a suite.

    Args:
        path: the file; its stem is the suite's name where it has none.
        data: the file's bytes, where they are at hand.
        categories: where a case may count, and every one must; ``None`` where the suite names its own.

    Raises:
        BadInput: it cannot be read as a suite. Where what is wrong is in its entries, all of it is told.
    """
    if path.suffix not in ENDINGS:
        raise BadInput(f"a suite's file ends in {' or '.join(ENDINGS)}.", where=path)
    if data is None:
        try:
            check_size(path, path.stat().st_size)
            data = path.read_bytes()
        except OSError as error:
            raise BadInput(f"the suite cannot be read ({error.strerror}).", where=path) from None
    problems = Problems(path)
    root = Entry(compose(path, data), "the suite", SUITE, problems)
    root.needs("retain")
    texts = _texts(root, problems)
    truth = RelevanceRules(texts)
    cases = _Cases(categories, truth)
    recalls = tuple(cases.recall(entry, place) for place, entry in enumerate(root.entries("recall", RECALL), 1))
    reflects = tuple(cases.reflect(entry, place) for place, entry in enumerate(root.entries("reflect", REFLECT), 1))
    if not recalls and not reflects:
        problems.add(root.line, "the suite asks nothing: give it recall or reflect.")
    name = root.name("name", path.stem[:LONGEST_NAME])
    version = _version(root)
    problems.check()
    every: list[RecallCase | ReflectCase] = [*recalls, *reflects]
    warnings = tuple(
        f"{case.step.question_id}: no_ground_truth: it is asked, and has no part in the score."
        for case in every
        if not case.graded
    )
    return Suite(name, version, digest_bytes(data), texts, recalls, reflects, warnings)


def _version(root: Entry) -> str | int:
    """Return a suite's version, a number or a name; 1 unless said otherwise."""
    found = root.scalar("version")
    if (found is None and "version" in root) or isinstance(found, bool | float):
        root.problem("version", "takes a whole number or a text.")
    return found if isinstance(found, int | str) else 1


def _texts(root: Entry, problems: Problems) -> tuple[Retain, ...]:
    """Return what is to be retained, by ordinals."""
    seen: dict[str, int] = {}
    texts = []
    for place, entry in enumerate(root.entries("retain", RETAIN), 1):
        entry.needs("content")
        name = entry.name("id", f"r{place}")
        _once(entry, name, seen)
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
    """Reads cases against what is stored.

    Args:
        categories: where a case may count; ``None`` where the suite names its own.
        truth: what is stored.
    """

    def __init__(self, categories: Collection[str] | None, truth: RelevanceRules) -> None:
        self._categories, self._truth = categories, truth
        self._seen: dict[str, int] = {}

    def recall(self, entry: Entry, place: int) -> RecallCase:
        """Return a search."""
        entry.needs("query")
        since, until = self._between(entry)
        k = entry.whole("max_results", RESULTS)
        if not 1 <= k <= MOST_RESULTS:
            entry.problem("max_results", f"is {k}, and belongs between 1 and {MOST_RESULTS}.")
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
            entry.problem("expected_absent", "stands beside what is expected: it is one or the other.")
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
        """Return a question to reflect on."""
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
        _once(entry, name, self._seen)
        return name

    def _category(self, entry: Entry) -> str | None:
        name = entry.name("category", "") or None
        if self._categories is not None and name not in self._categories:
            entry.problem("category", f"is one of {', '.join(self._categories)}.")
        return name

    def _between(self, entry: Entry) -> tuple[str | None, str | None]:
        """Return the times between which a search looks; the first is within, the last is not."""
        if "time_range" not in entry:
            return None, None
        dates = entry.dates("time_range")
        since, until = dates if len(dates) == 2 else (None, None)
        if len(dates) not in (0, 2):
            entry.problem("time_range", "takes two dates: from when on, and before when.")
        elif since is not None and until is not None and moment(since) >= moment(until):
            entry.problem("time_range", f"begins at {since} and ends at {until}: nothing lies between.")
        return since, until


def _bank(entry: Entry) -> str | None:
    """Return the bank of an entry; ``None`` for the main one."""
    name = entry.name("bank", MAIN)
    return None if name == MAIN else name


def _once(entry: Entry, name: str, seen: dict[str, int]) -> None:
    """Note that an id stands for two entries."""
    if name in seen:
        entry.problem("id", f"is '{visible(name)}', as that of line {seen[name]} is.")
    seen.setdefault(name, entry.line)


def _facts(entry: Entry, key: str) -> tuple[Fact, ...]:
    """Return points or claims: each a text, or a text with the phrases that state it."""
    found = []
    for each in entry.mixed(key, FACT):
        if isinstance(each, str):
            found.append(Fact(text=each, phrases=(each,)))
            continue
        each.needs("text")
        text, phrases = each.text("text"), each.texts("phrases")
        found.append(Fact(text=text, phrases=_some(phrases, text)))
    return tuple(found)


def _some(phrases: Sequence[str], text: str) -> tuple[str, ...]:
    return tuple(phrases) or (text,)
