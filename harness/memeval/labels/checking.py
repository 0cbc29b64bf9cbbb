"""Checks of stored labels, for ``memeval verify``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from memeval.claims.store import file_name, stored_regraded, stored_rows
from memeval.evaluation.verify.findings import Check, Finding
from memeval.labels.sampling import drawn_cells, label_id
from memeval.labels.store import LABELS, SAMPLE, guide_of, sample_at, sample_rows, stored_readings, stored_verdicts
from memeval.records.errors import BadInput
from memeval.records.label import LabelSample, SampleRow
from memeval.removed import why_removed
from memeval.storage import listed

REMEDY = "Restore the folder of the sample."


def label_checks(results: Path) -> Iterator[Check]:
    """Yield a check for each sample: it can be drawn again, and its labels are those of its readers.

    If the rules of the draw were removed, the strata cannot be made again, only checked against the drawn rows.

    Args:
        results: a folder of results. One without samples gets no check.
    """
    for path in listed(results / LABELS, f"*/{SAMPLE}"):
        removed = None
        try:
            sample = sample_at(path)
            removed = why_removed(sample.judge)
            problems = _problems(results, sample)
        except BadInput as error:
            problems = [error.problem]
        yield Check("labels", tuple(Finding(str(path), problem, REMEDY) for problem in problems), removed)


def _problems(results: Path, sample: LabelSample) -> list[str]:
    guide_of(results, sample)
    rows = sample_rows(results, sample)
    drawn = _redrawn if why_removed(sample.judge) is None else _as_drawn
    problems = list(drawn(results, sample, rows))
    ids = {row.label_id for row in rows}
    for reading, labels in stored_readings(results, sample):
        given = [each.label_id for each in labels]
        if reading.guide_digest != sample.guide_digest:
            problems.append(f"the reader '{reading.reader}' followed another guide.")
        if len(given) != reading.rows or len({*given}) != len(given) or not ids >= {*given}:
            problems.append(f"the labels of '{reading.reader}' are not those of the rows.")
    for verdicts in stored_verdicts(results, sample):
        accepted = verdicts.accepted
        if verdicts.rows_digest != sample.rows_digest or len({*accepted}) != len(accepted) or not ids >= {*accepted}:
            problems.append(f"the verdicts of {verdicts.judge} are not about the rows.")
    return problems


def _redrawn(results: Path, sample: LabelSample, rows: Sequence[SampleRow]) -> Iterator[str]:
    """Yield how the rows differ from those that are drawn again from the regraded files."""
    stored = {file_name(file): file for file in stored_regraded(results)}
    drawn = {(row.file, row.item_id, row.trial): row for row in rows}
    again = set()
    is_same = True
    for name, digest in sample.files.items():
        if name not in stored or stored[name].rows_digest != digest:
            is_same = False
            yield f"the regraded file '{name}' is not the one that was drawn from."
            continue
        for row, judged, probability in drawn_cells(name, stored_rows(results, stored[name]), sample):
            again.add((name, row.item_id, row.trial))
            found = drawn.get((name, row.item_id, row.trial))
            if found is None or (found.answer_digest, found.judge, found.rules, found.probability) != (
                row.answer_digest,
                judged,
                row.verdict,
                probability,
            ):
                is_same = False
                yield f"the row of '{row.item_id}' in '{name}' is not the drawn one."
    if is_same and again != drawn.keys():
        yield "it has rows that were not drawn."


def _as_drawn(results: Path, sample: LabelSample, rows: Sequence[SampleRow]) -> Iterator[str]:
    """Yield how the rows contradict the seed and the strata of the draw."""
    numbers = Counter((row.file, row.category, row.judge, row.rules) for row in rows)
    strata = {(each.file, each.category, each.judge, each.rules): each for each in sample.strata}
    if numbers != Counter({place: each.drawn for place, each in strata.items() if each.drawn}):
        yield "it has rows that were not drawn."
        return
    for row in rows:
        stratum = strata[row.file, row.category, row.judge, row.rules]
        if row.label_id != label_id(sample.seed, row.file, row) or row.probability != stratum.drawn / stratum.rows:
            yield f"the row of '{row.item_id}' in '{row.file}' is not the drawn one."
