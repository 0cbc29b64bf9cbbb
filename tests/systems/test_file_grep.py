"""The control that keeps text files and searches them for the words of the question."""

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.systems.controls.file_grep import FileGrep, as_line, as_text, content_words
from memeval.systems.errors import AdapterRaised
from memeval.systems.process import SystemProcess
from memeval.systems.source import find_system
from tests.systems.helpers import PATIENT


@pytest.fixture
def control() -> FileGrep:
    return FileGrep()


@pytest.fixture
def process() -> Iterator[SystemProcess]:
    with SystemProcess(find_system("file-grep").launch, PATIENT, print) as started:
        started.reset()
        yield started


def session(*said: str, number: int = 1) -> dict[str, Any]:
    turns = [
        {"turn_id": f"s{number:03}:t{place:02}", "role": "user", "content": content}
        for place, content in enumerate(said, 1)
    ]
    return {"session_id": f"s{number:03}", "date": f"2026-01-0{number}", "turns": turns}


def found(control: FileGrep, query: str, k: int = 10) -> list[str]:
    return [item["source_ids"][0] for item in control.search(query, k)["items"]]


def test_stop_words_and_single_letters_are_not_searched() -> None:
    words = content_words("Which TEA does Ann's sister, tea or 7 cups, like?")
    assert words == ["tea", "ann", "sister", "cups", "like"]
    assert content_words("What is it that you do?") == [] == content_words("")


def test_lines_with_more_different_words_come_first_then_rarer_words_then_the_order(control: FileGrep) -> None:
    control.ingest_session(session("tea tea tea", "the dog drank", "green TEA", "dog and tea"), "2026-01-01")
    control.ingest_session(session("more tea", number=2), "2026-01-02")
    # By hand: "tea" is in four lines, "dog" in two. One line has both.
    assert found(control, "Tea for the dog?") == ["s001:t04", "s001:t02", "s001:t01", "s001:t03", "s002:t01"]
    assert [item["score"] for item in control.search("Tea for the dog?", 2)["items"]] == [2, 1]
    assert found(control, "Tea for the dog?", 3) == ["s001:t04", "s001:t02", "s001:t01"]
    context = control.search("Tea for the dog?", 2)["context"]
    assert context == "[2026-01-01] user: the dog drank\n[2026-01-01] user: dog and tea", "in the order of the files"


def test_a_word_is_also_found_inside_other_words_as_grep_finds_it(control: FileGrep) -> None:
    control.ingest_session(session("We moved to Oslo.", "The STRASSE is long.", "Nothing here."), "2026-01-01")
    assert found(control, "Did you move?") == ["s001:t01"]
    assert found(control, "the Straße") == ["s001:t02"]
    assert found(control, "unheard") == [] == found(control, "what is it?") and control.search("?", 3)["context"] == ""


def test_each_session_and_each_text_is_a_file_in_the_folder_of_its_user(control: FileGrep) -> None:
    control.ingest_session(session("one", "two"), "2026-01-01")
    control.retain("three", bank="ann", timestamp="2026-01-01", tags=["a"], source_id="r001")
    control.retain("four", bank="../../etc", source_id="r002")
    assert [len(control.files(bank)) for bank in ("", "ann", "../../etc", "eve", None)] == [1, 1, 1, 0, 3]
    files = list(control.home.rglob("*.txt"))
    assert len(files) == 3 and len({file.parent for file in files}) == 3
    header, *lines = control.files("ann")[0].read_text().split("\n")
    assert header == '{"ids": ["r001"], "time": "2026-01-01", "tags": ["a"]}' and lines == ["three"]


def test_users_are_kept_apart(control: FileGrep) -> None:
    control.retain("Ann likes tea", bank="user-1", source_id="r001")
    control.retain("Bob likes tea", bank="user-10", source_id="r002")
    assert [item["text"] for item in control.recall("tea", 5, bank="user-1")] == ["Ann likes tea"]
    assert control.recall("tea", 5, bank="user-") == [] == control.recall("tea", 5)


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        ({}, ["r001", "r002", "r003"]),
        ({"tags": ["a"]}, ["r001"]),
        ({"tags": ["a", "b"]}, ["r001", "r002"]),
        ({"since": "2026-01-02"}, ["r002"]),
        ({"until": "2026-01-02T00:00:00+00:00"}, ["r001"]),
    ],
)
def test_a_search_keeps_to_its_tags_and_times(
    process: SystemProcess, filters: dict[str, Any], names: list[str]
) -> None:
    process.retain("tea", bank="ann", tags=["a"], timestamp="2026-01-01", source_id="r001")
    process.retain("tea", bank="ann", tags=["b"], timestamp="2026-01-02", source_id="r002")
    process.retain("tea", bank="ann", source_id="r003")
    items = process.recall(query="tea", k=5, bank="ann", **filters).items or ()
    assert [item.source_ids for item in items] == [(name,) for name in names]


def test_what_is_deleted_is_gone_from_searches_and_files_and_the_rest_stays(control: FileGrep) -> None:
    for number, bank in enumerate(("ann", "ann", "bob"), 1):
        control.retain(f"tea {number}", bank=bank, source_id=f"r00{number}")
    control.ingest_session(session("tea at home", "tea outside"), "2026-01-01")
    assert control.forget(bank="ann", ids=["r001", "r003"]) == 1, "texts of others have no name in a bank"
    assert [item["text"] for item in control.recall("tea", 5, bank="ann")] == ["tea 2"]
    assert control.forget(ids=["s001:t01"]) == 1 and found(control, "tea") == ["s001:t02"]
    exported = [item["text"] for item in control.export_memories()]
    assert exported == ["tea 2", "tea 3", "[2026-01-01] user: tea outside"]
    assert control.forget(bank="ann") == 1 and control.recall("tea", 5, bank="ann") == []
    assert control.forget(ids=[]) == 0 and len(control.export_memories()) == 2, "no ids are no filter for all"
    assert control.forget() == 2 and control.export_memories() == []
    assert list(control.home.rglob("*.txt")) == [], "an empty file would keep the name of what was deleted"
    control.retain("tea again", bank="ann", source_id="r009")
    assert [item["text"] for item in control.recall("tea", 5, bank="ann")] == ["tea again"]


def test_it_cannot_delete_a_topic_and_says_so(process: SystemProcess) -> None:
    with pytest.raises(AdapterRaised, match="forget has no keyword 'query'"):
        process.forget(bank="ann", query="tea")


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=50))
def test_any_text_is_one_line_of_a_file_and_comes_back_unchanged(text: str) -> None:
    line = as_line(text)
    assert "\n" not in line and "\r" not in line and as_text(line) == text


@pytest.mark.parametrize("text", ["tea\r\n\\n C:\\new\n", "tea \ud83d \x00 \u2028 \x85 \x0c", "", "tea " * 100_000])
def test_a_hostile_text_is_stored_and_found(control: FileGrep, text: str) -> None:
    control.retain(text, bank=text, source_id="r001")
    control.retain("other", bank=text, source_id=text)
    assert [item["text"] for item in control.export_memories()] == [text, "other"]
    assert [item["text"] for item in control.recall("tea", 5, bank=text)] == [text] * bool(text)
    assert control.forget(bank=text, ids=[text]) == 1


def test_a_reset_empties_the_folder_and_the_end_of_the_control_deletes_it() -> None:
    control = FileGrep()
    control.retain("tea", source_id="r001")
    home: Path = control.home
    control.reset()
    assert list(home.iterdir()) == [] and control.recall("tea", 5) == []
    del control
    gc.collect()
    assert not home.exists()
