"""Faults of the disk: what a system says, and what it keeps from its caller."""

from contextlib import closing
from pathlib import Path

import pytest

from memeval.execution.trials.disk_faults import disk_fault, flip
from memeval.execution.trials.disks import require_mount, why_no_mount
from memeval.execution.trials.stage import Stage, StoredFolders
from memeval.records.errors import NotApplicable
from memeval.records.trials_of_disks import DiskFault, DiskTrouble, FaultObservation, FaultOutcome
from memeval.systems.child import Launch
from memeval.systems.controls import all_controls
from memeval.systems.process import SystemProcess
from memeval.systems.source import control_source
from tests.systems.helpers import PATIENT, write

needs_mount = pytest.mark.skipif(why_no_mount() is not None, reason=f"no small disk here: {why_no_mount()}")

SYNCED = control_source(all_controls()["synced-store"]).launch

SWALLOWS = """
import os, pathlib

class Swallows:
    def __init__(self):
        self.file = pathlib.Path(os.environ["MEMEVAL_STORAGE"], "texts")
        self.texts = self.file.read_text(errors="replace").splitlines() if self.file.exists() else []
    def reset(self):
        pass
    def retain(self, content):
        self.texts.append(content)
        try:
            with self.file.open("a") as file:
                file.write(content + chr(10))
        except OSError:
            pass
    def search(self, query, k, timestamp="now"):
        return [text for text in self.texts if len(set(text.split()) & set(query.split())) > 10][:k]
"""


def trial_of(trouble: DiskTrouble, **changed: int | float) -> DiskFault:
    trial = DiskFault(question_id="q", question="", seed=3, stored=12, trouble=trouble, writes=60, probed=12)
    return trial.model_copy(update=changed)


def observed(launch: Launch, trouble: DiskTrouble, **changed: int | float) -> FaultObservation:
    with closing(Stage(SystemProcess(launch, PATIENT, lambda line: None))) as stage:
        return disk_fault(trial_of(trouble, **changed), stage)


@needs_mount
@pytest.mark.parametrize("trouble", [DiskTrouble.FULL, DiskTrouble.READ_ONLY])
def test_a_store_that_raises_says_so_and_has_all_texts_later(trouble: DiskTrouble) -> None:
    seen = observed(SYNCED, trouble)
    assert (seen.outcome, seen.recovered, seen.missing) == (FaultOutcome.ERROR, True, 0), seen
    assert seen.started is (trouble is DiskTrouble.FULL) and seen.error
    assert seen.acknowledged + seen.refused == (60 if seen.started else 0) and seen.acknowledged < 40


@needs_mount
@pytest.mark.parametrize("trouble", [DiskTrouble.FULL, DiskTrouble.READ_ONLY])
def test_a_store_that_swallows_the_error_loses_texts_silently(tmp_path: Path, trouble: DiskTrouble) -> None:
    seen = observed(Launch(write(tmp_path, SWALLOWS), stores=True), trouble)
    assert (seen.outcome, seen.acknowledged, seen.recovered) == (FaultOutcome.SILENT, 60, False), seen
    assert seen.missing + seen.altered > 20


def test_a_flipped_byte_of_a_text_is_an_altered_text(tmp_path: Path) -> None:
    seen = observed(Launch(write(tmp_path, SWALLOWS), stores=True), DiskTrouble.FLIPPED, place=0.5)
    assert (seen.outcome, seen.missing + seen.altered, seen.error) == (FaultOutcome.SILENT, 1, None), seen
    assert seen.file is not None and seen.file.startswith("no ending, ") and seen.recovered is None


def test_a_flipped_byte_that_is_noticed_is_an_error() -> None:
    seen = observed(SYNCED, DiskTrouble.FLIPPED, place=0.0)  # no line of JSON begins with it
    assert (seen.outcome, seen.started) == (FaultOutcome.ERROR, False), seen


def test_a_process_from_before_the_trial_is_not_searched() -> None:
    trial = trial_of(DiskTrouble.FLIPPED, place=0.0)
    with closing(StoredFolders()) as folders:
        for _ in range(2):  # the first one fills the folder, which the second one copies
            with closing(Stage(SystemProcess(SYNCED, PATIENT, lambda line: None), folders)) as stage:
                stage.system.start()
                assert disk_fault(trial, stage).outcome is FaultOutcome.ERROR


def test_one_byte_of_one_file_is_flipped(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    before = {"a.db": bytes(100), "sub/b": b"\xff" * 7, "empty": b""}
    for name, content in before.items():
        (tmp_path / name).write_bytes(content)
    assert flip(tmp_path, 1, 1.0) in (".db, 100 bytes", "no ending, 7 bytes")
    after = {name: (tmp_path / name).read_bytes() for name in before}
    assert sum(a != b for name in before for a, b in zip(before[name], after[name], strict=True)) == 1
    assert flip(tmp_path / "sub", 5, 0.0) == "no ending, 7 bytes"


def test_without_root_a_full_disk_is_not_applicable(monkeypatch: pytest.MonkeyPatch) -> None:
    why_no_mount.cache_clear()
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(NotApplicable, match="it needs root on Linux"):
        require_mount()
    why_no_mount.cache_clear()
