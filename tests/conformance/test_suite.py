"""The conformance suite: a correct memory passes, and a memory with one defect fails one check."""

import itertools
import threading
from pathlib import Path
from typing import Any

import pytest

from memeval.conformance import CHECKS, MOST_CALLS, check_system
from memeval.execution.steps import ModelAccess, SystemInstance
from memeval.records.call import Phase
from memeval.records.conformance import CheckOutcome, ConformanceCheck
from memeval.records.errors import BadInput
from memeval.records.track import Limits
from memeval.systems.child import Launch
from memeval.systems.messages import AdapterInfo
from memeval.systems.process import SystemProcess
from memeval.systems.source import find_system
from tests.systems.helpers import PATIENT, write

ADAPTERS = Path(__file__).with_name("adapters.py")

CORRECT = Launch(ADAPTERS, "Correct")

SEED = "sha256:" + "5" * 64

SUBMISSIONS = Path(__file__).parents[2] / "submissions"

BROKEN = {
    "RemembersNothing": "planted-fact",
    "IndexesTooLate": "planted-fact",
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
    "HidesForgottenTexts": "forget-forgets",
    "MatchesBanksByTheirStart": "banks-apart",
    "DeletesTheWholeBank": "forget-keeps-others",
    "RemembersDeletions": "forget-keeps-others",
    "KeepsBanks": "forget-bank",
    "ExportsForgottenTexts": "export-forgets",
    "SharesTheQuestion": "questions-together",
    "NamesNoSource": "sources-named",
    "NamesTheFirstSession": "sources-named",
    "AnswersAtRandom": "repeatable",
    "PrefersEarlierResults": "question-order",
    "RemembersQuestions": "question-not-remembered",
    "CountsNoTokens": "context-tokens",
}
"""For each broken adapter, the one check that it must fail."""

METHODS = (
    *("`ingest_session`", "ingest_session raised", "`reset`", "`query`", "`search", "`recall`"),
    *("`forget`", "`export_memories`", "`source_ids`", "`get_"),
)


def checked(
    launch: Launch = CORRECT,
    process: type[SystemProcess] = SystemProcess,
    *,
    access: ModelAccess | None = None,
    limits: Limits = PATIENT,
    environment: dict[str, str] | None = None,
    **options: Any,
) -> tuple[ConformanceCheck, ...]:
    """Check a system, in processes of a class."""
    return check_system(
        lambda log: SystemInstance(process(launch, limits, log, environment or {}), access),
        **{"seed": SEED, "deterministic": True, **options},
    )


def check(class_name: str, **options: Any) -> dict[str, ConformanceCheck]:
    return {one.name: one for one in checked(Launch(ADAPTERS, class_name), **options)}


def failed(results: dict[str, ConformanceCheck]) -> list[str]:
    return [name for name, one in results.items() if one.outcome is CheckOutcome.FAILED]


def test_a_correct_memory_passes_all_checks() -> None:
    results = check("Correct")
    assert [(one.name, one.detail) for one in results.values() if one.outcome is not CheckOutcome.PASSED] == []
    expected = [one.name for one in CHECKS if not one.is_extra]
    assert list(results) == expected, "each check runs once, in the order of the table"
    assert all(one.remedy is None for one in results.values())


@pytest.mark.parametrize(("class_name", "name"), BROKEN.items(), ids=BROKEN)
def test_a_memory_with_one_defect_fails_only_that_check(class_name: str, name: str, tmp_path: Path) -> None:
    results = check(class_name, environment={"SHARED_FILE": str(tmp_path / "shared")})
    assert failed(results) == [name], {one: results[one].detail for one in failed(results)}
    assert any(method in f"{results[name].detail} {results[name].remedy}" for method in METHODS), "the method is named"
    assert results[name].detail.endswith(".")


def test_a_broken_memory_exists_for_every_check() -> None:
    """The check of systems with a storage folder has its own test."""
    assert set(BROKEN.values()) == {one.name for one in CHECKS if not one.is_extra}


@pytest.mark.parametrize("slug", ["bm25", "file-grep", "full-context", "recency-window"])
def test_controls_with_a_memory_pass_all_applicable_checks(slug: str) -> None:
    results = checked(find_system(slug).launch)
    assert {one.outcome for one in results} == {CheckOutcome.PASSED, CheckOutcome.NOT_APPLICABLE}
    assert all(one.outcome is CheckOutcome.PASSED for one in results if one.mandatory)


def test_the_notebook_passes_mandatory_checks_and_fails_two_others() -> None:
    found = [one for one in checked(find_system("notebook", SUBMISSIONS).launch) if one.outcome is CheckOutcome.FAILED]
    assert [(one.name, one.mandatory) for one in found] == [("assistant-kept", False), ("people-apart", False)]


@pytest.mark.parametrize(("slug", "returned"), [("no-memory", "it returned nothing"), ("placebo", "it returned")])
def test_a_control_without_memory_fails_the_first_check_and_skips_the_others(slug: str, returned: str) -> None:
    first, *others = checked(find_system(slug).launch)
    assert (first.name, first.outcome) == ("planted-fact", CheckOutcome.FAILED)
    assert "right after ingest_session" in first.detail and returned in first.detail
    assert {one.outcome for one in others} == {CheckOutcome.NOT_APPLICABLE}


def test_a_retrieval_only_memory_is_checked_by_its_items() -> None:
    results = check("SearchesOnly")
    lacking = {name for name, one in results.items() if one.outcome is CheckOutcome.NOT_APPLICABLE}
    assert failed(results) == []
    of_banks = {"banks-apart", "forget-keeps-others", "forget-bank", "export-forgets"}
    assert lacking == {"filters-honoured", "forget-forgets", "context-tokens"} | of_banks
    assert results["forget-forgets"].detail == "The system has no method forget."


def test_the_error_of_a_deletion_by_id_is_shown_if_there_is_no_deletion_by_text() -> None:
    found = check("TripsOverIds")["forget-forgets"]
    assert found.outcome is CheckOutcome.FAILED
    assert found.detail.startswith("forget raised ValueError: unknown: s001 (adapters.py:")


def test_a_secret_in_an_error_is_not_in_the_report(tmp_path: Path) -> None:
    key = "sk-proj-" + "a1B2" * 8
    found = checked(Launch(write(tmp_path, f"raise RuntimeError('refused: {key}')")))[0]
    assert found.detail.startswith("loading the adapter raised RuntimeError: refused: [secret] (adapter.py:1")


def test_a_system_that_forgets_by_text_alone_forgets() -> None:
    results = check("ForgetsByText")
    assert failed(results) == [] and results["forget-forgets"].outcome is CheckOutcome.PASSED
    assert results["forget-keeps-others"].outcome is CheckOutcome.NOT_APPLICABLE


def test_declared_nondeterminism_does_not_fail_the_suite() -> None:
    results = check("AnswersAtRandom", deterministic=False)
    assert failed(results) == []
    assert results["repeatable"].outcome is CheckOutcome.DECLARED
    assert results["question-order"].outcome is CheckOutcome.PASSED, "the replies show the same facts"


def test_after_a_timeout_the_next_check_gets_a_new_instance() -> None:
    results = check("HangsOnLongMessages", limits=PATIENT.model_copy(update={"take_in_seconds": 1.0}))
    assert failed(results) == ["long-accepted"]
    assert results["long-accepted"].detail.startswith("ingest_session took longer than 1 s (adapters.py:")
    assert results["k-honoured"].outcome is CheckOutcome.PASSED


def test_a_crash_fails_its_check_and_the_suite_continues() -> None:
    results = check("DiesOnRightToLeft")
    assert failed(results) == ["unicode-accepted"]
    assert "ended with exit code 3 during ingest_session" in results["unicode-accepted"].detail
    assert results["long-accepted"].outcome is CheckOutcome.PASSED


def test_a_system_that_cannot_be_loaded_fails_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "adapter.py").write_text("import nowhere_to_be_found\n")
    first = checked(Launch(tmp_path / "adapter.py"))[0]
    assert first.outcome is CheckOutcome.FAILED and "missing module 'nowhere_to_be_found' (" in first.detail


def test_all_checks_together_have_a_time_limit() -> None:
    first, *others = checked(Launch(ADAPTERS, "Hangs"), seconds=1.0)
    assert first.outcome is CheckOutcome.FAILED
    assert "limit of 1 s for all checks is used up" in first.detail
    assert first.seconds < 10
    assert {one.outcome for one in others} == {CheckOutcome.NOT_APPLICABLE}


def test_no_check_passes_once_the_time_is_used_up() -> None:
    killed = threading.Event()
    finished = itertools.count(1)

    class Killed(SystemProcess):
        def kill(self) -> None:
            super().kill()
            killed.set()

    results = checked(process=Killed, seconds=3.0, stop=lambda: None if next(finished) != 4 else assert_set(killed))
    assert not any(one.outcome is CheckOutcome.PASSED for one in results[4:])
    assert any(one.outcome is CheckOutcome.FAILED for one in results)


def assert_set(event: threading.Event) -> None:
    assert event.wait(20)


def test_a_stop_ends_the_suite_and_the_system() -> None:
    finished = itertools.count(1)
    processes: list[SystemProcess] = []

    class Listed(SystemProcess):
        def start(self) -> AdapterInfo:
            processes.append(self)
            return super().start()

    def stop() -> None:
        if next(finished) == 3:
            raise BadInput("The budget is spent.")

    with pytest.raises(BadInput, match="budget"):
        checked(process=Listed, stop=stop)
    assert next(finished) == 4, "no check runs after the stop"
    assert processes and not any(process.alive for process in processes)


def test_model_calls_are_recorded_with_their_check_and_phase() -> None:
    class RecordingAccess:
        def __init__(self) -> None:
            self.entered: list[str] = []
            self.phases: set[Phase] = set()

        def enter(self, scenario_id: str) -> None:
            self.entered.append(scenario_id)

        def in_phase(self, phase: Phase) -> None:
            self.phases.add(phase)

    access = RecordingAccess()
    checked(access=access)
    assert set(access.entered) == {f"conformance:{one.name}" for one in CHECKS if not one.is_extra}
    assert access.phases == {Phase.INGEST, Phase.SETTLE, Phase.ASK, Phase.SEARCH}


def test_most_calls_is_the_number_of_calls_to_a_correct_memory() -> None:
    counted = {"processes": 0, "sessions": 0, "questions": 0}

    class Counted(SystemProcess):
        def _send(self, call: str, arguments: bytes) -> int:
            kinds = {"load": "processes", "take_in": "sessions", "retain": "sessions"}
            kinds |= dict.fromkeys(("ask", "search", "recall"), "questions")
            if call in kinds:
                counted[kinds[call]] += 1
            return super()._send(call, arguments)

    checked(process=Counted)
    assert counted == MOST_CALLS._asdict()


STORING = """
import os, pathlib

class Memory:
    def __init__(self):
        self.file = pathlib.Path(os.environ.get("MEMEVAL_STORAGE", "."), "texts")
        self.texts = self.file.read_text().splitlines() if self.file.exists() else []
    def reset(self):
        self.texts = []
        self.file.unlink(missing_ok=True)
    def ingest_session(self, session, timestamp):
        self.texts += [turn["content"] for turn in session["turns"]]
    def search(self, query, k, timestamp="now"):
        asked = set(query.lower().split())
        return sorted(self.texts, key=lambda text: -len(asked & set(text.lower().split())))[:k]
    def close(self):
        CLOSE
"""


@pytest.mark.parametrize(
    ("closing", "outcome"),
    [("self.file.write_text(chr(10).join(self.texts))", CheckOutcome.PASSED), ("pass", CheckOutcome.FAILED)],
)
def test_a_store_passes_if_it_keeps_its_texts_over_a_clean_restart(
    tmp_path: Path, closing: str, outcome: CheckOutcome
) -> None:
    last = checked(Launch(write(tmp_path, STORING.replace("CLOSE", closing)), stores=True))[-1]
    assert (last.name, last.outcome) == ("storage-survives", outcome), last.detail
    assert (last.remedy or "").startswith("Store everything" if outcome is CheckOutcome.FAILED else "")
