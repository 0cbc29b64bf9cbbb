"""Draws a stratified random sample of published answers for readers."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from memeval.claims.figures import majority
from memeval.claims.matching import Slot
from memeval.claims.store import file_name
from memeval.records.errors import BadInput
from memeval.records.label import LabelSample, SampleRow, Stratum
from memeval.records.regraded import RegradedFile, RegradedRow

Cell = tuple[bool, bool]

CELLS: tuple[Cell, ...] = ((True, True), (True, False), (False, True), (False, False))
"""All pairs of verdicts: both right, right by the judge only, right by the rules only, both wrong."""

Graded = tuple[RegradedFile, Sequence[RegradedRow], Mapping[Slot, str]]


def draw(files: Iterable[Graded], wanted: Mapping[Cell, int], seed: int) -> tuple[list[Stratum], list[SampleRow]]:
    """Draw rows from every file, category and pair of verdicts.

    The rows of a stratum are put in the order of a digest of seed and row, and the first ones are drawn: a simple
    random sample that anyone can draw again. ``wanted``: rows of each category of each file, by the verdicts of judge
    and rules. A smaller stratum is drawn whole.
    Returns: The strata that have rows, and the drawn rows by label id.
    Raises BadInput: a file has no verdicts of a judge or of the rules.
    """
    strata, drawn = [], []
    for file, rows, answers in files:
        name = file_name(file)
        members = _strata(rows)
        if not members:
            raise BadInput(
                "no row has a verdict of a judge and of the rules.", where=name, remedy="Choose another file."
            )
        for (category, judged, ruled), each in sorted(members.items()):
            chosen = _first(each, wanted.get((judged, ruled), 0), seed, name)
            strata.append(
                Stratum(file=name, category=category, judge=judged, rules=ruled, rows=len(each), drawn=len(chosen))
            )
            share = len(chosen) / len(each)
            drawn += [_row(label_id(seed, name, row), name, row, judged, share, answers) for row in chosen]
    return strata, sorted(drawn, key=lambda row: row.label_id)


def drawn_cells(
    name: str, rows: Sequence[RegradedRow], sample: LabelSample
) -> Iterator[tuple[RegradedRow, bool, float]]:
    """Draw the rows of a file again, as a stored sample says.

    Yields: Each row with the verdict of the judge in the file, and its probability of being drawn.
    """
    members = _strata(rows)
    for stratum in sample.strata:
        if stratum.file == name:
            each = members.get((stratum.category, stratum.judge, stratum.rules), [])
            for row in _first(each, stratum.drawn, sample.seed, name):
                yield row, stratum.judge, stratum.drawn / len(each)


def _strata(rows: Sequence[RegradedRow]) -> dict[tuple[str, bool, bool], list[RegradedRow]]:
    members: dict[tuple[str, bool, bool], list[RegradedRow]] = defaultdict(list)
    for row in rows:
        judged = majority(row) if len(row.verdicts) > 1 else next(iter(row.verdicts.values()), None)
        if judged is not None and row.verdict is not None and row.answer_digest is not None:
            members[row.category, judged, row.verdict].append(row)
    return members


def _first(rows: Sequence[RegradedRow], number: int, seed: int, name: str) -> list[RegradedRow]:
    return sorted(rows, key=lambda row: _order(seed, name, row))[:number]


def label_id(seed: int, name: str, row: RegradedRow | SampleRow) -> str:
    """Return the id of a drawn row, which follows from the seed, the file and the row."""
    return _order(seed, name, row)[:12]


def _order(seed: int, name: str, row: RegradedRow | SampleRow) -> str:
    return hashlib.sha256(f"{seed}\n{name}\n{row.item_id}\n{row.trial}".encode()).hexdigest()


def _row(
    own_id: str, name: str, row: RegradedRow, judged: bool, share: float, answers: Mapping[Slot, str]
) -> SampleRow:
    if row.verdict is None or row.answer_digest is None:
        raise ValueError("a row without verdict or answer was drawn")
    return SampleRow(
        label_id=own_id,
        file=name,
        item_id=row.item_id,
        trial=row.trial,
        category=row.category,
        cluster=row.cluster,
        answer_digest=row.answer_digest,
        words=len(answers[row.item_id, row.trial].split()),
        judge=judged,
        rules=row.verdict,
        probability=share,
    )


def shuffled(rows: Iterable[SampleRow], order: str) -> list[SampleRow]:
    return sorted(rows, key=lambda row: hashlib.sha256(f"{order}\n{row.label_id}".encode()).hexdigest())
