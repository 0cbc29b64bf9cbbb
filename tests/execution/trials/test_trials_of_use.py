"""Trials of freshness, of users apart and of growth, with real processes of controls."""

import itertools
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memeval.execution.trials.apart import apart
from memeval.execution.trials.freshness import freshness
from memeval.execution.trials.growth import growth
from memeval.execution.trials.stage import Stage
from memeval.records.track import Limits
from memeval.records.trials_of_use import Apart, Change, Freshness, Growth, Onlooker, Servers
from memeval.systems.child import Launch
from memeval.systems.controls import all_controls
from memeval.systems.errors import AdapterMisbehaved
from memeval.systems.process import SystemProcess

FORGETFUL = """
import json, os, pathlib

class Store:
    def __init__(self):
        self.path = pathlib.Path(os.environ["MEMEVAL_STORAGE"], "texts.json")
        self.texts = json.loads(self.path.read_text()) if self.path.exists() else {}
        if REFUSES:
            self.path.with_name("lock").touch(exist_ok=False)

    def reset(self):
        self.texts = {}

    def retain(self, content, bank="", source_id=""):
        if len(self.texts) == ROOM:
            raise OSError("no room")
        self.texts[source_id] = content
        self.path.write_text(json.dumps(self.texts))

    def forget(self, ids=None):
        for each in ids if FORGETS else ():
            del self.texts[each]

    def recall(self, query, k, bank=""):
        code = query.split(":")[0]
        return [{"text": text, "source_ids": [name]} for name, text in self.texts.items() if text.startswith(code)][:k]
"""


@pytest.fixture
def staged(tmp_path: Path) -> Iterator[Callable[..., Stage]]:
    """A function that returns the stage of a control, or of the store above with its settings."""
    stages: list[Stage] = []

    def stage(slug: str = "", *, forgets: bool = True, refuses: bool = False, room: int = 99) -> Stage:
        file, name = tmp_path / "adapter.py", "Store"
        if slug:
            file, name = all_controls()[slug].file, all_controls()[slug].class_name
        else:
            file.write_text(f"FORGETS, REFUSES, ROOM = {forgets}, {refuses}, {room}\n{FORGETFUL}", "utf-8")
        process = SystemProcess(Launch(file, name, stores=True), Limits(), lambda line: None)
        stages.append(Stage(process))
        return stages[-1]

    yield stage
    for each in stages:
        each.close()


def added(onlooker: Onlooker, *, change: Change = Change.ADDED, seconds: float = 0.2) -> Freshness:
    return Freshness(
        question_id="q",
        question="",
        seed=5,
        stored=0 if change is Change.ADDED else 6,
        onlooker=onlooker,
        change=change,
        changes=3,
        seconds=seconds,
    )


@pytest.mark.parametrize("onlooker", list(Onlooker))
def test_a_store_that_commits_shows_texts_at_once_to_every_process(
    onlooker: Onlooker, staged: Callable[..., Stage]
) -> None:
    seen = freshness(added(onlooker), staged("sqlite-full"))
    assert (seen.acknowledged, seen.at_once, seen.never, seen.lags, seen.error) == (3, 3, 0, (), None)
    assert seen.is_fresh


def test_a_slow_index_has_the_lag_that_it_was_given(staged: Callable[..., Stage]) -> None:
    seen = freshness(added(Onlooker.WRITER, seconds=20), staged("slow-index"))
    assert (seen.at_once, seen.never, len(seen.lags)) == (0, 0, 3) and not seen.is_fresh
    assert all(lag >= 0.9 for lag in seen.lags)


def test_what_only_the_writing_process_has_is_never_seen_by_another_one(staged: Callable[..., Stage]) -> None:
    seen = freshness(added(Onlooker.OTHER), staged("keeps-nothing"))
    assert (seen.opened, seen.acknowledged, seen.at_once, seen.never) == (True, 3, 0, 3)


def test_a_second_process_that_is_refused_is_named_and_not_counted_as_seen(staged: Callable[..., Stage]) -> None:
    seen = freshness(added(Onlooker.OTHER), staged(refuses=True))
    assert not seen.opened and not seen.is_fresh
    assert seen.error is not None and "File exists" in seen.error


@pytest.mark.parametrize(("onlooker", "at_once"), [(Onlooker.WRITER, 2), (Onlooker.RESTARTED, 2), (Onlooker.OTHER, 0)])
def test_what_was_acknowledged_before_a_write_that_fails_is_looked_for(
    onlooker: Onlooker, at_once: int, staged: Callable[..., Stage]
) -> None:
    seen = freshness(added(onlooker), staged(room=2))
    assert (seen.acknowledged, seen.at_once, seen.never) == (2, at_once, 2 - at_once)
    assert seen.error is not None and "no room" in seen.error


@pytest.mark.parametrize("change", [Change.UPDATED, Change.DELETED])
def test_a_deletion_shows_only_if_the_store_deletes(change: Change, staged: Callable[..., Stage]) -> None:
    assert freshness(added(Onlooker.WRITER, change=change), staged()).is_fresh
    expected = 3 if change is Change.UPDATED else 0  # a new text under the same id replaces the old one here
    assert freshness(added(Onlooker.WRITER, change=change), staged(forgets=False)).at_once == expected


@pytest.mark.parametrize("change", [Change.UPDATED, Change.DELETED])
@pytest.mark.parametrize("onlooker", list(Onlooker))
def test_a_text_that_is_only_hidden_comes_back_where_the_writing_process_does_not_look(
    onlooker: Onlooker, change: Change, staged: Callable[..., Stage]
) -> None:
    trial = added(onlooker, change=change)
    assert freshness(trial, staged("forgetting-store")).is_fresh
    seen = freshness(trial, staged("hiding-store"))
    expected = 3 if onlooker is Onlooker.WRITER else 0
    assert (seen.acknowledged, seen.at_once, seen.never, seen.error) == (3, expected, 3 - expected, None)


def test_a_system_without_forget_is_told_what_the_trial_needs(staged: Callable[..., Stage]) -> None:
    with pytest.raises(AdapterMisbehaved, match="no forget"):
        freshness(added(Onlooker.WRITER, change=Change.DELETED), staged("sqlite-full"))


def under_load(servers: Servers) -> Apart:
    return Apart(question_id="q", question="", seed=5, servers=servers, users=3, writes=3, in_flight=5)


@pytest.mark.parametrize("servers", list(Servers))
def test_users_of_a_store_with_banks_stay_apart(servers: Servers, staged: Callable[..., Stage]) -> None:
    seen = apart(under_load(servers), staged("sqlite-full"))
    assert (seen.written, seen.acknowledged, seen.lost, seen.doubled, seen.foreign_searches) == (9, 9, 0, 0, 0)
    assert seen.banks and seen.in_flight == 5 and seen.is_apart


def test_every_text_of_a_store_that_mixes_users_is_foreign_to_somebody(staged: Callable[..., Stage]) -> None:
    seen = apart(under_load(Servers.ONE), staged("mixes-users"))
    assert (seen.lost, seen.foreign_searches, seen.foreign_texts) == (0, seen.searches, 9) and not seen.is_apart


def test_two_processes_that_write_the_same_file_lose_texts(staged: Callable[..., Stage]) -> None:
    seen = apart(under_load(Servers.TWO), staged())
    assert seen.in_flight == 1, "it takes one call at a time"
    assert seen.lost > 0 and not seen.is_apart


def test_a_store_that_grows_is_measured_in_turn_with_sqlite(staged: Callable[..., Stage]) -> None:
    trial = Growth(question_id="q", question="", seed=5, sizes=(10, 30), seconds=60)
    seen = growth(trial, staged("sqlite-full"))
    assert seen.is_complete
    assert [point.size for point in seen.points] == [point.size for point in seen.control] == [10, 30]
    assert all(point.disk_bytes > 0 and (point.memory_bytes or 1) > 0 for point in (*seen.points, *seen.control))


def test_growth_ends_when_the_time_is_over_and_says_where(staged: Callable[..., Stage]) -> None:
    trial = Growth(question_id="q", question="", seed=5, sizes=(10, 10**9), seconds=0.8)
    seen = growth(trial, staged("sqlite-full"))
    assert not seen.is_complete and seen.stopped is not None and "0.8 s" in seen.stopped
    assert seen.points[-1].size < 10**9


@pytest.mark.parametrize("interrupts", [1, 3])
def test_an_interrupt_during_load_ends_the_processes_and_is_raised(
    staged: Callable[..., Stage], monkeypatch: pytest.MonkeyPatch, interrupts: int
) -> None:
    stage = staged("sqlite-full")
    joined = threading.Thread.join
    calls = itertools.count()

    def interrupted(thread: threading.Thread, timeout: float | None = None) -> None:
        if thread.name.startswith("memeval-user") and next(calls) < interrupts:
            raise KeyboardInterrupt
        joined(thread, timeout)

    monkeypatch.setattr(threading.Thread, "join", interrupted)
    with pytest.raises(KeyboardInterrupt):
        apart(under_load(Servers.TWO), stage)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("memeval-user")]
