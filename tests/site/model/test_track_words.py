"""The words for a track that stand in headings and links."""

from types import SimpleNamespace
from typing import cast

import pytest

from memeval.archive.runs import RunFolder
from memeval.benchmarks import find
from memeval.leaderboard.board import BoardTable
from memeval.records.scores import CategoryScore, Tally
from memeval.records.track import Redistribution, Track
from memeval.site.model.content import BenchmarkView
from tests.support.commands import ROOT

OPERATIONS = BenchmarkView("operations@1", find("operations@1").info, None, {}, (), Redistribution.FULL)


@pytest.mark.parametrize(
    ("protocol", "tier", "words"),
    [
        ("freshness", "quick", "6 of 27 trials"),
        ("apart", "quick", "3 of 15 trials"),
        ("power-cut", "thousand", "8 of 40 trials"),
        ("durability", "thousand", "12 of 110 trials"),
    ],
)
def test_a_sample_counts_against_the_whole_of_its_own_protocol(protocol: str, tier: str, words: str) -> None:
    tracks = [RunFolder(file.parent).run.track for file in ROOT.glob("results/operations/*/*/run.json")]
    track = next(each for each in tracks if (each.protocol, each.tier) == (protocol, tier))
    assert words in OPERATIONS.track_words(track)


@pytest.mark.parametrize(
    ("benchmark", "protocols", "words"),
    [
        (
            "lifecycle@1",
            ("search", "banks", "topic"),
            ["systems only search", "one bank for each user", "forget a topic"],
        ),
        ("locomo@1", ("f1", "judge"), ["systems answer (official F1)", "systems answer (judge)"]),
    ],
)
def test_a_protocol_is_named_where_several_are_run_alike(
    benchmark: str, protocols: tuple[str, ...], words: list[str]
) -> None:
    found: dict[str, Track] = {}
    for file in ROOT.glob(f"results/{benchmark.partition('@')[0]}/*/*/run.json"):
        track = RunFolder(file.parent).run.track
        if track.tier == "full" and track.reader in ("none@1", "native"):
            found.setdefault(track.protocol, track)
    tables = tuple(cast(BoardTable, SimpleNamespace(track=found[name], rows=())) for name in protocols)
    view = BenchmarkView(benchmark, find(benchmark).info, None, {}, tables, Redistribution.FULL)
    assert [view.track_words(found[name]) for name in protocols] == words


def test_all_questions_are_named_where_a_sample_has_more_systems() -> None:
    def table(tier: str, rows: int) -> BoardTable:
        return cast(BoardTable, SimpleNamespace(track=tracks[tier], rows=(None,) * rows))

    files = ROOT.glob("results/vehiclemembench/*/*/run.json")
    tracks = {track.tier: track for track in (RunFolder(file.parent).run.track for file in files)}
    info = find("vehiclemembench@1").info
    for sample, words in ((17, "systems only search, all 500 questions"), (5, "systems only search")):
        tables = table("ten", sample), table("full", 10)
        view = BenchmarkView("vehiclemembench@1", info, None, {}, tables, Redistribution.IDS)
        assert view.track_words(tracks["full"]) == words
        assert view.track_words(tracks["ten"]) == "systems only search, 100 of 500 questions"


@pytest.mark.parametrize(
    ("metrics", "said"),
    [
        ({"closed": 0.25, "lost": 0.25, "loses_any": 0.25}, "did not open"),
        ({"closed": 0.25, "lost": 0.3, "loses_any": 0.5}, "texts lost, did not open"),
        ({"lost": 0.01, "loses_any": 0.5, "closed": 0.0}, "texts lost"),
        ({"lost": 0.2, "foreign": 0.0, "doubled": None}, "texts lost"),
        ({"unfound": 0.02, "lost": 0.0, "loses_any": 0.0}, "listed, but not found"),
        ({"refused": 1.0}, "second process refused"),
        ({"foreign": 0.5, "failed_calls": 0.1}, "texts of other users returned, calls failed"),
        ({}, ""),
    ],
)
def test_how_failed_trials_failed_is_said_and_a_store_that_did_not_open_lost_nothing_by_that(
    metrics: dict[str, float | None], said: str
) -> None:
    def scored(correct: int) -> CategoryScore:
        tally = Tally(planned=4, done=4, correct=correct, errors=0, accuracy=None, interval=None, graded_accuracy=None)
        return CategoryScore(name="cut", weight=1, tally=tally, metrics=metrics)

    assert OPERATIONS.failure([scored(3)]) == said
    assert OPERATIONS.failure([scored(4)]) == "", "what passed did not fail"
