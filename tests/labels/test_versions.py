"""The stored verdicts of another version of the rules are those that it gives today."""

from __future__ import annotations

from pathlib import Path

import pytest

from memeval.claims.copies import Copies
from memeval.claims.regrading import Sessions
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


def test_the_stored_verdicts_are_given_again(answers: PublishedAnswers) -> None:
    seen = 0
    for sample in stored_samples(RESULTS):
        for stored in stored_verdicts(RESULTS, sample):
            rows = sample_rows(RESULTS, sample)
            again = verdicts_of(RULE_SETS[stored.judge], sample, rows, answers, stored.tuned_on, stored.files)
            assert again == stored
            seen += 1
    assert seen


def test_an_unknown_cluster_is_refused(answers: PublishedAnswers) -> None:
    sample = stored_samples(RESULTS)[0]
    with pytest.raises(BadInput, match="locomo@1 has no cluster 'conv-1'"):
        verdicts_of(RULE_SETS["rules@2"], sample, sample_rows(RESULTS, sample), answers, ["conv-1"])
