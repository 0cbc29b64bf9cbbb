"""The control that returns sentences which only look like memories."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.records.run import BLIND_CONTROLS
from memeval.systems.controls.placebo import COUNT, INVENTED, SENTENCES, Placebo, numbers, text
from memeval.systems.process import SystemProcess
from memeval.systems.source import find_system
from tests.systems.helpers import PATIENT


def filled(count: int = 20) -> Placebo:
    control = Placebo()
    turns = [{"turn_id": f"s001:t{n}", "role": "user", "content": f"Ann likes tea number {n}."} for n in range(count)]
    control.ingest_session({"session_id": "s001", "date": "2026-01-01", "turns": turns}, "2026-01-01")
    return control


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=60), st.integers(0, 500))
def test_a_reply_has_different_texts(query: str, count: int) -> None:
    found = [text(number) for number in numbers(query, count)]
    assert len(found) == len(set(found)) == min(count, COUNT)


def test_every_text_names_somebody_somewhere_and_something_that_is_invented() -> None:
    every = [text(number) for number in numbers("", COUNT)]
    assert len({name for row in INVENTED for name in row}) == 3 * len(INVENTED)
    for each in every:
        for names in zip(*INVENTED, strict=True):
            assert len([name for name in names if name in each]) == 1, each


def test_sentences_hold_no_date_number_yes_or_no() -> None:
    for pattern in SENTENCES:
        assert not re.search(r"\d|\b(yes|no|not|nobody|never|one|two|true|false|unknown|sure)\b", pattern, re.I), (
            pattern
        )


def test_texts_follow_from_the_query_alone() -> None:
    first = filled().recall("Where does Ann live?", 5)
    assert filled(5).recall("Where does Ann live?", 5) == first
    assert len({item["text"] for item in first}) == 5
    assert filled().recall("Where did Ann live?", 5) != first
    assert filled().query("Where does Ann live?") == first[0]["text"]
    # By hand: the first 8 bytes of the SHA-256 digest of the question, modulo 120, are 111, which is 9 times 12 and 3.
    assert numbers("Where does Ann live?", 3) == [111, 58, 5]
    assert first[0]["text"] == "On the way to Dunquary I thought of Rhazill and of the muvrack."


def test_nothing_of_what_was_ingested_and_no_word_of_the_question_comes_back() -> None:
    control = filled()
    question = "Where does Ann drink her zebra tea?"
    found = " ".join(item["text"] for item in control.search(question, 20))
    assert not re.search(r"\b(ann|tea|zebra|drink|number)\b", found, re.I)


def test_it_names_sources_that_do_not_exist() -> None:
    assert [item["source_ids"] for item in filled().recall("tea", 2)] == [["placebo-67"], ["placebo-14"]]


@pytest.mark.parametrize(("ingested", "k", "returned"), [(0, 5, 0), (3, 5, 3), (20, 5, 5), (20, 0, 0)])
def test_it_returns_no_more_texts_than_it_ingested(ingested: int, k: int, returned: int) -> None:
    control = filled(ingested)
    assert len(control.search("tea", k)) == returned
    assert bool(control.query("tea")) == bool(ingested)


def test_texts_are_counted_for_each_user() -> None:
    with SystemProcess(find_system("placebo").launch, PATIENT, print) as process:
        process.reset()
        process.retain("Ann likes tea", bank="ann", source_id="r001")
        assert len(process.recall(query="tea", k=5, bank="ann").items or ()) == 1
        assert not process.recall(query="tea", k=5, bank="bob").items


def test_systems_must_score_higher() -> None:
    assert "placebo" in BLIND_CONTROLS
