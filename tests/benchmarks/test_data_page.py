"""The page on data says what is so."""

import json
import re
from pathlib import Path

import pytest

from memeval.benchmarks import all_benchmarks
from memeval.cli.data import list_
from memeval.records.base import validated
from memeval.records.benchmark import Errata, ErratumKind

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
