"""What benchmarks say of themselves, as data."""

import gzip
import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Literal

import pytest

from memeval.benchmarks import all_benchmarks
from memeval.benchmarks.base import Benchmark
from memeval.benchmarks.catalogue import check_slices, load
from memeval.benchmarks.checking import check_counts, check_prompts
from memeval.benchmarks.errata import read_errata
from memeval.benchmarks.registry import BrokenBenchmark
from memeval.benchmarks.session import BenchmarkSession
from memeval.keys import AnswerKey, ItemKey
from memeval.records.benchmark import CategoryInfo, ChartInfo, ChartKind
from memeval.records.errors import BadInput
from tests.support.tiny import TinyBenchmark

WHOLE = """
id = "tiny@1"
title = "Tiny"
summary = "Nothing."
made = "By hand."
licence = "MIT"
redistribution = "full"
protocols = [{ name = "judge", title = "Judge", summary = "Asked.", headline = "accuracy" }]
tiers = [{ name = "full", items = 1, how = "All." }]
categories = [{ name = "one", title = "One", items = 1, tests = "One.", graded = "By hand." }]
"""

CHARTED = f"""{WHOLE}
[[charts]]
name = "all"
title = "All"
meaning = "All."
kind = "bars"
published = [{{ name = "Theirs", value = 0.5 }}]
origin = "A paper."
"""

EVERY = pytest.mark.parametrize("benchmark", all_benchmarks(), ids=lambda each: str(each.info.id))


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Callable[[bytes], str]:
    """Return a function that makes a package with a catalogue, and gives its name."""

    def make(text: bytes) -> str:
        name = f"catalogue_of_{abs(hash(request.node.name))}"
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
        (tmp_path / name / "catalogue.toml").write_bytes(text)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, name, raising=False)
        return name

    return make


@EVERY
def test_a_risk_is_a_question_that_no_answers_well(benchmark: Benchmark) -> None:
    for each in benchmark.info.every_category:
        assert each.risk is None or re.fullmatch(r"(Is|Are|Do|Does|After|If|When|With) .*\?", each.risk), each.risk
        assert each.risk is None or not re.search(r"\b(finds?|found as soon|can)\b", each.risk, re.IGNORECASE), (
            each.risk
        )


@EVERY
def test_a_catalogue_is_whole(benchmark: Benchmark) -> None:
    info = benchmark.info
    assert info.protocols and info.tiers and info.metrics and info.summary and info.made and info.licence
    first, *others = info.tiers
    assert (first.name == "full" or first.tokens) and first.items == info.items
    assert all(tier.items <= info.items or tier.tokens != first.tokens for tier in others)
    assert sum(category.weight or 0.0 for category in info.categories) in (0, pytest.approx(1.0))
    assert len({source.filename for source in info.sources}) == len({s.name for s in info.sources}) == len(info.sources)
    names = [category.name for category in info.categories]
    assert [category.name for category in benchmark.categories] == names == list(dict.fromkeys(names))
    metrics = [metric.name for metric in info.metrics]
    assert len(set(metrics)) == len(metrics)
    headlines = [protocol.headline for protocol in info.protocols]
    assert all({name, re.sub(r"@\d+$", "@k", name)} & set(metrics) for name in headlines)
    for protocol in info.protocols:
        assert set(protocol.apart) <= {category.name for category in protocol.categories or info.categories}
    assert all(metric.low is None or metric.high is None or metric.low < metric.high for metric in info.metrics)


@EVERY
def test_the_clusters_of_the_first_tier_are_those_of_its_data(benchmark: Benchmark) -> None:
    (tier, *_others) = benchmark.info.tiers
    if benchmark.info.brought or not benchmark.available():
        assert tier.clusters is None or 1 <= tier.clusters <= tier.items
        return
    assert tier.clusters == len({key.cluster for key in BenchmarkSession.open(benchmark).keys})


@EVERY
def test_every_protocol_has_a_grader_for_every_category(benchmark: Benchmark) -> None:
    for protocol in benchmark.info.protocols:
        table = benchmark.table(protocol.name)
        told = protocol.categories or benchmark.info.categories
        assert [category.name for category in table] == [category.name for category in told]
        assert all(category.grader.name for category in table)
        assert {category.name for category in table if category.weight == 0} == set(protocol.apart)


@EVERY
def test_every_category_has_an_example_of_its_own(benchmark: Benchmark) -> None:
    example = benchmark.info.example
    assert example is not None and example.sessions
    assert {question.category for question in example.questions} == {each.name for each in benchmark.info.categories}
    assert all(question.right != question.wrong for question in example.questions)
    assert [session.date for session in example.sessions] == sorted(session.date for session in example.sessions)


@EVERY
def test_shipped_errata_are_explained(benchmark: Benchmark) -> None:
    for errata in filter(None, (benchmark.errata(tier.name) for tier in benchmark.info.tiers)):
        assert "corrected" in benchmark.info.alternates
        assert f"sha256:{errata.dataset_sha256}" in benchmark.info.known_digests


def test_a_catalogue_is_read_once(package: Callable[[bytes], str]) -> None:
    name = package(WHOLE.encode())
    assert load(name) is load(name)
    assert load(name).id == "tiny@1"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"", "'id' is missing."),
        (b"id = ", "not valid TOML"),
        (b'id = "\xff"', "is not UTF-8 text"),
        (WHOLE.replace("title", "titel", 1).encode(), "unknown key 'titel'. Did you mean 'title'?"),
        (WHOLE.replace('"full"\n', '"maybe"\n').encode(), "'redistribution'"),
        (WHOLE.replace("items = 1,", 'items = "1",').encode(), "a whole number belongs here"),
        (CHARTED.replace("0.5", "nan").encode(), ":17: 'charts.0.published.0.value' is not a finite number."),
        (CHARTED.replace("0.5", "-inf").encode(), "is not a finite number. Give a number."),
        (CHARTED.replace('"bars"', '"pie"').encode(), "'charts.0.kind'"),
        (CHARTED.replace('meaning = "All."\n', "").encode(), "'charts.0.meaning' is missing"),
    ],
)
def test_a_bad_catalogue_is_refused_with_a_sentence(
    package: Callable[[bytes], str], text: bytes, sentence: str
) -> None:
    with pytest.raises(BadInput) as caught:
        load(package(text))
    assert sentence in str(caught.value) and "catalogue.toml" in str(caught.value)


@EVERY
def test_every_chart_shows_slices_that_the_items_have(benchmark: Benchmark) -> None:
    if benchmark.info.brought or not benchmark.available() or not benchmark.info.charts:
        return
    for protocol in benchmark.info.protocols:
        check_slices(benchmark.info, protocol.name, BenchmarkSession.open(benchmark, protocol=protocol.name).keys)


def test_a_chart_of_a_slice_that_no_item_has_is_refused() -> None:
    chart = ChartInfo(
        name="growth", title="G", meaning="M.", kind=ChartKind.LINE, slice="difficulty", values=("easy", "absurd")
    )
    benchmark = TinyBenchmark(2)
    benchmark.info = benchmark.info.model_copy(update={"charts": (chart,)})
    with pytest.raises(BadInput, match="shows the slice 'difficulty' at easy, absurd, which no item has"):
        check_slices(benchmark.info, "judge", list(benchmark.open().answer_keys()))


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


@EVERY
def test_an_available_benchmark_has_the_items_and_prompts_that_it_says(benchmark: Benchmark) -> None:
    if benchmark.info.brought or not benchmark.available():
        return
    session = BenchmarkSession.open(benchmark)
    assert session.dataset.notes == () and session.dataset.released
    check_prompts(benchmark, benchmark.table(session.protocol, session.tier), session.keys)
    check_counts(benchmark.info, session.dataset.answer_keys())


@pytest.mark.parametrize(("stated", "is_refused"), [(2, False), (3, True), (0, False)])
def test_a_catalogue_that_counts_other_items_is_refused(stated: int, is_refused: bool) -> None:
    benchmark = TinyBenchmark(4)
    near = CategoryInfo(name="near", title="Near", weight=1.0, items=stated, tests="Cities.", graded="By name.")
    info = benchmark.info.model_copy(update={"categories": (near,)})
    keys = BenchmarkSession.open(benchmark).keys
    said = r"says 3 items in 'near', and its data has 2. Write items = 2."
    with pytest.raises(BrokenBenchmark, match=said) if is_refused else nullcontext():
        check_counts(info, keys)


DATA = "a" * 64
ENTRY = {"id": "syn-1:0", "kind": "ambiguous", "action": "exclude", "note": "Made up."}
FILE = json.dumps({"dataset_sha256": DATA, "source": "these tests", "entries": [ENTRY]})


def test_a_file_of_errata_is_read(tmp_path: Path) -> None:
    (tmp_path / "errata.json").write_text(FILE)
    assert [entry.id for entry in read_errata(tmp_path / "errata.json", f"sha256:{DATA}").entries] == ["syn-1:0"]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "not valid JSON"),
        (FILE[:-9].encode(), "not valid JSON"),
        (gzip.compress(FILE.encode()), "not UTF-8 at byte 1."),
        (b"[" * 200_000, "nested too deeply"),
        (FILE.replace('"kind"', '"kind": "wrong_answer", "kind"').encode(), "the key 'kind' occurs twice"),
        (b"[]", "a table of names and values"),
        (FILE.replace(DATA, "b" * 64).encode(), "the errata are for other data"),
    ],
)
def test_what_is_no_file_of_errata_is_refused(tmp_path: Path, data: bytes, told: str) -> None:
    (tmp_path / "errata.json").write_bytes(data)
    with pytest.raises(BadInput, match=told):
        read_errata(tmp_path / "errata.json", f"sha256:{DATA}")


def test_a_pipe_and_a_folder_are_no_files_of_errata(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.raises(BadInput, match="this is not a file"):
            read_errata(path, f"sha256:{DATA}")
