"""The floor of MemoryCD: every guess by its rule, and a whole run through the ordinary door. Data is synthetic."""

from pathlib import Path
from typing import Any

import pytest

from memeval.benchmarks import find
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.systems.source import folder_source
from tests.support.memorycd import users, write_data
from tests.support.products import adapter_of

FOLDER = Path(__file__).parents[2] / "examples" / "memorycd-floor"

SHOWN = """\
ID: B000000001
  Number: 1
  Product: Desk lamp
ID: B000000002
  Number: 2
  Product Avg Rating: 3.5
ID: 0316769487
  Number: 3
  Product Avg Rating: 4.5"""

TURNED = "\n".join(reversed(SHOWN.replace("\nID", "\n\nID").split("\n\n")))


def floor(by: str) -> Any:
    made = adapter_of(FOLDER).Floor(by)
    made.retain("Rating: 2/5", {"rating": 2.0, "title": "Weak", "text": "It broke."})
    made.retain("Rating: 5/5", {"rating": 5, "text": "It is fine."})
    return made


@pytest.mark.parametrize(
    ("by", "rating", "title", "review"),
    [
        ("nothing", "5", "", ""),
        ("product", "4.5", "Tea kettle", "Tea kettle"),
        ("person", "3.5000", "Weak", "It is fine."),
    ],
)
def test_every_task_is_done_by_its_rule(by: str, rating: str, title: str, review: str) -> None:
    made = floor(by)
    target = "Product: Tea kettle\n  Product Avg Rating: 4.5\n  Rating: 1/5"
    answers = [made.query(f"[{task}] Do.\n\n{target}") for task in ("rating", "title", "review")]
    assert answers == [rating, title, review]


def test_products_come_by_their_average_ratings_or_in_one_drawn_order() -> None:
    shown = [f"[ranking] Do, as in B00EXAMPL1.\n\n{blocks}" for blocks in (SHOWN, TURNED)]
    assert floor("product").query(shown[0]) == "0316769487, B000000002, B000000001"
    drawn = floor("nothing").query(shown[0])
    assert sorted(drawn.split(", ")) == ["0316769487", "B000000001", "B000000002"]
    assert {drawn} == {floor(by).query(each) for by in ("nothing", "person") for each in shown}


def test_where_nothing_is_known_nothing_is_said() -> None:
    for by in ("product", "person"):
        made = floor(by)
        made.reset()
        said = {made.query(f"[{task}] Do.\n\nCategory: x") for task in ("rating", "title", "review", "ranking")}
        assert said == {""}
    assert floor("nothing").query("Where has Ada moved to?") == ""


def test_the_floor_runs_as_any_system_does(tmp_path: Path) -> None:
    data = write_data(tmp_path / "data", users(1, shortest=4, longest=4))
    asked = BenchmarkSession.open(find("memorycd@1"), data, protocol="rating-single")
    run = run_system(folder_source(FOLDER, "person"), asked, RunOptions(results=tmp_path / "results")).run
    assert run.system.slug == "memorycd-floor-person"
    assert run.coverage.full
    assert run.scores.overall.errors == 0
    assert 0.5 < (run.scores.composite.value or 0) <= 1
