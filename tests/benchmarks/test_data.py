"""Where data lives."""

import json
import re
from pathlib import Path

import pytest

from memeval.benchmarks import all_benchmarks
from memeval.benchmarks.data import data_folder, locate
from memeval.benchmarks.deepmemeval import DeepMemEvalBenchmark
from memeval.cli.data import list_
from memeval.records.base import validated
from memeval.records.benchmark import Errata, ErratumKind
from memeval.records.errors import BadInput

INFO = DeepMemEvalBenchmark.info
FILE = "deepmemeval_500.json"


def test_the_folder_is_the_one_the_environment_names(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MEMEVAL_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    assert locate(INFO) == tmp_path / "deepmemeval" / FILE


def test_else_it_is_the_users_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("MEMEVAL_DATA", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    assert data_folder().name == "memeval"
    assert tmp_path in data_folder().parents


def test_a_path_may_be_the_file_its_folder_or_the_folder_of_all_data(tmp_path: Path) -> None:
    assert locate(INFO, tmp_path / "copy.json") == tmp_path / "copy.json"
    assert locate(INFO, tmp_path) == tmp_path / "deepmemeval" / FILE
    (tmp_path / FILE).touch()
    assert locate(INFO, tmp_path) == tmp_path / FILE


def test_a_generated_benchmark_has_no_file() -> None:
    with pytest.raises(BadInput, match="has no data file"):
        locate(INFO.model_copy(update={"sources": ()}))


PAGE = (Path(__file__).parents[2] / "site" / "data.md").read_text("utf-8")


@pytest.mark.parametrize("name", [None, "longmemeval"])
def test_the_page_shows_what_data_list_prints_without_data(
    name: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MEMEVAL_DATA", str(tmp_path))
    list_(name)
    command = " ".join(["memeval data list", *([name] if name else [])])
    assert f"```console\n$ {command}\n{capsys.readouterr().out}```" in PAGE


def test_the_example_of_errata_can_be_read() -> None:
    (text,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    errata = validated(Errata, json.loads(text), "the page")
    assert {entry.kind for entry in errata.entries} <= set(ErratumKind)
    assert all(f"`{kind}`" in PAGE for kind in ErratumKind)


def test_who_may_publish_what_is_said_as_the_catalogue_has_it() -> None:
    kept = {each.info.title for each in all_benchmarks() if each.info.redistribution == "ids"}
    assert kept >= {"LoCoMo", "LongMemEval", "MemoryCD"}
    assert not [title for title in kept if f"{title} is `ids`".casefold() not in PAGE.casefold()]
