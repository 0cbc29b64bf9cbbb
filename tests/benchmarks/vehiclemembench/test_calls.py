"""Calls are read as data: what is no plain call is refused in a sentence, and nothing is ever evaluated."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.benchmarks.vehiclemembench.calls import (
    LARGEST_TEXT,
    MOST_CALLS,
    Call,
    CallsError,
    argument_f1,
    parse_calls,
)


def written(text: str) -> list[str]:
    return list(map(str, parse_calls(text)))


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("set_level(level=3)", ["set_level(level=3)"]),
        (' [ set_level( level = 3 , zone = "all" ) ] ', ['set_level(level=3, zone="all")']),
        ("a(x=1)\nb(y=2)", ["a(x=1)", "b(y=2)"]),
        ("[a(x=1), b(y=2)]", ["a(x=1)", "b(y=2)"]),
        ("a(x=1); b()", ["a(x=1)", "b()"]),
        ("```python\na(x=1)\n```", ["a(x=1)"]),
        ("a(x=true, y=False, z=None)", ["a(x=true, y=false, z=null)"]),
        ("a(x='it\\'s', y=\"(b(c=1))\")", ['a(x="it\'s", y="(b(c=1))")']),
        ("a(x=3.0, y=-0, z=2.50)", ["a(x=3, y=0, z=2.5)"]),
        ("a(y=2, x=1)", ["a(x=1, y=2)"]),
        ("", []),
        ("[]", []),
    ],
)
def test_calls_are_read_in_the_usual_forms(text: str, calls: list[str]) -> None:
    assert written(text) == calls


def test_values_of_different_kinds_differ() -> None:
    values = {next(iter(call.arguments))[1] for call in parse_calls('a(x=1), a(x="1"), a(x=true), a(x="true")')}
    assert len(values) == 4


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a(x=b(y=1))", "Call 1 has a value that is not a number"),
        ("a(x=[1, 2])", "Call 1 has a value that is not a number"),
        ('a(x={"y": 1})', "Call 1 has a value that is not a number"),
        ("a(x=1 + 1)", "The arguments of call 1 are not separated by commas"),
        ("a(x=yes)", "Call 1 has a value that is not a number"),
        ("a(x=1e9)", "Call 1 has a value that is not a number"),
        ("a(x=__import__('os'))", "Call 1 has a value that is not a number"),
        ("a(3)", "Call 1 has an argument without a name."),
        ("a(**x)", "Call 1 has an argument without a name."),
        ("a(x=1, x=2)", "Call 1 has an argument twice."),
        ("a(x=1", "The arguments of call 1 are not separated by commas, or do not end."),
        ("a(x=", "Call 1 has a value that is not a number"),
        ('a(x="open)', "Call 1 has a value that is not a number"),
        ("a(x=1) and then b(y=2)", "Call 2 is not a name with arguments in brackets."),
        ("I would call a(x=1).", "Call 1 is not a name with arguments in brackets."),
        ("a.b(x=1)", "Call 1 is not a name with arguments in brackets."),
        ("[a(x=1)", "Call 1 is not a name with arguments in brackets."),
        ("\u0430(x=1)", "Call 1 is not a name with arguments in brackets."),
        ("a()" * (MOST_CALLS + 1), f"The answer has more than {MOST_CALLS} calls."),
        ("a" * (LARGEST_TEXT + 1), f"The answer has more than {LARGEST_TEXT:,} characters."),
        ("a(x=" * 4000, "Call 1 has a value that is not a number"),
        ("a(x=" + "9" * 4000 + ")", "Call 1 has a value that is not a number"),
    ],
)
def test_what_is_no_plain_call_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(CallsError, match=sentence.replace("(", r"\(")):
        parse_calls(text)


@pytest.mark.parametrize("part", ["\n", "[", "(", '"', '"\\', "a(", "a(x='", "```", " ", ",", "-", "a(x=1),", "```a"])
def test_a_hostile_answer_is_read_in_time_that_grows_with_its_length(part: str) -> None:
    started = time.process_time()
    try:
        parse_calls((part * LARGEST_TEXT)[:LARGEST_TEXT])
    except CallsError as error:
        assert str(error).endswith(".")
    assert time.process_time() - started < 1


@given(st.text(max_size=80) | st.text(alphabet="ab_(=),[]{}\"'\\ \n1.-", max_size=40))
def test_any_text_is_read_or_refused_in_a_sentence_that_does_not_quote_it(text: str) -> None:
    try:
        parse_calls(text)
    except CallsError as error:
        assert str(error).endswith(".") and len(str(error)) < 100


NAMES = st.from_regex(r"[a-z_]{1,8}", fullmatch=True)
VALUES = st.integers(-(10**9), 10**9).map(str) | st.sampled_from(["true", "false", "null", '"all"', '"a b"'])


@given(st.lists(st.tuples(NAMES, st.dictionaries(NAMES, VALUES, max_size=3)), max_size=4))
def test_calls_are_read_again_as_they_are_written(calls: list[tuple[str, dict[str, str]]]) -> None:
    made = tuple(Call(name, frozenset(arguments.items())) for name, arguments in calls)
    assert parse_calls("\n".join(map(str, made))) == made


@pytest.mark.parametrize(
    ("found", "expected", "score"),
    [
        ("a(x=1, y=2)", "a(x=1, y=2)", 1),
        ("a(x=1, y=3)", "a(x=1, y=2)", 1 / 2),
        ("a(x=1)", "a(x=1, y=2)", 2 / 3),
        ("b(x=1)", "a(x=1)", 0),
        ("a()", "a()", 1),
        ("", "a(x=1)", 0),
        ("a(x=1)\nb(x=1)", "a(x=1)", 2 / 3),
    ],
)
def test_arguments_are_compared_with_the_name_of_their_call(found: str, expected: str, score: float) -> None:
    assert argument_f1(frozenset(parse_calls(found)), frozenset(parse_calls(expected))) == pytest.approx(score)
