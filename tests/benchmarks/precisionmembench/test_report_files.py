"""Reports of the authors' test program: written, read back, and refused."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from memeval.archive.runs import RunFolder
from memeval.benchmarks.formats.reading import AnswerFile
from memeval.benchmarks.precisionmembench import PrecisionBenchmark
from memeval.benchmarks.precisionmembench.benchmark import REPORT
from memeval.benchmarks.precisionmembench.reports import read, write
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.imports.importing import import_file
from memeval.evaluation.judge.judges import ChosenJudge
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.options import ImportOptions
from memeval.records.errors import BadInput
from memeval.records.grade import GradeState
from memeval.records.scores import Scores
from memeval.systems.source import find_system
from tests.benchmarks.precisionmembench.made import Invented
from tests.support.data import test_data
from tests.support.http_server import serving_folder

STORE = '''
class Store:
    """Returns the texts of a bank that have one of the tags, in order."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.texts = []

    def retain(self, content, bank=None, tags=None, source_id=None):
        self.texts.append((bank, set(tags or ()), source_id, content))

    def recall(self, query, k, bank=None, tags=None):
        found = [one for one in self.texts if one[0] == bank and one[1] & set(tags or ())]
        return [{"text": text, "source_ids": [source]} for _, _, source, text in found[:k]]
'''


def scores(folder: Path, benchmark: PrecisionBenchmark, data: Path | None = None, system: str | None = None) -> Scores:
    """Return the scores of a system; without a name, of the store above."""
    adapter = folder / "store.py"
    adapter.write_text(STORE, encoding="utf-8")
    session = BenchmarkSession.open(benchmark, data)
    return run_system(find_system(system or str(adapter)), session, RunOptions(results=folder / "results")).run.scores


def metric(found: Scores, name: str) -> Mapping[str, float | None]:
    """Return the means of a metric by category."""
    return {each.name: each.metrics[name] for each in found.categories if name in each.metrics}


def test_the_score_counts_searches_for_one_and_for_two_beliefs_alike(tmp_path: Path) -> None:
    found = scores(tmp_path, Invented())
    # The tag finds six texts, of which one is pinned: 1, 2 and 2 of the other five are expected.
    assert {each.name: each.tally.accuracy for each in found.categories if each.weight and each.tally.planned} == {
        "match-one": pytest.approx(5 / 9),
        "match-two": pytest.approx(10 / 13),
    }
    assert set(metric(found, "user_leaks").values()) == {0.0}


@pytest.mark.data
def test_a_real_process_that_returns_a_scope_has_the_golden_scores(tmp_path: Path) -> None:
    data = test_data("precisionmembench/fixtures/beliefs.seed.json").parent
    found = scores(tmp_path, PrecisionBenchmark(), data)
    tallies = {each.name: each.tally for each in found.categories}
    passed = sum(each.alternates["published"].correct for each in found.categories if each.name != "conversation")
    assert passed == 11 - 5, "five of 77 cases pass without being sent"
    assert tallies["conversation"].correct == 0
    sizes = {"match-one": 32, "match-two": 8, "match-many": 3}
    recall, precision = (
        sum(size * (metric(found, name)[each] or 0.0) for each, size in sizes.items()) / 43
        for name in ("recall", "precision_43")
    )
    drift = metric(found, "drift_published")["conversation"]
    assert drift is not None
    assert (round(recall, 4), round(drift, 4)) == (0.9419, 0.9259)
    assert precision == pytest.approx(0.0619 * 67 / 43, abs=1e-4)
    assert found.composite.value == pytest.approx(0.4480, abs=1e-4)


@pytest.mark.data
def test_neither_one_text_for_every_search_nor_all_texts_lead(tmp_path: Path) -> None:
    data = test_data("precisionmembench/fixtures/beliefs.seed.json").parent
    found = {name: scores(tmp_path, PrecisionBenchmark(), data, name) for name in ("bm25-texts", "top-1", None)}
    bm25, one, all_texts = (each.composite.value or 0.0 for each in found.values())
    assert all_texts < one < bm25
    precision = {name: metric(each, "precision_43")["match-one"] or 0.0 for name, each in found.items()}
    assert precision["top-1"] > 2 * precision["bm25-texts"] > 2 * precision[None], "as the authors count"


@pytest.fixture
def served() -> Iterator[str]:
    """Serve the released files, and yield their address."""
    with serving_folder(test_data("precisionmembench/fixtures/beliefs.seed.json").parent) as url:
        yield url


def served_benchmark(address: str) -> PrecisionBenchmark:
    """Return the benchmark whose files are at another address."""
    benchmark = PrecisionBenchmark()
    sources = tuple(
        source.model_copy(update={"url": f"{address}/{source.filename}"}) for source in benchmark.info.sources
    )
    benchmark.info = benchmark.info.model_copy(update={"sources": sources})
    return benchmark


@pytest.mark.data
def test_one_command_downloads_all_three_files(tmp_path: Path, served: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMEVAL_DATA", str(tmp_path))
    benchmark = served_benchmark(served)
    assert not benchmark.available()
    folder = benchmark.pull()
    assert sorted(each.name for each in folder.glob("*.json")) == sorted(s.filename for s in benchmark.info.sources)
    assert benchmark.available()
    assert len(list(benchmark.open().answer_keys())) == 84


@pytest.mark.data
def test_a_download_of_other_bytes_is_refused(tmp_path: Path, served: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMEVAL_DATA", str(tmp_path))
    benchmark = served_benchmark(served)
    first, *rest = benchmark.info.sources
    wrong = first.model_copy(update={"url": rest[0].url})
    benchmark.info = benchmark.info.model_copy(update={"sources": (wrong, *rest)})
    with pytest.raises(BadInput):
        benchmark.pull()
    assert not benchmark.available()


PUBLISHED = "answers/published/tenurehq__precisionMemBench/test-results__baseline__{}.json"


def case(name: str, *found: str, **fields: Any) -> dict[str, Any]:
    """Return the result of a case."""
    return {"caseId": name, "relevantBeliefs": list(found), "retrievalLatencyMs": 2.5, **fields}


def turn(name: str, number: int, *found: str) -> dict[str, Any]:
    """Return the result of a turn."""
    return {"caseId": name, "turnIndex": number, "retrievedBeliefIds": list(found), "retrievalLatencyMs": 2.5}


def written(folder: Path, cases: list[Any], **fields: Any) -> AnswerFile:
    """Return a report file."""
    path = folder / "report.json"
    path.write_text(json.dumps({"provider": "acme", "cases": cases, **fields}), encoding="utf-8")
    return AnswerFile.open(path)


def imported(file: AnswerFile, session: BenchmarkSession, folder: Path) -> RunFolder:
    """Return the run of a report."""
    return import_file(file, REPORT, session, ChosenJudge(), ImportOptions(results=folder / "results"))


def test_a_report_is_graded_by_the_ids_it_names(tmp_path: Path) -> None:
    cases = [case("find-roses", "roses", "tulips"), case("nothing"), case("blank"), case("isolated", "unheard-of")]
    run = imported(written(tmp_path, cases), BenchmarkSession.open(Invented()), tmp_path)
    grades = {grade.item_id: grade for grade in run.grades()}
    assert {name: (grade.state, grade.credit) for name, grade in grades.items()} == {
        "find-roses": (GradeState.GRADED, pytest.approx(5 / 6)),
        "nothing": (GradeState.GRADED, 1.0),
        "isolated": (GradeState.GRADED, 1.0),
    }
    assert run.run.imported is not None
    assert run.run.imported.unknown == (), "a case that is never sent is no unknown question"
    assert len(run.run.imported.missing) == 7


def test_a_null_result_is_a_failed_search(tmp_path: Path) -> None:
    cases = [case("find-roses", "roses"), {**case("nothing"), "relevantBeliefs": None}]
    run = imported(written(tmp_path, cases), BenchmarkSession.open(Invented()), tmp_path)
    assert {grade.item_id: grade.state for grade in run.grades()} == {
        "find-roses": GradeState.GRADED,
        "nothing": GradeState.ADAPTER_ERROR,
    }


def test_provenance_gives_version_and_date(tmp_path: Path) -> None:
    file = written(tmp_path, [case("nothing")], provenance={"version": "0.9", "runDate": "2026-05-29", "engine": "x"})
    found = read(file, BenchmarkSession.open(Invented()))
    assert (found.system, found.version, found.imported.made_at) == ("acme", "0.9", "2026-05-29")


@pytest.mark.parametrize(
    ("cases", "problem"),
    [
        ([], "cases"),
        ([{"caseId": "nothing"}], "'relevantBeliefs' is missing"),
        ([{"caseId": "talk", "turnIndex": 0, "relevantBeliefs": []}], "'retrievedBeliefIds' is missing"),
        ([case("nothing"), case("nothing")], "second answer to the question 'nothing'"),
        ([case("nothing", retrievalLatencyMs=-1)], "retrievalLatencyMs"),
        ([case("nothing", relevantBeliefs=[7])], "relevantBeliefs"),
        (["nothing"], "expected a JSON object"),
        ([case("elsewhere")], "none of the 1 answers"),
    ],
)
def test_an_invalid_report_is_refused(cases: list[Any], problem: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=problem):
        imported(written(tmp_path, cases), BenchmarkSession.open(Invented()), tmp_path)


def test_an_export_has_both_reports_with_every_sent_case_that_has_a_result(tmp_path: Path) -> None:
    session = BenchmarkSession.open(Invented())
    run = imported(written(tmp_path, [case("find-roses", "roses", "tulips"), case("nothing")]), session, tmp_path)
    files = write(run, session, tmp_path / "own.json")
    assert [path.name for path in files] == ["own.json", "session-own.json"]
    first, second = (json.loads(path.read_text(encoding="utf-8")) for path in files)
    assert [each["caseId"] for each in first["cases"]] == ["find-roses", "nothing", "blank", "no-budget"]
    roses, *_, unsent = first["cases"]
    assert (roses["pinnedBeliefs"], roses["relevantBeliefs"]) == (["gate"], ["roses", "tulips"])
    assert roses["failures"] == ["unexpected belief in relevantBeliefs: tulips"]
    assert (roses["retrievalLatencyMs"], unsent["retrievalLatencyMs"]) == (2.5, None)
    assert first["retrieval"]["passTypes"] == {"activeRetrieval": 0, "structural": 0, "triviallyEmpty": 3}
    assert (second["cases"], second["retrieval"]["meanPrecision"]) == ([], None)


def test_turns_read_back_are_the_turns_written(tmp_path: Path) -> None:
    session = BenchmarkSession.open(Invented())
    turns = [turn("talk", 0, "roses"), turn("talk", 1, "hedge", "roses"), turn("later", 0, "hedge")]
    run = imported(written(tmp_path, turns), session, tmp_path)
    report = json.loads(write(run, session, tmp_path / "own.json")[1].read_text(encoding="utf-8"))
    assert [{name: each[name] for name in turns[0]} for each in report["cases"]] == turns
    assert [each["driftScore"] for each in report["cases"]] == [0.0, 0.5, 1.0]
    assert report["cases"][2]["failures"] == [
        "turn 0: unexpected relevant belief: hedge",
        "turn 0: missing expected belief: roses",
        "turn 0: noise belief surfaced: hedge",
    ]
    assert (report["retrieval"]["turnCount"], report["retrieval"]["caseCount"]) == (3, 2)


def test_an_export_without_the_data_says_how_to_get_it(tmp_path: Path) -> None:
    session = BenchmarkSession.open(Invented())
    run = imported(written(tmp_path, [case("nothing")]), session, tmp_path)
    with pytest.raises(BadInput, match="needs the data of precisionmembench@1"):
        write(run, None, tmp_path / "own.json")


@pytest.mark.data
@pytest.mark.parametrize("name", ["retrieval-report-gbrain", "session-retrieval-report-yourmemory"])
def test_a_published_report_comes_back_as_it_was(name: str, tmp_path: Path) -> None:
    data = test_data("precisionmembench/fixtures/beliefs.seed.json").parent
    session = BenchmarkSession.open(PrecisionBenchmark(), data)
    path = test_data(PUBLISHED.format(name))
    run = imported(AnswerFile.open(path), session, tmp_path)
    of_turns = name.startswith("session-")
    own = json.loads(write(run, session, tmp_path / "own.json")[of_turns].read_text(encoding="utf-8"))
    stored = json.loads(path.read_bytes())
    measured = {"retrievalLatencyMs"}  # of searches that are never sent, the authors state a time
    for one, other in zip(own["cases"], stored["cases"], strict=True):
        for field in one.keys() & other.keys() - measured:
            expected = pytest.approx(other[field], abs=5e-5) if isinstance(one[field], float) else other[field]
            assert one[field] == expected, field
    totals = own["retrieval"].keys() - {"meanLatencyMs", "p50LatencyMs", "p95LatencyMs"}
    assert all(own["retrieval"][field] == stored["retrieval"][field] for field in totals)
