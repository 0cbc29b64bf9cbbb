"""A history of a made product: every version runs or is a gap with its reason."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from memeval.archive.histories import history_faults, measured_runs
from memeval.archive.runs import history_runs, sealed_runs
from memeval.evaluation.verify.stored_results import checks_of_results
from memeval.records.history import MeasuredVersion, PackageIndex, VersionOutcome
from tests.evaluation.history.products import RELEASES, stored, submission
from tests.support.calling import Call
from tests.support.model_server import ModelServer
from tests.support.package_index import Index, package_index

TRACK = "qa-smoke@1/search-retrieve-only"
COMMAND = ("history", "keeper", "--benchmark", TRACK)


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Index]:
    with package_index(RELEASES) as made:
        monkeypatch.setenv("UV_DEFAULT_INDEX", f"{made.address}/simple")
        monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))
        monkeypatch.setenv("MEMEVAL_CACHE", str(tmp_path / "cache"))
        submission(tmp_path)
        yield made


def of(folder: Path, version: str) -> MeasuredVersion:
    found = stored(folder).of(version)
    assert found is not None
    return found


def test_every_version_runs_or_is_a_gap_with_its_reason(
    index: Index, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEEPSAKE_KEY", "keepsake 2.3")
    said = call(*COMMAND, "--versions", "0.9,1.0,1.1,1.2,1.4,2.0,2.1,2.2,2.3")
    assert said.code == 0, said.err
    history = stored(tmp_path)
    assert (history.package, history.index, history.dated) == ("keepsake", PackageIndex.PYPI, True)
    outcomes = {each.version: (each.outcome, each.reason or "") for each in history.versions}
    ran = {version for version, (outcome, _reason) in outcomes.items() if outcome is VersionOutcome.RAN}
    assert ran == {"1.0", "1.1", "1.4", "2.0", "2.1"}, outcomes
    for version, outcome, words in (
        ("0.9", VersionOutcome.NOT_RESOLVED, "vanished"),
        ("1.2", VersionOutcome.NOT_RESOLVED, "no wheel"),
        ("2.2", VersionOutcome.NOT_RESOLVED, "needs another version of Python"),
        ("2.3", VersionOutcome.NOT_LOADED, "[secret] is broken"),
    ):
        assert outcomes[version][0] is outcome, outcomes[version]
        assert words in outcomes[version][1]
        assert f"{version} " in said.out
    # helper 2.0 would break it: the lock is of the day of the release
    lock = next((tmp_path / "results/history/keeper/1.0/sources").rglob("requirements.lock")).read_text()
    assert "helper==1.0" in lock
    assert "brought==3.0" in lock
    (late,) = of(tmp_path, "1.4").substituted
    assert late.startswith("late 1.0.1 is of 2025-09-20: ")
    assert of(tmp_path, "1.1").form == "history/adapter_lt2.py"
    assert of(tmp_path, "2.1").form == "adapter.py"
    # nothing is left of the environments, and no board finds the runs
    assert not list((tmp_path / "cache/history").rglob("pyvenv.cfg"))
    assert not sealed_runs(tmp_path / "results")
    assert len(history_runs(tmp_path / "results")) == 5
    assert not list(history_faults(tmp_path / "results"))
    findings = [found for check in checks_of_results(tmp_path / "results") for found in check.findings]
    assert not findings
    runs = {version.version: run.run for version, _made, run in measured_runs(tmp_path / "results", history) if run}
    assert runs["1.0"].product_version is not None
    assert runs["1.0"].product_version.released == "2025-02-10"
    assert runs["1.0"].system.product is not None
    assert (runs["1.0"].system.product.version, runs["1.0"].system.product.licence) == ("1.0", None)
    # two versions with equal code give equal rows
    assert runs["2.0"].responses_digest == runs["2.1"].responses_digest
    assert runs["2.0"].fingerprint != runs["2.1"].fingerprint

    asked = len(index.asked)
    again = call(*COMMAND, "--versions", "0.9,1.0,1.2")
    assert again.code == 0
    assert stored(tmp_path) == history
    assert [path for path in index.asked[asked:] if "files" in path] == []


def test_a_withdrawn_version_is_measured_by_name_and_says_why_it_was_withdrawn(
    index: Index, call: Call, tmp_path: Path
) -> None:
    assert call(*COMMAND, "--versions", "1.3").code == 0
    assert (of(tmp_path, "1.3").outcome, of(tmp_path, "1.3").yanked) == (VersionOutcome.RAN, "it lost texts")


def test_an_estimate_names_versions_space_and_time_and_runs_nothing(index: Index, call: Call, tmp_path: Path) -> None:
    said = call(*COMMAND, "--last", "2", "--estimate")
    assert said.code == 0
    assert "2 chosen: 2.2, 2.3" in said.err
    assert "2 versions to measure; one environment at a time: " in said.err
    assert not (tmp_path / "results").exists()


def test_without_a_version_that_ran_the_check_fails(index: Index, call: Call) -> None:
    assert call(*COMMAND, "--versions", "1.2").fails("no version ran", code=1)


def test_a_version_that_failed_is_tried_again_on_demand_alone(index: Index, call: Call, tmp_path: Path) -> None:
    assert call(*COMMAND, "--versions", "0.9").code == 1
    index.packages["vanished"] = [RELEASES["helper"][0]]
    assert call(*COMMAND, "--versions", "0.9").code == 1
    call(*COMMAND, "--versions", "0.9", "--retry")
    assert of(tmp_path, "0.9").outcome is not VersionOutcome.NOT_RESOLVED


def test_a_full_disk_or_an_absent_index_is_no_gap_of_a_version(
    index: Index, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memeval.evaluation.history import measuring
    from memeval.systems.environments.install import disk_full

    def full(*_arguments: object, **_more: object) -> None:
        raise disk_full("here")

    with monkeypatch.context() as patched:
        patched.setattr(measuring, "environment_for", full)
        assert call(*COMMAND, "--versions", "2.0,2.1").fails("the disk is full")
    first = of(tmp_path, "2.0")
    assert (first.outcome, stored(tmp_path).of("2.1")) == (VersionOutcome.UNFINISHED, None)
    assert call(*COMMAND, "--versions", "2.0,2.1").code == 0
    assert (of(tmp_path, "2.0").outcome, of(tmp_path, "2.0").lock) == (VersionOutcome.RAN, first.lock)


def test_a_run_that_its_judge_stopped_is_no_gap_of_a_version_and_resumes(
    index: Index, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    track = ("--benchmark", "qa-smoke@1/search-retrieve-only-judged")
    command = ("history", "keeper", *track, "--versions", "2.1", "--judge", "openai:gpt-4o", "--judge-label", "here")
    with ModelServer(key="right") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "wrong")
        assert call(*command).fails("Progress is saved")
        assert of(tmp_path, "2.1").outcome is VersionOutcome.UNFINISHED
        (begun,) = (tmp_path / "results/history/keeper").rglob("journal/plan.json")
        monkeypatch.setenv("OPENAI_API_KEY", "right")
        assert call(*command).code == 0
    (run,) = of(tmp_path, "2.1").runs
    assert (run.run_id, begun.exists()) == (begun.parent.parent.name, False)


def test_a_history_of_another_package_names_all_that_must_move(index: Index, call: Call, tmp_path: Path) -> None:
    assert call(*COMMAND, "--versions", "2.1").code == 0
    declared = tmp_path / "submissions/keeper/history/history.toml"
    declared.write_text(declared.read_text().replace("schema_version = 1", 'schema_version = 1\npackage = "brought"'))
    assert call(*COMMAND, "--versions", "3.0").fails("Move this file and the folder results/history/keeper away")


def test_a_changed_adapter_is_refused_for_a_step_could_be_its_own(index: Index, call: Call, tmp_path: Path) -> None:
    assert call(*COMMAND, "--versions", "2.1").code == 0
    adapter = tmp_path / "submissions/keeper/adapter.py"
    adapter.write_text(adapter.read_text() + "\n# changed\n")
    for versions in (("2.1", "--fresh"), ("2.0",), ("2.0,2.1",)):
        assert call(*COMMAND, "--versions", *versions).fails("adapter.py is not what measured keepsake 2.1")
    assert [each.version for each in stored(tmp_path).versions] == ["2.1"]


def test_the_declaration_of_old_versions_is_in_no_digest_and_out_of_sight(tmp_path: Path) -> None:
    from memeval.systems.folder import uncovered_folders
    from memeval.systems.source import folder_source

    folder = submission(tmp_path)
    source = folder_source(folder)
    assert not any(name.startswith("history/") for name in source.launch.files)
    assert uncovered_folders(folder) == (folder / "history",)
    shutil.rmtree(folder / "history")
    assert folder_source(folder).submission_digest == source.submission_digest
    (folder / "history").mkdir()
    (folder / "history/other.py").write_text("x = 1\n")  # without a history.toml it is code like any other
    assert folder_source(folder).submission_digest != source.submission_digest


def test_a_form_is_compared_with_the_present_adapter_on_a_version_that_both_accept(
    index: Index, call: Call, tmp_path: Path
) -> None:
    said = call(*COMMAND, "--versions", "2.0", "--check-forms")
    assert (said.code, said.out) == (
        0,
        "adapter_lt2.py on 2.0, qa-smoke@1 search-retrieve-only: equal rows\n",
    ), said.err
    form = tmp_path / "submissions/keeper/history/adapter_lt2.py"
    form.write_text(form.read_text().replace("found[:k]", "found[:1]"))
    said = call(*COMMAND, "--versions", "2.0", "--check-forms")
    assert (said.code, "DIFFERENT rows" in said.out) == (1, True)


@pytest.mark.parametrize(
    ("declared", "sentence"),
    [
        ('brings = ["absent"]', "does not pin 'absent', which the adapter brings"),
        ('forms = [{versions = "<2", file = "gone.py"}]', "there is no file 'gone.py' beside it"),
        ('forms = [{versions = "old", file = "adapter_lt2.py"}]', "'old' is no version specifier"),
        ('bring = ["brought"]', "unknown key 'bring'. Did you mean 'brings'?"),
    ],
)
def test_a_wrong_declaration_is_refused_with_its_file(
    index: Index, call: Call, tmp_path: Path, declared: str, sentence: str
) -> None:
    (tmp_path / "submissions/keeper/history/history.toml").write_text(f"{declared}\n")
    said = call(*COMMAND, "--versions", "2.0")
    assert sentence in said.err + said.out
    assert said.code in (1, 2)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("history", "bm25", "--benchmark", TRACK), "'bm25' has no released versions: it is not a submission"),
        (("history", "keeper", "--benchmark", "qa-smoke@1/"), "invalid --benchmark 'qa-smoke@1/'"),
        (("history", "keeper", "--benchmark", "qa-smoke@1/nothing"), "has no protocol 'nothing'"),
        ((*COMMAND, "--executor", "dask"), "--executor dask needs --scheduler"),
    ],
)
def test_a_wrong_call_is_refused(index: Index, call: Call, words: tuple[str, ...], sentence: str) -> None:
    said = call(*words)
    assert (said.code, sentence in said.err) == (2, True), said.err
