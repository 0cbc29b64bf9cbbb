"""Times as the files write them, and the order in which sessions are taken in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.benchmarks.longmemeval.released import PublishedSession, iso, ordinals_of, replay_order, scenario_of


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2023/05/30 (Tue) 23:40", "2023-05-30T23:40:00Z"),
        ("2023/05/30 (Mon) 23:40", "2023-05-30T23:40:00Z"),
        ("2023/05/30 23:40", "2023-05-30T23:40:00Z"),
        ("2023/5/3 (Wed) 9:05", "2023-05-03T09:05:00Z"),
        ("2024/02/29 (Thu) 00:00", "2024-02-29T00:00:00Z"),
        ("2023/02/29 (Wed) 00:00", ""),
        ("2023/05/30 (Tue) 24:00", ""),
        ("2023/05/30 (Tue)", ""),
        ("30 May 2023", ""),
        ("2023-05-30T23:40:00Z", "2023-05-30T23:40:00Z"),
        ("2023-05-30T23:40", "2023-05-30T23:40:00Z"),
        ("2023-05-30 23:40:15.250", "2023-05-30T23:40:15Z"),
        ("2023/05/30 (Tue) 23:40:15", "2023-05-30T23:40:15Z"),
        ("2023-05-30T23:40:00+02:00", "2023-05-30T21:40:00Z"),
        ("2023-05-30 23:40 -0130", "2023-05-31T01:10:00Z"),
        ("0001-01-01T00:00+02:00", ""),
        ("2023-02-30T10:00", ""),
        ("2023-05-30T23:40:61", ""),
        ("2023-05/30 23:40", ""),
        ("2023-05-30", ""),
        ("05/30/2023 23:40", ""),
        ("30/05/2023 (Tue) 23:40", ""),
        ("２０２３/05/30 (Tue) 23:40", ""),
        ("", ""),
    ],
)
def test_a_time_is_read_without_its_weekday_or_not_at_all(written: str, read: str) -> None:
    assert iso(written) == read


@given(st.text(max_size=40))
def test_no_text_breaks_the_reading_of_times(written: str) -> None:
    assert len(iso(written)) in (0, 20)


@given(st.datetimes().map(lambda when: when.replace(second=0, microsecond=0)))
def test_every_time_comes_back(when: object) -> None:
    assert iso(f"{when:%Y/%m/%d (%a) %H:%M}".rjust(22, "0")) == f"{when:%Y-%m-%dT%H:%M:%SZ}".rjust(20, "0")


def test_sessions_are_replayed_by_time_and_as_listed_at_equal_times() -> None:
    assert replay_order(["b", "c", "a", "b"]) == [2, 0, 3, 1]


def test_a_session_of_unknown_time_keeps_its_place() -> None:
    assert replay_order(["c", "", "a", "", "b"]) == [2, 1, 4, 3, 0]


@given(st.lists(st.sampled_from(["", "a", "b", "c"]), max_size=12))
def test_a_replay_holds_every_session_once_and_in_order(dates: list[str]) -> None:
    order = replay_order(dates)
    assert sorted(order) == list(range(len(dates)))
    dated = [place for place in order if dates[place]]
    assert dated == sorted(dated, key=lambda place: (dates[place], place))
    assert all(order[place] == place for place, date in enumerate(dates) if not date)


def told(source_id: str, *roles: str) -> PublishedSession:
    return PublishedSession(source_id, "2024/05/20 (Mon) 10:00", [{"role": role, "content": "Yes."} for role in roles])


def test_the_sources_ids_are_known_for_sessions_and_for_turns_counted_over_all() -> None:
    scenario = scenario_of("q", [told("answer_9f_1", "assistant", "user"), told("f00", "user")], [])
    assert ordinals_of(scenario) == {
        "answer_9f_1": "s001",
        "answer_9f_1_1": "s001:t01",
        "answer_9f_1_2": "s001:t02",
        "noans_9f_1": "s001",
        "noans_9f_1_1": "s001:t01",
        "noans_9f_1_2": "s001:t02",
        "f00": "s002",
        "f00_1": "s002:t01",
    }
    assert {ordinal: name for name, ordinal in ordinals_of(scenario).items()}["s001"] == "answer_9f_1"


def test_an_id_that_occurs_twice_stands_for_the_first_and_a_session_goes_before_a_turn() -> None:
    scenario = scenario_of("q", [told("f00", "user"), told("f00", "user"), told("f00_1", "user")], [])
    assert ordinals_of(scenario) == {"f00": "s001", "f00_1": "s003", "f00_1_1": "s003:t01"}
