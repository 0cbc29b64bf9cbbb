"""Published scores are counted again from the files, and bad files are refused with a sentence."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from memeval.analysis.recounts import PublishedFolder, judge_trials, recount
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from memeval.records.finding import ClaimsFile, Measure, PanelRecipe, PublishedClaim, PublishedFile, Recipe, RowFact

REPOSITORY = "owner/name"


def put(root: Path, path: str, content: Any, *, packed: bool = False) -> PublishedFile:
    """Store a published file, and return its record."""
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    where = root / "owner__name" / (path.replace("/", "__") + (".gz" if packed else ""))
    where.parent.mkdir(exist_ok=True)
    where.write_bytes(gzip.compress(data) if packed else data)
    return PublishedFile(path=path, digest=digest_bytes(data))


def claim_of(recipe: Recipe | None, **fields: Any) -> PublishedClaim:
    basis: dict[str, Any] = {
        "id": "one",
        "system": "System",
        "benchmark": "Benchmark",
        "metric": "accuracy by an LLM judge",
        "claimed": "50.0",
        "repository": REPOSITORY,
        "stated": "README.md",
        "licence": "MIT",
    }
    return PublishedClaim(**(basis | fields), recount=recipe)


def mean_of(file: PublishedFile, *values: str, rows: str = "", overlap: str = "") -> Recipe:
    return Recipe(files=(file,), rows=rows, values=values or ("ok",), overlap=overlap)


def test_numbers_and_truth_values_are_averaged_over_all_rows(tmp_path: Path) -> None:
    file = put(tmp_path, "a/b.json", {"0": [{"ok": 1}, {"ok": True}], "1": [{"ok": False}, {"ok": 0.5}]})
    found = recount(claim_of(mean_of(file, rows="*.*")), PublishedFolder(tmp_path))
    assert found is not None
    assert (found.value, found.files[0].rows, found.files[0].points) == (0.625, 4, 2.5)


def test_several_verdicts_of_a_row_are_averaged_and_lines_are_read_from_a_packed_file(tmp_path: Path) -> None:
    lines = b'{"j": {"1": true, "2": false}}\n\n{"j": {"1": true, "2": true}}\n'
    file = put(tmp_path, "x.jsonl", lines, packed=True)
    found = recount(claim_of(mean_of(file, "j.1", "j.2")), PublishedFolder(tmp_path))
    assert found is not None and found.value == 0.75


def test_several_files_count_equally_whatever_their_rows(tmp_path: Path) -> None:
    files = (put(tmp_path, "1.json", [{"ok": 1}]), put(tmp_path, "2.json", [{"ok": 0}, {"ok": 0}, {"ok": 0}]))
    found = recount(claim_of(Recipe(files=files, rows="", values=("ok",))), PublishedFolder(tmp_path))
    assert found is not None and found.value == 0.5


def test_recall_leaves_rows_without_evidence_out(tmp_path: Path) -> None:
    rows = [{"got": ["a", "b"], "want": ["a", "c"]}, {"got": ["a"], "want": []}, {"got": ["a"]}]
    file = put(tmp_path, "r.json", rows)
    recipe = Recipe(files=(file,), rows="", measure=Measure.RECALL, retrieved="got", evidence="want")
    found = recount(claim_of(recipe), PublishedFolder(tmp_path))
    assert found is not None
    assert (found.value, found.files[0].rows, found.files[0].counted) == (0.5, 3, 1)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"<!doctype html><title>Not found</title>", "is not JSON"),
        ([], "there are no rows"),
        ({"rows": 1}, "there are no rows"),
        ([{"ok": "yes"}], "not true, false or a number"),
        ([{"ok": 2}], "not true, false or a number"),
        ([{"correct": 1}], "has no field 'ok'"),
        (b"[" * 200_000, "nested too deeply"),
    ],
)
def test_a_file_of_another_shape_is_refused(tmp_path: Path, content: Any, problem: str) -> None:
    file = put(tmp_path, "f.json", content)
    with pytest.raises(BadInput, match=problem):
        recount(claim_of(mean_of(file)), PublishedFolder(tmp_path))


def test_a_changed_and_a_missing_file_are_refused_with_the_remedy(tmp_path: Path) -> None:
    file = put(tmp_path, "f.json", [{"ok": 1}])
    (tmp_path / "owner__name/f.json").write_text("[]")
    with pytest.raises(BadInput, match="another digest"):
        recount(claim_of(mean_of(file)), PublishedFolder(tmp_path))
    (tmp_path / "owner__name/f.json").unlink()
    with pytest.raises(BadInput, match=r"is not here.*Copy it to"):
        recount(claim_of(mean_of(file)), PublishedFolder(tmp_path))


def test_a_path_that_leaves_the_folder_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text('[{"ok": 1}]')
    inside = tmp_path / "in"
    (inside / "owner__name").mkdir(parents=True)
    file = PublishedFile(path="../../secret.json", digest=digest_bytes(b'[{"ok": 1}]'))
    with pytest.raises(BadInput, match="is not here"):
        recount(claim_of(mean_of(file)), PublishedFolder(inside))


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    file = put(tmp_path, "f.json", [{"ok": 1}], packed=True)
    where = tmp_path / "owner__name/f.json.gz"
    where.write_bytes(where.read_bytes()[:-9])
    with pytest.raises(BadInput, match="cannot be read"):
        recount(claim_of(mean_of(file)), PublishedFolder(tmp_path))


def test_rows_that_a_reader_should_know_of_are_counted_apart(tmp_path: Path) -> None:
    file = put(
        tmp_path, "f.json", {"8": [{"ok": 0, "a": "2025"}], "9": [{"ok": 1, "a": "May 2025"}, {"ok": 1, "a": ""}]}
    )
    recipe = Recipe(
        files=(file,),
        rows="*.*",
        values=("ok",),
        facts=(
            RowFact(what="right answers of 2025", match={"a": "2025", "ok": "^1$"}),
            RowFact(what="right in conversation 9", rows="9.*", match={"ok": "^1$"}),
        ),
    )
    found = recount(claim_of(recipe), PublishedFolder(tmp_path))
    assert found is not None
    assert [(fact.rows, fact.of) for fact in found.facts] == [(1, 3), (2, 2)]
    bad = recipe.model_copy(update={"facts": (RowFact(what="broken", match={"a": "("}),)})
    with pytest.raises(BadInput, match="'broken' has an invalid pattern"):
        recount(claim_of(bad), PublishedFolder(tmp_path))


def test_judges_are_compared_on_the_same_answers(tmp_path: Path) -> None:
    one = put(tmp_path, "one.json", [{"q": "1", "v": 1}, {"q": "2", "v": 0}, {"q": "3", "v": 1}, {"q": "4", "v": 0}])
    two = put(tmp_path, "two.json", [{"q": "1", "v": 1}, {"q": "2", "v": 1}, {"q": "3", "v": 1}, {"q": "4", "v": 0}])
    panel = PanelRecipe(
        name="Set", repository=REPOSITORY, commit="c", rows="", row_id="q", verdict="v", judges={"a": one, "b": two}
    )
    found = judge_trials(ClaimsFile(panel=(panel,)), PublishedFolder(tmp_path)).panels[0]
    assert (found.split, found.pairs[0].equal, found.pairs[0].of) == (1, 3, 4)
    assert found.pairs[0].kappa == pytest.approx(0.5)
    assert [rate.passed for rate in found.judges.values()] == [2, 3]


def test_judges_of_other_questions_are_refused(tmp_path: Path) -> None:
    one, two = put(tmp_path, "one.json", [{"q": "1", "v": 1}]), put(tmp_path, "two.json", [{"q": "2", "v": 1}])
    panel = PanelRecipe(
        name="Set", repository=REPOSITORY, commit="c", rows="", row_id="q", verdict="v", judges={"a": one, "b": two}
    )
    with pytest.raises(BadInput, match="questions differ"):
        judge_trials(ClaimsFile(panel=(panel,)), PublishedFolder(tmp_path))


def test_three_verdicts_and_overlap_are_counted(tmp_path: Path) -> None:
    rows = [
        {"a": True, "b": True, "c": False, "f1": 0.0},
        {"a": False, "b": False, "c": False, "f1": 1.0},
        {"a": True, "b": True, "c": True, "f1": 0.5},
    ]
    file = put(tmp_path, "f.json", rows)
    claim = claim_of(mean_of(file, "a", "b", "c", overlap="f1"))
    trials = judge_trials(ClaimsFile(claim=(claim,)), PublishedFolder(tmp_path))
    repeated, overlap = trials.repeated[0], trials.overlap[0]
    assert (repeated.split, repeated.majority.passed, [each.passed for each in repeated.each]) == (1, 2, [2, 2, 1])
    assert (overlap.passed_without_overlap, overlap.failed_with_match, overlap.f1_passed) == (1, 1, 0.25)
