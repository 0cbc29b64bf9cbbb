"""``memeval failures`` as its users meet it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from memeval.archive.runs import RunFolder
from memeval.benchmarks import session
from memeval.cli.main import main
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.records.errors import ExitCode
from memeval.systems.source import find_system
from tests.evaluation.asking import benchmark_session


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A run of four items, sealed without an analysis or with one."""
    results = tmp_path_factory.mktemp("runs") / "results"
    return run_system(find_system("recency-window"), benchmark_session(), RunOptions(results=results, concurrency=1))


def called(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(session, "find", lambda _name: benchmark_session().benchmark)
    monkeypatch.setattr(sys, "argv", ["memeval", "failures", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def test_causes_and_the_cross_table_are_printed(
    stored: RunFolder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert called(monkeypatch, str(stored.path)) == ExitCode.DONE
    said = capsys.readouterr().out
    right = stored.run.scores.overall.correct
    assert said.startswith(f"Recency window on tiny@1: {right} of 4 items correct.\n")
    assert "Correct answers by evidence retrieved:\n  evidence  correct  wrong  % correct\n" in said
    assert f"  all             {right}      {4 - right}" in said


def test_a_machine_is_given_every_item_and_the_counts(
    stored: RunFolder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = called(monkeypatch, stored.run.run_id, "--results", str(stored.path.parents[2]), "--json")
    said: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert code == ExitCode.DONE
    assert said["run_id"] == stored.run.run_id
    assert [item["item_id"] for item in said["items"]] == [grade.item_id for grade in stored.grades()]
    assert said["summary"]["items"] == 4
    assert sum(said["summary"]["causes"].values()) == 4 - said["summary"]["right"]


def test_a_run_that_is_not_there_and_data_that_is_not_its_own_are_wrong_calls(
    stored: RunFolder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert called(monkeypatch, "nowhere", "--results", str(tmp_path)) == ExitCode.BAD_INPUT
    assert "no finished run nowhere" in capsys.readouterr().err
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "run.json").write_text("{}")
    assert called(monkeypatch, str(broken)) == ExitCode.BAD_INPUT
    assert "schema_version" in capsys.readouterr().err
