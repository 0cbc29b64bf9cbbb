"""References and answers in scripts that the rules do not read: surely right, or said to be unread."""

import pytest

from memeval.benchmarks.locomo.keys import LocomoCategory, LocomoKey
from memeval.benchmarks.qa.keys import holds
from memeval.judging.base import Case
from memeval.judging.rules import RulesJudge
from memeval.judging.text import is_read, states
from memeval.records.grade import GradeState
from tests.grading.builders import scenario
from tests.judging.cases import KEYS


def ruling(expected: str, answer: str, category: LocomoCategory = LocomoCategory.SINGLE_HOP) -> bool | None:
    key = LocomoKey(category=category, answer=expected)
    found = RulesJudge().rule(Case("i", "Where?", answer, key, scenario()))
    assert (found.state is GradeState.UNPARSED) is (found.verdict is None)
    return found.verdict


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        ("北京", "用户住在北京。"),
        ("北京", "北京"),
        ("東京タワー", "昨日、東京タワーに行きました。"),
        ("กรุงเทพ", "เขาอยู่กรุงเทพมาสิบปี"),
        ("서울", "그는 서울에 산다."),
        ("Москва", "Она живёт в городе Москва."),
        ("Αθήνα", "Αθήνα"),
        ("القاهرة", "القاهرة"),
        ("４２号", "42号です"),
    ],
)
def test_an_answer_that_holds_the_reference_is_right(reference: str, answer: str) -> None:
    assert ruling(reference, answer) is True


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        ("北京", "用户住在上海。"),
        ("北京", "Beijing"),
        ("北京", "用户不住在北京。"),
        ("北京", "北京或上海"),
        ("東京", "東京ではない"),
        ("Москва", "Она живёт в Москве."),
        ("Москва", "не Москва"),
        ("Beijing", "北京"),
        ("Paris", "巴黎"),
        ("Yes", "はい"),
    ],
)
def test_what_cannot_be_told_is_said_to_be_unread_and_never_wrong(reference: str, answer: str) -> None:
    assert ruling(reference, answer) is None


@pytest.mark.parametrize(
    ("reference", "answer", "right"),
    [
        ("Café Müller", "the café Müller", True),
        ("Łódź", "in Łódź", True),
        ("He lives in 北京 (Beijing)", "他: he lives in 北京", True),
        ("Tokyo Tower", "東京タワー (Tokyo Tower)", True),
        ("π is about 3.14", "π is about 3.14", True),
        ("Oslo", "Lima 🎉🎉🎉", False),
    ],
)
def test_other_texts_are_read_as_ever(reference: str, answer: str, right: bool) -> None:
    assert ruling(reference, answer) is right


@pytest.mark.parametrize("name", ["belief-update", "cascade-propagation", "locomo-adversarial", "reflect-point"])
def test_no_kind_of_key_calls_an_unread_answer_wrong(name: str) -> None:
    found = RulesJudge().rule(Case("i", "What?", "用户没有提到这个。", KEYS[name], scenario()))
    assert (found.state, found.verdict) == (GradeState.UNPARSED, None)
    assert found.reason == "The answer is in a script that the rules do not read."


def test_phrases_and_needles_have_no_word_ends_in_scripts_without_spaces() -> None:
    assert states("用户住在北京。", ("北京",)) and holds("用户住在北京。", ("北京",))
    assert not states("用户住在上海。", ("北京",)) and not holds("用户住在上海。", ("北京",))


def test_digits_and_signs_are_read() -> None:
    assert is_read("") and is_read("42 €") and is_read("🎉")
    assert not is_read("北京")
