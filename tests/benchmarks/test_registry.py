"""Finding benchmarks by name."""

import ast
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memeval import api
from memeval.benchmarks import all_benchmarks, find, known_ids, quick_benchmark, registry
from memeval.benchmarks.base import Benchmark
from memeval.benchmarks.session import session_of_run
from memeval.records.benchmark import ChartInfo, ChartKind, PublishedValue
from memeval.records.errors import BadInput
from memeval.removed import why_removed
from tests.support.registered import Distribution, Entry, register
from tests.support.runs import make_run, make_track
from tests.support.tiny import TinyBenchmark

NAMES = list(dict.fromkeys(each.partition("@")[0] for each in known_ids()))


def test_a_benchmark_is_found_by_its_id_and_the_newest_by_its_name() -> None:
    for benchmark in all_benchmarks():
        assert find(benchmark.info.id).info == benchmark.info
        assert find(benchmark.info.name).info.name == benchmark.info.name
    assert find("beliefs").info.id == "beliefs@2"
    assert {benchmark.info.id for benchmark in all_benchmarks()} >= {"beliefs@2", "deepmemeval@1"}


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("deepmemevil", "unknown benchmark 'deepmemevil'. Did you mean 'deepmemeval'?"),
        ("Beliefs", "unknown benchmark 'Beliefs'. Did you mean 'beliefs'?"),
        ("beliefs@9", "beliefs has no version '9'. This memeval has beliefs@2."),
        ("beliefs@1", why_removed("beliefs@1")),
        ("beliefs-fresh-202612@1", why_removed("beliefs-fresh-202612@1")),
        ("xyzzy", f"unknown benchmark 'xyzzy'. Choose one of: {', '.join(NAMES)}."),
    ],
)
def test_an_unknown_name_is_refused_with_a_hint(name: str, sentence: str) -> None:
    with pytest.raises(BadInput) as caught:
        find(name)
    assert str(caught.value) == sentence


def test_no_benchmark_is_imported_before_it_is_asked_for() -> None:
    code = "import sys; from memeval.benchmarks import known_ids; known_ids(); print([*sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = {name for name in ast.literal_eval(out.stdout) if name.startswith("memeval.benchmarks.")}
    assert imported == {"memeval.benchmarks.registry"}


def test_the_order_of_boards_is_that_of_the_catalogues() -> None:
    ids = [benchmark.info.id for benchmark in all_benchmarks()]
    assert ids[:3] == ["beliefs@2", "beliefs-fresh-202701@2", "lifecycle@1"]
    names = [each.partition("@")[0] for each in ids]
    assert names.index("deepmemeval") < names.index("locomo") < names.index("longmemeval") < names.index("qa-smoke")


class Broken(TinyBenchmark):
    """A benchmark with one fault."""

    def __init__(self, **changes: Any) -> None:
        super().__init__(2)
        self.info = self.info.model_copy(update={"id": "foreign@1", **changes})


def unbalanced() -> Broken:
    """Return a benchmark whose weights sum to 0.5."""
    broken = Broken()
    broken.categories = tuple(replace(each, weight=0.5 / len(broken.categories)) for each in broken.categories)
    return broken


def half_weighted() -> Broken:
    """Return a benchmark with a weight for one category only."""
    broken = Broken()
    first, *others = broken.categories
    broken.categories = (first, *(replace(each, weight=None) for each in others))
    return broken


def without_prompts() -> Broken:
    """Return a benchmark that names its own package for prompts and has none."""
    broken = Broken()
    broken.prompts = broken.__module__.rpartition(".")[0]
    return broken


def without_info() -> Broken:
    """Return a benchmark without a catalogue."""
    broken = Broken()
    del broken.info
    return broken


OUTSIDE = PublishedValue(name="Theirs", value=0.5, at="9x")
CHART = ChartInfo(name="beside", title="Beside others", meaning="The scores.", kind=ChartKind.BARS)


def with_chart(**changes: Any) -> Callable[[], Benchmark]:
    """Return a factory of a benchmark with a chart that has these fields."""
    return partial(Broken, charts=(CHART.model_copy(update=changes),))


def line(**changes: Any) -> Callable[[], Benchmark]:
    """Return a factory of a benchmark with a line over a slice that has these fields."""
    return with_chart(kind=ChartKind.LINE, slice="size", values=("1x", "2x"), **changes)


def raises(error: BaseException) -> Callable[[], Benchmark]:
    """Return a factory that fails."""

    def make() -> Benchmark:
        raise error

    return make


@pytest.mark.parametrize(
    ("factory", "says"),
    [
        (raises(ImportError("No module named 'torch'")), r"fails \(ImportError: No module named 'torch'\)"),
        (raises(SystemExit(3)), r"fails \(SystemExit: 3\)"),
        (raises(BadInput("it is empty.", where="a.toml:3", remedy="Fill it.")), "a.toml:3: it is empty. Fill it."),
        (object, "gives object, and not a Benchmark"),
        (without_info, "has no catalogue"),
        (partial(Broken, id="other@1"), "its catalogue says other@1"),
        (partial(Broken, licence=" "), "names no licence"),
        (unbalanced, "the weights of the protocol 'judge' sum to 0.5"),
        (half_weighted, "some categories of the protocol 'judge' have a weight, and others have none"),
        (without_prompts, "has no folder 'prompts'"),
        (partial(Broken, charts=(CHART, CHART)), "two charts have the name 'beside'"),
        (with_chart(name="Not A Name"), "the chart 'Not A Name' needs another name"),
        (with_chart(meaning=" "), "the chart 'beside' has no meaning"),
        (with_chart(protocol="f9"), "names the unknown protocol 'f9'. Choose one of: judge"),
        (with_chart(metric="charm"), "names the unknown metric 'charm'"),
        (with_chart(kind=ChartKind.LINE), "is a line without 'slice' and two 'values'"),
        (with_chart(slice="size", values=("1x", "2x")), "has bars over a slice"),
        (with_chart(published=(PublishedValue(name="Theirs", value=0.5),)), "published values without an origin"),
        (line(category="charm"), "names the unknown category 'charm'"),
        (line(metric="accuracy"), "is a line with a metric"),
        (line(published=(OUTSIDE,), origin="A paper."), "has published values outside its axis: Theirs"),
    ],
)
def test_a_benchmark_that_cannot_be_used_is_named_and_the_others_work(
    monkeypatch: pytest.MonkeyPatch, factory: Callable[[], Any], says: str
) -> None:
    entry = Entry("foreign@1", factory, Distribution("memeval-foreign", "0.3"))
    usual = registry._entries()
    monkeypatch.setattr(registry, "_problems", {})
    monkeypatch.setattr(registry, "_entries", lambda: {**usual, "foreign@1": entry})
    assert {each.info.id for each in all_benchmarks()} == usual.keys()
    (problem,) = registry.problems()
    assert re.search(f"the benchmark foreign@1 of memeval-foreign 0.3 cannot be used: .*{says}", str(problem))
    assert problem.remedy
    with pytest.raises(registry.BrokenBenchmark):
        find("foreign")


@pytest.mark.parametrize("taken", ["locomo@1", "locomo@2"])
def test_the_name_of_another_benchmark_cannot_be_taken(monkeypatch: pytest.MonkeyPatch, taken: str) -> None:
    mine = Entry("locomo@1", TinyBenchmark, value="memeval:x")
    other = Entry(taken, TinyBenchmark, Distribution("a-stranger", "2"), value="stranger:x")
    monkeypatch.setattr(registry, "_problems", {})
    monkeypatch.setattr(registry, "entry_points", lambda group: [other, mine])
    registry._entries.cache_clear()
    try:
        assert registry._entries() == {"locomo@1": mine}
    finally:
        registry._entries.cache_clear()
    (problem,) = registry.problems()
    assert f"{taken} of a-stranger 2 cannot be used" in str(problem)
    assert "memeval-leaderboard 1.0 already has the benchmark locomo@1" in str(problem)


def test_each_version_of_a_package_is_found_by_its_id(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = {name: Entry(name, partial(Broken, id=name)) for name in ("foreign@1", "foreign@2")}
    monkeypatch.setattr(registry, "_entries", lambda: entries)
    assert [find(name).info.id for name in (*entries, "foreign")] == [*entries, "foreign@2"]


def test_a_folder_without_an_entry_point_is_an_old_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, {"tiny@1": TinyBenchmark}, only=True)
    with pytest.raises(BadInput, match=r"locomo is newer than this installation of memeval\. Install memeval again"):
        find("locomo@1")
    with pytest.raises(BadInput, match="unknown benchmark 'formats'"):
        find("formats")


@pytest.mark.parametrize(
    ("benchmark", "packages", "remedy"),
    [
        ("foreign@1", {"pydantic": "2", "memeval-foreign": "0.3"}, "If you trust it: pip install memeval-foreign==0.3"),
        ("foreign@1", {"pydantic": "2"}, "Install the package that has it."),
        ("foreign@1", {"memeval-foreign": "0.3; reboot"}, "Install the package that has it."),
        ("foreign@1", {"--index-url=x": "1"}, "Install the package that has it."),
        ("locomo@1", {}, registry.REINSTALL),
    ],
)
def test_a_run_on_a_benchmark_that_is_not_installed_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, benchmark: str, packages: dict[str, str], remedy: str
) -> None:
    register(monkeypatch, {"tiny@1": TinyBenchmark}, only=True)
    run: Any = SimpleNamespace(track=SimpleNamespace(benchmark=benchmark), harness=SimpleNamespace(packages=packages))
    problem = registry.not_installed(run)
    assert problem is not None and problem.remedy == remedy
    run.track.benchmark = "tiny@1"
    assert registry.not_installed(run) is None


def test_a_run_on_a_removed_benchmark_says_why(tmp_path: Path) -> None:
    folder = make_run(tmp_path, "acme", track=make_track(benchmark="beliefs@1"))
    checks = {each.name: each for each in api.verify_checks(tmp_path)}
    assert [each.problem for each in checks["track"].findings] == [why_removed("beliefs@1")]
    assert all(each.not_checked for each in checks.values() if each.name != "track")
    with pytest.raises(BadInput) as caught:
        session_of_run(folder.run)
    assert caught.value.problem == why_removed("beliefs@1")


def test_an_old_installation_without_benchmarks_is_told_to_install_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "entry_points", lambda group: [])
    registry._entries.cache_clear()
    with pytest.raises(BadInput, match=r"no benchmark is installed\. Install memeval again"):
        known_ids()


def test_a_quick_check_needs_no_data_and_has_items_of_each_category() -> None:
    quick = quick_benchmark()
    assert quick.info.generated and quick.available()
    keys = list(quick.open(None, quick.info.quick).answer_keys())
    assert {key.category for key in keys} == {category.name for category in quick.info.categories}
    assert len(keys) == 12


def test_without_a_quick_benchmark_the_reason_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_entries", lambda: {"tiny@1": Entry("tiny@1", TinyBenchmark)})
    with pytest.raises(BadInput, match="no installed benchmark suits a quick check"):
        quick_benchmark()
