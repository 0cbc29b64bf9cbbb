"""Where samples of answers are stored: ``results/labels/<name>/``."""

from __future__ import annotations

import json
from pathlib import Path

from memeval.archive.rows import pack, read_rows
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from memeval.records.label import LabelSample, SampleRow
from memeval.storage import listed, unwritable, write_whole

LABELS = "labels"
"""The folder of samples inside the results."""

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
    return [LabelSample.parse(path.read_bytes(), path) for path in listed(results / LABELS, f"*/{SAMPLE}")]


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
