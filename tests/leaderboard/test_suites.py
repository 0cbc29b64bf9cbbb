"""A file of suites is read whole, or refused with the line and the remedy."""

from pathlib import Path

import pytest

from memeval.leaderboard.suites import find_suite, read_suites
from memeval.records.errors import BadInput, NewerSchema
from memeval.removed import why_removed
from tests.support.suites import ENTRY, SUITE


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "suites.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_shipped_suites_are_valid_and_never_mix_readers() -> None:
    assert [suite.id for suite in read_suites()] == ["retrieval@3", "answers@1"]
    for suite in read_suites():
        assert {each.weight for each in suite.benchmarks} == {1.0}
        assert len({each.reader == "native" for each in suite.benchmarks}) == 1


def test_a_name_without_a_version_means_the_latest(tmp_path: Path) -> None:
    text = "".join(SUITE.replace("mine@1", name) + ENTRY for name in ("mine@2", "mine@10", "other@1"))
    suites = read_suites(written(tmp_path, text))
    assert find_suite(suites, "mine").id == "mine@10"
    assert find_suite(suites, "mine@2").id == "mine@2"


def test_an_unknown_suite_names_the_known_ones() -> None:
    with pytest.raises(BadInput, match="there is no suite 'retrievel@3'") as caught:
        find_suite(read_suites(), "retrievel@3")
    assert caught.value.remedy == "Did you mean 'retrieval@3'?"


@pytest.mark.parametrize(
    ("old", "new", "problem", "line"),
    [
        ("beliefs@2", "believes@1", "believes@1", 7),
        ('protocol = "judge"', 'protocol = "jugde"', "beliefs@2 has no protocol 'jugde'.", 8),
        ('tier = "full"', 'tier = "whole"', "beliefs@2 has no tier 'whole'.", 9),
        (
            'reader = "extractive@2"',
            'reader = "extractive@1"',
            "extractive@1 was removed: it returned one sentence",
            10,
        ),
        ('judge = "rules@3"', 'judge = "rules@1"', "rules@1 was removed: it failed reference answers", 11),
        ('ceiling = "oracle"', 'ceiling = "top"', "'oracle' or 'perfect'", 12),
        ('reader = "extractive@2"', 'reader = "native"', "the oracle only retrieves", 12),
        ('ceiling = "oracle"', 'ceiling = "oracle"\nweight = -1.0', "weight", 13),
        ('ceiling = "oracle"', 'ceiling = "oracle"\nweight = 0.0', "weight", 13),
        ('ceiling = "oracle"', 'ceiling = "oracle"\nweight = nan', "weight", 13),
        ('ceiling = "oracle"', 'ceiling = "oracle"\nweight = inf', "weight", 13),
        ('ceiling = "oracle"', 'ceiling = "oracle"\nwieght = 1.0', "wieght", 13),
        ('id = "mine@1"', 'id = "Mine"', "id", 2),
    ],
)
def test_a_wrong_value_is_refused_with_its_line(tmp_path: Path, old: str, new: str, problem: str, line: int) -> None:
    path = written(tmp_path, (SUITE + ENTRY).replace(old, new))
    with pytest.raises(BadInput, match=problem) as caught:
        read_suites(path)
    assert str(caught.value.where) == f"{path}:{line}"
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (SUITE + ENTRY + ENTRY, "the benchmark 'beliefs@2' occurs twice."),
        (2 * (SUITE + ENTRY), "the suite 'mine@1' occurs twice."),
        (SUITE + "benchmarks = []\n", "benchmarks"),
        (
            SUITE + ENTRY + ENTRY.replace("beliefs@2", "qa-smoke@1").replace("extractive@2", "native"),
            "mine@1 mixes systems that write answers",
        ),
        ("suites = 3\n", "suites"),
        ("suites = [", "not valid TOML"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        read_suites(written(tmp_path, text))


def test_a_removed_benchmark_is_explained_with_its_line(tmp_path: Path) -> None:
    path = written(tmp_path, (SUITE + ENTRY).replace("beliefs@2", "beliefs@1"))
    with pytest.raises(BadInput) as caught:
        read_suites(path)
    assert (caught.value.problem, str(caught.value.where)) == (why_removed("beliefs@1"), f"{path}:7")


def test_a_file_of_a_later_memeval_says_so(tmp_path: Path) -> None:
    with pytest.raises(NewerSchema, match="schema version 2"):
        read_suites(written(tmp_path, "schema_version = 2\n" + SUITE + ENTRY))
