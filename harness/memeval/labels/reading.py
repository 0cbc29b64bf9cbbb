"""Reads the labels that readers wrote, and finds the final label of each row."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from memeval.benchmarks.formats.reading import AnswerFile
from memeval.benchmarks.formats.simple import table_rows
from memeval.records.errors import BadInput
from memeval.records.label import AnswerLabel, LabelReason, Reading, ReadLabel, SampleRow

COLUMNS = ("label_id", "label", "reason", "doubt")

REASONS: Mapping[AnswerLabel, frozenset[LabelReason]] = {
    AnswerLabel.RIGHT: frozenset({LabelReason.SAME, LabelReason.MORE}),
    AnswerLabel.IMPRECISE: frozenset({LabelReason.PART, LabelReason.VAGUE, LabelReason.NEAR, LabelReason.MIXED}),
    AnswerLabel.WRONG: frozenset({LabelReason.OTHER, LabelReason.NONE}),
}


def read_labels(paths: Iterable[Path], rows: Sequence[SampleRow], others: frozenset[str]) -> list[ReadLabel]:
    """Read files of labels, one row for each answer of a sample.

    Returns: The labels, by label id. Raises BadInput: a file cannot be read; a label or a reason is unknown, or they do
    not go together; a row is repeated, or belongs to no sample; or there is no row of the sample.
    """
    wanted = {row.label_id for row in rows}
    found: dict[str, ReadLabel] = {}
    for path in paths:
        for where, cells in _table(path):
            label_id = cells["label_id"]
            if label_id in others and label_id not in wanted:
                continue
            if label_id not in wanted:
                raise BadInput(
                    f"'{label_id[:40]}' is no row of a sample.",
                    where=where,
                    remedy="Label the rows of a reading sheet.",
                )
            if label_id in found:
                raise BadInput(f"'{label_id}' is labelled twice.", where=where, remedy="Keep one line for each row.")
            found[label_id] = _label(cells, where)
    if not found:
        raise BadInput("the files have no row of this sample.", remedy="Name the files of its readers.")
    return [found[label_id] for label_id in sorted(found)]


def _table(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    for where, cells in table_rows(AnswerFile.open(path).data, path, COLUMNS[0]):
        if tuple(cells) != COLUMNS:
            raise BadInput(f"the first line must be {','.join(COLUMNS)}.", where=path)
        yield where, cells


def _label(cells: Mapping[str, str], where: str) -> ReadLabel:
    try:
        label, reason = AnswerLabel(cells["label"].strip()), LabelReason(cells["reason"].strip())
    except ValueError as error:
        known = ", ".join([*AnswerLabel, *LabelReason])
        raise BadInput(f"{error}.", where=where, remedy=f"Labels and reasons: {known}.") from None
    if reason not in REASONS[label]:
        raise BadInput(
            f"the reason '{reason}' does not belong to the label '{label}'.",
            where=where,
            remedy=f"Its reasons: {', '.join(sorted(REASONS[label]))}.",
        )
    doubt = cells["doubt"].strip()
    if doubt not in ("", "doubt"):
        raise BadInput("the last cell must be empty or 'doubt'.", where=where)
    return ReadLabel(label_id=cells["label_id"], label=label, reason=reason, doubt=bool(doubt))


def final_labels(readings: Iterable[tuple[Reading, Sequence[ReadLabel]]]) -> dict[str, AnswerLabel]:
    """Return the final label of each row that has one, by label id.

    It is the label of the reader who decides, or else the label that all of at least two readers give.
    """
    decided: dict[str, AnswerLabel] = {}
    given: dict[str, list[AnswerLabel]] = defaultdict(list)
    for reading, labels in readings:
        for each in labels:
            if reading.decides:
                decided[each.label_id] = each.label
            else:
                given[each.label_id].append(each.label)
    agreed = {label_id: labels[0] for label_id, labels in given.items() if len(labels) > 1 and len({*labels}) == 1}
    return agreed | decided
