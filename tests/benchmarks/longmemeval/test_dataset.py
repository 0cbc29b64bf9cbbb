"""Scenarios, which a system may see, and keys, which it may not; of a made-up file and of three real questions."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memeval.benchmarks.base import Dataset
from memeval.benchmarks.longmemeval import LongMemEvalBenchmark
from memeval.benchmarks.longmemeval.keys import LongMemEvalKey, LongMemEvalType
from memeval.grading.evidence import TurnIndex, evidence_measures
from memeval.keys import ItemKey
from memeval.records.errors import BadInput
from memeval.records.response import RetrievedItem
from memeval.records.scenario import Ask, Ingest
from tests.benchmarks.longmemeval.rows import KINDS, keys_of, row, rows, turn, written
from tests.support.data import test_data


def made(folder: Path, *given: object) -> Dataset:
    return LongMemEvalBenchmark().open(written(folder, list(given) or rows()))


def first_key(dataset: Dataset) -> LongMemEvalKey:
    key = keys_of(dataset)[0].key
    assert isinstance(key, LongMemEvalKey)
    return key


def test_sessions_are_taken_in_by_time_under_ordinals_and_then_the_question_is_asked(tmp_path: Path) -> None:
    scenario = made(tmp_path).scenario("00000001")
    taken = [step for step in scenario.steps if isinstance(step, Ingest)]
    assert [step.source_id for step in taken] == ["answer_9f_1", "ultrachat_7", "sharegpt_x_0", "answer_9f_2"]
    assert [step.session.session_id for step in taken] == ["s001", "s002", "s003", "s004"]
    assert [step.session.date for step in taken] == [
        "2024-05-03T17:30:00Z",
        "2024-05-20T10:00:00Z",
        "2024-05-20T10:00:00Z",
        "2024-05-22T08:05:00Z",
    ]
    assert [(t.turn_id, t.role, t.content, t.speaker) for t in taken[3].session.turns] == [
        ("s004:t01", "assistant", "Good morning.", None),
        ("s004:t02", "user", "The red kite is done as well.", None),
        ("s004:t03", "assistant", "", None),
    ]
    assert taken[2].session.turns == ()
    assert scenario.steps[-1] == Ask(
        question_id="00000001", question="How many kites have I built?", timestamp="2024-05-30T23:40:00Z"
    )
    assert len(scenario.steps) == 5


def test_a_key_holds_the_answer_and_the_evidence_in_the_order_of_replay(tmp_path: Path) -> None:
    (key,) = keys_of(made(tmp_path, row()))
    assert key == ItemKey(
        item_id="1a2b3c4d",
        scenario_id="1a2b3c4d",
        question_ids=("1a2b3c4d",),
        category="multi-session",
        cluster="1a2b3c4d",
        evidence=("s001", "s004"),
        key=LongMemEvalKey(
            question_type=LongMemEvalType.MULTI_SESSION,
            abstention=False,
            answer="Three",
            evidence_turns=("s001:t01", "s004:t02"),
        ),
    )


def test_whether_a_question_can_be_answered_stands_in_its_id_and_the_type_stays(tmp_path: Path) -> None:
    dataset = made(tmp_path, *(row(f"{n}_abs", kind) for n, kind in enumerate(KINDS)), *(row(k, k) for k in KINDS))
    found = [(key.category, isinstance(key.key, LongMemEvalKey) and key.key.abstention) for key in keys_of(dataset)]
    assert found == [*((kind, True) for kind in KINDS), *((kind, False) for kind in KINDS)]


@pytest.mark.parametrize(("answer", "text", "number"), [(0, "0", True), (-7, "-7", True), ("5", "5", False)])
def test_an_answer_that_is_a_number_is_read_as_text_and_remembered(
    tmp_path: Path, answer: object, text: str, number: bool
) -> None:
    key = first_key(made(tmp_path, row(answer=answer)))
    assert (key.answer, key.whole_number) == (text, number)


@pytest.mark.parametrize(
    "time", ["soon", "2024/05/32 (Thu) 23:40", "05/20/2024 10:00", "2024-05-20", "2024-02-30T1:00"]
)
@pytest.mark.parametrize("of_question", [False, True])
def test_a_time_that_cannot_be_read_is_refused_with_question_and_value(
    tmp_path: Path, time: str, of_question: bool
) -> None:
    dates = ["2024/05/20 (Mon) 10:00", "2024/05/20 (Mon) 10:00" if of_question else time, "2024/05/03 (Fri) 17:30", ""]
    with pytest.raises(BadInput, match=r"question 1 \('1a2b3c4d'\): the time") as refused:
        made(tmp_path, row(haystack_dates=dates, question_date=time if of_question else "2024/05/30 (Thu) 23:40"))
    assert f"{time!r} cannot be read" in str(refused.value)
    assert "2024-05-20T10:00" in str(refused.value) or "2023-05-30T23:40" in str(refused.value)


def test_times_of_other_forms_are_read(tmp_path: Path) -> None:
    dates = ["2024-05-20T10:00", "2024-05-04 10:00:30", "2024/05/03 (Fri) 17:30:05", "2024-05-02T01:00:00+02:00"]
    scenario = made(tmp_path, row(haystack_dates=dates, question_date="2024-06-01T08:00Z")).scenario("1a2b3c4d")
    assert [session.date for session in scenario.sessions()] == [
        "2024-05-01T23:00:00Z",
        "2024-05-03T17:30:05Z",
        "2024-05-04T10:00:30Z",
        "2024-05-20T10:00:00Z",
    ]
    assert scenario.questions()[0].timestamp == "2024-06-01T08:00:00Z"


def test_blank_times_leave_the_session_in_its_place_and_the_question_without_time(tmp_path: Path) -> None:
    dates = ["2024/05/20 (Mon) 10:00", " ", "2024/05/03 (Fri) 17:30", ""]
    dataset = made(tmp_path, row(haystack_dates=dates, question_date=""))
    scenario = dataset.scenario("1a2b3c4d")
    assert [session.date for session in scenario.sessions()] == ["2024-05-03T17:30:00Z", "", "2024-05-20T10:00:00Z", ""]
    assert [s.source_id for s in scenario.steps if isinstance(s, Ingest)][1] == "answer_9f_2"
    assert scenario.questions()[0].timestamp is None
    assert keys_of(dataset)[0].evidence == ("s001", "s002")


def test_evidence_that_is_named_twice_or_stands_twice_is_counted_once(tmp_path: Path) -> None:
    dataset = made(
        tmp_path,
        row(haystack_session_ids=["answer_1", "f00", "answer_1", "f00"], answer_session_ids=["answer_1", "answer_1"]),
    )
    assert keys_of(dataset)[0].evidence == ("s001",)
    assert dataset.ordinals("1a2b3c4d")["f00"] == "s003"


def test_either_copy_of_an_evidence_session_is_a_hit(tmp_path: Path) -> None:
    names = ["answer_1", "f00", "answer_1", "f01"]
    dataset = made(tmp_path, row(haystack_session_ids=names, answer_session_ids=["answer_1"]))
    (key,), index = keys_of(dataset), TurnIndex(dataset.scenario("1a2b3c4d"))
    copies = [s.session for s in index.scenario.steps if isinstance(s, Ingest) and s.source_id == "answer_1"]
    assert len(copies) == 2
    for copy in copies:
        found = evidence_measures(key, index.retrieved([RetrievedItem(source_ids=(copy.session_id,))]))
        assert (found["session_recall@1"], found["session_ndcg@5"]) == (1.0, 1.0)
        found = evidence_measures(key, index.retrieved([RetrievedItem(source_ids=(copy.turns[0].turn_id,))]))
        assert found["session_recall@1"] == 1.0
    both = index.retrieved([RetrievedItem(source_ids=(copy.session_id,)) for copy in copies])
    assert len(both.sessions) == 1, "a copy takes no rank of its own"


def test_ordinals_know_the_sources_ids(tmp_path: Path) -> None:
    ordinals = made(tmp_path).ordinals("00000001")
    assert ordinals["answer_9f_2"] == "s004"
    assert ordinals["answer_9f_2_2"] == "s004:t02"
    assert ordinals["ultrachat_7_1"] == "s002:t01"
    assert set(ordinals.values()) == {"s001", "s002", "s003", "s004"} | {
        f"s{session:03}:t{place:02}" for session, turns in ((1, 2), (2, 2), (4, 3)) for place in range(1, turns + 1)
    }


def test_neither_marks_nor_the_sources_ids_reach_a_system(tmp_path: Path) -> None:
    for scenario in made(tmp_path).scenarios():
        seen = "".join(session.to_json() for session in scenario.sessions())
        assert "answer" not in seen and "ultrachat" not in seen and "true" not in seen


def test_keys_are_known_without_any_history_being_opened(tmp_path: Path) -> None:
    path = written(tmp_path, rows())
    dataset = LongMemEvalBenchmark().open(path)
    path.unlink()
    assert (
        [key.item_id for key in keys_of(dataset)] == list(dataset.scenario_ids()) == [r["question_id"] for r in rows()]
    )


def test_scenarios_are_opened_from_many_threads(tmp_path: Path) -> None:
    given = [row(f"{n:08}", question=f"Question {n}?") for n in range(20)]
    dataset = made(tmp_path, *given)
    wanted = [f"{n:08}" for n in range(20)] * 5
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(dataset.scenario, wanted))
    assert [scenario.scenario_id for scenario in found] == wanted
    assert [s.questions()[0].question for s in found[:20]] == [f"Question {n}?" for n in range(20)]
    assert [scenario.scenario_id for scenario in dataset.scenarios()] == wanted[:20]


def test_the_scenario_that_a_run_is_at_is_opened_once(tmp_path: Path) -> None:
    dataset = made(tmp_path)
    assert dataset.scenario("00000001") is dataset.scenario("00000001")


def test_an_unknown_scenario_is_no_scenario(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        made(tmp_path).scenario("99999999")


def test_a_long_session_of_unusual_text_comes_through_whole(tmp_path: Path) -> None:
    said = [turn("user", text) for text in ("“quoted” \n\t", "\\u0041 {}", "😀", "x" * 100_000, " ")]
    scenario = made(tmp_path, row(haystack_sessions=[said, [], [], []])).scenario("1a2b3c4d")
    assert [t.content for t in scenario.sessions()[1].turns] == [t["content"] for t in said]


@pytest.fixture
def kept_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMEVAL_CACHE", str(tmp_path / "cache"))


@pytest.mark.usefixtures("kept_apart")
def test_the_three_real_histories_are_whole() -> None:
    dataset = LongMemEvalBenchmark().open(test_data("longmemeval/longmemeval_s_3questions.json"))
    scenarios = list(dataset.scenarios())
    assert [scenario.scenario_id for scenario in scenarios] == ["852ce960", "ba358f49", "6a1eabeb"]
    assert [len(scenario.sessions()) for scenario in scenarios] == [39, 41, 40]
    assert [sum(len(s.turns) for s in scenario.sessions()) for scenario in scenarios] == [396, 409, 413]
    assert [scenario.questions()[0].timestamp for scenario in scenarios] == [
        "2023-12-18T04:17:00Z",
        "2022-09-01T23:52:00Z",
        "2023-06-25T13:22:00Z",
    ]
    for scenario in scenarios:
        dates = [session.date for session in scenario.sessions()]
        assert all(dates) and dates == sorted(dates)


@pytest.mark.usefixtures("kept_apart")
def test_the_keys_of_the_three_real_questions_agree_with_the_file() -> None:
    path = test_data("longmemeval/longmemeval_s_3questions.json")
    dataset = LongMemEvalBenchmark().open(path)
    found = keys_of(dataset)
    assert [key.category for key in found] == ["knowledge-update", "multi-session", "knowledge-update"]
    assert [key.evidence for key in found] == [("s003", "s037"), ("s008", "s029"), ("s020", "s037")]
    for key, raw in zip(found, json.loads(path.read_bytes()), strict=True):
        assert isinstance(key.key, LongMemEvalKey)
        assert not key.key.abstention and key.key.answer == raw["answer"]
        ordinals = dataset.ordinals(key.item_id)
        assert [ordinals[name] for name in raw["answer_session_ids"]] == list(key.evidence or ())
        marked = [
            ordinals[f"{name}_{place}"]
            for name, session in zip(raw["haystack_session_ids"], raw["haystack_sessions"], strict=True)
            for place, turn in enumerate(session, 1)
            if turn.get("has_answer")
        ]
        assert sorted(marked) == list(key.key.evidence_turns) and len(marked) == 2


@pytest.mark.usefixtures("kept_apart")
@pytest.mark.parametrize("file", ["s", "oracle"])
def test_no_real_scenario_tells_which_session_is_evidence(file: str) -> None:
    path = test_data(f"longmemeval/longmemeval_{file}_3questions.json")
    dataset = LongMemEvalBenchmark().open(path)
    for scenario, raw in zip(dataset.scenarios(), json.loads(path.read_bytes()), strict=True):
        seen = "".join(session.to_json() for session in scenario.sessions())
        assert "answer_" not in seen and "has_answer" not in seen
        assert not any(name in seen for name in raw["haystack_session_ids"])


@pytest.mark.usefixtures("kept_apart")
def test_the_real_oracle_file_holds_the_evidence_and_nothing_else() -> None:
    dataset = LongMemEvalBenchmark().open(test_data("longmemeval/longmemeval_oracle_3questions.json"))
    for key, scenario in zip(keys_of(dataset), dataset.scenarios(), strict=True):
        assert key.evidence == tuple(session.session_id for session in scenario.sessions()) == ("s001", "s002")
