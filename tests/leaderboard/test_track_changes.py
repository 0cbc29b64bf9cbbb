"""What changed between two runs, as sentences."""

from pathlib import Path
from typing import Any

import pytest

from memeval.leaderboard.track_changes import ChangedPart, machine_changes, price_changes, token_changes, track_changes
from memeval.records.base import digest_of
from memeval.records.run import Isolation, Run, TokenSource, View
from memeval.records.track import CategoryPlan, Limits, Track
from tests.support.runs import make_run, make_track


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return make_run(tmp_path, "acme").run


def on(run: Run, track: Track) -> Run:
    return run.model_copy(update={"track": track, "track_id": track.id})


def plans(*names: str, grader: str = "judged@1", weight: float = 0.5, items: int = 50) -> tuple[CategoryPlan, ...]:
    return tuple(CategoryPlan(name=name, weight=weight, items=items, grader=grader) for name in names)


OTHER: list[tuple[dict[str, Any], ChangedPart, str]] = [
    ({"benchmark": "made-up@2"}, ChangedPart.BENCHMARK, "Benchmark changed from made-up@1 to made-up@2."),
    ({"data_digest": digest_of("x")}, ChangedPart.DATA, "Data of the benchmark changed."),
    ({"parameters": {"seed": 7}}, ChangedPart.DATA, "Parameter seed changed from none to 7."),
    ({"protocol": "f1"}, ChangedPart.PROTOCOL, "Protocol changed from judge to f1."),
    ({"tier": "small"}, ChangedPart.DATA, "Tier changed from full to small."),
    (
        {"categories": plans("kept", "changed", grader="judged@2")},
        ChangedPart.GRADING,
        "Grader changed from judged@1 to",
    ),
    ({"categories": plans("kept")}, ChangedPart.GRADING, "Category changed was removed."),
    ({"categories": plans("kept", "changed", "new")}, ChangedPart.GRADING, "Category new was added."),
    (
        {"categories": plans("kept", "changed", weight=0.4)},
        ChangedPart.GRADING,
        "Weight of kept changed from 50 % to 40 %.",
    ),
    (
        {"categories": plans("kept", "changed", items=9)},
        ChangedPart.DATA,
        "Number of items of kept changed from 50 to 9.",
    ),
    ({"categories": plans("changed", "kept")}, ChangedPart.GRADING, "Order of categories changed."),
    ({"reader": "extractive@2"}, ChangedPart.READER, "Reader changed from native to extractive@2."),
    ({"reader_endpoint": "https://a"}, ChangedPart.READER, "Endpoint of the reader changed from none to https://a."),
    ({"judge": "rules@4"}, ChangedPart.JUDGE, "Judge changed from rules@3 to rules@4."),
    ({"judge_endpoint": "https://a"}, ChangedPart.JUDGE, "Endpoint of the judge changed from none to https://a."),
    ({"judge_label": "host"}, ChangedPart.JUDGE, "Label of the judge changed from none to host."),
    ({"prompts": {"judge": digest_of("x")}}, ChangedPart.PROMPTS, "Prompt judge changed."),
    ({"tokenizer": "words"}, ChangedPart.TOKENIZER, "Tokenizer changed from o200k_base to words."),
    ({"limits": Limits(ask_seconds=5)}, ChangedPart.LIMITS, "Limit ask_seconds changed from 60.0 to 5.0."),
    ({"sample": digest_of("x")}, ChangedPart.DATA, "Sample of items changed."),
    ({"errata": digest_of("x")}, ChangedPart.DATA, "List of known data errors changed."),
    ({"released": False}, ChangedPart.DATA, "Origin of the data changed."),
]


@pytest.mark.parametrize(
    ("parts", "part", "sentence"), OTHER, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_changed_setting_is_a_sentence(run: Run, parts: dict[str, Any], part: ChangedPart, sentence: str) -> None:
    first = track_changes(run, on(run, make_track(**parts)))[0]
    assert first.part is part
    assert first.sentence.startswith(sentence)


def test_every_setting_of_a_track_has_a_sentence() -> None:
    assert {name for parts, *_rest in OTHER for name in parts} == set(Track.model_fields)


def test_runs_of_one_track_have_no_change(run: Run) -> None:
    assert track_changes(run, run) == ()


def test_a_grader_of_several_categories_is_named_once(run: Run) -> None:
    changes = track_changes(run, on(run, make_track(categories=plans("kept", "changed", grader="judged@2"))))
    assert [change.sentence for change in changes] == ["Grader changed from judged@1 to judged@2."]


def test_other_sessions_of_a_control_are_a_change(run: Run) -> None:
    system = run.system.model_copy(update={"view": View.EVIDENCE})
    assert [c.part for c in track_changes(run, run.model_copy(update={"system": system}))] == [ChangedPart.SESSIONS]


def test_prices_machines_and_token_counters_break_only_what_depends_on_them(run: Run) -> None:
    priced = run.model_copy(update={"prices": "prices 1"})
    assert price_changes(run, priced) == (), "a run without prices says nothing about them"
    assert [c.sentence for c in price_changes(priced, run.model_copy(update={"prices": "prices 2"}))] == [
        "Price list changed from prices 1 to prices 2."
    ]
    counted = run.model_copy(update={"tokens": run.tokens.model_copy(update={"source": TokenSource.SELF_REPORTED})})
    assert [c.sentence for c in token_changes(run, counted)] == ["Token counts changed from measured to self-reported."]
    boxed = run.model_copy(update={"isolation": Isolation.SANDBOXED})
    assert [c.sentence for c in machine_changes(run, boxed)] == ["Isolation changed from not sandboxed to sandboxed."]
    assert token_changes(run, run) == machine_changes(run, run) == ()
