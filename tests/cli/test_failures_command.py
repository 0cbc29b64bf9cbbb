"""``memeval failures`` as its users meet it."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from memeval.api import verify
from memeval.archive.runs import RunFolder
from memeval.benchmarks import session
from memeval.cli.reporting import report
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.systems.sandbox import SandboxMode
from memeval.systems.source import file_source, find_system
from tests.evaluation.asking import benchmark_session
from tests.support.adapters import plain_adapter
from tests.support.calling import Call


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A run of four items, sealed without an analysis or with one."""
    results = tmp_path_factory.mktemp("runs") / "results"
    return run_system(find_system("recency-window"), benchmark_session(), RunOptions(results=results, concurrency=1))


@pytest.fixture
def call(call: Call, monkeypatch: pytest.MonkeyPatch) -> Call:
    monkeypatch.setattr(session, "find", lambda _name: benchmark_session().benchmark)
    return partial(call, "failures")


def test_causes_and_the_cross_table_are_printed(stored: RunFolder, call: Call) -> None:
    said = call(str(stored.path)).done
    right = stored.run.scores.overall.correct
    assert said.startswith(f"Recency window on tiny@1: {right} of 4 items correct.\n")
    assert "Correct answers by evidence retrieved:\n  evidence  correct  wrong  % correct\n" in said
    assert f"  all             {right}      {4 - right}" in said


def test_a_machine_is_given_every_item_and_the_counts(stored: RunFolder, call: Call) -> None:
    said = json.loads(call(stored.run.run_id, "--results", str(stored.path.parents[2]), "--json").done)
    assert said["run_id"] == stored.run.run_id
    assert [item["item_id"] for item in said["items"]] == [grade.item_id for grade in stored.grades()]
    assert said["summary"]["items"] == 4
    assert sum(said["summary"]["causes"].values()) == 4 - said["summary"]["right"]


def test_a_run_that_is_not_there_and_data_that_is_not_its_own_are_wrong_calls(call: Call, tmp_path: Path) -> None:
    assert call("nowhere", "--results", str(tmp_path)).fails("no finished run nowhere")
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "run.json").write_text("{}")
    assert call(str(broken)).fails("schema_version")


def test_crashes_are_counted_everywhere(tmp_path: Path, call: Call, capsys: pytest.CaptureFixture[str]) -> None:
    mark = str(tmp_path / "crashed")
    first_crashes = f"if not os.path.exists({mark!r}): open({mark!r}, 'w').close(); os._exit(3)"
    adapter = plain_adapter(tmp_path, on_query=first_crashes)
    options = RunOptions(results=tmp_path / "results", concurrency=1, skip_conformance=True)
    options = replace(options, setup=replace(options.setup, sandbox=SandboxMode.NONE))
    folder = run_system(file_source(adapter), benchmark_session(), options)
    assert (folder.run.crashes, folder.run.scores.overall.errors) == (1, 0)
    report(folder)
    assert "4/4 items, 0 errors, the process crashed 1 time\n" in capsys.readouterr().err
    _, said, _ = call(str(folder.path))
    assert "The process crashed 1 time: see 'crashed' in its log.jsonl.gz." in said
    head = folder.path / "run.json"
    head.write_text(head.read_text("utf-8").replace(' "crashes": 1,\n', ""), "utf-8")
    assert any("crashes: is 0, but the rows give 1" in str(finding) for finding in verify(folder.path))
