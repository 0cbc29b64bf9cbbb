"""Files that would stop a check or read too much: rows without end, pipes, names and heads without a limit."""

import gzip
import os
import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from memeval.archive.runs import RunFolder
from memeval.evaluation.verify.verification import checks_of_run
from memeval.records.errors import BadInput
from memeval.records.submission import Submission
from tests.support.forging import Forger, stored_run

SMALL = "astrocyte-basic/chroma"


@pytest.fixture(autouse=True)
def alarm() -> Iterator[None]:
    """End a check that waits for ever."""
    signal.alarm(60)
    yield
    signal.alarm(0)


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    stored = stored_run(SMALL)
    return RunFolder(Path(shutil.copytree(stored.path, tmp_path / SMALL / stored.path.name)))


def said(folder: RunFolder) -> str:
    return " ".join(str(finding) for check in checks_of_run(RunFolder(folder.path)) for finding in check.findings)


def test_a_file_with_more_rows_than_its_head_says_is_read_no_further(run: RunFolder) -> None:
    path = run.file("grades.jsonl")
    line = gzip.decompress(path.read_bytes()).splitlines(keepends=True)[0]
    with gzip.open(path, "wb", compresslevel=1) as stream:
        for _ in range(200):
            stream.write(line * 10_000)
    assert "has more than 20 rows, but run.json says 20." in said(run)


def test_a_head_that_states_more_rows_than_its_plan_can_have_is_refused_before_they_are_read(run: RunFolder) -> None:
    text = run.head_bytes.decode()
    stated = f'"digest": "{run.run.files["responses.jsonl"].digest}",\n   "rows": '
    assert f"{stated}20" in text
    (run.path / "run.json").write_text(text.replace(f"{stated}20", f"{stated}2000000"))
    assert "has 2,000,000 rows, but a run of 20 items has at most 24,000." in said(run)


@pytest.mark.parametrize("name", ["responses.jsonl.gz", "grades.jsonl.gz", "log.jsonl.gz", "run.json"])
def test_a_named_pipe_in_the_place_of_a_file_is_refused(run: RunFolder, name: str) -> None:
    (run.path / name).unlink()
    os.mkfifo(run.path / name)
    assert "is not a regular file" in said(run)


@pytest.mark.parametrize("name", ["responses.jsonl.gz", "grades.jsonl.gz", "run.json"])
def test_a_symlink_to_the_rows_of_another_run_is_refused(run: RunFolder, name: str, tmp_path: Path) -> None:
    (run.path / name).rename(tmp_path / name)
    (run.path / name).symlink_to(tmp_path / name)
    assert f"{run.path / name}: is a symlink." in said(run)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Acm\u0435 Memory", "Acme Memory"),
        ("\u0412\u041c25", "BM25"),
        ("\uff2dem0", "Mem0"),
        ("Mem\u200b0", "Mem0"),
        ("\u039deo", "Neo"),
    ],
)
def test_a_name_with_letters_that_look_like_others_is_refused(tmp_path: Path, name: str, other: str) -> None:
    forger = Forger.of(SMALL, tmp_path)
    forger.system["name"] = name
    with pytest.raises(
        BadInput, match=rf"system\.name'?: {re.escape(ascii(name))} looks like '{other}', but has other"
    ):
        forger.seal()
    with pytest.raises(ValueError, match=f"looks like '{other}'"):
        Submission(slug="acme", name=name, version="1")


@pytest.mark.parametrize(
    "name",
    [
        "\u03bcRAG",
        "\u041f\u0430\u043c\u044f\u0442\u044c",
        "\u8bb0\u5fc6",
        "Caf\u00e9\u2122",
        "Memory \U0001f469\u200d\U0001f469",
    ],
)
def test_an_honest_name_in_any_script_is_taken(name: str) -> None:
    assert Submission(slug="acme", name=name, version="1").name == name


@pytest.mark.parametrize(("field", "text"), [("name", "A" * 201), ("name", "Acme \u202eevil"), ("version", "1.0\n2.0")])
def test_a_name_without_a_limit_or_that_reverses_text_is_refused(tmp_path: Path, field: str, text: str) -> None:
    forger = Forger.of(SMALL, tmp_path)
    forger.system[field] = text
    with pytest.raises(BadInput, match=rf"system\.{field}"):
        forger.seal()


def test_a_submission_cannot_declare_more_memory_than_machines_have() -> None:
    with pytest.raises(ValueError, match="less than or equal to 65536"):
        Submission(slug="acme", name="Acme", version="1", resources={"memory_mb": 1_048_576})  # type: ignore[arg-type]
