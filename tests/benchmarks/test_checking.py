"""Checks of the items of a benchmark, before a run and by ``memeval data verify``."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import pytest

from memeval.benchmarks import find
from memeval.benchmarks.checking import check_counts, check_prompts
from memeval.benchmarks.registry import BrokenBenchmark
from memeval.benchmarks.session import BenchmarkSession
from memeval.keys import AnswerKey, ItemKey
from memeval.records.benchmark import CategoryInfo
from tests.support.tiny import TinyBenchmark


class Changed(TinyBenchmark):
    """A benchmark whose items have other fields."""

    def __init__(self, **changes: Any) -> None:
        super().__init__(4)
        self._changes = changes

    def asked(self, keys: Any, protocol: str) -> tuple[ItemKey, ...]:
        """See :class:`Benchmark`."""
        return tuple(key.model_copy(update=self._changes) for key in keys)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"item_id": "one"}, "two items have the id 'one'. Give each item an id of its own."),
        ({"category": "nera"}, "has the unknown category 'nera'. Choose one of: far, near."),
    ],
)
def test_items_that_no_run_could_grade_are_refused_before_it(changes: dict[str, str], says: str) -> None:
    with pytest.raises(BrokenBenchmark, match="the benchmark tiny@1 cannot be used: ") as caught:
        BenchmarkSession.open(Changed(**changes)).track(reader=None, limits=None)  # type: ignore[arg-type]
    assert says in str(caught.value)


class Written(AnswerKey):
    """A key with a prompt in a package that lacks it, or has it with another placeholder."""

    prompts = "promptless"
    kind: Literal["written"] = "written"

    @property
    def prompt(self) -> str:
        """See :class:`AnswerKey`."""
        return self.kind

    @property
    def references(self) -> tuple[str, ...]:
        """See :class:`AnswerKey`."""
        return ("Lima",)

    @property
    def shown(self) -> Mapping[str, str]:
        """See :class:`AnswerKey`."""
        return {"reference": "Lima"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "promptless has no judge prompt 'written'. Add the file"),
        ("{question} {referense} {answer}", "judge/written: unknown placeholder {referense}. Placeholders of"),
    ],
)
def test_a_prompt_that_a_model_judge_would_miss_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None, says: str
) -> None:
    (tmp_path / "promptless" / "prompts").mkdir(parents=True)
    (tmp_path / "promptless" / "__init__.py").touch()
    if text is not None:
        (tmp_path / "promptless" / "prompts" / "written.txt").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "promptless", raising=False)
    benchmark = Changed(key=Written())
    with pytest.raises(BrokenBenchmark, match="the benchmark tiny@1 cannot be used") as caught:
        check_prompts(benchmark, benchmark.table("judge"), BenchmarkSession.open(benchmark).keys)
    assert says in str(caught.value)


@pytest.mark.parametrize("name", ["astrocyte-reflect@1", "beliefs@2", "lifecycle@1", "qa-smoke@1"])
def test_an_included_benchmark_has_the_items_and_prompts_that_it_says(name: str) -> None:
    benchmark = find(name)
    session = BenchmarkSession.open(benchmark)
    check_prompts(benchmark, benchmark.table(session.protocol, session.tier), session.keys)
    check_counts(benchmark.info, session.dataset.answer_keys())


@pytest.mark.parametrize(("stated", "is_refused"), [(2, False), (3, True), (0, False)])
def test_a_catalogue_that_counts_other_items_is_refused(stated: int, is_refused: bool) -> None:
    benchmark = TinyBenchmark(4)
    near = CategoryInfo(name="near", title="Near", weight=1.0, items=stated, tests="Cities.", graded="By name.")
    info = benchmark.info.model_copy(update={"categories": (near,)})
    keys = BenchmarkSession.open(benchmark).keys
    if is_refused:
        with pytest.raises(BrokenBenchmark, match=r"says 3 items in 'near', and its data has 2. Write items = 2."):
            check_counts(info, keys)
    else:
        check_counts(info, keys)
