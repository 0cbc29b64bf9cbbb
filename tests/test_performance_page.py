"""The tables of the page *Performance* mark what is missed and what became slower."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from bench.__main__ import main
from bench.history import Uncommitted, added, commits_table, measured_commit, newest_table


def measured(ratio: float, name: str = "run", **other: Any) -> dict[str, Any]:
    return {
        "name": name,
        "reference": "a bare pipe",
        "ours_seconds": ratio,
        "reference_seconds": 1.0,
        "ratio": ratio,
        "cpu_ratio": ratio,
        "target": 1.5,
        "peak_mb": 80.0,
        "peak_target_mb": None,
        "ratios": [ratio + place / 1000 for place in range(7)],
        **other,
    }


def entry(commit: str, *measurements: dict[str, Any]) -> dict[str, Any]:
    machine = {"cores": 2, "python": "3.11.7", "system": "Linux x86_64"}
    return {"commit": commit * 40, "measured": "2026-11-25", "machine": machine, "measurements": list(measurements)}


def plain(table: str) -> str:
    return table.replace("\N{NO-BREAK SPACE}", " ")


def test_missed_targets_of_time_and_memory_are_bold() -> None:
    table = plain(newest_table(entry("a", measured(1.6), measured(1.2, "other", peak_mb=400.0, peak_target_mb=300.0))))
    assert "| **1.60 ×** |" in table and "| 1.20 × |" in table
    assert "| **400 MB (≤ 300)** |" in table and "| 80 MB |" in table


@pytest.mark.parametrize(("seconds", "shown"), [(0.000718, "0.718 ms"), (0.0994, "99.4 ms"), (0.1, "0.1 s")])
def test_short_times_are_shown_in_milliseconds(seconds: float, shown: str) -> None:
    assert f"| {shown} |" in plain(newest_table(entry("a", measured(1.0, ours_seconds=seconds))))


def test_a_limit_is_shown_where_it_is_known_and_not_the_reference() -> None:
    known, same = measured(1.2, limit_seconds=0.19), measured(1.2, limit_seconds=1.0)
    table = plain(newest_table(entry("a", known, same)))
    assert "| 1.2 s (limit 0.19 s) | 1 s |" in table and "| 1.2 s | 1 s |" in table


def test_only_what_became_slower_beyond_noise_is_bold() -> None:
    table = plain(commits_table([entry("a", measured(1.2)), entry("b", measured(1.5)), entry("c", measured(1.2))]))
    assert table.splitlines()[-1].endswith("| 1.20 × | **1.50 ×** | 1.20 × |")


def test_a_measurement_that_a_commit_lacks_is_a_dash() -> None:
    table = plain(commits_table([entry("a", measured(1.2)), entry("b", measured(1.2), measured(1.0, "new"))]))
    assert "| new, beside a bare pipe | – | 1.00 × |" in table


def test_each_commit_has_its_day_and_its_python() -> None:
    machine = {"cores": 2, "python": "3.13.1", "system": "Linux"}
    later = {**entry("b", measured(1.2)), "machine": machine, "measured": "2026-11-26"}
    (head, *_) = commits_table([entry("a", measured(1.2)), later]).splitlines()
    assert head.endswith("| `aaaaaaaa`<br>2026-11-25<br>Python 3.11.7 | `bbbbbbbb`<br>2026-11-26<br>Python 3.13.1 |")


def test_a_commit_that_is_measured_again_is_replaced() -> None:
    first, second, again = entry("a", measured(1.0)), entry("b", measured(1.1)), entry("a", measured(1.2))
    assert added([first, second], again) == [second, again]


def test_changes_that_are_not_committed_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for command in (["init", "-q"], ["config", "user.email", "a@example.org"], ["config", "user.name", "A"]):
        subprocess.run(["git", *command], check=True)
    (tmp_path / "file").write_text("one")
    subprocess.run(["git", "add", "."], check=True)
    subprocess.run(["git", "commit", "-qm", "One"], check=True)
    assert len(measured_commit()) == 40
    (tmp_path / "file").write_text("two")
    with pytest.raises(Uncommitted, match="Commit them, and measure again"):
        measured_commit()


def test_figures_of_some_measurements_alone_are_not_stored(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--only", "start", "--store"])
    assert "Leave out --only" in capsys.readouterr().err
