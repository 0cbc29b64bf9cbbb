"""Trials of crashes with real processes: each control loses what it should, and nothing else."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from memeval.execution.trials.crash import crash
from memeval.execution.trials.disks import CutDisk, require_disk, why_no_disk
from memeval.execution.trials.stage import Stage
from memeval.records.errors import NotApplicable
from memeval.records.trials import Activity, Crash, CrashFault, CrashObservation
from memeval.systems.child import Launch
from memeval.systems.controls import all_controls
from memeval.systems.errors import SystemFailure
from memeval.systems.process import SystemProcess
from memeval.systems.source import control_source
from tests.systems.helpers import PATIENT, write

FLUSHED = 16
"""How many texts the control ``buffered-store`` writes out at a time."""

needs_disk = pytest.mark.skipif(why_no_disk() is not None, reason=f"no power cut here: {why_no_disk()}")


def trial(fault: CrashFault, during: Activity = Activity.WRITING, **changed: int | float) -> Crash:
    made = Crash(question_id="q", question="", seed=7, fault=fault, during=during, writes=21, moment=0.6)
    return made.model_copy(update=changed)


def observed(launch: Launch, *trials: Crash) -> Iterator[CrashObservation]:
    with closing(Stage(SystemProcess(launch, PATIENT, lambda line: None))) as stage:
        for each in trials:
            yield crash(each, stage)


def control(slug: str) -> Launch:
    return control_source(all_controls()[slug]).launch


KILLS = (
    trial(CrashFault.KILL),
    trial(CrashFault.KILL, Activity.SEARCHING, stored=40, probed=10),
    trial(CrashFault.KILL, Activity.IDLE, moment=0.01),
)


@pytest.mark.parametrize("slug", ["synced-store", "unsynced-store", "sqlite-normal"])
def test_a_store_that_writes_before_it_acknowledges_loses_nothing_at_kills(slug: str) -> None:
    for each, seen in zip(KILLS, observed(control(slug), *KILLS), strict=True):
        assert seen.is_whole and seen.lists, seen
        assert seen.acknowledged >= each.writes and seen.probed == seen.acknowledged + each.probed
        assert seen.killed and seen.error is None and seen.ready_seconds


def test_a_store_that_buffers_loses_the_rest_of_a_division_by_sixteen() -> None:
    kill, stop = observed(control("buffered-store"), KILLS[2], trial(CrashFault.STOP))
    assert (kill.acknowledged, kill.lost) == (21, 21 % FLUSHED) and kill.opened and kill.writable
    assert stop.is_whole and stop.killed is None


def test_a_store_that_keeps_nothing_loses_every_text_also_at_a_clean_stop() -> None:
    for seen in observed(control("keeps-nothing"), KILLS[2], trial(CrashFault.STOP)):
        assert seen.opened and seen.writable and seen.lost == seen.probed == 21


@needs_disk
@pytest.mark.parametrize(("slug", "lost"), [("synced-store", 0), ("unsynced-store", 21), ("sqlite-full", 0)])
def test_a_power_cut_takes_what_was_not_synced(slug: str, lost: int) -> None:
    (seen,) = observed(control(slug), trial(CrashFault.LATE_CUT, Activity.IDLE, moment=0.0))
    assert (seen.lost, seen.opened, seen.writable) == (lost, True, True)


@needs_disk
def test_a_disk_keeps_synced_files_at_a_cut_and_loses_others(tmp_path: Path) -> None:
    with CutDisk(tmp_path, "commit=300", megabytes=64) as disk:
        (disk.path / "kept").write_text("synced")
        disk.sync()
        (disk.path / "lost").write_text("not synced")
        disk.cut()
        assert sorted(path.name for path in disk.path.iterdir()) == ["kept", "lost+found"]
    assert not list(tmp_path.glob("disk.*"))


def test_without_root_power_cuts_are_not_applicable(monkeypatch: pytest.MonkeyPatch) -> None:
    why_no_disk.cache_clear()
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(NotApplicable, match="it needs root on Linux"):
        require_disk()
    why_no_disk.cache_clear()


BROKEN = """
import os, pathlib

class Broken:
    def __init__(self):
        self.file = pathlib.Path(os.environ["MEMEVAL_STORAGE"], "texts")
        self.texts = self.file.read_text().splitlines() if self.file.exists() else []
        REOPEN
    def reset(self):
        pass
    def retain(self, content):
        self.texts.append(content)
        with self.file.open("a") as file:
            WRITE
    def search(self, query, k, timestamp="now"):
        return [text for text in self.texts if set(text.split()) & {query.split()[1]}][:k]
"""

WHOLE = 'file.write(content + "\\n")'


@pytest.mark.parametrize(
    ("write_line", "reopen", "expected"),
    [
        (WHOLE, "pass", {}),
        ('file.write(content[:30] + "\\n")', "pass", {"half": 3, "lost": 3}),
        ('file.write((content + "\\n") * 2)', "pass", {"doubled": 3}),
        (WHOLE, 'if self.texts: raise ValueError("index is corrupt")', {"opened": False, "writable": False, "lost": 3}),
    ],
)
def test_each_kind_of_damage_is_counted(
    tmp_path: Path, write_line: str, reopen: str, expected: dict[str, int | bool]
) -> None:
    launch = Launch(write(tmp_path, BROKEN.replace("WRITE", write_line).replace("REOPEN", reopen)), stores=True)
    (seen,) = observed(launch, trial(CrashFault.KILL, Activity.IDLE, writes=3, moment=0.0))
    whole = {"lost": 0, "half": 0, "doubled": 0, "unfound": 0, "opened": True, "writable": True}
    assert {name: getattr(seen, name) for name in whole} == whole | expected
    assert ("index is corrupt" in (seen.error or "")) is (not seen.opened)


def test_a_system_that_fails_before_the_fault_fails_the_trial(tmp_path: Path) -> None:
    launch = Launch(write(tmp_path, BROKEN.replace("WRITE", "raise OSError(28, 'No space')")), stores=True)
    launch = replace(launch, file=write(tmp_path, launch.file.read_text().replace("REOPEN", "pass")))
    with pytest.raises(SystemFailure, match="No space"):
        list(observed(launch, trial(CrashFault.KILL)))


@needs_disk
def test_a_disk_is_unmounted_when_memeval_ends_during_a_trial(tmp_path: Path) -> None:
    code = f"""
from pathlib import Path
from memeval.execution.trials.disks import CutDisk
CutDisk(Path({str(tmp_path)!r}), megabytes=64).__enter__()
raise SystemExit(3)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 3
    assert str(tmp_path) not in Path("/proc/self/mounts").read_text()
