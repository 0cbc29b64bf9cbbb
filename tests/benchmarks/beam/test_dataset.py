"""Scenarios and keys of made-up chats, and what is refused."""

import json
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.archive.runs import RunFolder
from memeval.benchmarks.beam import BeamBenchmark
from memeval.benchmarks.beam.dataset import BeamDataset
from memeval.benchmarks.beam.keys import BeamKey
from memeval.benchmarks.beam.released import SIZES, _sessions
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.evaluation.verify.reproduce import reproduce_run
from memeval.evaluation.verify.verification import verify_run
from memeval.records.benchmark import Erratum, ErratumAction, ErratumKind
from memeval.records.errors import BadInput
from memeval.systems.controls import CONTROLS
from memeval.systems.source import control_source
from tests.benchmarks.beam.samples import ABILITIES, chat, message, questions, write_chat, write_size

CHAT = "100K-1"
WITHOUT_RUBRIC = {name: value for name, value in questions()["abstention"][0].items() if name != "rubric"}


def opened(folder: Path) -> BeamDataset:
    return BeamBenchmark().opened(folder, None, "retrieval", "100k")


def with_files(folder: Path, **files: Any) -> BeamDataset:
    """Open a size whose first chat has other files."""
    return opened(write_size(folder, chats={"1": files}))


def refusal(folder: Path, **files: Any) -> str:
    with pytest.raises(BadInput) as caught:
        list(with_files(folder, **files).answer_keys())
    return str(caught.value)


def test_a_session_is_a_day_of_a_batch_and_a_batch_without_a_date_has_the_last_one(dataset: BeamDataset) -> None:
    sessions = dataset.scenario(CHAT).sessions()
    assert [(session.session_id, session.date, len(session.turns)) for session in sessions] == [
        ("s001", "2024-03-15", 4),
        ("s002", "2024-03-15", 2),
        ("s003", "2024-04-02", 2),
        ("s004", "2024-04-09", 2),
    ]
    assert [(turn.turn_id, turn.role, turn.content) for turn in sessions[0].turns] == [
        ("s001:t01", "user", "My kayak is red."),
        ("s001:t02", "assistant", "Red is easy to see."),
        ("s001:t03", "user", "I paddle on Tuesdays."),
        ("s001:t04", "assistant", "Noted."),
    ]


def test_questions_are_asked_at_the_end_on_the_last_day(dataset: BeamDataset) -> None:
    asked = dataset.scenario(CHAT).questions()
    assert len(asked) == 20 and {each.timestamp for each in asked} == {"2024-04-09"}
    assert asked[0].question_id == f"{CHAT}:abstention:1"


def test_markers_of_the_plan_are_cut_and_arrows_stay(dataset: BeamDataset) -> None:
    texts = [turn.content for session in dataset.scenario(CHAT).sessions() for turn in session.turns]
    assert not any("->->" in text for text in texts)
    assert texts[4:] == [
        *("I sold the oar.", "For how much?", "The kayak is green now.", "A good colour."),
        *("I paddle on Fridays.", "Arrows as in f: x -> y stay."),
    ]


def test_systems_receive_no_key_and_no_id_of_the_source(dataset: BeamDataset) -> None:
    scenario = dataset.scenario(CHAT)
    received = json.dumps([session.data() for session in scenario.sessions()])
    for hidden in ("batch", "100K", "index", "plan", "main_question", "March-15", *ABILITIES):
        assert hidden not in received


def test_evidence_is_found_in_lists_in_lists_of_lists_and_in_objects(dataset: BeamDataset) -> None:
    keys = {key.item_id: key for key in dataset.answer_keys()}
    assert keys[f"{CHAT}:temporal-reasoning:1"].key.relevant_turns == ("s003:t01", "s001:t01")
    assert keys[f"{CHAT}:temporal-reasoning:1"].evidence == ("s001", "s003")
    assert keys[f"{CHAT}:knowledge-update:1"].key.relevant_turns == ("s001:t03", "s004:t01")
    assert keys[f"{CHAT}:summarization:2"].evidence is None
    assert {key.cluster for key in keys.values()} == {f"100K-{number}" for number in range(1, 21)}


def test_retrieval_asks_answerable_questions_with_evidence(dataset: BeamDataset) -> None:
    keys = tuple(dataset.answer_keys())
    asked = BeamBenchmark().asked(keys, "retrieval")
    assert len(keys) == 400 and len(asked) == 400 - 40 - 20
    assert not any(key.key.unanswerable for key in asked)


def test_ids_of_the_source_have_ordinals(dataset: BeamDataset) -> None:
    ordinals = dataset.ordinals(CHAT)
    assert ordinals["batch 3"] == "s003" and ordinals["batch 3, day 2"] == "s004"
    assert ordinals["0"] == "s001:t01" and ordinals["9"] == "s004:t02"
    with pytest.raises(KeyError):
        dataset.ordinals("100K-21")


@pytest.mark.parametrize(("packed", "nested"), [(True, False), (False, True), (True, True)])
def test_packed_files_and_those_of_the_repository_give_the_same_data(
    tmp_path: Path, dataset: BeamDataset, packed: bool, nested: bool
) -> None:
    for number in range(1, 21):
        write_chat(tmp_path / "chats" / "100K" / str(number), packed=packed, nested=nested)
    same = opened(tmp_path)
    assert same.digest == dataset.digest and same.scenario(CHAT) == dataset.scenario(CHAT)


def test_made_up_data_is_not_released(dataset: BeamDataset) -> None:
    assert not dataset.released and dataset.digest not in BeamBenchmark.info.known_digests


def test_plans_of_the_longest_chats_follow_one_another(tmp_path: Path) -> None:
    first, *others = chat()
    write_size(tmp_path, "10M", {"1": {"chat": [{"plan-1": [first]}, {"plan-2": others}]}})
    dataset = BeamBenchmark().opened(tmp_path, None, "retrieval", "10m")
    assert len(dataset.scenario("10M-1").sessions()) == 4
    assert dataset.ordinals("10M-1")["plan-2, batch 1"] == "s002"


LAST = (2, "turns", 1, 1, "content")
LEFT = "batch 3: a marker of the author's plan is left in message 9"


@pytest.mark.parametrize(
    ("place", "value", "sentence"),
    [
        ((0, "turns", 0, 0, "time_anchor"), None, "batch 1 has no date: no 'time_anchor' is before it"),
        (
            (1, "time_anchor"),
            "2024-03-20",
            "batch 2: 'time_anchor' is '2024-03-20', not a date such as 'March-15-2024'",
        ),
        ((1, "turns", 0, 0, "id"), 0, "batch 2: the id of a message is 0, expected 4. Ids must not restart"),
        *((LAST, left, LEFT) for left in ("Fine. ->-> 3", "Fine. ->-> three,1", "One. ->-> 1,1\n->->")),
        (LAST, "->-> 1,1", "batch 3: message 9 has no text"),
    ],
)
def test_a_chat_that_contradicts_itself_is_refused(
    tmp_path: Path, place: tuple[Any, ...], value: Any, sentence: str
) -> None:
    made = chat()
    *above, last = place
    reduce(getitem, above, made)[last] = value
    assert sentence in refusal(tmp_path, chat=made)


@given(
    text=st.text(st.characters(codec="utf-8", exclude_characters="->"), min_size=1).filter(str.strip),
    plan=st.sampled_from(["1,1", "10,12", "6,", "2,N/A", "3,4)", "3,4, 5", "7,(no bullet fits)"]),
    blank=st.sampled_from(["", " ", "\n", "  "]),
)
def test_any_marker_at_the_end_is_cut_and_the_text_stays(text: str, plan: str, blank: str) -> None:
    made = chat()
    made[2]["turns"][1][1] = message(9, f"{text}{blank}->-> {plan}")
    last = list(_sessions(made, Path("chat.json")))[-1].messages[-1]
    assert last.content == text.rstrip()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"rubric": None}, "temporal_reasoning, question 1: 'rubric': a list belongs here"),
        ({"rubric": "one"}, "temporal_reasoning, question 1: 'rubric': a list belongs here"),
        ({"rubric": []}, "temporal_reasoning, question 1: 'rubric'"),
        ({"rubric": [1]}, "temporal_reasoning, question 1: 'rubric.0': text belongs here"),
        ({"question": " "}, "temporal_reasoning, question 1: 'question'"),
        ({"source_chat_ids": ["6"]}, "'source_chat_ids' has something that is not a whole number"),
        ({"source_chat_ids": [True]}, "'source_chat_ids' has something that is not a whole number"),
        ({"ideal_answer": "Two."}, "expected one of answer, ideal_response"),
    ],
)
def test_a_question_of_another_form_is_refused(tmp_path: Path, change: dict[str, Any], sentence: str) -> None:
    made = questions()
    made["temporal_reasoning"][0] |= change
    said = refusal(tmp_path, questions=made)
    assert sentence in said and "probing_questions.json" in said


def test_evidence_on_no_message_is_refused(tmp_path: Path) -> None:
    made = questions()
    made["temporal_reasoning"][0]["source_chat_ids"] = [10]
    said = "the evidence of 100K-1:temporal-reasoning:1 names message 10, and the chat has 10 messages."
    assert said in refusal(tmp_path, questions=made)


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        ([], "expected an object with the ten abilities"),
        ({"abstention": []}, "expected an object with the ten abilities"),
        ({**questions(), "abstention": {}}, "abstention: expected a list of questions"),
        ({**questions(), "abstention": ["?"]}, "abstention, question 1: expected an object"),
        ({**questions(), "abstention": [WITHOUT_RUBRIC]}, "abstention, question 1: 'rubric' is missing"),
    ],
)
def test_questions_of_another_form_are_refused(tmp_path: Path, made: Any, sentence: str) -> None:
    assert sentence in refusal(tmp_path, questions=made)


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (b"", "the file is empty"),
        (b" \n", "the file is empty"),
        (b'[{"batch_number": 1, "tur', "the file is truncated"),
        (b"[}", "not valid JSON"),
        (b"\xff\xfe[]", "not valid JSON"),
        (b"\x1f\x8b\x08broken", "the gzip file is damaged"),
        ({"batches": []}, "expected a list of batches"),
        ([], "chat: 'batches'"),
        ([{"batch_number": 1, "turns": [[], []]}], "the chat has no messages"),
        ([1], "chat: 'batches.0'"),
        ([{"batch_number": 1, "turns": "none"}], "chat: 'batches.0.turns': a list belongs here"),
        ([{"batch_number": 1, "turns": [[{"role": "system", "id": 0, "content": "x"}]]}], "'batches.0.turns.0.0.role'"),
        ([{"batch_number": 1, "turns": [[message(0, " ")]]}], "'batches.0.turns.0.0.content'"),
        ([{"batch_number": 1, "turns": [[message(0, "x", mood="blue")]]}], "unknown key 'batches.0.turns.0.0.mood'"),
        ([{"plan-1": chat()}, chat()[0]], "expected only plans or only batches, found both"),
    ],
)
def test_a_broken_chat_is_refused(tmp_path: Path, made: Any, sentence: str) -> None:
    said = refusal(tmp_path, chat=made)
    assert sentence in said and "chat.json" in said


def test_a_huge_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memeval.benchmarks.beam.released.LARGEST_FILE_BYTES", 1000)
    with pytest.raises(BadInput, match=r"the file has more than 1,000 bytes"):
        opened(write_size(tmp_path))


def test_a_pickle_is_never_opened(tmp_path: Path) -> None:
    write_size(tmp_path)
    beside = tmp_path / "100K" / "1" / "chat.pickle"
    beside.mkdir()  # opening it would fail
    assert len(list(opened(tmp_path).answer_keys())) == 400
    (tmp_path / "100K" / "1" / "chat.json").unlink()
    with pytest.raises(BadInput, match=r"the first is 1/chat.json. memeval never reads a chat.pickle"):
        opened(tmp_path)


@pytest.mark.parametrize("tier", SIZES)
def test_a_tier_that_is_partly_here_is_refused_with_the_way_to_get_it(tmp_path: Path, tier: str) -> None:
    size = SIZES[tier]
    write_size(tmp_path, size)
    (tmp_path / size / "3" / "probing_questions.json").unlink()
    with pytest.raises(
        BadInput, match=rf"1 of the \d+ files of {size} are missing, the first is 3/probing.* git clone"
    ):
        BeamBenchmark().opened(tmp_path, None, "retrieval", tier)


def test_missing_data_is_refused_with_the_way_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"the chats of 100K are missing. Run git clone"):
        opened(tmp_path)
    assert not BeamBenchmark().available(tmp_path)


def test_a_file_that_changes_during_a_run_is_refused(tmp_path: Path) -> None:
    dataset = opened(write_size(tmp_path))
    write_chat(tmp_path / "100K" / "1", chat=chat()[:2])
    with pytest.raises(BadInput, match="changed during the run"):
        dataset.scenario(CHAT)


def erratum(kind: ErratumKind, corrected: str | tuple[str, ...] | None) -> Erratum:
    return Erratum(
        id=f"{CHAT}:temporal-reasoning:1", kind=kind, action=ErratumAction.REPLACE, corrected=corrected, note="Made up."
    )


def test_errata_replace_the_rubric_or_the_evidence(dataset: BeamDataset) -> None:
    key = next(key for key in dataset.answer_keys() if key.item_id == f"{CHAT}:temporal-reasoning:1")
    better = dataset.corrected(key, erratum(ErratumKind.WRONG_ANSWER, ("4 days", "from Monday"))).key
    assert isinstance(better, BeamKey)
    assert better.rubric == ("4 days", "from Monday") and better.expected == "4 days; from Monday"
    order = next(key for key in dataset.answer_keys() if key.item_id == f"{CHAT}:event-ordering:1")
    sorted_anew = dataset.corrected(order, erratum(ErratumKind.WRONG_ANSWER, ("3", "1", "2"))).key
    assert isinstance(sorted_anew, BeamKey)
    assert sorted_anew.rubric == ("Selling the oar", "The colour of the kayak", "The day of paddling")
    moved = dataset.corrected(key, erratum(ErratumKind.WRONG_EVIDENCE, "4"))
    assert moved.evidence == ("s002",) and moved.key.relevant_turns == ("s002:t01",)


@pytest.mark.parametrize(
    ("kind", "corrected"),
    [
        (ErratumKind.WRONG_ANSWER, None),
        (ErratumKind.WRONG_ANSWER, " "),
        (ErratumKind.WRONG_EVIDENCE, "s001"),
        (ErratumKind.AMBIGUOUS, "4 days"),
    ],
)
def test_errata_of_another_form_are_refused(dataset: BeamDataset, kind: ErratumKind, corrected: str | None) -> None:
    key = next(iter(dataset.answer_keys()))
    with pytest.raises(BadInput, match="neither a correct rubric nor ids of messages"):
        dataset.corrected(key, erratum(kind, corrected))


@pytest.mark.parametrize("tier", SIZES)
def test_shipped_errata_are_for_the_released_chats(tier: str) -> None:
    errata = BeamBenchmark().errata(tier)
    assert errata is not None and errata.entries
    assert f"sha256:{errata.dataset_sha256}" in BeamBenchmark.info.released_digests
    assert all(entry.id.startswith(f"{SIZES[tier]}-") for entry in errata.entries)


@pytest.mark.parametrize("protocol", [each.name for each in BeamBenchmark.info.protocols])
def test_a_control_runs_verifies_and_reproduces(small: Path, tmp_path: Path, protocol: str) -> None:
    session = BenchmarkSession.open(BeamBenchmark(), small, protocol=protocol)
    run = run_system(control_source(CONTROLS["bm25"]), session, RunOptions(results=tmp_path, protocol=protocol))
    assert run.run.coverage.done == len(session.keys)
    assert reproduce_run(RunFolder(run.path), small).equal
    assert not verify_run(RunFolder(run.path))
