"""Finds the item of each published row, by id, or by question and reference answer in order."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memeval.benchmarks.formats.mapped_rows import MappedRow
from memeval.benchmarks.session import BenchmarkSession
from memeval.keys import ItemKey, ReferenceKey

UNKNOWN_ID = "no question has this id"
UNKNOWN_TEXT = "no question has this text"
UNKNOWN_SCENARIO = "no conversation has this id or number"
AMBIGUOUS = "several questions fit"
REPEATED = "repeats an earlier row"
NOT_PLANNED = "not in this tier"
BROKEN = "not a JSON object"
"""Reasons why a row has no item."""

Slot = tuple[str, int]
"""Item id and trial."""


@dataclass
class Matched:
    """The rows of a file by item."""

    rows: dict[Slot, MappedRow] = field(default_factory=dict)
    """The matched rows, in the order of the file."""
    unmatched: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Numbers of the other rows, by reason."""
    gold_differs: list[int] = field(default_factory=list)
    text_differs: list[int] = field(default_factory=list)


class Matcher:
    """Matches rows to the items of a benchmark."""

    def __init__(self, session: BenchmarkSession) -> None:
        self._planned = {key.item_id for key in session.keys}
        self._keys: dict[str, ItemKey] = {}
        self._texts: dict[str, str] = {}
        self._scenarios = tuple(session.dataset.scenario_ids())
        self._by_text: dict[str, list[str]] = defaultdict(list)
        texts = {
            ask.question_id: ask.question for name in self._scenarios for ask in session.scenarios[name].questions()
        }
        for key in session.dataset.answer_keys():
            text = texts[key.question_ids[0]].strip()
            self._keys[key.item_id], self._texts[key.item_id] = key, text
            self._by_text[text].append(key.item_id)

    def match(self, rows: Iterable[MappedRow]) -> Matched:
        """Return the rows by item and trial; every other row is counted under a reason."""
        found, waiting = Matched(), []
        for row in rows:
            if row.broken:
                found.unmatched[BROKEN].append(row.place)
            elif row.item is None:
                waiting.append(row)
            elif row.item not in self._keys:
                found.unmatched[UNKNOWN_ID].append(row.place)
            else:
                if row.question is not None and row.question.strip() != self._texts[row.item]:
                    found.text_differs.append(row.place)
                self._settle(found, row, row.item)
        self._by_content(found, waiting)
        for places in (*found.unmatched.values(), found.gold_differs, found.text_differs):
            places.sort()
        return found

    def _by_content(self, found: Matched, rows: Sequence[MappedRow]) -> None:
        """Match rows without an id. Rows that fit exactly come first, so that no other row takes their item."""
        open_rows = []
        for row in rows:
            choice = self._candidates(row)
            if isinstance(choice, str):
                found.unmatched[choice].append(row.place)
            else:
                open_rows.append((row, choice))
        for exact in (True, False):
            rest = []
            for row, candidates in open_rows:
                fitting = [each for each in candidates if self._has_gold(each, row.gold)] if exact else candidates
                free = [each for each in fitting if (each, row.trial) not in found.rows]
                if exact and (not fitting or (not free and len(candidates) > len(fitting))):
                    rest.append((row, candidates))
                elif not free:
                    found.unmatched[REPEATED].append(row.place)
                elif not exact and len(free) > 1 and len({self._keys[each].scenario_id for each in free}) > 1:
                    found.unmatched[AMBIGUOUS].append(row.place)
                else:
                    planned = [each for each in free if each in self._planned]
                    self._settle(found, row, (planned or free)[0])
            open_rows = rest

    def _candidates(self, row: MappedRow) -> list[str] | str:
        """Return the items with the row's question, or why there are none."""
        candidates = self._by_text.get((row.question or "").strip(), [])
        if row.scenario is not None:
            scenario = self._scenario(row.scenario)
            if scenario is None:
                return UNKNOWN_SCENARIO
            candidates = [each for each in candidates if self._keys[each].scenario_id == scenario]
        return candidates or UNKNOWN_TEXT

    def _scenario(self, named: str) -> str | None:
        if named in self._scenarios:
            return named
        return self._scenarios[int(named)] if named.isdecimal() and int(named) < len(self._scenarios) else None

    def _has_gold(self, item: str, gold: str | None) -> bool:
        key = self._keys[item].key
        return gold is None or (isinstance(key, ReferenceKey) and key.expected.strip() == gold.strip())

    def _has_answer(self, item: str) -> bool:
        key = self._keys[item].key
        return isinstance(key, ReferenceKey) and bool(key.expected.strip())

    def _settle(self, found: Matched, row: MappedRow, item: str) -> None:
        if (item, row.trial) in found.rows:
            found.unmatched[REPEATED].append(row.place)
        elif item not in self._planned:
            found.unmatched[NOT_PLANNED].append(row.place)
        else:
            found.rows[item, row.trial] = row
            if row.gold is not None and self._has_answer(item) and not self._has_gold(item, row.gold):
                found.gold_differs.append(row.place)


_FILLED = ("answer", "seconds", "prompt_tokens", "completion_tokens", "cost_usd")
"""Fields of a row that a second file may fill."""


def merged(first: Mapping[Slot, MappedRow], other: Mapping[Slot, MappedRow]) -> dict[Slot, MappedRow]:
    """Add the fields of a second file to the rows of the first; rows of the second alone are left out."""
    together = dict(first)
    for slot in first.keys() & other.keys():
        row, extra = first[slot], other[slot]
        filled: dict[str, Any] = {name: getattr(extra, name) for name in _FILLED if getattr(row, name) is None}
        verdicts, scores = {**row.verdicts, **extra.verdicts}, {**row.scores, **extra.scores}
        together[slot] = replace(row, verdicts=verdicts, scores=scores, **filled)
    return together
