"""Systems that crash on a question, and runs whose first items all fail with the same error."""

from pathlib import Path
from typing import Any

import pytest

from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.evaluation.submit.scaffold import ScaffoldAnswers, scaffold
from memeval.execution.executor import FIRST_ITEMS, StoppedEarly
from memeval.execution.journal import Journal
from memeval.execution.setup import SystemSetup
from memeval.records.response import Outcome, Response
from memeval.records.submission import AdapterKind
from memeval.site.model.files import assets_root
from memeval.systems.errors import AdapterRaised
from memeval.systems.process import SystemProcess
from memeval.systems.sandbox import SandboxMode
from memeval.systems.source import SystemSource, file_source, find_system, folder_source
from tests.support.adapters import plain_adapter
from tests.support.tiny import TinyBenchmark
from tests.systems.helpers import PATIENT

ASKED, REMEMBERED = "(1)", "Oslo"
"""The question that a system crashes on, in the scenario that names this city."""

PYTHON = """
        import os, pathlib
        if {asked!r} in {question} and any({remembered!r} in note["text"] for note in self.notes.values()):
            crashed = pathlib.Path({marker!r})
            if not crashed.exists() or {always}:
                crashed.touch()
                print("out of memory", file=__import__("sys").stderr, flush=True)
                os._exit(7)
"""

JAVASCRIPT = """
    const {{ existsSync, writeFileSync }} = await import("node:fs");
    if (question.includes({asked!r}) && [...notes.values()].some(({{ text }}) => text.includes({remembered!r}))) {{
      if (!existsSync({marker!r}) || {always}) {{
        writeFileSync({marker!r}, "");
        console.error("out of memory");
        process.exit(7);
      }}
    }}
"""


def crashing(kind: AdapterKind, folder: Path, *, always: bool) -> Path:
    """Return a submission that crashes on one question: always, or only the first time."""
    made = scaffold(ScaffoldAnswers(name="Crashing", kind=kind), folder, assets_root() / "templates" / "submission")
    terms = {"asked": ASKED, "remembered": REMEMBERED, "marker": str(folder / "crashed")}
    if kind is AdapterKind.COMMAND:
        file, code = made / "adapter.mjs", JAVASCRIPT.format(**terms, always=str(always).lower())
        source = (
            file.read_text("utf-8")
            .replace("  ask({", "  async ask({")
            .replace("reply.value = calls", "reply.value = await calls")
        )
        start = "  async ask({ question, timestamp }) {\n"
    elif kind is AdapterKind.PYTHON:
        file, code = made / "adapter.py", PYTHON.format(**terms, always=always, question="question")
        source = file.read_text("utf-8")
        start = '        """Answer a question; the context is the text that the answer is based on."""\n'
    else:
        file, code = made / "memory.py", PYTHON.format(**terms, always=always, question="query")
        source = file.read_text("utf-8")
        start = '        """Return at most k items, the best first, known at that time."""\n'
    assert source.count(start) == 1
    file.write_text(source.replace(start, start + code), "utf-8")
    return made


@pytest.mark.parametrize("always", [False, True], ids=["once", "always"])
@pytest.mark.parametrize("kind", list(AdapterKind))
def test_a_crash_costs_its_item_and_no_other(kind: AdapterKind, always: bool, tmp_path: Path) -> None:
    source = folder_source(crashing(kind, tmp_path / "systems", always=always))
    options = RunOptions(
        tmp_path / "results", skip_conformance=True, concurrency=1, setup=SystemSetup(sandbox=SandboxMode.NONE)
    )
    run = run_system(source, BenchmarkSession.open(TinyBenchmark(4, 3)), options)
    rows = list(run.responses())
    assert len(rows) == 12
    failed = [row for row in rows if row.outcome.is_error]
    assert [(row.question_id, row.outcome) for row in failed] == (
        [("tiny-001:q02", Outcome.ADAPTER_ERROR)] if always else []
    )
    assert (tmp_path / "systems/crashed").exists()
    for row in failed:
        assert row.error is not None and "ended with exit code 7 during" in row.error and "out of memory" in row.error


@pytest.mark.parametrize(
    ("kind", "file", "old", "new", "words"),
    [
        (
            AdapterKind.COMMAND,
            "adapter.mjs",
            "ask({ question, timestamp }) {\n",
            "undefined.x; // here",
            "query failed: Cannot read properties of undefined (reading 'x') (adapter.mjs:{line}).",
        ),
        (
            AdapterKind.HTTP,
            "server.py",
            '    """Answer a question."""\n',
            '    {}["index"]  # here',
            "The server answered POST /ask with status 500: KeyError: 'index' (server.py:{line}). "
            "Fix the error in the server.",
        ),
        (
            AdapterKind.MCP,
            "server.py",
            '    """Return at most ``limit`` items."""\n',
            '    {}["index"]  # here',
            "The server answered the call of 'search_memory' with an error: KeyError: 'index' (server.py:{line}).",
        ),
    ],
)
def test_an_exception_is_named_with_its_line(
    tmp_path: Path, kind: AdapterKind, file: str, old: str, new: str, words: str
) -> None:
    made = scaffold(ScaffoldAnswers(name="Failing", kind=kind), tmp_path, assets_root() / "templates" / "submission")
    source = (made / file).read_text("utf-8")
    assert source.count(old) == 1
    changed = source.replace(old, f"{old}{new}\n")
    (made / file).write_text(changed, "utf-8")
    mark = "// here" if file == "adapter.mjs" else "# here"
    place = next(number for number, text in enumerate(changed.splitlines(), 1) if mark in text)
    launch = folder_source(made).launch
    with SystemProcess(launch, PATIENT, print) as process, pytest.raises(AdapterRaised) as raised:
        process.reset()
        process.search("q", 1) if kind is AdapterKind.MCP else process.ask("q")
    assert raised.value.sentence == words.replace("{line}", str(place))


ITEMS = 40


def benchmark_session(scenarios: int = ITEMS) -> BenchmarkSession:
    return BenchmarkSession.open(TinyBenchmark(scenarios))


def options(folder: Path, **more: Any) -> RunOptions:
    return RunOptions(results=folder / "results", **{"concurrency": 4, **more})


def broken(folder: Path) -> SystemSource:
    # It waits, or all items could fail while a slow disk stores the first ones.
    fails = "time.sleep(0.05); raise ConnectionError('the index is not running')"
    is_down = f"if not os.path.exists({str(folder / 'service')!r}): {fails}"
    return file_source(plain_adapter(folder, "broken", on_query=is_down))


def rows_on_disk(folder: Path) -> list[Response]:
    (run,) = (folder / "results/tiny/broken").iterdir()
    with Journal(run) as journal:
        return list(journal.responses.values())


def test_it_stops_and_keeps_what_is_done(tmp_path: Path) -> None:
    with pytest.raises(StoppedEarly, match=r"First error: .*ConnectionError: the index is not running"):
        run_system(broken(tmp_path), benchmark_session(400), options(tmp_path))
    assert FIRST_ITEMS <= len(rows_on_disk(tmp_path)) < 400


def test_the_same_call_tries_the_next_items_only(tmp_path: Path) -> None:
    many = 400  # more than one instance fails while the rows of the first failures are written
    for _ in range(2):
        with pytest.raises(StoppedEarly):
            run_system(broken(tmp_path), benchmark_session(many), options(tmp_path, concurrency=1))
    assert FIRST_ITEMS < len(rows_on_disk(tmp_path)) < many


def test_after_a_fix_the_run_resumes_and_retries_failed_items(tmp_path: Path) -> None:
    with pytest.raises(StoppedEarly):
        run_system(broken(tmp_path), benchmark_session(), options(tmp_path))
    (tmp_path / "service").touch()
    run = run_system(broken(tmp_path), benchmark_session(), options(tmp_path, retry_errors=True))
    assert (run.run.coverage.done, run.run.scores.overall.errors) == (ITEMS, 0)
    assert len(list((tmp_path / "results/tiny/broken").iterdir())) == 1


def test_a_run_that_is_to_keep_going_finishes(tmp_path: Path) -> None:
    run = run_system(broken(tmp_path), benchmark_session(), options(tmp_path, keep_going=True))
    assert run.run.scores.overall.errors == ITEMS


def test_a_control_finishes(tmp_path: Path) -> None:
    run = run_system(find_system("always-error"), benchmark_session(), options(tmp_path))
    assert run.run.scores.overall.errors == ITEMS
