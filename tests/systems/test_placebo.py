"""The control that returns sentences which only look like memories."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.records.run import BLIND_CONTROLS
from memeval.systems.controls.placebo import ENDS, MIDDLES, SENTENCES, STARTS, Placebo, sentence
from memeval.systems.process import SystemProcess
from memeval.systems.source import find_system
from tests.systems.helpers import PATIENT

INVENTED = re.compile(rf"\b({'|'.join(STARTS)})({'|'.join(MIDDLES)})({'|'.join(sum(ENDS.values(), ()))})\b", re.I)


def filled(texts: int = 20) -> Placebo:
    control = Placebo()
    turns = [{"turn_id": f"s001:t{n}", "role": "user", "content": f"Ann likes tea number {n}."} for n in range(texts)]
    control.ingest_session({"session_id": "s001", "date": "2026-01-01", "turns": turns}, "2026-01-01")
    return control


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=60))
def test_a_text_is_one_of_the_sentences_with_three_invented_words(query: str) -> None:
    text = sentence(query, 0)
    assert len(INVENTED.findall(text)) == 3
    patterns = [re.escape(each).replace(r"\{", "{").replace(r"\}", "}") for each in SENTENCES]
    assert any(re.fullmatch(re.sub(r"\{\w+\}", r"\\w+", pattern), text) for pattern in patterns)


def test_sentences_hold_no_date_number_yes_or_no() -> None:
    for text in SENTENCES:
        assert not re.search(r"\d|\b(yes|no|not|nobody|never|one|two|true|false|unknown|sure)\b", text, re.I), text


def test_texts_follow_from_the_query_alone() -> None:
    first = filled().recall("Where does Ann live?", 5)
    assert filled(5).recall("Where does Ann live?", 5) == first
    assert len({item["text"] for item in first}) == 5
    assert filled().recall("Where did Ann live?", 5) != first
    assert filled().query("Where does Ann live?") == first[0]["text"]
    # The sentence of the first edition of the control: another one would need a new version of every stored run.
    assert (
        sentence("Where does Ann live?", 0)
        == "I am taking the fledribble along to Vlodribrovo and will give it to Snankradok."
    )


def test_nothing_of_what_was_ingested_and_no_word_of_the_question_comes_back() -> None:
    control = filled()
    question = "Where does Ann drink her zebra tea?"
    texts = " ".join(item["text"] for item in control.search(question, 20))
    assert not re.search(r"\b(ann|tea|zebra|drink|number)\b", texts, re.I)


def test_it_names_sources_that_do_not_exist() -> None:
    assert [item["source_ids"] for item in filled().recall("tea", 2)] == [["placebo-1"], ["placebo-2"]]


@pytest.mark.parametrize(("texts", "k", "returned"), [(0, 5, 0), (3, 5, 3), (20, 5, 5), (20, 0, 0)])
def test_it_returns_no_more_texts_than_it_ingested(texts: int, k: int, returned: int) -> None:
    control = filled(texts)
    assert len(control.search("tea", k)) == returned
    assert bool(control.query("tea")) == bool(texts)


def test_texts_are_counted_for_each_user() -> None:
    with SystemProcess(find_system("placebo").launch, PATIENT, print) as process:
        process.reset()
        process.retain("Ann likes tea", bank="ann", source_id="r001")
        assert len(process.recall(query="tea", k=5, bank="ann").items or ()) == 1
        assert not process.recall(query="tea", k=5, bank="bob").items


def test_systems_must_score_higher() -> None:
    assert "placebo" in BLIND_CONTROLS
