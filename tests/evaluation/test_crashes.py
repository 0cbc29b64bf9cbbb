"""A system of any kind that crashes on a question loses at most that question."""

from __future__ import annotations

from pathlib import Path

import pytest

from memeval.evaluation.plan import BenchmarkSession
from memeval.evaluation.running import RunOptions, run_system
from memeval.evaluation.runtime import SystemSetup
from memeval.evaluation.scaffold import ScaffoldAnswers, scaffold
from memeval.records.response import Outcome
from memeval.records.submission import AdapterKind
from memeval.site.assets import assets_root
from memeval.systems.sandbox import SandboxMode
from memeval.systems.source import folder_source
from tests.support.tiny import TinyBenchmark

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
        tmp_path / "results", conformance=False, concurrency=1, setup=SystemSetup(sandbox=SandboxMode.NONE)
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
