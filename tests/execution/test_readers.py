"""The extractive reader: one line of context, the same everywhere."""

from __future__ import annotations

import math
import re

from hypothesis import example, given
from hypothesis import strategies as st

from memeval.evaluation.readers import reader_named
from memeval.execution import readers
from memeval.execution.readers import ExtractiveReader

CONTEXT = "\n".join(
    [
        "[2025-01-05] Ada: I have moved to Lima for good.",
        "[2025-02-05] Ada: The soup was hot.",
        "[2025-03-05] Ada: I have moved to Oslo for good.",
    ]
)


def read(question: str, timestamp: str | None = None, *contexts: str) -> str:
    return ExtractiveReader().read(question, timestamp, contexts or (CONTEXT,)).answer


def test_the_latest_of_equal_lines_answers() -> None:
    assert read("Where has Ada moved to?") == "I have moved to Oslo for good."


def test_lines_after_the_time_of_the_question_are_ignored() -> None:
    assert read("Where has Ada moved to?", "2025-02-20") == "I have moved to Lima for good."


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    assert read("What soup did Ada have?") == "The soup was hot."


def test_a_question_in_the_context_is_no_answer_and_one_sentence_is_enough() -> None:
    line = "[2025-02-05] Ada: Is soup healthy? The soup was hot. I went home."
    assert read("What soup?", None, line) == "The soup was hot."


def test_an_answer_to_when_starts_with_the_date() -> None:
    assert read("When did Ada move to Lima?") == "2025-01-05: I have moved to Lima for good."
    assert read("In which month was the soup hot?") == "2025-02-05: The soup was hot."


def test_nothing_in_common_gives_no_answer() -> None:
    assert read("Quantum chromodynamics?") == ""
    assert read("Where has Ada moved to?", None, "") == ""


def test_all_context_delivered_is_read() -> None:
    assert read("What soup?", None, "first delivery", "[2025-02-05] Ada: The soup was hot.") == "The soup was hot."


@given(st.text(), st.lists(st.text()))
def test_any_text_is_read_and_contains_the_answer(question: str, contexts: list[str]) -> None:
    answer = ExtractiveReader().read(question, None, contexts).answer
    assert answer == "" or any(answer in context for context in contexts)


def test_a_reader_is_found_with_or_without_its_version() -> None:
    assert reader_named("extractive") is not None
    assert reader_named("extractive@1") is not None
    assert reader_named("extractive@9") is None


def test_the_chunks_reader_answers_with_the_retrieved_text() -> None:
    reader = reader_named("chunks")
    assert reader is not None and reader.name == "chunks@1"
    assert reader.read("Where?", None, ["one\ntwo", "three"]).answer == "one\ntwo\n\nthree"
    assert reader.read("Where?", "2025-01-01", [""]).answer == ""


SENTENCES = st.sampled_from(
    ["I moved to Oslo.", "I moved to Lima.", "Soup was hot.", "Is it hot?", "The garden is green!", "", "Ada moved."]
)
LINES = st.builds(
    lambda date, said: f"{date}{' '.join(said)}",
    st.sampled_from(["", "[2025-01-05] Ada: ", "[2025-02-05] Bo: ", "[2025-03-05 10:00] "]),
    st.lists(SENTENCES, max_size=3),
)


@example(["[2025-03-05 10:00] I moved to Oslo. Is it hot?"], "When was the soup hot?", None)
@given(
    contexts=st.lists(st.lists(LINES, max_size=6).map("\n".join), max_size=3),
    question=st.sampled_from(["Where did Ada move?", "When was the soup hot?", "What about Bo?", "Why?", ""]),
    timestamp=st.sampled_from([None, "2025-01-31", "2025-02-05T12:00", "2024-01-01"]),
)
def test_the_answer_is_that_of_the_rule_sentence_by_sentence(
    contexts: list[str], question: str, timestamp: str | None
) -> None:
    lines = dict.fromkeys(line for context in contexts for line in context.split("\n"))
    dated = [(line[1:].partition("]")[0] if line.startswith("[") else "", line) for line in lines]
    sentences = [
        (date, text, set(readers._words(f"{speaker[1] if (speaker := re.search(r'] (.*): ', line)) else ''} {text}")))
        for date, line in dated
        if date[:10] <= (timestamp or "9999")[:10]
        for text in re.split(r"(?<=[.!?])\s+", re.sub(r"^\[[^\]]*\] (?:\w+: )?", "", line).strip())
        if text and not text.endswith("?")
    ]
    asked = set(readers._words(question))
    counts = {word: sum(word in words for *_, words in sentences) for word in asked}
    scores = [
        math.fsum(math.log(1 + len(sentences) / counts[word]) for word in asked & words) for *_, words in sentences
    ]
    expected = ""
    if any(scores):
        _, date, place = max((score, sentences[place][0], place) for place, score in enumerate(scores))
        expected = f"{date}: {sentences[place][1]}" if date and "When" in question else sentences[place][1]
    assert ExtractiveReader().read(question, timestamp, contexts).answer == expected
