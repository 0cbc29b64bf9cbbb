"""The stored verdicts of the rules of today are those that they give again; those of removed rules stay as data."""

import json
import shutil
from functools import partial
from pathlib import Path

import pytest

from memeval.claims.copies import Copies
from memeval.claims.regrading import Sessions
from memeval.judging.rules import RulesJudge
from memeval.labels.sheets import PublishedAnswers, verdicts_of
from memeval.labels.store import sample_rows, stored_reports, stored_samples, stored_verdicts
from memeval.records.errors import BadInput
from tests.support.calling import Call
from tests.support.data import test_data

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"


@pytest.fixture(scope="module")
def answers() -> PublishedAnswers:
    sessions = Sessions({"locomo@1": test_data("locomo/locomo10.json").parent})
    return PublishedAnswers(ROOT / "sources", Copies(test_data("answers/published/MANIFEST.json").parent), sessions)


@pytest.fixture
def call(call: Call) -> Call:
    """Call ``memeval labels``."""
    return partial(call, "labels")


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("draw", "My sample", "acme/answers", "--guide", "guide.md"), "'My sample' cannot be the name of the sample"),
        (("add", "answers", "first.csv", "--reader", "Jane Doe"), "'Jane Doe' cannot be the name of the reader"),
    ],
)
def test_a_name_that_cannot_be_stored_is_refused_before_anything_is_read(
    call: Call, words: tuple[str, ...], name: str
) -> None:
    assert call(*words).fails(name, "lower-case letters, digits and dashes")


@pytest.mark.results
def test_the_stored_verdicts_are_given_again(answers: PublishedAnswers) -> None:
    for sample in stored_samples(RESULTS):
        (stored,) = (each for each in stored_verdicts(RESULTS, sample) if each.judge == RulesJudge.name)
        again = verdicts_of(RulesJudge(), sample, sample_rows(RESULTS, sample), answers, stored.tuned_on)
        assert again.accepted == stored.accepted
        assert again.files.items() <= stored.files.items()


@pytest.mark.results
def test_verdicts_of_removed_rules_are_compared_on_the_same_clusters() -> None:
    (report,) = (each for each in stored_reports(RESULTS) if each.sample.name == "locomo-answers")
    (versions,) = report.versions
    assert (report.sample.judge, [each.judge for each in versions.verdicts]) == ("rules@1", ["rules@2", "rules@3"])
    whole = {each.grader: each for each in versions.reported if each.part == "all"}
    assert whole.keys() == {"rules@1", "rules@2", "rules@3"}
    assert all(each.false_rejects is not None for each in whole.values())


def test_an_unknown_cluster_is_refused(answers: PublishedAnswers) -> None:
    sample = stored_samples(RESULTS)[0]
    with pytest.raises(BadInput, match="locomo@1 has no cluster 'conv-1'"):
        verdicts_of(RulesJudge(), sample, sample_rows(RESULTS, sample), answers, ["conv-1"])


def test_a_wrong_call_is_refused(call: Call, tmp_path: Path) -> None:
    graded = call("grade", "nobody", "--tuned-on", "conv-26", "--results", str(RESULTS))
    assert graded.fails("there is no sample 'nobody'")
    shutil.copytree(RESULTS / "labels/locomo-vague", tmp_path / "labels/locomo-vague")
    head = tmp_path / "labels/locomo-vague/sample.json"
    head.write_text(head.read_text().replace('"judge": "rules@1"', f'"judge": "{RulesJudge.name}"'))
    graded = call("grade", "locomo-vague", "--tuned-on", "conv-26", "--results", str(tmp_path))
    assert graded.fails(f"the sample 'locomo-vague' has the verdicts of {RulesJudge.name}")


def test_the_command_stores_the_verdicts_and_show_prints_both_halves(tmp_path: Path, call: Call) -> None:
    results = tmp_path / "results"
    shutil.copytree(RESULTS / "labels/locomo-vague", results / "labels/locomo-vague")
    shutil.copytree(RESULTS / "imported/locomo-audit", results / "imported/locomo-audit")
    stored = results / "labels/locomo-vague/verdicts/rules-3.json"
    before = json.loads(stored.read_text())
    stored.unlink()
    data = test_data("locomo/locomo10.json").parent
    tuned = [word for name in before["tuned_on"] for word in ("--tuned-on", name)]
    places = ["--from", f"{data.parent}/answers/published", "--data", f"locomo@1={data}", "--results", str(results)]
    also = ["--also", "locomo-audit/wrong-on-purpose", "--sources", str(ROOT / "sources")]
    assert call("grade", "locomo-vague", *tuned, *also, *places)[0] == 0
    assert json.loads(stored.read_text()) == before
    said = call("show", "--results", str(results)).done
    assert "not tuned on, rules@3: all" in said and "whole files, rules@3" in said
