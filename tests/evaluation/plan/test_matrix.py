"""Matrices: the file and its errors, the runs of the cells, and the stored matrix."""

import csv
import io
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memeval import api, benchmarks
from memeval.analysis import comparing
from memeval.analysis.matrix_table import (
    LABEL,
    NOTHING,
    SUITE,
    best_for_their_cost,
    csv_text,
    frontier,
    gate_results,
    metric_names,
    numbers_of,
    table_text,
    value_of,
)
from memeval.archive.matrices import MatrixFolder, stored_matrices, write_matrix
from memeval.archive.runs import sealed_runs
from memeval.benchmarks.base import Benchmark
from memeval.evaluation.plan import executing, matrix, reading
from memeval.evaluation.plan.matrix import MatrixRun, run_matrix
from memeval.evaluation.plan.reading import read_matrix
from memeval.evaluation.run.running import RunOptions
from memeval.evaluation.verify.stored_results import verify_matrix
from memeval.execution.readers import NATIVE
from memeval.records.benchmark import Direction, MetricInfo, ProtocolInfo
from memeval.records.errors import BadInput
from memeval.records.matrix import CellState, ComparedTo, Gate, MatrixBenchmark, MatrixCell, MatrixPlan, MatrixSystem
from memeval.records.scores import Composite
from tests.support.tiny import TinyBenchmark

Read = Callable[[str], MatrixPlan]

SUBMISSION = """
schema_version = 1
slug = "acme"
name = "Acme"
version = "1.0"

[parameters]
depth = 1
wide = false

[variants.deep]
summary = "Looks further."
parameters = { depth = 2 }

[variants.all]
summary = "Looks everywhere."
parameters = { depth = 9, wide = true }
"""

ACME = """
class Acme:
    def __init__(self, depth, wide, extra=0):
        self.depth = depth

    def reset(self):
        self.told = []

    def ingest_session(self, session, timestamp):
        self.told += [turn["content"] for turn in session["turns"]]

    def query(self, question, timestamp="now"):
        return self.told[0] if self.depth > 1 else ""

    def get_context_tokens(self):
        return 1
"""

ON_TINY = 'groups = [{ benchmark = "tiny@1" }]'

RETAINING = ProtocolInfo(
    name="recall", title="Recall", summary="Retrieval.", headline="ndcg", reader=NATIVE, needs=("retain", "recall")
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with one submission, where there are tiny benchmarks only."""
    tiny, needy = TinyBenchmark(2), TinyBenchmark(2)
    needy.info = needy.info.model_copy(update={"id": "needy@1", "protocols": (RETAINING,)})
    known: dict[str, Benchmark] = {"tiny@1": tiny, "needy@1": needy}

    def find(name: str) -> Benchmark:
        if name not in known:
            raise BadInput(f"unknown benchmark {name!r}.")
        return known[name]

    path = tmp_path_factory.mktemp("matrix")
    folder = path / "submissions" / "acme"
    folder.mkdir(parents=True)
    (folder / "submission.toml").write_text(SUBMISSION)
    (folder / "adapter.py").write_text(ACME)
    (path / "broken.py").write_text("raise RuntimeError('no')")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        for module in (executing, matrix, reading, comparing):
            patch.setattr(module, "find", find)
        yield path


@pytest.fixture(scope="module")
def read(folder: Path) -> Read:

    def one(text: str) -> MatrixPlan:
        path = folder / "try.toml"
        path.write_text(text, encoding="utf-8")
        return read_matrix(path)

    return one


@pytest.fixture(scope="module")
def ran(read: Read, folder: Path) -> MatrixRun:
    """A matrix of four configurations, one of them broken, on a benchmark that all can take and one that none can."""
    plan = read(
        """
        name = "trial"
        systems = [
            "acme",
            { id = "deep", system = "acme:deep", purpose = "Looks further." },
            { id = "deeper", system = "acme", parameters = { depth = 9, extra = 1 } },
            { id = "broken", system = "broken.py" },
        ]
        groups = [{ benchmark = "tiny@1" }, { benchmark = "needy@1" }]
        promotion_gates = [
            { metric = "composite", minimum = 0.5, systems = ["deep"], benchmarks = ["tiny@1"] },
            { metric = "error_rate", maximum = 0.02, systems = ["acme", "deep"], benchmarks = ["tiny@1"] },
            { metric = "composite", drop = 0.0, systems = ["broken"] },
        ]
        """
    )
    return run_matrix(plan, RunOptions(results=folder / "results"))


@pytest.fixture
def copied(ran: MatrixRun, folder: Path, tmp_path: Path) -> MatrixFolder:
    """The matrix with its runs, to be changed."""
    shutil.copytree(folder / "results", tmp_path / "results")
    return stored_matrices(tmp_path / "results")[0]


def refusal(read: Read, text: str) -> list[str]:
    with pytest.raises(BadInput) as caught:
        read(text)
    return [line.partition("try.toml:")[2] for line in str(caught.value).splitlines()]


def test_a_file_asks_for_systems_benchmarks_readers_and_gates(read: Read) -> None:
    plan = read(
        """
        description = "Which is better."
        systems = ["bm25", { id = "deep", system = "acme:deep", parameters = { depth = 3 }, purpose = "Deeper." }]
        readers = ["extractive", "native"]
        judge = "rules"
        promotion_gates = [{ metric = "far", minimum = 0.5, drop = 0.1, systems = ["deep"] }]

        [[groups]]
        benchmark = "tiny@1"

        [[groups]]
        benchmark = "tiny@1"
        protocols = ["judge"]
        tiers = ["full"]
        parameters = { size = 3 }
        """
    )
    assert plan.name == "try"
    assert [benchmark.label for benchmark in plan.benchmarks] == ["tiny@1", "tiny@1 judge full size=3"]
    assert [system.id for system in plan.systems] == ["bm25", "deep"]
    assert (plan.readers, plan.judge) == (("extractive", "native"), "rules")
    assert plan.promotion_gates == (Gate(metric="far", minimum=0.5, drop=0.1, systems=("deep",)),)


@pytest.mark.parametrize("name", ["old.yaml", "old.yml"])
def test_a_file_of_the_old_form_says_what_to_write_instead(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("benchmarks: [tiny@1]\nsystems: [bm25]\n")
    with pytest.raises(BadInput) as caught:
        read_matrix(tmp_path / name)
    assert "written in TOML now, not in YAML. To print an example, run memeval matrix --example" in str(caught.value)


def test_the_digest_depends_on_the_plan_and_not_on_its_name(read: Read) -> None:
    plain = read(f'systems = ["bm25"]\n{ON_TINY}')
    assert read(f'name = "other"\ndescription = "x"\nsystems = ["bm25"]\n{ON_TINY}').digest == plain.digest
    assert read(f'systems = ["bm25", "acme"]\n{ON_TINY}').digest != plain.digest
    assert plain.matrix_id == f"try-{plain.digest[7:15]}"


def test_all_problems_of_a_file_are_reported_with_lines(read: Read) -> None:
    found = refusal(
        read,
        """readers = ["extractive", "extractive", "someone"]
judge = "nobody"
[[systems]]
id = "one"
system = "nobody"
[[systems]]
id = "two"
system = "acme"
[[systems]]
id = "two"
system = "bm25"
[[systems]]
id = "four"
system = "bm25"
parameters = { depth = 1 }
[[systems]]
id = "six"
system = "acme"
[[systems]]
id = "seven"
system = "acme:deap"
[[groups]]
benchmark = "tinny@1"
[[groups]]
benchmark = "tiny@1"
protocols = ["judges"]
tiers = ["quick"]
[[groups]]
benchmark = "tiny@1"
[[groups]]
benchmark = "tiny@1"
systems = ["bm25"]
[[promotion_gates]]
metric = "composite"
[[promotion_gates]]
metric = "far"
minimum = 0.5
systems = ["nine"]
[[promotion_gates]]
metric = "composit"
minimum = 0.5
[[promotion_gates]]
metric = "rainfall"
minimum = 0.5
""",
    )
    message = "\n".join(found)
    for line, sentence in (
        (1, "names 'extractive' twice."),
        (1, "has 'someone'. Readers are native, extractive, local:NAME and openai:MODEL."),
        (2, "'judge' is not a judge"),
        (3, "there is no system called 'nobody'."),
        (9, "'two' appears twice."),
        (12, "'bm25' takes no parameters"),
        (16, "is the same system as 'two'"),
        (19, "Did you mean 'acme:deep'?"),
        (23, "unknown benchmark 'tinny@1'."),
        (26, "tiny@1 has no protocol 'judges'. Did you mean 'judge'?"),
        (27, "tiny@1 has no tier 'quick'. Choose one of: full."),
        (30, "tiny@1 occurs twice."),
        (32, "a matrix has the same systems and readers in every group."),
        (33, "the gate has no limit. Give a minimum, a maximum or a drop."),
        (38, "has 'nine', which is not in the matrix."),
        (40, "'metric' is 'composit', which tiny@1 does not measure. Did you mean 'composite'?"),
        (43, "which tiny@1 does not measure. List the benchmarks that measure it under 'benchmarks'."),
    ):
        assert any(each.startswith(f"{line}:") and sentence in each for each in found), (line, sentence, message)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "the file is empty."),
        (f'systems = "bm25"\n{ON_TINY}', "try.toml:1: 'systems'"),
        ('systems = ["bm25"]\ngroups = []', "'groups'"),
        ('systems = ["bm25"]', "'groups' is missing."),
        (ON_TINY, "'systems' is missing. Name the systems of the matrix."),
        (f'systems = ["bm25"]\nsurprise = 1\n{ON_TINY}', "try.toml:2: unknown key 'surprise'."),
        (
            f'benchmarks = ["tiny@1"]\n{ON_TINY}',
            "unknown key 'benchmarks'. Write a [[groups]] table for each benchmark.",
        ),
        (f'systems = [{{ id = "five", sistem = "bm25" }}]\n{ON_TINY}', "sistem'. Did you mean 'system'?"),
        (f'systems = [{{ id = "Bad Name", system = "bm25" }}]\n{ON_TINY}', "does not have the required form."),
        (f'systems = ["bm25"]\npromotion_gates = [{{ metric = "far", minimum = "half" }}]\n{ON_TINY}', "minimum'"),
        ('systems = ["bm25"]\n[[groups]]\nbenchmark = "tiny@1"\nparameters = { size = 1.5 }', "try.toml:4: "),
        (f'name = "Bad Name"\nsystems = ["bm25"]\n{ON_TINY}', "at most 40 lower-case letters, digits"),
        (f'systems = ["a-name-that-is-far-too-long"]\n{ON_TINY}', "is too long. Use at most 20 characters."),
    ],
)
def test_an_invalid_file_is_refused(read: Read, text: str, sentence: str) -> None:
    with pytest.raises(BadInput) as caught:
        read(text)
    assert sentence in str(caught.value)


def test_a_missing_file_a_removed_reader_and_too_many_runs_are_refused(read: Read, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        read_matrix(tmp_path / "nowhere.toml")
    with pytest.raises(BadInput, match="extractive@1 was removed: "):
        read(f"readers = ['extractive@1']\nsystems = ['bm25']\n{ON_TINY}")
    readers = ", ".join(f"'openai:m{k}'" for k in range(2020))
    with pytest.raises(BadInput, match="make 4040 runs"):
        read(f"readers = [{readers}]\nsystems = ['bm25', 'acme']\n{ON_TINY}")


def test_every_cell_is_an_ordinary_run_and_a_failed_cell_does_not_stop_others(ran: MatrixRun, folder: Path) -> None:
    made = ran.folder.matrix
    states = {(cell.benchmark, cell.system): cell.state for cell in made.cells}
    assert [states[0, name] for name in ("acme", "deep", "deeper")] == [CellState.DONE] * 3
    assert states[0, "broken"] is CellState.FAILED
    assert [states[1, name] for name in ("acme", "deep", "deeper")] == [CellState.NOT_APPLICABLE] * 3
    slugs = {run.run.system.slug: run.run.system for run in sealed_runs(folder / "results")}
    assert sorted(slugs) == ["acme", "acme-deep", "acme-deeper"]
    assert slugs["acme-deep"].variant == "deep"
    assert slugs["acme-deeper"].parameters == {"depth": 9, "wide": False, "extra": 1}
    assert ran.folder.path == folder / "results" / "matrices" / made.matrix_id
    (mine,) = json.loads((ran.folder.path / "results-matrix-deep.json").read_text())["cells"][:1]
    assert mine["run"] == made.cells[1].run


def test_runs_are_compared_with_the_first_and_the_best_of_their_track(ran: MatrixRun) -> None:
    made = ran.folder.matrix
    assert [(test.against, test.first, test.system) for test in made.tests] == [
        (ComparedTo.FIRST, "acme", "deep"),
        (ComparedTo.FIRST, "acme", "deeper"),
        (ComparedTo.BEST, "deep", "acme"),
        (ComparedTo.BEST, "deep", "deeper"),
    ]
    first = made.tests[0].overall
    assert first is not None and first.difference == 1.0
    assert [other.name for other in made.tests[0].others][:2] == ["far", "near"]


def test_warns_of_configurations_that_differ_in_more_than_one_key(ran: MatrixRun) -> None:
    (warning,) = ran.folder.matrix.warnings
    assert warning.startswith("deeper differs in more than one key from acme (depth, extra); deep (depth, extra): ")


def test_gates_are_checked_and_a_cell_without_a_run_passes_none(ran: MatrixRun) -> None:
    assert [(gate.gate, gate.system, gate.benchmark, gate.passed) for gate in ran.folder.matrix.gates] == [
        (0, "deep", 0, True),
        (1, "acme", 0, True),
        (1, "deep", 0, True),
        (2, "broken", 0, False),
        (2, "broken", 1, False),
    ]
    assert ran.folder.matrix.gates[0].sentence == "deep on tiny@1: composite is 1, and is to be at least 0.5."


def test_a_repeated_matrix_reuses_its_runs_and_has_equal_bytes(ran: MatrixRun, folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in ran.folder.path.iterdir()}
    again = run_matrix(ran.folder.matrix.plan, RunOptions(results=folder / "results"))
    assert {path.name: path.read_bytes() for path in again.folder.path.iterdir()} == before
    assert len(sealed_runs(folder / "results")) == 3


def test_a_results_folder_with_matrices_is_verified_with_them(copied: MatrixFolder, tmp_path: Path) -> None:
    results = tmp_path / "results"
    assert api.verify(results) == []
    assert len(stored_matrices(results)) == 1 and stored_matrices(tmp_path) == []
    head = copied.path / "matrix.json"
    good, _whole = head.read_text(), copied.matrix
    head.write_text(good.replace('"done": 2', '"done": 1', 1))
    (finding,) = api.verify(results)
    assert finding.where == str(head)
    head.write_text(good)
    (copied.path / "results-matrix-deep.json").unlink()
    assert [finding.where for finding in api.verify(results)] == [str(copied.path / "results-matrix-deep.json")]
    write_matrix(results, copied.matrix)
    moved = copied.path.rename(copied.path.with_name("elsewhere-00000000"))
    assert "the matrix belongs in" in api.verify(results)[0].problem
    moved.rename(copied.path)
    shutil.rmtree(results / "tiny" / "acme")
    (finding,) = api.verify(results)
    assert "which is missing" in finding.problem


def test_a_matrix_that_names_what_is_not_there_is_a_finding(copied: MatrixFolder, tmp_path: Path) -> None:
    head = copied.path / "matrix.json"
    data = json.loads(head.read_text())
    data["cells"][0]["run"] = "../../etc"
    head.write_text(json.dumps(data))
    (finding,) = verify_matrix(stored_matrices(tmp_path / "results")[0], tmp_path / "results")
    assert "which is not a run in this results folder" in finding.problem
    for index in (7, -1):
        data["cells"][0] |= {"run": None, "benchmark": index}
        head.write_text(json.dumps(data))
        (finding,) = verify_matrix(stored_matrices(tmp_path / "results")[0], tmp_path / "results")
        assert "a benchmark that its plan does not name" in finding.problem
    head.write_text("{")
    assert verify_matrix(stored_matrices(tmp_path / "results")[0], tmp_path / "results")[0].where.startswith(str(head))


def test_tables_have_a_column_each_and_mark_what_was_tested(ran: MatrixRun) -> None:
    text = table_text(ran.folder.matrix)
    lines = text.splitlines()
    assert lines[0] == "tiny@1"
    assert lines[1] == "-" * 105
    assert lines[2] == " " * 25 + "".join(name.rjust(20) for name in ("acme", "deep", "deeper", "broken"))
    composite = next(line for line in lines if line.startswith("Composite"))
    assert composite == "Composite".ljust(25) + "0.0000".rjust(20) + "1.0000 =".rjust(20) * 2 + "N/A".rjust(20)
    assert any(line.startswith("broken failed: ") for line in lines)
    assert "acme not applicable: acme has no 'retain' or 'recall'" in text


def test_a_suites_table_has_the_lines_of_astrocytes_in_their_order_and_forms() -> None:
    assert [(line.label, format(12345.06789, line.form)) for line in SUITE] == [
        ("Recall precision", "12345.0679"),
        ("Recall hit rate", "12345.0679"),
        ("Recall MRR", "12345.0679"),
        ("Recall NDCG", "12345.0679"),
        ("Retain p50 (ms)", "12345.1"),
        ("Retain p95 (ms)", "12345.1"),
        ("Recall p50 (ms)", "12345.1"),
        ("Recall p95 (ms)", "12345.1"),
        ("Reflect accuracy (native)", "12345.0679"),
        ("Reflect p50 (ms)", "12345.1"),
        ("Tokens used", "12,345"),
        ("Duration (s)", "12345.07"),
        ("Recall@5", "12345.0679"),
        ("True rejection rate", "12345.0679"),
        ("Cost (USD)", "12345.0679"),
    ]
    assert max(len(line.label) for line in SUITE) <= LABEL == 25


def test_csv_has_every_number_and_no_formula(ran: MatrixRun) -> None:
    rows = list(csv.DictReader(io.StringIO(csv_text(ran.folder.matrix))))
    (deep,) = [row for row in rows if (row["system"], row["name"]) == ("deep", "composite")]
    assert (deep["value"], deep["first"], deep["difference"], deep["sign"]) == ("1.0", "acme", "1.0", "=")
    broken = [row for row in rows if row["system"] == "broken" and row["benchmark"] == "tiny@1"]
    assert [(row["name"], row["state"]) for row in broken] == [("reason", "failed")]
    assert not any(value and value[0] in "=+@" for row in rows for key, value in row.items() if key != "sign")


def test_a_matrix_without_a_run_has_nothing_to_compare(read: Read, tmp_path: Path) -> None:
    made = run_matrix(
        read('systems = ["bm25"]\ngroups = [{ benchmark = "needy@1" }]'), RunOptions(results=tmp_path / "results")
    )
    assert table_text(made.folder.matrix) == NOTHING
    assert [cell.state for cell in made.folder.matrix.cells] == [CellState.NOT_APPLICABLE]


def test_runs_of_different_tracks_are_not_compared_with_a_warning(read: Read, tmp_path: Path) -> None:
    plan = read(f'systems = ["bm25", "no-memory"]\n{ON_TINY}')
    made = run_matrix(plan, RunOptions(results=tmp_path / "results")).folder.matrix
    assert made.tests == ()
    assert made.warnings == ("On tiny@1 the runs are of 2 tracks, each compared by itself: bm25 | no-memory.",)
    native = read(f'systems = ["bm25", "no-memory"]\nreaders = ["native"]\n{ON_TINY}')
    made = run_matrix(native, RunOptions(results=tmp_path / "results")).folder.matrix
    assert [(cell.system, cell.reader, cell.state) for cell in made.cells] == [
        ("bm25", "native", CellState.NOT_APPLICABLE),
        ("no-memory", "native", CellState.DONE),
    ]


def cell(system: str, score: float | None, usd: float | None, **more: float) -> MatrixCell:
    return MatrixCell(
        benchmark=0,
        reader=None,
        system=system,
        state=CellState.DONE,
        composite=Composite(value=score, interval=None),
        figures={"usd_per_item": usd, **more},
    )


def test_what_nothing_beats_in_cost_and_score_is_kept() -> None:
    assert frontier([(1, 0.5), (1, 0.6), (2, 0.6), (3, 0.9), (0.5, 0.1), (3, 0.9)]) == (4, 1, 3, 5)
    assert frontier([]) == ()
    cells = [cell("a", 0.5, 0.1), cell("b", 0.4, 0.2), cell("c", 0.9, 0.9), cell("d", 1.0, None), cell("e", None, 0.0)]
    assert [each.system for each in best_for_their_cost(cells)] == ["a", "c"]


LIMIT = "and is to be no more than 0.1 behind the first"


def gated(*gates: Gate) -> MatrixPlan:
    systems = (MatrixSystem(id="a", system="a"), MatrixSystem(id="b", system="b"))
    return MatrixPlan(
        name="x", benchmarks=(MatrixBenchmark(id="tiny@1"),), systems=systems, promotion_gates=tuple(gates)
    )


def drops(name: str, before: float, after: float, track: str | None = None) -> tuple[bool, str]:
    """Return whether the second of two cells passes a gate on the drop of a number, and the gate's sentence."""
    plan = gated(Gate(metric=name, drop=0.1, systems=("b",)))
    second = cell("b", after, 0, **{name: after}).model_copy(update={"track_id": track})
    (result,) = gate_results(plan, [cell("a", before, 0, **{name: before}), second], {})
    return result.passed, result.sentence.partition(": ")[2]


def test_a_drop_is_a_rise_where_less_is_better() -> None:
    plan = gated(*(Gate(metric=name, drop=0.1) for name in ("mae", "recall_latency_p50_ms", "composite")))
    cells = [
        cell("a", 0.5, 0, mae=1.0, recall_latency_p50_ms=5.0),
        cell("b", 0.4, 0, mae=0.5, recall_latency_p50_ms=6.0),
    ]
    metrics = {"mae": MetricInfo(name="mae", title="MAE", direction=Direction.LOWER, meaning="Off.")}
    passed = [(gate.system, gate.passed) for gate in gate_results(plan, cells, metrics)]
    assert passed == [("a", True), ("b", True), ("a", True), ("b", False), ("a", True), ("b", True)]
    assert value_of(cells[0], "nothing") is None


@pytest.mark.parametrize(
    ("name", "better"),
    [
        *((name, -1) for name in ("tokens_per_question", "dedup_rate", "failed_retain_count", "api_calls_total")),
        *((name, -1) for name in ("retry_count", "isolation_violations", "false_positive_hits_mean", "error_rate")),
        *((name, 1) for name in ("recall_at_5", "true_rejection_rate", "reflect_accuracy", "recall_coverage")),
    ],
)
def test_a_drop_of_a_figure_is_judged_in_its_direction(name: str, better: int) -> None:
    assert drops(name, before=0.5, after=0.5 + better / 4) == (True, f"{name} is {0.5 + better / 4}, {LIMIT} (0.5).")
    assert not drops(name, before=0.5, after=0.5 - better / 4)[0]


def test_a_drop_is_not_judged_between_tracks() -> None:
    passed, sentence = drops("composite", before=0.5, after=0.5, track="other")
    assert (passed, sentence) == (False, f"composite is 0.5, {LIMIT}, which is of another track.")


def test_a_gate_can_ask_for_every_number_that_a_cell_has(ran: MatrixRun) -> None:
    numbers = {name for cell in ran.folder.matrix.cells for name in numbers_of(cell)}
    assert {"far", "near", "error_rate"} <= numbers <= metric_names(TinyBenchmark(2).info)


def test_invalid_parameters_are_reported_before_the_first_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for module in (executing, matrix, reading):
        monkeypatch.setattr(module, "find", benchmarks.find)
    Path("two.toml").write_text(
        'systems = ["always-hedge"]\n'
        '[[groups]]\nbenchmark = "qa-smoke@1"\n[[groups]]\nbenchmark = "beliefs@2"\nparameters = { sise = 12 }\n'
    )
    with pytest.raises(BadInput, match="sise"):
        api.matrix("two.toml")
    assert not Path("results").exists()


def test_the_files_that_are_shipped_are_matrix_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[3])
    monkeypatch.setattr(reading, "find", benchmarks.find)
    shipped = sorted((Path(__file__).parents[3] / "templates" / "matrices").glob("*.toml"))
    plans = {path.stem: read_matrix(path) for path in shipped}
    assert sorted(plans) == ["astrocyte-presets", "controls", "memorycd", "retrievers"]
    assert len(plans["memorycd"].benchmarks) == 8
    assert [system.id for system in plans["astrocyte-presets"].systems][-1] == "quality-max"
