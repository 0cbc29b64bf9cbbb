"""What an author reads for common mistakes: what happened, where in the adapter, and what to do; real processes."""

import dataclasses
import socket
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from memeval.records.submission import Resources
from memeval.systems.child import Launch
from memeval.systems.errors import SystemFailure
from memeval.systems.process import SystemProcess
from memeval.systems.remedies import COMPILE, SIGNATURES, remedy_for, signal_words, slow_remedy
from memeval.systems.sandbox import SandboxMode, find_sandbox
from tests.support.commands import ROOT
from tests.systems.helpers import PATIENT, session, write

BRIEF = PATIENT.model_copy(update={"ask_seconds": 0.5, "reset_seconds": 0.5, "load_seconds": 5.0})

CLASS = """
import asyncio, ctypes, os, re, sys, time

class Memory:
    {kind}def reset(self):
        {reset}
    {kind}def ingest_session(self, session, timestamp):
        {ingest}
    {kind}def query(self, question, timestamp="now"):
        {query}
    {kind}def helper(self):
        {helper}
"""
LINES = {"reset": 6, "ingest": 8, "query": 10, "helper": 12}
"""Where the body of each method stands."""


def mistaken(folder: Path, mode: SandboxMode, **bodies: str) -> SystemProcess:
    """Return a system with these bodies of its methods."""
    parts = {"kind": "", "reset": "pass", "ingest": "pass", "query": "return 'x'", "helper": "pass", **bodies}
    launch = Launch(write(folder, textwrap.dedent(CLASS).format(**parts)))
    return SystemProcess(launch, BRIEF, print, sandbox=find_sandbox(mode, print))


def said(process: SystemProcess) -> str:
    """Return what an author reads of the first call that fails."""
    try:
        process.start()
        process.reset()
        process.ingest([(session(1), "2025-01-02")])
        process.ask("q")
    except SystemFailure as failure:
        return str(failure)
    finally:
        process.close()
    raise AssertionError("nothing failed")


both = pytest.mark.parametrize("mode", [SandboxMode.NONE, SandboxMode.BWRAP])
kinds = pytest.mark.parametrize("kind", ["", "async "])


@kinds
@pytest.mark.parametrize("method", ["reset", "ingest", "query"])
def test_an_exception_is_told_with_the_adapters_own_line(tmp_path: Path, kind: str, method: str) -> None:
    name = {"ingest": "ingest_session"}.get(method, method)
    process = mistaken(tmp_path, SandboxMode.NONE, kind=kind, **{method: "{}['index']"})
    assert said(process) == f"{name} raised KeyError: 'index' (adapter.py:{LINES[method]} in {name})."


def test_an_exception_of_a_library_is_told_where_the_adapter_called_it(tmp_path: Path) -> None:
    process = mistaken(tmp_path, SandboxMode.NONE, query="self.helper()", helper="re.compile('(')")
    assert said(process).endswith("(adapter.py:12 in helper).")


@both
@pytest.mark.parametrize(
    ("bodies", "place"),
    [
        ({"query": "self.helper()", "helper": "time.sleep(30)"}, "adapter.py:12 in helper"),
        ({"kind": "async ", "query": "await self.helper()", "helper": "await asyncio.sleep(9)"}, "adapter.py:12 in helper"),  # noqa: E501
        ({"kind": "async ", "query": "await self.helper()", "helper": "time.sleep(9)"}, "adapter.py:12 in helper"),
        ({"query": "re.match(r'(a+)+$', 'a' * 60 + 'b')"}, "adapter.py:10 in query"),
    ],
)  # fmt: skip
def test_a_slow_call_is_told_with_where_it_stood_and_the_setting(
    tmp_path: Path, mode: SandboxMode, bodies: dict[str, str], place: str
) -> None:
    sentence = f"query took longer than 0.5 s ({place}). Make it faster, or raise --ask-seconds."
    assert said(mistaken(tmp_path, mode, **bodies)) == sentence


def test_a_slow_reset_names_the_limit_that_python_sets(tmp_path: Path) -> None:
    process = mistaken(tmp_path, SandboxMode.NONE, reset="time.sleep(30)")
    assert said(process).endswith(
        "(adapter.py:6 in reset). Make it faster. It may wait for a lock or a connection that an earlier call holds. "
        "The limit is a part of the track; only Python's RunOptions.limits can raise reset_seconds."
    )


@both
def test_a_segmentation_fault_is_told_with_its_line(tmp_path: Path, mode: SandboxMode) -> None:
    process = mistaken(tmp_path, mode, query="ctypes.string_at(0)")
    words = "The process was killed by SIGSEGV (segmentation fault) during query (adapter.py:10 in query)."
    assert said(process) == words


@pytest.fixture
def closed_port() -> Iterator[int]:
    with socket.socket() as bound:  # bound and not listening: connections are refused
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@both
@kinds
def test_a_host_that_cannot_be_reached_is_put_down_to_the_sandbox(
    tmp_path: Path, mode: SandboxMode, kind: str, closed_port: int
) -> None:
    plain = f"import urllib.request; urllib.request.urlopen('http://127.0.0.1:{closed_port}')"
    waiting = f"await asyncio.open_connection('localhost', {closed_port})"
    words = said(mistaken(tmp_path, mode, kind=kind, query=waiting if kind else plain))
    assert "(adapter.py:10 in query). " in words
    no_network = "The sandbox has no network. Run with --sandbox none, or make a submission folder and declare the host"
    todo = "Check the address, and that the service runs." if mode is SandboxMode.NONE else no_network
    assert todo in words


@kinds
@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            'query(self, question, timestamp="now")',
            "query(self)",
            "query cannot be called: it is declared as query(self) (adapter.py:9). "
            'Declare it as query(self, question, timestamp="now").',
        ),
        (
            "ingest_session(self, session, timestamp)",
            "ingest_session(self, session: dict, *, day) -> None",
            "ingest_session cannot be called: it is declared as ingest_session(self, session: dict, *, day) "
            "(adapter.py:7). Declare it as ingest_session(self, session, timestamp).",
        ),
    ],
)
def test_a_wrong_signature_is_shown_beside_the_right_one(
    tmp_path: Path, kind: str, old: str, new: str, sentence: str
) -> None:
    process = mistaken(tmp_path, SandboxMode.NONE, kind=kind)
    write(tmp_path, (tmp_path / "adapter.py").read_text("utf-8").replace(old, new))
    assert said(process) == sentence


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        ("self.helper()", "query returned a coroutine that was not awaited"),
        ("{'answer': self.helper()}", "query returned a dict whose 'answer' is a coroutine that was not awaited"),
        ("{'answer': '', 'items': [self.helper()]}", "query returned an item that is a coroutine that was not awaited"),
    ],
)
def test_a_forgotten_await_is_told_with_the_call(tmp_path: Path, returned: str, words: str) -> None:
    process = mistaken(tmp_path, SandboxMode.NONE, kind="async ", query=f"return {returned}")
    assert said(process) == f"{words} (adapter.py:9). Write: await self.helper(…)."


def test_a_coroutine_of_a_library_is_named_without_an_owner(tmp_path: Path) -> None:
    process = mistaken(tmp_path, SandboxMode.NONE, kind="async ", query="return asyncio.sleep(0)")
    assert said(process).endswith("Write: await sleep(…).")


def test_no_address_of_an_object_is_told(tmp_path: Path) -> None:
    words = said(mistaken(tmp_path, SandboxMode.NONE, query="return [object(), self.helper]"))
    assert "query returned list ([<object object>, <bound method Memory.helper of" in words
    assert "0x" not in words


def test_a_second_event_loop_is_told_with_what_to_await(tmp_path: Path) -> None:
    inner = "asyncio.run(asyncio.sleep(0))"
    process = mistaken(tmp_path, SandboxMode.NONE, kind="async ", query=inner)
    assert said(process).endswith("(adapter.py:10 in query). Await the call instead of asyncio.run().")
    process = mistaken(tmp_path, SandboxMode.NONE, kind="async ", query="self.helper()", helper=inner)
    write(tmp_path, (tmp_path / "adapter.py").read_text("utf-8").replace("async def helper", "def helper"))
    assert said(process).endswith("(adapter.py:12 in helper). Make helper async, and await the call.")


def test_a_missing_variable_is_named_and_a_missing_key_is_no_variable(tmp_path: Path) -> None:
    words = said(mistaken(tmp_path, SandboxMode.NONE, reset="os.environ['ACME_MODE']"))
    assert words == (
        "reset raised KeyError: there is no environment variable 'ACME_MODE' (adapter.py:6 in reset). "
        "A single file gets no variables. Declare it in a submission folder: memeval submit new."
    )
    assert said(mistaken(tmp_path, SandboxMode.NONE, reset="dict(os.environ)['ACME_MODE']")).endswith("in reset).")


def test_a_missing_program_is_no_missing_file(tmp_path: Path) -> None:
    words = said(mistaken(tmp_path, SandboxMode.NONE, reset="import subprocess; subprocess.run(['no-such-program'])"))
    assert words.endswith("No such file or directory: 'no-such-program' (adapter.py:6 in reset).")


def test_running_out_of_memory_names_the_limit(tmp_path: Path) -> None:
    words = said(mistaken(tmp_path, SandboxMode.BWRAP, query="self.big = [0] * 10**10"))
    assert words == "query ran out of memory (adapter.py:10 in query). The limit is 4096 MiB; keep less in memory."


def test_a_missing_module_is_put_down_to_the_lock_the_environment_or_the_file(tmp_path: Path) -> None:
    bare = Launch(tmp_path / "adapter.py", files={"adapter.py": tmp_path / "adapter.py"})
    own = dataclasses.replace(bare, own_interpreter=False, interpreter=Path("/venv/bin/python"))
    folder = dataclasses.replace(bare, folder=tmp_path)

    def remedy(launch: Launch) -> str:
        return remedy_for("module", "numpy.linalg", "load", launch, sandboxed=True)

    assert remedy(bare).startswith("Pass --python with a Python that has it, or create a submission")
    assert remedy(own) == "Install it for /venv/bin/python."
    assert remedy(folder).startswith(f"Add its package to requirements.in, then run '{COMPILE}'.")
    (tmp_path / "numpy").mkdir()
    assert remedy(bare).startswith("It is beside adapter.py, but no import statement names it")


def test_how_to_get_uv_is_said_where_it_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launch = Launch(tmp_path / "adapter.py", folder=tmp_path)
    monkeypatch.setattr("memeval.systems.environments.tools.find_uv", lambda: None)
    assert remedy_for("module", "x", "load", launch, sandboxed=True).endswith("Get uv with: pip install uv.")


def test_every_other_cause_has_its_remedy(tmp_path: Path) -> None:
    adapter = tmp_path / "a" / "adapter.py"
    resources = Resources(memory_mb=64)
    folder = Launch(
        adapter, folder=tmp_path, resources=resources, files={"data/facts.txt": tmp_path / "data/facts.txt"}
    )
    given = {
        ("network", "", "query"): "Declare the host under [[hosts]] in submission.toml, or run with --sandbox none.",
        ("memory", "", "query"): "is 64 MiB: keep less, or raise memory_mb under [resources] in submission.toml.",
        ("class", "B", "load"): 'Name one in submission.toml: entry = "a/adapter.py:B".',
        ("signature", "", "__init__"): "Let __init__ accept the [parameters] in submission.toml: none.",
        ("file", "x", "query"): "Add the file, or correct its path.",
        ("relative", "x", "query"): "Add the file, or correct its path.",
        ("relative", "./data/facts.txt", "query"): "folder is another one: build the path from __file__.",
        ("variable", "ACME_MODE", "load"): "[variables] in submission.toml. Declare a key as 'key' under [[hosts]].",
        ("variable", "OPENAI_API_KEY", "load"): "in declared_models of submission.toml: memeval then sets it.",
        ("coroutine", "", "query"): "Await it.",
        ("methods", "", "load"): "Add the missing methods.",
        ("unheard of", "", "query"): "",
    }  # fmt: skip
    for (cause, about, method), words in given.items():
        assert remedy_for(cause, about, method, folder, sandboxed=True).endswith(words)
    assert slow_remedy("load", folder) == "Load less, or raise start_seconds under [resources] in submission.toml."
    assert signal_words(9) == "SIGKILL (killed from outside, often for lack of memory)"
    assert signal_words(99) == "signal 99"


def test_a_relative_import_is_told_to_name_the_module(tmp_path: Path) -> None:
    process = SystemProcess(Launch(write(tmp_path, "from .helper import find\n")), BRIEF, print)
    assert said(process).endswith(
        "Import the module by its name, as in 'from helper import …': its folder is on sys.path."
    )


def test_the_guide_shows_the_forms_that_errors_name() -> None:
    guide = (ROOT / "site" / "submit.md").read_text("utf-8")
    forms = [line.removeprefix("def ").removesuffix(":") for line in guide.splitlines() if line.startswith("def ")]
    assert len(forms) == 7 and set(forms) <= set(SIGNATURES.values())
