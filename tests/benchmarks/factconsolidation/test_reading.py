"""The released file alone is read; facts have an order, and a question matches the fact with its subject."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.benchmarks.factconsolidation import FactConsolidationBenchmark
from memeval.benchmarks.factconsolidation.released import FULL, FactList, FactQuestion, matched, parse
from memeval.records.errors import BadInput
from tests.benchmarks.factconsolidation.made import FACTS, MULTI, SINGLE, fact_set, file


def test_a_list_has_its_facts_and_both_kinds_of_questions() -> None:
    (only,) = parse(file(), "facts.json").lists
    assert (only.size, only.facts) == ("6k", FACTS)
    asked = {hops: [(each.text, each.answer) for each in questions] for hops, questions in only.questions.items()}
    assert asked == {"sh": [*SINGLE], "mh": [*MULTI]}


def test_lists_are_ordered_by_length() -> None:
    sets = [fact_set(hops, size, pairs=MULTI) for size in ("262k", "6k", "32k") for hops in ("mh", "sh")]
    assert [each.size for each in parse(file(*sets), "facts.json").lists] == ["6k", "32k", "262k"]


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (("0. A is B.", "2. C is D."), "'2' stands where 1 belongs"),
        (("1. A is B.", "0. C is D."), "'1' stands where 0 belongs"),
        (("0. A is B.", "0. C is D."), "'0' stands where 1 belongs"),
        (("0. A is B.", "C is D."), "'C is D.' stands where 1 belongs"),
        (("0. A is B.", "", "1. C is D."), "'' stands where 1 belongs"),
        (("x" * 1000,), f"'{'x' * 16}' stands where 0 belongs"),
    ],
)
def test_facts_out_of_order_are_refused(lines: tuple[str, ...], problem: str) -> None:
    context = "\n".join(("Some facts:", *lines))
    with pytest.raises(BadInput) as caught:
        parse(file(fact_set(context=context), fact_set("mh", context=context, pairs=MULTI)), "facts.json")
    assert str(caught.value).startswith(f"facts.json: the facts of 6k are out of order: {problem}. Use the released")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        file(),
        file()[:-40],
        file(fact_set(), fact_set(), fact_set("mh", pairs=MULTI)),
        json.dumps([7, None]).encode(),
        "[\u00fc]".encode("utf-16"),
        b"[" * 100_000,
    ],
)
def test_another_file_is_refused_unread(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / FULL.filename
    path.write_bytes(data)
    with pytest.raises(BadInput, match=r"this is not the released file: .* `memeval data pull factconsolidation`"):
        FactConsolidationBenchmark().open(tmp_path)


def test_a_missing_and_a_huge_file_are_refused(tmp_path: Path) -> None:
    benchmark = FactConsolidationBenchmark()
    assert not benchmark.available(tmp_path)
    with pytest.raises(BadInput, match=r"file not found\. Use the released file: `memeval data pull"):
        benchmark.open(tmp_path)
    path = tmp_path / FULL.filename
    with path.open("wb") as stream:
        stream.truncate(10**12)
    with pytest.raises(BadInput, match=f"the file has more than {FULL.bytes:,} bytes"):
        benchmark.open(path)


def test_a_question_matches_the_fact_with_its_subject_and_answer() -> None:
    starts = [matched(FactQuestion(*pair), FactList("6k", FACTS, {})) for pair in SINGLE]
    assert starts == [
        "The keeper of Elmwick lighthouse is ",
        "Ines Holt works in the village of ",
        "The baker of Sorrel Bay is ",
        None,
    ]


def test_a_question_with_two_equally_near_facts_matches_none() -> None:
    assert matched(FactQuestion("Who is kind?", "Ada"), FactList("6k", ("Bo is Ada.", "Cy is Ada."), {})) is None


LINES = st.lists(st.text(alphabet="ab .", min_size=1, max_size=12), max_size=6).map(tuple)


@given(st.text(alphabet="ab .", min_size=1, max_size=4), LINES)
def test_facts_are_found_by_their_start_and_by_their_end(part: str, facts: tuple[str, ...]) -> None:
    released = FactList("6k", facts, {})
    assert [*released.starting(part)] == [fact for fact in facts if fact.startswith(part)]
    assert [*released.ending(part)] == [fact for fact in facts if fact.endswith(part)]


@given(st.text(max_size=60), st.text(alphabet="ab .", min_size=1, max_size=4), LINES)
def test_a_match_is_the_start_of_a_fact_that_ends_with_the_answer(
    text: str, answer: str, facts: tuple[str, ...]
) -> None:
    start = matched(FactQuestion(text, answer), FactList("6k", facts, {}))
    assert start is None or f"{start}{answer}." in facts
