"""``memeval sources`` as users meet it."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memeval.claims.copies import Copies, pull_file
from memeval.claims.store import write_regraded
from memeval.records.errors import BadInput
from tests.claims.conftest import BY_ID, ROWS, Grade, described, graded, keys, source_of
from tests.claims.test_findings import CLAIM, board
from tests.support.calling import Call
from tests.support.http_server import serving_folder

__all__ = ["graded", "keys"]


@pytest.fixture
def call(call: Call, tmp_path: Path, keys: Path) -> Call:
    """Call ``memeval`` in a folder with one source, its file and the benchmark's keys."""
    data = json.dumps(ROWS).encode()
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/answers.json").write_bytes(data)
    described(tmp_path / "sources", data)
    return call


IMPORT = ("sources", "import", "--from", ".", "--data", "longmemeval@1=keys.jsonl")


def test_an_import_prints_the_main_figures_and_stores_them(call: Call) -> None:
    code, out, err = call(*IMPORT)
    assert (code, err) == (0, "")
    assert out == "acme/answers: 4 of 4 rows matched; judge not stated 75.0 %; rules 50.0 % of 4\n"
    assert call("sources", "verify")[:2] == (0, "ok: 1 regraded file\n")
    assert call(*IMPORT, "--check")[0] == 0


def test_a_check_finds_a_summary_that_differs(call: Call, tmp_path: Path) -> None:
    call(*IMPORT)
    path = tmp_path / "results" / "imported" / "acme" / "answers.json"
    path.write_text(path.read_text().replace('"right": 3', '"right": 4'))
    assert call(*IMPORT, "--check").fails("the stored summary or its rows differ", code=1)
    assert call("sources", "verify").fails("'judges' does not follow from the rows", code=1)


def test_a_changed_file_is_refused_and_nothing_is_stored(call: Call, tmp_path: Path) -> None:
    (tmp_path / "runs/answers.json").write_bytes(b"[]")
    assert call(*IMPORT).fails("expected sha256:", code=1)
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("sources", "list", "nobody"), "there is no source 'nobody'"),
        (("sources", "list", "--sources", "elsewhere"), "there are no sources"),
        (("sources", "import", "--data", "keys.jsonl"), "invalid --data 'keys.jsonl'"),
        (("sources", "import", "acme", "--file", "other"), "there is no such file"),
    ],
)
def test_a_wrong_call_gets_a_sentence(call: Call, words: tuple[str, ...], problem: str) -> None:
    assert call(*words).fails(problem)


def test_the_list_says_which_files_are_here(call: Call) -> None:
    assert call("sources", "list", "acme", "--from", ".")[1] == (
        "acme: acme/memory, MIT, 1 answer set, 1 of 1 file here\n  answers: Acme, longmemeval@1\n"
    )


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """Serve a folder ``served`` on loopback."""
    (tmp_path / "served").mkdir()
    with serving_folder(tmp_path / "served") as url:
        yield url


def test_a_file_is_pulled_once_and_checked_and_a_damaged_one_is_replaced(server: str, tmp_path: Path) -> None:
    data = json.dumps(ROWS).encode()
    source, copies = source_of(data, BY_ID), Copies(tmp_path / "pulled")
    part = source.files[0].parts[0]
    (tmp_path / "served" / "a.json").write_bytes(data)
    path = pull_file(source, part, copies, f"{server}/a.json")
    assert path.read_bytes() == data == copies.find(source, part)[1]
    assert pull_file(source, part, copies, f"{server}/gone.json") == path
    path.write_bytes(b"[]")
    assert pull_file(source, part, copies, f"{server}/a.json").read_bytes() == data


def test_a_file_that_is_here_under_another_name_is_named(tmp_path: Path) -> None:
    data = json.dumps(ROWS).encode()
    source, copies = source_of(data, BY_ID), Copies(tmp_path)
    part = source.files[0].parts[0]
    place = tmp_path / "memory" / f"{part.path}.gz"
    place.parent.mkdir(parents=True)
    place.write_bytes(gzip.compress(data))
    assert pull_file(source, part, copies) == place


def test_the_address_of_a_file_is_encoded() -> None:
    source = source_of(b"[]", BY_ID)
    part = source.files[0].parts[0].model_copy(update={"path": "résultats/run #1?.json"})
    assert source.address(part).endswith(f"/acme/memory/{'0' * 40}/r%C3%A9sultats/run%20%231%3F.json")


def test_a_packed_file_is_checked_and_read_by_its_content(server: str, tmp_path: Path) -> None:
    data = json.dumps(ROWS).encode()
    source, copies = source_of(data, BY_ID), Copies(tmp_path / "pulled")
    part = source.files[0].parts[0].model_copy(update={"path": "runs/answers.json.gz"})
    (tmp_path / "served" / "a.json.gz").write_bytes(gzip.compress(data))
    path = pull_file(source, part, copies, f"{server}/a.json.gz")
    assert path.name == "answers.json.gz"
    assert copies.find(source, part)[1] == data
    path.write_bytes(gzip.compress(data)[:-9])
    with pytest.raises(BadInput, match="the gzip file is damaged"):
        copies.find(source, part)


@pytest.mark.parametrize(
    ("served", "name", "problem"),
    [
        (b"<html>moved</html>", "a.json", "It is an HTML page"),
        (b"[]", "a.json", "expected sha256:"),
        (b"[]", "b.json", "moved or deleted"),
    ],
)
def test_a_file_that_moved_or_changed_is_refused(
    server: str, tmp_path: Path, served: bytes, name: str, problem: str
) -> None:
    source, copies = source_of(b"[1]", BY_ID), Copies(tmp_path / "pulled")
    (tmp_path / "served" / "a.json").write_bytes(served)
    with pytest.raises(BadInput, match=problem):
        pull_file(source, source.files[0].parts[0], copies, f"{server}/{name}")
    assert not (tmp_path / "pulled").exists()


def test_no_system_can_run_on_keys_alone(call: Call) -> None:
    said = call("run", "no-memory", "--benchmark", "longmemeval@1", "--data", "keys.jsonl")
    assert said.fails("no histories to ingest")


def test_claims_and_counts_are_printed_and_exported(call: Call, graded: Grade, tmp_path: Path) -> None:
    write_regraded(tmp_path / "results", graded(ROWS, BY_ID))
    board(tmp_path, CLAIM)
    assert "one 75 % 75.0 % 4 of 4 holds" in " ".join(call("sources", "findings").done.split())
    data = json.loads(call("sources", "findings", "--json").done)
    assert data["findings"][0]["recount"]["value"] == 0.75


def test_a_folder_without_findings_and_a_claim_without_its_file_are_refused(call: Call, tmp_path: Path) -> None:
    assert call("sources", "findings").fails("no findings here")
    board(tmp_path, CLAIM)
    assert call("sources", "findings").fails("'acme/answers', which is not stored")
