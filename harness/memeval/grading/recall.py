"""The grader of searches of a bank: what came up, by the ids of stored texts, against what should have.

Formulas are those of information retrieval (see :mod:`memeval.grading.ranking`); precision is over what was returned.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from memeval.grading.outcomes import first_failure
from memeval.grading.ranking import measures
from memeval.grading.rows import only, row
from memeval.judging.base import Case, Judge
from memeval.keys import ItemKey, RecallKey
from memeval.records.grade import Flag, Grade, GradeState
from memeval.records.response import Response, RetrievedItem
from memeval.records.scenario import Recall, Retain, Scenario

DEPTHS = (1, 3, 5, 10)
"""The ranks at which recall is told."""


def moment(date: str) -> datetime:
    """Return an ISO 8601 date, or date and time, as a moment: a day begins at midnight, and UTC goes without saying."""
    parsed = datetime.fromisoformat(date)
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def passes(asked: Recall, text: Retain) -> bool:
    """Return whether a text passes the tags and the times of a search: from ``since`` on, and before ``until``.

    A text without tags has none of those asked for, and one without a time lies in no range.
    """
    if asked.tags and not set(asked.tags) & set(text.tags or ()):
        return False
    if asked.since is None and asked.until is None:
        return True
    if not text.occurred_at:
        return False
    at = moment(text.occurred_at)
    return (asked.since is None or moment(asked.since) <= at) and (asked.until is None or at < moment(asked.until))


def holds(text: str, keywords: Sequence[str], *, one: bool) -> bool:
    """Return whether a text holds keywords, in any case and within words too: all of them, or where ``one``, any."""
    found = [keyword.casefold() in text.casefold() for keyword in keywords]
    return any(found) if one else bool(found) and all(found)


class TextIndex:
    """The texts that a scenario has a system retain.

    Args:
        scenario: the scenario, whole.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.texts = {step.text_id: step for step in scenario.steps if isinstance(step, Retain)}
        self.asked = {step.question_id: step for step in scenario.steps if isinstance(step, Recall)}
        self.banks = {text.bank for text in self.texts.values()}
        self._alike: dict[str, list[str]] = {}
        for name, text in self.texts.items():
            self._alike.setdefault(text.content, []).append(name)

    def first_alike(self, name: str) -> str:
        """Return the first text of the same words in the same bank; what is unknown stays as it is."""
        text = self.texts.get(name)
        if text is None:
            return name
        return next(other for other in self._alike[text.content] if self.texts[other].bank == text.bank)

    def named(self, place: int, item: RetrievedItem, asked: Recall) -> tuple[str, ...]:
        """Return the texts that an item is: that of its very words, else those that the system names.

        Where texts have the same words, it is the one that the system names, else one of the bank that was searched.
        What is unknown stays as it is, and what names nothing is a thing of its own.
        """
        told = [source.partition(":")[0] for source in item.source_ids]
        text = self.texts.get((item.turn_id or "").partition(":")[0])
        if text is None:
            return tuple(told) or (f"item {place}",)
        alike = self._alike[text.content]
        here = (name for name in alike if self.texts[name].bank == asked.bank)
        return (next((name for name in told if name in alike), None) or next(here, text.text_id),)


class TextIndexes:
    """Gives the shelf of a scenario, and keeps the last one: items of one scenario come in a row."""

    def __init__(self) -> None:
        self._last: TextIndex | None = None

    def of(self, scenario: Scenario) -> TextIndex:
        """Return the shelf of a scenario."""
        last = self._last
        if last is None or last.scenario is not scenario:
            self._last = last = TextIndex(scenario)
        return last


class Hits:
    """What a search brought up.

    Args:
        shelf: the stored texts.
        asked: the search.
        key: what it should bring up; hits below its ``min_score`` are left out.
        items: what came, best first.
    """

    def __init__(self, shelf: TextIndex, asked: Recall, key: RecallKey, items: Iterable[RetrievedItem]) -> None:
        low = key.min_score
        self.items = [item for item in items if low is None or item.score is None or item.score >= low]
        self.by_text = bool(self.items) and not any(item.source_ids or item.turn_id for item in self.items)
        """Whether the system names no texts at all, so that only words are left to go by."""
        self._shelf, self._asked, self._key = shelf, asked, key
        self._named = [shelf.named(place, item, asked) for place, item in enumerate(self.items)]
        self.names = tuple(dict.fromkeys(name for names in self._named for name in names))
        """The texts brought up, each once, at its best rank. An item that names several takes as many ranks."""

    def ranking(self, relevant: Sequence[str]) -> tuple[tuple[str, ...], frozenset[str]]:
        """Return what came up and what is relevant, with texts that say the same as one.

        Args:
            relevant: ordinals of the relevant texts.
        """
        one = {name: group[0] for group in self._key.alike for name in group}

        def of(name: str) -> str:
            first = self._shelf.first_alike(name)
            return one.get(first, first)

        gold = tuple(dict.fromkeys(map(of, relevant)))
        names = self._by_keywords(gold) if self.by_text else map(of, self.names)
        return tuple(dict.fromkeys(names)), frozenset(gold)

    def _by_keywords(self, gold: Sequence[str]) -> Iterator[str]:
        """Yield the items as relevant texts while they hold the keywords: as many as there are, and each words once."""
        left = iter(gold)
        seen: set[str | None] = set()
        for place, item in enumerate(self.items):
            if item.text not in seen:
                fits = holds(item.text or "", self._key.keywords, one=self._key.one_keyword)
                yield (next(left, None) if fits else None) or f"item {place}"
            seen.add(item.text)

    @property
    def leaks(self) -> int | None:
        """How many of the texts brought up do not pass the filter; ``None`` where there is none, or nothing to see."""
        asked = self._asked
        if not (asked.tags or asked.since or asked.until) or self.by_text:
            return None
        texts = (self._shelf.texts.get(name) for name in self.names)
        return sum(text is not None and not passes(asked, text) for text in texts)

    @property
    def strangers(self) -> int | None:
        """How many of them are of another bank; ``None`` where there is but one, or nothing to see."""
        if len(self._shelf.banks) < 2 or self.by_text:
            return None
        texts = (self._shelf.texts.get(name) for name in self.names)
        return sum(text is not None and text.bank != self._asked.bank for text in texts)

    @property
    def duplicates(self) -> int:
        """How many hits bring up words again: their own, or another stored text of the very same ones."""
        words: set[tuple[str | None, str | None]] = set()
        names: set[str] = set()
        count = 0
        for item, named in zip(self.items, self._named, strict=True):
            firsts = {self._shelf.first_alike(name) for name in named if name not in names}
            again = bool(firsts) and firsts <= {self._shelf.first_alike(name) for name in names}
            count += again or (item.turn_id, item.text) in words
            words.add((item.turn_id, item.text))
            names.update(named)
        return count


class Recalled:
    """Grades what a search of a bank brought up; no judge is asked."""

    name = "recall@1"

    def __init__(self) -> None:
        self._shelves = TextIndexes()

    def cases(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response]) -> Sequence[Case]:
        """Return nothing: no judge is asked; see :class:`memeval.grading.base.Grader`."""
        return ()

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        """Grade one search; see :class:`memeval.grading.base.Grader`.

        A search that should bring something up earns its nDCG at the number of items asked for, and nothing where
        a hit is of another bank, tag or time than asked for. One that should not earns its point where nothing comes.

        Raises:
            ValueError: the item is no search with a truth.
        """
        response, key = only(item, responses, self.name), item.key
        if not isinstance(key, RecallKey) or not key.graded or not (key.absent or item.evidence):
            raise ValueError(f"{item.item_id}: {self.name} grades searches that have a truth")
        if failure := first_failure(responses):
            state, reason = failure
            return row(item, self.name, state, verdict=None, reason=reason, answerable=False)
        shelf = self._shelves.of(scenario)
        asked = shelf.asked[item.question_ids[0]]
        hits = Hits(shelf, asked, key, response.items or ())
        credit, reason, metrics = _absent(hits) if key.absent else _present(hits, item.evidence or (), asked.k)
        leaks, strangers, found = hits.leaks, hits.strangers, len(hits.items)
        broken = [
            (Flag.FILTER_LEAK, f"{leaks} of {len(hits.names)} hits do not pass the filter.", leaks),
            (Flag.OTHER_BANK, f"{strangers} of {len(hits.names)} hits are of another bank.", strangers),
        ]
        said = [sentence for _, sentence, count in broken if count]
        return row(
            item,
            self.name,
            GradeState.GRADED,
            verdict=None,
            credit=0.0 if said else credit,
            reason=" ".join([*said, reason]),
            flags=tuple(flag for flag, _, count in broken if count),
            answerable=False,
            metrics={
                **metrics,
                "filter_leak_rate": None if leaks is None else leaks / len(hits.names) if hits.names else 0.0,
                "isolation_violations": strangers,
                "duplicate_rate": hits.duplicates / found if found else None,
                "by_text": float(hits.by_text),
            },
        )


def _absent(hits: Hits) -> tuple[float, str, dict[str, float | None]]:
    """Return what a search is worth that nothing answers, why, and its measures."""
    found = len(hits.items)
    reason = f"{found} came up, and nothing should." if found else "Nothing came up, and nothing should."
    return float(not found), reason, {"true_rejection": float(not found), "false_positive_hits": found}


def _present(hits: Hits, evidence: Sequence[str], k: int) -> tuple[float, str, dict[str, float | None]]:
    """Return what a search is worth that should bring something up, why, and its measures."""
    ranking, gold = hits.ranking(evidence)
    found = measures(ranking, gold, sorted({*DEPTHS, k, len(gold), max(len(ranking), 1)}))
    within = sum(name in gold for name in ranking)
    metrics: dict[str, float | None] = {
        "precision": within / len(ranking) if ranking else 0.0,
        "r_precision": found[f"precision@{len(gold)}"],
        "hit": float(within > 0),
        "mrr": found["mrr"],
        "ndcg": found[f"ndcg@{k}"],
        **{f"recall@{depth}": found[f"recall@{depth}"] for depth in DEPTHS},
    }
    reason = f"{within} of {len(gold)} relevant texts are among {len(ranking)}."
    return found[f"ndcg@{k}"], f"{reason} Relevance by text." if hits.by_text else reason, metrics


class Unlabelled:
    """Looks after questions that a suite asks without saying what is right: there is nothing to earn or to lose."""

    name = "unlabelled@1"

    def cases(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response]) -> Sequence[Case]:
        """Return nothing: no judge is asked; see :class:`memeval.grading.base.Grader`."""
        return ()

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        """Put the item on record; see :class:`memeval.grading.base.Grader`."""
        if failure := first_failure(responses):
            state, reason = failure
            settled = 0.0 if state is GradeState.EMPTY else None
            return row(item, self.name, state, verdict=None, credit=settled, reason=reason, answerable=False)
        reason = "The suite does not say what is right."
        return row(item, self.name, GradeState.GRADED, verdict=None, credit=0.0, reason=reason, answerable=False)
