"""The strict reading of a judge's yes or no, beside the substring reading of the original."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.judging.base import parse_strict, parse_substring

# The table of the DeepMemEval specification, section 8, and more of its kind.
GOLDEN = [
    ("Yes", True, True),
    ("**yes**", True, True),
    ("YES.", True, True),
    ("No", False, False),
    ("No.", False, False),
    ("No, the user said that yesterday", False, True),
    ("Yesterday", None, True),
    ("Not sure", None, False),
    ("Yes and no", None, True),
    ("The answer is yes", None, True),
    ("", None, False),
    ("   \n", None, False),
    ('"Yes."', True, True),
    ("(yes)", True, True),
    ("[No]!", False, False),
    ("**Yes**.", True, True),
    ("`no`;", False, False),
    ("_Yes_:", True, True),
    ("Yes, it does", True, True),
    ("no - it says Jenkins", False, False),
    ("No, yes would be wrong", None, True),
    ("yes/no", None, True),
    ("Yes, I know", True, True),
    ("Yeah", None, False),
    ("Nope", None, False),
    ("None", None, False),
    ("42", None, False),
]


@pytest.mark.parametrize(("reply", "strict", "substring"), GOLDEN)
def test_replies_are_read_as_the_table_says(reply: str, strict: bool | None, substring: bool) -> None:
    assert parse_strict(reply) is strict
    assert parse_substring(reply) is substring


@given(st.text())
def test_any_reply_can_be_read_and_a_strict_yes_holds_the_letters_of_yes(reply: str) -> None:
    if parse_strict(reply):
        assert parse_substring(reply)


@given(
    st.sampled_from(["yes", "No", "YES", "no"]),
    st.text("*_`\"'()[] \n", max_size=6),
    st.text("*_`\"'()[] \n.!,:;", max_size=6),
)
def test_punctuation_around_a_bare_word_is_ignored(word: str, before: str, after: str) -> None:
    assert parse_strict(before + word + after) is (word.lower() == "yes")


@given(st.text())
def test_a_reply_with_both_words_is_never_a_verdict(rest: str) -> None:
    assert parse_strict(f"yes no {rest}") is None
    assert parse_strict(f"no {rest} yes") is None


REVERSED = (
    "No problem, the answer is correct.",
    "No doubt this is right.",
    "No doubt, it matches",
    "Yes, it is wrong",
    "No, the answer is correct.",
    "Yes, incorrect",
    "Yes, the answer is not correct",
    "Yes, it does not match",
    "No, it matches",
    "No issues",
    "No question about it: correct",
    "No errors found",
    "No-brainer",
    "No, it does.",
    "Yes, it doesn't.",
    "Yes, but only partially correct",
    "Yes if you ignore the date",
    "No, that's right",
    "No contradiction",
    "No objections",
    "No need to worry",
    "No mistake here",
    "No — correct.",
    "No wait, it's correct",
    "Yes, not correct",
    "Yes, the answer fails.",
    "No, the answer passes.",
    "No, true",
    "No way is this wrong",
    "No longer correct",
    "No one would disagree",
    "Yes, mostly wrong",
    "Yes... actually it's wrong",
    "Yes, the answer is wrong about the date",
    "No answer",
    "No; everything fits.",
    "Yes, the answer misses the reference.",
    "Yes, but the response omits the year",
    "No, the answer lacks nothing: it fits",
)
FIRM = (
    ("No, the answer is incorrect", False),
    ("Yes, correct", True),
    ("No, the correct answer is Jenkins", False),
    ("No, it is not correct", False),
    ("No, it isn't correct.", False),
    ("Yes, it isn't wrong", True),
    ("No, it does not match", False),
    ("No it doesn't", False),
    ("Yes it does", True),
    ("No, only partially correct", False),
    ("No, that is wrong", False),
    ("Yes, that's right", True),
    ("**No**, the answer is wrong.", False),
    ("No. The answer states Rome.", False),
    ("Yes. The answer states the current value, not the old one.", True),
    ("Yes, the answer doesn't mention Redis", True),
    ("No; wrong value", False),
    ("Yes; right value", True),
    ("No, right person but wrong date", False),
    ("Yes — correct.", True),
    ("No, not correct", False),
    ("No, the answer fails", False),
    ("No, the answer misses the date", False),
    ("No, it does not fit", False),
    ("Yes, all matches.", True),
    ("Yes, the answer passes.", True),
    ("yes\n", True),
    ("No\n\nThe reference says 5.", False),
    ("No, the answer is false", False),
    ("Yes, true", True),
    ("No, incorrect.", False),
    ("No, because the answer is Rome, while the right answer is Paris", False),
    ("No, this isn't right", False),
    ("No the answer is 5", False),
)


@pytest.mark.parametrize(
    "reply",
    ["yes,{} z", "yes, it is{}z", "yes{}, it does{}z", "yes, wrong{}z", "{}yes{}"],
    ids=["comma", "is", "it", "wrong", "around"],
)
@pytest.mark.parametrize("part", [" ", "\n", " quite", ". *"])
def test_a_reply_of_any_length_is_parsed_in_bounded_time(reply: str, part: str) -> None:
    began = time.process_time()
    parse_strict(reply.replace("{}", part * 20_000))
    assert time.process_time() - began < 2


@pytest.mark.parametrize("reply", REVERSED)
def test_a_verdict_word_that_what_follows_reverses_is_no_verdict(reply: str) -> None:
    assert parse_strict(reply) is None


@pytest.mark.parametrize(("reply", "verdict"), FIRM)
def test_a_verdict_with_a_reason_that_bears_it_out_is_a_verdict(reply: str, verdict: bool) -> None:
    assert parse_strict(reply) is verdict
