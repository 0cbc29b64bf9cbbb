"""Failure analysis on invented histories: one case for each cause, and impossible causes."""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.analysis.evidence_found import EvidenceFinder
from memeval.analysis.failures import (
    dates,
    durations,
    failure,
    failures_of,
    is_right,
    names_another_time,
    numbers,
    summary,
)
from memeval.api import failures as api_failures
from memeval.benchmarks import session
from memeval.benchmarks.locomo.keys import LocomoCategory, LocomoKey
from memeval.benchmarks.longmemeval.keys import LongMemEvalKey, LongMemEvalType
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.evaluation.verify.reproduce import failures_of_run
from memeval.execution.contexts import TurnTexts
from memeval.judging.hedging import abstains
from memeval.keys import AnswerKey, BeliefKey, CascadeKey, DeltaKey, Fact, ItemKey, NoiseKey, Stance, TemporalKey
from memeval.records.failure import Cause, EvidenceFound, Failure
from memeval.records.grade import Grade, GradeState
from memeval.records.response import Context, Outcome, Response, RetrievedItem, Timings
from memeval.records.scenario import Ask, Ingest, Scenario, Session, Turn
from memeval.systems.source import find_system
from memeval.tokens import count_tokens
from tests.evaluation.asking import benchmark_session

SAID = {
    "s001": ("2026-01-05", ("Ada has 12 bees in the garden hive.", "Twelve bees, how lovely to hear.")),
    "s002": ("2026-02-05", ("Ada has painted the old shed bright green.", "Green suits a shed very well.")),
    "s003": ("2026-03-05", ("Ada has 40 bees in the garden hive now.", "Forty bees, that is quite a crowd.")),
}
"""The invented sessions."""

SCENARIO = Scenario(
    scenario_id="made-up",
    steps=(
        *(
            Ingest(
                session=Session(
                    session_id=session,
                    date=date,
                    turns=tuple(
                        Turn(turn_id=f"{session}:t{n:02}", role="user", speaker="Ada", content=text)
                        for n, text in enumerate(texts, start=1)
                    ),
                ),
                source_id=f"source-{session}",
            )
            for session, (date, texts) in SAID.items()
        ),
        Ask(question_id="q1", question="How many bees does Ada have?"),
        Ask(question_id="q2", question="And now?"),
    ),
)
TEXTS = TurnTexts(SCENARIO)

BEES = BeliefKey(current=Fact(text="40 bees", phrases=("40 bees",)), stale=(Fact(text="12", phrases=("12 bees",)),))
UPDATE = LongMemEvalKey(
    question_type=LongMemEvalType.KNOWLEDGE_UPDATE,
    abstention=False,
    answer="forty",
    evidence_turns=("s001:t01", "s003:t01"),
)


def locomo(category: LocomoCategory, answer: str | None = None, **more: Any) -> LocomoKey:
    return LocomoKey(category=category, answer=answer, **more)


def longmemeval(kind: LongMemEvalType, answer: str, *, abstention: bool = False) -> LongMemEvalKey:
    return LongMemEvalKey(question_type=kind, abstention=abstention, answer=answer)


def item(key: AnswerKey, evidence: tuple[str, ...] | None = ("s003",), questions: tuple[str, ...] = ("q1",)) -> ItemKey:
    return ItemKey(
        item_id="one",
        scenario_id="made-up",
        question_ids=questions,
        category="c",
        cluster="x",
        evidence=evidence,
        key=key,
    )


def grade(**more: Any) -> Grade:
    usual: dict[str, Any] = {"state": GradeState.GRADED, "verdict": False}
    return Grade(item_id="one", category="c", cluster="x", slices={}, grader="g@1", **usual | more)


def response(answer: str, items: Iterable[RetrievedItem] | None = None, context: Context | None = None) -> Response:
    spelled = None if context is None else "\n".join(map(TEXTS.text, context.parts))
    return Response(
        item_id="one",
        scenario_id="made-up",
        question_id="q1",
        outcome=Outcome.OK if answer else Outcome.EMPTY,
        answer=answer,
        items=None if items is None else tuple(items),
        context_digest=None if context is None else context.digest,
        context_tokens=None if spelled is None else count_tokens(spelled),
        timings=Timings(started="2026-04-01T00:00:00.000+00:00"),
    )


def named(*sources: str) -> list[RetrievedItem]:
    return [RetrievedItem(text=f"a note on {source}", source_ids=(source,)) for source in sources]


def context(*turns: str, own: str | None = None) -> Context:
    lines = [SAID[turn[:4]][1][int(turn[-2:]) - 1] for turn in turns]
    return TEXTS.context("\n".join(([own] if own else []) + lines))


def looked(
    key: AnswerKey,
    answer: str,
    items: Iterable[RetrievedItem] | None = None,
    read: Context | None = None,
    *,
    evidence: tuple[str, ...] | None = ("s003",),
    reader_tokens: int | None = None,
    **graded: Any,
) -> Failure:
    scene = EvidenceFinder(SCENARIO, {} if read is None else {read.digest: read}, reader_tokens)
    return failure(scene, item(key, evidence), [response(answer, items, read)], grade(**graded))


HOW_MANY = locomo(LocomoCategory.SINGLE_HOP, "40 bees")
WHEN = locomo(LocomoCategory.TEMPORAL, "7 May 2026")
TRAPPED = locomo(LocomoCategory.ADVERSARIAL, None, trap="a blue kayak")
DOUBTED = CascadeKey(
    root_change="hive: kept → sold", dependent=Fact(text="40 bees", phrases=("40 bees",)), reference="Not certain."
)
STANDS = DOUBTED.model_copy(update={"stance": Stance.CONFIDENT})
COLOUR = NoiseKey(
    reference=Fact(text="green", phrases=("green",)), distractors=(Fact(text="Bo's is red", phrases=("red",)),)
)
AT_FIRST = TemporalKey(reference=Fact(text="12", phrases=("12 bees",)), others=(Fact(text="40", phrases=("40 bees",)),))
DURATION = longmemeval(LongMemEvalType.TEMPORAL_REASONING, "7 days. 8 days is also acceptable.")
ABSENT = longmemeval(LongMemEvalType.MULTI_SESSION, "Ada never spoke of ducks.", abstention=True)


@pytest.mark.parametrize(
    ("key", "answer", "cause"),
    [
        (HOW_MANY, "This is not mentioned in the conversation.", Cause.ABSTAINED_WRONGLY),
        (HOW_MANY, "No information available.", Cause.ABSTAINED_WRONGLY),
        (UPDATE, "I don't have any record of that.", Cause.ABSTAINED_WRONGLY),
        (BEES, "I am not sure, it may be out of date.", Cause.ABSTAINED_WRONGLY),
        (STANDS, "40 bees, but that may have changed.", Cause.ABSTAINED_WRONGLY),
        (COLOUR, "It is red.", Cause.WRONG_PERSON),
        (TRAPPED, "She rows a blue kayak.", Cause.WRONG_PERSON),
        (TRAPPED, "She rows a canoe.", Cause.ANSWERED_WRONGLY),
        (DOUBTED, "She has 40 bees.", Cause.ANSWERED_WRONGLY),
        (ABSENT, "She has three ducks.", Cause.ANSWERED_WRONGLY),
        (BEES, "She has 12 bees.", Cause.WRONG_TIME),
        (BEES, "She had 12 bees and now 40 bees, or so.", Cause.WRONG_TIME),
        (BEES, "I think she has 12 bees, but it may be out of date.", Cause.WRONG_TIME),
        (AT_FIRST, "She had 40 bees.", Cause.WRONG_TIME),
        (WHEN, "On 9 May 2026.", Cause.WRONG_TIME),
        (DURATION, "It took ten days.", Cause.WRONG_TIME),
        (UPDATE, "She has 12.", Cause.WRONG_TIME),
    ],
)
def test_an_answer_that_shows_why_it_is_wrong_is_said_to_be_so(key: AnswerKey, answer: str, cause: Cause) -> None:
    assert looked(key, answer, named("s003")).cause is cause


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        (WHEN, "The day before 8 May 2026."),
        (WHEN, "In May 2026, I believe."),
        (WHEN, "Some time ago, with friends."),
        (DURATION, "It took eight days in all."),
        (DURATION, "It took two weeks."),
        (UPDATE, "She has 99."),
        (TRAPPED.model_copy(update={"trap": "Yes", "category": LocomoCategory.SINGLE_HOP}), "Yes, she does."),
        (HOW_MANY, "Before noon."),
    ],
)
def test_without_another_proven_cause_the_evidence_decides(key: AnswerKey, answer: str) -> None:
    found = looked(key, answer, named("s001", "s003"), evidence=("s001", "s003"))
    assert (found.cause, found.found) == (Cause.NOT_USED, EvidenceFound.ALL)


def test_an_error_is_an_error_whatever_was_said_or_found() -> None:
    assert looked(BEES, "12 bees", named("s003"), state=GradeState.JUDGE_ERROR, verdict=None).cause is Cause.ERROR


def test_a_right_item_has_no_cause_and_still_tells_what_was_found() -> None:
    assert looked(BEES, "40 bees", named("s001", "s003"), verdict=True) == Failure(
        item_id="one", category="c", right=True, found=EvidenceFound.ALL, rank=2, cause=None
    )


def test_evidence_is_no_cause_for_unanswerable_questions() -> None:
    assert looked(ABSENT, "I don't know.", named("s003")).cause is Cause.UNKNOWN
    assert looked(TRAPPED, "", named("s003"), state=GradeState.EMPTY).cause is Cause.UNKNOWN


def test_how_many_tokens_it_took_is_not_put_down_to_evidence() -> None:
    key = DeltaKey(facts_by_turn=((), ()))
    scene = EvidenceFinder(SCENARIO, {})
    both = item(key, questions=("q1", "q2"))
    answers = [response("I am not sure.", named("s003")), response("40 bees", named("s001"))]
    found = failure(scene, both, answers, grade(answerable=False))
    assert (found.cause, found.found, found.rank) == (Cause.UNKNOWN, EvidenceFound.ALL, None)


def test_a_credit_of_half_is_right() -> None:
    assert is_right(grade(verdict=None, credit=0.5)) and not is_right(grade(verdict=None, credit=0.499))
    assert not is_right(grade(verdict=None, state=GradeState.TIMEOUT))


@pytest.mark.parametrize(
    ("items", "found", "rank", "cause"),
    [
        (named("s003"), EvidenceFound.SOME, None, Cause.NOT_RETRIEVED),
        (named("s002"), EvidenceFound.NONE, None, Cause.NOT_RETRIEVED),
        ([], EvidenceFound.NONE, None, Cause.NOT_RETRIEVED),
        (named("s003", "s002", "s003:t02", "s001"), EvidenceFound.ALL, 3, Cause.NOT_USED),
        ([RetrievedItem(turn_id="s003:t01"), RetrievedItem(turn_id="s001:t02")], EvidenceFound.ALL, 2, Cause.NOT_USED),
        (named("s999", "somewhere"), EvidenceFound.UNKNOWN, None, Cause.UNKNOWN),
        ([RetrievedItem(text="bees and more bees")], EvidenceFound.UNKNOWN, None, Cause.UNKNOWN),
        (None, EvidenceFound.UNKNOWN, None, Cause.UNKNOWN),
    ],
)
def test_sessions_are_found_by_names(
    items: list[RetrievedItem] | None, found: EvidenceFound, rank: int | None, cause: Cause
) -> None:
    row = looked(HOW_MANY, "a few", items, evidence=("s001", "s003"))
    assert (row.found, row.rank, row.cause) == (found, rank, cause)


def test_turns_are_looked_for_where_key_and_system_name_them() -> None:
    other_turn = looked(UPDATE, "a few", named("s001:t01", "s003:t02"), evidence=("s001", "s003"))
    assert other_turn.found is EvidenceFound.SOME, "the session alone will not do where turns are named"
    both = looked(UPDATE, "a few", named("s003:t01", "s002:t01", "s001:t01"), evidence=("s001", "s003"))
    assert (both.found, both.rank) == (EvidenceFound.ALL, 3)
    sessions = looked(UPDATE, "a few", named("s003", "s001"), evidence=("s001", "s003"))
    assert (sessions.found, sessions.rank) == (EvidenceFound.ALL, 2)


def test_a_benchmark_that_names_no_evidence_knows_nothing() -> None:
    row = looked(HOW_MANY, "a few", named("s003"), evidence=None)
    assert (row.found, row.cause) == (EvidenceFound.UNKNOWN, Cause.UNKNOWN)


def test_the_whole_history_holds_all_evidence_at_no_rank() -> None:
    whole = context(*(f"{session}:t{n:02}" for session in SAID for n in (1, 2)))
    row = looked(UPDATE, "a few", None, whole, evidence=("s001", "s003"))
    assert (row.found, row.rank, row.cause) == (EvidenceFound.ALL, None, Cause.NOT_USED)


def test_only_a_context_of_turns_shows_that_evidence_is_missing() -> None:
    assert looked(HOW_MANY, "a few", None, context("s002:t01")).found is EvidenceFound.NONE
    assert looked(HOW_MANY, "a few", None, context("s002:t01", own="Ada likes bees.")).found is EvidenceFound.UNKNOWN
    inside = context("s002:t01", own=f"She once said: {SAID['s003'][1][0]} That was all.")
    assert looked(HOW_MANY, "a few", None, inside).found is EvidenceFound.ALL


def test_evidence_in_items_but_not_in_the_context_was_retrieved_too_low() -> None:
    low = looked(HOW_MANY, "a few", named("s002", "s003"), context("s002:t01", own="a note on s002"))
    assert (low.found, low.rank, low.cause) == (EvidenceFound.ALL, 2, Cause.RETRIEVED_TOO_LOW)
    rewritten = looked(HOW_MANY, "a few", named("s002", "s003"), context(own="a note on s002\na note on s003"))
    assert rewritten.cause is Cause.NOT_USED


def test_evidence_beyond_the_readers_token_limit_was_retrieved_too_low() -> None:
    read = context("s002:t01", "s001:t01", "s003:t01")
    tokens = count_tokens("\n".join(map(TEXTS.text, read.parts)))
    assert looked(HOW_MANY, "a few", None, read, reader_tokens=tokens).cause is Cause.NOT_USED
    assert looked(HOW_MANY, "a few", None, read, reader_tokens=tokens - 1).cause is Cause.RETRIEVED_TOO_LOW
    assert looked(HOW_MANY, "a few", None, read, evidence=("s002",), reader_tokens=tokens - 1).cause is Cause.NOT_USED


def test_graded_retrieval_reports_low_ranked_evidence_and_no_abstention() -> None:
    row = looked(HOW_MANY, "", named("s002", "s001", "s003"), verdict=None, credit=0.0)
    assert (row.rank, row.cause) == (3, Cause.RETRIEVED_TOO_LOW)
    row = looked(TRAPPED, "", named("s002"), verdict=None, credit=0.0)
    assert row.cause is Cause.NOT_RETRIEVED


def test_graded_retrieval_searches_sessions_not_turns() -> None:
    items = named("s001:t02", "s003:t02")
    row = looked(UPDATE, "", items, evidence=("s001", "s003"), verdict=None, credit=1.0)
    assert (row.right, row.found, row.rank) == (True, EvidenceFound.ALL, 2)


def test_a_stored_run_is_analysed_from_its_rows(tmp_path_factory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = benchmark_session()
    monkeypatch.setattr(session, "find", lambda _name: ours.benchmark)
    results = tmp_path_factory.mktemp("results")
    folder = run_system(find_system("bm25"), ours, RunOptions(results=results, concurrency=1))
    rows = failures_of_run(folder, lambda: ours)
    assert rows == failures_of(ours, ours.keys, folder.responses(), folder.contexts(), folder.grades())
    assert rows == api_failures(folder.run.run_id, results=results)
    assert [row.item_id for row in rows] == [one.item_id for one in folder.grades()]
    assert [row.right for row in rows] == [one.verdict for one in folder.grades()]
    assert all(row.found is EvidenceFound.ALL for row in rows)


def test_a_summary_counts_by_cause_by_category_and_by_what_was_found() -> None:
    def row(right: bool, found: EvidenceFound, cause: Cause | None, category: str = "near") -> Failure:
        return Failure(
            item_id=f"{right}{found}{cause}{category}", category=category, right=right, found=found, cause=cause
        )

    made = summary(
        [
            row(True, EvidenceFound.ALL, None),
            row(False, EvidenceFound.ALL, Cause.NOT_USED),
            row(False, EvidenceFound.ALL, Cause.NOT_USED, "far"),
            row(False, EvidenceFound.SOME, Cause.ERROR),
        ]
    )
    assert (made.items, made.right, made.causes) == (4, 1, {Cause.ERROR: 1, Cause.NOT_USED: 2})
    assert [(one.category, one.items, one.right, one.causes) for one in made.categories] == [
        ("near", 3, 1, {Cause.ERROR: 1, Cause.NOT_USED: 1}),
        ("far", 1, 0, {Cause.NOT_USED: 1}),
    ]
    lines = {one.found: (one.right, one.wrong, one.share_right) for one in made.found}
    assert lines == {
        EvidenceFound.ALL: (1, 2, 1 / 3),
        EvidenceFound.SOME: (0, 1, 0.0),
        EvidenceFound.NONE: (0, 0, None),
        EvidenceFound.UNKNOWN: (0, 0, None),
    }
    assert made.says_something
    assert not summary([row(False, EvidenceFound.UNKNOWN, Cause.UNKNOWN)]).says_something
    assert not summary([]).says_something


@given(
    st.text(max_size=200),
    st.sampled_from([HOW_MANY, WHEN, TRAPPED, BEES, COLOUR, AT_FIRST, DURATION, ABSENT, UPDATE, STANDS, DOUBTED]),
    st.none() | st.lists(st.sampled_from(["s001", "s003:t01", "s003:t02", "s2", "", "s003"]), max_size=6),
)
def test_any_answer_has_one_cause_and_a_rank_with_all_evidence(
    answer: str, key: AnswerKey, sources: list[str] | None
) -> None:
    row = looked(key, answer, None if sources is None else named(*sources))
    assert row.cause is not None
    assert row.rank is None or (row.found is EvidenceFound.ALL and sources is not None and row.rank <= len(sources))
    if row.cause in (Cause.NOT_USED, Cause.RETRIEVED_TOO_LOW):
        assert row.found is EvidenceFound.ALL
    if row.cause is Cause.NOT_RETRIEVED:
        assert row.found in (EvidenceFound.SOME, EvidenceFound.NONE)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("7 May 2026", (2026, 5, 7)),
        ("May 7th, 2026", (2026, 5, 7)),
        ("the 7th of May", (None, 5, 7)),
        ("2026-05-07T13:56:00Z", (2026, 5, 7)),
        ("the week of 7 May 2026", (2026, 5, None)),
        ("May 2026", (2026, 5, None)),
        ("in 2026", (2026, None, None)),
    ],
)
def test_dates_are_read_as_far_as_they_are_told(text: str, found: tuple[int | None, ...]) -> None:
    assert {tuple(date) for date in dates(text)} == {found}


@pytest.mark.parametrize("text", ["may I go", "room 20261", "it cost 2,500", "nothing"])
def test_what_is_no_date_is_not_read_as_one(text: str) -> None:
    assert dates(text) == frozenset()


def test_numbers_and_lengths_of_time_are_read_in_words_and_digits() -> None:
    assert numbers("12 hens, three ducks, 1,500 bees and 2.5 km of fence; 5.5km") == {12, 3, 1500, 2.5}
    assert durations("three weeks and a 10-day trip") == {(3, "week"), (10, "day")}


@given(st.text(max_size=80), st.text(max_size=80))
def test_times_differ_the_same_way_round_and_never_from_themselves(one: str, other: str) -> None:
    assert not names_another_time(one, one)
    assert names_another_time(one, "no time") is False
    assert names_another_time(one, other) in (True, False)


@pytest.mark.parametrize(
    ("answer", "says_so"),
    [
        ("The conversation does not say where.", True),
        ("There is not enough information to tell.", True),
        ("I’m not sure.", True),
        ("A hive, and she said nobody did not like it.", False),
        ("He did not have breakfast.", False),
        ("Bees", False),
        ("", False),
    ],
)
def test_an_abstention_is_more_than_a_no(answer: str, says_so: bool) -> None:
    assert abstains(answer, "Where is the hive?") is says_so


def test_the_question_given_back_is_no_abstention() -> None:
    assert not abstains("What is not mentioned? A hive.", "What is not mentioned?")
