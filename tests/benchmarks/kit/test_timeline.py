"""What follows from a timeline."""

from __future__ import annotations

from datetime import date

import pytest

from memeval.benchmarks.kit.people import RELATIONS
from memeval.benchmarks.kit.timeline import Act, DependentStatus, Timeline, TimelineEvent, TopicValue

A, B, C = (TopicValue(name, (name,)) for name in ("Aspen", "Birch", "Cedar"))


def day(number: int) -> date:
    """The ``number``-th day of 2024."""
    return date.fromordinal(date(2024, 1, 1).toordinal() + number - 1)


def said(number: int, act: Act, value: TopicValue, topic: str = "home") -> TimelineEvent:
    """Something said on a day."""
    return TimelineEvent(day(number), topic, act, value)


def moves(*events: TimelineEvent, rests_on: dict[str, str] | None = None) -> Timeline:
    """A timeline of ``events``."""
    return Timeline(events, rests_on or {})


CHAIN = moves(said(1, Act.ANNOUNCE, A), said(100, Act.ANNOUNCE, B), said(200, Act.ANNOUNCE, C))


def test_a_state_holds_from_its_announcement_to_the_next() -> None:
    assert CHAIN.state_at("home", day(99)).value == A  # type: ignore[union-attr]
    assert CHAIN.state_at("home", day(100)).value == B  # type: ignore[union-attr]
    assert CHAIN.state_at("home", day(500)).value == C  # type: ignore[union-attr]


def test_nothing_holds_before_the_first_announcement() -> None:
    assert moves(said(5, Act.ANNOUNCE, A)).state_at("home", day(4)) is None
    assert CHAIN.current("garden") is None


def test_what_is_known_depends_on_the_day_of_asking() -> None:
    assert CHAIN.current("home", day(150)).value == B  # type: ignore[union-attr]
    assert len(CHAIN.states("home", day(150))) == 2


def test_the_previous_value_is_the_one_before_in_the_chain() -> None:
    assert CHAIN.previous("home", C).value == B  # type: ignore[union-attr]
    assert CHAIN.previous("home", A) is None


def test_a_first_announcement_is_not_a_change() -> None:
    assert CHAIN.changes("home") == (day(100), day(200))


def test_an_announcement_that_was_taken_back_never_held() -> None:
    timeline = moves(said(1, Act.ANNOUNCE, A), said(50, Act.ANNOUNCE, B), said(60, Act.RETRACT, B))
    assert timeline.current("home").value == A  # type: ignore[union-attr]
    assert timeline.state_at("home", day(55)).value == A  # type: ignore[union-attr]
    assert timeline.changes("home") == ()
    assert [event.value for event in timeline.taken_back("home")] == [B]


def test_an_announcement_holds_until_it_is_taken_back() -> None:
    timeline = moves(said(1, Act.ANNOUNCE, A), said(50, Act.ANNOUNCE, B), said(60, Act.RETRACT, B))
    assert timeline.current("home", day(55)).value == B  # type: ignore[union-attr]


def test_daydreams_and_confirmations_change_nothing() -> None:
    timeline = moves(said(1, Act.ANNOUNCE, A), said(50, Act.MUSE, B), said(60, Act.CONFIRM, A))
    assert [state.value for state in timeline.states("home")] == [A]


def test_what_others_say_of_themselves_is_not_the_persons_own() -> None:
    other = TimelineEvent(day(50), "home", Act.ANNOUNCE, B, about=RELATIONS[0])
    timeline = moves(said(1, Act.ANNOUNCE, A), other)
    assert timeline.current("home").value == A  # type: ignore[union-attr]
    assert timeline.others("home") == (other,)


def test_two_events_may_not_share_a_day() -> None:
    with pytest.raises(ValueError, match="share a day"):
        moves(said(1, Act.ANNOUNCE, A), said(1, Act.ANNOUNCE, B, "garden"))


RESTS = {"gym": "home", "class": "gym"}
GROUND = (
    said(1, Act.ANNOUNCE, A),
    said(10, Act.ANNOUNCE, A, "gym"),
    said(20, Act.ANNOUNCE, A, "class"),
)


def test_the_ground_of_a_fact_reaches_down_to_the_root() -> None:
    assert moves(*GROUND, rests_on=RESTS).ground("class") == ("gym", "home")


def test_a_dependent_whose_ground_stands_is_unchanged() -> None:
    daydream = said(30, Act.MUSE, B)
    assert moves(*GROUND, daydream, rests_on=RESTS).standing("class") is DependentStatus.UNCHANGED


def test_a_dependent_nobody_came_back_to_is_unrevisited() -> None:
    timeline = moves(*GROUND, said(30, Act.ANNOUNCE, B), rests_on=RESTS)
    assert timeline.standing("class") is DependentStatus.UNREVISITED
    assert timeline.standing("class", day(29)) is DependentStatus.UNCHANGED


def test_a_dependent_confirmed_after_the_change_is_reconfirmed() -> None:
    timeline = moves(*GROUND, said(30, Act.ANNOUNCE, B), said(40, Act.CONFIRM, A, "class"), rests_on=RESTS)
    assert timeline.standing("class") is DependentStatus.RECONFIRMED


def test_a_confirmation_before_the_change_does_not_count() -> None:
    timeline = moves(*GROUND, said(25, Act.CONFIRM, A, "class"), said(30, Act.ANNOUNCE, B), rests_on=RESTS)
    assert timeline.standing("class") is DependentStatus.UNREVISITED


def test_a_change_of_ground_that_was_taken_back_leaves_the_dependent_alone() -> None:
    timeline = moves(*GROUND, said(30, Act.ANNOUNCE, B), said(35, Act.RETRACT, B), rests_on=RESTS)
    assert timeline.standing("class") is DependentStatus.UNCHANGED


def test_nothing_can_be_said_of_the_standing_of_an_unknown_fact() -> None:
    with pytest.raises(ValueError, match="nothing is known"):
        CHAIN.standing("gym")
