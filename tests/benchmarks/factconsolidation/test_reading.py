"""What is no released file is refused in a sentence that says where it is wrong."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.benchmarks.factconsolidation import FactConsolidationBenchmark
from memeval.benchmarks.factconsolidation import released as reading
from memeval.benchmarks.factconsolidation.released import FactList, FactQuestion, matched, parse, read
from memeval.records.errors import BadInput
from tests.benchmarks.factconsolidation.made import FACTS, MULTI, SINGLE, fact_set, file

OTHER = fact_set("mh", pairs=MULTI)


def numbered(*lines: str) -> dict[str, Any]:
    context = "\n".join(("Some facts:", *lines))
    return {"context": context}


def refusal(data: bytes) -> str:
    with pytest.raises(BadInput) as caught:
        parse(data, "facts.json")
    assert str(caught.value).startswith("facts.json: ")
    assert "memeval data pull factconsolidation" in str(caught.value)
    return caught.value.problem


def test_a_list_has_its_facts_and_both_kinds_of_questions() -> None:
    (only,) = parse(file(), "facts.json").lists
    assert (only.size, only.facts) == ("6k", FACTS)
    assert [(each.text, each.answer) for each in only.questions["sh"]] == list(SINGLE)
    assert len(only.questions["mh"]) == 1


def test_lists_are_ordered_by_length() -> None:
    sets = [fact_set(hops, size, pairs=MULTI) for size in ("262k", "6k", "32k") for hops in ("mh", "sh")]
    assert [each.size for each in parse(file(*sets), "facts.json").lists] == ["6k", "32k", "262k"]


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (("0. A is B.", "2. C is D."), "the facts of 6k are out of order: number 2 stands where 1 belongs."),
        (("1. A is B.", "0. C is D."), "the facts of 6k are out of order: number 1 stands where 0 belongs."),
        (("0. A is B.", "0. C is D."), "the facts of 6k are out of order: number 0 stands where 1 belongs."),
        (("0. A is B.", "C is D."), "line 3 of the list of 6k is not a number, a point and a sentence."),
        (("0. A is B.", "", "1. C is D."), "line 3 of the list of 6k is not a number, a point and a sentence."),
        (("0. A is B",), "line 2 of the list of 6k is not a number, a point and a sentence."),
        (("0. A is B.", "1. A is B."), "a fact of 6k, 'A is B.' occurs more than once."),
        ((), "the list of 6k has no facts."),
    ],
)
def test_facts_that_are_not_numbered_in_order_are_refused(lines: tuple[str, ...], problem: str) -> None:
    assert refusal(file(fact_set() | numbered(*lines), OTHER | numbered(*lines))) == problem


@pytest.mark.parametrize(
    ("sets", "problem"),
    [
        ([fact_set()], "the list of 6k has no multi-hop questions."),
        ([OTHER], "the list of 6k has no single-hop questions."),
        ([fact_set(), fact_set(), OTHER], "the set 'factconsolidation_sh_6k' occurs more than once."),
        ([fact_set(facts=FACTS[:-1]), OTHER], "the two sets of 6k have different facts."),
        ([fact_set("xh"), OTHER], "the set 'factconsolidation_xh_6k' is not one of FactConsolidation."),
        ([fact_set(answers=[["x"]]), OTHER], "the set factconsolidation_sh_6k has 4 questions and 1 answers."),
        ([fact_set(pairs=(*SINGLE, SINGLE[0])), OTHER], f"a question of factconsolidation_sh_6k, '{SINGLE[0][0]}'"),
        ([fact_set(pairs=(("Who?", "the ..."),)), OTHER], "answer 1 of the set factconsolidation_sh_6k has no word"),
        ([fact_set(answers=[["x", "y"]] * 4), OTHER], "set 1: 'answers.0': "),
        ([fact_set(), OTHER | {"questions": []}], "set 2: 'questions': "),
        ([fact_set(context=7), OTHER], "set 1: 'context': "),
        ([fact_set(metadata={}), OTHER], "set 1: 'metadata.source': "),
        ([7], "set 1: "),
    ],
)
def test_sets_that_do_not_fit_are_refused(sets: list[Any], problem: str) -> None:
    assert refusal(file(*sets)).startswith(problem)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "the file is empty."),
        (b" \n", "the file is empty."),
        (b"{}", "expected a JSON list of sets."),
        (b"[]", "the file has no sets."),
        (file()[:-40], "the file is truncated: it has "),
        (b"[}", "not valid JSON ("),
        ("[\u00fc]".encode("utf-16"), "not valid JSON ("),
        (b"[" * 100_000, "not valid JSON ("),
    ],
)
def test_what_is_no_list_of_sets_is_refused(data: bytes, problem: str) -> None:
    assert refusal(data).startswith(problem)


def test_a_valid_file_that_is_not_the_released_one_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "Conflict_Resolution.json"
    path.write_bytes(file())
    with pytest.raises(BadInput, match=r"the format is valid, but this is not the released file"):
        read(path)


def test_a_missing_and_a_huge_file_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    benchmark = FactConsolidationBenchmark()
    assert not benchmark.available(tmp_path)
    with pytest.raises(BadInput, match=r"file not found. Use the released file: 'memeval data pull"):
        benchmark.open(tmp_path)
    monkeypatch.setattr(reading, "LARGEST", 10)
    path = tmp_path / "Conflict_Resolution.json"
    path.write_bytes(file())
    with pytest.raises(BadInput, match="the file has more than 10 bytes"):
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


@given(
    st.binary(max_size=200) | st.recursive(st.none() | st.text(max_size=5), st.lists).map(json.dumps).map(str.encode)
)
def test_any_bytes_are_read_or_refused_in_a_sentence(data: bytes) -> None:
    with pytest.raises(BadInput) as caught:
        parse(data, "facts.json")
    assert caught.value.problem.endswith(".")
