"""Where data lives, and copies of released files: a sentence for everything that can be wrong with one."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memeval.benchmarks import all_benchmarks, find
from memeval.benchmarks.data import data_folder, locate
from memeval.benchmarks.deepmemeval import DeepMemEvalBenchmark
from memeval.cli.data import list_
from memeval.records.base import digest_bytes, validated
from memeval.records.benchmark import Errata, ErratumKind
from memeval.records.errors import BadInput
from tests.benchmarks.deepmemeval.rows import rows as scenarios
from tests.benchmarks.locomo.samples import samples
from tests.benchmarks.longmemeval.rows import row
from tests.support.data import test_data

MADE: dict[str, Callable[[], list[Any]]] = {"deepmemeval": scenarios, "locomo": samples}
"""Made-up files in the form of each release that only the released file may have."""

RELEASED = {
    "deepmemeval": "deepmemeval/deepmemeval_500.json",
    "locomo": "locomo/locomo10.json",
    "longmemeval": "longmemeval/longmemeval_s_cleaned.json",
}

GONE = object()
"""In place of a value: the key is taken out."""

LONG = {
    b"": "the file is empty.",
    b'[{"question_id": "1a2': "the file is truncated: it ends after 21 bytes",
    b"<html>": "expected a JSON array of objects.",
    b'["1a2b3c4d"]': "after element 0, expected another object",
    b'[{"question_id": "\xff"}]': "element 1 is not valid JSON in UTF-8",
    b"[]": "the file has no questions.",
    b"[{}]": "question 1: 'question_id' is missing.",
}
BYTES = [pytest.param(data, problem, id=repr(data[:20])) for data, problem in LONG.items()]

LME = "question 1 ('1a2b3c4d'): "
NO_TYPE = LME + "'question_type': Input should be 'single-session-user', "
TURN = LME + "'haystack_sessions.{}"
NO_ANSWER = LME + "'answer': must be text or a whole number."

CHANGES: list[tuple[str, Any, str]] = [
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
    ("0.haystack_sessions.1.0.role", "system", TURN.format("1.0.role': Input should be 'user' or 'assistant'.")),
    ("0.haystack_sessions.0", [{"role": "user"}], TURN.format("0.0.content' is missing.")),
    ("0.haystack_sessions.0.0.has_answer", "yes", TURN.format("0.0.has_answer': true or false belongs here.")),
    ("0.answer_session_ids", "answer_9f_1", LME + "'answer_session_ids': a list belongs here."),
    ("0.answer_session_ids", ["answer_9f_1", "answer_gone"], LME + "evidence 'answer_gone' is not among its sessions."),
    ("+", row(), "the question id '1a2b3c4d' occurs more than once."),
    ("+", row("2", answer=""), "question 2 ('2'): 'answer': must not be blank."),
]


def refusal(benchmark: str, path: Path) -> str:
    with pytest.raises(BadInput) as caught:
        find(benchmark).open(path)
    remedy = str(caught.value.remedy)
    assert caught.value.where == str(path) and caught.value.remedy
    if benchmark != "longmemeval":  # which may be a copy of one's own
        assert f"`memeval data pull {benchmark}`" in remedy
        assert remedy.startswith("Use the released file: ")
    return caught.value.problem


def written(folder: Path, value: object) -> Path:
    path = folder / "data.json"
    path.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
    return path


def changed(place: str, value: Any) -> list[Any]:
    """Return the made-up file with another value at a place: ``0.haystack_dates``; ``+`` adds one at the end."""
    whole = [row()]
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


@pytest.mark.parametrize(("data", "problem"), BYTES)
def test_bytes_of_another_kind_are_refused(tmp_path: Path, data: bytes, problem: str) -> None:
    assert refusal("longmemeval", written(tmp_path, data)).startswith(problem)


@pytest.mark.parametrize(
    ("place", "value", "problem"), CHANGES, ids=[f"{place} {problem[-30:]}" for place, _, problem in CHANGES]
)
def test_another_shape_is_refused_with_its_place(tmp_path: Path, place: str, value: Any, problem: str) -> None:
    found = refusal("longmemeval", written(tmp_path, changed(place, value)))
    assert found.endswith(problem) if problem.startswith(": ") else found.startswith(problem)


@pytest.mark.parametrize("benchmark", ["deepmemeval", "locomo"])
@pytest.mark.parametrize("data", [b"", b'[{"scenario_id": "bel', b"<html>", b"\xff\xfe[]", b"PK\x03\x04", b"[]", None])
def test_a_file_with_another_digest_is_refused_with_both_sizes_and_digests(
    tmp_path: Path, benchmark: str, data: bytes | None
) -> None:
    path = written(tmp_path, MADE[benchmark]() if data is None else data)
    source = find(benchmark).info.sources[0]
    assert refusal(benchmark, path) == (
        f"this is not the released file: it has {path.stat().st_size:,} bytes and the digest"
        f" {digest_bytes(path.read_bytes())}, expected {source.bytes:,} bytes and {source.digest}."
    )


@pytest.mark.parametrize("benchmark", ["deepmemeval", "locomo"])
def test_a_cut_copy_of_the_real_file_and_one_with_a_changed_letter_are_noticed(tmp_path: Path, benchmark: str) -> None:
    whole = test_data(RELEASED[benchmark]).read_bytes()
    place = whole.index(b"text" if benchmark == "locomo" else b"Jest") + (8 if benchmark == "locomo" else 0)
    for data in (whole[:1_000_000], whole[:-2], whole[:place] + bytes([whole[place] ^ 2]) + whole[place + 1 :]):
        problem = refusal(benchmark, written(tmp_path, data))
        assert problem.startswith(f"this is not the released file: it has {len(data):,} bytes")


INFO = DeepMemEvalBenchmark.info
FILE = "deepmemeval_500.json"


def test_the_folder_is_the_one_the_environment_names(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MEMEVAL_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    assert locate(INFO) == tmp_path / "deepmemeval" / FILE


def test_else_it_is_the_users_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("MEMEVAL_DATA", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    assert data_folder().name == "memeval"
    assert tmp_path in data_folder().parents


def test_a_path_may_be_the_file_its_folder_or_the_folder_of_all_data(tmp_path: Path) -> None:
    assert locate(INFO, tmp_path / "copy.json") == tmp_path / "copy.json"
    assert locate(INFO, tmp_path) == tmp_path / "deepmemeval" / FILE
    (tmp_path / FILE).touch()
    assert locate(INFO, tmp_path) == tmp_path / FILE


def test_a_generated_benchmark_has_no_file() -> None:
    with pytest.raises(BadInput, match="has no data file"):
        locate(INFO.model_copy(update={"sources": ()}))


PAGE = (Path(__file__).parents[2] / "site" / "data.md").read_text("utf-8")


@pytest.mark.parametrize("name", [None, "longmemeval"])
def test_the_page_shows_what_data_list_prints_without_data(
    name: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MEMEVAL_DATA", str(tmp_path))
    list_(name)
    command = " ".join(["memeval data list", *([name] if name else [])])
    assert f"```console\n$ {command}\n{capsys.readouterr().out}```" in PAGE


def test_the_example_of_errata_can_be_read() -> None:
    (text,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    errata = validated(Errata, json.loads(text), "the page")
    assert {entry.kind for entry in errata.entries} <= set(ErratumKind)
    assert all(f"`{kind}`" in PAGE for kind in ErratumKind)


def test_who_may_publish_what_is_said_as_the_catalogue_has_it() -> None:
    kept = {each.info.title for each in all_benchmarks() if each.info.redistribution == "ids"}
    assert kept >= {"LoCoMo", "LongMemEval", "MemoryCD"}
    words = " ".join(PAGE.casefold().split())
    assert not [title for title in kept if f"{title.casefold()} is `ids`" not in words]
