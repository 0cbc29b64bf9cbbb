"""A run as a table: its columns, no text, and no spreadsheet formulas."""

import csv
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.archive.rows import FORMULA, neutral
from memeval.archive.runs import RunFolder
from memeval.benchmarks.session import BenchmarkSession
from memeval.exchange.table import FIXED, write_csv, write_parquet
from memeval.records.errors import BadInput
from memeval.records.track import Redistribution
from tests.exchange.exported import MISHAPS, WORDS, answered, benchmark_session, measured_exam, searched
from tests.support.products import PYARROW, run_with
from tests.support.runs import make_run, write_rows


def rows(run: RunFolder, asked: BenchmarkSession | None, folder: Path) -> list[dict[str, str]]:
    """Return a run's table as a reader of CSV has it."""
    (path,) = write_csv(run, asked, folder / "table.csv")
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_a_row_an_item_with_ids_states_and_sums(tmp_path: Path) -> None:
    run = answered(tmp_path, benchmark_session(3), MISHAPS)
    found = rows(run, benchmark_session(3), tmp_path)
    assert len(found) == 12
    right, blank, failed = found[:3]
    assert (right["item_id"], right["scenario_id"], right["question_ids"]) == (
        "tiny-000-q01",
        "tiny-000",
        "tiny-000:q01",
    )
    assert [(each["state"], each["outcome"], each["verdict"], each["worth"]) for each in (right, blank, failed)] == [
        ("graded", "ok", "true", "1.0"),
        ("empty", "empty", "false", "0.0"),
        ("adapter_error", "adapter_error", "", "0.0"),
    ]
    assert (right["category"], right["cluster"], right["slice.parity"]) == ("far", "person-0", "even")
    assert float(right["ask_seconds"]) > 0
    assert right["reported_tokens"] == "100.0"
    assert sum(float(each["worth"]) for each in found) == run.run.scores.overall.correct


def test_credits_metrics_and_rules_are_columns_and_unknown_values_are_blank(tmp_path: Path) -> None:
    far, near = rows(answered(tmp_path, measured_exam()), measured_exam(), tmp_path)[:2]
    assert (far["verdict"], far["credit"], far["metric.recall@5"], far["rule.generous"]) == ("", "0.25", "0.5", "0.75")
    assert (near["metric.recall@5"], near["rule.generous"]) == ("", "")


def test_no_words_are_in_it_whatever_may_be_published(tmp_path: Path) -> None:
    for redistribution in Redistribution:
        folder = tmp_path / redistribution.value
        folder.mkdir()
        asked = benchmark_session(redistribution=redistribution)
        run = searched(folder, asked)
        for given_exam in (None, asked):
            (path,) = write_csv(run, given_exam, folder / "table.csv")
            text = path.read_text(encoding="utf-8")
            assert not [word for word in WORDS if word in text]
            assert "s001:t01 s001:t02," in text


def test_items_without_responses_are_listed_as_skipped_if_the_data_is_available(tmp_path: Path) -> None:
    run = answered(tmp_path, benchmark_session(), limit=3)
    assert [each["state"] for each in rows(run, benchmark_session(), tmp_path)] == ["graded"] * 3 + ["skipped"]
    assert len(rows(run, None, tmp_path)) == 3


def test_a_run_of_nothing_is_a_table_of_columns(tmp_path: Path) -> None:
    (path,) = write_csv(make_run(tmp_path, "made-up", done=0), None, tmp_path / "table.csv")
    assert path.read_text(encoding="utf-8") == ",".join(FIXED) + "\n"


def test_only_the_last_attempt_counts_and_attempts_are_counted(tmp_path: Path) -> None:
    run = make_run(tmp_path, "made-up", done=1)
    (first,) = run.responses()
    again = first.model_copy(update={"attempt": 2, "context_tokens": 11})
    write_rows(run.file("responses.jsonl"), [again, first])
    (row,) = rows(run, None, tmp_path)
    assert (row["attempts"], row["context_tokens"]) == ("2", "11")


def test_what_a_spreadsheet_would_take_for_a_formula_is_text(tmp_path: Path) -> None:
    run = make_run(tmp_path, "made-up", done=1)
    (grade,) = run.grades()
    hostile = {"cluster": "=HYPERLINK(1)", "slices": {'a,"b\n': "@SUM(1)", "x": "-1"}, "value": -1.0}
    write_rows(run.file("grades.jsonl"), [grade.model_copy(update=hostile)])
    (row,) = rows(run, None, tmp_path)
    assert (row["cluster"], row['slice.a,"b\n'], row["slice.x"], row["value"]) == (
        "'=HYPERLINK(1)",
        "'@SUM(1)",
        "'-1",
        "-1.0",
    )


@given(st.text())
def test_no_cell_begins_like_a_formula(text: str) -> None:
    assert not str(neutral(text)).startswith(FORMULA)
    assert str(neutral(text)).endswith(text)


@pytest.mark.products
def test_a_parquet_file_has_the_same_columns_in_types_of_their_own(tmp_path: Path) -> None:
    run = answered(tmp_path, measured_exam())
    (table,) = (write_csv(run, None, tmp_path / "table.csv"),)
    script = """
import json, sys
from pathlib import Path
from memeval.archive.runs import RunFolder
from memeval.exchange.table import write_parquet
from pyarrow.parquet import read_table
(path,) = write_parquet(RunFolder(Path(sys.argv[1])), None, Path(sys.argv[2]))
table = read_table(path)
print(json.dumps({"types": {field.name: str(field.type) for field in table.schema}, "rows": table.to_pylist()}))
"""
    done = run_with(PYARROW, "-c", script, str(run.path), str(tmp_path / "table.parquet"))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert list(found["types"]) == table[0].read_text(encoding="utf-8").splitlines()[0].split(",")
    kinds = [found["types"][name] for name in ("item_id", "verdict", "credit", "attempts", "prompt_tokens")]
    assert kinds == ["string", "bool", "double", "int64", "int64"]
    assert [row["rule.generous"] for row in found["rows"]] == [0.75, None, 0.75, 0.75]


def test_without_pyarrow_parquet_is_refused_with_a_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(BadInput, match=r"pip install pyarrow .* 'csv' writes the same table"):
        write_parquet(make_run(tmp_path, "made-up"), None, tmp_path / "table.parquet")
