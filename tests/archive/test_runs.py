"""Finding sealed runs."""

import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from memeval.archive.audits import stored_audits
from memeval.archive.matrices import stored_matrices
from memeval.archive.rows import cache_path
from memeval.archive.runs import RunFolder, find_run, runs_under, sealed_runs
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from memeval.records.grade import Grade
from tests.support.runs import make_run, problems_in


def test_a_run_gives_its_rows_and_the_digest_of_its_head(tmp_path: Path) -> None:
    folder = make_run(tmp_path, "acme", {"kept": 50, "changed": 1})
    grades = list(folder.grades())
    assert all(isinstance(grade, Grade) for grade in grades)
    assert sum(grade.verdict is True for grade in grades) == 51
    assert len(list(folder.responses())) == folder.run.files["responses.jsonl"].rows == 100
    assert [context.parts[0].text for context in folder.contexts()] == ["Ada – Zürich"]
    assert folder.digest == digest_bytes((folder.path / "run.json").read_bytes())


@pytest.mark.parametrize(
    ("part", "name", "said"),
    [
        ("judge", "rules@1", "rules@1 was removed: it failed reference answers"),
        ("benchmark", "beliefs@1", "beliefs@1 was removed: a solver"),
        ("judge", "rules@3", "unknown key 'system.label'"),
    ],
)
def test_a_run_of_a_former_form_says_which_edition_it_names(tmp_path: Path, part: str, name: str, said: str) -> None:
    head = make_run(tmp_path, "acme").path / "run.json"
    data = json.loads(head.read_bytes())
    data["system"]["label"] = "no model"
    data["track"][part] = name
    head.write_text(json.dumps(data))
    with pytest.raises(BadInput, match=said):
        RunFolder(head.parent).run  # noqa: B018 - reading it is what is tested


def test_runs_are_found_by_path_and_unfinished_ones_are_passed_over(tmp_path: Path) -> None:
    made = [make_run(tmp_path, slug, done=1) for slug in "qwertyuiopasdfgh"]
    (made[0].path.parent / "20261102T100000-0123abcd" / "journal").mkdir(parents=True)
    assert [folder.path for folder in sealed_runs(tmp_path)] == sorted(folder.path for folder in made)
    assert sealed_runs(tmp_path / "nothing") == []


def test_a_run_is_named_by_folder_or_by_id(tmp_path: Path) -> None:
    made = make_run(tmp_path, "acme")
    make_run(tmp_path, "zeta")
    assert find_run(tmp_path / "elsewhere", str(made.path)).path == made.path
    assert find_run(tmp_path, made.run.run_id).path == made.path
    with pytest.raises(BadInput, match="no finished run nonsense: no such folder, and no run under"):
        find_run(tmp_path, "nonsense")


def test_a_run_that_is_not_finished_is_called_so_by_folder_and_by_id(tmp_path: Path) -> None:
    folder = tmp_path / "tiny" / "plain" / "20260101T000000Z-00000000"
    (folder / "journal").mkdir(parents=True)
    for named in (str(folder), folder.name):
        with pytest.raises(BadInput, match="this run is not finished") as refused:
            find_run(tmp_path, named)
        assert refused.value.where == str(folder)


def test_an_id_that_stands_in_two_folders_names_neither(tmp_path: Path) -> None:
    made = make_run(tmp_path, "acme")
    copy = made.path.parents[1] / "copy" / made.path.name
    copy.mkdir(parents=True)
    (copy / "run.json").write_bytes(made.head_bytes)
    with pytest.raises(BadInput, match=r"is in several folders of .* Name the folder\."):
        find_run(tmp_path, made.run.run_id)


def test_rows_are_here_only_where_all_of_them_are(tmp_path: Path) -> None:
    folder = make_run(tmp_path, "acme")
    assert folder.has_rows
    folder.file("contexts.jsonl").unlink()
    assert not folder.has_rows


def test_a_folder_without_a_head_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"there is no run\.json here\. Name the folder of a finished run\.") as refused:
        RunFolder(tmp_path).run  # noqa: B018
    assert str(tmp_path) in str(refused.value)


@pytest.fixture
def busy(tmp_path: Path) -> Iterator[RunFolder]:
    """A run in a results folder where a thread makes and deletes other folders, runs among them."""
    kept = make_run(tmp_path, "acme", done=1)
    stop = threading.Event()

    def make_and_delete() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            copy = kept.path.with_name(f"{kept.path.name[:-8]}{number % 7:08x}")
            empty = tmp_path / f"more-{number % 5}" / "a" / "b" / "c"
            audit = tmp_path / "audits" / f"more-{number % 5}" / "a" / "b"
            shutil.copytree(kept.path, copy)
            (copy / "run.json").rename(copy / "run.json.part")
            empty.mkdir(parents=True)
            audit.mkdir(parents=True)
            shutil.rmtree(copy)
            shutil.rmtree(empty.parents[2])
            shutil.rmtree(audit.parents[1])

    thread = threading.Thread(target=make_and_delete)
    thread.start()
    yield kept
    stop.set()
    thread.join()


def test_folders_that_vanish_while_runs_are_looked_for_are_left_out(busy: RunFolder, tmp_path: Path) -> None:
    for _ in range(200):
        assert busy.path in [folder.path for folder in sealed_runs(tmp_path)]
        assert busy.path in [folder.path for folder in runs_under(tmp_path)]
        assert stored_audits(tmp_path) == []
        assert stored_matrices(tmp_path) == []


def test_a_run_that_is_deleted_while_it_is_verified_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_run(tmp_path, "acme", done=1)
    gone = make_run(tmp_path, "zeta", done=1)
    assert problems_in(gone.path) == []

    def deleted_when_read(folder: RunFolder) -> Iterator[Grade]:
        if folder.path == gone.path:
            shutil.rmtree(folder.path)
        return read_grades(folder)

    read_grades = RunFolder.grades
    monkeypatch.setattr(RunFolder, "grades", deleted_when_read)
    assert [finding for finding in problems_in(tmp_path) if "zeta" in finding.where] == []


def test_links_to_folders_of_runs_are_followed_as_deep_as_a_board_does(tmp_path: Path) -> None:
    made = make_run(tmp_path / "elsewhere", "acme", done=1)
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / made.path.parents[1].name).symlink_to(made.path.parents[1], target_is_directory=True)
    (through,) = runs_under(tmp_path / "results")
    assert through.path.resolve() == made.path


def test_a_link_that_leads_nowhere_is_damage_and_is_not_replaced_by_the_cache(tmp_path: Path) -> None:
    run = make_run(tmp_path, "acme", done=1)
    path, stated = run.file("grades.jsonl"), run.run.files["grades.jsonl"]
    cached = cache_path(stated.digest)
    cached.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(path, cached)
    assert RunFolder(run.path).file("grades.jsonl") == cached
    path.symlink_to(tmp_path / "nowhere")
    assert RunFolder(run.path).file("grades.jsonl") == path


def test_a_file_in_a_stored_source_is_no_run(tmp_path: Path) -> None:
    run = make_run(tmp_path, "acme", done=1)
    inside = tmp_path / "sources" / "acme" / f"{'0' * 16}-{'0' * 8}"
    inside.mkdir(parents=True)
    shutil.copy(run.path / "run.json", inside)
    assert [folder.path for folder in sealed_runs(tmp_path)] == [run.path]
