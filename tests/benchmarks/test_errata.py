"""A file of errata is read strictly: what is wrong with it is said, and nothing waits for bytes that never come."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from memeval.benchmarks.errata import read_errata
from memeval.records.errors import BadInput

DATA = "a" * 64
ENTRY = {"id": "syn-1:0", "kind": "ambiguous", "action": "exclude", "note": "Made up."}
FILE = json.dumps({"dataset_sha256": DATA, "source": "these tests", "entries": [ENTRY]})


def test_a_file_of_errata_is_read(tmp_path: Path) -> None:
    (tmp_path / "errata.json").write_text(FILE)
    assert [entry.id for entry in read_errata(tmp_path / "errata.json", f"sha256:{DATA}").entries] == ["syn-1:0"]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "not valid JSON"),
        (FILE[:-9].encode(), "not valid JSON"),
        (gzip.compress(FILE.encode()), "not UTF-8 at byte 1."),
        (b"[" * 200_000, "nested too deeply"),
        (FILE.replace('"kind"', '"kind": "wrong_answer", "kind"').encode(), "the key 'kind' occurs twice"),
        (b"[]", "a table of names and values"),
        (FILE.replace(DATA, "b" * 64).encode(), "the errata are for other data"),
    ],
)
def test_what_is_no_file_of_errata_is_refused(tmp_path: Path, data: bytes, told: str) -> None:
    (tmp_path / "errata.json").write_bytes(data)
    with pytest.raises(BadInput, match=told):
        read_errata(tmp_path / "errata.json", f"sha256:{DATA}")


def test_a_pipe_and_a_folder_are_no_files_of_errata(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.raises(BadInput, match="this is not a file"):
            read_errata(path, f"sha256:{DATA}")
