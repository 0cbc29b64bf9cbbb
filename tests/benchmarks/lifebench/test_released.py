"""Golden counts of the release at commit 96660ea; the specification of issue 16 names them."""

import re
from collections import Counter
from pathlib import Path

import pytest

from memeval.benchmarks.lifebench import LifeBenchBenchmark
from memeval.benchmarks.lifebench.dataset import History, LifeBenchDataset
from memeval.benchmarks.lifebench.keys import LifeBenchKey, QuestionType
from memeval.benchmarks.lifebench.questions import LifeBenchQuestion, read_questions
from memeval.benchmarks.lifebench.released import QUESTIONS, read_user, released_users
from tests.benchmarks.lifebench.samples import USER, questions_only

BY_USER = {
    # information, multi-hop, nondeclarative, temporal, unanswerable, with options, start of SHA-256
    "fenghaoran": (72, 68, 39, 28, 0, 60, "f5845b65"),
    "leimingxuan": (77, 71, 50, 27, 3, 62, "799d9f81"),
    "lumingqiang": (65, 41, 41, 8, 3, 37, "0663566c"),
    "maxiulan": (90, 63, 41, 24, 6, 67, "0cf4a44c"),
    "songyajing": (58, 59, 38, 16, 2, 38, "e6e70d3d"),
    "sunyuwei": (73, 59, 41, 21, 4, 44, "061a56ea"),
    "yemingxuan": (74, 58, 44, 37, 4, 61, "47f577b9"),
    "yinhao": (63, 58, 39, 22, 2, 44, "54975df2"),
    "yuxiaowei": (69, 59, 41, 25, 3, 49, "b5ba0d81"),
    "yuxiaowen": (77, 61, 55, 21, 3, 56, "985b27d0"),
}

BY_MONTH = dict(
    zip(
        [*(f"2025-{month:02}" for month in range(1, 13)), "2026-01", "2026-03"],
        [14, 20, 49, 58, 67, 143, 120, 180, 203, 231, 286, 628, 2, 2],
        strict=True,
    )
)

BY_LIST = {
    **{"agent_chat": 143, "calendar": 382, "call": 64, "contact": 24, "fitness_health": 64, "note": 520},
    **{"photo": 129, "push": 281, "sms": 567},
}
"""Records of lumingqiang."""


@pytest.fixture(scope="module")
def questions(data: Path) -> dict[str, tuple[LifeBenchQuestion, ...]]:
    return {user: read_questions(questions_only(data, user)) for user in released_users()}


@pytest.fixture(scope="module")
def whole(questions: dict[str, tuple[LifeBenchQuestion, ...]]) -> list[LifeBenchQuestion]:
    return [each for own in questions.values() for each in own]


@pytest.fixture(scope="module")
def quick(data: Path) -> LifeBenchDataset:
    return LifeBenchBenchmark().opened(data, None, "retrieval", "quick")


def test_every_user_has_the_published_questions(
    data: Path, questions: dict[str, tuple[LifeBenchQuestion, ...]]
) -> None:
    found = {}
    for user, own in questions.items():
        types = Counter(each.question_type for each in own)
        digest = questions_only(data, user).digests[QUESTIONS].removeprefix("sha256:")[:8]
        found[user] = (*(types[each] for each in QuestionType), sum(bool(each.options) for each in own), digest)
    assert found == BY_USER


def test_questions_are_asked_in_the_published_months(whole: list[LifeBenchQuestion]) -> None:
    assert Counter(each.month for each in whole) == BY_MONTH


def test_options_are_biased_as_the_catalogue_says(whole: list[LifeBenchQuestion]) -> None:
    choice = [each for each in whole if each.options]
    assert Counter(each.answer for each in choice) == {"A": 90, "B": 225, "C": 170, "D": 32, "A, C": 1}
    assert Counter(each.question_type.value for each in choice) == {
        **{"information": 283, "multi-hop": 99, "nondeclarative": 79, "temporal": 53, "unanswerable": 4}
    }
    longest = (
        max(each.options, key=len) == each.options["ABCD".index(each.answer)]
        for each in choice
        if each.answer != "A, C"
    )
    assert sum(longest) == 222


def test_open_answers_and_rubrics_have_the_published_sizes(whole: list[LifeBenchQuestion]) -> None:
    opened = [each for each in whole if not each.options]
    lengths = Counter(sum(len(each.answer.split()) > most for most in (3, 10, 40)) for each in opened)
    assert [lengths[size] for size in range(4)] == [337, 303, 566, 279]
    sums = Counter(sum(point.points for point in each.rubric) for each in whole if each.rubric)
    assert (sums[10], sums.total(), min(sums), max(sums)) == (1448, 1448 + 19, 7, 16)
    assert sum(bool(each.rubric) for each in opened) == 1459
    assert {each.answer for each in opened if not each.rubric} == {"Unable to answer"}


def test_references_to_evidence_are_distinct(whole: list[LifeBenchQuestion]) -> None:
    assert sum(len(each.evidence) for each in whole) == 13_100 + 373
    assert sum(bool(each.evidence) for each in whole) == 1972
    assert max(len(each.evidence) for each in whole) == 69


def test_no_criterion_names_an_id_of_an_event_as_76_rubrics_do(data: Path, whole: list[LifeBenchQuestion]) -> None:
    released = (row for user in released_users() for row in questions_only(data, user).rows(QUESTIONS))
    rubrics = (" ".join(point["description"] for point in row.get("score_points", ())) for row in released)
    assert sum(bool(re.search(r"event\s*id", rubric, re.IGNORECASE)) for rubric in rubrics) == 76
    named = re.compile(r"\bIDs?\b|\bevents? \d{2,4}\b", re.IGNORECASE)
    assert not [point.criterion for each in whole for point in each.rubric if named.search(point.criterion)]


def test_one_user_has_the_published_records(data: Path, quick: LifeBenchDataset) -> None:
    files = read_user(data / "data_en", USER)
    lists = released_users()[USER].record_lists()
    assert {name: len(files.rows(path)) for name, path in lists.items()} == BY_LIST
    assert len(History(files).days) == 335
    assert quick.released and quick.digest in LifeBenchBenchmark.info.released_digests


def test_all_evidence_of_one_user_resolves(data: Path, quick: LifeBenchDataset) -> None:
    keys = [item.key for item in quick.answer_keys() if isinstance(item.key, LifeBenchKey)]
    assert sum(bool(key.records) for key in keys) == 155
    assert sum(len(key.records) for key in keys) == 1078
    assert sum(len(group) == 2 for key in keys for group in key.records) == 16
    assert Counter(key.answer for key in keys if key.options) == {"A": 5, "B": 15, "C": 15, "D": 2}


@pytest.mark.parametrize(("protocol", "items"), [("retrieval", 155), ("choice", 37), ("abstain", 121), ("judge", 118)])
def test_the_tier_quick_has_items_in_every_protocol(quick: LifeBenchDataset, protocol: str, items: int) -> None:
    assert len(LifeBenchBenchmark().asked(tuple(quick.answer_keys()), protocol)) == items


def test_every_record_has_one_turn_or_more_and_no_personal_number(quick: LifeBenchDataset) -> None:
    sessions = quick.scenario(USER).sessions()
    records = {turn.turn_id.partition(".")[0] for session in sessions for turn in session.turns}
    assert len(records) == sum(BY_LIST.values())
    text = "\n".join(turn.content for session in sessions for turn in session.turns)
    assert text.count("\n") == sum(len(session.turns) for session in sessions) - 1
    assert not re.search(r"[\w.+-]+@[\w-]+\.\w|(?<![\d.])(?:\+?86)?1[3-9]\d{9}(?!\d)|phone_id|event_id|idNumber", text)
