"""``memeval model``: what there is, fetching it, serving it."""

import json
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from memeval.local.catalogue import Kind
from memeval.records.errors import ExitCode
from tests.support.calling import Call
from tests.support.tiny_model import NAME, gguf, pin, stand_in


def test_models_are_listed_with_the_command_that_fetches_them(
    call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = pin(monkeypatch, tmp_path, gguf(), here=False)
    stand_in(monkeypatch)
    listed = f"{NAME}: A model of a few bytes, 1 kB, Apache-2.0, fetch it: memeval model pull {NAME}"
    assert listed in call("model", "list").done
    copy = tmp_path / "copy.gguf"
    copy.write_bytes(gguf())
    assert call("model", "pull", NAME, "--file", str(copy)).done == f"{path}\n"
    one = call("model", "list", NAME)
    assert "Apache-2.0, here" in one.out and "licence stated at https://example.org/licence" in one.out
    (row,) = json.loads(call("model", "list", NAME, "--json").out)
    assert row["here"] is True and row["digest"].startswith("sha256:")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("list", "nothing"), "there is no local model 'nothing'"),
        (("pull", NAME, "--from", "nowhere"), "cannot be had from 'nowhere'"),
        (("pull", NAME, "--file", "missing.gguf"), "file not found"),
        (("serve", NAME), "the weights of 'tiny' are not on this machine"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(
    call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: tuple[str, ...], problem: str
) -> None:
    pin(monkeypatch, tmp_path, gguf(), here=False)
    stand_in(monkeypatch)
    assert call("model", *words).fails(problem)


def test_a_list_without_the_engine_says_how_to_install_it(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memeval.local.catalogue.ENGINES", dict.fromkeys(Kind, ("no-such-engine",)))
    said = call("model", "list")
    assert said.code == ExitCode.DONE and "no-such-engine, which is not installed" in said.err


def test_a_served_model_answers_anybodys_client_until_it_is_stopped(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pin(monkeypatch, tmp_path, gguf())
    stand_in(monkeypatch)
    command = [sys.executable, "-m", "memeval", "model", "serve", NAME, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            url = process.stdout.readline().strip()
            with urllib.request.urlopen(f"{url}/models", timeout=60) as listed:
                assert json.load(listed)["data"][0]["id"] == NAME
            process.send_signal(signal.SIGTERM)  # as Ctrl-C, which a shell's background jobs ignore
            _out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, err) == (ExitCode.DONE, "stopped.\n")
