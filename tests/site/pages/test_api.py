"""The JSON files for programs: what they name is there, and their rows are those of the pages."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from memeval.records.api import ApiBoards, ApiIndex, ApiRuns, ApiSystems
from memeval.records.base import digest_bytes
from memeval.site.pages.api import FOLDER, ApiFiles
from tests.site.conftest import Built
from tests.site.reading import assets_of, site_of

GUIDE = Path(__file__).parents[3] / "site/api.md"


def test_every_file_of_the_index_is_published_and_matches_its_schema(built: Built) -> None:
    index = ApiIndex.parse(built.read(f"{FOLDER}index.json"), "index")
    assert index.release is None and index.latest
    for file in index.files:
        assert (built.out / file.path).stat().st_size > 0
        if file.schema_path is not None:
            Draft202012Validator(json.loads(built.read(file.schema_path))).validate(json.loads(built.read(file.path)))
    Draft202012Validator(json.loads(built.read("schemas/api-index.schema.json"))).validate(index.data())


def test_boards_name_their_page_and_downloads(built: Built) -> None:
    boards = ApiBoards.parse(built.read(f"{FOLDER}boards.json"), "boards").boards
    assert any(board.headline for board in boards) and any(board.baseline for board in boards)
    for board in boards:
        rows = json.loads(built.read(board.json_path))["rows"]
        assert len(rows) == board.systems
        assert sum(row["standing"] == "ranked" for row in rows) == board.ranked
        assert (built.out / board.csv_path).is_file() and (built.out / board.page / "index.html").is_file()


def test_systems_have_the_rows_of_the_tables(built: Built) -> None:
    systems = ApiSystems.parse(built.read(f"{FOLDER}systems.json"), "systems").systems
    boards = ApiBoards.parse(built.read(f"{FOLDER}boards.json"), "boards").boards
    assert sum(len(system.results) for system in systems) == sum(board.systems for board in boards)
    ranked = [result for system in systems for result in system.results if result.standing == "ranked"]
    assert ranked and all(result.rank_best and result.rank_worst for result in ranked)
    for system in systems:
        assert (built.out / system.page / "index.html").is_file()


def test_runs_name_their_files_by_digest_and_none_is_left_out(built: Built) -> None:
    runs = ApiRuns.parse(built.read(f"{FOLDER}runs.json"), "runs").runs
    assert {run.run_id for run in runs} == {run.run.run_id for run in built.runs}
    assert "superseded" in {run.standing for run in runs}
    for run in runs:
        assert digest_bytes((built.out / run.head).read_bytes()) == run.digest


def test_an_empty_board_has_valid_files(tmp_path: Path) -> None:
    files = assets_of(site_of(tmp_path), ApiFiles)
    assert json.loads(files[f"{FOLDER}runs.json"]) == {"runs": [], "schema_version": 1}


@pytest.mark.parametrize("name", ["index", "boards", "systems", "runs"])
def test_the_guide_names_each_file_and_its_schema(name: str) -> None:
    text = GUIDE.read_text("utf-8")
    assert f"../{FOLDER}{name}.json" in text and f"schemas/api-{name}.schema.json" in text
