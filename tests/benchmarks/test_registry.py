"""Finding benchmarks by name."""

import subprocess
import sys

import pytest

from memeval.benchmarks import BENCHMARKS, all_benchmarks, find
from memeval.records.errors import BadInput

NAMES = [each.partition("@")[0] for each in BENCHMARKS]


def test_a_benchmark_is_found_by_name_and_by_id() -> None:
    for benchmark in all_benchmarks():
        assert find(benchmark.info.name).info == find(benchmark.info.id).info == benchmark.info
    assert {benchmark.info.id for benchmark in all_benchmarks()} >= {"beliefs@1", "deepmemeval@1"}


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("deepmemevil", "unknown benchmark 'deepmemevil'. Did you mean 'deepmemeval'?"),
        ("Beliefs", "unknown benchmark 'Beliefs'. Did you mean 'beliefs'?"),
        ("beliefs@9", "beliefs has no version '9'. This memeval has beliefs@1."),
        ("xyzzy", f"unknown benchmark 'xyzzy'. Choose one of: {', '.join(NAMES)}."),
    ],
)
def test_an_unknown_name_is_refused_with_a_hint(name: str, sentence: str) -> None:
    with pytest.raises(BadInput) as caught:
        find(name)
    assert str(caught.value) == sentence


def test_no_benchmark_is_imported_before_it_is_asked_for() -> None:
    code = "import sys, memeval.benchmarks; print([m for m in sys.modules if m.startswith('memeval.benchmarks.')])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
