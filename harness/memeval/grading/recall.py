"""The grader of searches of a bank: the returned texts, by id, against the relevant ones.

The formulas are those of :mod:`memeval.grading.evidence`; precision is over the returned texts.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from memeval.grading.base import Graded, ResponseGrader, RuleGrader, first_failure, row
from memeval.grading.evidence import measures
from memeval.judging.base import Judge
from memeval.keys import ItemKey, RecallKey
from memeval.records.grade import Flag, Grade, GradeState
from memeval.records.response import Response, RetrievedItem
from memeval.records.scenario import Recall, Retain, Scenario
from memeval.remembered import OfScenarios

DEPTHS = (1, 3, 5, 10)
"""The cut-off ranks of recall."""


def moment(date: str) -> datetime:
    """Parse an ISO 8601 date, with or without a time; the defaults are midnight and UTC."""
    parsed = datetime.fromisoformat(date)
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def passes(asked: Recall, text: Retain) -> bool:
    """Return whether a text passes the filter of a search: its tags, ``since`` (inclusive) and ``until`` (exclusive).

    A text without tags fails a filter by tags, and one without a time fails a filter by time.
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
    """Return whether a text contains keywords, in any case and also within words: all, or with ``one`` any."""
    found = [keyword.casefold() in text.casefold() for keyword in keywords]
    return any(found) if one else bool(found) and all(found)


class TextIndex:
    def __init__(self, scenario: Scenario) -> None:
        self.texts = {step.text_id: step for step in scenario.steps if isinstance(step, Retain)}
        self.asked = {step.question_id: step for step in scenario.steps if isinstance(step, Recall)}
        self.banks = {text.bank for text in self.texts.values()}
        self._alike: dict[str, list[str]] = {}
        for name, text in self.texts.items():
            self._alike.setdefault(text.content, []).append(name)

    def first_alike(self, name: str) -> str:
        """Return the first text with equal content in the same bank; unknown names are returned unchanged."""
        text = self.texts.get(name)
        if text is None:
            return name
        return next(other for other in self._alike[text.content] if self.texts[other].bank == text.bank)

    def named(self, position: int, item: RetrievedItem, asked: Recall) -> tuple[str, ...]:
        """Return the texts of an item: the one with equal content, else those named by the system.

        Of several texts with equal content, it is the one named by the system, else one of the searched bank. Unknown
        names are returned unchanged. An item without names gets a name of its own.
        """
        source_names = [source.partition(":")[0] for source in item.source_ids]
        text = self.texts.get((item.turn_id or "").partition(":")[0])
        if text is None:
            return tuple(source_names) or (f"item {position}",)
        alike = self._alike[text.content]
        same_bank = (name for name in alike if self.texts[name].bank == asked.bank)
        return (next((name for name in source_names if name in alike), None) or next(same_bank, text.text_id),)


text_index_of = OfScenarios(TextIndex)
"""Returns the text index of a scenario, the same for each run on it. Nobody may change it."""


class Hits:
    """The hits of a search.

    ``key``: its key; hits below its ``min_score`` are dropped.
    """

    def __init__(self, index: TextIndex, asked: Recall, key: RecallKey, items: Iterable[RetrievedItem]) -> None:
        low = key.min_score
        self.items = [item for item in items if low is None or item.score is None or item.score >= low]
        self.by_text = bool(self.items) and not any(item.source_ids or item.turn_id for item in self.items)
        """Whether the system names no texts, so that relevance is decided by keywords."""
        self._index, self._asked, self._key = index, asked, key
        self._named = [index.named(place, item, asked) for place, item in enumerate(self.items)]
        self.names = tuple(dict.fromkeys(name for names in self._named for name in names))
        """The returned texts, each once, at its best rank. An item with several texts takes as many ranks."""

    def ranking(self, relevant: Sequence[str]) -> tuple[tuple[str, ...], frozenset[str]]:
        one = {name: group[0] for group in self._key.alike for name in group}

        def of(name: str) -> str:
            first = self._index.first_alike(name)
            return one.get(first, first)

        gold = tuple(dict.fromkeys(map(of, relevant)))
        names = self._by_keywords(gold) if self.by_text else map(of, self.names)
        return tuple(dict.fromkeys(names)), frozenset(gold)

    def _by_keywords(self, gold: Sequence[str]) -> Iterator[str]:
        """Yield each distinct item; those with the keywords count as relevant texts, until all are used."""
        left = iter(gold)
        earlier_texts: set[str | None] = set()
        for position, item in enumerate(self.items):
            if item.text not in earlier_texts:
                fits = holds(item.text or "", self._key.keywords, one=self._key.one_keyword)
                yield (next(left, None) if fits else None) or f"item {position}"
            earlier_texts.add(item.text)

    @property
    def leaks(self) -> int | None:
        """Number of returned texts that fail the filter; ``None`` without a filter or without text names."""
        asked = self._asked
        if not (asked.tags or asked.since or asked.until) or self.by_text:
            return None
        texts = (self._index.texts.get(name) for name in self.names)
        return sum(text is not None and not passes(asked, text) for text in texts)

    @property
    def other_bank(self) -> int | None:
        """Number of returned texts of another bank; ``None`` with only one bank or without text names."""
        if len(self._index.banks) < 2 or self.by_text:
            return None
        texts = (self._index.texts.get(name) for name in self.names)
        return sum(text is not None and text.bank != self._asked.bank for text in texts)

    @property
    def duplicates(self) -> int:
        """Number of hits that repeat an earlier hit, or another stored text with equal content."""
        words: set[tuple[str | None, str | None]] = set()
        names: set[str] = set()
        count = 0
        for item, named in zip(self.items, self._named, strict=True):
            firsts = {self._index.first_alike(name) for name in named if name not in names}
            again = bool(firsts) and firsts <= {self._index.first_alike(name) for name in names}
            count += again or (item.turn_id, item.text) in words
            words.add((item.turn_id, item.text))
            names.update(named)
        return count


class Recalled(ResponseGrader):
    """Grades the hits of a search of a bank, without a judge."""

    name = "recall@1"
    grades_blank = False

    def graded(self, item: ItemKey, scenario: Scenario, response: Response) -> Graded:
        """Grade one search.

        The credit is nDCG at the requested number of items; it is 0 if a hit has another bank, tag or time than
        requested. A search without relevant texts gets 1 if it returns nothing, else 0. Raises ``ValueError``: the item
        is not a search with an expected result.
        """
        key = item.key
        if not isinstance(key, RecallKey) or not key.graded or not (key.absent or item.evidence):
            raise ValueError(f"{item.item_id}: {self.name} grades only searches with an expected result")
        index = text_index_of(scenario)
        asked = index.asked[item.question_ids[0]]
        hits = Hits(index, asked, key, response.items or ())
        credit, reason, metrics = _absent(hits) if key.absent else _present(hits, item.evidence or (), asked.k)
        leaks, other_bank, found = hits.leaks, hits.other_bank, len(hits.items)
        violations = [
            (Flag.FILTER_LEAK, f"{leaks} of {len(hits.names)} hits do not pass the filter.", leaks),
            (Flag.OTHER_BANK, f"{other_bank} of {len(hits.names)} hits are of another bank.", other_bank),
        ]
        sentences = [sentence for _, sentence, count in violations if count]
        return Graded(
            reason=" ".join([*sentences, reason]),
            credit=0.0 if sentences else credit,
            flags=tuple(flag for flag, _, count in violations if count),
            metrics={
                **metrics,
                "filter_leak_rate": None if leaks is None else leaks / len(hits.names) if hits.names else 0.0,
                "isolation_violations": other_bank,
                "duplicate_rate": hits.duplicates / found if found else None,
                "by_text": float(hits.by_text),
            },
        )


def _absent(hits: Hits) -> tuple[float, str, dict[str, float | None]]:
    """Return credit, reason and metrics of a search without relevant texts."""
    found = len(hits.items)
    reason = f"{found} came up, and nothing should." if found else "Nothing came up, and nothing should."
    return float(not found), reason, {"true_rejection": float(not found), "false_positive_hits": found}


def _present(hits: Hits, evidence: Sequence[str], k: int) -> tuple[float, str, dict[str, float | None]]:
    """Return credit, reason and metrics of a search with relevant texts."""
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


class Unlabelled(RuleGrader):
    """Records questions for which the suite names no expected result; they earn no credit."""

    name = "unlabelled@1"

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        """Record the item; see :class:`memeval.grading.base.Grader`."""
        if failure := first_failure(responses):
            state, reason = failure
            credit = 0.0 if state is GradeState.EMPTY else None
            return row(item, self.name, state, verdict=None, credit=credit, reason=reason, answerable=False)
        reason = "The suite does not say what is right."
        return row(item, self.name, GradeState.GRADED, verdict=None, credit=0.0, reason=reason, answerable=False)
