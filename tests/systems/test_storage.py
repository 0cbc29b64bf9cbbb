"""A storage folder outlives the processes of a system, however they end."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memeval.records.errors import BadInput
from memeval.records.submission import Submission
from memeval.systems.child import Launch
from memeval.systems.errors import SystemDied
from memeval.systems.family import processes
from memeval.systems.manifest import examined_manifest
from memeval.systems.process import SystemProcess
from memeval.systems.sandbox import Sandbox, SandboxMode, find_sandbox
from memeval.systems.source import folder_source
from tests.systems.helpers import PATIENT, child_of, gone, write

SOURCE = """
import os, subprocess, sys
from pathlib import Path

class Keeper:
    def __init__(self, where="", helper=False):
        self.file = Path(os.environ["MEMEVAL_STORAGE"], "texts")
        self.where = where
        if helper:
            sleeping = [sys.executable, "-c", "import time; time.sleep(600)"]
            subprocess.Popen(sleeping, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    def reset(self):
        self.file.unlink(missing_ok=True)
    def retain(self, content):
        with self.file.open("a") as file:
            file.write(content + "\\n")
            if content == "die":
                os.abort()
    def query(self, question, timestamp="now"):
        return self.where or (self.file.read_text() if self.file.exists() else "")
"""


@pytest.fixture(params=["plain", "sandboxed"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox | None:
    if request.param == "plain":
        return None
    found = find_sandbox(SandboxMode.AUTO, lambda note: None)
    if found is None:
        pytest.skip("no sandbox")
    return found


@pytest.fixture
def keeper(tmp_path: Path, sandbox: Sandbox | None) -> Iterator[SystemProcess]:
    (tmp_path / "system").mkdir()
    file = write(tmp_path / "system", SOURCE)
    launch = Launch(file, stores=True, parameters={"helper": True})
    process = SystemProcess(launch, PATIENT, lambda line: None, sandbox=sandbox)
    yield process
    process.close()


def stored(tmp_path: Path) -> Path:
    folder = tmp_path / "stored"
    folder.mkdir()
    return folder


def test_texts_are_there_after_a_clean_stop_and_a_start_on_the_same_folder(
    keeper: SystemProcess, tmp_path: Path
) -> None:
    keeper.storage = stored(tmp_path)
    assert "storage" in keeper.start().capabilities
    keeper.retain("one")
    keeper.close()
    keeper.start()
    assert keeper.ask("").answer == "one\n"
    assert [path.name for path in keeper.storage.iterdir()] == ["texts"]


def test_without_a_folder_each_process_has_an_empty_one(keeper: SystemProcess) -> None:
    keeper.start()
    keeper.retain("one")
    keeper.close()
    keeper.start()
    assert keeper.ask("").answer == ""


def test_a_crash_ends_all_processes_at_once_and_keeps_the_folder(keeper: SystemProcess, tmp_path: Path) -> None:
    keeper.storage = stored(tmp_path)
    keeper.start()
    keeper.retain("one")
    before = set(processes())
    assert keeper.crash() >= 2  # the worker and its helper, which is in another session
    with pytest.raises(SystemDied):
        keeper.retain("two")
    assert not [pid for pid in before - set(processes()) if not gone(pid)]
    keeper.start()
    assert keeper.ask("").answer.startswith("one\n")


def test_a_placeholder_stands_for_the_path_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "system").mkdir()
    launch = Launch(write(tmp_path / "system", SOURCE), stores=True, parameters={"where": "{storage}/x"})
    process = SystemProcess(launch, PATIENT, lambda line: None)
    process.storage = stored(tmp_path)
    process.start()
    assert process.ask("").answer == f"{process.storage}/x"
    assert child_of(process).storage == str(process.storage)
    process.close()


MANIFEST = """slug = "keeper"
name = "Keeper"
version = "1"
"""


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ("[storage]\n", "acknowledged"),
        ('[storage]\nacknowledged = ""\n', "acknowledged"),
        ('[storage]\nacknowledged = "COMMIT"\nfolder = "/tmp"\n', "folder"),
        ('[storage]\nacknowledged = "COMMIT"\ndocumentation = "sqlite.org"\n', "not a web address"),
        ('[storage]\nacknowledged = "COMMIT"\n[[services]]\nname = "redis"\nvariable = "REDIS_URL"\n', "[[services]]"),
    ],
)
def test_a_wrong_storage_table_is_refused_with_its_line(tmp_path: Path, more: str, problem: str) -> None:
    write(tmp_path, SOURCE)
    manifest = tmp_path / "submission.toml"
    manifest.write_text(MANIFEST + more)
    with pytest.raises(BadInput, match=r".") as refused:
        folder_source(tmp_path)
    assert problem in str(refused.value) and "submission.toml:" in str(refused.value)


def test_the_table_belongs_to_the_digest_and_its_absence_does_not(tmp_path: Path) -> None:
    write(tmp_path, SOURCE)
    manifest = tmp_path / "submission.toml"
    manifest.write_text(MANIFEST)
    plain = folder_source(tmp_path)
    manifest.write_text(MANIFEST + '[storage]\nacknowledged = "write() returned"\n')
    storing = folder_source(tmp_path)
    assert storing.launch.stores and not plain.launch.stores
    assert storing.submission_digest != plain.submission_digest
    submission, _ = examined_manifest(manifest)
    assert isinstance(submission, Submission) and submission.storage is not None
