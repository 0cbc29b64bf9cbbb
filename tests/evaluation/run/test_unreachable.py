"""Unreachable servers: the message has the address and the fix."""

import socket
from pathlib import Path

import pytest

from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.execution.setup import SystemSetup
from memeval.records.errors import BadInput
from memeval.systems.sandbox import SandboxMode
from memeval.systems.source import examined_folder, folder_source
from tests.support.tiny import TinyBenchmark

MANIFEST = """
schema_version = 1
slug = "far"
name = "Far"
version = "1"
kind = "{kind}"
endpoint = "{endpoint}"
licence = "MIT"

[[hosts]]
host = "far.example.com"
variable = "FAR_URL"
"""

TOOLS = """
[tools.reset]
name = "clear"
[tools.retain]
name = "add"
[tools.search]
name = "find"
"""


def submission(folder: Path, kind: str, endpoint: str = "https://far.example.com") -> Path:
    made = folder / "far"
    made.mkdir()
    text = MANIFEST.format(kind=kind, endpoint=endpoint).lstrip() + (TOOLS if kind == "mcp" else "")
    (made / "submission.toml").write_text(text, "utf-8")
    return made


@pytest.mark.parametrize(("kind", "what"), [("daemon", "daemon"), ("http", "server"), ("mcp", "MCP server")])
def test_an_absent_server_is_named_with_its_address_and_the_option(kind: str, what: str, tmp_path: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        there = f"http://127.0.0.1:{closed.getsockname()[1]}"
        setup = SystemSetup(sandbox=SandboxMode.NONE, hosts={"far.example.com": there})
        options = RunOptions(tmp_path / "results", skip_conformance=True, setup=setup)
        with pytest.raises(BadInput) as refused:
            run_system(folder_source(submission(tmp_path, kind)), BenchmarkSession.open(TinyBenchmark(1)), options)
    assert refused.value.problem == (
        f"The {what} cannot be reached at {there}. Start it there, "
        "or give the address of one that runs: --host far.example.com=http://127.0.0.1:PORT."
    )


def test_an_endpoint_on_this_machine_is_refused_with_the_way_to_reach_it(tmp_path: Path) -> None:
    _, faults = examined_folder(submission(tmp_path, "daemon", "http://127.0.0.1:8080"))
    (fault,) = (fault for fault in faults if "'endpoint'" in fault.problem)
    assert fault.remedy is not None
    assert fault.remedy.endswith("run with --host my-server.example.com=http://127.0.0.1:8080.")
