"""Reading the file: a sentence for everything that can be wrong with a copy."""

import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.benchmarks.locomo import LocomoBenchmark
from memeval.benchmarks.locomo.released import FULL_BYTES, FULL_DIGEST, LARGEST, parse, read
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from tests.benchmarks.locomo.samples import Sample, samples, turn

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)


def refusal(path: Path) -> str:
    with pytest.raises(BadInput) as caught:
        LocomoBenchmark().open(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "Use the released file: `memeval data pull locomo`" in str(caught.value)
    return caught.value.problem


def written(folder: Path, value: object) -> Path:
    path = folder / "data.json"
    path.write_text(json.dumps(value))
    return path


def test_the_source_of_the_catalogue_is_the_file_that_is_read() -> None:
    (source,) = LocomoBenchmark.info.sources
    assert (source.bytes, source.digest) == (FULL_BYTES, FULL_DIGEST)
    assert FULL_BYTES == 2_805_274
    assert FULL_DIGEST == "sha256:79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4"
    assert source.url == (
        "https://raw.githubusercontent.com/snap-research/locomo/3eb6f2c585f5e1699204e3c3bdf7adc5c28cb376/data/locomo10.json"
    )


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none.json") == "file not found."
    assert not LocomoBenchmark().available(tmp_path / "none.json")


def test_a_folder_without_the_file_says_where_it_looked(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"locomo/locomo10\.json: file not found"):
        LocomoBenchmark().open(tmp_path)
    assert not LocomoBenchmark().available(tmp_path)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert refusal(tmp_path / "pipe") == "this is not a file."


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert refusal(tmp_path / "loop").startswith("cannot read the file (")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "the file is empty."),
        (b" \n", "the file is empty."),
        (
            b'[{"sample_id": "syn',
            f"the file is truncated: it has 19 bytes, expected {FULL_BYTES:,}.",
        ),
        (b'[{"sample_id": "\xc3', "the file is truncated: it has 17 bytes"),
        (b"<html>", "not valid JSON ("),
        (b"[] []", "not valid JSON ("),
        (b"[NaN]", "not valid JSON ("),
        (b"[" * 100_000, "not valid JSON ("),
        (b'["\xff\xfe"]', "the file is not UTF-8, at byte 2."),
        ("[]".encode("utf-16"), "the file is not UTF-8, at byte 0."),
        (b"{}", "expected a list of conversations."),
        (b"7", "expected a list of conversations."),
        (
            b'{"qa": [], "session_1": []}',
            "expected a list of conversations, but this is one conversation, as in the",
        ),
        (b"[1]", "not a file of LoCoMo: its first entry has neither a conversation nor questions."),
        (b'[{"scenario_id": "x"}]', "not a file of LoCoMo: its first entry has neither a conversation nor questions."),
        (b"[]", "the format is valid, but this is not the released file"),
    ],
)
def test_bytes_of_another_kind_are_refused(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "data.json"
    path.write_bytes(content)
    assert refusal(path).startswith(problem)


def test_the_older_archive_is_told_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "old.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data/multimodal_dialog/locomo10_v2/26.json", "{}")
    assert refusal(path).startswith("this is the older release: one file per conversation")
    assert "locomo10.json" in refusal(path)


def test_any_other_archive_is_called_one(tmp_path: Path) -> None:
    path = tmp_path / "other.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("locomo10.json", "[]")
    assert refusal(path) == "this is a ZIP archive."
    path.write_bytes(path.read_bytes()[:30])
    assert refusal(path) == "this is a ZIP archive."


def test_a_huge_file_is_not_read_to_its_end(tmp_path: Path) -> None:
    with (tmp_path / "huge.json").open("wb") as stream:
        stream.truncate(10**12)
    assert refusal(tmp_path / "huge.json").startswith(f"the file has more than {LARGEST:,} bytes")


def test_a_long_line_is_quoted_in_part(tmp_path: Path) -> None:
    changed = samples()
    changed[0]["conversation"]["session_2_date_time"] = changed[0]["sample_id"] = "x" * 1_000_000
    assert len(refusal(written(tmp_path, changed))) < 500
    changed[0]["sample_id"] = "syn-1"
    assert len(refusal(written(tmp_path, changed))) < 500


def conversation(all_samples: list[Sample]) -> dict[str, object]:
    found = all_samples[0]["conversation"]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda s: s[1].pop("qa"), "conversation 2 ('syn-2'): 'qa' is missing."),
        (lambda s: s[1].update(qas=s[1].pop("qa")), "conversation 2 ('syn-2'): unknown key 'qas'. Did you mean 'qa'?"),
        (lambda s: s[0].update(qa=[]), "conversation 1 ('syn-1'): 'qa': "),
        (lambda s: s[0].pop("sample_id"), "conversation 1: 'sample_id' is missing."),
        (
            lambda s: s[0].update(sample_id="../etc"),
            "conversation 1 ('../etc'): 'sample_id' does not have",
        ),
        (lambda s: s.append(samples()[1]), "the conversation id 'syn-2' occurs more than once."),
        (lambda s: s.append(7), "conversation 3: expected an object."),
        (lambda s: s[0]["qa"][2].update(category=6), "conversation 1 ('syn-1'): 'qa.2.category': Input should be 1, 2"),
        (lambda s: s[0]["qa"][2].update(category="2"), "conversation 1 ('syn-1'): 'qa.2.category': "),
        (lambda s: s[0]["qa"][2].update(answer=True), "conversation 1 ('syn-1'): 'qa.2.answer': text belongs here."),
        (lambda s: s[0]["qa"][2].update(answer=2.5), "conversation 1 ('syn-1'): 'qa.2.answer': text belongs here."),
        (
            lambda s: s[0]["qa"][0].update(answer=" "),
            "conversation 1 ('syn-1'): 'qa.0.answer' does not have",
        ),
        (lambda s: s[0]["qa"][0].pop("answer"), "conversation 1 ('syn-1'): 'qa.0.answer' is missing."),
        (
            lambda s: s[0]["qa"][4].pop("adversarial_answer"),
            "conversation 1 ('syn-1'): 'qa.4.adversarial_answer' is missing.",
        ),
        (
            lambda s: s[0]["qa"][0].update(anwser="x"),
            "conversation 1 ('syn-1'): unknown key 'qa.0.anwser'. Did you mean 'answer'?",
        ),
        (
            lambda s: s[0]["qa"][0].update(evidence="D2:1"),
            "conversation 1 ('syn-1'): 'qa.0.evidence': a list belongs here.",
        ),
        (lambda s: conversation(s).pop("speaker_b"), "conversation 1 ('syn-1'): 'conversation.speaker_b' is missing"),
        (lambda s: conversation(s).update(speaker_b="Bo"), "conversation 1 ('syn-1'): the speaker of D2:2 is neither"),
        (
            lambda s: conversation(s).update(session_2_datetime="x"),
            "conversation 1 ('syn-1'): unknown key 'conversation.session_2_datetime'. Did you mean 'session_2_date_ti",
        ),
        (
            lambda s: conversation(s).update(sesion_3=[]),
            "conversation 1 ('syn-1'): unknown key 'conversation.sesion_3'. Did you mean 'session_3'?",
        ),
        (
            lambda s: conversation(s).pop("session_2_date_time"),
            "conversation 1 ('syn-1'): 'session_2_date_time' is missing, the date of session_2.",
        ),
        (
            lambda s: conversation(s).update(session_2_date_time="13:56 pm on 8 May, 2024"),
            "conversation 1 ('syn-1'): 'session_2_date_time' is '13:56 pm on 8 May, 2024', not a time such as",
        ),
        (
            lambda s: conversation(s).update(session_2_date_time=["8 May"]),
            "conversation 1 ('syn-1'): 'session_2_date_time' is \"['8 May']\", not a time such as",
        ),
        (lambda s: conversation(s).update(session_2=[]), "conversation 1 ('syn-1'), session_2: 'turns': "),
        (
            lambda s: s[0].update(conversation={"speaker_a": "A", "speaker_b": "B", "session_1_date_time": "x"}),
            "conversation 1 ('syn-1') has no sessions.",
        ),
        (
            lambda s: conversation(s).update(session_2=[turn("D2:1", "Ines", "A."), turn("D2:1", "Ines", "B.")]),
            "conversation 1 ('syn-1'): the turn id 'D2:1' occurs more than once.",
        ),
        (
            lambda s: conversation(s).update(session_2=[turn("D3:1", "Ines", "A.")]),
            "conversation 1 ('syn-1'): session_2 has a turn of another session (D3:1).",
        ),
        (
            lambda s: conversation(s).update(session_2=[turn("D2:1", "Ines", "")]),
            "conversation 1 ('syn-1'), session_2: 'turns.0.text' does not have",
        ),
        (
            lambda s: conversation(s).update(session_2=[{"dia_id": "D2:1", "speaker": "Ines", "txt": "A."}]),
            "conversation 1 ('syn-1'), session_2: unknown key 'turns.0.txt'. Did you mean 'text'?",
        ),
        (
            lambda s: conversation(s).update(session_2=[turn("D2-1", "Ines", "A.")]),
            "conversation 1 ('syn-1'), session_2: 'turns.0.dia_id' does not have",
        ),
    ],
)
def test_another_shape_is_refused_with_its_place(
    tmp_path: Path, change: Callable[[list[Sample]], object], problem: str
) -> None:
    changed = samples()
    change(changed)
    assert refusal(written(tmp_path, changed)).startswith(problem)


def test_what_is_odd_in_the_released_file_is_read() -> None:
    first, second = parse(json.dumps(samples()).encode(), Path("made-up.json"))
    assert [session.number for session in first.sessions] == [2, 10]
    assert [session.date for session in first.sessions] == ["2024-02-08T13:56:00Z", "2024-03-01T00:09:00Z"]
    assert first.questions[2].answer == "2024"
    assert first.questions[5].evidence == ("D2:2; D2:1", "D9:9")
    assert (second.questions[1].answer, second.questions[1].adversarial_answer) == ("No", "Yes")


def test_a_file_of_the_right_shape_and_another_digest_is_refused_with_both_digests(tmp_path: Path) -> None:
    path = written(tmp_path, samples())
    problem = refusal(path)
    assert digest_bytes(path.read_bytes()) in problem
    assert FULL_DIGEST in problem


@given(
    st.sampled_from(
        ["sample_id", "conversation", "qa", "observation", "session_1", "session_1_date_time", "speaker_a"]
    ),
    JSON_VALUES,
)
def test_whatever_stands_in_a_place_is_read_or_refused_in_a_sentence(name: str, value: object) -> None:
    changed = samples()[1:]
    (changed[0] if name in changed[0] else changed[0]["conversation"])[name] = value
    try:
        parse(json.dumps(changed).encode(), Path("made-up.json"))
    except BadInput as refused:
        assert refused.problem.endswith((".", "'?"))


def test_parameters_of_another_name_or_value_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"has no parameter seed=1\. Use adversarial=choice"):
        LocomoBenchmark().open(tmp_path, {"adversarial": "choice", "seed": 1})
    with pytest.raises(BadInput, match="has no parameter adversarial=open"):
        LocomoBenchmark().open(tmp_path, {"adversarial": "open"})


def test_a_cut_copy_of_the_real_file_is_called_cut_off(tmp_path: Path, data: Path) -> None:
    whole = (data / "locomo" / "locomo10.json").read_bytes()
    path = tmp_path / "locomo10.json"
    for end in (1_000_000, 2_000_003, len(whole) - 2):
        path.write_bytes(whole[:end])
        assert refusal(path).startswith(f"the file is truncated: it has {end:,} bytes")


def test_one_changed_letter_of_the_real_file_is_noticed(tmp_path: Path, data: Path) -> None:
    path = tmp_path / "locomo10.json"
    path.write_bytes((data / "locomo" / "locomo10.json").read_bytes().replace(b'"text": "H', b'"text": "J', 1))
    assert "is not the released file" in refusal(path)


def test_the_real_file_is_read(data: Path) -> None:
    found = read(data / "locomo" / "locomo10.json")
    assert found.digest == FULL_DIGEST
    assert [len(each.sessions) for each in found.conversations] == [19, 19, 32, 29, 29, 28, 31, 30, 25, 30]
    per_session = [[len(session.turns) for session in each.sessions] for each in found.conversations]
    assert [(min(turns), max(turns)) for turns in per_session] == [
        *((15, 39), (14, 28), (14, 37), (13, 38), (15, 43), (13, 47), (14, 40), (13, 44), (14, 33), (10, 43)),
    ]


def test_sixteen_dates_of_the_real_file_have_no_session(data: Path) -> None:
    """They stand in the first conversation; only sessions are taken in."""
    told = json.loads((data / "locomo" / "locomo10.json").read_bytes())
    dates = [
        (sample["sample_id"], int(name.split("_")[1]))
        for sample in told
        for name in sample["conversation"]
        if name.endswith("_date_time") and name.removesuffix("_date_time") not in sample["conversation"]
    ]
    assert dates == [("conv-26", number) for number in range(20, 36)]
    assert sum(name.endswith("_date_time") for sample in told for name in sample["conversation"]) == 288
