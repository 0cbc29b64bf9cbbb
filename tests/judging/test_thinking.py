"""Thinking is no part of an answer."""

import pytest

from memeval.benchmarks.locomo.keys import LocomoCategory, LocomoKey
from memeval.gateway.reply_words import without_thinking
from memeval.judging.base import Case
from memeval.judging.rules import RulesJudge, noticed
from memeval.records.grade import Flag, GradeState
from tests.grading.builders import scenario

HARMONY = "<|channel|>analysis<|message|>Lima?<|end|><|start|>assistant<|channel|>final<|message|>Oslo<|return|>"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("<think>Lima?</think>Oslo", "Oslo"),
        ("<think>\nLima?\n\nNo.\n</think>\n\nOslo", "Oslo"),
        ("<thinking>Lima?</thinking> Oslo", "Oslo"),
        ("<reasoning>Lima?</reasoning>Oslo", "Oslo"),
        ("<THINK>Lima?</THINK>Oslo", "Oslo"),
        ('<think time="3">Lima?</think>Oslo', "Oslo"),
        ("[THINK]Lima?[/THINK]Oslo", "Oslo"),
        ("◁think▷Lima?◁/think▷Oslo", "Oslo"),
        ("<|begin_of_thought|>Lima?<|end_of_thought|>Oslo", "Oslo"),
        ("&lt;think&gt;Lima?&lt;/think&gt;Oslo", "Oslo"),
        ("```thinking\nLima?\n```\nOslo", "Oslo"),
        ("Lima? </think>Oslo", "Oslo"),
        ("<think>Lima? <think>again</think>Oslo", "Oslo"),
        ("Sure. <think>Lima?</think> Oslo", "Sure.  Oslo"),
        ("<think>Lima?</think>It is <think>or</think>Oslo", "It is Oslo"),
        (HARMONY, "Oslo"),
        ("analysisIs it Lima?assistantfinalOslo", "Oslo"),
        ("<think>Lima", ""),
        ("<think>Lima</think>", ""),
        ("<think>Lima</think>  \n", ""),
        ("Lima</think>", ""),
        ("<|channel|>analysis<|message|>Lima", ""),
    ],
)
def test_only_what_is_said_after_thinking_counts(answer: str, said: str) -> None:
    assert without_thinking(answer) == said


@pytest.mark.parametrize(
    "answer",
    [
        "Oslo",
        "a < b and c > d",
        "Use the `<think>` tag.",
        "[1] Oslo",
        "analysis of Oslo",
        "<b>Oslo</b>",
        "I think Oslo.",
        "",
    ],
)
def test_an_answer_without_thinking_is_unchanged(answer: str) -> None:
    assert without_thinking(answer) == answer


def case(answer: str) -> Case:
    key = LocomoKey(category=LocomoCategory.SINGLE_HOP, answer="Oslo")
    return Case("i", "Where?", answer, key, scenario())


def ruling(answer: str) -> tuple[GradeState, bool | None]:
    found = RulesJudge().rule(case(answer))
    return found.state, found.verdict


def test_the_rules_grade_only_what_is_said() -> None:
    assert ruling("<think>Oslo</think>Lima") == (GradeState.GRADED, False)
    assert ruling("<think>Lima, I do not know</think>Oslo") == (GradeState.GRADED, True)
    assert ruling("<think>Oslo</think>") == (GradeState.EMPTY, False)
    assert ruling("<think>Oslo") == (GradeState.EMPTY, False)


def test_doubt_in_thinking_is_no_hedge() -> None:
    assert noticed(case("<think>Perhaps Lima?</think>Oslo")) == ()
    assert noticed(case("<think>Oslo</think>Perhaps Lima?")) == (Flag.HEDGED,)
