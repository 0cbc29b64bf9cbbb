"""Controls that a benchmark of another package brings."""

import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from memeval.records.errors import BadInput
from memeval.records.run import SystemKind
from memeval.systems.controls import CONTROLS, all_controls, controls_of, table
from memeval.systems.process import SystemProcess
from memeval.systems.source import find_system, folder_source
from tests.systems.helpers import PATIENT, adapter, write

ADAPTER = """
from pathlib import Path

WORDS = Path(__file__).parent.parent / "words" / "known.txt"

class Cheat:
    def __init__(self):
        self.words = WORDS.read_text("utf-8")
    def reset(self): ...
    def ingest_session(self, session, timestamp): ...
    def query(self, question, timestamp="now"):
        return self.words
"""
TABLE = """
schema_version = 1
[[controls]]
slug = "cheat"
title = "Cheat"
calibrates = "Knows the answer."
file = "controls/cheat.py"
class_name = "Cheat"
readers = ["native"]
gains_in = "Everywhere."
reads = ["words/known.txt"]
[[controls]]
slug = "bm25"
title = "Another BM25"
calibrates = "Has a name that is taken."
file = "controls/cheat.py"
class_name = "Cheat"
readers = ["native"]
gains_in = "Nowhere."
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a benchmark of another package."""
    folder = tmp_path / "otherpackage" / "exams" / "first"
    for name, text in (("controls/cheat.py", ADAPTER), ("words/known.txt", "42"), ("controls.toml", TABLE)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    (tmp_path / "otherpackage" / "__init__.py").write_text("raise RuntimeError('imported')", "utf-8")
    entry = EntryPoint("exam@1", "otherpackage.exams.first:Exam", table.GROUP)
    monkeypatch.setattr(table, "entry_points", lambda group: [entry] if group == table.GROUP else [])
    monkeypatch.syspath_prepend(str(tmp_path))
    all_controls.cache_clear()
    yield folder
    all_controls.cache_clear()


def test_a_control_of_a_benchmark_is_found_without_an_import_and_is_for_that_benchmark_only(folder: Path) -> None:
    assert list(controls_of("exam@1")) == [*CONTROLS, "cheat"]
    assert list(controls_of("other@1")) == list(CONTROLS)
    assert "otherpackage" not in sys.modules
    assert find_system("cheat").kind is SystemKind.CONTROL


def test_a_name_that_is_taken_stays_with_its_owner(folder: Path) -> None:
    assert all_controls()["bm25"] is CONTROLS["bm25"]


def test_a_control_runs_with_the_files_that_it_reads(folder: Path) -> None:
    with SystemProcess(find_system("cheat").launch, PATIENT, print) as process:
        process.reset()
        assert process.ask("?").answer == "42"


def test_the_digest_covers_the_files_that_a_control_reads(folder: Path) -> None:
    before = find_system("cheat")
    (folder / "words" / "known.txt").write_text("43", "utf-8")
    assert find_system("cheat").submission_digest != before.submission_digest
    with pytest.raises(BadInput, match="was changed after it had been read"):
        SystemProcess(before.launch, PATIENT, print).start()


def test_a_submission_cannot_take_the_name_of_a_control(folder: Path, tmp_path: Path) -> None:
    mine = tmp_path / "cheat"
    mine.mkdir()
    write(mine, adapter("return question"))
    manifest = 'schema_version = 1\nslug = "cheat"\nname = "Cheat"\nversion = "1"\nauthors = ["A. Person"]\n'
    write(mine, manifest, "submission.toml")
    with pytest.raises(BadInput, match=r"submission.toml:2: 'cheat' is the name of a shipped control"):
        folder_source(mine)


def test_an_invalid_table_is_refused_with_its_line(folder: Path) -> None:
    (folder / "controls.toml").write_text("schema_version = 1\ncontrolls = []\n", "utf-8")
    all_controls.cache_clear()
    with pytest.raises(BadInput, match=r"controls.toml:2"):
        all_controls()


def test_a_control_without_its_file_is_refused_and_the_others_work(folder: Path) -> None:
    (folder / "words" / "known.txt").unlink()
    with pytest.raises(BadInput, match=r"known.txt: the control cheat of exam@1 has no such file. Add it"):
        find_system("cheat")
    assert find_system("bm25").kind is SystemKind.CONTROL
