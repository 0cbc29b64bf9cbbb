"""Every Eval Ever's validator accepts the export, and its scores are the run's."""

import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder
from memeval.evaluation.run.running import run_system
from memeval.exchange.eee import write
from memeval.exchange.inspect_log import write as write_log
from memeval.records.benchmark import Direction, MetricInfo
from memeval.records.call import Phase
from memeval.records.errors import BadInput
from memeval.records.ledger import LedgerEvent, Runner
from memeval.records.run import SystemKind
from memeval.records.submission import Vendor
from memeval.records.track import Redistribution
from memeval.systems.source import file_source
from tests.evaluation.asking import LABEL, PickyServer, options
from tests.exchange.exported import MISHAPS, WORDS, answered, benchmark_session, measured_exam, searched, stored
from tests.support.adapters import plain_adapter
from tests.support.elsewhere import deepmemeval_exam
from tests.support.products import EEE, run_with
from tests.support.runs import edit_head, make_run, make_track

Data = dict[str, Any]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where records are written; below it lies the repository layout that the validator asks for."""
    return tmp_path_factory.mktemp("records")


@pytest.fixture(scope="module")
def mishaps(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A run with blank answers and failures."""
    return answered(tmp_path_factory.mktemp("mishaps"), benchmark_session(3), MISHAPS)


def record(run: RunFolder, written: list[Path]) -> Data:
    """Return a record's aggregate scores."""
    found: Data = json.loads(written[0].read_bytes())
    assert found["source_metadata"]["additional_details"]["run_id"] == run.run.run_id
    return found


def lines(written: list[Path]) -> list[Data]:
    return [json.loads(line) for line in written[1].read_text(encoding="utf-8").splitlines()]


def results(found: Data) -> dict[str, Data]:
    """Return a record's results by id."""
    return {result["evaluation_result_id"]: result for result in found["evaluation_results"]}


@pytest.mark.products
def test_its_own_validator_finds_nothing(
    mishaps: RunFolder, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    measured = measured_exam()
    judged = make_track(
        benchmark="tiny@1", judge="openai:gpt-4o@1", judge_endpoint="http://127.0.0.1:1/v1", judge_label="loopback"
    )
    write(mishaps, benchmark_session(3), tmp_path)
    write(searched(tmp_path_factory.mktemp("a"), deepmemeval_exam()), deepmemeval_exam(), tmp_path)
    write(answered(tmp_path_factory.mktemp("b"), measured), measured, tmp_path)
    write(stored("always-error"), None, tmp_path)
    write(make_run(tmp_path_factory.mktemp("c"), "partial", done=3), None, tmp_path)
    write(make_run(tmp_path_factory.mktemp("d"), "judged", track=judged), None, tmp_path)
    write(make_run(tmp_path_factory.mktemp("e"), "hosted", vendor=Vendor(name="Acme: Ltd.")), None, tmp_path)
    done = run_with(
        EEE, "-m", "every_eval_ever.validator.cli", "--format", "json", "data/*/*/*/*.json*", folder=tmp_path
    )
    reports = json.loads(done.stdout)
    assert [
        (each["file"], each["errors"], each["warnings"]) for each in reports if each["errors"] + each["warnings"]
    ] == []
    assert done.returncode == 0
    assert sorted(each["file_type"] for each in reports) == ["aggregate"] * 7 + ["instance"] * 3


@pytest.mark.products
def test_the_validator_would_have_found_a_fault(mishaps: RunFolder, tmp_path: Path) -> None:
    written = write(mishaps, benchmark_session(3), tmp_path)
    written[0].write_text(written[0].read_text(encoding="utf-8").replace('"score":', '"scores":'), encoding="utf-8")
    done = run_with(
        EEE, "-m", "every_eval_ever.validator.cli", "--format", "json", "data/*/*/*/*.json*", folder=tmp_path
    )
    assert done.returncode == 1


def test_scores_and_intervals_are_those_of_the_run(mishaps: RunFolder, tmp_path: Path) -> None:
    scores = mishaps.run.scores
    found = results(record(mishaps, write(mishaps, benchmark_session(3), tmp_path)))
    composite = found["tiny#composite"]["score_details"]
    interval = scores.composite.interval
    assert interval is not None
    assert composite["score"] == scores.composite.value
    assert composite["uncertainty"]["num_samples"] == 12
    assert composite["uncertainty"]["confidence_interval"]["lower"] == interval.low
    for category in scores.categories:
        one = found[f"tiny/{category.name}#accuracy"]
        assert one["score_details"]["score"] == category.tally.accuracy
        assert one["score_details"]["details"]["errors"] == str(category.tally.errors)
        assert (one["metric_config"]["lower_is_better"], one["metric_config"]["max_score"]) == (False, 1.0)


def test_metrics_with_known_direction_are_results_and_others_are_details(tmp_path: Path) -> None:
    asked = measured_exam()
    run = answered(tmp_path, asked)
    found = results(record(run, write(run, asked, tmp_path / "unknown")))
    assert "tiny/far#recall@5" not in found
    assert found["tiny/far#accuracy"]["score_details"]["details"]["metric.recall@5"] == "0.5"
    metric = MetricInfo(name="recall@5", title="Recall at 5", direction=Direction.HIGHER, low=0.0, meaning="Evidence.")
    asked.benchmark.info = asked.benchmark.info.model_copy(update={"metrics": (metric,)})
    known = results(record(run, write(run, asked, tmp_path / "known")))["tiny/far#recall@5"]
    assert known["score_details"]["score"] == 0.5
    assert known["metric_config"]["metric_name"] == "Recall at 5"
    assert (known["metric_config"]["min_score"], known["metric_config"]["max_score"]) == (0.0, "Infinity")


def test_other_rules_are_results_beside_the_headline(tmp_path: Path) -> None:
    asked = measured_exam()
    run = answered(tmp_path, asked)
    found = results(record(run, write(run, asked, tmp_path / "out")))
    assert found["tiny#composite.generous"]["score_details"]["score"] == 0.75
    assert found["tiny/far#accuracy.generous"]["score_details"]["score"] == 0.75
    assert found["tiny/near#accuracy.generous"]["score_details"]["details"]["planned"] == "1"


def test_a_line_holds_question_reference_answer_and_score(mishaps: RunFolder, tmp_path: Path) -> None:
    written = write(mishaps, benchmark_session(3), tmp_path)
    right, blank, failed = lines(written)[:3]
    assert right["input"] == {"raw": "Which city has Ada moved to? (0)", "reference": ["Ada lives in Lima"]}
    assert right["output"]["raw"] == ["I have moved to Lima for good."]
    assert right["sample_hash"] == hashlib.sha256(b"Which city has Ada moved to? (0)Ada lives in Lima").hexdigest()
    assert [each["evaluation"]["score"] for each in (right, blank, failed)] == [1.0, 0.0, 0.0]
    assert [each["error"] is None for each in (right, blank, failed)] == [True, True, False]
    detail = record(mishaps, written)["detailed_evaluation_results"]
    assert detail["checksum"] == hashlib.sha256(written[1].read_bytes()).hexdigest()
    assert detail["total_rows"] == 12
    known = results(record(mishaps, written))
    assert all(each["evaluation_result_id"] in known for each in lines(written))


def test_twenty_questions_are_one_line_and_a_conversation(tmp_path: Path) -> None:
    asked = deepmemeval_exam()
    run = searched(tmp_path, asked)
    (delta,) = (line for line in lines(write(run, asked, tmp_path / "out")) if line["messages"])
    assert (delta["interaction_type"], delta["evaluation"]["num_turns"]) == ("multi_turn", 20)
    assert [each["role"] for each in delta["messages"]] == ["user", "assistant"] * 20
    assert [each["is_terminal"] for each in delta["answer_attribution"]] == [False] * 19 + [True]


def test_of_a_benchmark_that_keeps_its_words_there_are_aggregates_alone(tmp_path: Path) -> None:
    asked = benchmark_session(redistribution=Redistribution.IDS)
    run = searched(tmp_path, asked)
    for given in (None, asked):
        written = write(run, given, tmp_path / "out")
        text = written[0].read_text(encoding="utf-8")
        assert len(written) == 1
        assert "detailed_evaluation_results" not in json.loads(text)
        assert not [word for word in WORDS if word in text]


def test_who_evaluated_follows_from_the_ledger(tmp_path: Path) -> None:
    control = make_run(tmp_path / "results", "bm25", kind=SystemKind.CONTROL)
    ours, theirs, nobodys = (make_run(tmp_path / "results", slug) for slug in ("ours", "theirs", "nobodys"))
    ledger = Ledger(tmp_path / "results")
    for run, runner in ((ours, Runner.MAINTAINER), (theirs, Runner.SUBMITTER)):
        ledger.append(LedgerEvent.ACCEPTED, run, by="someone", reason="It holds.", runner=runner)
    found = [
        record(run, write(run, None, tmp_path / "out"))["source_metadata"]["evaluator_relationship"]
        for run in (control, ours, theirs, nobodys)
    ]
    assert found == ["first_party", "third_party", "first_party", "other"]


def test_a_model_judge_is_named_with_its_prompts_and_what_it_took(tmp_path: Path, server: PickyServer) -> None:
    asked = benchmark_session()
    run = run_system(file_source(plain_adapter(tmp_path)), asked, options(tmp_path))
    found = results(record(run, write(run, asked, tmp_path / "out")))["tiny/far#accuracy"]["metric_config"]
    (judge,) = found["llm_scoring"]["judges"]
    assert judge["model_info"]["id"] == run.run.track.judge
    assert judge["model_info"]["additional_details"]["label"] == LABEL
    assert set(json.loads(found["llm_scoring"]["input_prompt"])) == {prompt.name for prompt in run.prompts()}
    (log,) = write_log(run, asked, tmp_path / "judged.eval")
    with zipfile.ZipFile(log) as archive:
        stats = json.loads(archive.read("header.json"))["stats"]
    usage = run.run.usage[Phase.JUDGE]
    assert stats["role_usage"]["judge"]["input_tokens"] == usage.prompt_tokens
    assert [each["input_tokens"] for each in stats["model_usage"].values()] == [usage.prompt_tokens]


def test_equal_runs_make_equal_records_under_equal_names(mishaps: RunFolder, tmp_path: Path) -> None:
    one, two = (write(mishaps, benchmark_session(3), tmp_path / name) for name in ("one", "two"))
    assert [path.name for path in one] == [path.name for path in two]
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]


def test_a_time_that_is_none_is_refused(tmp_path: Path) -> None:
    run = make_run(tmp_path, "made-up")
    timing = json.loads(run.head_bytes)["timing"] | {"ended": "yesterday"}
    with pytest.raises(BadInput, match="invalid time 'yesterday'"):
        write(edit_head(run, timing=timing), None, tmp_path / "out")
