"""The conformance suite: who does all things right passes, and who does one thing wrong fails one check."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from memeval.conformance import CHECKS, MOST_CALLS, check_system
from memeval.execution.model_access import SystemInstance
from memeval.records.call import Phase
from memeval.records.conformance import CheckOutcome, ConformanceCheck
from memeval.records.errors import BadInput
from memeval.records.track import Limits
from memeval.systems import Launch, SystemProcess
from memeval.systems.source import find_system
from tests.systems.helpers import FAST

ADAPTERS = Path(__file__).with_name("adapters.py")

SEED = "sha256:" + "5" * 64

SUBMISSIONS = Path(__file__).parents[2] / "submissions"

BROKEN = {
    "RemembersNothing": "planted-fact",
    "IndexesBehindTheBack": "planted-fact",
    "IgnoresReset": "reset-resets",
    "KeepsArchiveAcrossReset": "isolation",
    "SharesFile": "isolation",
    "BreaksOnEmoji": "unicode-accepted",
    "RefusesLongMessages": "long-accepted",
    "LosesDates": "event-time",
    "DropsAssistant": "assistant-kept",
    "KeepsFirstSpeakerOnly": "second-speaker-kept",
    "MixesPeople": "people-apart",
    "FoldsToAscii": "unicode-kept",
    "CutsLongMessages": "long-kept",
    "RefusesKnownSessions": "taken-in-twice",
    "IgnoresK": "k-honoured",
    "IgnoresFilters": "filters-honoured",
    "HidesWhatIsForgotten": "forget-forgets",
    "AnswersAtRandom": "repeatable",
    "BringsUpWhatWasAskedForLast": "question-order",
    "RemembersQuestions": "question-not-remembered",
    "CountsNoTokens": "context-tokens",
}
"""Per broken adapter, the one check that it must fail."""

METHODS = (
    "`ingest_session`",
    "ingest_session raised",
    "`reset`",
    "`query`",
    "`search",
    "`recall`",
    "`forget`",
    "`get_",
)


def instances(
    class_name: str, limits: Limits = FAST, environment: dict[str, str] | None = None
) -> Callable[[Callable[[str], None]], SystemInstance]:
    launch = Launch(ADAPTERS, class_name)
    return lambda log: SystemInstance(SystemProcess(launch, limits, log, environment or {}))


def check(class_name: str, *, deterministic: bool = True, seed: str = SEED) -> dict[str, ConformanceCheck]:
    made = check_system(instances(class_name), seed=seed, deterministic=deterministic)
    return {one.name: one for one in made}


def failed(made: dict[str, ConformanceCheck]) -> list[str]:
    return [name for name, one in made.items() if one.outcome is CheckOutcome.FAILED]


def test_a_memory_that_does_all_things_right_passes_all_checks() -> None:
    made = check("Right")
    assert [(one.name, one.detail) for one in made.values() if one.outcome is not CheckOutcome.PASSED] == []
    assert list(made) == [one.name for one in CHECKS], "each check is made once, in the order of the table"
    assert all(one.remedy is None for one in made.values())


@pytest.mark.parametrize(("class_name", "name"), BROKEN.items(), ids=BROKEN)
def test_a_memory_that_does_one_thing_wrong_fails_that_check_alone(class_name: str, name: str, tmp_path: Path) -> None:
    environment = {"SHARED_FILE": str(tmp_path / "shared")}
    made = {
        one.name: one for one in check_system(instances(class_name, FAST, environment), seed=SEED, deterministic=True)
    }
    assert failed(made) == [name], {one: made[one].detail for one in failed(made)}
    assert any(method in f"{made[name].detail} {made[name].remedy}" for method in METHODS), "the method is named"
    assert made[name].detail.endswith(".")


def test_every_check_is_failed_by_one_of_the_broken_memories() -> None:
    assert set(BROKEN.values()) == {one.name for one in CHECKS}


@pytest.mark.parametrize("slug", ["bm25", "full-context", "recency-window"])
def test_controls_that_remember_pass_all_that_applies_to_them(slug: str) -> None:
    launch = find_system(slug).launch
    made = check_system(lambda log: SystemInstance(SystemProcess(launch, FAST, log)), seed=SEED, deterministic=True)
    assert {one.outcome for one in made} == {CheckOutcome.PASSED, CheckOutcome.NOT_APPLICABLE}
    assert all(one.outcome is CheckOutcome.PASSED for one in made if one.mandatory)


def test_the_notebook_passes_what_is_mandatory_and_is_told_what_it_does_not_keep() -> None:
    launch = find_system("notebook", SUBMISSIONS).launch
    made = check_system(lambda log: SystemInstance(SystemProcess(launch, FAST, log)), seed=SEED, deterministic=True)
    assert [one.name for one in made if one.outcome is CheckOutcome.FAILED] == ["assistant-kept", "people-apart"]
    assert not any(one.mandatory for one in made if one.outcome is CheckOutcome.FAILED)


def test_no_memory_is_told_what_was_not_found_and_is_spared_the_rest() -> None:
    launch = find_system("no-memory").launch
    made = check_system(lambda log: SystemInstance(SystemProcess(launch, FAST, log)), seed=SEED, deterministic=True)
    first, *others = made
    assert (first.name, first.outcome) == ("planted-fact", CheckOutcome.FAILED)
    assert "right after ingest_session" in first.detail
    assert "it gave nothing" in first.detail
    assert {one.outcome for one in others} == {CheckOutcome.NOT_APPLICABLE}


def test_a_memory_that_only_searches_is_judged_by_its_items() -> None:
    made = check("SearchesOnly")
    lacking = {name for name, one in made.items() if one.outcome is CheckOutcome.NOT_APPLICABLE}
    assert failed(made) == []
    assert lacking == {"filters-honoured", "forget-forgets", "context-tokens"}
    assert made["forget-forgets"].detail == "The system has no forget."


def test_answers_that_differ_are_no_fault_where_the_submission_says_so() -> None:
    made = check("AnswersAtRandom", deterministic=False)
    assert failed(made) == []
    assert made["repeatable"].outcome is CheckOutcome.DECLARED
    assert made["question-order"].outcome is CheckOutcome.PASSED, "the same facts were shown"


def test_a_time_out_fails_its_check_and_the_next_one_has_a_fresh_instance() -> None:
    limits = FAST.model_copy(update={"take_in_seconds": 1.0})
    made = {
        one.name: one for one in check_system(instances("HangsOnLongMessages", limits), seed=SEED, deterministic=True)
    }
    assert failed(made) == ["long-accepted"]
    assert made["long-accepted"].detail.startswith("ingest_session took longer than 1.05 s (adapters.py:")
    assert made["k-honoured"].outcome is CheckOutcome.PASSED


def test_a_crash_fails_its_check_with_the_sentence_and_the_suite_goes_on() -> None:
    made = check("DiesOnRightToLeft")
    assert failed(made) == ["unicode-accepted"]
    assert "ended with exit code 3 during ingest_session" in made["unicode-accepted"].detail
    assert made["long-accepted"].outcome is CheckOutcome.PASSED


def test_a_system_that_cannot_be_loaded_fails_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "adapter.py").write_text("import nowhere_to_be_found\n")
    launch = Launch(tmp_path / "adapter.py")
    made = check_system(lambda log: SystemInstance(SystemProcess(launch, FAST, log)), seed=SEED, deterministic=True)
    assert made[0].outcome is CheckOutcome.FAILED
    assert "missing module 'nowhere_to_be_found' (" in made[0].detail


def test_all_checks_together_are_bounded_in_time() -> None:
    limits = FAST.model_copy(update={"take_in_seconds": 60.0})
    first, *others = check_system(instances("Hangs", limits), seed=SEED, deterministic=True, seconds=1.0)
    assert first.outcome is CheckOutcome.FAILED
    assert "1 s for all checks were used up" in first.detail
    assert first.seconds < 10
    assert {one.outcome for one in others} == {CheckOutcome.NOT_APPLICABLE}


def test_no_check_passes_once_the_time_is_used_up() -> None:
    killed = threading.Event()
    told: list[ConformanceCheck] = []

    class Killed(SystemProcess):
        def kill(self) -> None:
            super().kill()
            killed.set()

    made = check_system(
        lambda log: SystemInstance(Killed(Launch(ADAPTERS, "Right"), FAST, log)),
        seed=SEED,
        deterministic=True,
        seconds=3.0,
        told=told.append,
        stop=lambda: None if len(told) != 3 else assert_set(killed),
    )
    assert not any(one.outcome is CheckOutcome.PASSED for one in made[4:])
    assert any(one.outcome is CheckOutcome.FAILED for one in made)


def assert_set(event: threading.Event) -> None:
    assert event.wait(20)


def test_a_stop_ends_the_suite_and_the_system() -> None:
    told: list[ConformanceCheck] = []
    processes: list[SystemProcess] = []

    def instance(log: Callable[[str], None]) -> SystemInstance:
        processes.append(SystemProcess(Launch(ADAPTERS, "Right"), FAST, log))
        return SystemInstance(processes[-1])

    def stop() -> None:
        if len(told) == 2:
            raise BadInput("The budget is spent.")

    with pytest.raises(BadInput, match="budget"):
        check_system(instance, seed=SEED, deterministic=True, told=told.append, stop=stop)
    assert [one.name for one in told] == ["planted-fact", "reset-resets"]
    assert processes
    assert not any(process.alive for process in processes)


def test_model_calls_are_recorded_under_the_check_and_the_phase_they_are_made_in() -> None:
    class Door:
        def __init__(self) -> None:
            self.entered: list[str] = []
            self.phases: set[Phase] = set()

        def enter(self, scenario_id: str) -> None:
            self.entered.append(scenario_id)

        def in_phase(self, phase: Phase) -> None:
            self.phases.add(phase)

    door = Door()
    launch = Launch(ADAPTERS, "Right")
    check_system(lambda log: SystemInstance(SystemProcess(launch, FAST, log), door), seed=SEED, deterministic=True)
    assert set(door.entered) == {f"conformance:{one.name}" for one in CHECKS}
    assert door.phases == {Phase.INGEST, Phase.SETTLE, Phase.ASK, Phase.SEARCH}


def test_it_can_be_said_beforehand_how_much_is_asked() -> None:
    counted = {"processes": 0, "sessions": 0, "questions": 0}

    class Counted(SystemProcess):
        def _send(self, call: str, arguments: bytes) -> int:
            kinds = {"load": "processes", "take_in": "sessions", "retain": "sessions"}
            kinds |= dict.fromkeys(("ask", "search", "recall"), "questions")
            if call in kinds:
                counted[kinds[call]] += 1
            return super()._send(call, arguments)

    launch = Launch(ADAPTERS, "Right")
    check_system(lambda log: SystemInstance(Counted(launch, FAST, log)), seed=SEED, deterministic=True)
    assert counted == MOST_CALLS._asdict()


def test_what_a_system_prints_is_handed_on() -> None:
    lines: list[str] = []
    check_system(instances("RefusesLongMessages"), seed=SEED, deterministic=True, log=lines.append)
    assert any("too many tokens for the embedding model" in line for line in lines)
