"""Runs of a published board: a board is hostile until its files match what they state."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memeval.archive.published import FILES, HEAD, published_run
from memeval.records.errors import BadInput
from tests.support.http_server import Call, serving
from tests.support.runs import make_run


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMEVAL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def page(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes a run's page with all its files, under a changed head."""

    def write(**changed: Any) -> Path:
        run = make_run(tmp_path / "results", "acme")
        head = run.run.data()
        for name, value in changed.items():
            inside = head["track"] if name == "benchmark" else head
            inside[name] = value(inside[name]) if callable(value) else value
        folder = tmp_path / "page"
        (folder / "files").mkdir(parents=True)
        (folder / HEAD).write_text(json.dumps(head), encoding="utf-8")
        rows = f"../../{run.path.relative_to(tmp_path)}"
        links = {name: f"{rows}/{name.rpartition('/')[2]}.gz" for name in head["files"]}
        (folder / FILES).write_text(json.dumps({"files": links}))
        return folder

    return write


def test_a_run_is_copied_with_its_rows(page: Callable[..., Path], cache: Path) -> None:
    found = published_run(str(page()))
    assert found.path.is_relative_to(cache / "published")
    assert len(list(found.grades())) == found.run.coverage.done


@pytest.mark.parametrize("named", ["http://127.0.0.1:9/läufe/x/", "http://[/"])
def test_text_that_is_no_address_is_refused_with_a_sentence(named: str) -> None:
    with pytest.raises(BadInput, match=r"cannot be read \(.+\)\. Check the address\."):
        published_run(named)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"run_id": "../../../../escaped"}, "is not the name of a run"),
        ({"benchmark": "../../escaped@1"}, "is not the name of a run"),
        ({"files": lambda files: {f"../../../{name}": one for name, one in files.items()}}, "lists an unknown file"),
    ],
)
def test_names_that_lead_out_of_the_cache_are_refused(
    page: Callable[..., Path], cache: Path, tmp_path: Path, changed: dict[str, Any], problem: str
) -> None:
    named = str(page(**changed))
    before = set(tmp_path.rglob("*"))
    with pytest.raises(BadInput, match=problem):
        published_run(named)
    assert set(tmp_path.rglob("*")) == before


@pytest.fixture
def elsewhere() -> Iterator[str]:
    """The address of a server that redirects every request to another one."""

    def redirect(call: Call) -> None:
        call.reply(302, headers={"Location": f"http://127.0.0.2:{call.connection.getsockname()[1]}{call.path}"})

    with serving(redirect) as url:
        yield f"{url}/runs/one/"


def test_a_redirect_to_another_server_is_not_followed(elsewhere: str, cache: Path) -> None:
    with pytest.raises(BadInput, match="leads to another server") as refused:
        published_run(elsewhere)
    assert "127.0.0.2" in str(refused.value)
