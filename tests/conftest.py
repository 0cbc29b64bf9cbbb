"""Plugins that every test can use, and settings: no sandbox unless asked for, and folders of our own."""

import atexit
import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from multiprocessing import forkserver
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling

from tests.own_home import move_in, new_home

pytest_plugins = [
    "tests.skips",
    *(f"tests.support.{name}" for name in ("products", "calling", "standing", "bucket_server")),
]

# A busy machine is no fault of the code: no property test fails for the seconds it took. A change is judged by the same
# examples each time; `make properties` looks for others, many more.
settings.register_profile(
    "memeval", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=50, derandomize=True
)
settings.register_profile(
    "search", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=1000, print_blob=True
)
settings.load_profile("memeval")

# Adapters of tests leave marks on the disk for the test to read. Tests of the sandbox ask for it by name.
os.environ["MEMEVAL_SANDBOX"] = "none"

# As the command line sets it: on several threads, OpenBLAS spends up to four times the processor time on waiting.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

move_in()

# Data and its indexes: not the user's, so that no test depends on what is there or leaves anything behind.
os.environ["MEMEVAL_DATA"] = tempfile.mkdtemp(prefix="memeval-data-")
atexit.register(shutil.rmtree, os.environ["MEMEVAL_DATA"], ignore_errors=True)

# What is imported and collected stays to the end. To look through it for cycles again and again took a tenth of a
# worker's time or more.
gc.disable()

MEMORY = Path("/dev/shm")
"""A file system in memory, on Linux."""

NEEDED = 2 << 30
"""Bytes that must be free in it."""

WRITING = "tests/archive/", "tests/claims/", "tests/exchange/", "tests/site/"
"""Folders whose tests write, sync and delete thousands of files, and start no sandbox, which hides ``MEMORY``."""


@pytest.fixture(autouse=True)
def home() -> Iterator[Path]:
    with new_home() as folder:
        yield folder


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """Return a folder of the test: in memory where that saves time and is possible."""
    named = request.node.nodeid.startswith(WRITING)
    if not named or not os.access(MEMORY, os.W_OK) or shutil.disk_usage(MEMORY).free < NEEDED:
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="memeval-test-", dir=MEMORY, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


DEAR = (
    "tests/evaluation/run/cluster/",
    "tests/browser/",
    "tests/integration/",
    "tests/site/",
    "tests/submissions/",
    "tests/test_lifecycle_page.py",
)
"""Folders whose files take longest, and a short file that does: first, so that at the end no worker is idle."""

TOGETHER = "tests/evaluation/run/cluster/", "tests/statistics/"
"""Folders whose files share what takes long to start, or to import: one worker runs them all."""


class FilesAndFolders(LoadFileScheduling):  # type: ignore[misc]
    """Gives a worker a file of tests at a time, or a folder of ``TOGETHER``."""

    def _split_scope(self, nodeid: str) -> str:
        return next((folder for folder in TOGETHER if nodeid.startswith(folder)), super()._split_scope(nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> FilesAndFolders | None:
    return FilesAndFolders(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Let each worker of a whole suite compile a share of the tests first, then use what the others have compiled.

    Otherwise, on a fresh clone, each of them would compile all tests.
    """
    worker = getattr(session.config, "workerinput", None)
    if worker is None or session.config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    files = sorted(Path(__file__).parent.rglob("test_*.py"))
    for file in files[int(worker["workerid"].removeprefix("gw")) :: worker["workercount"]]:
        with suppress(Exception, pytest.skip.Exception):  # the collection names what is wrong
            import_module(".".join(file.with_suffix("").relative_to(session.config.rootpath).parts))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):
        items.sort(key=_place)


def _place(item: pytest.Item) -> tuple[int, int, str]:
    """Return the place of a test: what is dear, then all other files, the longest first, with their folders mixed.

    Some folders' tests mostly wait, for processes or clocks, and some compute: in the order of the alphabet, workers
    would wait together. At the end, short files keep all workers busy.
    """
    file = item.nodeid.partition("::")[0]
    for place, name in enumerate(DEAR):
        if file.startswith(name):
            return place, 0, ""
    return len(DEAR), -_size(item.path), file


@cache
def _size(file: Path) -> int:
    return file.stat().st_size


def pytest_collection_finish(session: pytest.Session) -> None:
    gc.freeze()
    gc.enable()
    gc.set_threshold(300_000, 20, 100)  # as the command line sets it: tests call in one process what it does
    if "tests.support.commands" in sys.modules and not session.config.option.collectonly:
        forkserver.ensure_running()  # before memeval starts one, with less imported, for processes of its own


def pytest_sessionfinish() -> None:
    gc.collect()
    gc.freeze()  # pytest looks for cycles five times now, for each worker more than a second of nothing
