"""``memeval data``: what is there, fetched with its licence accepted, and checked; a benchmark that cannot be used."""

import functools
import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memeval.benchmarks import known_ids, large
from memeval.benchmarks.beliefs.benchmark import PARAMETERS
from memeval.benchmarks.longmemeval import LongMemEvalBenchmark
from memeval.cli import data as commands
from memeval.records.base import digest_bytes
from memeval.records.benchmark import Source
from memeval.records.errors import ExitCode
from tests.benchmarks.longmemeval.rows import rows
from tests.support.calling import Call
from tests.support.http_server import serving_folder
from tests.support.packages import with_package
from tests.support.registered import register

BYTES = json.dumps(rows()).encode()
SECOND = json.dumps(rows()[:1]).encode()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return memeval's data folder."""
    monkeypatch.setenv("MEMEVAL_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(large, "KEPT_FROM_BYTES", 0)
    return tmp_path / "data"


@pytest.fixture
def call(call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Call]:
    """Call the command line where LongMemEval's files are small ones, made up and served from this machine."""
    served, texts = tmp_path / "served", {"s": BYTES, "oracle": SECOND}
    served.mkdir()
    for name, text in texts.items():
        (served / f"{name}.json").write_bytes(text)
    with serving_folder(served) as url:
        sources = tuple(
            Source(
                name=name,
                url=f"{url}/{name}.json",
                filename=f"made_{name}.json",
                bytes=len(text),
                digest=digest_bytes(text),
            )
            for name, text in texts.items()
        )

        class Made(LongMemEvalBenchmark):
            info = LongMemEvalBenchmark.info.model_copy(update={"sources": sources})

        register(monkeypatch, {"longmemeval@1": Made})
        yield functools.partial(call, "data")


def test_nothing_is_fetched_before_the_licence_is_accepted(call: Call, folder: Path) -> None:
    said = call("pull", "longmemeval")
    assert said.fails("Its licence is MIT.", "https://spdx.org/licenses/MIT.html", "Cite as") and said.out == ""
    assert "the licence of longmemeval@1 is not accepted: this is not a terminal. It is MIT" in said.err
    assert "Accept it with --accept-licence" in said.err
    assert not folder.exists()


def test_a_licence_is_accepted_once_for_all_files_of_a_benchmark(call: Call, folder: Path) -> None:
    path = folder / "longmemeval" / "made_s.json"
    said = call("pull", "longmemeval", "--accept-licence")
    assert said.done == f"{path}\n" and "Its licence is MIT." in said.err
    assert path.read_bytes() == BYTES
    assert "Its licence is" not in call("pull", "longmemeval", "--file", "oracle").err
    assert (folder / "longmemeval" / "made_oracle.json").read_bytes() == SECOND
    (stored,) = (folder / "licences").iterdir()
    assert json.loads(stored.read_text())["licence"] == "MIT"


def test_another_licence_and_another_benchmark_are_asked_for_anew(call: Call, folder: Path) -> None:
    call("pull", "longmemeval", "--accept-licence")
    stored = folder / "licences" / "longmemeval@1.json"
    for text in (stored.read_text().replace("MIT", "Apache-2.0"), "", "[]", "\0"):
        stored.write_text(text)
        assert "Accept it with" in call("pull", "longmemeval")[2]
    assert "It is CC-BY-NC-4.0" in call("pull", "locomo")[2]


def test_a_data_folder_that_cannot_be_written_is_named(call: Call, folder: Path) -> None:
    folder.write_text("a file stands where the folder would be")
    assert call("pull", "longmemeval", "--accept-licence").fails("MEMEVAL_DATA")


@pytest.mark.parametrize(("answer", "kept"), [(b"n\n", False), (b"y\n", True)])
def test_whoever_sits_at_a_terminal_is_asked(tmp_path: Path, answer: bytes, kept: bool) -> None:
    ours, theirs = pty.openpty()
    # No server stands behind the proxy, so nothing is fetched from anywhere.
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    command = [sys.executable, "-m", "memeval", "data", "pull", "locomo"]
    environment = {**os.environ, **nowhere, "MEMEVAL_DATA": str(tmp_path), "no_proxy": ""}
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as asked:
        os.close(theirs)
        said = b""
        while b"[y/N]" not in said:
            said += os.read(ours, 4096)
        os.write(ours, answer)
        try:
            while more := os.read(ours, 4096):
                said += more
        except OSError:  # the other end of the terminal is closed
            pass
        assert asked.wait(timeout=60) == ExitCode.BAD_INPUT
    os.close(ours)
    assert b"Do you accept this licence?" in said and b"CC-BY-NC-4.0" in said
    assert (b"cannot be reached" in said) is kept
    assert (b"you did not accept it" in said) is not kept
    assert (tmp_path / "licences" / "locomo@1.json").exists() is kept


def test_the_list_names_every_file_and_how_to_get_it(call: Call, folder: Path) -> None:
    call("pull", "longmemeval", "--accept-licence")
    lines = [line.strip() for line in call("list", "longmemeval").done.splitlines()]
    assert lines[0] == "longmemeval@1: LongMemEval, 500 items, licence MIT"
    assert "--protocol judge (default): Judge" in lines
    assert any(line.startswith("--tier quick: ") for line in lines)
    assert f"file s: 7 kB, {digest_bytes(BYTES)}" in lines
    assert f"on this machine: {folder}/longmemeval/made_s.json" in lines
    assert lines[-1] == "get it: memeval data pull longmemeval --file oracle"


def test_the_list_begins_with_what_is_ready_and_gives_each_benchmark_a_line(call: Call) -> None:
    out = call("list").done
    summary, blank, head, *lines = out.splitlines()
    ready = sum(line.endswith(" ready") for line in lines)
    need = sum("memeval data pull " in line for line in lines)
    assert summary.startswith(f"{ready} benchmarks ready to run, {need} need data: memeval data pull NAME.")
    assert (blank, head.split()) == ("", ["benchmark", "items", "size", "licence", "state"])
    states = {line.split()[0]: line for line in lines}
    assert set(states) == set(known_ids())
    assert "2.2 MB" in states["deepmemeval@1"] and "sha256" not in out


def test_machines_get_the_whole_catalogue(call: Call) -> None:
    rows = {row["id"]: row for row in json.loads(call("list", "--json")[1])}
    assert set(rows) == set(known_ids())
    row = rows["longmemeval@1"]
    assert [(file["name"], file["here"], file["bytes"]) for file in row["files"]] == [
        ("s", False, len(BYTES)),
        ("oracle", False, len(SECOND)),
    ]
    assert (row["licence"], row["redistribution"], row["accepted"], row["here"]) == ("MIT", "ids", False, False)
    assert row["bytes"] == len(BYTES) and row["digest"] == digest_bytes(BYTES) and row["items"] == 500
    assert {"categories", "protocols", "tiers", "metrics", "defects", "citation", "example", "alternates"} <= set(row)
    assert rows["beliefs@2"]["files"] == [] and rows["beliefs@2"]["accepted"] is None


@pytest.mark.parametrize("command", ["pull", "verify"])
def test_an_unknown_file_is_refused(call: Call, command: str) -> None:
    assert call(command, "longmemeval", "--file", "xl").fails("has no file 'xl'. Choose one of: s, oracle.")


def test_a_damaged_download_is_told_from_a_good_one(call: Call, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "served" / "s.json").write_bytes(BYTES.replace(b"a", b"b", 1))
    assert call("pull", "longmemeval", "--accept-licence").fails("the download does not match: its digest is")
    assert list((folder / "longmemeval").iterdir()) == []
    assert call("verify", "longmemeval")[0] == ExitCode.CHECK_FAILED


def test_verify_counts_what_a_released_file_must_hold(call: Call) -> None:
    call("pull", "longmemeval", "--accept-licence")
    assert call("verify", "longmemeval").fails("the catalogue has 70.", code=ExitCode.CHECK_FAILED)


def test_verify_says_that_a_file_of_the_right_shape_is_no_released_one(call: Call, tmp_path: Path) -> None:
    copy = tmp_path / "copy.json"
    copy.write_bytes(json.dumps(rows()[1:]).encode())
    shape = "the data has the shape of longmemeval@1, but is not a released file: its digest is sha256:"
    for words, problem in (((), shape), (("--file", "oracle"), "is not the released 'oracle'")):
        said = call("verify", "longmemeval", "--data", str(copy), *words)
        assert said.fails(problem, code=ExitCode.CHECK_FAILED)


def test_verify_reads_the_bytes_and_believes_no_index(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMEVAL_CACHE", str(tmp_path / "cache"))
    copy = tmp_path / "copy.json"
    copy.write_bytes(json.dumps(rows()[1:]).encode())
    call("verify", "longmemeval", "--data", str(copy))
    (index,) = (tmp_path / "cache" / "indexes").iterdir()
    index.write_text(index.read_text().replace(digest_bytes(copy.read_bytes()), digest_bytes(BYTES)))
    changed = f"the file changed: its digest is {digest_bytes(copy.read_bytes())}, and was"
    assert call("verify", "longmemeval", "--data", str(copy)).fails(changed, code=ExitCode.CHECK_FAILED)


@pytest.mark.parametrize(
    ("name", "file", "which"),
    [
        ("deepmemeval", "deepmemeval_500.json", "500 items, 2020 questions"),
        ("locomo", "locomo10.json", "1986 items, 1986 questions"),
    ],
)
def test_verify_names_the_released_file(call: Call, name: str, file: str, which: str) -> None:
    data = Path(os.environ.get("MEMEVAL_TEST_DATA", "nowhere"))
    if not (data / name / file).is_file():
        pytest.skip(f"MEMEVAL_TEST_DATA names no folder with {name}/{file}")
    out = call("verify", name, "--data", str(data)).done
    assert which in out and out.endswith(f"; the released file 'full', {file}\n")


def test_verify_says_that_a_sample_was_released_too(call: Call) -> None:
    sample = Path(os.environ.get("MEMEVAL_TEST_DATA", "nowhere")) / "deepmemeval" / "deepmemeval_sample.json"
    if not sample.is_file():
        pytest.skip("MEMEVAL_TEST_DATA names no folder with deepmemeval/deepmemeval_sample.json")
    out = call("verify", "deepmemeval", "--data", str(sample)).done
    assert "10 items" in out and "a released file, but not one that" in out


def test_verify_names_what_a_generated_benchmark_is_made_with_and_counts_it(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert call("verify", "lifecycle@1").done.endswith("; generated with seed 42, size 14\n")
    monkeypatch.setitem(PARAMETERS.defaults, "size", 12)
    assert call("verify", "beliefs@2").fails("its catalogue says 780 items", code=ExitCode.CHECK_FAILED)


def test_a_download_without_a_terminal_says_now_and_then_how_far_it_is(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "LINE_SECONDS", 0.0)
    err = call("pull", "longmemeval", "--accept-licence")[2]
    assert "made_s.json: 7 kB of 7 kB" in err


SAYS = "the benchmark torchy@1 of memeval-torchy 0.3 cannot be used: torchy:Torchy fails (SystemExit: no torch)."


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return an environment with a package that ends the process when it is imported."""
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "torchy.py").write_text('import sys\n\nsys.exit("no torch")\n')
    (folder / "pyproject.toml").write_text(
        '[project]\nname = "memeval-torchy"\nversion = "0.3"\n'
        '[project.entry-points."memeval.benchmarks"]\n"torchy@1" = "torchy:Torchy"\n'
    )
    return with_package(folder, tmp_path / "metadata")


def memeval(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "memeval", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


def test_a_command_that_needs_all_benchmarks_warns_once(environment: dict[str, str]) -> None:
    done = memeval(environment, "data", "list")
    assert done.returncode == 0 and "locomo@1" in done.stdout
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"memeval: warning: {SAYS}")


def test_a_command_that_asks_for_it_fails_and_says_why_once(environment: dict[str, str]) -> None:
    done = memeval(environment, "data", "list", "torchy")
    (line,) = done.stderr.splitlines()
    assert done.returncode == 2 and line.startswith(f"memeval: {SAYS}")
