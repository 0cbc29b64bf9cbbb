"""Suites on a live object, and the figures of a suite."""

import asyncio
import json
from inspect import getsource
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memeval
from memeval.analysis.suite_metrics import interpolated_percentile, metrics_of_rows, metrics_of_run
from memeval.evaluation.run.live import SuiteOptions
from memeval.records.errors import BadInput, NotApplicable
from memeval.records.evalresult import EvalMetrics, EvalResult

SUITE = """
name: pantry
version: 1
retain:
  - {id: tin, content: "The flour is in the blue tin.", tags: [kitchen], occurred_at: 2025-01-15, fact_type: world}
  - {id: light, content: "Ravi mended the cellar light.", tags: [house], occurred_at: 2025-02-15, metadata: {floor: -1}}
  - {id: boat, content: "The boat is called Petrel.", bank: harbour, occurred_at: 2025-03-01}
recall:
  - {id: q1, query: "Where is the flour in the tin?", expected_ids: [tin], tags: [kitchen]}
  - {id: q2, query: "Who plays tuba?", expected_absent: true}
  - {id: q3, query: "Which boat is called so?", expected_ids: [boat], bank: harbour}
  - {id: q4, query: "Where is the light?", expected_ids: [light], time_range: [2025-02-01, 2025-03-01]}
reflect:
  - {id: f1, query: "Which boat is called so?", bank: harbour, expected_topics: [Petrel], forbidden: [Albatross]}
"""


class Shelf:
    """An object with banks and an asynchronous search, which records its calls."""

    def __init__(self, *, leaks: bool = False, keeps: bool = False) -> None:
        self.leaks, self.keeps = leaks, keeps
        self.kept: dict[str, list[dict[str, Any]]] = {}
        self.called: list[str] = []

    def retain(
        self, content: str, bank_id: str, id: str, occurred_at: str, tags: list[str] | None = None, fact_type: str = ""
    ) -> None:
        self.called.append("retain")
        self.kept.setdefault(bank_id, []).append({"text": content, "id": id, "at": occurred_at, "tags": tags or ()})

    def settle(self, timeout: float) -> bool:
        self.called.append("settle")
        return True

    async def recall(
        self,
        query: str,
        bank_id: str,
        max_results: int = 10,
        tags: list[str] | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> list[dict[str, Any]]:
        self.called.append("recall")
        await asyncio.sleep(0)
        asked = set(query.lower().strip("?").split())
        found = []
        for one in self.kept.get(bank_id, []):
            score = len(asked & set(one["text"].lower().strip(".").split()))
            passes = self.leaks or (
                (not tags or set(tags) & set(one["tags"])) and (not since or since <= one["at"] < str(until))
            )
            if score and passes:
                found.append({"text": one["text"], "source_ids": [one["id"]], "score": score})
        return sorted(found, key=lambda one: -one["score"])[:max_results]

    async def reflect(self, query: str, bank_id: str) -> str:
        self.called.append("reflect")
        return " ".join(one["text"] for one in await self.recall(query, bank_id))

    def forget(self, bank_id: str) -> int:
        self.called.append("forget")
        return 0 if self.keeps else len(self.kept.pop(bank_id, []))

    def reset(self) -> None:
        raise AssertionError("a live object is never emptied")

    def close(self) -> None:
        raise AssertionError("a live object is never closed")


RESETTABLE = """

class Adapter(Shelf):
    def reset(self):
        self.kept = {}

    def close(self):
        pass

    def search(self, query, k):
        return []
"""
"""The methods that make the same object an adapter."""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A small suite of two banks."""
    path = tmp_path / "pantry.yaml"
    path.write_text(SUITE, "utf-8")
    return path


class TestRunSuite:
    def test_uses_only_the_named_bank_for_all_operations(self, suite: Path) -> None:
        shelf = Shelf()
        shelf.kept["mine"] = [{"text": "The flour is gone.", "id": "x", "at": "2025-01-01"}]
        result = memeval.run_suite(shelf, suite, "trial")
        phases = list(dict.fromkeys(each for each in shelf.called if each != "recall"))
        assert phases == ["retain", "settle", "reflect", "forget"]
        assert list(shelf.kept) == ["mine"]
        assert result.notes == ()
        assert {hit.bank_id for query in result.per_query_results for hit in query.actual} == {"trial", "trial-harbour"}

    def test_reports_found_and_expected_texts_for_every_question(self, suite: Path) -> None:
        results = {each.id: each for each in memeval.run_suite(Shelf(), suite).per_query_results}
        assert list(results) == ["q1", "q2", "q3", "q4", "f1"]
        (hit,) = results["q4"].actual
        assert (hit.memory_id, hit.tags, hit.metadata, hit.bank_id) == ("light", ("house",), {"floor": -1}, "eval-test")
        assert (results["q4"].expected_ids, results["q4"].hit_ids, results["q4"].relevant_found) == (
            ("light",),
            ("light",),
            1,
        )
        assert (results["q4"].ndcg, results["q4"].reciprocal_rank, results["q4"].precision) == (1.0, 1.0, 1.0)
        assert results["q2"].actual == () and results["q2"].ndcg is None and results["q2"].state == "graded"
        assert results["f1"].answer == "The boat is called Petrel." and results["f1"].expected == ("Petrel",)

    def test_has_all_documented_figures(self, suite: Path, tmp_path: Path) -> None:
        out = tmp_path / "result.json"
        result = memeval.run_suite(Shelf(), suite, options=SuiteOptions(out=out, provider="shelf"))
        metrics = result.metrics
        assert (metrics.recall_ndcg, metrics.true_rejection_rate, metrics.filter_leak_rate) == (1.0, 1.0, 0.0)
        assert (metrics.reflect_accuracy, metrics.reflect_hallucination_rate) == (1.0, 0.0)
        assert metrics.recall_reflect_gap is not None and metrics.recall_reflect_gap.both_hit == 1
        assert (metrics.failed_retain_count, metrics.isolation_violations, metrics.error_count_by_type) == (0, 0, {})
        assert metrics.retain_latency_p50_ms is not None and metrics.reflect_latency_p99_ms is not None
        written = json.loads(out.read_text("utf-8"))
        assert set(written["metrics"]) == set(EvalMetrics.model_fields)
        assert written["metrics"]["total_tokens_used"] is None and written["provider"] == "shelf"
        assert EvalResult.model_validate_json(out.read_text("utf-8")) == result

    def test_finds_a_filter_that_leaks(self, suite: Path) -> None:
        result = memeval.run_suite(Shelf(leaks=True), suite)
        (first,) = [each for each in result.per_query_results if each.id == "q1"]
        assert result.metrics.filter_leak_rate is not None and result.metrics.filter_leak_rate > 0
        assert first.reason is not None and "do not pass the filter" in first.reason

    def test_reports_a_bank_that_still_has_texts_after_forget(self, suite: Path) -> None:
        notes = memeval.run_suite(Shelf(keeps=True), suite).notes
        assert notes == tuple(
            f"The bank '{bank}' was forgotten, but a search still finds its texts."
            for bank in ("eval-test", "eval-test-harbour")
        )

    def test_says_so_where_forgetting_fails_or_is_not_there(self, suite: Path) -> None:
        class Stubborn(Shelf):
            def forget(self, bank_id: str) -> int:
                raise PermissionError("read only")

        class Forever(Shelf):
            forget = None  # type: ignore[assignment]

        first, *_ = memeval.run_suite(Stubborn(), suite).notes
        assert first == "The bank 'eval-test' was not forgotten: forget raised PermissionError: read only."
        (note,) = memeval.run_suite(Forever(), suite).notes
        assert note.startswith("No bank was forgotten: there is no 'forget'.")

    def test_keeps_the_bank_on_request_and_then_refuses_to_reuse_it(self, suite: Path) -> None:
        shelf = Shelf()
        memeval.run_suite(shelf, suite, clean_after=False)
        assert set(shelf.kept) == {"eval-test", "eval-test-harbour"}
        with pytest.raises(BadInput, match="is not empty"):
            memeval.run_suite(shelf, suite)

    def test_forgets_what_was_retained_where_the_run_is_interrupted(self, suite: Path) -> None:
        class Interrupted(Shelf):
            def settle(self, timeout: float) -> bool:
                raise KeyboardInterrupt

        shelf = Interrupted()
        with pytest.raises(KeyboardInterrupt):
            memeval.run_suite(shelf, suite)
        assert shelf.kept == {}

    def test_counts_a_failing_object_as_failing_and_not_as_wrong(self, suite: Path) -> None:
        class Broken(Shelf):
            async def reflect(self, query: str, bank_id: str) -> str:
                raise RuntimeError("no model")

        class Refusing(Shelf):
            def retain(self, content: str, bank_id: str) -> None:  # type: ignore[override]
                raise RuntimeError("full")

        metrics = memeval.run_suite(Broken(), suite).metrics
        assert metrics.error_count_by_type == {"adapter_error": 1} and metrics.reflect_accuracy is None
        metrics = memeval.run_suite(Refusing(), suite).metrics
        assert metrics.failed_retain_count == 1 and metrics.error_count_by_type == {"adapter_error": 5}

    def test_runs_what_is_built_in_by_name(self) -> None:
        assert len(memeval.run_suite(Shelf(), "basic").per_query_results) == 22
        with pytest.raises(BadInput, match="no suite 'basics'") as refused:
            memeval.run_suite(Shelf(), "basics")
        assert "basic, accuracy, reflect, stress" in str(refused.value.remedy)

    def test_skips_reflections_without_reflect_and_refuses_a_suite_of_reflections(self) -> None:
        class Searching(Shelf):
            reflect = None  # type: ignore[assignment]

        assert len(memeval.run_suite(Searching(), "basic").per_query_results) == 20
        with pytest.raises(NotApplicable, match="reflect"):
            memeval.run_suite(Searching(), "reflect")

    def test_refuses_an_object_without_banks_and_invalid_bank_ids(self, suite: Path) -> None:
        class Bankless(Shelf):
            def retain(self, content: str) -> None:  # type: ignore[override]
                raise AssertionError

        with pytest.raises(BadInput, match="accepts no bank"):
            memeval.run_suite(Bankless(), suite)
        for name in ("", "a b", "x" * 101, "a/b"):
            with pytest.raises(BadInput, match="is not a valid bank id"):
                memeval.run_suite(Shelf(), suite, name)
        with pytest.raises(BadInput, match="provider tier"):
            memeval.run_suite(Shelf(), suite, options=SuiteOptions(provider_tier="cloud"))

    def test_refuses_to_run_in_an_event_loop_but_runs_in_a_thread(self, suite: Path) -> None:
        async def inside() -> EvalResult:
            with pytest.raises(BadInput, match="running event loop"):
                memeval.run_suite(Shelf(), suite)
            return await asyncio.to_thread(memeval.run_suite, Shelf(), suite)

        assert asyncio.run(inside()).metrics.recall_ndcg == 1.0

    def test_keeps_the_set_up_without_secrets(self, suite: Path) -> None:
        config = {"api_key": "abc", "model": "m", "max_tokens": 5, "db": {"password": "x", "url": "pg://u:p@host/db"}}
        kept = memeval.run_suite(Shelf(), suite, options=SuiteOptions(config=config)).config_snapshot
        assert kept["config"] == {
            "api_key": "[secret]",
            "model": "m",
            "max_tokens": 5,
            "db": {"password": "[secret]", "url": "pg://[secret]@host/db"},
        }
        assert kept["bank_id"] == "eval-test"


class TestFigures:
    def test_agree_with_a_stored_run_of_the_same_suite(self, suite: Path, tmp_path: Path) -> None:
        adapter = tmp_path / "adapter.py"
        adapter.write_text(
            f"from __future__ import annotations\nimport asyncio\n{getsource(Shelf)}{RESETTABLE}", "utf-8"
        )
        options = memeval.RunOptions(results=tmp_path / "results", protocol="recall")
        (folder,) = memeval.run(f"{adapter}:Adapter", "astrocyte-suite@1", data=suite, options=options)
        stored = metrics_of_run(folder)
        assert (stored.recall_ndcg, stored.true_rejection_rate, stored.filter_leak_rate) == (1.0, 1.0, 0.0)
        assert stored.retain_latency_p95_ms is not None and stored.failed_retain_count is None

    def test_figures_of_no_rows_are_none(self) -> None:
        figures = metrics_of_rows([], []).model_dump()
        assert figures.pop("error_count_by_type") == {}
        assert set(figures.values()) == {None}


class TestPercentile:
    @pytest.mark.parametrize(
        ("values", "p", "expected"),
        [
            ([10, 20, 30, 40], 50, 25.0),
            ([10, 20, 30, 40], 95, 38.5),
            ([5], 99, 5.0),
            (range(1, 101), 95, 95.05),
            ([40, 10, 30, 20], 0, 10.0),
            ([40, 10, 30, 20], 100, 40.0),
            ([], 50, None),
        ],
    )
    def test_has_the_values_of_astrocytes_own(self, values: Any, p: float, expected: float | None) -> None:
        assert interpolated_percentile(list(values), p) == pytest.approx(expected)

    @pytest.mark.parametrize("p", [-0.1, 100.1, float("nan")])
    def test_refuses_what_is_no_percentile(self, p: float) -> None:
        with pytest.raises(ValueError, match="between 0 and 100"):
            interpolated_percentile([1.0], p)

    @given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.floats(0, 100))
    def test_lies_between_the_least_and_the_most(self, values: list[float], p: float) -> None:
        found = interpolated_percentile(values, p)
        assert found is not None and min(values) - 1e-6 <= found <= max(values) + 1e-6
