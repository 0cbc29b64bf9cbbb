"""Where samples of answers are stored: ``results/labels/<name>/``."""

from __future__ import annotations

import json
from pathlib import Path

from memeval.archive.rows import pack, read_rows
from memeval.claims.store import file_name, stored_regraded
from memeval.labels.worth import report
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from memeval.records.label import LabelReport, LabelSample, Reading, ReadLabel, RulesVerdicts, SampleRow
from memeval.removed import why_removed
from memeval.storage import listed, unwritable, write_whole

LABELS = "labels"
"""The folder of samples inside the results."""

VERDICTS = "verdicts"
"""The folder of verdicts of other rules than those of the draw, inside a sample's folder."""

SAMPLE, ROWS, GUIDE = "sample.json", "rows.jsonl.gz", "guide.md"
"""Files of a sample."""


def sample_folder(results: Path, name: str) -> Path:
    """Return where a sample is stored."""
    return results / LABELS / name


def write_sample(results: Path, sample: LabelSample, rows: list[SampleRow], guide: bytes) -> Path:
    """Store a sample with its rows and the readers' guide; return its folder.

    Raises:
        BadInput: there is another sample of this name, or the folder cannot be written.
    """
    folder = sample_folder(results, sample.name)
    if (folder / SAMPLE).exists():
        raise BadInput("there is a sample of this name.", where=folder, remedy="Choose another name.")
    text = json.dumps(sample.data(), sort_keys=True, ensure_ascii=False, indent=1)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / ROWS, pack(rows)[0])
        write_whole(folder / GUIDE, guide)
        write_whole(folder / SAMPLE, f"{text}\n".encode())
    except OSError as error:
        raise unwritable(folder, error) from None
    return folder


def stored_samples(results: Path) -> list[LabelSample]:
    """Return the stored samples, by name.

    Raises:
        BadInput: one is invalid.
    """
    return [sample_at(path) for path in listed(results / LABELS, f"*/{SAMPLE}")]


def sample_at(path: Path) -> LabelSample:
    """Return a stored sample.

    Raises:
        BadInput: it is invalid.
    """
    return LabelSample.parse(path.read_bytes(), path)


def sample_rows(results: Path, sample: LabelSample) -> list[SampleRow]:
    """Return the drawn rows of a sample.

    Raises:
        BadInput: they are missing, invalid, or do not match their digest.
    """
    path = sample_folder(results, sample.name) / ROWS
    rows = list(read_rows(path, SampleRow))
    if pack(rows)[1].digest != sample.rows_digest:
        raise BadInput("the rows do not match their digest.", where=path, remedy="Restore the file.")
    return rows


def guide_of(results: Path, sample: LabelSample) -> str:
    """Return the readers' guide of a sample.

    Raises:
        BadInput: it is missing, or does not match its digest.
    """
    path = sample_folder(results, sample.name) / GUIDE
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror}).", where=path, remedy="Restore the file.") from None
    if digest_bytes(data) != sample.guide_digest:
        raise BadInput("it is not the guide that readers followed.", where=path, remedy="Restore the file.")
    return data.decode()


def write_reading(results: Path, reading: Reading, labels: list[ReadLabel]) -> Path:
    """Store the labels of a reader; return the path of their head.

    Raises:
        BadInput: the reader is stored already, or the folder cannot be written.
    """
    path = sample_folder(results, reading.sample) / f"{reading.reader}.json"
    if reading.reader in (SAMPLE.removesuffix(".json"), ROWS.removesuffix(".jsonl.gz")) or path.exists():
        raise BadInput(f"the name '{reading.reader}' is taken.", where=path, remedy="Choose another name.")
    text = json.dumps(reading.data(), sort_keys=True, ensure_ascii=False, indent=1)
    try:
        write_whole(path.with_suffix(".jsonl.gz"), pack(labels)[0])
        write_whole(path, f"{text}\n".encode())
    except OSError as error:
        raise unwritable(path, error) from None
    return path


def stored_readings(results: Path, sample: LabelSample) -> list[tuple[Reading, list[ReadLabel]]]:
    """Return the readers of a sample and their labels, by name.

    Raises:
        BadInput: a file is missing or invalid, or labels do not match their digest.
    """
    found = []
    for path in listed(sample_folder(results, sample.name), "*.json"):
        if path.name == SAMPLE:
            continue
        reading = Reading.parse(path.read_bytes(), path)
        rows = path.with_suffix(".jsonl.gz")
        labels = list(read_rows(rows, ReadLabel))
        if pack(labels)[1].digest != reading.rows_digest:
            raise BadInput("the labels do not match their digest.", where=rows, remedy="Restore the file.")
        found.append((reading, labels))
    return found


def write_verdicts(results: Path, verdicts: RulesVerdicts) -> Path:
    """Store the verdicts of other rules than those of the draw, in place of earlier ones; return their path.

    Raises:
        BadInput: the folder cannot be written.
    """
    path = sample_folder(results, verdicts.sample) / VERDICTS / f"{verdicts.judge.replace('@', '-')}.json"
    text = json.dumps(verdicts.data(), sort_keys=True, ensure_ascii=False, indent=1)
    try:
        path.parent.mkdir(exist_ok=True)
        write_whole(path, f"{text}\n".encode())
    except OSError as error:
        raise unwritable(path, error) from None
    return path


def stored_verdicts(results: Path, sample: LabelSample) -> list[RulesVerdicts]:
    """Return the verdicts of other rules than those of the draw about a sample, by version.

    Raises:
        BadInput: a file is invalid.
    """
    paths = listed(sample_folder(results, sample.name) / VERDICTS, "*.json")
    return [RulesVerdicts.parse(path.read_bytes(), path) for path in paths]


def stored_reports(results: Path) -> list[LabelReport]:
    """Return what the labels of each stored sample say, by name. A sample without labels has no report.

    Raises:
        BadInput: a file is missing or invalid, or a regraded file changed after the draw. If the rules of the draw were
            removed, the files may have been graded again.
    """
    files = {file_name(file): file for file in stored_regraded(results)}
    found = []
    for sample in stored_samples(results):
        guide_of(results, sample)
        rows, readings = sample_rows(results, sample), stored_readings(results, sample)
        for name, digest in sample.files.items():
            if name not in files or (why_removed(sample.judge) is None and files[name].rows_digest != digest):
                raise BadInput(
                    f"the regraded file '{name}' is not the one that was drawn from.",
                    where=sample_folder(results, sample.name),
                    remedy="Restore it, or draw a new sample.",
                )
        made = report(sample, rows, readings, files, stored_verdicts(results, sample))
        if made.labelled:
            found.append(made)
    return found
