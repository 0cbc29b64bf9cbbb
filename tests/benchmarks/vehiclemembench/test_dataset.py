"""Scenarios and keys of a made-up release."""

import json
from pathlib import Path

import pytest

from memeval.benchmarks.vehiclemembench import VehicleMemBenchmark
from memeval.benchmarks.vehiclemembench.dataset import RULE, VehicleMemBenchDataset
from memeval.benchmarks.vehiclemembench.keys import VehicleMemBenchKey
from memeval.keys import ItemKey
from memeval.records.benchmark import Erratum, ErratumAction, ErratumKind
from memeval.records.errors import BadInput
from memeval.records.scenario import Task
from tests.benchmarks.vehiclemembench.made import QUERIES, dataset, release


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> VehicleMemBenchDataset:
    return dataset(tmp_path_factory.mktemp("vehiclemembench"))


def key(made: VehicleMemBenchDataset, name: str) -> VehicleMemBenchKey:
    return item(made, name).key_as(VehicleMemBenchKey, "a test")


def item(made: VehicleMemBenchDataset, name: str) -> ItemKey:
    return next(each for each in made.answer_keys() if each.item_id == name)


def test_a_session_ends_where_nobody_speaks_for_longer_than_five_minutes(made: VehicleMemBenchDataset) -> None:
    first, second = made.scenarios()
    assert [(each.session_id, each.date, len(each.turns)) for each in first.sessions()] == [
        ("s001", "2026-03-04T07:50:00", 3),
        ("s002", "2026-03-04T07:58:00", 1),
        ("s003", "2026-03-09T18:15:00", 2),
    ]
    assert [each.date for each in second.sessions()] == ["2026-01-01T23:58:00", "2026-01-02T09:00:00"]


def test_a_turn_has_the_whole_name_of_its_speaker_although_another_begins_with_it(made: VehicleMemBenchDataset) -> None:
    turns = [turn for session in made.scenario("1").sessions() for turn in session.turns]
    assert [(turn.turn_id, turn.speaker) for turn in turns] == [
        ("s001:t01.1", "Nora Vik"),
        ("s001:t01.2", "Teo"),
        ("s001:t02", "Teo Vik"),
        ("s002:t01", "Nora Vik"),
        ("s003:t01", "Teo"),
        ("s003:t02", "Teo Vik"),
    ]
    assert turns[4].content == "Level two burns my fingers, one is plenty: when I drive.", "its time is there twice"


def test_an_event_is_all_turns_of_its_minute(made: VehicleMemBenchDataset) -> None:
    found = key(made, "1:0")
    assert found.events == ("s001:t01", "s003:t01")
    assert found.event_turns == ("s001:t01.1", "s001:t01.2", "s003:t01")
    assert item(made, "1:0").evidence == ("s001", "s003")


def test_an_event_at_a_silent_minute_or_in_another_form_is_left_out(made: VehicleMemBenchDataset) -> None:
    assert key(made, "1:1").events == ("s001:t01",)
    assert (key(made, "1:2").events, item(made, "1:2").evidence) == ((), None)


def test_retrieval_asks_only_queries_with_an_event(made: VehicleMemBenchDataset) -> None:
    benchmark, items = VehicleMemBenchmark(), tuple(made.answer_keys())
    assert [each.item_id for each in benchmark.asked(items, "retrieval")] == ["1:0", "1:1", "1:3", "2:0"]
    assert benchmark.asked(items, "calls") == items


def test_categories_clusters_and_slices(made: VehicleMemBenchDataset) -> None:
    items = tuple(made.answer_keys())
    assert [each.category for each in items] == [
        *("preference-conflict", "state-shift", "error-correction", "coreference", "preference-conflict"),
    ]
    assert [each.cluster for each in items] == ["1", "1", "1", "1", "2"]
    assert [each.slices["values"] for each in items] == [*["not in the query"] * 3, "in the query", "not in the query"]
    assert [each.slices["people"] for each in items] == ["three"] * 4 + ["more"]


def test_queries_come_after_the_history_at_its_last_minute(made: VehicleMemBenchDataset) -> None:
    asks = made.scenario("1").questions()
    assert [ask.question for ask in asks] == [row["query"] for row in QUERIES]
    assert {ask.timestamp for ask in asks} == {"2026-03-09T18:20:00"}


def test_only_the_protocol_calls_lists_the_functions_and_searches_without_them(tmp_path: Path) -> None:
    (first, *_) = dataset(tmp_path, calls=True).scenario("1").questions()
    assert isinstance(first, Task)
    assert first.query == QUERIES[0]["query"]
    assert first.question == (
        f"{first.query}\n\n{RULE}\nwheel_set_heating(level: integer, zone: string)  # Heat the wheel (1-3).\n"
        "radio_louder()  # Louder."
    )


def test_no_key_reaches_a_system(made: VehicleMemBenchDataset) -> None:
    received = json.dumps([session.data() for session in made.scenario("1").sessions()])
    received += "".join(question.question for question in made.scenario("1").questions())
    assert not [hidden for hidden in ("wheel_set", "somebody spoke", "preference", "qa_1") if hidden in received]


def erratum(*corrected: str, kind: ErratumKind = ErratumKind.WRONG_EVIDENCE) -> Erratum:
    return Erratum(id="1:1", kind=kind, action=ErratumAction.REPLACE, corrected=corrected, note="It is later.")


def test_an_erratum_names_the_minutes_of_all_events(made: VehicleMemBenchDataset) -> None:
    better = made.corrected(item(made, "1:1"), erratum("2026-03-09 18:15", "2026-03-04 07:50"))
    assert better.key_as(VehicleMemBenchKey, "a test").events == ("s003:t01", "s001:t01")
    assert better.evidence == ("s001", "s003")


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (erratum("2026-03-09 18:14"), "names '2026-03-09 18:14', at which nobody speaks"),
        (erratum("x" * 500), f"names '{'x' * 64}', at which nobody speaks"),
        (erratum(), "names no evidence"),
        (erratum("2026-03-09 18:15", kind=ErratumKind.WRONG_ANSWER), "names no evidence"),
    ],
)
def test_an_erratum_without_a_minute_of_the_history_is_refused(
    made: VehicleMemBenchDataset, wrong: Erratum, sentence: str
) -> None:
    with pytest.raises(BadInput, match=f"the erratum of '1:1' {sentence}"):
        made.corrected(item(made, "1:1"), wrong)


def test_few_histories_stay_in_memory(made: VehicleMemBenchDataset) -> None:
    assert made.scenario("1") is made.scenario("1")
    assert [*made.scenario_ids()] == ["1", "2"]
    with pytest.raises(KeyError):
        made.scenario("3")


def test_the_files_may_lie_as_in_the_repository(tmp_path: Path, made: VehicleMemBenchDataset) -> None:
    other = VehicleMemBenchDataset(release(tmp_path, upstream=True))
    assert other.digest == made.digest
    assert [each.data() for each in other.answer_keys()] == [each.data() for each in made.answer_keys()]
