"""Signs of a broken run in a file of answers. They say what to look at, not what happened."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping

from memeval.benchmarks.formats.mapped_rows import MappedRow
from memeval.claims.matching import Slot
from memeval.records.regraded import Sign

COLLAPSED_BELOW = 0.5
"""A cluster is collapsed if its share of right answers is below this part of the others' share..."""

COLLAPSED_ROWS = 20
"""...and it has at least this many rows."""

COLLAPSED_OTHERS = 0.2
"""...and the others have at least this share, so that chance does not explain the difference."""

LIMITS = {"late year": 0.02, "same answer": 0.05, "empty": 0.01, "cut": 0.05, "error text": 0.005, "evidence id": 0.01}
"""Shares of the rows above which a sign is flagged."""

ERROR_LONGEST = 400
"""An error message in place of an answer is at most this long, in characters. Longer answers may be about errors."""

SAME_AT_LEAST = 3
"""An answer is repeated if this many questions with different reference answers have it."""

CUT_AT_LEAST = 20
"""Answers count as cut if this many end at the same, greatest length, without a full stop."""

_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_ERROR = re.compile(
    r"\b(?:traceback|exception|internal server error|rate limit|http error|status code [45]\d\d)\b", re.I
)
_EVIDENCE_ID = re.compile(r"\banswer_[0-9a-f]{6,}")
_ABSTAINS = re.compile(r"\b(?:no|not|don't|doesn't|cannot|unknown|none|unable)\b", re.I)


def signs_of(
    rows: Mapping[Slot, MappedRow], scenarios: Mapping[str, str], last_years: Mapping[str, int]
) -> tuple[Sign, ...]:
    """Return what was looked for in the rows, and how often it was found.

    ``scenarios``: the scenario of each item. ``last_years``: the year of the last session, by scenario; scenarios
    without dates are left out.
    """
    answers = {slot: row.answer for slot, row in rows.items() if row.answer is not None}
    found = [*_collapsed(rows, scenarios)]
    if answers:
        found += [
            _counted("empty", answers, lambda text: not text.strip()),
            _counted("error text", answers, lambda text: len(text) <= ERROR_LONGEST and bool(_ERROR.search(text))),
            _counted("evidence id", answers, lambda text: bool(_EVIDENCE_ID.search(text))),
            _late(answers, scenarios, last_years),
            _same(answers, rows),
            _cut(answers),
        ]
    return tuple(found)


def _counted(kind: str, answers: Mapping[Slot, str], shows: Callable[[str], bool]) -> Sign:
    return _sign(kind, sum(map(shows, answers.values())), len(answers))


def _sign(kind: str, count: int, rows: int, detail: str = "") -> Sign:
    return Sign(kind=kind, count=count, rows=rows, flagged=count > LIMITS[kind] * rows, detail=detail)


def _collapsed(rows: Mapping[Slot, MappedRow], scenarios: Mapping[str, str]) -> list[Sign]:
    """Compare each conversation's share of right answers, by the file's first judge, with that of all others."""
    by_scenario: dict[str, list[bool]] = defaultdict(list)
    for (item, _trial), row in rows.items():
        verdict = next(iter(row.verdicts.values()), None)
        if verdict is not None:
            by_scenario[scenarios[item]].append(verdict)
    if len(by_scenario) < 2 or min(map(len, by_scenario.values())) < COLLAPSED_ROWS:
        return []
    right, total = sum(map(sum, by_scenario.values())), sum(map(len, by_scenario.values()))
    low, count = [], 0
    for name, verdicts in by_scenario.items():
        share, others = sum(verdicts) / len(verdicts), (right - sum(verdicts)) / (total - len(verdicts))
        if others >= COLLAPSED_OTHERS and share < COLLAPSED_BELOW * others:
            low.append(f"{name}: {share:.0%}, others {others:.0%}")
            count += len(verdicts)
    return [Sign(kind="collapsed conversation", count=count, rows=total, flagged=bool(low), detail="; ".join(low))]


def _late(answers: Mapping[Slot, str], scenarios: Mapping[str, str], last_years: Mapping[str, int]) -> Sign:
    """Count answers that name a year after the conversation, but not after the reference answer's."""
    late: Counter[str] = Counter()
    dated = count = 0
    for (item, _trial), text in answers.items():
        last = last_years.get(scenarios[item])
        if last is None:
            continue
        dated += 1
        years = {year for year in _YEAR.findall(text) if last < int(year) <= last + 10}
        if years:
            count += 1
            late.update(years)
    return _sign("late year", count, dated or 1, ", ".join(f"{year}: {times}" for year, times in late.most_common(3)))


def _same(answers: Mapping[Slot, str], rows: Mapping[Slot, MappedRow]) -> Sign:
    """Count rows whose answer several questions share; short answers and abstentions are often equal."""
    golds: dict[str, set[str]] = defaultdict(set)
    for slot, text in answers.items():
        golds[text.strip()].add(rows[slot].gold or slot[0])
    repeated = {
        text
        for text, others in golds.items()
        if len(others) >= SAME_AT_LEAST and len(text.split()) > 3 and not _ABSTAINS.search(text)
    }
    return _sign("same answer", sum(text.strip() in repeated for text in answers.values()), len(answers))


def _cut(answers: Mapping[Slot, str]) -> Sign:
    """Count answers of the greatest length, if many have it and do not end a sentence."""
    lengths: Counter[int] = Counter(len(text) for text in answers.values() if _unfinished(text))
    longest = max(map(len, answers.values()))
    count = lengths[longest] if lengths[longest] >= CUT_AT_LEAST else 0
    return _sign("cut", count, len(answers), f"at {longest} characters" if count else "")


def _unfinished(text: str) -> bool:
    return text.rstrip()[-1:] not in (".", "!", "?", '"', ")", "*", "]")
