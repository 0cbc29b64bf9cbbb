"""Reading the file: a sentence for everything that can be wrong with a copy."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from memeval.benchmarks.deepmemeval import DeepMemEvalBenchmark
from memeval.benchmarks.deepmemeval.released import FULL, SAMPLE_DIGEST
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from tests.benchmarks.deepmemeval.rows import Row, rows


def refusal(path: Path) -> str:
    with pytest.raises(BadInput) as caught:
        DeepMemEvalBenchmark().open(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "memeval data pull deepmemeval" in str(caught.value)
    assert ("--data" in str(caught.value.remedy)) == (not path.exists())  # a given file is not to be given
    return caught.value.problem


def written(folder: Path, value: object) -> Path:
    path = folder / "data.json"
    path.write_text(json.dumps(value))
    return path


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none.json") == "file not found."


def test_a_folder_without_the_file_says_where_it_looked(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"deepmemeval/deepmemeval_500\.json: file not found"):
        DeepMemEvalBenchmark().open(tmp_path)
    assert not DeepMemEvalBenchmark().available(tmp_path)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "the file is empty."),
        (b'[{"scenario_id": "bel', "the file is truncated: it has 21 bytes, expected 2,239,412."),
        (b"<html>", "not valid JSON ("),
        (b"\xff\xfe[]", "not valid JSON ("),
        (b"{}", "expected a list of scenarios."),
        (b"[1]", "scenario 1: "),
        (b"[]", "the format is valid, but this is not the released file"),
    ],
)
def test_bytes_of_another_kind_are_refused(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "data.json"
    path.write_bytes(content)
    assert refusal(path).startswith(problem)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda all_rows: all_rows[2].pop("question"), "scenario 3 ('noise-p000-tests-light'): 'question' is missing."),
        (lambda all_rows: all_rows[0].update(extra=1), "scenario 1 ('belief-p000-server'): unknown key 'extra'."),
        (
            lambda all_rows: all_rows[0]["metadata"].update(update_count="one"),
            "scenario 1 ('belief-p000-server'): 'metadata.update_count': Input should be a valid integer.",
        ),
        (
            lambda all_rows: all_rows[1]["conversation_history"][2]["turns"][0].update(role="system"),
            "scenario 2 ('cascade-p000-tests-via-server'): 'conversation_history.2.turns.0.role': Input should be",
        ),
        (lambda all_rows: all_rows[3].update(scenario_type="riddle"), "scenario 4 ('temporal-p001-server'): "),
        (lambda all_rows: all_rows[3].pop("scenario_type"), "scenario 4 ('temporal-p001-server'): "),
        (
            lambda all_rows: all_rows[0].update(expected_answer="Caddy"),
            "scenario 1 ('belief-p000-server'): 'expected_answer'",
        ),
        (
            lambda all_rows: all_rows.append(rows()[1]),
            "the scenario id 'cascade-p000-tests-via-server' occurs more than",
        ),
    ],
)
def test_another_shape_is_refused_with_its_place(
    tmp_path: Path, change: Callable[[list[Row]], object], problem: str
) -> None:
    changed = rows()
    change(changed)
    assert refusal(written(tmp_path, changed)).startswith(problem)


def test_a_file_of_the_right_shape_and_another_digest_is_refused_with_both_digests(tmp_path: Path) -> None:
    path = written(tmp_path, rows())
    problem = refusal(path)
    assert digest_bytes(path.read_bytes()) in problem
    assert FULL.digest in problem and SAMPLE_DIGEST in problem


def test_fields_that_only_the_documentation_knows_are_read(tmp_path: Path) -> None:
    changed = rows()
    changed[1]["metadata"]["root_change_session"] = "x3"
    changed[4]["metadata"]["new_facts_after_turn_5"] = [{"turn": 7, "fact": "Uses Caddy for serving"}]
    changed[5]["metadata"]["conflicting_facts"] = ["Uses Nginx for serving"]
    assert "the format is valid" in refusal(written(tmp_path, changed))


def test_a_cut_copy_of_the_real_file_is_called_cut_off(tmp_path: Path, data: Path) -> None:
    path = tmp_path / "deepmemeval_500.json"
    whole = (data / "deepmemeval" / "deepmemeval_500.json").read_bytes()
    for end in (1_000_000, 2_000_003, len(whole) - 2):
        path.write_bytes(whole[:end])
        assert refusal(path) == f"the file is truncated: it has {end:,} bytes, expected 2,239,412."


def test_one_changed_letter_of_the_real_file_is_noticed(tmp_path: Path, data: Path) -> None:
    path = tmp_path / "deepmemeval_500.json"
    path.write_bytes((data / "deepmemeval" / "deepmemeval_500.json").read_bytes().replace(b"Jest", b"Pest", 1))
    assert "is not the released file" in refusal(path)


def test_parameters_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="has no parameter 'seed'"):
        DeepMemEvalBenchmark().open(tmp_path, {"seed": 1})
