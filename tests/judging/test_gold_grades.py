"""Every reference answer, given as the response, is graded right by the offline grader of its item.

All protocols of all benchmarks whose data is built in, made up here, or named by ``MEMEVAL_TEST_DATA``. A grader of
what was retrieved reads no answer. ``EXCEPTIONS`` lists the items of which a published rule, or a rubric, takes points.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest

from memeval.benchmarks import all_benchmarks, find
from memeval.benchmarks.beam.keys import Ability
from memeval.benchmarks.lifebench.keys import LifeBenchKey, QuestionType
from memeval.benchmarks.lifecycle.keys import ProbeKey
from memeval.benchmarks.locomo.keys import NOT_MENTIONED, LocomoKey
from memeval.benchmarks.memorycd.keys import MemoryCDKey
from memeval.benchmarks.qa.keys import QaKey
from memeval.benchmarks.session import BenchmarkSession
from memeval.grading.base import DeliveredContexts
from memeval.grading.delivery import DeliveredDelta
from memeval.judging.rules import RulesJudge
from memeval.keys import DeltaKey, FactsKey, ItemKey, ReflectKey
from tests.grading.builders import reply
from tests.support.data import test_data
from tests.support.memorycd import users, write_data

FILES = {
    "deepmemeval@1": "deepmemeval/deepmemeval_500.json",
    "factconsolidation@1": "factconsolidation/Conflict_Resolution.json",
    "locomo@1": "locomo/locomo10.json",
    "longmemeval@1": "longmemeval/longmemeval_keys_500.jsonl",
    "lifebench@1": "lifebench/LICENSE",
    "beam@1": "beam/MANIFEST.json",
    "vehiclemembench@1": "vehiclemembench/MANIFEST.json",
    "qa@1": "answers/jeffs-brain/smoke.jsonl",
}
"""Data that is named, by benchmark; of LifeBench, BEAM and VehicleMemBench, a file of their folder."""

NO_DATA = {"astrocyte-suite@1": "the user's own", "beliefs-fresh-202701@2": "its seed is not drawn yet"}

RETRIEVED = set(
    """
    beam-retrieval@1 belief-search@2 crashes@1 disk-faults@1 event-retrieval@1 expected-turns@1 found-probes@1
    fresh@1 grown@1 lean-context@1 lifebench-retrieval@1
    longmemeval-retrieval@2 newest-fact@1 recall@1 retrieval@2 selected-facts@1 shared-expected-turns@1
    shared-lean-context@1 unlabelled@1 users-apart@1
    """.split()  # noqa: SIM905
)
"""Graders of what was retrieved, stored or observed."""

EXCEPTIONS: dict[tuple[str, str], dict[str, tuple[int, Sequence[str]]]] = {
    ("locomo@1", "f1"): {
        "LoCoMo compares with what stands before the first semicolon, so the reasons behind it cost precision": (
            11,
            [
                *("conv-26:27", "conv-26:42", "conv-26:64", "conv-26:77", "conv-26:81", "conv-42:60", "conv-42:66"),
                *("conv-42:84", "conv-48:36", "conv-50:13", "conv-50:21"),
            ],
        )
    },
    ("longmemeval@1", "judge"): {"a rubric, which rules cannot read": (30, ["single-session-preference"])},
    ("lifebench@1", "judge"): {"a rubric, which rules cannot read": (118, [*QuestionType])},
    ("beam@1", "nuggets"): {
        "its reference lacks a sentence of its rubric": (1, ["100K-4:knowledge-update:2"]),
        "a rubric, which rules cannot read": (289, [each for each in Ability if each is not Ability.ABSTENTION]),
    },
    ("lifecycle@1", "answers"): {"its source must be retrieved beside the answer": (84, ["provenance"])},
}
"""By benchmark, protocol and reason: how many items, and their ids or categories."""


def answers(item: ItemKey, protocol: str) -> list[str]:
    """Return the reference answer to each question of an item."""
    match item.key:
        case FactsKey(right=right):
            return [right.text]
        case DeltaKey(facts_by_turn=facts):
            return [". ".join(fact.text for fact in turn) for turn in facts]
        case ReflectKey(points=points):
            return [". ".join(point.text for point in points)]
        case LocomoKey(unanswerable=True):
            return [NOT_MENTIONED]
        case LifeBenchKey() as key if key.letters:
            return [", ".join(sorted(key.letters))]
        case LifeBenchKey(unanswerable=True):
            return ["I do not know."]
        case ProbeKey(stages=stages):
            return [stage.expected[0].phrases[0] if stage.expected else "There is none." for stage in stages]
        case MemoryCDKey(chosen=str(chosen), candidates=candidates):
            return [", ".join(dict.fromkeys((chosen, *candidates)))]
        case QaKey(needles=needles) if not protocol.endswith("judged"):
            return [", ".join(needles)]
        case key:
            return [key.references[0]]


def wrong(session: BenchmarkSession, protocol: str) -> dict[str, str]:
    """Return what is said of each item whose reference answer is not graded right."""
    found, judge = {}, RulesJudge()
    for item in session.keys:
        grader, scenario = session.graders[item.category], session.scenarios[item.scenario_id]
        if grader.name in RETRIEVED:
            continue
        responses = [
            reply(item, answer, question=number, counted=1000 if number < 5 else 100)
            for number, answer in enumerate(answers(item, protocol))
        ]
        if isinstance(grader, DeliveredDelta):
            grade = grader.grade_delivered(item, scenario, responses, DeliveredContexts(read=True))
        else:
            grade = grader.grade(item, scenario, responses, judge)
        if grade.verdict is not True and (grade.credit is None or grade.credit < 1):
            found[item.item_id] = f"{grade.credit} {grade.reason}"
    return found


def data_of(benchmark: str, folder: Path) -> Path | None:
    if benchmark == "memorycd@1":
        return write_data(folder, users(6))
    path = test_data(FILES[benchmark]) if benchmark in FILES else None
    return path.parent if path is not None and path.name in ("LICENSE", "MANIFEST.json") else path


CASES = [
    (each.info.id, protocol.name)
    for each in all_benchmarks()
    for protocol in each.info.protocols
    if each.info.id not in NO_DATA and {one.grader.name for one in each.table(protocol.name)} - RETRIEVED
]


@pytest.mark.parametrize(("benchmark", "protocol"), CASES)
def test_every_reference_answer_is_graded_right(tmp_path: Path, benchmark: str, protocol: str) -> None:
    tier = "quick" if benchmark == "lifebench@1" else None
    session = BenchmarkSession.open(find(benchmark), data_of(benchmark, tmp_path), protocol=protocol, tier=tier)
    assert session.keys
    found = wrong(session, protocol)
    for number, names in EXCEPTIONS.get((benchmark, protocol), {}).values():
        excepted = [key.item_id for key in session.keys if {key.item_id, key.category} & set(names)]
        assert len([found.pop(name) for name in excepted if name in found]) == number
    assert found == {}
