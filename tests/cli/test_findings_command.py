"""``memeval sources findings`` prints what the stored rows say about published scores."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memeval.claims.store import write_regraded
from memeval.cli.main import main
from tests.claims.conftest import BY_ID, ROWS, Grade, graded, keys
from tests.claims.test_findings import CLAIM, board

__all__ = ["graded", "keys"]

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Call:
    """Run the command on a board; return its exit code, output and errors."""

    def run(*words: str) -> tuple[int, str, str]:
        arguments = ["memeval", "sources", "findings", *words, "--results", str(tmp_path / "results")]
        monkeypatch.setattr(sys, "argv", arguments)
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return run


def test_claims_and_counts_are_printed_and_exported(call: Call, graded: Grade, tmp_path: Path) -> None:
    write_regraded(tmp_path / "results", graded(ROWS, BY_ID))
    board(tmp_path, CLAIM)
    code, out, _err = call()
    assert code == 0 and "one 75 % 75.0 % 4 holds" in " ".join(out.split())
    data = json.loads(call("--json")[1])
    assert data["findings"][0]["recount"]["value"] == 0.75


def test_a_folder_without_findings_and_a_claim_without_its_file_are_refused(call: Call, tmp_path: Path) -> None:
    code, _out, err = call()
    assert code == 2 and "no findings here" in err
    board(tmp_path, CLAIM)
    code, _out, err = call()
    assert code == 2 and "'acme/answers', which is not stored" in err
