"""The graders, on a made-up user."""

from collections.abc import Sequence
from math import log2
from pathlib import Path
from typing import Any

import pytest

from memeval.benchmarks.lifebench.dataset import LifeBenchDataset
from memeval.benchmarks.lifebench.grading import (
    LifeBenchAbstention,
    LifeBenchChoice,
    LifeBenchRetrieval,
    LifeBenchRubric,
    letters_of,
)
from memeval.benchmarks.lifebench.keys import PointKey, QuestionType
from memeval.benchmarks.lifebench.questions import LifeBenchQuestion, options_in, read_questions
from memeval.benchmarks.lifebench.reader import OptionsReader
from memeval.benchmarks.lifebench.released import read_user
from memeval.benchmarks.lifebench.texts import masked, turn_count, turns_of, without_event_ids
from memeval.grading.base import Grader
from memeval.judging.base import Case, Ruling
from memeval.judging.prompting import Prompts
from memeval.judging.rules import RulesJudge
from memeval.records.errors import BadInput
from memeval.records.grade import Grade, GradeState
from memeval.records.response import Outcome, RetrievedItem
from memeval.records.scenario import TurnKind
from tests.benchmarks.lifebench.samples import LISTS, ROWS, USER, write_user
from tests.grading.builders import reply


class Verdicts:
    """A judge that knows its verdicts, in the order of the cases; ``None`` is no verdict."""

    name = "verdicts@1"

    def __init__(self, *verdicts: bool | None) -> None:
        self._verdicts = iter(verdicts)

    def rule(self, case: Case) -> Ruling:
        verdict = next(self._verdicts)
        state = GradeState.UNPARSED if verdict is None else GradeState.GRADED
        return Ruling(state, verdict, "It said so.")


def graded(
    grader: Grader,
    dataset: LifeBenchDataset,
    place: int,
    answer: str = "",
    sources: Sequence[Sequence[str]] | None = None,
    outcome: Outcome = Outcome.OK,
    judge: Verdicts | None = None,
) -> Grade:
    item = list(dataset.answer_keys())[place]
    found = None if sources is None else tuple(RetrievedItem(text="x", source_ids=tuple(each)) for each in sources)
    response = reply(item, answer, found, outcome)
    return grader.grade(item, dataset.scenario(USER), [response], judge or RulesJudge())


def test_records_and_days_are_measured_apart(dataset: LifeBenchDataset) -> None:
    grade = graded(LifeBenchRetrieval(), dataset, 3, sources=[["s001:t01"], ["s004:t02"], ["s004:t01"], ["s003:t01"]])
    assert grade.credit == 1.0 and grade.metrics["session_recall@1"] == 0.0
    assert grade.metrics["record_recall@5"] == 1.0, "one of two records with a doubled id is enough"
    assert grade.metrics["record_mrr"] == 0.5
    both = 1 / log2(3) + 1 / log2(4)
    assert grade.metrics["record_ndcg@5"] == pytest.approx(both / (1 + 1 / log2(3))), "the double takes no rank"
    assert not [name for name in grade.metrics if name.startswith("turn_")]


def test_the_turns_of_a_chat_are_one_record(dataset: LifeBenchDataset) -> None:
    grade = graded(LifeBenchRetrieval(), dataset, 1, sources=[["s004:t01"], ["s002:t01.3"], ["s002:t01.1"]])
    assert (grade.metrics["record_mrr"], grade.metrics["record_recall@5"]) == (0.5, 1.0)


def test_a_system_that_returns_days_has_no_record_metrics(dataset: LifeBenchDataset) -> None:
    grade = graded(LifeBenchRetrieval(), dataset, 0, sources=[["s002"]])
    assert grade.credit == 1.0 and grade.metrics["record_recall@5"] is None


def test_the_history_before_a_question_counts_for_depths_without_choice(dataset: LifeBenchDataset) -> None:
    grade = graded(LifeBenchRetrieval(), dataset, 0, sources=[])
    assert (grade.metrics["no_retrieval@1"], grade.metrics["no_retrieval@5"]) == (0.0, 1.0)
    assert grade.credit == 0.0


@pytest.mark.parametrize(
    ("answer", "letters"),
    [
        ("B", "B"),
        (" (b). ", "B"),
        ("A, C", "AC"),
        ("C and A", "AC"),
        ("**B**", "B"),
        ("It was warm.\nAnswer: B", "B"),
        ("Answer: A\nNo.\nanswer: C, D.", "CD"),
        ("**Answer:** B) b skis", "B"),
        ("B because of the wax", ""),
        ("Answer: A man waxed them", ""),
        ("The answer is B", ""),
        ("AB", ""),
        ("E9", ""),
        ("", ""),
    ],
)
def test_letters_are_the_whole_answer_or_marked(answer: str, letters: str) -> None:
    assert letters_of(answer) == frozenset(letters)


def test_the_letters_are_compared_as_a_set(dataset: LifeBenchDataset) -> None:
    assert graded(LifeBenchChoice(), dataset, 5, "C, A").verdict is True
    assert graded(LifeBenchChoice(), dataset, 5, "A").verdict is False
    assert graded(LifeBenchChoice(), dataset, 1, "B").metrics == {"always_b": 1.0, "unparsed": 0.0}


def test_an_answer_without_a_letter_is_wrong_and_no_error(dataset: LifeBenchDataset) -> None:
    grade = graded(LifeBenchChoice(), dataset, 5, "Either of them")
    assert (grade.state, grade.verdict) == (GradeState.GRADED, False)
    assert grade.metrics == {"always_b": 0.0, "unparsed": 1.0}


def test_abstaining_is_right_only_where_the_answer_is_missing(dataset: LifeBenchDataset) -> None:
    grader, unknown = LifeBenchAbstention(), "I do not know."
    assert graded(grader, dataset, 2, unknown).verdict is True
    assert graded(grader, dataset, 2, "300 yuan.").verdict is False
    assert graded(grader, dataset, 0, unknown).metrics == {"false_abstention": 1.0}
    assert graded(grader, dataset, 0, "At ten.").verdict is True


def test_a_rubric_earns_the_share_of_its_own_points(dataset: LifeBenchDataset) -> None:
    grade = graded(LifeBenchRubric(), dataset, 0, "At nine.", judge=Verdicts(True, False))
    assert (grade.credit, grade.alternates, grade.verdict) == (0.75, {"strict": False}, False)
    assert grade.reason == "6 of 8 points: 1 of 2 criteria are met."
    assert graded(LifeBenchRubric(), dataset, 0, "x", judge=Verdicts(True, True)).alternates == {"strict": True}


def test_a_criterion_without_a_verdict_leaves_the_item_without_a_grade(dataset: LifeBenchDataset) -> None:
    grade = graded(LifeBenchRubric(), dataset, 0, "At nine.", judge=Verdicts(True, None))
    assert (grade.state, grade.credit) == (GradeState.UNPARSED, None)


def test_the_judge_sees_one_criterion_without_ids_of_events(dataset: LifeBenchDataset) -> None:
    item = next(iter(dataset.answer_keys()))
    cases = LifeBenchRubric().cases(item, dataset.scenario(USER), [reply(item, "At nine.")])
    first, second = (Prompts().asking(case) for case in cases)
    assert isinstance(cases[0].key, PointKey)
    assert "Criterion: Names nine o'clock.\n" in first and "Names the train." not in first
    assert "Criterion: Names the train.\n" in second and "Event ID" not in first + second


def test_the_offline_rules_give_no_points_for_a_rubric(dataset: LifeBenchDataset) -> None:
    assert graded(LifeBenchRubric(), dataset, 0, "At nine.").credit == 0.0


@pytest.mark.parametrize("grader", [LifeBenchChoice(), LifeBenchAbstention(), LifeBenchRubric(), LifeBenchRetrieval()])
def test_a_failure_is_an_error_with_every_grader(dataset: LifeBenchDataset, grader: Grader) -> None:
    grade = graded(grader, dataset, 1, outcome=Outcome.TIMEOUT)
    assert (grade.state, grade.verdict, grade.credit) == (GradeState.TIMEOUT, None, None)


@pytest.mark.parametrize("grader", [LifeBenchChoice(), LifeBenchAbstention(), LifeBenchRubric()])
def test_a_blank_answer_is_wrong(dataset: LifeBenchDataset, grader: Grader) -> None:
    grade = graded(grader, dataset, 1, outcome=Outcome.EMPTY)
    assert grade.state is GradeState.EMPTY and not grade.verdict and not grade.credit


@pytest.fixture(scope="module")
def questions(small: Path) -> tuple[LifeBenchQuestion, ...]:
    return read_questions(read_user(small / "data_en", USER))


def test_references_are_distinct_and_ids_may_be_numbers_or_text(questions: tuple[LifeBenchQuestion, ...]) -> None:
    assert questions[0].evidence == (("sms", "7"), ("push", "1"), ("note", "99"))
    assert questions[3].evidence == (("note", "5"), ("call", "1"))
    assert questions[2].evidence == ()


def test_a_question_is_asked_at_the_end_of_its_month(questions: tuple[LifeBenchQuestion, ...]) -> None:
    assert questions[1].asked_at == "2025-02-28T23:59:59"
    assert questions[3].asked_at == "2025-03-31T23:59:59"


def test_options_follow_the_question_and_open_questions_have_none(questions: tuple[LifeBenchQuestion, ...]) -> None:
    shown = questions[1].with_options().splitlines()
    assert shown[:3] == ["What does she wax?", "A: a skis", "B: b skis"]
    assert questions[0].with_options() == questions[0].text


def test_a_rubric_has_its_points_and_no_ids_of_events(questions: tuple[LifeBenchQuestion, ...]) -> None:
    assert [(each.criterion, each.points) for each in questions[0].rubric] == [
        ("Names nine o'clock.", 6.0),
        ("Names the train.", 2.0),
    ]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"question": None}, "'question'"),
        ({"question_type": "Riddle"}, "'question_type': Input should be"),
        ({"question_type": ["Unanswerable"]}, "'question_type': Input should be"),
        ({"ask_time": "2025-13"}, "'ask_time' does not have the required form"),
        ({"answer": "E", "options": ROWS[1]["options"]}, "the answer 'E' is not a letter of its options"),
        ({"options": ROWS[1]["options"][1:]}, "the options are not lettered"),
        ({"evidence": "sms 7"}, "'evidence'"),
    ],
)
def test_a_broken_question_is_refused_by_its_index(tmp_path: Path, change: dict[str, Any], sentence: str) -> None:
    files = read_user(write_user(tmp_path, [ROWS[2], {**ROWS[0], **change}]) / "data_en", USER)
    with pytest.raises(BadInput) as caught:
        read_questions(files)
    assert sentence in str(caught.value) and "question 1 " in str(caught.value)
    assert "QA_clean.json" in str(caught.value)


def test_a_record_is_its_fields_without_ids_and_numbers() -> None:
    (turn,) = turns_of("call", LISTS["call"][0], "Hu Lan")
    assert turn.content == "call | contactName: Bo Lin | datetime: 2025-02-01 10:00:00 | direction: 1"
    assert (turn.role, turn.speaker, turn.kind) == ("user", "Hu Lan", TurnKind.OBSERVATION)


def test_a_contact_keeps_the_name_only() -> None:
    (turn,) = turns_of("contact", LISTS["contact"][0], "Hu Lan")
    assert turn.content == "contact | name: Bo Lin"


def test_nested_fields_and_lists_are_one_field_each_and_empty_ones_are_left_out() -> None:
    (photo,) = turns_of("photo", LISTS["photo"][0], "Hu Lan")
    assert photo.kind is TurnKind.IMAGE
    assert photo.content.split(" | ")[3:] == ["location: city: Harbin", "imageTag: Snow, Roof"]
    (fitness,) = turns_of("fitness_health", LISTS["fitness_health"][0], "Hu Lan")
    assert fitness.content.split(" | ")[-1] == "步行: 步数: 8000 steps"


def test_a_message_has_its_contact_as_speaker_and_keeps_unknown_fields() -> None:
    (turn,) = turns_of("sms", LISTS["sms"][0], "Hu Lan")
    assert (turn.speaker, turn.kind) == ("Bo Lin", TurnKind.MESSAGE)
    assert turn.content.split(" | ") == [
        "Me: the train leaves at nine.",
        "datetime: 2025-01-02 09:00:00",
        "message_type: Send",
        "something_new: kept",
    ]


def test_a_chat_is_its_messages_without_blank_ones() -> None:
    (chat,) = LISTS["agent_chat"]
    turns = turns_of("agent_chat", chat, "Hu Lan")
    user = ("user", "Hu Lan")
    assert [(turn.role, turn.speaker) for turn in turns] == [user, ("assistant", None), user]
    assert turn_count("agent_chat", chat) == len(turns)


def test_every_turn_is_one_line() -> None:
    note = {"title": "To do", "content": "1. Wax\n\n2. Poles"}
    chat = {"conversation": {"turn 1": {"user": {"content": "Which wax?\nBlue?"}}}}
    assert turns_of("note", note, "Hu Lan")[0].content == "note | title: To do | content: 1. Wax 2. Poles"
    assert turns_of("agent_chat", chat, "Hu Lan")[0].content == "Which wax? Blue?"


@pytest.mark.parametrize("chat", [{}, {"conversation": None}, {"conversation": {"turn 1": 3, "turn 2": {"user": 4}}}])
def test_a_chat_without_messages_has_no_turns(chat: dict[str, object]) -> None:
    assert turns_of("agent_chat", chat, "Hu Lan") == () and turn_count("agent_chat", chat) == 0


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Call 13800001111 now", "Call [phone number] now"),
        ("+86 138 0000 1111", "[phone number]"),
        ("0898-66123456, 400-123-4567", "[phone number], [phone number]"),
        ("to a.b+c@mail.example.org.", "to [e-mail address]."),
        ("ID 11010119900101123X", "ID [id number]"),
        ("Order 202501021234, 2025-01-02 09:00:00, 4032×3024", "Order 202501021234, 2025-01-02 09:00:00, 4032×3024"),
        ("IMG_20250104_093501.jpg costs 12,000 yuan", "IMG_20250104_093501.jpg costs 12,000 yuan"),
    ],
)
def test_personal_numbers_are_replaced_and_others_stay(text: str, kept: str) -> None:
    assert masked(text) == kept


@pytest.mark.parametrize(
    ("criterion", "kept"),
    [
        ("Made a joint (originating from Event ID: 166).", "Made a joint."),
        ("First photos (February 2, Event ID 456, 460), then a call.", "First photos (February 2), then a call."),
        ("Steps (Events 948, 950, 954, 958).", "Steps."),
        ("Sorted it (Event IDs: 2104, 2105)", "Sorted it"),
        ("In the incident (ID: 768), she ran at 7.", "In the incident, she ran at 7."),
        ('Locate event ID "4703" (2025-12-18).', "Locate event (2025-12-18)."),
        ("From event IDs 3011 and 3012, she fished.", "From event, she fished."),
        ("Based on event 593, it began in July.", "Based on event, it began in July."),
        (
            "The event ID for the class is correctly identified as 3309, on 1 May.",
            "The event for the class is correctly identified, on 1 May.",
        ),
        ("Names the day of the archiving and its event ID (1352).", "Names the day of the archiving."),
        ("The event of 18 January (7 points).", "The event of 18 January (7 points)."),
        ("Events of 2025-09-01 and 2025-09-10.", "Events of 2025-09-01 and 2025-09-10."),
    ],
)
def test_a_criterion_loses_ids_of_events_and_nothing_else(criterion: str, kept: str) -> None:
    assert without_event_ids(criterion) == kept


QUESTION = LifeBenchQuestion(
    question_id="x:0",
    text="Which wax did she buy\nfor the skis?",
    question_type=QuestionType.INFORMATION,
    answer="B",
    month="2025-01",
    options=("Red wax", "Blue wax for cold days", "Green soap", "Blue soap"),
    rubric=(),
    evidence=(),
)

CONTEXT = """\
[2025-01-02] Hu Lan: note | title: Soap | content: Green soap is on the list.
[2025-01-03] Hu Lan: push | content: You have bought blue wax, for the skis on cold days."""


def test_options_are_read_back_from_the_shown_question() -> None:
    text, options = options_in(QUESTION.with_options())
    assert text == QUESTION.text
    assert tuple(options.values()) == QUESTION.options and "".join(options) == "ABCD"
    assert options_in(QUESTION.text) == (QUESTION.text, {})


def test_the_option_with_the_best_passage_wins() -> None:
    assert OptionsReader().read(QUESTION.with_options(), None, [CONTEXT]).answer == "B"


def test_of_equal_options_the_first_wins() -> None:
    assert OptionsReader().read(QUESTION.with_options(), None, ["[2025-01-02] Bo: Hello."]).answer == "A"


@pytest.mark.parametrize(("question", "contexts"), [(QUESTION.with_options(), ["", " "]), (QUESTION.text, [CONTEXT])])
def test_without_context_or_options_the_answer_is_blank(question: str, contexts: list[str]) -> None:
    assert OptionsReader().read(question, None, contexts).answer == ""
