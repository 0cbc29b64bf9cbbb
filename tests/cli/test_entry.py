"""What the entry point of the command line sets before it starts."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from memeval.__main__ import main

THREADS = "OPENBLAS_NUM_THREADS"


@pytest.mark.parametrize(("given", "used"), [(None, "1"), ("3", "3")])
def test_matrices_are_multiplied_on_one_thread_by_default(
    monkeypatch: pytest.MonkeyPatch, given: str | None, used: str
) -> None:
    monkeypatch.setenv(THREADS, given or "")
    if given is None:
        monkeypatch.delenv(THREADS)
    seen: list[str | None] = []
    monkeypatch.setattr("memeval.cli.main.main", lambda: seen.append(os.environ.get(THREADS)))
    main()
    assert seen == [used]


@pytest.mark.parametrize("encoding", ["ascii", "ascii:strict", "cp1252", "latin-1", "utf-8"])
def test_every_encoding_of_standard_output_is_printed_with_replacements(tmp_path: Path, encoding: str) -> None:
    text = json.dumps({"capital-of-australia": "Canberra – 記憶", "ゆめ – é": "–"})
    (tmp_path / "answers.json").write_text(text, encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    words = ("score", "answers.json", "--benchmark", "qa-smoke@1", "--protocol", "ask-basic")
    for more in ((), ("--json",)):
        done = subprocess.run(
            [sys.executable, "-m", "memeval", *words, *more],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        said = done.stdout.decode(encoding.partition(":")[0])
        assert "0" in said if not more else json.loads(said)["unknown"] == ["ゆめ – é"]
