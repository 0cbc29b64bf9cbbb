"""The words for a track that stand in headings and links."""

import pytest

from memeval.archive.runs import RunFolder
from memeval.benchmarks import find
from memeval.records.track import Redistribution
from memeval.site.model.content import BenchmarkView
from tests.support.commands import ROOT

OPERATIONS = BenchmarkView("operations@1", find("operations@1").info, None, {}, (), Redistribution.FULL)


@pytest.mark.parametrize(
    ("protocol", "tier", "words"),
    [
        ("freshness", "quick", "6 of 27 questions"),
        ("apart", "quick", "3 of 15 questions"),
        ("power-cut", "thousand", "8 of 40 questions"),
        ("durability", "thousand", "12 of 110 questions"),
    ],
)
def test_a_sample_counts_against_the_whole_of_its_own_protocol(protocol: str, tier: str, words: str) -> None:
    tracks = [RunFolder(file.parent).run.track for file in ROOT.glob("results/operations/*/*/run.json")]
    track = next(each for each in tracks if (each.protocol, each.tier) == (protocol, tier))
    assert words in OPERATIONS.track_words(track)
