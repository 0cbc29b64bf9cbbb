"""Copies of released files: a sentence, with its place, for everything that can be wrong with one."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memeval.benchmarks import find
from memeval.benchmarks.locomo.released import FULL_BYTES
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from tests.benchmarks.deepmemeval.rows import rows as scenarios
from tests.benchmarks.locomo.samples import samples, turn
from tests.benchmarks.longmemeval.rows import row
from tests.benchmarks.longmemeval.rows import turn as lme_turn
from tests.support.data import test_data

MADE: dict[str, Callable[[], list[Any]]] = {"deepmemeval": scenarios, "locomo": samples, "longmemeval": lambda: [row()]}
"""Made-up files in the form of each release."""

RELEASED = {
    "deepmemeval": "deepmemeval/deepmemeval_500.json",
    "locomo": "locomo/locomo10.json",
    "longmemeval": "longmemeval/longmemeval_s_cleaned.json",
}

GONE = object()
"""In place of a value: the key is taken out."""

DEEP = {
    b"": "the file is empty.",
    b'[{"scenario_id": "bel': "the file is truncated: it has 21 bytes, expected 2,239,412.",
    b"<html>": "not valid JSON (",
    b"\xff\xfe[]": "not valid JSON (",
    b"{}": "expected a list of scenarios.",
    b"[1]": "scenario 1: ",
    b"[]": "the format is valid, but this is not the released file",
}
LOCOMO = {
    b"": "the file is empty.",
    b" \n": "the file is empty.",
    b'[{"sample_id": "syn': f"the file is truncated: it has 19 bytes, expected {FULL_BYTES:,}.",
    b'[{"sample_id": "\xc3': "the file is truncated: it has 17 bytes",
    b"<html>": "not valid JSON (",
    b"[] []": "not valid JSON (",
    b"[NaN]": "not valid JSON (",
    b"[" * 100_000: "not valid JSON (",
    b'["\xff\xfe"]': "the file is not UTF-8, at byte 2.",
    "[]".encode("utf-16"): "the file is not UTF-8, at byte 0.",
    b"{}": "expected a list of conversations.",
    b"7": "expected a list of conversations.",
    b'{"qa": [], "session_1": []}': "expected a list of conversations, but this is one conversation, as in the",
    b"[1]": "not a file of LoCoMo: its first entry has neither a conversation nor questions.",
    b'[{"scenario_id": "x"}]': "not a file of LoCoMo: its first entry has neither a conversation nor questions.",
    b"[]": "the format is valid, but this is not the released file",
}
LONG = {
    b"": "the file is empty.",
    b'[{"question_id": "1a2': "the file is truncated: it ends after 21 bytes",
    b"<html>": "expected a JSON array of objects.",
    b'["1a2b3c4d"]': "element 1 is not an object.",
    b'[{"question_id": "\xff"}]': "element 1 is not UTF-8",
    b"[]": "the file has no questions.",
    b"[{}]": "question 1: 'question_id' is missing.",
}
BYTES = [
    pytest.param(name, data, problem, id=f"{name} {data[:20]!r}")
    for name, cases in (("deepmemeval", DEEP), ("locomo", LOCOMO), ("longmemeval", LONG))
    for data, problem in cases.items()
]

BELIEF, TEMPORAL = "scenario 1 ('belief-p000-server'): ", "scenario 4 ('temporal-p001-server'): "
ONE, TWO, LME = "conversation 1 ('syn-1')", "conversation 2 ('syn-2'): ", "question 1 ('1a2b3c4d'): "
TALK, NO_TYPE = "0.conversation", LME + "'question_type': Input should be 'single-session-user', "
NO_ANSWER = LME + "'answer': must be text or a whole number."

CHANGES: dict[str, list[tuple[str, Any, str]]] = {
    "deepmemeval": [
        ("2.question", GONE, "scenario 3 ('noise-p000-tests-light'): 'question' is missing."),
        ("0.extra", 1, BELIEF + "unknown key 'extra'."),
        ("0.metadata.update_count", "one", BELIEF + "'metadata.update_count': Input should be a valid integer."),
        (
            "1.conversation_history.2.turns.0.role",
            "system",
            "scenario 2 ('cascade-p000-tests-via-server'): 'conversation_history.2.turns.0.role': Input should be",
        ),
        ("3.scenario_type", "riddle", TEMPORAL),
        ("3.scenario_type", GONE, TEMPORAL),
        ("0.expected_answer", "Caddy", BELIEF + "'expected_answer'"),
        ("+", scenarios()[1], "the scenario id 'cascade-p000-tests-via-server' occurs more than"),
    ],
    "locomo": [
        ("1.qa", GONE, TWO + "'qa' is missing."),
        ("1.qas", [], TWO + "unknown key 'qas'. Did you mean 'qa'?"),
        ("0.qa", [], ONE + ": 'qa': "),
        ("0.sample_id", GONE, "conversation 1: 'sample_id' is missing."),
        ("0.sample_id", "../etc", "conversation 1 ('../etc'): 'sample_id' does not have"),
        ("+", samples()[1], "the conversation id 'syn-2' occurs more than once."),
        ("+", 7, "conversation 3: expected an object."),
        ("0.qa.2.category", 6, ONE + ": 'qa.2.category': Input should be 1, 2"),
        ("0.qa.2.category", "2", ONE + ": 'qa.2.category': "),
        ("0.qa.2.answer", True, ONE + ": 'qa.2.answer': text belongs here."),
        ("0.qa.2.answer", 2.5, ONE + ": 'qa.2.answer': text belongs here."),
        ("0.qa.0.answer", " ", ONE + ": 'qa.0.answer' does not have"),
        ("0.qa.0.answer", GONE, ONE + ": 'qa.0.answer' is missing."),
        ("0.qa.4.adversarial_answer", GONE, ONE + ": 'qa.4.adversarial_answer' is missing."),
        ("0.qa.0.anwser", "x", ONE + ": unknown key 'qa.0.anwser'. Did you mean 'answer'?"),
        ("0.qa.0.evidence", "D2:1", ONE + ": 'qa.0.evidence': a list belongs here."),
        (f"{TALK}.speaker_b", GONE, ONE + ": 'conversation.speaker_b' is missing"),
        (f"{TALK}.speaker_b", "Bo", ONE + ": the speaker of D2:2 is neither"),
        (
            f"{TALK}.session_2_datetime",
            "x",
            ONE + ": unknown key 'conversation.session_2_datetime'. Did you mean 'session_2_date_ti",
        ),
        (f"{TALK}.sesion_3", [], ONE + ": unknown key 'conversation.sesion_3'. Did you mean 'session_3'?"),
        (f"{TALK}.session_2_date_time", GONE, ONE + ": 'session_2_date_time' is missing, the date of session_2."),
        (
            f"{TALK}.session_2_date_time",
            "13:56 pm on 8 May, 2024",
            ONE + ": 'session_2_date_time' is '13:56 pm on 8 May, 2024', not a time such as",
        ),
        (
            f"{TALK}.session_2_date_time",
            ["8 May"],
            ONE + ": 'session_2_date_time' is \"['8 May']\", not a time such as",
        ),
        (f"{TALK}.session_2", [], ONE + ", session_2: 'turns': "),
        (TALK, {"speaker_a": "A", "speaker_b": "B", "session_1_date_time": "x"}, ONE + " has no sessions."),
        (
            f"{TALK}.session_2",
            [turn("D2:1", "Ines", "A."), turn("D2:1", "Ines", "B.")],
            ONE + ": the turn id 'D2:1' occurs more than once.",
        ),
        (f"{TALK}.session_2", [turn("D3:1", "Ines", "A.")], ONE + ": session_2 has a turn of another session (D3:1)."),
        (f"{TALK}.session_2", [turn("D2:1", "Ines", "")], ONE + ", session_2: 'turns.0.text' does not have"),
        (
            f"{TALK}.session_2",
            [{"dia_id": "D2:1", "speaker": "Ines", "txt": "A."}],
            ONE + ", session_2: unknown key 'turns.0.txt'. Did you mean 'text'?",
        ),
        (f"{TALK}.session_2", [turn("D2-1", "Ines", "A.")], ONE + ", session_2: 'turns.0.dia_id' does not have"),
    ],
    "longmemeval": [
        *((f"0.{name}", GONE, f": '{name}' is missing.") for name in sorted(row())),
        ("0.question_id", "", "question 1 (''): 'question_id' does not have"),
        ("0.question_id", "../../x", "question 1 ('../../x'): 'question_id' does not have"),
        ("0.question_id", "x" * 5000, "question 1 ('" + "x" * 100 + "'): 'question_id' does not have"),
        ("0.question_id", 7, "question 1: 'question_id': text belongs here."),
        *(("0.question_type", value, NO_TYPE) for value in ("", "multi-session_abs", None)),
        *(("0.question", value, LME + "'question': must not be blank.") for value in ("", " \n")),
        ("0.question", "\ud800", "element 1 is not valid JSON"),
        ("0.answer", "", LME + "'answer': must not be blank."),
        *(("0.answer", value, NO_ANSWER) for value in (None, True, 2.5, 10**4000, ["Three"])),
        ("0.question_date", None, LME + "'question_date': text belongs here."),
        ("0.haystack_dates", [], LME + "4 sessions have 4 ids and 0 dates; each session needs both."),
        ("0.haystack_session_ids", ["a"] * 5, LME + "4 sessions have 5 ids and 4 dates; each session needs both."),
        ("0.haystack_sessions", [[]] * 3, LME + "3 sessions have 4 ids and 4 dates; each session needs both."),
        ("0.haystack_sessions", {}, LME + "'haystack_sessions': a list belongs here."),
        ("0.haystack_sessions.3", [7], LME + "'haystack_sessions.3.0': a table of names and values"),
        (
            "0.haystack_sessions.1",
            [lme_turn("system", "Be kind.")],
            LME + "'haystack_sessions.1.0.role': Input should be 'user' or 'assistant'.",
        ),
        ("0.haystack_sessions.0", [{"role": "user"}], LME + "'haystack_sessions.0.0.content' is missing."),
        (
            "0.haystack_sessions.0.0.has_answer",
            "yes",
            LME + "'haystack_sessions.0.0.has_answer': true or false belongs here.",
        ),
        ("0.answer_session_ids", "answer_9f_1", LME + "'answer_session_ids': a list belongs here."),
        (
            "0.answer_session_ids",
            ["answer_9f_1", "answer_gone"],
            LME + "evidence 'answer_gone' is not among its sessions.",
        ),
        ("+", row(), "the question id '1a2b3c4d' occurs more than once."),
        ("+", row("2", answer=""), "question 2 ('2'): 'answer': must not be blank."),
    ],
}


def refusal(benchmark: str, path: Path) -> str:
    with pytest.raises(BadInput) as caught:
        find(benchmark).open(path)
    remedy = str(caught.value.remedy)
    assert caught.value.where == str(path) and caught.value.remedy
    if benchmark != "longmemeval":  # which may be a copy of one's own
        assert f"`memeval data pull {benchmark}`" in remedy
        assert remedy.startswith("Use the released file: ") or not path.is_file()
        assert ("--data" in remedy) == (benchmark == "deepmemeval" and not path.is_file())
    return caught.value.problem


def written(folder: Path, value: object) -> Path:
    path = folder / "data.json"
    path.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
    return path


def changed(benchmark: str, place: str, value: Any) -> list[Any]:
    """Return the made-up file with another value at a place: ``0.qa.2.answer``; ``+`` adds one at the end."""
    whole = MADE[benchmark]()
    if place == "+":
        return [*whole, value]
    *above, last = [int(step) if step.isdigit() else step for step in place.split(".")]
    inner: Any = whole
    for step in above:
        inner = inner[step]
    if value is GONE:
        del inner[last]
    else:
        inner[last] = value
    return whole


def changes() -> Iterator[Any]:
    for benchmark, cases in CHANGES.items():
        for place, value, problem in cases:
            yield pytest.param(benchmark, place, value, problem, id=f"{benchmark} {place} {problem[-30:]}")


@pytest.mark.parametrize("benchmark", RELEASED)
def test_a_missing_file_and_a_folder_without_it_are_named(tmp_path: Path, benchmark: str) -> None:
    assert refusal(benchmark, tmp_path / "none.json") == "file not found."
    with pytest.raises(BadInput, match=rf"{RELEASED[benchmark]}: file not found"):
        find(benchmark).open(tmp_path)
    assert not any(find(benchmark).available(path) for path in (tmp_path, tmp_path / "none.json"))


@pytest.mark.parametrize("benchmark", RELEASED)
def test_a_pipe_is_not_waited_for(tmp_path: Path, benchmark: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    wanted = "this is neither a file nor a folder." if benchmark == "longmemeval" else "this is not a file."
    assert refusal(benchmark, tmp_path / "pipe") == wanted


@pytest.mark.parametrize(("benchmark", "data", "problem"), BYTES)
def test_bytes_of_another_kind_are_refused(tmp_path: Path, benchmark: str, data: bytes, problem: str) -> None:
    assert refusal(benchmark, written(tmp_path, data)).startswith(problem)


@pytest.mark.parametrize(("benchmark", "place", "value", "problem"), list(changes()))
def test_another_shape_is_refused_with_its_place(
    tmp_path: Path, benchmark: str, place: str, value: Any, problem: str
) -> None:
    found = refusal(benchmark, written(tmp_path, changed(benchmark, place, value)))
    assert found.endswith(problem) if problem.startswith(": ") else found.startswith(problem)


@pytest.mark.parametrize("benchmark", ["deepmemeval", "locomo"])
def test_a_file_of_the_right_shape_and_another_digest_is_refused_with_both_digests(
    tmp_path: Path, benchmark: str
) -> None:
    path = written(tmp_path, MADE[benchmark]())
    problem = refusal(benchmark, path)
    assert digest_bytes(path.read_bytes()) in problem
    assert find(benchmark).info.sources[0].digest in problem


@pytest.mark.parametrize("benchmark", ["deepmemeval", "locomo"])
def test_a_cut_copy_of_the_real_file_is_called_cut_off_and_a_changed_letter_is_noticed(
    tmp_path: Path, benchmark: str
) -> None:
    whole = test_data(RELEASED[benchmark]).read_bytes()
    for end in (1_000_000, 2_000_003, len(whole) - 2):
        cut = f"the file is truncated: it has {end:,} bytes, expected {find(benchmark).info.sources[0].bytes:,}."
        assert refusal(benchmark, written(tmp_path, whole[:end])) == cut
    place = whole.index(b"text" if benchmark == "locomo" else b"Jest") + (8 if benchmark == "locomo" else 0)
    assert "is not the released file" in refusal(
        benchmark, written(tmp_path, whole[:place] + bytes([whole[place] ^ 2]) + whole[place + 1 :])
    )


CUTS: tuple[Callable[[bytes], bytes], ...] = (lambda b: b[:-1], lambda b: b[: len(b) // 2], lambda b: b[:1])


@pytest.mark.parametrize("cut", CUTS)
def test_a_copy_of_ones_own_that_is_cut_off_is_called_that(tmp_path: Path, cut: Callable[[bytes], bytes]) -> None:
    data = json.dumps(MADE["longmemeval"]()).encode()
    assert refusal("longmemeval", written(tmp_path, cut(data))).startswith("the file is truncated: ")
