"""What follows from a timeline."""

from datetime import date
from functools import partial
from pathlib import Path

import pytest

from memeval.benchmarks.base import Dataset
from memeval.benchmarks.beliefs import benchmark as beliefs
from memeval.benchmarks.beliefs.wording.editions import wording
from memeval.benchmarks.kit import kept as module
from memeval.benchmarks.kit.kept import Generated, Generation, generated
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


def test_an_announcement_holds_until_it_is_taken_back_and_then_never_held() -> None:
    timeline = moves(said(1, Act.ANNOUNCE, A), said(50, Act.ANNOUNCE, B), said(60, Act.RETRACT, B))
    assert timeline.current("home").value == A  # type: ignore[union-attr]
    assert timeline.state_at("home", day(55)).value == A  # type: ignore[union-attr]
    assert timeline.changes("home") == ()
    assert [event.value for event in timeline.taken_back("home")] == [B]
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
GROUND = (said(1, Act.ANNOUNCE, A), said(10, Act.ANNOUNCE, A, "gym"), said(20, Act.ANNOUNCE, A, "class"))


def test_the_ground_of_a_fact_reaches_down_to_the_root() -> None:
    assert moves(*GROUND, rests_on=RESTS).ground("class") == ("gym", "home")


MOVED, MOVED_BACK = said(30, Act.ANNOUNCE, B), said(35, Act.RETRACT, B)


@pytest.mark.parametrize(
    ("events", "standing"),
    [
        pytest.param([said(30, Act.MUSE, B)], DependentStatus.UNCHANGED, id="the ground stands"),
        pytest.param([MOVED], DependentStatus.UNREVISITED, id="nobody came back to it"),
        pytest.param([MOVED, said(40, Act.CONFIRM, A, "class")], DependentStatus.RECONFIRMED, id="confirmed after"),
        pytest.param([said(25, Act.CONFIRM, A, "class"), MOVED], DependentStatus.UNREVISITED, id="confirmed before"),
        pytest.param([MOVED, MOVED_BACK], DependentStatus.UNCHANGED, id="the change of ground was taken back"),
    ],
)
def test_a_dependent_stands_as_its_ground_and_later_talk_say(
    events: list[TimelineEvent], standing: DependentStatus
) -> None:
    timeline = moves(*GROUND, *events, rests_on=RESTS)
    assert timeline.standing("class") is standing
    assert timeline.standing("class", day(29)) is DependentStatus.UNCHANGED


def test_nothing_can_be_said_of_the_standing_of_an_unknown_fact() -> None:
    with pytest.raises(ValueError, match="nothing is known"):
        CHAIN.standing("gym")


WORDS = wording("full")
PARAMETERS = {"seed": 3, "size": 12}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMEVAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "LEAST_BYTES", 0)
    return tmp_path / "cache" / "benchmarks"


def made(protocol: str) -> Generated:
    return generated("beliefs@2", PARAMETERS, beliefs.KINDS, lambda: beliefs.HISTORIES[protocol](3, 12, WORDS))


def refuse(*parameters: object) -> Generation:
    raise AssertionError("the data was kept")


def again() -> Generated:
    return generated("beliefs@2", PARAMETERS, beliefs.KINDS, refuse)


@pytest.mark.parametrize("protocol", beliefs.HISTORIES)
def test_kept_data_is_what_was_generated(protocol: str) -> None:
    first, second = made(protocol), again()
    assert second.digest == first.digest
    assert list(second.scenarios) == list(first.scenarios)
    assert second.keys == first.keys
    assert [type(item.key) for item in second.keys] == [type(item.key) for item in first.keys]
    assert list(second.scenarios.ids()) == list(first.scenarios.ids())
    assert all(second.scenarios.one(name).scenario_id == name for name in first.scenarios.ids())


def test_a_benchmark_opens_kept_data(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def opened() -> Dataset:
        beliefs._generation.cache_clear()
        return beliefs.BeliefsBenchmark().opened(None, {"seed": 3, "size": 12}, "judge", "full")

    made = opened()
    assert list(cache.iterdir())
    with monkeypatch.context() as patch:
        patch.setattr(beliefs, "HISTORIES", {"judge": refuse})
        again = opened()
    assert again.digest == made.digest
    assert list(again.scenarios()) == list(made.scenarios())
    assert list(again.answer_keys()) == list(made.answer_keys())
    assert all(again.scenario(name).scenario_id == name for name in made.scenario_ids())


def test_a_damaged_file_is_not_used(cache: Path) -> None:
    first = made("judge")
    (file,) = cache.iterdir()
    file.write_bytes(file.read_bytes().replace(b"Assistant", b"assistant", 1))
    with pytest.raises(AssertionError, match="the data was kept"):
        again()
    assert made("judge").keys == first.keys
    assert again().digest == first.digest


@pytest.mark.parametrize("head", [b"", b"null", b"[]", b"{}", b"\xff", b'{"digest": 1}'])
def test_a_file_with_another_first_line_is_not_used(cache: Path, head: bytes) -> None:
    first = made("judge")
    (file,) = cache.iterdir()
    file.write_bytes(head + b"\n" + file.read_bytes().partition(b"\n")[2])
    with pytest.raises(AssertionError, match="the data was kept"):
        again()
    assert made("judge").digest == first.digest


def test_other_code_generates_again_and_the_oldest_files_go(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for state in range(module.MOST_STATES + 2):
        monkeypatch.setattr(module, "code_digest", partial(str.__add__, "sha256:", str(state) * 64))
        with pytest.raises(AssertionError, match="the data was kept"):
            again()
        made("judge")
        again()
    assert len(list(cache.iterdir())) == module.MOST_STATES


def test_a_cache_that_cannot_be_written_costs_only_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("MEMEVAL_CACHE", str(tmp_path / "file"))
    assert made("judge").digest == made("judge").digest


def test_small_data_is_not_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEAST_BYTES", 100_000_000)
    made("judge")
    assert not cache.exists()
