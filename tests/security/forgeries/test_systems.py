"""A forger changes whose run it is: relabels controls and submissions, and edits what a submission says of itself."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from memeval.archive.runs import RunFolder
from memeval.archive.sources import stored_sources
from memeval.evaluation.verify.checks.systems import NO_SOURCE, check_sources, check_system
from memeval.evaluation.verify.findings import Check, CheckStatus
from tests.support.forging import RESULTS, Forger, stored_run

ROOT = RESULTS.parent
SMALL, MOCK = "astrocyte-basic/bm25s", "astrocyte-reflect/astrocyte"
NO_MEMORY = "beliefs/no-memory"
CHROMA = "astrocyte-basic/chroma"


def forged(run: str, results: Path, system: dict[str, Any], **head: Any) -> RunFolder:
    forger = Forger.of(run, results)
    forger.system.update(system)
    forger.head.update(head)
    return forger.seal()


def identity_of(run: str) -> dict[str, Any]:
    """Return what the stored run says of its system."""
    identity: dict[str, Any] = json.loads(stored_run(run).head_bytes)["system"]
    return identity


def check(folder: RunFolder) -> Check:
    return check_system(folder, ROOT / "submissions")


def finding(folder: RunFolder) -> str:
    """Return the only finding, without the file."""
    (found,) = check(folder).findings
    assert found.where.startswith(f"{folder.path / 'run.json'}: system.")
    return f"{found.where.rpartition('.')[2]} {found.problem}"


def test_an_honest_copy_has_no_finding(tmp_path: Path) -> None:
    for run in (SMALL, MOCK, NO_MEMORY):
        assert check(forged(run, tmp_path, {})).status is CheckStatus.OK


def test_a_submission_with_the_view_of_the_oracle_is_found(tmp_path: Path) -> None:
    assert finding(forged(SMALL, tmp_path, {"view": "evidence"})) == (
        "view is 'evidence', but only a shipped control may have a view."
    )


def test_the_oracle_relabelled_as_a_submission_is_found(tmp_path: Path) -> None:
    folder = forged("beliefs/oracle", tmp_path, {"slug": "acme", "name": "Acme", "kind": "submission"})
    assert [each.problem for each in check(folder).findings] == [
        "is 'evidence', but only a shipped control may have a view.",
        "is 'submission', but the digest is that of the control full-context or oracle.",
    ]


def test_the_oracle_under_another_digest_has_no_source(tmp_path: Path) -> None:
    acme = {"slug": "acme", "kind": "submission", "view": "all", "submission_digest": f"sha256:{'5' * 64}"}
    assert check(forged("beliefs/oracle", tmp_path, acme)).not_checked == NO_SOURCE


def test_the_oracle_under_the_name_of_full_context_is_found(tmp_path: Path) -> None:
    folder = forged("beliefs/oracle", tmp_path, {"slug": "full-context", "name": "Full context"})
    assert finding(folder) == 'view is "evidence", but the files of the system give "all".'


@pytest.mark.parametrize("control", ["no-memory", "oracle"])
def test_a_submission_relabelled_as_a_control_is_found(control: str, tmp_path: Path) -> None:
    folder = forged(SMALL, tmp_path, {**identity_of(f"beliefs/{control}"), "submission_digest": digest_of(SMALL)})
    assert finding(folder) == (
        f"submission_digest is not that of the control {control}, but that of the submission bm25s 0.3.16."
    )


def digest_of(run: str) -> str:
    return str(identity_of(run)["submission_digest"])


def source_of(run: str) -> Path:
    """Return the stored source of a run, relative to the results folder."""
    (source,) = stored_sources(RESULTS, digest_of(run))
    return source.relative_to(RESULTS)


def test_a_submission_under_the_name_of_a_control_is_found(tmp_path: Path) -> None:
    assert [each.problem for each in check(forged(SMALL, tmp_path, {"slug": "bm25"})).findings] == [
        "is 'submission', but 'bm25' is the name of a shipped control.",
        "is 'bm25', but the digest is that of the submission bm25s 0.3.16.",
    ]


def test_a_control_that_memeval_does_not_ship_is_found(tmp_path: Path) -> None:
    assert finding(forged(SMALL, tmp_path, {"kind": "control"})) == (
        "slug is 'bm25s', but memeval ships no such control."
    )


def test_a_submission_under_the_name_of_another_is_found(tmp_path: Path) -> None:
    assert finding(forged(SMALL, tmp_path, {"slug": "acme"})) == (
        "slug is 'acme', but the digest is that of the submission bm25s 0.3.16."
    )


def test_a_mock_that_is_denied_is_found(tmp_path: Path) -> None:
    assert finding(forged(MOCK, tmp_path, {"mock": False})) == ("mock is false, but the files of the system give true.")


def test_an_edited_configuration_is_found(tmp_path: Path) -> None:
    assert "but the files of the system give" in finding(forged(MOCK, tmp_path, {"configuration": None}))


def test_an_edited_version_is_found(tmp_path: Path) -> None:
    assert finding(forged(SMALL, tmp_path, {"version": "9.9"})) == (
        'version is "9.9", but the digest is that of the submission bm25s 0.3.16.'
    )


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "Acme"),
        ("declared_models", ["gpt-4o"]),
        ("capabilities", ["ingest_session", "search", "usage"]),
        ("adapter_class", "Acme"),
        ("adapter_kind", "http"),
        ("parameters", {"k": 5}),
        ("variant", "fast"),
        ("deterministic", False),
        ("self_reported", ["tokens"]),
        ("vendor", {"name": "Acme", "never_run": False}),
        ("hosts", [{"host": "acme.example.com", "origin": "https://acme.example.com"}]),
        ("product", {"name": "Acme", "licence": "MIT"}),
        ("services", [{"name": "redis", "version": "7", "digest": f"sha256:{'5' * 64}"}]),
    ],
)
@pytest.mark.parametrize("run", [SMALL, NO_MEMORY])
def test_every_other_edited_field_is_found(run: str, field: str, value: Any, tmp_path: Path) -> None:
    head = json.loads(stored_run(run).head_bytes)  # no other file matters for this check
    head["system"][field] = value
    folder = tmp_path / "beliefs" / "slug" / "run"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps(head))
    assert finding(RunFolder(folder)).startswith(f"{field} is ")


def test_another_licence_of_the_product_is_found(tmp_path: Path) -> None:
    product = identity_of(CHROMA)["product"] | {"licence": "MIT"}
    assert "but the files of the system give" in finding(forged(CHROMA, tmp_path, {"product": product}))


def test_commit_command_line_isolation_and_environment_stay_the_word_of_the_runner(tmp_path: Path) -> None:
    forger = Forger.of(SMALL, tmp_path)
    forger.head["harness"] |= {"commit": "0" * 40, "argv": ["run", "acme"]}
    forger.head |= {"isolation": "files reachable", "network": "open", "sandbox": None}
    forger.system["environment_digest"] = f"sha256:{'5' * 64}"
    assert check(forger.seal()).status is CheckStatus.OK


def test_a_former_version_is_checked_against_its_stored_files(tmp_path: Path) -> None:
    former = "qa-smoke/mcp-memory-service"
    source = source_of(former)
    folder = forged(former, tmp_path, {"deterministic": False})
    assert check(folder).not_checked == NO_SOURCE
    shutil.copytree(RESULTS / source, tmp_path / source)
    assert finding(folder) == "deterministic is false, but the files of the system give true."


def test_stored_files_that_were_changed_are_found(tmp_path: Path) -> None:
    source = source_of(SMALL)
    shutil.copytree(RESULTS / source, tmp_path / source)
    folder = forged(SMALL, tmp_path, {})
    assert check(folder).status is CheckStatus.OK
    with (tmp_path / source / "submission.toml").open("a") as stream:
        stream.write('\nlabel = "mock"\n')
    (found,) = check(folder).findings
    assert str(found) == f"{tmp_path / source}: does not match its digest: a file was changed. Restore the folder."
    assert list(check_sources(tmp_path)) == [found]


def test_a_stored_file_that_is_a_symlink_is_refused(tmp_path: Path) -> None:
    source = tmp_path / source_of(SMALL)
    shutil.copytree(RESULTS / source.relative_to(tmp_path), source)
    (source / "adapter.py").unlink()
    (source / "adapter.py").symlink_to("/etc/passwd")
    (found,) = check(forged(SMALL, tmp_path, {})).findings
    assert found.problem == "is a symbolic link."


def test_a_run_inside_a_stored_source_is_no_run(tmp_path: Path) -> None:
    from memeval.archive.runs import runs_under, sealed_runs

    folder = forged(SMALL, tmp_path, {})
    for inside in ("", "beliefs/acme/20261122T120133Z-4f234051"):
        hidden = tmp_path / "sources/acme/0123456789abcdef-01234567" / inside
        hidden.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder.path / "run.json", hidden)
    assert [found.path for found in sealed_runs(tmp_path)] == [folder.path]
    assert [found.path for found in runs_under(tmp_path)] == [folder.path]
