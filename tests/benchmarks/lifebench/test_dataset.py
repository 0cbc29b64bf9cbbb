"""Scenarios and keys of a made-up user."""

import json
from pathlib import Path

import pytest

from memeval.archive.runs import RunFolder
from memeval.benchmarks.lifebench import LifeBenchBenchmark
from memeval.benchmarks.lifebench.benchmark import TIERS
from memeval.benchmarks.lifebench.dataset import LifeBenchDataset
from memeval.benchmarks.lifebench.keys import LifeBenchKey
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.evaluation.verify.reproduce import reproduce_run
from memeval.evaluation.verify.verification import verify_run
from memeval.records.errors import BadInput
from memeval.records.scenario import Ask, Ingest, Scenario
from memeval.systems.controls import CONTROLS
from memeval.systems.source import control_source
from tests.benchmarks.lifebench.samples import LISTS, ROWS, USER, write_user
from tests.support.model_server import ModelServer


@pytest.fixture(scope="module")
def scenario(dataset: LifeBenchDataset) -> Scenario:
    return dataset.scenario(USER)


def key_of(dataset: LifeBenchDataset, place: int) -> LifeBenchKey:
    key = list(dataset.answer_keys())[place].key
    assert isinstance(key, LifeBenchKey)
    return key


def test_a_session_is_a_day_in_order_of_time_and_contacts_come_first(scenario: Scenario) -> None:
    sessions = scenario.sessions()
    assert " ".join(each.date for each in sessions) == "2024-12-31 2025-01-02 2025-02-01 2025-02-03 2025-03-05"
    assert [turn.content.split(" | ")[0] for turn in sessions[0].turns] == ["contact", "photo"]
    heads = [(turn.turn_id, turn.content.split(" | ")[0]) for turn in sessions[1].turns]
    assert heads == [
        ("s002:t01.1", "How do I wax skis?"),
        ("s002:t01.2", "Heat the wax and scrape it off."),
        ("s002:t01.3", "How often?"),
        ("s002:t02", "fitness_health"),
        ("s002:t03", "calendar"),
        ("s002:t04", "Me: the train leaves at nine."),
    ]


def test_questions_come_after_the_last_day_of_their_month(scenario: Scenario) -> None:
    order = [
        step.session.date if isinstance(step, Ingest) else step.question_id
        for step in scenario.steps
        if isinstance(step, Ingest | Ask)
    ]
    assert order == [
        *("2024-12-31", "2025-01-02", f"{USER}:0", f"{USER}:4"),
        *("2025-02-01", "2025-02-03", f"{USER}:1", f"{USER}:2", f"{USER}:5"),
        *("2025-03-05", f"{USER}:3"),
    ]


def test_systems_receive_no_id_number_or_address(scenario: Scenario) -> None:
    received = json.dumps([session.data() for session in scenario.sessions()], ensure_ascii=False)
    received += "".join(question.question for question in scenario.questions())
    for hidden in ("event_id", "phone_id", "13800001111", "400-123", "@example", "110101199001011234", "idNumber"):
        assert hidden not in received


def test_late_and_unknown_evidence_is_left_out(dataset: LifeBenchDataset) -> None:
    first, *_, late, _ = dataset.answer_keys()
    assert first.evidence == ("s002",)
    assert key_of(dataset, 0).records == (("s002:t04",),)
    assert late.evidence is None and key_of(dataset, 4).records == ()


def test_evidence_with_a_doubled_id_names_both_records(dataset: LifeBenchDataset) -> None:
    assert key_of(dataset, 3).records == (("s004:t01", "s004:t02"), ("s003:t01",))


def test_a_chat_is_one_record_of_several_turns(dataset: LifeBenchDataset) -> None:
    key = key_of(dataset, 1)
    assert key.records == (("s002:t01",),)
    assert key.relevant_turns == ("s002:t01.1", "s002:t01.2", "s002:t01.3")
    assert key.sessions_before == 4


def test_only_the_protocol_choice_shows_options(small: Path, scenario: Scenario) -> None:
    shown = LifeBenchBenchmark().opened(small, None, "choice", "quick").scenario(USER)
    assert "B: b skis" in shown.questions()[2].question
    assert "B: b skis" not in "".join(question.question for question in scenario.questions())


def test_packed_files_give_the_same_data(small: Path, tmp_path: Path, dataset: LifeBenchDataset) -> None:
    packed = LifeBenchBenchmark().opened(write_user(tmp_path, packed=True), None, "retrieval", "quick")
    assert packed.digest == dataset.digest
    assert [key.data() for key in packed.answer_keys()] == [key.data() for key in dataset.answer_keys()]


def test_made_up_data_is_not_released(dataset: LifeBenchDataset) -> None:
    assert not dataset.released


def test_a_file_that_changes_during_a_run_is_refused(tmp_path: Path) -> None:
    dataset = LifeBenchBenchmark().opened(write_user(tmp_path), None, "retrieval", "quick")
    write_user(tmp_path, ROWS[:1])
    with pytest.raises(BadInput, match="changed during the run"):
        list(dataset.answer_keys())


def test_a_record_without_a_time_is_refused_by_its_number(tmp_path: Path) -> None:
    lists = {**LISTS, "sms": [*LISTS["sms"], {"phone_id": 8, "datetime": "yesterday"}]}
    dataset = LifeBenchBenchmark().opened(write_user(tmp_path, lists=lists), None, "retrieval", "quick")
    with pytest.raises(BadInput, match=r"sms.json: entry 2: 'datetime' is not a time"):
        list(dataset.answer_keys())


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"[", "not valid JSON"),
        (b"{}", "expected a JSON list"),
        (b"[1]", "entry 1 is not a JSON object"),
        (b"\x1f\x8b\x08broken", "the gzip file is damaged"),
    ],
)
def test_a_broken_file_is_refused(tmp_path: Path, content: bytes, sentence: str) -> None:
    folder = write_user(tmp_path)
    (folder / "data_en" / USER / "phone_data" / "note.json").write_bytes(content)
    with pytest.raises(BadInput) as caught:
        list(LifeBenchBenchmark().opened(folder, None, "retrieval", "quick").answer_keys())
    assert sentence in str(caught.value) and "note.json" in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    folder = write_user(tmp_path)
    (folder / "data_en" / USER / "phone_data" / "push.json").unlink()
    with pytest.raises(BadInput, match=r"push.json: file not found. Each user needs .* all nine record lists"):
        LifeBenchBenchmark().opened(folder, None, "retrieval", "quick")


def test_missing_data_is_refused_with_the_way_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"the data of lifebench@1 is missing. Run git clone"):
        LifeBenchBenchmark().opened(tmp_path, None, "retrieval", "quick")


def test_one_user_is_enough_for_the_tier_quick_and_not_for_full(small: Path, tmp_path: Path) -> None:
    assert LifeBenchBenchmark().available(small) and not LifeBenchBenchmark().available(tmp_path)
    with pytest.raises(BadInput, match="fenghaoran"):
        LifeBenchBenchmark().open(small)


@pytest.mark.parametrize(
    ("protocol", "places"),
    [("retrieval", [0, 1, 3, 5]), ("choice", [1, 5]), ("abstain", [0, 2, 3, 4]), ("judge", [0, 3, 4])],
)
def test_a_protocol_asks_what_it_can_grade(dataset: LifeBenchDataset, protocol: str, places: list[int]) -> None:
    asked = LifeBenchBenchmark().asked(tuple(dataset.answer_keys()), protocol)
    assert [key.item_id for key in asked] == [f"{USER}:{place}" for place in places]
    assert {key.cluster for key in asked} == {USER}


def test_the_tier_full_has_ten_users_each_a_cluster(tmp_path: Path) -> None:
    for user in TIERS["full"]:
        write_user(tmp_path, ROWS[:2], user=user)
    benchmark = LifeBenchBenchmark()
    assert benchmark.available(tmp_path)
    dataset = benchmark.open(tmp_path)
    assert len({key.cluster for key in dataset.answer_keys()}) == 10
    assert [scenario.scenario_id for scenario in dataset.scenarios()] == list(TIERS["full"])
    first = dataset.scenario(TIERS["full"][0])
    assert first is dataset.scenario(TIERS["full"][0])
    assert len({dataset.scenario(user).scenario_id for user in TIERS["full"][1:]}) == 9
    assert first is not dataset.scenario(TIERS["full"][0]), "only a few histories stay in memory"
    assert dataset.digest != benchmark.opened(tmp_path, None, "retrieval", "quick").digest


def test_abstention_counts_only_questions_without_an_answer(small: Path) -> None:
    session = BenchmarkSession.open(LifeBenchBenchmark(), small, protocol="abstain", tier="quick")
    weights = {each.name: each.weight for each in session.benchmark.plan(session.keys, "abstain")}
    assert weights == {"information": 0, "multi-hop": 0, "temporal": 0, "unanswerable": 1}


@pytest.mark.parametrize("protocol", ["retrieval", "choice", "abstain", "judge"])
def test_a_control_runs_verifies_and_reproduces(small: Path, tmp_path: Path, protocol: str) -> None:
    session = BenchmarkSession.open(LifeBenchBenchmark(), small, protocol=protocol, tier="quick")
    options = RunOptions(results=tmp_path, protocol=protocol, tier="quick")
    run = run_system(control_source(CONTROLS["bm25"]), session, options)
    assert run.run.coverage.done == len(session.keys) and run.run.scores.overall.errors == 0
    assert reproduce_run(RunFolder(run.path), small).equal
    assert not verify_run(RunFolder(run.path))


def test_a_judge_is_asked_once_per_criterion_and_its_replies_reproduce(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = BenchmarkSession.open(LifeBenchBenchmark(), small, protocol="judge", tier="quick")
    with ModelServer(answer=lambda body: "no" if "Names the train." in str(body) else "yes") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "placeholder")
        options = RunOptions(results=tmp_path, protocol="judge", judge="openai:gpt-4o-mini", judge_label="loopback")
        run = run_system(control_source(CONTROLS["bm25"]), session, options)
    assert len(list(run.judgments())) == 5, "two criteria of two answers, and one of the third"
    worth = {grade.item_id.removeprefix(f"{USER}:"): (grade.credit, grade.verdict) for grade in run.grades()}
    assert worth == {"0": (0.75, False), "3": (1.0, True), "4": (1.0, True)}
    assert set(run.run.track.prompts) == {"judge/lifebench-point", "judge/reminder"}
    again = RunFolder(run.path)
    assert reproduce_run(again, small).equal and not verify_run(again)
