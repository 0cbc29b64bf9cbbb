"""Suites from end to end: made files and a small stress run, by an adapter that is perfect and by some that are not."""

from collections import Counter
from pathlib import Path

import pytest

from memeval import api
from memeval.archive.runs import RunFolder
from memeval.benchmarks import find
from memeval.benchmarks.astrocyte import BroughtSuite, BuiltInSuite
from memeval.benchmarks.astrocyte.stress import WORDS
from memeval.evaluation.run.running import RunOptions
from memeval.keys import RecallKey, ReflectKey
from memeval.records.errors import BadInput, NotApplicable
from memeval.records.failure import Cause
from memeval.records.grade import Flag, Grade, GradeState
from memeval.records.scenario import Recall, Reflect, Retain
from memeval.records.track import Redistribution

SUITE = """
name: mill
version: 3
retain:
  - {id: ice, content: "The sluice is jammed with ice.", tags: [water], occurred_at: 2024-02-11, bank: mill}
  - {id: axle, content: "A broken axle stopped the wheel.", tags: [wood], occurred_at: 2023-09-01, bank: mill}
  - {id: thaw, content: "The brook thaws in March as a rule.", tags: [water], occurred_at: 2024-02-12, bank: mill}
  - {id: hens, content: "The sluice of the hens is jammed with straw.", tags: [water], occurred_at: 2024-02-11}
recall:
  - {id: by-id, query: "sluice jammed", bank: mill, expected_ids: [ice], category: plain}
  - {id: by-word, query: "brook thaws", bank: mill, expected_contains: [BROOK], category: plain}
  - {id: by-tag, query: "wheel axle sluice", bank: mill, tags: [wood], expected_ids: [axle]}
  - {id: by-time, query: "sluice wheel", bank: mill, time_range: [2024-01-01, 2024-02-12], expected_ids: [ice]}
  - {id: not-there, query: "windmill sails", bank: mill, expected_absent: true}
  - {id: open, query: "wheel", bank: mill}
reflect:
  - id: why
    query: "Why does the mill stand still?"
    bank: mill
    expected_topics: [ice]
    forbidden: ["broken axle"]
"""

REFLECTS = "retain: []\nreflect: [{query: x, expected_topics: [y]}]"

MEMORY = """
from datetime import datetime, timezone

LEAKS, BANKS = {leaks!r}, {banks!r}

def moment(date):
    parsed = datetime.fromisoformat(date)
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=timezone.utc)

def words(text):
    return set(text.lower().rstrip(".?").split()) - {{"the", "is", "of", "with", "a"}}

class Memory:
    def reset(self):
        self.kept = []
    def retain(self, content, bank=None, timestamp=None, tags=(), source_id=None, fact_type=None, metadata=None):
        self.kept.append((content, bank, timestamp, set(tags or ()), source_id))
    async def recall(self, query, k=10, bank=None, tags=None, since=None, until=None, timestamp=None):
        fits = []
        for content, where, when, about, name in self.kept:
            passes = not tags or about & set(tags)
            passes = passes and (not since or moment(since) <= moment(when))
            passes = passes and (not until or moment(when) < moment(until))
            shared = len(words(query) & words(content))
            if shared and (where == bank or not BANKS) and (passes or LEAKS):
                fits.append((shared, {{"text": content, "source_ids": [name], "score": shared}}))
        return [item for _, item in sorted(fits, key=lambda fit: -fit[0])[:k]]
    def reflect(self, query, bank=None, dispositions=None):
        return "Ice holds it, as it seems."
    def search(self, query, k, timestamp="now"):
        return []
"""

STRESS = """
PAIRS = {pairs!r}

class Memory:
    def reset(self):
        self.kept = []
    def retain(self, content, bank=None, source_id=None):
        self.kept.append((content, bank, source_id))
    async def recall(self, query, k=10, bank=None):
        for plain, other in PAIRS:
            query = query.replace(other, plain)
        called = {{plain for plain, _ in PAIRS}}
        asked = [word for word in query.rstrip("?").split() if word in called]
        return [
            {{"text": content, "source_ids": [name]}}
            for content, where, name in self.kept
            if (where == bank or not {banks!r}) and " ".join(asked) in content
        ][:k]
    def search(self, query, k, timestamp="now"):
        return []
"""


def written(folder: Path, text: str, name: str) -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def memory(folder: Path, *, leaks: bool = False, banks: bool = True) -> Path:
    """Return an adapter that finds texts by shared words, with or without filters and walls between banks."""
    return written(folder, MEMORY.format(leaks=leaks, banks=banks), "memory.py")


def ran(
    folder: Path,
    adapter: Path,
    benchmark: str,
    data: Path | None = None,
    protocol: str | None = None,
    parameters: dict[str, str | int] | None = None,
) -> RunFolder:
    """Return a run, after looking that it is whole and can be graded again."""
    options = RunOptions(results=folder / "results", protocol=protocol)
    (run,) = api.run(adapter, benchmark, data=data, parameters=parameters, options=options)
    assert run.run.coverage.full
    assert api.verify(run.path) == []
    assert not api.reproduce(run, data=data).findings
    return run


def by_id(run: RunFolder) -> dict[str, Grade]:
    return {grade.item_id: grade for grade in run.grades()}


def test_a_perfect_memory_gets_everything_of_a_suite_of_ones_own(tmp_path: Path) -> None:
    data = written(tmp_path, SUITE, "mill.yaml")
    run = ran(tmp_path, memory(tmp_path), "astrocyte-suite", data, "full")
    assert run.run.scores.composite.value == 1.0
    assert run.run.track.parameters == {"suite": "mill", "version": 3}
    assert not run.run.track.released and run.run.redistribution is Redistribution.IDS
    counts = {category.name: category.tally.planned for category in run.run.scores.categories}
    assert counts == {"recall": 2, "filtered": 2, "negative": 1, "reflect": 1, "unlabelled": 1}
    grades = by_id(run)
    assert grades["by-id"].slices == {"category": "plain"} and grades["by-tag"].slices == {}
    assert grades["open"].grader == "unlabelled@1" and grades["open"].state is GradeState.GRADED
    assert grades["not-there"].metrics["true_rejection"] == 1.0
    assert grades["why"].metrics == {"completeness": 1.0, "hallucination": 0.0}
    (first, *_) = run.responses()
    assert len(first.timings.retain_seconds) == 4


def test_a_memory_that_ignores_filters_is_found(tmp_path: Path) -> None:
    data = written(tmp_path, SUITE, "mill.yaml")
    run = ran(tmp_path, memory(tmp_path, leaks=True), "astrocyte-suite", data)
    grades = by_id(run)
    assert [grades[name].flags for name in ("by-tag", "by-time")] == [(Flag.FILTER_LEAK,)] * 2
    assert [grades[name].credit for name in ("by-id", "by-tag", "by-time")] == [1.0, 0.0, 0.0]
    broken = dict.fromkeys(("by-tag", "by-time"), Cause.BROKE_THE_FILTER)
    assert {row.item_id: row.cause for row in run.failures() if row.cause} == broken | {"open": Cause.UNKNOWN}
    filtered = next(each for each in run.run.scores.categories if each.name == "filtered")
    assert filtered.tally.accuracy == 0.0 and filtered.metrics["filter_leak_rate"] == 0.5


def test_a_memory_that_ignores_banks_is_found(tmp_path: Path) -> None:
    data = written(tmp_path, SUITE, "mill.yaml")
    run = ran(tmp_path, memory(tmp_path, banks=False), "astrocyte-suite", data)
    grades = by_id(run)
    assert grades["by-id"].flags == (Flag.OTHER_BANK,) and grades["by-id"].credit == 0.0
    assert grades["by-id"].metrics["isolation_violations"] == 1
    assert grades["by-word"].credit == 1.0


def test_the_stress_suite_runs_and_finds_walls_that_are_not_there(tmp_path: Path) -> None:
    pairs = sorted([*WORDS.things, *WORDS.kinds], key=lambda pair: -len(pair[1]))
    size: dict[str, str | int] = {"retains": 40, "banks": 2, "recalls": 60}
    kept = written(tmp_path, STRESS.format(pairs=pairs, banks=True), "kept.py")
    run = ran(tmp_path, kept, "astrocyte-stress", parameters=size)
    assert run.run.track.parameters == {"seed": 42, **size}
    perfect = run.run.scores
    planned = {category.name: category.tally.planned for category in perfect.categories}
    assert planned == {"exact": 24, "paraphrase": 24, "negative": 12}
    assert {(found.slice, found.value) for found in perfect.slices} == {
        *(("bank size", size) for size in ("2", "5", "10", "20")),
        *(("in flight", flight) for flight in ("1", "4", "16")),
    }
    assert sum(len(response.timings.retain_seconds) for response in run.responses()) == 40
    assert perfect.composite.value == 1.0
    open_kept = written(tmp_path, kept.read_text("utf-8").replace("not True", "not False"), "shared.py")
    shared = ran(tmp_path, open_kept, "astrocyte-stress", parameters=size)
    flags = Counter(flag for grade in shared.grades() for flag in grade.flags)
    assert flags[Flag.OTHER_BANK] > 5
    assert (shared.run.scores.composite.value or 0.0) < 1.0


def test_a_system_that_cannot_recall_gets_no_run(tmp_path: Path) -> None:
    adapter = written(tmp_path, MEMORY.format(leaks=False, banks=True).replace("async def recall", "def no"), "no.py")
    with pytest.raises(NotApplicable, match="has no 'recall', which the protocol 'recall' needs"):
        ran(tmp_path, adapter, "astrocyte-basic")
    deaf = written(tmp_path, MEMORY.format(leaks=False, banks=True).replace(", dispositions=None", ""), "deaf.py")
    with pytest.raises(NotApplicable, match="has no 'dispositions'"):
        ran(tmp_path, deaf, "astrocyte-reflect", protocol="dispositions")


def test_no_key_reaches_the_system_that_is_asked() -> None:
    for name in ("basic", "accuracy", "reflect"):
        dataset = BuiltInSuite(name).open()
        (scenario,) = dataset.scenarios()
        texts = [step for step in scenario.steps if isinstance(step, Retain)]
        assert [text.text_id for text in texts] == [f"s{place:03}" for place in range(1, len(texts) + 1)]
        for key in dataset.answer_keys():
            assert isinstance(key.key, RecallKey | ReflectKey)
            assert set(key.evidence or ()) <= {text.text_id for text in texts}


def test_the_traits_of_a_protocol_go_with_every_question() -> None:
    benchmark = BuiltInSuite("reflect")
    plain = benchmark.opened(None, None, "reflect", "full")
    traits = benchmark.opened(None, None, "dispositions", "full")
    for dataset, wanted in ((plain, {}), (traits, {"skepticism": 5, "literalism": 5})):
        (scenario,) = dataset.scenarios()
        asked = [step for step in scenario.steps if isinstance(step, Reflect)]
        assert len(asked) == 20 and all(step.dispositions == wanted for step in asked)
    assert plain.digest == traits.digest


def test_recall_asks_searches_alone() -> None:
    benchmark = BuiltInSuite("basic")
    (scenario,) = (dataset := benchmark.open()).scenarios()
    keys = tuple(dataset.answer_keys())
    searches = {step.question_id for step in scenario.steps if isinstance(step, Recall)}
    assert {key.item_id for key in benchmark.asked(keys, "recall")} == searches
    assert benchmark.asked(keys, "full") == keys


@pytest.mark.parametrize(
    ("name", "data", "parameters", "sentence"),
    [
        ("astrocyte-suite", None, None, "needs your own suite. Name it with --data"),
        ("astrocyte-suite", SUITE, {"seed": 1}, "has no parameter 'seed'"),
        ("astrocyte-suite", SUITE, {"version": 4}, "the version of this file is '3', not '4'"),
        ("astrocyte-suite", REFLECTS, None, "the suite has no recall. Use --protocol full"),
        ("astrocyte-suite", "a: [", None, "not valid YAML"),
        ("astrocyte-basic", SUITE, None, "is built in and reads no file"),
        ("astrocyte-stress", SUITE, None, "is built in and reads no file"),
    ],
)
def test_what_a_suite_does_not_take_is_refused(
    tmp_path: Path, name: str, data: str | None, parameters: dict[str, str | int] | None, sentence: str
) -> None:
    path = None if data is None else written(tmp_path, data, "mill.yaml")
    with pytest.raises(BadInput) as caught:
        find(name).open(path, parameters)
    assert sentence in str(caught.value)


def test_a_suite_of_ones_own_is_known_by_its_name_and_says_what_has_no_truth(tmp_path: Path) -> None:
    brought, data = BroughtSuite(), written(tmp_path, SUITE, "mill.yaml")
    assert brought.available(data) and not brought.available() and not brought.available(tmp_path / "no.yaml")
    assert brought.info.brought and find("astrocyte-stress").info.by_name_only
    assert brought.open(data, {"suite": "mill", "version": "3"}).notes == (
        "no_ground_truth: 1 cases have no expected result and are not scored.",
    )
    assert brought.opened(written(tmp_path, REFLECTS, "only.yaml"), None, "full", "full").notes == ()
