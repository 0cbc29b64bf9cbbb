"""``memeval`` called in the process of a test, which takes less time than the processes of :mod:`commands`."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from memeval.records.errors import ExitCode


class Said(NamedTuple):
    """How a call ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def folder(self) -> Path:
        (line,) = self.out.splitlines()
        return Path(line)

    @property
    def done(self) -> str:
        """What a call that ended well printed on standard output."""
        assert self.code == ExitCode.DONE, self.err
        return self.out

    def fails(self, *sentences: str, code: int = ExitCode.BAD_INPUT) -> bool:
        """Return whether the call ended with a code and printed these sentences to standard error."""
        return self.code == code and all(sentence in self.err for sentence in sentences)


Call = Callable[..., Said]


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Call:
    """Call ``memeval``, or another ``program``, with some words, in the folder of the test."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str, program: Callable[[], object] | None = None) -> Said:
        from memeval.cli.main import main

        monkeypatch.setattr(sys, "argv", ["memeval", *words])
        with pytest.raises(SystemExit) as ended:
            (program or main)()
        printed = capsys.readouterr()
        assert "Traceback" not in printed.err, printed.err
        return Said(int(ended.value.code or 0), printed.out, printed.err)

    return run
