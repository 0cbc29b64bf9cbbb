"""The stored verdicts of another version of the rules are those that it gives today."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from memeval.claims.copies import Copies
from memeval.claims.regrading import Sessions
from memeval.cli.main import main
from memeval.judging.rules import RULE_SETS
from memeval.labels.sheets import PublishedAnswers
from memeval.labels.store import sample_rows, stored_samples, stored_verdicts
from memeval.labels.versions import verdicts_of
from memeval.records.errors import BadInput
from tests.support.data import test_data

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"


@pytest.fixture(scope="module")
def answers() -> PublishedAnswers:
    sessions = Sessions({"locomo@1": test_data("locomo/locomo10.json").parent})
    return PublishedAnswers(ROOT / "sources", Copies(test_data("answers/published/MANIFEST.json").parent), sessions)


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Call ``memeval labels``; gives the exit code, standard output and standard error."""

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["memeval", "labels", *words])
        with pytest.raises(SystemExit) as end:
            main()
        said = capsys.readouterr()
        return int(end.value.code or 0), said.out, said.err

    return run


@pytest.mark.results
def test_the_stored_verdicts_are_given_again(answers: PublishedAnswers) -> None:
    seen = 0
    for sample in stored_samples(RESULTS):
        for stored in stored_verdicts(RESULTS, sample):
            rows = sample_rows(RESULTS, sample)
            again = verdicts_of(RULE_SETS[stored.judge], sample, rows, answers, stored.tuned_on)
            assert again.accepted == stored.accepted
            assert again.files.items() <= stored.files.items()
            seen += 1
    assert seen


def test_an_unknown_cluster_is_refused(answers: PublishedAnswers) -> None:
    sample = stored_samples(RESULTS)[0]
    with pytest.raises(BadInput, match="locomo@1 has no cluster 'conv-1'"):
        verdicts_of(RULE_SETS["rules@2"], sample, sample_rows(RESULTS, sample), answers, ["conv-1"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nobody", "--judge", "rules@2"), "there is no sample 'nobody'"),
        (("locomo-answers", "--judge", "rules@1"), "invalid --judge 'rules@1'. Choose from: rules@2."),
    ],
)
def test_a_wrong_call_is_refused(words: tuple[str, ...], said: str, call: Callable[..., tuple[int, str, str]]) -> None:
    code, _, err = call("grade", *words, "--tuned-on", "conv-26", "--results", str(RESULTS))
    assert code == 2 and said in err


def test_the_command_stores_the_verdicts_and_show_prints_both_halves(
    tmp_path: Path, call: Callable[..., tuple[int, str, str]]
) -> None:
    results = tmp_path / "results"
    shutil.copytree(RESULTS / "labels/locomo-vague", results / "labels/locomo-vague")
    shutil.copytree(RESULTS / "imported/locomo-audit", results / "imported/locomo-audit")
    stored = results / "labels/locomo-vague/verdicts/rules-2.json"
    before = json.loads(stored.read_text())
    stored.unlink()
    data = test_data("locomo/locomo10.json").parent
    tuned = [word for name in before["tuned_on"] for word in ("--tuned-on", name)]
    places = ["--from", f"{data.parent}/answers/published", "--data", f"locomo@1={data}", "--results", str(results)]
    also = ["--also", "locomo-audit/wrong-on-purpose", "--sources", str(ROOT / "sources")]
    assert call("grade", "locomo-vague", "--judge", "rules@2", *tuned, *also, *places)[0] == 0
    assert json.loads(stored.read_text()) == before
    code, said, _ = call("show", "--results", str(results))
    assert code == 0
    assert "not tuned on, rules@2: all" in said and "whole files, rules@2" in said
