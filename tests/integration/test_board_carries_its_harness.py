"""A published board alone is enough: its own wheel, in an empty environment, recomputes its numbers."""

import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest

from memeval import api
from memeval.archive.published import published_run
from memeval.archive.runs import RunFolder
from memeval.evaluation.run.provenance import memeval_version
from memeval.options import RunOptions
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from memeval.records.release import Release
from memeval.site.release.publish import publish
from memeval.site.release.targets import open_target
from memeval.storage import package_digest
from tests.support.http_server import serving_folder

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published board with one run, and nothing else."""
    folder = tmp_path_factory.mktemp("board")
    api.run("bm25", "beliefs@2", parameters={"size": 1}, options=RunOptions(results=folder / "results", tier="full"))
    for _line in publish(folder / "results", open_target(folder, str(folder / "public"), None), version="2027.1"):
        pass
    (folder / "public").rename(published := tmp_path_factory.mktemp("elsewhere") / "public")
    return published / "2027.1"


@pytest.fixture(scope="module")
def address(board: Path) -> Iterator[str]:
    with serving_folder(board.parent) as url:
        yield f"{url}/{board.name}/"


@pytest.fixture(scope="module")
def installed(board: Path, address: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty environment with the wheel from the board's address, and other packages from this environment."""
    folder = tmp_path_factory.mktemp("environment")
    uv = [sys.executable, "-m", "uv"]
    subprocess.run([*uv, "venv", "-q", "--python", sys.executable, str(folder)], check=True, timeout=120)
    python = folder / "bin" / "python"
    wheel = address + install_path(board)
    subprocess.run([*uv, "pip", "install", "-q", "--no-deps", "--python", str(python), wheel], check=True, timeout=120)
    packages = next(folder.glob("lib/python*/site-packages"))
    (packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin"


def install_path(board: Path) -> str:
    """Return the path of the wheel inside the board, as the page *Install* names it."""
    page = (board / "install" / "index.html").read_text("utf-8")
    found = re.search(r'pip install "<span data-address="\.\./([^"]+)">ADDRESS/\1</span>"', unescape(page))
    assert found is not None, page
    assert page.count("ADDRESS is the address of this board") == page.count("<noscript>ADDRESS is") == 1
    return found[1]


def run_page(board: Path) -> Path:
    (page,) = (each for each in (board / "runs").iterdir() if (each / "files").is_dir())
    return page


def called(command: Path, *words: str) -> str:
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "MEMEVAL_CACHE": os.environ["MEMEVAL_CACHE"]}
    done = subprocess.run(
        [command, *words], capture_output=True, text=True, cwd="/", env=environment, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_release_holds_the_wheel_of_its_memeval(board: Path) -> None:
    path = unquote(install_path(board))
    assert path == f"harness/memeval_leaderboard-{memeval_version()}-py3-none-any.whl"
    release = Release.parse((board / "release.json").read_bytes(), "release.json")
    assert release.files[path] == digest_bytes((board / path).read_bytes())
    assert (release.memeval, release.memeval_digest) == (memeval_version(), package_digest())
    assert memeval_version().endswith(f"+{package_digest()[7:19]}")


def test_an_installed_memeval_packs_the_same_wheel_again(board: Path, installed: Path) -> None:
    code = "import sys; from memeval.site.pages.harness_wheel import wheel; sys.stdout.buffer.write(wheel())"
    done = subprocess.run([installed / "python", "-c", code], capture_output=True, cwd="/", check=True, timeout=120)
    assert done.stdout == (board / unquote(install_path(board))).read_bytes()


@pytest.mark.parametrize("by_address", [True, False])
def test_an_empty_environment_reproduces_a_number(
    board: Path, installed: Path, address: str, by_address: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMEVAL_CACHE", str(tmp_path))
    page = run_page(board)
    place = f"{address}runs/{page.name}/" if by_address else str(page)
    composite = RunFolder(page / "files").run.scores.composite.value
    assert composite is not None
    said = called(installed / "memeval", "reproduce", place)
    assert said == f"{page.name}: 12 grades, composite {100 * composite:.1f}: equal\n"
    assert "scores       ok: 1 run" in called(installed / "memeval", "verify", place)
    assert "<code>memeval reproduce" in (page / "index.html").read_text("utf-8")


def test_a_run_that_does_not_match_its_digests_is_refused(board: Path, tmp_path: Path) -> None:
    files = tmp_path / "run" / "files"
    files.mkdir(parents=True)
    head = (run_page(board) / "files" / "run.json").read_bytes()
    (files / "run.json").write_bytes(head)
    run = RunFolder(files).run
    with pytest.raises(BadInput, match=r"cannot be read|is missing"):
        published_run(str(files.parent))
    (files / "files.json").write_text('{"files": []}')
    with pytest.raises(BadInput, match="is not a list of a run's files"):
        published_run(str(files.parent))
    (files / "files.json").write_text('{"files": {}}')
    with pytest.raises(BadInput, match=r"the board does not offer .*jsonl of this run\."):
        published_run(str(files.parent))
    names = ", ".join(f'"{name}": "other.gz"' for name in run.files)
    (files / "files.json").write_text(f'{{"files": {{{names}}}}}')
    (files / "other.gz").write_bytes(b"no gzip")
    with pytest.raises(BadInput):
        published_run(str(files.parent))


def test_a_link_never_leads_to_another_server(board: Path, address: str) -> None:
    page = run_page(board)
    listed = page / "files" / "files.json"
    kept = listed.read_bytes()
    name = next(iter(RunFolder(page / "files").run.files))
    try:
        listed.write_bytes(re.sub(rf'"{name}":"[^"]+"'.encode(), f'"{name}":"http://127.0.0.2/x"'.encode(), kept))
        with pytest.raises(BadInput, match="leads to another server"):
            published_run(f"{address}runs/{page.name}/")
    finally:
        listed.write_bytes(kept)
