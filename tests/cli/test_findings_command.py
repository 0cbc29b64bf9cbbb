"""``memeval sources findings`` counts published scores again, and fails where a count differs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memeval.cli.main import main
from memeval.records.base import digest_bytes

ROWS = b'[{"ok": true}, {"ok": false}]'
CLAIM = """[[claim]]
id = "one"
system = "System"
benchmark = "Benchmark"
metric = "accuracy"
claimed = "50.0"
repository = "owner/name"
commit = "abc"
stated = "README.md"
link = "see rows.json"
licence = "MIT"
[claim.recount]
rows = ""
values = ["ok"]
[[claim.recount.files]]
path = "rows.json"
"""

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Call:
    """Run the command in a small board; return its exit code, output and errors."""
    folder = tmp_path / "sources/findings"
    folder.mkdir(parents=True)
    (folder / "claims.toml").write_text(f'{CLAIM}digest = "{digest_bytes(ROWS)}"\n')
    (folder / "corrections.toml").write_text("")
    (tmp_path / "files/owner__name").mkdir(parents=True)
    (tmp_path / "files/owner__name/rows.json").write_bytes(ROWS)

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(
            sys, "argv", ["memeval", "sources", "findings", *words, "--results", str(tmp_path / "results")]
        )
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return run


def test_counts_are_stored_shown_and_counted_again(call: Call, tmp_path: Path) -> None:
    code, out, _err = call("--from", str(tmp_path / "files"), "--keep")
    assert code == 0 and "one 50.0 % 50.00 % 2 holds" in " ".join(out.split())
    assert call()[:2] == (0, out), "the stored counts say the same"
    assert call("--from", str(tmp_path / "files"))[0] == 0
    data = json.loads(call("--json")[1])
    assert data["findings"][0]["recount"]["value"] == 0.5


def test_a_count_that_differs_from_the_stored_one_fails(call: Call, tmp_path: Path) -> None:
    call("--from", str(tmp_path / "files"), "--keep")
    stored = tmp_path / "sources/findings/recounts.json"
    stored.write_text(stored.read_text().replace('"points": 1.0', '"points": 2.0'))
    code, _out, err = call("--from", str(tmp_path / "files"))
    assert code == 1 and "the count of 'one' differs" in err


def test_a_wrong_call_is_refused_with_the_fix(call: Call, tmp_path: Path) -> None:
    assert call("--keep")[0] == 2
    code, _out, err = call()
    assert code == 2 and "recounts.json" in err and "--keep" in err
    code, _out, err = call("--from", str(tmp_path))
    assert code == 2 and "'rows.json' of owner/name is not here" in err
    for file in (tmp_path / "sources/findings").iterdir():
        file.unlink()
    (tmp_path / "sources/findings").rmdir()
    code, _out, err = call()
    assert code == 2 and "no findings here" in err
