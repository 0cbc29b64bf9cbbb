"""Counts a published file by its own verdicts and scores, where memeval does not have the benchmark's key.

Nothing is graded, and nothing is compared with a reference answer. An item is named by its id in the file; without one,
by a digest of its question, so that no word of the benchmark is stored.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable

from memeval.benchmarks.formats.mapped_rows import MappedRow
from memeval.claims.matching import BROKEN, REPEATED, Matched
from memeval.claims.signs import signs_of
from memeval.claims.summaries import Basis, MatchedFile, Regraded, row_counts, stored_file, stored_row
from memeval.records.errors import BadInput
from memeval.records.source import PublishedSource, SourceFile

LONGEST_NAME = 80
"""Maximum length of an id, a conversation or a category, in characters."""

DIGITS = 16
"""Hexadecimal digits of a question's digest."""

WHOLE = "all questions"
"""The category of rows whose file names none."""


class OwnItems:
    """Takes every row of a file as an answer to a question of its own."""

    def match(self, rows: Iterable[MappedRow]) -> Matched:
        """Return the rows by item and trial. A row that repeats an id is counted, and left out."""
        found, seen = Matched(), Counter[tuple[str, int]]()
        for row in rows:
            if row.broken:
                found.unmatched[BROKEN].append(row.place)
                continue
            item = row.item if row.item is not None else _own_id(row)
            seen[item, row.trial] += 1
            times = seen[item, row.trial]
            if row.item is None and times > 1:
                item = f"{item}-{times}"
            elif times > 1:
                found.unmatched[REPEATED].append(row.place)
                continue
            for name in (item, row.scenario, row.category):
                _refuse_text(name, row)
            found.rows[item, row.trial] = row
        return found


def _own_id(row: MappedRow) -> str:
    if row.question is None:
        return f"row-{row.place}"
    text = f"{row.scenario or ''}\n{row.category or ''}\n{row.question}"
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:DIGITS]


def _refuse_text(name: str | None, row: MappedRow) -> None:
    if name is not None and (len(name) > LONGEST_NAME or not name.isprintable()):
        raise BadInput(
            f"an id or category has more than {LONGEST_NAME} characters, or a control character.",
            where=row.where,
            remedy="Correct the mapping: ids and categories are stored, texts are not.",
        )


def counted_again(source: PublishedSource, file: SourceFile, found: MatchedFile) -> Regraded:
    """Return a file with the counts of its own values.

    Raises ``BadInput`` if it has more questions than the source states.
    """
    items = {item for item, _trial in found.rows}
    if file.planned is not None and len(items) > file.planned:
        raise BadInput(
            f"has {len(items):,} questions, and the source states {file.planned:,}.",
            where=file.parts[0].path,
            remedy="Correct 'planned' in the source, or its mapping.",
        )
    scenarios = {item: row.scenario or item for (item, _trial), row in found.rows.items()}
    by_trial: dict[int, list[tuple[str, MappedRow]]] = defaultdict(list)
    for (item, trial), row in found.rows.items():
        by_trial[trial].append((item, row))
    rows = [
        stored_row((item, trial), row.category or WHOLE, scenarios[item], row, None, {}, keep=False)
        for trial, answered in sorted(by_trial.items())
        for item, row in answered
    ]
    counts = row_counts(found.first, found.matched)
    return stored_file(source, file, Basis(tier=file.tier), rows, counts, signs_of(found.rows, scenarios, {}))
