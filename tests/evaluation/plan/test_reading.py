"""The file of a plan: the runs that its groups name, and its errors."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memeval.evaluation.plan.executing import PlannedRun, offline_submissions
from memeval.evaluation.plan.reading import matrix_files, planned_runs, read_matrix
from memeval.records.errors import BadInput
from memeval.removed import why_removed
from memeval.systems.controls import CONTROLS, EXTRACTIVE, NATIVE

ROOT = Path(__file__).parents[3]

SUBMISSION = """
schema_version = 1
slug = "SLUG"
name = "Acme"
version = "1.0"
entry = "adapter.py:Acme"
authors = ["Ada"]
licence = "MIT"
summary = "Remembers."
"""

Plan = Callable[[str], list[PlannedRun]]


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    """Return a function that reads groups. Of the submissions, one needs nothing, one a model, and one a host."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "submissions"
    more = {
        "plain": "",
        "modelled": 'declared_models = ["gpt-4o-mini"]\n',
        "hosted": '[[hosts]]\nhost = "api.example.com"\nvariable = "EXAMPLE_URL"\nkey = "EXAMPLE_API_KEY"\n',
    }
    for slug, lines in more.items():
        (folder / slug).mkdir(parents=True)
        (folder / slug / "adapter.py").write_text("class Acme: ...\n")
        (folder / slug / "submission.toml").write_text(SUBMISSION.replace("SLUG", slug) + lines)

    def write(lines: str) -> list[PlannedRun]:
        file = tmp_path / "results.toml"
        file.write_text(f"schema_version = 1\n[[groups]]\n{lines}\n")
        return planned_runs(file)

    return write


def test_a_removed_benchmark_is_explained_with_its_line(plan: Plan, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        plan('benchmark = "beliefs@1"\nprotocols = ["judge"]\nsystems = ["bm25"]')
    assert (caught.value.problem, str(caught.value.where)) == (
        why_removed("beliefs@1"),
        f"{tmp_path / 'results.toml'}:3",
    )


def test_submissions_with_a_model_or_a_host_are_left_out(plan: Plan) -> None:
    assert [each.slug for each in offline_submissions()] == ["plain"]
    runs = plan('benchmark = "beliefs@2"\nprotocols = ["judge"]\nsystems = ["submissions"]')
    assert [(run.slug, run.reader) for run in runs] == [("plain", None)]


def test_controls_run_under_each_of_their_readers_unless_the_group_names_readers(plan: Plan) -> None:
    group = 'benchmark = "locomo@1"\nprotocols = ["f1"]\nsystems = ["controls"]\n'
    expected = [(slug, reader) for slug, control in CONTROLS.items() for reader in control.readers]
    assert [(run.slug, run.reader) for run in plan(group)] == expected
    named = plan(group + 'readers = ["extractive"]\nwithout = ["oracle"]')
    assert [(run.slug, run.reader) for run in named] == [(s, EXTRACTIVE) for s in CONTROLS if s != "oracle"]


def test_a_reader_that_was_removed_is_refused_with_the_reason(plan: Plan) -> None:
    group = 'benchmark = "locomo@1"\nprotocols = ["f1"]\nsystems = ["no-memory"]\nreaders = ["extractive@1"]'
    with pytest.raises(BadInput, match=r"extractive@1 was removed: .*The last commit with it is \w+\. Name another"):
        plan(group)


def test_a_protocol_with_one_reader_runs_each_system_once(plan: Plan) -> None:
    runs = plan('benchmark = "locomo@1"\nprotocols = ["retrieval"]\nsystems = ["no-memory"]\nreaders = ["native"]')
    assert [run.reader for run in runs] == [None]


def test_protocols_and_tiers_are_combined_in_the_order_of_the_file(plan: Plan) -> None:
    runs = plan(
        'benchmark = "locomo"\nprotocols = ["f1", "judge"]\ntiers = ["quick", "fair"]\nsystems = ["last-stated"]'
    )
    tracks = [("f1", "quick"), ("f1", "fair"), ("judge", "quick"), ("judge", "fair")]
    assert [run.track for run in runs] == [("locomo@1", *each) for each in tracks]
    assert str(runs[0]) == f"last-stated on locomo@1, f1, quick, reader {NATIVE}"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('benchmark = "locmo@1"\nprotocols = ["f1"]\nsystems = ["bm25"]', r"toml:3: unknown benchmark .*'locomo'"),
        ('benchmark = "locomo@1"\nprotocols = ["f1"]\nsystems = ["bm26"]', r"toml:5: .*'bm26'. Did you mean 'bm25'"),
        ('benchmark = "locomo@1"\nprotocols = ["f1"]\nsystems = ["bm25", "bm25"]', r"toml:5: .*bm25.* occurs twice"),
        (
            'benchmark = "locomo@1"\nprotocols = ["f1"]\nsystems = ["bm25"]\nwithout = ["bm24"]',
            r"toml:6: 'without' names 'bm24', .* Did you mean 'bm25'",
        ),
        ('benchmark = "locomo@1"\nprotocols = ["f1"]', r"toml:\d: the group has no systems. Name them in the group"),
        ('benchmark = "locomo@1"\nprotocol = "f1"\nsystems = ["bm25"]', r"toml:\d: .*protocol"),
    ],
)
def test_an_invalid_file_is_refused_with_its_line(plan: Plan, lines: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        plan(lines)


def test_the_set_of_this_repository_names_every_submission_that_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    runs = planned_runs(Path("results.toml"))
    assert {each.slug for each in offline_submissions()} | set(CONTROLS) <= {run.slug for run in runs}


def test_the_matrices_of_this_repository_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    plans = [read_matrix(path) for path in matrix_files(Path("results.toml"))]
    assert plans and all(len(plan.systems) > 1 for plan in plans)
