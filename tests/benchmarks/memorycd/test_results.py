"""MemoryCD's own results: files named, laid out and summed as its runner does it, and read back to equal grades.

All data is synthetic.
"""

import json
import math
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.archive.runs import RunFolder
from memeval.benchmarks import find
from memeval.benchmarks.formats.reading import AnswerFile
from memeval.benchmarks.memorycd.dataset import MemoryCDDataset
from memeval.benchmarks.memorycd.keys import DOMAINS, MemoryCDKey, MemoryCDTask
from memeval.benchmarks.memorycd.results import RunName, read, sources_name
from memeval.benchmarks.memorycd.results_writing import NAMES, bert_scores, write
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.evaluation.withhold.decoding import decoded_run
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from memeval.systems.source import file_source, find_system
from tests.support.elsewhere import graded, locomo_exam, verdicts
from tests.support.memorycd import item_id, users, write_data

Json = Any

ODD = """
class Odd:
    def reset(self):
        self.asked = 0

    def retain(self, content, metadata=None):
        pass

    def query(self, question, timestamp="now"):
        self.asked += 1
        if self.asked == 2:
            raise RuntimeError("no idea")
        return ["  four stars", "", " 4.5 "][self.asked - 1]
"""
"""A system that answers with words, fails, and answers with a number, once per user and domain."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data(tmp_path_factory.mktemp("memorycd"), users(2, shortest=4, longest=5))


@cache
def benchmark_session(data: Path, protocol: str = "rating-single") -> BenchmarkSession:
    return BenchmarkSession.open(find("memorycd@1"), data, protocol=protocol)


def made(asked: BenchmarkSession) -> list[Json]:
    """Return a prediction for every item in the released form; every second one is right."""
    assert isinstance(asked.dataset, MemoryCDDataset)
    rows = []
    for number, item in enumerate(asked.keys):
        assert isinstance(item.key, MemoryCDKey)
        key, place = item.key, int(item.item_id.rpartition(":")[2])
        test = asked.dataset.parted(item.scenario_id).tests[place - 1]
        target: Json = {"parent_asin": test.item, "timestamp": test.time}
        if key.task is MemoryCDTask.RANKING:
            target = {"parent_asin": test.item, "candidate_asins": list(key.candidates)}
        right = str(key.rating or key.text or ", ".join(sorted(key.candidates)))
        said = f" {right}\n" if number % 2 else "The best I have owned."
        truth = key.rating or key.text or key.chosen
        rows.append({"user_id": item.cluster, "target_item": target, "llm_response": said, "ground_truth": truth})
    return rows


def imported(folder: Path, asked: BenchmarkSession) -> RunFolder:
    return graded(folder, tuple(made(asked)), "memorycd", asked, name="made.jsonl")


def written(files: list[Path]) -> Iterator[tuple[Path, list[Json], Json]]:
    """Yield the files of each domain: where the predictions lie, what they are, and the summary."""
    for predictions, summary in zip(files[::2], files[1::2], strict=True):
        rows = [json.loads(line) for line in predictions.read_text(encoding="utf-8").splitlines()]
        yield predictions, rows, json.loads(summary.read_text(encoding="utf-8"))


def lines(files: list[Path]) -> list[Json]:
    return [row for _path, rows, _summary in written(files) for row in rows]


@pytest.mark.parametrize("protocol", ["rating-cross", "title-single", "review-cross", "ranking-single"])
def test_an_exported_run_comes_back_with_equal_grades(tmp_path: Path, data: Path, protocol: str) -> None:
    asked = benchmark_session(data, protocol)
    run = imported(tmp_path, asked)
    assert run.run.coverage.full
    assert 0 < (run.run.scores.composite.value or 0) < 1
    files = write(decoded_run(run, asked), asked, tmp_path / "out")
    assert len(files) == 2 * len(DOMAINS)
    for path, rows, summary in written(files):
        name = RunName.parsed(path.stem.removeprefix("predictions_"))
        assert name is not None
        assert path.parent == tmp_path / "out" / "logs" / name.setting / name.domain
        assert (name.protocol, name.method, name.model) == (protocol, run.run.system.slug, "native")
        assert summary["run_id"] == str(name)
        assert [row["prediction_id"] for row in rows] == list(range(len(rows)))
        assert summary["results"]["total_predictions"] == len(rows)
    again = graded(tmp_path, tuple(lines(files)), "memorycd", asked, name="again.jsonl")
    assert verdicts(again) == verdicts(run)
    assert b"best I have owned" not in b"".join(path.read_bytes() for path in again.path.glob("*.json"))


HEAD = ["prediction_id", "user_id", "timestamp", "num_memory_items", "memory", "target_item", "prompt"]
HEAD += ["llm_response", "prediction", "ground_truth", "metrics", "parse_state"]
TEXT_METRICS = ["rouge1_f", "rougeL_f", "bleu1", "bleu4"]


@pytest.mark.parametrize(
    ("task", "hidden", "metrics"),
    [
        ("rating", {"rating"}, ["error"]),
        ("title", {"title"}, TEXT_METRICS),
        ("review", {"title", "text"}, TEXT_METRICS),
    ],
)
def test_fields_have_the_released_order_without_the_field_to_predict(
    tmp_path: Path, data: Path, task: str, hidden: set[str], metrics: list[str]
) -> None:
    asked = benchmark_session(data, f"{task}-cross")
    run = decoded_run(imported(tmp_path, asked), asked)
    _path, (row, *_), summary = next(written(write(run, asked, tmp_path / "out")))
    assert list(row) == HEAD
    told = {"parent_asin", "rating", "title", "text", "timestamp", "negative_parent_asins"}
    assert set(row["target_item"]) - {"item_meta"} == told - hidden
    assert row["num_memory_items"] == len(row["memory"]) > 0
    for remembered in row["memory"]:
        assert set(remembered) - {"item_meta"} == told - {"negative_parent_asins"} | {"domain_category"}
        assert remembered["domain_category"] != DOMAINS[0]
    times = [each["timestamp"] for each in row["memory"]]
    assert times == sorted(times)
    assert row["prompt"].startswith(f"[{task}] ")
    assert list(row["metrics"]) == metrics
    results = summary["results"]
    assert (results["setting"], results["target_domain"]) == ("cross_domain", DOMAINS[0])
    assert results["source_domains"] == "all_non_target"
    if task != "rating":
        assert [results[name] for name in NAMES] == [None, None, None]  # unknown, and not 0


def test_rankings_list_candidates_in_prompt_order_with_the_prompt(tmp_path: Path, data: Path) -> None:
    asked = benchmark_session(data, "ranking-single")
    run = run_system(find_system("bm25"), asked, RunOptions(results=tmp_path / "results"))
    _path, (row, *_), summary = next(written(write(decoded_run(run, asked), asked, tmp_path / "out")))
    assert set(row["target_item"]) == {"candidate_asins", "parent_asin"}
    assert row["ground_truth"] == row["target_item"]["parent_asin"]
    assert sorted(row["prediction"]) == sorted(row["target_item"]["candidate_asins"])
    shown = [row["prompt"].index(f"ID: {one}") for one in row["target_item"]["candidate_asins"]]
    assert shown == sorted(shown)
    assert row["prompt"].index(f"Title: {row['memory'][0]['title']}") < row["prompt"].index("[ranking] ") < shown[0]
    results = summary["results"]
    assert (results["method"], results["llm_model"], results["setting"]) == ("bm25", "habits@1", "single_domain")
    assert results["max_memory_items"] == run.run.track.limits.search_items
    assert (results["k_values"], results["skipped_no_negatives"]) == ([1, 3, 5], 0)
    assert list(row["metrics"]) == ["ndcg@1", "ndcg@3", "ndcg@5", "recall@1", "recall@3", "recall@5"]


def test_exported_metrics_match_the_released_code_and_add_strict_ones(tmp_path: Path, data: Path) -> None:
    asked = benchmark_session(data)
    path = tmp_path / "odd.py"
    path.write_text(ODD, encoding="utf-8")
    run = run_system(file_source(path), asked, RunOptions(results=tmp_path / "results"))
    files = write(decoded_run(run, asked), asked, tmp_path / "out")
    for _path, rows, summary in written(files):
        assert [row["llm_response"] for row in rows[:3]] == ["four stars", "", "4.5"]
        assert [row["prediction"] for row in rows[:3]] == [3.0, 3.0, 4.5]
        assert [row["parse_state"] for row in rows[:3]] == ["fallback", "llm_error", "ok"]
        assert ["error" in row for row in rows[:3]] == [False, True, False]
        errors = [abs(row["prediction"] - row["ground_truth"]) for row in rows]
        assert [row["metrics"] for row in rows] == [{"error": error} for error in errors]
        results, own = summary["results"], summary["memeval"]
        assert results["mae"] == pytest.approx(sum(errors) / len(errors), abs=1e-12)
        assert results["rmse"] == pytest.approx(math.sqrt(sum(e * e for e in errors) / len(errors)), abs=1e-12)
        kept = errors[2::3]
        assert own["strict"]["mae"] == pytest.approx(sum(kept) / len(kept), abs=1e-12)
        assert own["strict"]["fallback"] == pytest.approx(0.5)
        assert (own["planned"], own["errors"]) == (6, 2)
        assert own["by_user"]["mae"] == pytest.approx(results["mae"], abs=1e-12)  # everyone is asked three times
        remembered = {row["user_id"]: [one["rating"] for one in row["memory"]] for row in rows}
        ratings = [stars for own_stars in remembered.values() for stars in own_stars]
        assert own["global_mean"]["rating"] == pytest.approx(sum(ratings) / len(ratings), abs=1e-12)
        assert (results["users_processed"], results["users_skipped"]) == (2, 0)
        assert (results["method"], results["llm_model"], results["max_memory_items"]) == ("odd", "native", None)
    again = graded(tmp_path, tuple(lines(files)), "memorycd", asked, name="all.jsonl")
    assert again.run.scores.states == run.run.scores.states
    assert again.run.scores.states["adapter_error"] == 8


def test_a_file_of_one_domain_leaves_the_others_missing(tmp_path: Path, data: Path) -> None:
    asked = benchmark_session(data)
    run = decoded_run(imported(tmp_path, asked), asked)
    path, rows, summary = next(written(write(run, asked, tmp_path / "out")))
    alone, beside = tmp_path / "alone", tmp_path / "beside"
    alone.mkdir()
    beside.mkdir()
    run = graded(alone, tuple(rows), "memorycd", asked, name=path.name)
    assert run.run.system.name == "made-memorycd native"  # by the name of the file
    assert run.run.imported is not None
    assert run.run.imported.limits == {"num_test": 3}
    results = {"method": "rag", "llm_model": "openai/gpt-x", "num_test": 3, "max_memory_items": 10}
    name = path.name.removeprefix("predictions_").removesuffix(".jsonl")
    told = {"results": {**summary["results"], **results}}
    (beside / f"summary_{name}.json").write_text(json.dumps(told), encoding="utf-8")
    run = graded(beside, tuple(rows), "memorycd", asked, name=path.name)
    origin = run.run.imported
    assert origin is not None
    assert (len(origin.missing), origin.unknown) == (18, ())
    assert (run.run.system.name, origin.reader) == ("rag openai/gpt-x", "openai/gpt-x")
    assert origin.limits == {"num_test": 3, "max_memory_items": 10}
    (claim,) = origin.claims
    worth = sum(1 - row["metrics"]["error"] / 4 for row in rows) / len(rows)
    assert claim.score == pytest.approx(worth)
    assert claim.items == 6


def one(**other: Json) -> Json:
    """Return a prediction of a user who is not in the data."""
    target = {"parent_asin": "B000000001", "timestamp": 1500000000000}
    row = {"user_id": "SYNTH00009", "target_item": target, "llm_response": "4", "ground_truth": 5.0}
    return {**row, **other}


def opened(folder: Path, raw: bytes, asked: BenchmarkSession, name: str = "x.jsonl") -> Any:
    """Have bytes read as a file of predictions."""
    return read(AnswerFile(folder / name, raw, digest_bytes(raw)), asked)


def dumped(*rows: Json) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def test_other_users_and_products_are_unknown(tmp_path: Path, data: Path) -> None:
    asked = benchmark_session(data)
    run = graded(tmp_path, (made(asked)[0], one(), one()), "memorycd", asked, name="x.jsonl")
    assert run.run.imported is not None
    assert run.run.imported.unknown == ("?:SYNTH00009:B000000001",)


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        (one(user_id=7), "x.jsonl:2: 'user_id'"),
        (one(user_id=""), "x.jsonl:2: 'user_id'"),
        (one(target_item=None), "x.jsonl:2: 'target_item'"),
        (one(llm_response=[]), "x.jsonl:2: 'llm_response'"),
        (one(ground_truth="Great"), "x.jsonl:2: not a prediction of a rating"),
        (one(ground_truth=[5]), "x.jsonl:2: 'ground_truth"),
        (one(metrics={"error": 9}), "x.jsonl:2: 'metrics.error'"),
        (one(metrics={"error": -1}), "x.jsonl:2: 'metrics.error'"),
        (["row"], "x.jsonl:2: expected a JSON object"),
        (7, "x.jsonl:2: expected a JSON object"),
    ],
)
def test_what_is_no_prediction_is_refused(tmp_path: Path, data: Path, broken: Json, told: str) -> None:
    with pytest.raises(BadInput) as refused:
        opened(tmp_path, dumped(one(), broken), benchmark_session(data))
    assert told in str(refused.value)


def test_a_summary_that_is_none_is_refused(tmp_path: Path, data: Path) -> None:
    (tmp_path / "summary_x.json").write_text('{"results": {"num_test": "three"}}', encoding="utf-8")
    with pytest.raises(BadInput, match=r"summary_x\.json: 'results\.num_test'"):
        opened(tmp_path, dumped(one()), benchmark_session(data), "predictions_x.jsonl")


def test_a_prediction_that_is_there_twice_is_refused(tmp_path: Path, data: Path) -> None:
    row = made(benchmark_session(data))[0]
    with pytest.raises(BadInput, match=r"x\.jsonl:2: second prediction for user 'SYNTH00000' and this product"):
        opened(tmp_path, dumped(row, row), benchmark_session(data))


def test_answers_to_another_task_are_refused_by_their_name_or_their_shape(tmp_path: Path, data: Path) -> None:
    raw = dumped(*made(benchmark_session(data, "ranking-single")))
    name = "predictions_single_Books_item_ranking_rag_m_usersAll_mem10_test3_20261122_101500.jsonl"
    with pytest.raises(BadInput, match=r"says protocol 'ranking-single'.*--protocol ranking-single"):
        opened(tmp_path, raw, benchmark_session(data), name)
    for protocol, task in (("rating-single", "rating"), ("title-single", "title")):
        with pytest.raises(BadInput, match=f"not a prediction of a {task}"):
            opened(tmp_path, raw, benchmark_session(data, protocol))
    with pytest.raises(BadInput, match="not a prediction of a ranking"):
        opened(tmp_path, dumped(one()), benchmark_session(data, "ranking-single"))


def test_a_book_reviewed_twice_is_told_by_the_order_or_by_the_time(tmp_path: Path) -> None:
    (user,) = users(1, shortest=6, longest=6)
    for domain, reviews in user["interactions"].items():
        for number, each in enumerate(sorted(reviews, key=lambda each: each["timestamp"])):
            each["parent_asin"] = item_id(domain, 4 if domain == "Books" and number == 5 else number)
    asked = benchmark_session(write_data(tmp_path / "data", [user]))
    rows = made(asked)
    products = [row["target_item"]["parent_asin"] for row in rows]
    pair = [row for row in rows if products.count(row["target_item"]["parent_asin"]) == 2]
    names = ["single:Books:SYNTH00000:2", "single:Books:SYNTH00000:3"]
    assert [answer.question_id for answer in opened(tmp_path, dumped(*pair), asked).answers] == names
    in_seconds = {**pair[1]["target_item"], "timestamp": pair[1]["target_item"]["timestamp"] / 1000}
    for target in (pair[1]["target_item"], in_seconds):
        (answer,) = opened(tmp_path, dumped({**pair[1], "target_item": target}), asked).answers
        assert answer.question_id == names[1]
    bare = {**pair[1], "target_item": {"parent_asin": in_seconds["parent_asin"]}}
    with pytest.raises(BadInput, match="reviewed this product 2 times, so the match is ambiguous"):
        opened(tmp_path, dumped(bare), asked)


def test_the_data_is_needed_and_must_be_memorycds(tmp_path: Path, data: Path) -> None:
    run = imported(tmp_path, benchmark_session(data))
    with pytest.raises(BadInput, match="needs the data of memorycd@1"):
        write(run, None, tmp_path / "out")
    with pytest.raises(BadInput, match="not MemoryCD data"):
        write(run, locomo_exam(), tmp_path / "out")
    with pytest.raises(BadInput, match="not MemoryCD data"):
        opened(tmp_path, dumped(one()), locomo_exam())


NAMES_OF_RUNS = st.builds(
    RunName,
    cross=st.just(False),
    domain=st.sampled_from(DOMAINS),
    sources=st.none(),
    task=st.sampled_from(MemoryCDTask),
    method=st.sampled_from(["rag", "long_context", "full-context"]),
    model=st.from_regex(r"[a-z0-9.-]{1,20}(_[a-z0-9.-]{1,20})?", fullmatch=True),
    users=st.none() | st.integers(1, 999),
    memory=st.none() | st.integers(1, 999),
    tests=st.integers(1, 9),
    at=st.just("20261122_101500"),
)


@given(NAMES_OF_RUNS, st.none() | st.sets(st.sampled_from(DOMAINS), min_size=1))
def test_names_of_runs_are_read_back(name: RunName, sources: set[str] | None) -> None:
    if sources is not None:
        name = RunName(**{**vars(name), "cross": True, "sources": sources_name(tuple(sources))})
    assert RunName.parsed(str(name)) == name


@pytest.mark.parametrize(
    ("text", "of"),
    [
        (
            "single_Books_rating_prediction_rag_openai_gpt-5_usersAll_mem10_test3_20261122_101500",
            ("rating-single", "Books", "rag", "openai_gpt-5", 10),
        ),
        (
            "cross_Home_and_Kitchen_srcBBoE_item_ranking_long_context_gpt-5_users5_memAll_test3_20261122_101500",
            ("ranking-cross", "Home_and_Kitchen", "long_context", "gpt-5", None),
        ),
    ],
)
def test_names_of_the_released_code_are_read(text: str, of: tuple[object, ...]) -> None:
    name = RunName.parsed(text)
    assert name is not None
    assert (name.protocol, name.domain, name.method, name.model, name.memory) == of
    assert str(name) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "single_Books_srcAll_rating_prediction_rag_m_usersAll_memAll_test3_20261122_101500",
        "cross_Books_rating_prediction_rag_m_usersAll_memAll_test3_20261122_101500",
        "single_Books_rating_prediction_rag_" + "m_users" * 10_000,
    ],
)
def test_other_names_say_nothing(text: str) -> None:
    assert RunName.parsed(text) is None


FAKE = """
class Mean:
    def __init__(self, value):
        self.value = value

    def mean(self):
        return self.value


def score(predictions, references, lang, verbose, device):
    import os
    assert (lang, device, os.environ["HF_HUB_OFFLINE"]) == ("en", "cpu", "1")
    print("loading a model")
    if "broken" in predictions:
        raise OSError("there is no model")
    return Mean(0.25), Mean(0.5), Mean(len(predictions) / 10)
"""


def test_bertscore_is_computed_offline_and_none_if_it_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bert_score.py").write_text(FAKE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH")))))
    assert bert_scores(["a", "b"], ["c", "d"]) == dict(zip(NAMES, (0.25, 0.5, 0.2), strict=True))
    assert bert_scores(["broken"], ["c"]) == dict.fromkeys(NAMES)
    assert bert_scores([], []) == dict.fromkeys(NAMES)
